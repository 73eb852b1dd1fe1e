"""The write transaction of a space."""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime

from hearthmind.model.index import MAX_PASSAGES, IdempotentAnswer, Problem, Projection, StoredPassage
from hearthmind.model.job import Job
from hearthmind.stores.catalog.projected import (
    drop_passages,
    first_key,
    put_links,
    put_note,
    put_passages,
    put_tags,
)
from hearthmind.stores.catalog.rows import JOB_COLUMNS, job_row
from hearthmind.stores.catalog.values import clean, folded, instant
from hearthmind.stores.catalog.work import ANSWERS_KEPT

_PUT_JOB = f"INSERT OR REPLACE INTO jobs ({JOB_COLUMNS}) VALUES ({', '.join('?' * 12)})"


class SqliteWrite:
    """`ports.CatalogWrite`, from `SqliteCatalog.write`; of no use after its context."""

    def __init__(self, connection: sqlite3.Connection, now: datetime) -> None:
        self._open: sqlite3.Connection | None = connection
        self._now = instant(now)

    def put(self, projection: Projection) -> Sequence[StoredPassage]:
        memory, connection = projection.memory, self._connection
        note_id = clean(memory.id)
        self._make_room(note_id, clean(memory.path))
        note_key = put_note(connection, projection, self._now)
        put_tags(connection, note_key, memory.tags)
        put_links(connection, note_key, projection.links)
        return put_passages(connection, note_key, note_id, projection.passages)

    def remove(self, note_id: str) -> Sequence[int]:
        connection, name = self._connection, clean(note_id)
        found = connection.execute("SELECT note_key FROM notes WHERE id = ?", (name,)).fetchone()
        if found is None:
            return []
        first = first_key(found[0])
        keys = [
            row[0]
            for row in connection.execute(
                "SELECT key FROM passages WHERE key BETWEEN ? AND ?", (first, first + MAX_PASSAGES - 1)
            )
        ]
        drop_passages(connection, keys)
        connection.execute("UPDATE links SET target_id = NULL WHERE target_id = ?", (name,))
        connection.execute("DELETE FROM notes WHERE note_key = ?", (found[0],))
        return keys

    def touch(self, note_id: str, path: str, size: int, mtime_ns: int) -> None:
        name, place = clean(note_id), clean(path)
        found = self._connection.execute("SELECT path FROM notes WHERE id = ?", (name,)).fetchone()
        if found is None:
            return
        if found[0].rpartition("/")[2] != place.rpartition("/")[2]:
            raise ValueError("a renamed note has another title and other terms: put it")
        self._make_room(name, place)
        self._connection.execute(
            "UPDATE notes SET path = ?, size = ?, mtime_ns = ? WHERE id = ?", (place, size, mtime_ns, name)
        )

    def resolve_links(self, targets: Mapping[int, str | None]) -> None:
        """Keys of links that are gone by now do nothing: a link key is never used again."""
        self._connection.executemany(
            "UPDATE links SET target_id = ?1 WHERE link_key = ?2 AND target_id IS NOT ?1",
            [(None if target is None else clean(target), key) for key, target in targets.items()],
        )

    def add_job(self, job: Job) -> None:
        self._connection.execute(_PUT_JOB, job_row(job))

    def update_job(self, job: Job) -> None:
        """A job that the catalog does not know, because it was rebuilt meanwhile, is stored."""
        self._connection.execute(_PUT_JOB, job_row(job))

    def remember_answer(self, key: str, answer: IdempotentAnswer) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO answers (key, request, answer, at) VALUES (?, ?, ?, ?)",
            (clean(key), clean(answer.request), clean(answer.answer), instant(answer.at)),
        )
        oldest = instant(datetime.fromisoformat(self._now) - ANSWERS_KEPT)
        self._connection.execute("DELETE FROM answers WHERE at < ?", (oldest,))

    def describe_tag(self, tag: str, description: str) -> None:
        """An empty description takes the old one away."""
        if description:
            self._connection.execute(
                "INSERT OR REPLACE INTO tag_descriptions (folded, description) VALUES (?, ?)",
                (folded(tag), clean(description)),
            )
        else:
            self._connection.execute("DELETE FROM tag_descriptions WHERE folded = ?", (folded(tag),))

    def set_problem(self, path: str, problem: Problem | None) -> None:
        self._connection.execute("DELETE FROM problems WHERE path = ?", (clean(path),))
        if problem is not None:
            self._connection.execute(
                "INSERT INTO problems (path, line, what, remedy) VALUES (?, ?, ?, ?)",
                (clean(path), problem.line, clean(problem.what), clean(problem.remedy)),
            )

    def end(self) -> None:
        self._open = None

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            raise RuntimeError("this write transaction has ended")
        return self._open

    def _make_room(self, note_id: str, path: str) -> None:
        """Another memory that the catalog still sees at this path is no longer there."""
        other = self._connection.execute("SELECT id FROM notes WHERE path = ? AND id <> ?", (path, note_id)).fetchone()
        if other is not None:
            self.remove(other[0])
