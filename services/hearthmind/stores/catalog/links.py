"""Reads of links, and of notes and links as a graph."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from hearthmind.model.index import Edge, GraphNode, LinkEntry, StoredLink
from hearthmind.model.memory import MemoryType, RelationType
from hearthmind.stores.catalog.reads import CHUNK, Reads
from hearthmind.stores.catalog.rows import LINK_COLUMNS, Row, link_of
from hearthmind.stores.catalog.values import clean, json_list, string_tuple

_LINKS = f"SELECT {LINK_COLUMNS} FROM links l JOIN notes n USING (note_key)"
_NODES = "SELECT note_key, id, title, type, path, date, importance, tags FROM notes"


class LinkReads(Reads):
    def link_entries(self) -> Iterator[LinkEntry]:
        for row in self._by_note("SELECT note_key, id, path, aliases FROM notes"):
            yield LinkEntry(row[1], row[2], string_tuple(row[3]))

    def links_from(self, note_id: str) -> Sequence[StoredLink]:
        return [link_of(row) for row in self._rows(f"{_LINKS} WHERE n.id = ? ORDER BY l.position", clean(note_id))]

    def links_to(self, note_id: str) -> Sequence[StoredLink]:
        rows = self._rows(f"{_LINKS} WHERE l.target_id = ? ORDER BY n.path, l.position", clean(note_id))
        return [link_of(row) for row in rows]

    def unresolved_links(self) -> Sequence[StoredLink]:
        return [link_of(row) for row in self._rows(f"{_LINKS} WHERE l.target_id IS NULL ORDER BY l.link_key")]

    def links_by_key(self, keys: Collection[str]) -> Mapping[int, StoredLink]:
        rows = self._rows(
            f"SELECT {LINK_COLUMNS}, l.link_key FROM links l JOIN notes n USING (note_key)"
            " WHERE l.name IN (SELECT value FROM json_each(?)) ORDER BY l.link_key",
            json_list(keys),
        )
        return {row[-1]: link_of(row) for row in rows}

    def edges(self) -> Iterator[Edge]:
        """A plain link between two memories says nothing beside a typed one in the same direction."""
        last = 0
        while True:
            rows = self._rows(
                "SELECT l.note_key, s.id, t.id, l.relation, max(l.typed) FROM links l"
                " JOIN notes s ON s.note_key = l.note_key JOIN notes t ON t.id = l.target_id"
                " WHERE l.note_key > ?1 AND s.note_key <> t.note_key AND l.note_key <= coalesce("
                "   (SELECT note_key FROM notes WHERE note_key > ?1 ORDER BY note_key LIMIT 1 OFFSET ?2),"
                "   9223372036854775807)"
                " GROUP BY l.note_key, t.id, l.relation ORDER BY l.note_key, t.id, l.relation",
                last,
                CHUNK,
            )
            yield from _without_repeats(rows)
            following = self._value(
                "SELECT note_key FROM notes WHERE note_key > ? ORDER BY note_key LIMIT 1 OFFSET ?", last, CHUNK
            )
            if following is None:
                return
            last = following

    def graph_nodes(self, ids: Collection[str] | None = None) -> Iterator[GraphNode]:
        if ids is None:
            rows: Iterator[Row] = self._by_note(_NODES)
        else:
            rows = iter(
                self._rows(f"{_NODES} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY note_key", json_list(ids))
            )
        for row in rows:
            yield GraphNode(row[1], row[2], MemoryType(row[3]), row[4], row[5], row[6], string_tuple(row[7]))

    def _by_note(self, select: str) -> Iterator[Row]:
        """Rows of notes in chunks; the first column is the note key."""
        last = 0
        while rows := self._rows(f"{select} WHERE note_key > ? ORDER BY note_key LIMIT ?", last, CHUNK):
            yield from rows
            last = rows[-1][0]


def _without_repeats(rows: list[Row]) -> Iterator[Edge]:
    typed = {(row[1], row[2]) for row in rows if row[4]}
    for _, source, target, relation, is_typed in rows:
        if not is_typed and relation == RelationType.RELATES_TO and (source, target) in typed:
            continue
        yield Edge(source, target, RelationType(relation), bool(is_typed))
