"""The catalog of one space: reads on many connections, one write transaction at a time."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from hearthmind.model.index import StoredPassage
from hearthmind.stores.catalog.connections import Connections
from hearthmind.stores.catalog.links import LinkReads
from hearthmind.stores.catalog.notes import NoteReads
from hearthmind.stores.catalog.passages import PassageReads
from hearthmind.stores.catalog.search import SearchReads
from hearthmind.stores.catalog.values import clean, digest
from hearthmind.stores.catalog.work import WorkReads
from hearthmind.stores.catalog.writes import SqliteWrite

WRITE_WAIT_SECONDS = 30.0


class SqliteCatalog(NoteReads, PassageReads, LinkReads, SearchReads, WorkReads):
    """`ports.Catalog` in one SQLite file in WAL mode. Get one from `open_catalog`."""

    def __init__(self, connections: Connections, space: str, write_wait_seconds: float = WRITE_WAIT_SECONDS) -> None:
        super().__init__(connections, space)
        self._write_wait_seconds = write_wait_seconds
        self._identity = str(self._value("SELECT value FROM meta WHERE name = 'identity'"))

    @property
    def identity(self) -> str:
        return self._identity

    @contextmanager
    def write(self) -> Iterator[SqliteWrite]:
        """The write lock of the space; waits for it up to
        `write_wait_seconds`, then raises StoreUnavailable. Not re-entrant (RuntimeError)."""
        with self._connections.writing(self._write_wait_seconds) as connection:
            transaction = SqliteWrite(connection, self._connections.now())
            try:
                yield transaction
            finally:
                transaction.end()

    def mark_embedded(self, passages: Sequence[StoredPassage]) -> None:
        with self._connections.writing(self._write_wait_seconds) as connection:
            connection.executemany(
                # A vector of another text may have replaced a newer one just now: then the newer is due again.
                "UPDATE passages SET embedded = (embed_digest = ?2) WHERE key = ?1",
                [(passage.key, digest(clean(passage.embed))) for passage in passages],
            )

    def mark_dropped(self, keys: Collection[int]) -> None:
        with self._connections.writing(self._write_wait_seconds) as connection:
            each = [(key,) for key in keys]
            # A passage that came back under its key meanwhile lost its new vector with the old one.
            connection.executemany("UPDATE passages SET embedded = 0 WHERE key = ?", each)
            connection.executemany("DELETE FROM dropped WHERE key = ?", each)

    def mark_all_unembedded(self) -> None:
        with self._connections.writing(self._write_wait_seconds) as connection:
            connection.execute("UPDATE passages SET embedded = 0 WHERE embedded = 1")

    def check(self) -> None:
        self._connections.check()

    def close(self) -> None:
        self._connections.close()
