"""Join ranked lists of passages into one ranking."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hearthmind.model.index import MAX_PASSAGES, Scored

RRF_K = 10
"""Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009). 5-20 beats the paper's 60 on LoCoMo."""

NEIGHBOUR_SHARE = (0.4, 0.2)
"""What a passage takes of the keyword score of the one before and after, and of the next ones: a question's
words are often spread over a few turns or paragraphs. LoCoMo R@5 .575 -> .632."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each list counts for a passage."""

    keyword: float
    meaning: float


ENTRY = Weights(keyword=1.0, meaning=0.7)
SECTION = Weights(keyword=0.5, meaning=1.0)
"""Turns of talk are short and full of names, so their words decide; sections of notes are whole thoughts that
are asked for in other words, so meaning decides. Evidence: ops/decisions/0005-fusion-weights.md."""


def smoothed(hits: Sequence[Scored]) -> dict[int, float]:
    """Keyword scores with a share of those of neighbouring passages of the same note. Neighbours beyond a
    note's last passage may appear; whoever reads the passages drops them."""
    own = {hit.key: hit.score for hit in hits}
    total = dict(own)
    for key, score in own.items():
        seq = key % MAX_PASSAGES
        for distance, share in enumerate(NEIGHBOUR_SHARE, start=1):
            if seq >= distance:
                total[key - distance] = total.get(key - distance, 0.0) + share * score
            total[key + distance] = total.get(key + distance, 0.0) + share * score
    return total


def ranks(scores: Mapping[int, float]) -> dict[int, int]:
    """1-based ranks, best score first, ties by key."""
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return {key: rank for rank, key in enumerate(ordered, start=1)}


def fused(
    keyword: Mapping[int, int], meaning: Mapping[int, int], weights: Mapping[int, Weights], keys: Iterable[int]
) -> dict[int, float]:
    """Weighted reciprocal ranks of the passages `keys`."""
    result = {}
    for key in keys:
        weight = weights[key]
        score = 0.0
        if rank := keyword.get(key):
            score += weight.keyword / (RRF_K + rank)
        if rank := meaning.get(key):
            score += weight.meaning / (RRF_K + rank)
        result[key] = score
    return result
