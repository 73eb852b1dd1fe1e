"""A Filter as SQL conditions over a note `n` and, where a passage is asked for, its passage `p`."""

from dataclasses import dataclass, field
from datetime import datetime

from hearthmind.model.index import MAX_PASSAGES, PASSAGE_BITS
from hearthmind.model.query import Filter
from hearthmind.stores.catalog.values import clean, folded, instant

NOTE_OF_PASSAGE = f"n.note_key = p.key >> {PASSAGE_BITS}"
_PASSAGE_OF_NOTE = f"p.key BETWEEN n.note_key << {PASSAGE_BITS} AND (n.note_key << {PASSAGE_BITS}) + {MAX_PASSAGES - 1}"


@dataclass(slots=True)
class Conditions:
    """SQL terms joined by AND, with their parameters in order."""

    terms: list[str] = field(default_factory=list)
    parameters: list[str | int] = field(default_factory=list)

    def add(self, term: str, *parameters: str | int) -> None:
        self.terms.append(term)
        self.parameters.extend(parameters)

    @property
    def sql(self) -> str:
        return " AND ".join(f"({term})" for term in self.terms) or "1"


def passage_conditions(filter: Filter) -> Conditions:
    """Conditions on `p` and `n`: what a passage says of itself comes before what its note says. A tag may
    stand on either."""
    conditions = Conditions()
    _note_conditions(conditions, filter)
    for tag in filter.tags:
        on_note, on_passage = _covers("t"), _covers("u")
        conditions.add(
            f"n.note_key IN (SELECT t.note_key FROM note_tags t WHERE {on_note})"
            f" OR p.key IN (SELECT u.key FROM passage_tags u WHERE {on_passage})",
            *_covered(tag),
            *_covered(tag),
        )
    if filter.role is not None:
        conditions.add("p.folded_role = ?", folded(filter.role))
    if filter.outcome is not None:
        conditions.add("p.outcome = ? OR n.outcome = ?", filter.outcome.value, filter.outcome.value)
    if filter.min_importance is not None:
        conditions.add("coalesce(p.importance, n.importance) >= ?", filter.min_importance)
    _bounds(conditions, filter, "coalesce(p.at, n.at)")
    return conditions


def memory_conditions(filter: Filter, folder: str | None = None, tag: str | None = None) -> Conditions:
    """Conditions on `n` alone, by its own values; a role or an outcome may be that of one of its passages."""
    conditions = Conditions()
    _note_conditions(conditions, filter)
    for wanted in (*filter.tags, *((tag,) if tag is not None else ())):
        conditions.add(f"n.note_key IN (SELECT t.note_key FROM note_tags t WHERE {_covers('t')})", *_covered(wanted))
    if filter.role is not None:
        conditions.add(
            f"EXISTS (SELECT 1 FROM passages p WHERE {_PASSAGE_OF_NOTE} AND p.folded_role = ?)",
            folded(filter.role),
        )
    if filter.outcome is not None:
        conditions.add(
            f"n.outcome = ? OR EXISTS (SELECT 1 FROM passages p WHERE {_PASSAGE_OF_NOTE} AND p.outcome = ?)",
            filter.outcome.value,
            filter.outcome.value,
        )
    if filter.min_importance is not None:
        conditions.add("n.importance >= ?", filter.min_importance)
    _bounds(conditions, filter, "n.at")
    prefix = clean(folder or "").strip("/")
    if prefix:
        conditions.add("n.path > ? AND n.path < ?", prefix + "/", prefix + "0")  # "0" follows "/"
    return conditions


def _note_conditions(conditions: Conditions, filter: Filter) -> None:
    if filter.types:
        marks = ", ".join("?" * len(filter.types))
        conditions.add(f"n.type IN ({marks})", *(kind.value for kind in filter.types))
    if filter.project is not None:
        conditions.add("n.folded_project = ?", folded(filter.project))
    if filter.session is not None:
        conditions.add("n.session = ?", clean(filter.session))
    if filter.as_of is not None:
        on = filter.as_of.date().isoformat()
        conditions.add("n.valid_from IS NULL OR substr(n.valid_from, 1, 10) <= ?", on)
        conditions.add("n.valid_until IS NULL OR substr(n.valid_until, 1, 10) > ?", on)
        conditions.add("n.day IS NULL OR n.day <= ?", on)


def _bounds(conditions: Conditions, filter: Filter, at: str) -> None:
    """An instant is compared as one; a bare date covers its whole day in the zone of the bound."""
    for bound, sign in ((filter.since, ">="), (filter.until, "<=")):
        if bound is not None:
            conditions.add(
                f"CASE WHEN {at} IS NOT NULL THEN {at} {sign} ? ELSE n.day {sign} ? END",
                instant(bound),
                _local_day(bound),
            )


def _local_day(bound: datetime) -> str:
    return bound.date().isoformat()


def _covers(table: str) -> str:
    return f"{table}.folded = ? OR ({table}.folded > ? AND {table}.folded < ?)"


def _covered(tag: str) -> tuple[str, str, str]:
    """The tag itself and everything nested under it."""
    name = folded(tag).strip().removeprefix("#").strip("/")
    return name, name + "/", name + "0"
