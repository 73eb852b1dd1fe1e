"""Passages that could answer a question: by words, by meaning."""

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from hearthmind.errors import StoreUnavailable
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.words import Terms, fold
from hearthmind.model import Mode, Query
from hearthmind.recall.fuse import ranks, smoothed
from hearthmind.telemetry import get_logger

KEYWORD_LIMIT = 300
MEANING_LIMIT = 150
MAX_TERMS = 48
"""More distinct words than this are a pasted text; its rarest words carry it."""
FREQUENT = 3_000
"""A word in more passages than this says little and costs most of a query's time: 3% of 100,000 passages, where
leaving such words out brings the median from 35 to 11 ms. Below that size they help (til 23 -> 26 of 60)."""
MEANING_CHARACTERS = 2_000
"""Longer questions are read by the embedder up to here; it would cut them anyway."""

log = get_logger(__name__)


@dataclass(slots=True)
class Candidates:
    """`keyword` and `meaning` are ranks, 1-based; `cosines` the similarities behind `meaning`; `terms` the
    words searched; `rarity` the inverse document frequency of each stem."""

    terms: Terms
    rarity: dict[str, float] = field(default_factory=dict)
    keyword: dict[int, int] = field(default_factory=dict)
    meaning: dict[int, int] = field(default_factory=dict)
    cosines: dict[int, float] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)
    among: frozenset[int] | None = None
    """Passages that meet the filter; None without one."""


def find_candidates(space: MountedSpace, query: Query) -> Candidates:
    """Both lists, as the mode asks. A layer that is down is named in `degraded`; keyword search then stands
    in for meaning, whatever the mode."""
    found = Candidates(space.words.of_question(query.text), among=space.catalog.matching(query.filter))
    if found.among is not None and not found.among:
        return found
    if query.mode is not Mode.KEYWORD:
        _by_meaning(space, query, found)
    if query.mode is not Mode.MEANING or found.degraded:
        _by_words(space, query, found)
    return found


def _by_words(space: MountedSpace, query: Query, found: Candidates) -> None:
    stems = _telling_stems(space, found)
    hits = space.catalog.keyword(stems, found.terms.words[:MAX_TERMS], KEYWORD_LIMIT, query.filter)
    found.keyword = ranks(smoothed(hits))


def _telling_stems(space: MountedSpace, found: Candidates) -> Sequence[str]:
    """The question's stems, rarest first, without the frequent ones where rarer ones remain."""
    frequency, total = space.catalog.document_frequency(found.terms.stems)
    found.rarity = {stem: inverse_frequency(frequency.get(stem, 0), total) for stem in found.terms.stems}
    known = sorted((stem for stem in found.terms.stems if frequency.get(stem)), key=lambda stem: frequency[stem])
    rare = [stem for stem in known if frequency[stem] <= FREQUENT]
    return (rare if len(rare) >= 2 else known)[:MAX_TERMS]


def inverse_frequency(count: int, total: int) -> float:
    """BM25's idf (Robertson, Spärck Jones), never negative."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def _by_meaning(space: MountedSpace, query: Query, found: Candidates) -> None:
    question = _without_names(query.text[:MEANING_CHARACTERS], space.catalog.roles())
    try:
        vector = space.embedder.embed_query(question)
        hits = space.vectors.search(vector, MEANING_LIMIT, found.among)
    except StoreUnavailable as error:
        log.warning("meaning_unavailable", space=space.name, error=error.message)
        found.degraded.append("embedder" if error.slug == "embedder-unavailable" else "vectors")
        return
    found.cosines = {hit.key: hit.score for hit in hits}
    found.meaning = ranks(found.cosines)


def _without_names(question: str, roles: Collection[str]) -> str:
    """The question without the names of those who speak in sessions: they stand in nearly every turn, so
    they pull the vector toward everything (LoCoMo dense R@5 .418 -> .535)."""
    names = {part for role in roles for part in fold(role).split()}
    if not names:
        return question
    kept = re.sub(r"([^\W\d_]+)(['’]s)?", lambda found: "" if fold(found[1]) in names else found[0], question)
    return kept if re.search(r"\w", kept) else question
