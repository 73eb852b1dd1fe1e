"""Finding the notes of a vault, with everything that could not be looked at said aloud."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hearthmind.vault.confine import flaw_of, within
from hearthmind.vault.files import FileStat
from hearthmind.vault.ignore import Ignore, is_conflict_copy
from hearthmind.vault.records import Problem


@dataclass(slots=True)
class Findings:
    """What a walk met besides notes: problems, and (path, reason) of what it did not read
    (folders with a slash at the end). Complete when the walk is exhausted."""

    problems: list[Problem] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    """Files that are no notes: attachments, canvases."""


def walk(root: Path, ignore: Ignore, findings: Findings) -> Iterator[FileStat]:
    """Every note (`.md`, any case) that is read, in the order of paths within each folder, folders after files.

    A folder or file that could not be looked at is a problem with `unread`; what lies there must not be
    taken as deleted (`Unseen`). Symlinks that lead out or nowhere are problems; one to a place that is read
    anyway is passed over, so that no note has two paths.
    """
    base = os.path.realpath(root)
    pending = [""]
    seen: set[tuple[int, int]] = set()
    while pending:
        folder = pending.pop()
        inner: list[str] = []
        for entry in _entries(base, folder, findings):
            path = f"{folder}/{entry.name}" if folder else entry.name
            linked = entry.is_symlink()
            if linked and not _may_follow(base, path, ignore, findings):
                continue
            is_dir = entry.is_dir()
            if reason := ignore.own_reason(path, entry.name, is_dir):
                _pass_over(path, entry.name, is_dir, reason, findings)
            elif is_dir:
                if not linked or _first_time(entry, seen):
                    inner.append(path)
            elif entry.name[-3:].lower() != ".md":
                findings.others.append(path)
            elif found := _stat(entry, path, findings):
                yield found
        pending.extend(reversed(inner))


class Unseen:
    """What a walk could not look at. `covers(path)`: the absence of `path` from the walk means nothing."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self._paths = {problem.path for problem in problems if problem.unread}

    def covers(self, path: str) -> bool:
        if not self._paths:
            return False
        parts = path.split("/")
        return "" in self._paths or any("/".join(parts[:end]) in self._paths for end in range(1, len(parts) + 1))


def _entries(base: str, folder: str, findings: Findings) -> list[os.DirEntry[str]]:
    """The entries of a folder by name; those that could be read, if the folder fails midway."""
    entries: list[os.DirEntry[str]] = []
    try:
        with os.scandir(f"{base}/{folder}" if folder else base) as found:
            entries.extend(found)
    except FileNotFoundError as fault:
        if not folder:
            findings.problems.append(_unread("", fault))
    except OSError as fault:
        findings.problems.append(_unread(folder, fault))
    entries.sort(key=_name)
    return [entry for entry in entries if _addressable(folder, entry.name, findings)]


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _addressable(folder: str, name: str, findings: Findings) -> bool:
    if name.isascii() and "\\" not in name and ":" not in name:
        return True
    flaw = flaw_of(f"{folder}/{name}" if folder else name) or (flaw_of(f"{name}/x") if not folder else None)
    if flaw is None:
        return True
    shown = name.encode(errors="replace").decode()
    path = f"{folder}/{shown}" if folder else shown
    findings.problems.append(Problem(path, f"this name cannot be used: {flaw}; rename it to have it read"))
    return False


def _stat(entry: os.DirEntry[str], path: str, findings: Findings) -> FileStat | None:
    try:
        found = entry.stat()
    except FileNotFoundError:
        return None
    except OSError as fault:
        findings.problems.append(_unread(path, fault))
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return FileStat(path, found.st_size, found.st_mtime_ns, found.st_ino)


def _may_follow(base: str, path: str, ignore: Ignore, findings: Findings) -> bool:
    real = os.path.realpath(f"{base}/{path}")
    if not within(base, real):
        problem = "a symbolic link that leads out of the vault is not read"
    elif not os.path.lexists(real) or os.path.islink(real):  # noqa: PTH114
        problem = "a symbolic link that leads nowhere"
    else:
        inside = os.path.relpath(real, base).replace(os.sep, "/")
        if inside != "." and ignore.reason(inside, Path(real).is_dir()) is not None:
            return True
        problem = f"a symbolic link to {inside}, which is read at its own place"
    findings.problems.append(Problem(path, problem))
    return False


def _first_time(entry: os.DirEntry[str], seen: set[tuple[int, int]]) -> bool:
    try:
        found = entry.stat()
    except OSError:
        return False
    key = (found.st_dev, found.st_ino)
    if key in seen:
        return False
    seen.add(key)
    return True


def _pass_over(path: str, name: str, is_dir: bool, reason: str, findings: Findings) -> None:
    findings.ignored.append((f"{path}/" if is_dir else path, reason))
    if not is_dir and is_conflict_copy(name) and name.lower().endswith(".md"):
        findings.problems.append(
            Problem(path, "a sync tool kept two versions of this note: merge what is missing, then delete it")
        )


def _unread(path: str, fault: OSError) -> Problem:
    return Problem(path, f"cannot be read: {fault.strerror or fault}", unread=True)
