"""Connections to one catalog file: readers on demand, one writer, and what SQLite's errors mean."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from hearthmind.errors import DiskFull, HearthmindError, StoreUnavailable
from hearthmind.stores.turns import Turns

SUSPECT_SUFFIX = ".suspect"
"""Beside a catalog in which damage was met while running; the next open sets the file aside."""

_READER_CACHE_KB = 4_096
_WRITER_CACHE_KB = 16_384
# No mmap: it measured no faster here, and a file cut short under it kills the process instead of raising.
_WAL_LIMIT_BYTES = 32 * 1024 * 1024
_READERS = 8
"""Connections that read at once; a burst of more threads waits for one for milliseconds instead of memory."""
_READ_WAIT_SECONDS = 10.0
"""Readers wait only for another process that opens, closes or recovers the file."""
_POLL_SECONDS = 0.003
"""Between attempts at the lock of another process; SQLite's own back-off grows to 100 ms and then misses the
short gaps of a bulk writer."""
_BUGS = (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.NotSupportedError)
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its extension; 0 where Python raised on its own."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def is_damage(error: sqlite3.Error) -> bool:
    return primary_code(error) in _DAMAGE


def connect(path: Path, *, cache_kb: int, wait_seconds: float, reads_only: bool) -> sqlite3.Connection:
    """A connection to an existing file; it never creates one."""
    connection = sqlite3.connect(
        path.absolute().as_uri() + "?mode=rw",
        uri=True,
        timeout=wait_seconds,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        connection.execute(f"PRAGMA cache_size = -{cache_kb}")
        connection.execute("PRAGMA temp_store = MEMORY")
        if reads_only:
            connection.execute("PRAGMA query_only = ON")
        else:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection


class Connections:
    """All connections of one process to one catalog file. Safe for concurrent threads."""

    def __init__(self, path: Path, now: Callable[[], datetime] | None = None) -> None:
        self._path = path
        self.now = now or (lambda: datetime.now(UTC))
        self._guard = threading.Lock()
        self._room = threading.Semaphore(_READERS)
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._turns = Turns()
        self._writer: sqlite3.Connection | None = None
        with self._explained():
            found = path.stat()
        self._file = (found.st_dev, found.st_ino)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one committed state throughout and is nobody else's meanwhile."""
        with self._explained(), self._room:
            connection = self._reader()
            try:
                connection.execute("BEGIN")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.close()
                raise
            with self._guard:
                if not self._closed:
                    self._idle.append(connection)
                    return
            connection.close()

    @contextmanager
    def writing(self, wait_seconds: float) -> Iterator[sqlite3.Connection]:
        """The write transaction: commits at the end, rolls back on any exception."""
        deadline = time.monotonic() + wait_seconds
        if not self._turns.take(wait_seconds):
            raise StoreUnavailable(_waited("another thread", wait_seconds))
        try:
            with self._explained():
                connection = self._begin(deadline, wait_seconds)
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    self._roll_back(connection)
                    raise
        finally:
            self._turns.give()

    def check(self) -> None:
        """Raises StoreUnavailable when the file cannot be read or is no longer the one that was opened."""
        self._still_there()
        with self.reading() as connection:
            connection.execute("SELECT value FROM meta LIMIT 1").fetchone()
            connection.execute("SELECT rowid FROM terms LIMIT 1").fetchone()

    def close(self, wait_seconds: float = 10.0) -> None:
        """Closes idle connections at once, those in use when they come back, the writer after its turn."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        if self._turns.take(wait_seconds):
            try:
                if self._writer is not None:
                    self._writer.close()
                    self._writer = None
            finally:
                self._turns.give()

    def _reader(self) -> sqlite3.Connection:
        with self._guard:
            self._refuse_if_closed()
            if self._idle:
                return self._idle.pop()
        return connect(self._path, cache_kb=_READER_CACHE_KB, wait_seconds=_READ_WAIT_SECONDS, reads_only=True)

    def _begin(self, deadline: float, wait_seconds: float) -> sqlite3.Connection:
        self._refuse_if_closed()
        self._still_there()
        if self._writer is None:
            self._writer = connect(
                self._path, cache_kb=_WRITER_CACHE_KB, wait_seconds=_READ_WAIT_SECONDS, reads_only=False
            )
            self._writer.execute("PRAGMA busy_timeout = 0")
        while True:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                return self._writer
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY:
                    raise
                if time.monotonic() >= deadline:
                    raise StoreUnavailable(_waited("another process", wait_seconds)) from error
            time.sleep(_POLL_SECONDS)

    def _roll_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            connection.close()  # closing rolls back as well
            self._writer = None

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("The catalog is closed.")

    def _still_there(self) -> None:
        """A file that was deleted or replaced would swallow writes without a word."""
        with self._explained():
            found = self._path.stat()
        if (found.st_dev, found.st_ino) != self._file:
            raise StoreUnavailable(f"The catalog {self._path} was replaced while it was open; start again.")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            if str(error.filename) != str(self._path):
                raise
            raise StoreUnavailable(f"The catalog {self._path} is gone; start again to rebuild it.") from error
        except _BUGS as error:
            if self._closed:
                raise StoreUnavailable("The catalog is closed.") from error
            raise
        except sqlite3.Error as error:
            if is_damage(error):
                self._mark_suspect()
            raise explained(error, self._path) from error

    def _mark_suspect(self) -> None:
        try:
            self._path.with_name(self._path.name + SUSPECT_SUFFIX).touch()
        except OSError:
            return


def explained(error: sqlite3.Error, path: Path) -> HearthmindError:
    """The situation behind an error of SQLite, in words that name the file and what to do."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return DiskFull(f"The disk that holds {path} is full; free some space.")
    if code in _DAMAGE:
        return StoreUnavailable(f"The catalog {path} is damaged; start again to rebuild it from the vault.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreUnavailable(f"The catalog {path} is held by another process; try again in a moment.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StoreUnavailable(f"The catalog {path} cannot be opened for writing; check its folder's rights.")
    return StoreUnavailable(f"The catalog {path} does not answer: {error}")


def _waited(whom: str, seconds: float) -> str:
    return f"The space stayed locked by {whom} for {seconds:.0f} seconds; try again in a moment."
