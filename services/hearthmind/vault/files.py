"""Durable compare-and-exchange on the files of one vault.

Every path is vault-relative with `/` and stays inside the vault, symlinks included (PathOutsideVault). Every
write refuses a vault whose mark is missing or another's (VaultNotMounted), is durable when it returns, and leaves on
failure the file as it was, no temporary and no new folder (DiskFull, VaultNotWritable).
"""

import contextlib
import errno
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hearthmind.errors import (
    HearthmindError,
    MemoryNotFound,
    NameTaken,
    NoteChangedSinceRead,
    NoteUnreadable,
    PathOutsideVault,
    VaultNotMounted,
)
from hearthmind.vault import durable
from hearthmind.vault.confine import place_of
from hearthmind.vault.durable import version_of
from hearthmind.vault.mark import OWN_FOLDER, Mount

if sys.platform != "win32":
    import fcntl

TRASH = f"{OWN_FOLDER}/trash"


@dataclass(frozen=True, slots=True)
class FileStat:
    """A file as a walk sees it. `path` is vault-relative; with `size`, `mtime_ns` and `inode` unchanged a
    file counts as unchanged."""

    path: str
    size: int
    mtime_ns: int
    inode: int


class VaultFiles:
    """The files of the vault at `root`, whose mark has the id `mark_id` where that is known. Safe to share
    between threads and, through a lock on the folder, between processes on one host."""

    def __init__(self, root: Path, mark_id: str | None = None) -> None:
        self.root = root
        self._mount = Mount(root, mark_id)
        self._lock = threading.RLock()

    def require_mounted(self) -> None:
        """Raises VaultNotMounted unless this very vault lies in its place."""
        self._mount.require()

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises MemoryNotFound when there is none, NoteUnreadable when the system
        refuses or it is no regular file, VaultNotMounted when the vault itself is gone."""
        return self._read(path)[0]

    def find(self, path: str) -> bytes | None:
        """The bytes of a file, None when there is none; raises as `read` otherwise."""
        try:
            return self.read(path)
        except MemoryNotFound:
            return None

    def stat(self, path: str) -> FileStat | None:
        """Size, time and inode of a file, None when there is none."""
        try:
            found = place_of(self.root, path).real.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as fault:
            raise _unreadable(path, fault) from fault
        return FileStat(path, found.st_size, found.st_mtime_ns, found.st_ino)

    def create(self, path: str, raw: bytes) -> str:
        """Write a new file; returns its version. Raises NameTaken when anything has that name."""
        target = place_of(self.root, path).named
        with self._into(path, target.parent):
            if os.path.lexists(target):
                raise _taken(path)
            temp = durable.write_temporary(target.parent, raw)
            try:
                durable.place(temp, target)
            except FileExistsError as fault:
                raise _taken(path) from fault
            finally:
                temp.unlink(missing_ok=True)
        return version_of(raw)

    def exchange(self, path: str, expected_version: str, raw: bytes) -> str:
        """Replace the bytes of version `expected_version` by `raw`; returns the new version.

        Mode and owner stay. Raises NoteChangedSinceRead (`extra["version"]`: the current one) when the file
        holds other bytes, MemoryNotFound when it is gone. A writer outside who slips in between is put back
        in place, or kept in the trash if the file was replaced yet again; only bytes written into the old
        file after it was compared and unlinked (through a descriptor still open) can escape us.
        """
        self.require_mounted()
        with durable.faults_named(path), self._alone():
            before, like = self._read(path)
            _expect(path, before, expected_version)
            target = place_of(self.root, path).real
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, "the file is read-only")
            temp = durable.write_temporary(target.parent, raw, like)
            if not self._swap(temp, target, path, expected_version, raw):
                self._replace(temp, target, path, expected_version)
            durable.sync_folder(target.parent)
        return version_of(raw)

    def move(self, path: str, new_path: str) -> None:
        """Rename a file without replacing anything. Raises NameTaken when `new_path` exists, MemoryNotFound
        when `path` does not. A change of case alone works on case-insensitive file systems too."""
        source = self._entry(path)
        target = place_of(self.root, new_path).named
        with self._into(new_path, target.parent), self._alone():
            try:
                _place_anywhere(source, target)
            except FileExistsError as fault:
                if not _same_entry(source, target):
                    raise _taken(new_path) from fault
                source.rename(target)
                durable.sync_folder(target.parent)
            except FileNotFoundError as fault:
                raise _missing(path) from fault

    def remove_to_trash(self, path: str) -> str:
        """Move a file into `.hearthmind/trash/`, under its own path, a number added where that is taken.
        Returns the path there. Its mtime becomes the time of removal, which the 30 days count from."""
        source = self._entry(path)
        with durable.faults_named(path), self._alone():
            return self._to_trash(source, path)

    def rescue_temporaries(self, older_than_seconds: float = 3600) -> list[str]:
        """Clear temporaries that a killed process left; returns the trash paths of those that may matter.

        A temporary beside notes can hold the only copy of somebody's edit (killed between exchange and
        check), so it goes to the trash as `recovered <random>.md`; one beside our records is deleted.
        """
        self.require_mounted()
        kept: list[str] = []
        with durable.faults_named("temporary files"), self._alone():
            for temp in list(_stale_temporaries(self.root, time.time() - older_than_seconds)):
                relative = temp.relative_to(self.root)
                if relative.parts[0] == OWN_FOLDER:
                    temp.unlink(missing_ok=True)
                else:
                    name = f"recovered {temp.name[12:-4]}.md"
                    kept.append(self._to_trash(temp, relative.with_name(name).as_posix()))
        return kept

    def _read(self, path: str) -> tuple[bytes, os.stat_result]:
        real = place_of(self.root, path).real
        try:
            descriptor = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            with os.fdopen(descriptor, "rb") as file:
                found = os.fstat(descriptor)
                if not stat.S_ISREG(found.st_mode):
                    raise NoteUnreadable(f"{path} is not a regular file.", path=path)
                return file.read(), found
        except (FileNotFoundError, NotADirectoryError) as fault:
            if not self.root.is_dir():
                raise VaultNotMounted(f"The vault at {self.root} is not there.") from fault
            raise _missing(path) from fault
        except OSError as fault:
            raise _unreadable(path, fault) from fault

    def _entry(self, path: str) -> Path:
        """The directory entry of an existing regular file (or of a symlink to one)."""
        self.require_mounted()
        place = place_of(self.root, path)
        if not place.real.is_file():
            raise _missing(path)
        return place.named

    def _swap(self, temp: Path, target: Path, path: str, expected: str, raw: bytes) -> bool:
        """Exchange and compare what came out; False where the file system cannot exchange."""
        try:
            if not durable.swap(temp, target):
                return False
        except FileNotFoundError as fault:
            temp.unlink(missing_ok=True)
            raise _missing(path) from fault
        except BaseException:
            temp.unlink(missing_ok=True)
            raise
        displaced = temp.read_bytes()  # should this fail, the temporary stays: it is somebody's text
        if version_of(displaced) == expected:
            temp.unlink()
            return True
        self._put_back(temp, target, path, raw)
        durable.sync_folder(target.parent)
        raise _changed(path, version_of(self.read(path)))

    def _put_back(self, temp: Path, target: Path, path: str, ours: bytes) -> None:
        """`temp` holds an edit that we displaced: return it to its place, or keep it in the trash when
        the file was removed or replaced once more meanwhile."""
        try:
            durable.swap(temp, target)
        except FileNotFoundError:
            self._to_trash(temp, path)
            return
        if temp.read_bytes() == ours:
            temp.unlink()
            return
        durable.swap(temp, target)
        self._to_trash(temp, path)

    def _replace(self, temp: Path, target: Path, path: str, expected: str) -> None:
        """Where there is no exchange: compare once more at the last moment, then replace."""
        try:
            _expect(path, self.read(path), expected)
            temp.replace(target)
        finally:
            temp.unlink(missing_ok=True)

    def _to_trash(self, source: Path, path: str) -> str:
        wanted = PurePosixPath(TRASH, path)
        number = 1
        while True:
            name = wanted.name if number == 1 else f"{wanted.stem} {number}{wanted.suffix}"
            kept = wanted.with_name(name).as_posix()
            target = place_of(self.root, kept).named
            with self._into(kept, target.parent):
                try:
                    _place_anywhere(source, target)
                except FileExistsError:
                    number += 1
                    continue
                except FileNotFoundError as fault:
                    raise _missing(path) from fault
                with contextlib.suppress(OSError):
                    os.utime(target, follow_symlinks=False)
                return kept

    @contextlib.contextmanager
    def _into(self, path: str, folder: Path) -> Iterator[None]:
        """Write into `folder`, creating it; on failure take back what was created."""
        self.require_mounted()
        with durable.faults_named(path):
            created = durable.make_folders(folder)
            try:
                yield
            except BaseException:
                durable.remove_folders(created)
                raise

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One exchange at a time: between threads by a lock, between processes by one on the root folder
        (where the file system has such locks)."""
        with self._lock:
            descriptor = os.open(self.root, os.O_RDONLY) if sys.platform != "win32" else -1
            try:
                if sys.platform != "win32":
                    with contextlib.suppress(OSError):
                        fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                if descriptor >= 0:
                    os.close(descriptor)


def _expect(path: str, raw: bytes, expected_version: str) -> None:
    version = version_of(raw)
    if version != expected_version:
        raise _changed(path, version)


def _place_anywhere(source: Path, target: Path) -> None:
    """Rename without replacing; across file systems (a mount inside the vault) by copy, then removal."""
    try:
        durable.place(source, target)
    except OSError as fault:
        if fault.errno != errno.EXDEV:
            raise
        raw = source.read_bytes()
        temp = durable.write_temporary(target.parent, raw, source.stat())
        try:
            durable.place(temp, target)
        finally:
            temp.unlink(missing_ok=True)
        if source.read_bytes() == raw:
            source.unlink()
            durable.sync_folder(source.parent)


def _same_entry(source: Path, target: Path) -> bool:
    """Whether two names are one directory entry, as `a.md` and `A.md` are where case does not count."""
    if source.parent != target.parent or not source.samefile(target):
        return False
    return target.name not in os.listdir(target.parent)  # noqa: PTH208


def _stale_temporaries(root: Path, before: float) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in filter(durable.is_temporary, names):
            temp = Path(folder, name)
            with contextlib.suppress(OSError):
                found = temp.lstat()
                # A displaced note has an old mtime; the rename that displaced it set its ctime.
                if stat.S_ISREG(found.st_mode) and max(found.st_mtime, found.st_ctime) < before:
                    yield temp


def _changed(path: str, version: str) -> NoteChangedSinceRead:
    return NoteChangedSinceRead(
        f"{path} was changed since it was read. Read it again and repeat the change.",
        path=path,
        version=version,
    )


def _taken(path: str) -> NameTaken:
    return NameTaken(f"A file named {path} is already there.", path=path)


def _missing(path: str) -> MemoryNotFound:
    return MemoryNotFound(f"There is no file {path} in the vault.", path=path)


def _unreadable(path: str, fault: OSError) -> HearthmindError:
    if fault.errno == errno.ELOOP:
        return PathOutsideVault(f"{path} is a symbolic link that leads nowhere.", path=path)
    return NoteUnreadable(f"{path} cannot be read: {fault.strerror or fault}.", path=path)
