"""Answer a question from one space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hearthmind.errors import StoreUnavailable
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.model import Hit, Memory, Mode, Query, Recollection, Route, Signals
from hearthmind.model.index import MAX_PASSAGES, StoredPassage
from hearthmind.recall.baseline import comparable
from hearthmind.recall.candidates import Candidates, find_candidates
from hearthmind.recall.context import assemble
from hearthmind.recall.fuse import ENTRY, SECTION, fused
from hearthmind.recall.silence import THRESHOLD, WEAK, coverage, relevance
from hearthmind.telemetry import get_logger

POOL = 100
"""Passages of each list that take part in the fusion."""
GRAPH_SOURCES = 3
GRAPH_SHARE = 0.6
"""A neighbour of a good hit enters with this share of its score: behind what answers by itself."""
MAX_NEIGHBOURS = 10
WINDOW = 2
"""Entries before and after that count as the surroundings of an entry."""
MERGED_SHARE = 0.6
"""Further passages of a note join its hit from this share of the best one's score."""
MAX_HIT_CHARACTERS = 4_000

log = get_logger(__name__)


@dataclass(slots=True)
class _Found:
    """One hit in the making: a note with its passages, best first, or one entry."""

    note_id: str
    score: float
    passages: list[StoredPassage] = field(default_factory=list)
    graph: int | None = None
    source: str | None = None


def recall(space: MountedSpace, query: Query) -> Recollection:
    """Hits best first and a context block; empty with a reason when nothing is relevant."""
    candidates = find_candidates(space, query)
    stored, scores = _scored(space, candidates)
    found = _grouped(stored, scores)[: query.limit * 3]
    if query.expand and query.mode is Mode.HYBRID and found:
        found = _expanded(space, candidates, found)
    silence = None
    if query.floor:
        found, silence = _relevant(space, candidates, found)
    found = found[: query.limit]
    memories = space.catalog.memories({one.note_id for one in found})
    hits = [_hit(space, candidates, one, memories) for one in found if one.note_id in memories]
    if not hits and silence is None:
        silence = "nothing in this memory matches the question and its filters"
    return Recollection(
        hits=hits,
        context=assemble(hits, query.budget, candidates.degraded),
        route=Route.BOTH,
        degraded=candidates.degraded,
        silence=silence if not hits else None,
    )


def _scored(space: MountedSpace, candidates: Candidates) -> tuple[Mapping[int, StoredPassage], Mapping[int, float]]:
    keys = {key for key, rank in candidates.keyword.items() if rank <= POOL}
    keys |= {key for key, rank in candidates.meaning.items() if rank <= POOL}
    if candidates.among is not None:
        keys &= candidates.among
    stored = space.catalog.passages(keys)
    weights = {key: ENTRY if one.passage.entry else SECTION for key, one in stored.items()}
    return stored, fused(candidates.keyword, candidates.meaning, weights, stored)


def _grouped(stored: Mapping[int, StoredPassage], scores: Mapping[int, float]) -> list[_Found]:
    """Sections of one note make one hit; every entry is its own."""
    notes: dict[str, _Found] = {}
    result: list[_Found] = []
    for key in sorted(scores, key=lambda key: (-scores[key], key)):
        one = stored[key]
        if one.passage.entry is None and (known := notes.get(one.note_id)):
            if scores[key] >= MERGED_SHARE * known.score:
                known.passages.append(one)
            continue
        found = _Found(one.note_id, scores[key], [one])
        result.append(found)
        if one.passage.entry is None:
            notes[one.note_id] = found
    return result


def _expanded(space: MountedSpace, candidates: Candidates, found: list[_Found]) -> list[_Found]:
    """Neighbours of the best hits, through links, with a discount; a neighbour that is a hit gains."""
    sources = list(dict.fromkeys(one.note_id for one in found))[:GRAPH_SOURCES]
    scores = {one.note_id: one.score for one in reversed(found)}
    try:
        around = space.graph.neighbourhood(sources, depth=1, limit=30)
    except StoreUnavailable as error:
        log.warning("graph_unavailable", space=space.name, error=error.message)
        candidates.degraded.append("graph")
        return found
    best: dict[str, str] = {}
    for edge in around.edges:
        for source, target in ((edge.source, edge.target), (edge.target, edge.source)):
            if source in sources and target not in sources and scores[source] > scores.get(best.get(target, ""), 0.0):
                best[target] = source
    first = {one.note_id: one for one in reversed(found)}
    order = sorted(best, key=lambda target: (-scores[best[target]], target))
    for rank, target in enumerate(order[:MAX_NEIGHBOURS], start=1):
        source, gained = best[target], GRAPH_SHARE * scores[best[target]]
        if target in first:
            first[target].graph = rank
            first[target].source = source
        elif passages := _first_matching(space, candidates, target):
            found.append(_Found(target, gained, passages, graph=rank, source=source))
    return sorted(found, key=lambda one: (-one.score, one.note_id))


def _first_matching(space: MountedSpace, candidates: Candidates, note_id: str) -> list[StoredPassage]:
    passages = space.catalog.passages_of(note_id)
    if candidates.among is not None:
        passages = [one for one in passages if one.key in candidates.among]
    return list(passages[:1])


def _relevant(space: MountedSpace, candidates: Candidates, found: Sequence[_Found]) -> tuple[list[_Found], str | None]:
    """Those that clear the floor. Linked neighbours stand or fall with their source."""
    strengths = _strengths(space, candidates, found)
    best = max(strengths.values(), default=0.0)
    if best < THRESHOLD:
        return [], f"nothing relevant: the best match reaches {best:.1f}, the floor is {THRESHOLD:.1f}"
    kept: list[_Found] = []
    notes: set[str] = set()
    for place, one in enumerate(found):
        if strengths.get(place, 0.0) >= WEAK or (one.source in notes and one.graph):
            kept.append(one)
            notes.add(one.note_id)
    return kept, None


def _strengths(space: MountedSpace, candidates: Candidates, found: Sequence[_Found]) -> dict[int, float]:
    """Relevance by place in `found`, of those found by words or meaning."""
    direct = [
        (place, one)
        for place, one in enumerate(found)
        if not (
            one.graph
            and one.passages[0].key not in candidates.keyword
            and one.passages[0].key not in candidates.meaning
        )
    ]
    windows = {place: _window(one.passages[0]) for place, one in direct}
    around = space.catalog.passages({key for keys in windows.values() for key in keys})
    strengths = {}
    for place, one in direct:
        stems: set[str] = set()
        for key in {*windows[place], *(part.key for part in one.passages)}:
            if key in around:
                stems.update(space.words.of_text(around[key].embed).stems)
        cosine = max((candidates.cosines.get(part.key, 0.0) for part in one.passages), default=0.0)
        meant = comparable(cosine, space.unrelated) if candidates.cosines else None
        strengths[place] = relevance(meant, coverage(candidates.rarity, stems))
    return strengths


def _window(one: StoredPassage) -> list[int]:
    if one.passage.entry is None:
        return [one.key]
    seq = one.key % MAX_PASSAGES
    return [one.key + step for step in range(-min(WINDOW, seq), WINDOW + 1)]


def _hit(space: MountedSpace, candidates: Candidates, one: _Found, memories: Mapping[str, Memory]) -> Hit:
    memory = memories[one.note_id]
    parts = sorted(one.passages, key=lambda part: part.key)
    best = one.passages[0]
    signals = Signals(
        keyword=min((candidates.keyword[part.key] for part in parts if part.key in candidates.keyword), default=None),
        meaning=min((candidates.meaning[part.key] for part in parts if part.key in candidates.meaning), default=None),
        graph=one.graph,
    )
    text = "\n\n".join(part.passage.text for part in parts)
    if best.passage.entry and best.passage.role:
        text = f"{best.passage.role}: {text}"
    return Hit(
        id=memory.id,
        space=space.name,
        title=memory.title,
        path=memory.path,
        type=memory.type,
        date=best.passage.at.astimezone(space.zone).date().isoformat() if best.passage.at else memory.date,
        summary=memory.summary,
        text=text[:MAX_HIT_CHARACTERS],
        lines=(parts[0].passage.lines[0], parts[-1].passage.lines[1]),
        score=round(one.score, 6),
        signals=signals,
        refs=[part.passage.ref for part in one.passages if part.passage.ref],
        reason=_reason(space, candidates, one, signals),
    )


def _reason(space: MountedSpace, candidates: Candidates, one: _Found, signals: Signals) -> str:
    """Why this hit is here, in words a person can check."""
    reasons = []
    if signals.keyword:
        stems = {stem for part in one.passages for stem in space.words.of_text(part.embed).stems}
        matched = [stem for stem in candidates.terms.stems if stem in stems][:6]
        if matched:
            reasons.append("words " + ", ".join(matched))
        elif not signals.meaning:
            reasons.append("words in the entries beside it")
    if signals.meaning:
        cosine = max(candidates.cosines.get(part.key, 0.0) for part in one.passages)
        reasons.append(f"meaning {cosine:.2f}")
    if one.source and one.graph:
        source = space.catalog.memory(one.source)
        reasons.append(f"linked with {source.title}" if source else "linked")
    return "; ".join(reasons)
