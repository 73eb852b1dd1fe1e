"""Where things live in a vault: folders by type, the names of day and session notes, the generated pages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import PurePosixPath
from types import MappingProxyType

from hearthmind.errors import InvalidSetting
from hearthmind.model import MemoryType
from hearthmind.vault.confine import flaw_of
from hearthmind.vault.mark import Kind, Mark
from hearthmind.vault.names import fold, safe_name

SHORT_TERM, LONG_TERM, WIKI = "short-term", "long-term", "wiki"
DAILY, SESSIONS = "daily", "sessions"
ADOPTED_FOLDER = "Hearthmind"

FOLDER_OF_TYPE: Mapping[MemoryType, str] = MappingProxyType(
    {
        **dict.fromkeys(MemoryType, SHORT_TERM),
        MemoryType.TASK: "tasks",
        MemoryType.EXPERIENCE: "experience",
        MemoryType.PROCEDURE: "procedures",
        MemoryType.THEME: "themes",
        MemoryType.AGENT: "agents",
    }
)
MEMORY_FOLDERS = tuple(dict.fromkeys([SHORT_TERM, LONG_TERM, *FOLDER_OF_TYPE.values(), WIKI]))
FOLDERS = (*MEMORY_FOLDERS, DAILY, SESSIONS)

INDEX_PAGE, TAGS_PAGE, AGENTS_PAGE, INDEX_DATA = "index.md", "tags.md", "AGENTS.md", "index.json"
_PAGE_STEMS = frozenset(fold(PurePosixPath(page).stem) for page in (INDEX_PAGE, TAGS_PAGE, AGENTS_PAGE))
_DAY = re.compile(r"(\d{4}-\d{2}-\d{2})(?: memories)?")
_SESSION = re.compile(r"(\d{4}-\d{2}-\d{2}) (\d{4})(?: |$)")


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of one vault. `folder` is where ours begins: "" the root, or a vault-relative path."""

    folder: str
    adopted: bool

    @classmethod
    def of(cls, mark: Mark, folder: str | None = None) -> "Layout":
        """The layout of a marked vault; `folder` is the setting HEARTHMIND_FOLDER. Raises InvalidSetting when
        that is no folder inside a vault that is read."""
        adopted = mark.kind is Kind.ADOPTED
        if folder is None:
            folder = ADOPTED_FOLDER if adopted else ""
        folder = folder.strip().removeprefix("./").strip("/") if folder.strip() != "." else ""
        flaw = flaw_of(folder) if folder else None
        if flaw is None and any(part.startswith(".") for part in folder.split("/")):
            flaw = "hidden folders are not read"
        if flaw:
            raise InvalidSetting(f"HEARTHMIND_FOLDER={folder!r} cannot be used: {flaw}.")
        return cls(folder, adopted)

    def path(self, relative: str) -> str:
        """A path in our part of the vault."""
        return f"{self.folder}/{relative}" if self.folder else relative

    def memory_path(self, type_: MemoryType, stem: str) -> str:
        """Where a new memory goes; `stem` is a safe, unique name."""
        return self.path(f"{FOLDER_OF_TYPE[type_]}/{stem}.md")

    def daily_path(self, day: date) -> str:
        """The note of a day; in an adopted vault a name that leaves the person's own daily note alone."""
        return self.own_daily_path(day) if self.adopted else self.path(f"{DAILY}/{day.isoformat()}.md")

    def own_daily_path(self, day: date) -> str:
        """The note of a day beside one that the person wrote."""
        return self.path(f"{DAILY}/{day.isoformat()} memories.md")

    def session_path(self, stem: str) -> str:
        """Where a session note goes; `stem` from `session_stem`, made unique."""
        return self.path(f"{SESSIONS}/{stem}.md")

    def holds(self, path: str) -> bool:
        """Whether a path lies in our part of the vault (in ours: everywhere)."""
        return not self.folder or path.startswith(f"{self.folder}/")

    def is_daily(self, path: str) -> bool:
        """Whether a path is that of one of our day notes."""
        return self._in(path, DAILY) and day_of(path) is not None

    def is_session(self, path: str) -> bool:
        """Whether a path is that of one of our session notes."""
        return self._in(path, SESSIONS) and _SESSION.match(PurePosixPath(path).stem) is not None

    def is_page_path(self, path: str) -> bool:
        """Whether a generated page may stand at `path`. Only with `pages.is_generated` as well is it one."""
        if path in {self.path(page) for page in (INDEX_PAGE, TAGS_PAGE, AGENTS_PAGE, INDEX_DATA)}:
            return True
        within = {self.path(f"{folder}/{name}") for folder in FOLDERS for name in (INDEX_PAGE, INDEX_DATA)}
        return path in within

    def _in(self, path: str, folder: str) -> bool:
        return path.startswith(self.path(folder) + "/")


def is_page_stem(stem: str) -> bool:
    """Whether a generated page bears this name: memories get a number instead."""
    return fold(stem) in _PAGE_STEMS


def session_stem(started: datetime, title: str) -> str:
    """`2026-03-22 0930 Title`, made safe; `started` in local time."""
    return safe_name(f"{started.date().isoformat()} {started:%H%M} {title.strip() or 'Session'}")


def day_of(path: str) -> date | None:
    """The day in the name of a daily or session note, None when there is no valid one."""
    stem = PurePosixPath(path).stem
    found = _DAY.fullmatch(stem) or _SESSION.match(stem)
    if found is None:
        return None
    try:
        return date.fromisoformat(found.group(1))
    except ValueError:
        return None
