"""Who is who in a vault: `.hearthmind/identity.jsonl`, an append-only log of ids and where they are.

One line per change, `{id, path, former, text_hash, at}`; the last line of an id counts, `path: null` forgets
it. Conflict copies that a sync tool makes of the log have another name and are never read.
"""

import os
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ulid import ULID

from hearthmind.errors import MemoryNotFound
from hearthmind.vault.records import Problem, Records

LOG = "identity.jsonl"
DAMAGED = "identity.damaged.jsonl"
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_COMPACT_FROM = 1000
_FORMER_KEPT = 20


def new_id() -> str:
    """A new ULID; ids of one process sort in the order they were made."""
    return str(ULID())


def is_ulid(value: object) -> bool:
    """Whether a value is a ULID as we write it: 26 characters in capitals. Other spellings are other
    people's, and two spellings of one id would be two memories."""
    return isinstance(value, str) and _ULID.fullmatch(value) is not None


@dataclass(frozen=True, slots=True)
class Identity:
    """A memory and where it lies. `former` are the paths it had, latest last; `text_hash` tells a moved
    note from another one at its place; `at` is when this was recorded, ISO 8601 in UTC."""

    id: str
    path: str
    former: tuple[str, ...] = ()
    text_hash: str = ""
    at: str = ""


class Identities:
    """The identities of one vault. Writes are durable when they return; what another process appended is
    seen after `refresh`, which every write does first."""

    def __init__(self, root: Path, mark_id: str | None = None) -> None:
        self._records = Records(root, mark_id)
        self._lock = threading.RLock()
        self._stamp: tuple[int, int, int] | None = None
        self._clear()
        self.refresh()

    def __len__(self) -> int:
        return len(self._by_id)

    def refresh(self) -> None:
        """Read the log again if it changed since. Torn and garbage lines are in `problems`. While the vault is
        not mounted or the log cannot be read, what was known stays known."""
        with self._lock:
            stamp = self._stat()
            if stamp == self._stamp or not self._records.mounted():
                return
            found = self._records.read_lines(LOG)
            if any(problem.unread for problem in found.problems):
                self.problems[:] = found.problems
                return
            self._clear()
            self.problems.extend(found.problems)
            self._rejected.extend(found.rejected)
            for row in found.rows:
                self._lines += 1
                self._take(row)
            self._stamp = stamp

    def by_id(self, id_: str) -> Identity | None:
        """The identity with this id."""
        return self._by_id.get(id_)

    def by_path(self, path: str) -> Identity | None:
        """The identity recorded last for this path, if it is still there."""
        id_ = self._by_path.get(path)
        return self._by_id.get(id_) if id_ else None

    def by_former(self, path: str) -> Identity | None:
        """The identity that lay at this path before, the latest if several did."""
        id_ = self._by_former.get(path)
        return self._by_id.get(id_) if id_ else None

    def by_text(self, text_hash: str) -> list[Identity]:
        """Every identity whose note had this text when it was recorded: where a moved file came from."""
        return [self._by_id[id_] for id_ in sorted(self._by_text.get(text_hash, ()))]

    def record(self, identities: Iterable[Identity]) -> None:
        """Append any number of identities with one fsync. One without `at` gets the time of now."""
        with self._lock:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._append([_row(one if one.at else replace(one, at=now)) for one in identities])

    def move(self, id_: str, new_path: str, text_hash: str | None = None) -> Identity:
        """Record that a memory lies elsewhere now, keeping its former path. Raises MemoryNotFound."""
        with self._lock:
            self.refresh()
            known = self._by_id.get(id_)
            if known is None:
                raise MemoryNotFound(f"No identity is recorded for {id_}.")
            former = known.former
            if known.path != new_path:
                former = tuple(one for one in (*former, known.path) if one != new_path)[-_FORMER_KEPT:]
            hash_ = known.text_hash if text_hash is None else text_hash
            self.record([Identity(id_, new_path, former, hash_)])
            return self._by_id[id_]

    def forget(self, ids: Iterable[str]) -> None:
        """Record that these memories are gone; unknown ids are fine."""
        with self._lock:
            self.refresh()
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._append([{"id": id_, "path": None, "at": now} for id_ in ids if id_ in self._by_id])

    def compact(self, force: bool = False) -> bool:
        """Rewrite the log to one line per identity when most of it is history; True if it did. Lines nobody
        could read are kept in `identity.damaged.jsonl`."""
        with self._lock:
            self.refresh()
            if not force and self._lines < 2 * len(self._by_id) + _COMPACT_FROM:
                return False
            if self._rejected:
                kept = [{"line": line.decode(errors="backslashreplace")} for line in self._rejected]
                self._records.append(DAMAGED, kept)
            self._records.write_lines(LOG, map(_row, self._by_id.values()))
            self.refresh()
            return True

    def _append(self, rows: list[dict[str, Any]]) -> None:
        if not rows:
            return
        self.refresh()
        self._records.append(LOG, rows)
        for row in rows:
            self._take(row)
        self._lines += len(rows)
        self._stamp = self._stat()

    def _take(self, row: dict[str, Any]) -> None:
        id_, path = row.get("id"), row.get("path")
        if not is_ulid(id_) or not isinstance(id_, str):
            self.problems.append(Problem(f".hearthmind/{LOG}", f"not an id: {id_!r}"))
            return
        self._drop(id_)
        if not isinstance(path, str) or not path:
            return
        former = row.get("former")
        names = tuple(str(one) for one in former) if isinstance(former, list) else ()
        identity = Identity(id_, path, names, str(row.get("text_hash") or ""), str(row.get("at") or ""))
        self._by_id[id_] = identity
        self._by_path[path] = id_
        self._by_text.setdefault(identity.text_hash, set()).add(id_)
        for one in names:
            self._by_former[one] = id_

    def _drop(self, id_: str) -> None:
        known = self._by_id.pop(id_, None)
        if known is None:
            return
        self._by_text.get(known.text_hash, set()).discard(id_)
        if self._by_path.get(known.path) == id_:
            del self._by_path[known.path]
        for one in known.former:
            if self._by_former.get(one) == id_:
                del self._by_former[one]

    def _clear(self) -> None:
        self.problems: list[Problem] = []
        self._rejected: list[bytes] = []
        self._lines = 0
        self._by_id: dict[str, Identity] = {}
        self._by_path: dict[str, str] = {}
        self._by_former: dict[str, str] = {}
        self._by_text: dict[str, set[str]] = {}

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._records.path(LOG))  # noqa: PTH116
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _row(identity: Identity) -> dict[str, Any]:
    return {
        "id": identity.id,
        "path": identity.path,
        "former": list(identity.former),
        "text_hash": identity.text_hash,
        "at": identity.at,
    }
