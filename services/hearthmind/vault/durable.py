"""The file system primitives under every write: temporaries, fsync, exchange, and faults put into words."""

import contextlib
import ctypes
import errno
import functools
import hashlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from hearthmind.errors import DiskFull, HearthmindError, InvalidInput, NameTaken, VaultNotWritable

_TEMP_NAME = re.compile(r"\.hearthmind-[0-9a-f]{16}\.tmp")
_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def version_of(raw: bytes) -> str:
    """The git blob id of `raw`: what `git hash-object` prints, 40 hex digits."""
    return hashlib.sha1(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()


def is_temporary(name: str) -> bool:
    """Whether a file name is one of our temporaries, which nobody may read as a note."""
    return _TEMP_NAME.fullmatch(name) is not None


def write_temporary(folder: Path, raw: bytes, like: os.stat_result | None = None) -> Path:
    """Write `raw` durably to a new temporary in `folder`, with the mode and owner of `like` where given.

    The owner is kept as far as this process may. On any failure nothing is left behind.
    """
    temp = folder / f".hearthmind-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if like is None else 0o600)
    try:
        try:
            write_all(descriptor, raw)
            if like is not None:
                _liken(descriptor, like)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        _unlink_quietly(temp)
        raise
    return temp


def write_all(descriptor: int, raw: bytes) -> None:
    """Write every byte, however often the system takes only some."""
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _liken(descriptor: int, like: os.stat_result) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.fchown(descriptor, like.st_uid, like.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, where the file system knows how."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as fault:
        if fault.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


def swap(one: Path, other: Path) -> bool:
    """Exchange two files atomically; False where the platform or the file system cannot."""
    return _rename_with(_EXCHANGE, one, other)


def place(source: Path, target: Path) -> None:
    """Rename without replacing, durably. Raises FileExistsError when anything has the name `target`."""
    if not _rename_with(_NOREPLACE, source, target):
        _place_without_flags(source, target)
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def _place_without_flags(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError as fault:
        if fault.errno in _FULL or fault.errno == errno.EXDEV:
            raise
        # A file system without hard links: reserve the name, then put the file over our own reservation.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        source.replace(target)
    else:
        source.unlink()


def replace_file(path: Path, raw: bytes) -> None:
    """Put `raw` at `path` atomically and durably, whatever was there. For files that only we write."""
    temp = write_temporary(path.parent, raw)
    try:
        temp.replace(path)
    except BaseException:
        _unlink_quietly(temp)
        raise
    sync_folder(path.parent)


def make_folders(folder: Path) -> list[Path]:
    """Create `folder` and what is missing above it, durably; returns what was created, outermost first."""
    missing: list[Path] = []
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    created: list[Path] = []
    try:
        for one in reversed(missing):
            with contextlib.suppress(FileExistsError):
                one.mkdir()
                created.append(one)
            sync_folder(one.parent)
    except BaseException:
        remove_folders(created)
        raise
    return created


def remove_folders(created: list[Path]) -> None:
    """Take back what `make_folders` created, as far as it is still empty."""
    for one in reversed(created):
        with contextlib.suppress(OSError):
            one.rmdir()


@contextlib.contextmanager
def faults_named(path: str) -> Iterator[None]:
    """Turn a fault of the file system while writing `path` into the situation it is, with its remedy."""
    try:
        yield
    except OSError as fault:
        raise _named(fault, path) from fault


def _named(fault: OSError, path: str) -> HearthmindError:
    reason = fault.strerror or str(fault)
    if fault.errno in _FULL:
        return DiskFull(
            f"The disk that holds the vault is full: {path} was not written. Free some space and try again.",
            path=path,
        )
    if fault.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return VaultNotWritable(
            f"The vault cannot be written: {path}: {reason}. Mount it writable and give {_user()} the right"
            " to write there; nothing was changed.",
            path=path,
        )
    if fault.errno in (errno.ENAMETOOLONG, errno.EILSEQ):
        return InvalidInput(f"The file system does not take the name {path}: {reason}.", path=path)
    if fault.errno in (errno.ENOTDIR, errno.EEXIST, errno.EISDIR):
        return NameTaken(f"Something else already stands at {path}: {reason}.", path=path)
    return VaultNotWritable(
        f"The vault cannot be written: {path}: {reason}. Check the disk or the network mount.", path=path
    )


def _user() -> str:
    return f"user id {os.getuid()}" if sys.platform != "win32" else "the user of Hearthmind"


def _unlink_quietly(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _rename_with(flag: int, source: Path, target: Path) -> bool:
    call = _renameat2()
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), os.fspath(source), None, os.fspath(target))


@functools.cache
def _renameat2() -> Callable[..., int] | None:
    """renameat2(2) of the C library, where there is one."""
    if sys.platform != "linux":
        return None
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call
