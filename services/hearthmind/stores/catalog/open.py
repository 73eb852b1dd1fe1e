"""Open a catalog, or set aside what cannot be one and begin anew. The vault can always rebuild it."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from hearthmind.errors import DiskFull, StoreUnavailable
from hearthmind.stores.catalog.connections import (
    SUSPECT_SUFFIX,
    Connections,
    connect,
    explained,
    is_damage,
    primary_code,
)
from hearthmind.stores.catalog.schema import APPLICATION_ID, DDL, SCHEMA_VERSION
from hearthmind.stores.catalog.sqlite import SqliteCatalog

_OPEN_WAIT_SECONDS = 30.0
_QUICK_CHECK_BYTES = 256 * 1024 * 1024
"""Up to this size every page is checked at open (59 MB measured 65 ms); larger files are set aside at the open
after damage was met."""
_KEPT_ASIDE = 3
_SIDECARS = ("-wal", "-shm")


def open_catalog(
    path: Path, space: str, schema: str = "", *, now: Callable[[], datetime] | None = None
) -> tuple[SqliteCatalog, list[str]]:
    """The catalog of a space at `path`, created when there is none, and warnings for the person.

    `schema` names what the stored projections depend on beside this module (the cutter and the analyser, say);
    a catalog made under another value, by another version, for another space, or damaged, is moved aside as
    `<name>.damaged-<time>` and an empty one made, with a warning. `now` is the clock.

    Raises StoreUnavailable when the folder cannot be written, DiskFull when there is no room.
    """
    warnings: list[str] = []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _one_opener(path):
            reason = _unusable(path, space, schema)
            if reason is not None:
                aside = _move_aside(path)
                warnings.append(
                    f"The catalog of space {space!r} {reason}; it was moved to {aside.name} and is rebuilt"
                    " from the vault."
                )
            if not path.exists():
                _create(path, space, schema)
            catalog = SqliteCatalog(Connections(path, now), space)
            catalog.check()
    except sqlite3.Error as error:
        raise explained(error, path) from error
    except OSError as error:
        if error.errno == 28:  # ENOSPC
            raise DiskFull(f"The disk that holds {path} is full; free some space.") from error
        raise StoreUnavailable(f"The catalog {path} cannot be opened: {error.strerror}.") from error
    return catalog, warnings


def _unusable(path: Path, space: str, schema: str) -> str | None:
    """Why the file at `path` cannot be this catalog; None when it can, or when nothing is there."""
    if not path.exists():
        leftover = any(_beside(path, suffix).exists() for suffix in _SIDECARS)
        return "was deleted while its journal stayed" if leftover else None
    if not path.is_file():
        return "is not a file"
    if _beside(path, SUSPECT_SUFFIX).exists():
        return "was found damaged"
    try:
        with closing(connect(path, cache_kb=2048, wait_seconds=_OPEN_WAIT_SECONDS, reads_only=True)) as connection:
            return _foreign(connection, space, schema) or _damaged(connection, path)
    except sqlite3.OperationalError as error:
        if is_damage(error) or primary_code(error) == sqlite3.SQLITE_ERROR:  # e.g. a table is missing
            return "is damaged"
        raise
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return "is damaged"
        raise


def _foreign(connection: sqlite3.Connection, space: str, schema: str) -> str | None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        return "is not a catalog of Hearthmind"
    if connection.execute("PRAGMA user_version").fetchone()[0] != SCHEMA_VERSION:
        return "was made by another version of Hearthmind"
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    if "identity" not in meta:
        return "is damaged"
    if meta.get("space") != space:
        return f"belongs to space {meta.get('space')!r}"
    if meta.get("schema") != schema:
        return "was made for other rules of cutting and analysing notes"
    return None


def _damaged(connection: sqlite3.Connection, path: Path) -> str | None:
    connection.execute("SELECT rowid FROM terms LIMIT 1").fetchone()
    if path.stat().st_size > _QUICK_CHECK_BYTES:
        return None
    return None if connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok" else "is damaged"


def _create(path: Path, space: str, schema: str) -> None:
    """Made whole under another name first: nobody ever meets half a catalog."""
    fresh = _beside(path, ".new")
    for suffix in ("", "-journal", *_SIDECARS):
        _beside(fresh, suffix).unlink(missing_ok=True)
    with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN;{DDL}COMMIT;")
        connection.executemany(
            "INSERT INTO meta (name, value) VALUES (?, ?)",
            [("identity", uuid4().hex), ("space", space), ("schema", schema)],
        )
    fresh.replace(path)


def _move_aside(path: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    aside = _beside(path, f".damaged-{stamp}")
    count = 1
    while any(_beside(aside, suffix).exists() for suffix in ("", *_SIDECARS)):
        count += 1
        aside = _beside(path, f".damaged-{stamp}-{count}")
    for suffix in ("", *_SIDECARS):
        if _beside(path, suffix).exists():
            _beside(path, suffix).rename(_beside(aside, suffix))
    _beside(path, SUSPECT_SUFFIX).unlink(missing_ok=True)
    _drop_oldest_aside(path)
    return aside


def _drop_oldest_aside(path: Path) -> None:
    """Catalogs set aside are copies of the vault; only the newest few are worth their room."""
    asides = [
        found
        for found in path.parent.glob(f"{path.name}.damaged-*")
        if found.is_file() and not found.name.endswith(_SIDECARS)
    ]
    for old in sorted(asides, key=lambda found: (found.stat().st_mtime_ns, found.name))[:-_KEPT_ASIDE]:
        for suffix in ("", *_SIDECARS):
            _beside(old, suffix).unlink(missing_ok=True)


@contextmanager
def _one_opener(path: Path) -> Iterator[None]:
    """One process at a time looks, moves aside and creates. The lock is SQLite's own, on an empty file, so
    that it works on every platform and ends with its process."""
    lock = _beside(path, ".lock")
    deadline = time.monotonic() + _OPEN_WAIT_SECONDS
    while True:
        with closing(sqlite3.connect(lock, timeout=_OPEN_WAIT_SECONDS, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.DatabaseError as error:
                if not is_damage(error) or time.monotonic() > deadline:
                    raise
                lock.unlink(missing_ok=True)
                continue
            yield
            return


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
