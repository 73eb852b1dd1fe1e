"""Full-text search and filters over passages."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from hearthmind.model.index import PASSAGE_BITS, Scored
from hearthmind.model.query import Filter
from hearthmind.stores.catalog.filters import NOTE_OF_PASSAGE, passage_conditions
from hearthmind.stores.catalog.reads import Reads
from hearthmind.stores.catalog.values import clean, json_list

HEADING_WEIGHT = 0.4
STEM_WEIGHT = 1.0
WORD_WEIGHT = 0.2
"""How much an occurrence in each column counts in BM25 (FTS5: k1 1.2, b 0.75)."""
MAX_TERMS = 64
"""Distinct stems, and distinct words, that one query may have; further ones are left out."""


class SearchReads(Reads):
    def keyword(self, stems: Sequence[str], words: Sequence[str], limit: int, filter: Filter) -> Sequence[Scored]:
        """Equal scores stand in the order of their keys."""
        expression = _expression(stems, words)
        if expression is None or limit <= 0:
            return []
        bm25 = f"-bm25(terms, {HEADING_WEIGHT}, {STEM_WEIGHT}, {WORD_WEIGHT})"
        if filter.empty:
            sql = f"SELECT rowid, {bm25} AS score FROM terms WHERE terms MATCH ?"
            parameters: list[str | int] = [expression]
        else:
            # CROSS JOIN fixes the order: text first, then its rows by key, and BM25 only of what passes.
            conditions = passage_conditions(filter)
            sql = (
                f"SELECT terms.rowid, {bm25} AS score FROM terms CROSS JOIN passages p ON p.key = terms.rowid"
                f" CROSS JOIN notes n ON n.note_key = terms.rowid >> {PASSAGE_BITS}"
                f" WHERE terms MATCH ? AND {conditions.sql}"
            )
            parameters = [expression, *conditions.parameters]
        rows = self._rows(f"{sql} ORDER BY score DESC, terms.rowid LIMIT ?", *parameters, limit)
        return [Scored(row[0], row[1]) for row in rows]

    def document_frequency(self, stems: Collection[str]) -> tuple[Mapping[str, int], int]:
        """Stems that stand nowhere are left out. Costs the reading of each stem's list, about 1 ms for one
        in 30,000 passages."""
        wanted = [_term(stem) for stem in stems]
        with self._connections.reading() as connection:
            total = connection.execute("SELECT count(*) FROM passages").fetchone()[0]
            rows = connection.execute(
                "SELECT term, doc FROM json_each(?) AS asked CROSS JOIN vocabulary ON term = asked.value",
                [json_list(wanted)],
            ).fetchall()
        return dict(rows), total

    def matching(self, filter: Filter) -> frozenset[int] | None:
        if filter.empty:
            return None
        conditions = passage_conditions(filter)
        rows = self._rows(
            f"SELECT p.key FROM passages p JOIN notes n ON {NOTE_OF_PASSAGE} WHERE {conditions.sql}",
            *conditions.parameters,
        )
        return frozenset(row[0] for row in rows)


def _expression(stems: Sequence[str], words: Sequence[str]) -> str | None:
    """An FTS5 query for any of the terms, each quoted; None without terms."""
    parts = []
    if reduced := _quoted(stems):
        parts.append(f"{{heading stems}} : ({reduced})")
    if unreduced := _quoted(words):
        parts.append(f"{{words}} : ({unreduced})")
    return " OR ".join(parts) or None


def _quoted(terms: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(term for term in map(_term, terms) if term))[:MAX_TERMS]
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in distinct)


def _term(term: str) -> str:
    return clean(term).replace("\0", " ").strip()
