"""Small JSON and JSONL files in `.hearthmind/`: atomic, durable, and tolerant when read.

A damaged record never stops anybody: what cannot be read is reported as a Problem and left out.
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hearthmind.errors import VaultNotMounted
from hearthmind.vault import durable
from hearthmind.vault.confine import place_of
from hearthmind.vault.mark import OWN_FOLDER, Mount

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a vault that the person should know of. `path` is vault-relative, "" the vault itself.
    `unread`: what is at `path` or under it could not be looked at, so its absence means nothing."""

    path: str
    message: str
    line: int | None = None
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """What a JSONL file holds: its objects in order, and what could not be read of it. `rejected` are the
    unreadable lines as they stand."""

    rows: list[dict[str, Any]]
    problems: list[Problem]
    rejected: list[bytes]


class Records:
    """The records of the vault at `root`, whose mark has the id `mark_id` where that is known. Names are
    relative to `.hearthmind/`, with `/`.

    Every write refuses a vault whose mark is missing or another's (VaultNotMounted) and is durable when it
    returns; on failure (DiskFull, VaultNotWritable) the record is as it was.
    """

    def __init__(self, root: Path, mark_id: str | None = None) -> None:
        self.root = root
        self._mount = Mount(root, mark_id)

    def mounted(self) -> bool:
        """Whether this very vault lies in its place."""
        try:
            self._mount.require()
        except VaultNotMounted:
            return False
        return True

    def path(self, name: str) -> Path:
        """Where a record is; raises PathOutsideVault when the name leads out."""
        return place_of(self.root, f"{OWN_FOLDER}/{name}").real

    def write_json(self, name: str, value: Any) -> None:
        """Replace a record atomically."""
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
        self._replace(name, _encoded(text, value) + b"\n")

    def read_json(self, name: str, problems: list[Problem] | None = None) -> Any:
        """The value of a record; None when there is none, or when it is damaged (then a problem is added)."""
        try:
            return json.loads(self.path(name).read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, OSError, RecursionError) as fault:
            if problems is not None:
                problems.append(Problem(f"{OWN_FOLDER}/{name}", f"unreadable record: {fault}"))
            return None

    def append(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add lines to a log with one fsync. A torn last line of before is closed first, not continued."""
        raw = b"".join(_line(row) for row in rows)
        if not raw:
            return
        path = self._writable(name)
        with durable.faults_named(f"{OWN_FOLDER}/{name}"):
            created = not path.exists()
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                _append_all(descriptor, raw)
            finally:
                os.close(descriptor)
            if created:
                durable.sync_folder(path.parent)

    def write_lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Replace a whole log atomically."""
        self._replace(name, b"".join(_line(row) for row in rows))

    def read_lines(self, name: str) -> Lines:
        """The objects of a log; an absent one is empty. Torn and garbage lines are problems, not errors."""
        shown = f"{OWN_FOLDER}/{name}"
        found = Lines([], [], [])
        try:
            raw = self.path(name).read_bytes()
        except FileNotFoundError:
            return found
        except OSError as fault:
            found.problems.append(Problem(shown, f"cannot be read: {fault.strerror}", unread=True))
            return found
        for number, line in enumerate(raw.split(b"\n"), 1):
            if not line.strip():
                continue
            row = _object(line)
            if row is not None:
                found.rows.append(row)
            else:
                found.rejected.append(line)
                found.problems.append(Problem(shown, "unreadable line, ignored", line=number))
        return found

    def remove(self, name: str) -> None:
        """Delete a record; one that is not there is fine."""
        path = self._writable(name)
        with durable.faults_named(f"{OWN_FOLDER}/{name}"):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            durable.sync_folder(path.parent)

    def _replace(self, name: str, raw: bytes) -> None:
        path = self._writable(name)
        with durable.faults_named(f"{OWN_FOLDER}/{name}"):
            durable.replace_file(path, raw)

    def _writable(self, name: str) -> Path:
        self._mount.require()
        path = self.path(name)
        with durable.faults_named(f"{OWN_FOLDER}/{name}"):
            durable.make_folders(path.parent)
        return path


def _append_all(descriptor: int, raw: bytes) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
    size = os.lseek(descriptor, 0, os.SEEK_END)
    torn = size > 0 and _byte_at(descriptor, size - 1) != b"\n"
    try:
        durable.write_all(descriptor, b"\n" + raw if torn else raw)
        os.fsync(descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, size)
        raise


def _byte_at(descriptor: int, position: int) -> bytes:
    os.lseek(descriptor, position, os.SEEK_SET)
    return os.read(descriptor, 1)


def _line(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(dict(row), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _encoded(text, dict(row)) + b"\n"


def _encoded(text: str, value: Any) -> bytes:
    """UTF-8 as people read it; with a lone surrogate somewhere, all ASCII instead."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False).encode()


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
