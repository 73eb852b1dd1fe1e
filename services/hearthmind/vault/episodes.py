"""What Markdown does not carry about the turns of a session: `.hearthmind/episodes/<session>.jsonl`."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from hearthmind.model import Outcome
from hearthmind.vault.names import safe_name
from hearthmind.vault.records import Problem, Records

FOLDER = "episodes"


@dataclass(frozen=True, slots=True)
class Episode:
    """The details of one turn. `entry` is its block id in the session note, `ref` the caller's own id,
    `occurred_at` ISO 8601 with offset, `role` as the caller gave it, `importance` 1-10."""

    entry: str
    ref: str | None = None
    outcome: Outcome | None = None
    importance: int | None = None
    topics: tuple[str, ...] = ()
    occurred_at: str | None = None
    role: str | None = None


class Episodes:
    """The episode details of one vault. `session` is the path or the name of the session note."""

    def __init__(self, root: Path, mark_id: str | None = None) -> None:
        self._records = Records(root, mark_id)

    def append(self, session: str, episodes: Iterable[Episode]) -> None:
        """Add details, durably, with one fsync. A later line for the same entry replaces the earlier."""
        self._records.append(record_name(session), [_row(one) for one in episodes])

    def load(self, session: str, *former: str) -> tuple[dict[str, Episode], list[Problem]]:
        """The details by block id; entries without any are absent. Values that make no sense are None, lines
        that make none are problems. `former` are names the session note had before, read first."""
        known: dict[str, Episode] = {}
        problems: list[Problem] = []
        for name in dict.fromkeys(record_name(one) for one in (*former, session)):
            found = self._records.read_lines(name)
            problems.extend(found.problems)
            for row in found.rows:
                if episode := _episode(row):
                    known[episode.entry] = episode
                else:
                    problems.append(Problem(f".hearthmind/{name}", "a line without its entry, ignored"))
        return known, problems


def record_name(session: str) -> str:
    """The record of a session note; names that had to be made safe keep apart by a digest."""
    stem = PurePosixPath(session).name
    if stem.lower().endswith(".md"):
        stem = stem[:-3]
    name = safe_name(stem)
    if name != stem:
        name += "-" + hashlib.sha256(stem.encode(errors="surrogatepass")).hexdigest()[:10]
    return f"{FOLDER}/{name}.jsonl"


def _row(episode: Episode) -> dict[str, Any]:
    return {key: value for key, value in asdict(episode).items() if value not in (None, ())}


def _episode(row: dict[str, Any]) -> Episode | None:
    entry, topics, importance = row.get("entry"), row.get("topics"), row.get("importance")
    if not isinstance(entry, str) or not entry:
        return None
    whole = isinstance(importance, int) and not isinstance(importance, bool) and 1 <= importance <= 10
    return Episode(
        entry=entry,
        ref=_text(row.get("ref")),
        outcome=next((one for one in Outcome if one == row.get("outcome")), None),
        importance=importance if whole else None,
        topics=tuple(one for one in topics if isinstance(one, str)) if isinstance(topics, list) else (),
        occurred_at=_text(row.get("occurred_at")),
        role=_text(row.get("role")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
