"""Which files of a vault are never read: hidden ones, those of sync tools, and what the person excludes."""

import functools
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec

from hearthmind.vault.durable import is_temporary
from hearthmind.vault.records import Problem

IGNORE_FILE = ".hearthmindignore"
OBSIDIAN_SETTINGS = ".obsidian/app.json"
_CONFLICT = re.compile(r".*\.sync-conflict-.+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Excluded:
    """One of Obsidian's excluded files: as shown to the person, and its test. Only a beginning of paths
    decides on folders: an expression may match a folder and none of the files in it."""

    shown: str
    matches: Callable[[str], bool]
    folders: bool


class Ignore:
    """The rules of one vault, read once. Broken files and patterns are in `problems` and otherwise without
    effect. `fresh()` gives the rules of now."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self._stamp = _stamp(root)
        self._lines: list[str] = []
        self._spec = self._gitignore()
        self._excluded = self._obsidian()

    def fresh(self) -> "Ignore":
        """These rules, or new ones when one of the two files changed."""
        return self if _stamp(self.root) == self._stamp else Ignore(self.root)

    def reason(self, path: str, is_dir: bool = False) -> str | None:
        """Why a vault-relative path is not read, in words; None when it is. A folder that is ignored takes
        everything in it along."""
        parts = path.split("/")
        for end in range(1, len(parts)):
            if found := self.own_reason("/".join(parts[:end]), parts[end - 1], True):
                return found
        return self.own_reason(path, parts[-1], is_dir)

    def own_reason(self, path: str, name: str, is_dir: bool) -> str | None:
        """As `reason`, for a path whose folders are known to be read; `name` is its last part."""
        if found := built_in_reason(name, is_dir):
            return found
        if self._spec is not None:
            shown = path + "/" if is_dir else path
            result = self._spec.check_file(shown)
            if result.include:
                line = "" if result.index is None else f": {self._lines[result.index]}"
                return f"excluded in {IGNORE_FILE}{line}"
        for excluded in self._excluded:
            if (excluded.folders or not is_dir) and excluded.matches(path + "/" if is_dir else path):
                return f"excluded in Obsidian: {excluded.shown}"
        return None

    def _gitignore(self) -> GitIgnoreSpec | None:
        raw = self._read(IGNORE_FILE)
        if raw is None:
            return None
        text = raw.decode("utf-8-sig", "replace")
        for number, line in enumerate(text.split("\n"), 1):
            line = line.removesuffix("\r")
            if not line.strip() or line.startswith("#"):
                continue
            try:
                GitIgnoreSpec.from_lines([line])
            except (ValueError, re.error) as fault:
                self.problems.append(Problem(IGNORE_FILE, f"not a pattern: {line} ({fault})", line=number))
            else:
                self._lines.append(line)
        return GitIgnoreSpec.from_lines(self._lines) if self._lines else None

    def _obsidian(self) -> list[_Excluded]:
        raw = self._read(OBSIDIAN_SETTINGS)
        if raw is None:
            return []
        try:
            settings: Any = json.loads(raw.decode("utf-8-sig"))
        except (ValueError, RecursionError) as fault:
            self.problems.append(Problem(OBSIDIAN_SETTINGS, f"unreadable, its exclusions do not count: {fault}"))
            return []
        filters = settings.get("userIgnoreFilters") if isinstance(settings, dict) else None
        rules: list[_Excluded] = []
        for one in filters if isinstance(filters, list) else []:
            try:
                rules.append(_excluded(str(one)))
            except (re.error, RecursionError, OverflowError) as fault:
                self.problems.append(Problem(OBSIDIAN_SETTINGS, f"not a pattern: {one} ({fault})"))
        return [rule for rule in rules if rule.shown.strip("/")]

    def _read(self, name: str) -> bytes | None:
        try:
            return (self.root / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as fault:
            self.problems.append(Problem(name, f"cannot be read, its exclusions do not count: {fault.strerror}"))
            return None


def built_in_reason(name: str, is_dir: bool) -> str | None:
    """Why a file or folder of this name is never read, whatever the person's rules say."""
    first = name[:1]
    if first == ".":
        if is_temporary(name):
            return "temporary file of Hearthmind"
        if name.startswith(".syncthing."):
            return "file of a sync tool"
        return "hidden folder" if is_dir else "hidden file"
    if first == "~" and name.startswith(("~syncthing~", "~$")):
        return "file of a sync tool"
    if is_dir:
        return "folder of packages" if name == "node_modules" else None
    return "conflict copy of a sync tool" if is_conflict_copy(name) else None


def is_conflict_copy(name: str) -> bool:
    """Whether a file is the losing side of a sync conflict, which a person has to look at."""
    return ".sync-conflict-" in name.lower() and _CONFLICT.match(name) is not None


def _excluded(entry: str) -> _Excluded:
    """Obsidian's forms: `/regular expression/`, anything else the beginning of a path; case does not count."""
    if len(entry) > 2 and entry.startswith("/") and entry.endswith("/"):
        expression = re.compile(entry[1:-1], re.IGNORECASE)
        return _Excluded(entry, lambda path: expression.search(path) is not None, folders=False)
    prefix = entry.strip().lstrip("/").casefold()
    return _Excluded(entry, functools.partial(_begins_with, prefix), folders=True)


def _begins_with(prefix: str, path: str) -> bool:
    return path.casefold().startswith(prefix)


def _stamp(root: Path) -> tuple[tuple[int, int, int] | None, ...]:
    return tuple(_stamp_of(root / name) for name in (IGNORE_FILE, OBSIDIAN_SETTINGS))


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
