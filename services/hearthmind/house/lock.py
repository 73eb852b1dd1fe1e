"""The host lock, and where the host's door is: one process per data folder opens the stores (DESIGN §3)."""

import fcntl
import os
from pathlib import Path

LOCK = "host.lock"
SOCKET = "host.sock"
ADDRESS = "host.addr"


def state_folder(data: Path) -> Path:
    """`<data>/state`, created owner-only where it is missing."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = data / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    return state


class HostLock:
    """An exclusive lock on a data folder. The kernel releases it when the process ends, however it ends.

    The file holds the pid of the last holder, for messages only. Not for use by several threads at once.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        return self._fd is not None

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it; returns at once."""
        return self.acquire(blocking=False)

    def acquire(self, blocking: bool = True) -> bool:
        """Take the lock, waiting for it if `blocking`. OSError where the data folder cannot be written."""
        if self._fd is not None:
            return True
        while True:
            path = state_folder(self.data) / LOCK
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | (0 if blocking else fcntl.LOCK_NB))
            except BlockingIOError:
                os.close(fd)
                return False
            except BaseException:
                os.close(fd)
                raise
            if _is_still(fd, path):
                break
            os.close(fd)  # state/ was deleted meanwhile: this is the lock of a folder that is gone
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)
        self._fd = fd
        return True

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def holder(data: Path) -> int | None:
    """The pid of the last process that took the lock."""
    try:
        return int((data / "state" / LOCK).read_text())
    except (OSError, ValueError):
        return None


def address(data: Path) -> Path:
    """Where the door of a data folder is: `state/host.sock`, or the path that `state/host.addr` names."""
    state = data / "state"
    try:
        return Path((state / ADDRESS).read_text())
    except OSError:
        return state / SOCKET


def _is_still(fd: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(fd)
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)
