"""Reads of passages by key, by note and by what still needs a vector."""

from collections.abc import Collection, Mapping, Sequence

from hearthmind.model.index import MAX_PASSAGES, PASSAGE_BITS, StoredPassage
from hearthmind.stores.catalog.filters import NOTE_OF_PASSAGE
from hearthmind.stores.catalog.reads import Reads
from hearthmind.stores.catalog.rows import PASSAGE_COLUMNS, passage_of
from hearthmind.stores.catalog.values import clean, json_list

STORED_PASSAGES = (
    f"SELECT {PASSAGE_COLUMNS} FROM passages p JOIN passage_texts t USING (key) JOIN notes n ON {NOTE_OF_PASSAGE}"
)

# One step of the index per distinct role, however many passages there are.
_ROLES = """
WITH RECURSIVE speaker (role) AS (
  SELECT min(role) FROM passages WHERE role IS NOT NULL
  UNION ALL
  SELECT (SELECT min(role) FROM passages WHERE role > speaker.role) FROM speaker WHERE role IS NOT NULL
)
SELECT role FROM speaker WHERE role IS NOT NULL
"""


class PassageReads(Reads):
    def passages(self, keys: Collection[int]) -> Mapping[int, StoredPassage]:
        found = self._stored("WHERE p.key IN (SELECT value FROM json_each(?))", json_list(keys))
        return {passage.key: passage for passage in found}

    def passages_of(self, note_id: str) -> Sequence[StoredPassage]:
        note_key = self._value("SELECT note_key FROM notes WHERE id = ?", clean(note_id))
        if note_key is None:
            return []
        first = note_key << PASSAGE_BITS
        return self._stored("WHERE p.key BETWEEN ? AND ? ORDER BY p.key", first, first + MAX_PASSAGES - 1)

    def unembedded(self, limit: int) -> Sequence[StoredPassage]:
        return self._stored("WHERE p.embedded = 0 ORDER BY p.key LIMIT ?", max(limit, 0))

    def dropped(self, limit: int) -> Sequence[int]:
        return [row[0] for row in self._rows("SELECT key FROM dropped ORDER BY key LIMIT ?", max(limit, 0))]

    def roles(self) -> Collection[str]:
        return [row[0] for row in self._rows(_ROLES)]

    def _stored(self, condition: str, *parameters: str | int) -> list[StoredPassage]:
        rows = self._rows(f"{STORED_PASSAGES} {condition}", *parameters)
        return [passage_of(row) for row in rows]
