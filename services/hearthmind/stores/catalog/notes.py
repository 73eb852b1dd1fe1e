"""Reads of notes, tags and totals."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from hearthmind.model.index import Counts, FileState, IndexedFile, TagCount
from hearthmind.model.memory import Memory
from hearthmind.model.query import Filter
from hearthmind.stores.catalog.filters import memory_conditions
from hearthmind.stores.catalog.reads import Reads, cursor_to, position_of
from hearthmind.stores.catalog.rows import MEMORY_COLUMNS, memory_of
from hearthmind.stores.catalog.values import clean, digest, folded, instant, json_list

_MEMORIES = f"SELECT {MEMORY_COLUMNS}, b.text FROM notes n JOIN bodies b USING (note_key)"
_LISTED = f"SELECT {MEMORY_COLUMNS}, '' FROM notes n JOIN bodies b USING (note_key)"


class NoteReads(Reads):
    def memory(self, note_id: str) -> Memory | None:
        return self._memory(f"{_MEMORIES} WHERE n.id = ?", clean(note_id))

    def memories(self, ids: Collection[str]) -> Mapping[str, Memory]:
        rows = self._rows(f"{_MEMORIES} WHERE n.id IN (SELECT value FROM json_each(?))", json_list(ids))
        return {row[0]: memory_of(row, self._space) for row in rows}

    def memory_at(self, path: str) -> Memory | None:
        return self._memory(f"{_MEMORIES} WHERE n.path = ?", clean(path))

    def same_text(self, title: str, text: str, since: datetime) -> Memory | None:
        return self._memory(
            f"{_MEMORIES} WHERE n.text_digest = ? AND n.first_seen >= ? ORDER BY n.first_seen DESC LIMIT 1",
            digest(clean(title), clean(text)),
            instant(since),
        )

    def name_taken(self, folded_stem: str) -> bool:
        return self._row("SELECT 1 FROM notes WHERE folded_name = ? LIMIT 1", clean(folded_stem)) is not None

    def list_memories(
        self,
        *,
        filter: Filter,
        folder: str | None = None,
        tag: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> tuple[Sequence[Memory], str | None, int]:
        conditions = memory_conditions(filter, folder, tag)
        start = position_of(after, 1)[0] if after else ""
        limit = max(limit, 0)
        with self._connections.reading() as connection:
            total = connection.execute(
                f"SELECT count(*) FROM notes n WHERE {conditions.sql}", conditions.parameters
            ).fetchone()[0]
            rows = connection.execute(
                f"{_LISTED} WHERE n.path > ? AND {conditions.sql} ORDER BY n.path LIMIT ?",
                [start, *conditions.parameters, limit + 1],
            ).fetchall()
        page = [memory_of(row, self._space) for row in rows[:limit]]
        return page, cursor_to(page[-1].path) if page and len(rows) > limit else None, total

    def files(self) -> Mapping[str, IndexedFile]:
        rows = self._rows("SELECT path, id, version, text_version, size, mtime_ns FROM notes")
        return {row[0]: IndexedFile(row[1], row[0], row[2], row[3], FileState(row[4], row[5])) for row in rows}

    def tags(self, prefix: str | None = None) -> Sequence[TagCount]:
        """A tag is shown in its most used spelling; `prefix` is the beginning of a name, case aside."""
        rows = self._rows(
            "SELECT t.folded, t.tag, count(*), coalesce(d.description, '') FROM note_tags t"
            " LEFT JOIN tag_descriptions d ON d.folded = t.folded"
            " WHERE substr(t.folded, 1, length(?1)) = ?1"
            " GROUP BY t.folded, t.tag ORDER BY t.folded, count(*) DESC, t.tag",
            folded(prefix or ""),
        )
        found: dict[str, TagCount] = {}
        for name, spelling, count, description in rows:
            first = found.get(name)
            found[name] = TagCount(first.tag if first else spelling, count + (first.count if first else 0), description)
        return sorted(found.values(), key=lambda tag: (-tag.count, tag.tag))

    def spellings(self, tags: Collection[str]) -> Mapping[str, str]:
        names = {folded(tag): tag for tag in tags}
        rows = self._rows(
            "SELECT folded, tag, count(*) FROM note_tags WHERE folded IN (SELECT value FROM json_each(?))"
            " GROUP BY folded, tag ORDER BY count(*), tag DESC",
            json_list(names),
        )
        return {names[name]: spelling for name, spelling, _ in rows}

    def counts(self) -> Counts:
        with self._connections.reading() as connection:
            types = connection.execute("SELECT type, count(*), sum(importance) FROM notes GROUP BY type").fetchall()
            passages, pending, links, unresolved, tags = connection.execute(
                "SELECT (SELECT count(*) FROM passages),"
                " (SELECT count(*) FROM passages WHERE embedded = 0),"
                " (SELECT count(*) FROM links),"
                " (SELECT count(*) FROM links WHERE target_id IS NULL),"
                " (SELECT count(DISTINCT folded) FROM note_tags)"
            ).fetchone()
        notes = sum(row[1] for row in types)
        return Counts(
            notes=notes,
            passages=passages,
            links=links,
            unresolved_links=unresolved,
            tags=tags,
            pending_vectors=pending,
            types={row[0]: row[1] for row in types},
            mean_importance=sum(row[2] for row in types) / notes if notes else None,
        )

    def _memory(self, sql: str, *parameters: str | bytes) -> Memory | None:
        row = self._row(sql, *parameters)
        return None if row is None else memory_of(row, self._space)
