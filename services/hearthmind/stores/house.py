"""What belongs to the house: spaces, tokens and pinned choices, in `house.db` (SQLite).

A store of record: nothing here is ever rebuilt or replaced on its own.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hearthmind.errors import NameTaken, StoreUnavailable
from hearthmind.model.house import Scope, SpaceRecord, Token
from hearthmind.telemetry import get_logger

_APPLICATION = 0x48454152
"""`HEAR`, the application id in the file's header: tells our file from another SQLite database."""
_BUSY_SECONDS = 10.0
_USE_INTERVAL = timedelta(minutes=1)

_SCHEMAS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE spaces (name TEXT PRIMARY KEY, vault TEXT, mark TEXT, kind TEXT) STRICT",
        """CREATE TABLE tokens (id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
           scopes TEXT NOT NULL, spaces TEXT NOT NULL, created TEXT NOT NULL, last_used TEXT, revoked TEXT) STRICT""",
        "CREATE UNIQUE INDEX live_token_names ON tokens (name) WHERE revoked IS NULL",
        "CREATE TABLE pins (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    ),
)
"""Statements that lead to each version from the one before; only ever appended to."""

log = get_logger(__name__)


def open_house(path: Path) -> "SqliteHouse":
    """Open `house.db`, creating it (mode 0600, missing folders 0700) where there is none.

    Raises StoreUnavailable, with the file untouched, when it is damaged, is not ours, was written by a newer
    Hearthmind, or lost its main file and kept its log.
    """
    with _explained(path):
        if not path.exists():
            _create(path)
        elif path.stat().st_size == 0:
            raise StoreUnavailable(_damaged(path, "it is empty"))
        with suppress(PermissionError):
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)
        connection = _connect(path)
        try:
            _verify(connection, path)
            _migrate(connection)
            connection.execute("PRAGMA journal_mode = WAL")
        except BaseException:
            connection.close()
            raise
    return SqliteHouse(path, connection)


class SqliteHouse:
    """`ports.HouseStore`. Safe for concurrent threads and for several processes; each change is on disk when
    the call returns. Raises StoreUnavailable."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._lock = threading.RLock()
        self._used: dict[str, datetime] = {}

    def spaces(self) -> Sequence[SpaceRecord]:
        """By name."""
        return [SpaceRecord(*row) for row in self._rows("SELECT name, vault, mark, kind FROM spaces ORDER BY name")]

    def put_space(self, record: SpaceRecord) -> None:
        with self._write() as db:
            db.execute("REPLACE INTO spaces VALUES (?, ?, ?, ?)", (record.name, record.vault, record.mark, record.kind))

    def tokens(self) -> Sequence[Token]:
        """Those not revoked, oldest first."""
        return [_token(row) for row in self._rows(f"{_TOKENS} ORDER BY created, id")]

    def add_token(self, token: Token) -> None:
        """Raises NameTaken where a token that is not revoked has this name; ValueError for a known id or
        hash, and for times without a zone."""
        scopes = json.dumps(sorted(token.scopes))
        spaces = json.dumps(token.spaces)
        last_used = None if token.last_used is None else _utc(token.last_used)
        row = (token.id, token.name, token.hash, scopes, spaces, _utc(token.created), last_used)
        with self._write() as db:
            if db.execute("SELECT 1 FROM tokens WHERE name = ? AND revoked IS NULL", (token.name,)).fetchone():
                raise NameTaken(f"a token named {token.name!r} exists; revoke it or choose another name")
            try:
                db.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", row)
            except sqlite3.IntegrityError as error:
                raise ValueError("a token with this id or secret exists") from error

    def revoke_token(self, token_id: str) -> bool:
        """True if it was valid until now. Its row stays, its name is free again."""
        now = _utc(datetime.now(UTC))
        with self._write() as db:
            done = db.execute("UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL", (now, token_id))
            return done.rowcount > 0

    def token_by_hash(self, digest: str) -> Token | None:
        rows = self._rows(f"{_TOKENS} AND hash = ?", (digest,))
        return _token(rows[0]) if rows else None

    def token_used(self, token_id: str, at: datetime) -> None:
        """Recorded at most once a minute per token. A failure to record is logged: it refuses nobody."""
        stamp = _utc(at)
        with self._lock:
            last = self._used.get(token_id)
            if last is not None and at - last < _USE_INTERVAL:
                return
            self._used[token_id] = at
        try:
            with self._write() as db:
                db.execute(
                    "UPDATE tokens SET last_used = ? WHERE id = ? AND (last_used IS NULL OR last_used < ?)",
                    (stamp, token_id, stamp),
                )
        except StoreUnavailable as error:
            log.warning("token_use_not_recorded", token=token_id, error=error.message)

    def pinned(self, key: str) -> str | None:
        rows = self._rows("SELECT value FROM pins WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def pin(self, key: str, value: str) -> None:
        with self._write() as db:
            db.execute("REPLACE INTO pins VALUES (?, ?)", (key, value))

    def close(self) -> None:
        with self._lock, _explained(self._path):
            self._connection.close()

    def _rows(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._lock, _explained(self._path):
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _explained(self._path), _transaction(self._connection):
            yield self._connection


_TOKENS = "SELECT id, name, hash, scopes, spaces, created, last_used FROM tokens WHERE revoked IS NULL"


def _token(row: Any) -> Token:
    known = {scope.value for scope in Scope}
    return Token(
        id=row[0],
        name=row[1],
        hash=row[2],
        # A scope that this version does not know allows nothing.
        scopes=frozenset(Scope(name) for name in json.loads(row[3]) if name in known),
        spaces=tuple(json.loads(row[4])),
        created=datetime.fromisoformat(row[5]),
        last_used=datetime.fromisoformat(row[6]) if row[6] else None,
    )


def _utc(moment: datetime) -> str:
    """ISO in UTC with microseconds always, so that text order is time order."""
    if moment.tzinfo is None:
        raise ValueError("a time without a zone cannot be stored")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path.absolute().as_uri() + "?mode=rw",
        uri=True,
        timeout=_BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _create(path: Path) -> None:
    """Make the file under another name and link it in place complete, so an empty or partial house.db can only
    be damage. Where another process was faster, its file stands."""
    log_file = path.with_name(f"{path.name}-wal")
    if log_file.exists() and not path.exists():
        raise StoreUnavailable(_damaged(path, f"it is missing, but {log_file.name} is there"))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.new")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
        connection = _connect(draft)
        try:
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            _migrate(connection)
        finally:
            connection.close()
        _publish(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _publish(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:
        # A file system without hard links (exFAT, some network mounts).
        if not path.exists():
            draft.rename(path)


def _verify(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise StoreUnavailable(_damaged(path, found))
    if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
        raise StoreUnavailable(f"{path} is a database of another program. Move it, or choose another HEARTHMIND_DATA.")
    version = _version(connection)
    if version > len(_SCHEMAS):
        raise StoreUnavailable(
            f"{path} was written by a newer Hearthmind (schema {version}, this one knows {len(_SCHEMAS)}): "
            "upgrade Hearthmind, or restore the backup made before the upgrade (`hearthmind backup list`)."
        )


def _migrate(connection: sqlite3.Connection) -> None:
    if _version(connection) >= len(_SCHEMAS):
        return
    with _transaction(connection):
        # Asked again inside the lock: another process may have migrated meanwhile.
        for number in range(_version(connection), len(_SCHEMAS)):
            for statement in _SCHEMAS[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # After a failed COMMIT (disk full) SQLite may have rolled back itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turns what SQLite and the system say into what to do about it."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.OperationalError as error:
        raise StoreUnavailable(f"{path} cannot be used: {error}") from error
    except sqlite3.ProgrammingError as error:
        raise StoreUnavailable(f"{path} is closed") from error
    except sqlite3.DatabaseError as error:
        raise StoreUnavailable(_damaged(path, str(error))) from error
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be used: {error}") from error


def _damaged(path: Path, what: str) -> str:
    return (
        f"{path} is damaged ({what}) and was left as it is. It holds the spaces and tokens of this house: "
        "restore it with `hearthmind backup restore`, or move it away to start without them."
    )
