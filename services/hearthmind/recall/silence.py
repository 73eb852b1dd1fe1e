"""Knowing when to say nothing."""

from collections.abc import Collection, Mapping

COSINE_WEIGHT = 12.3
COVERAGE_WEIGHT = 4.15
THRESHOLD = 5.0
"""Logistic weights that separate LoCoMo questions asked of another memory (AUC .92, RECALL.md of the design);
the threshold is chosen for at most 5% loss. Evidence: ops/decisions/0006-silence.md."""
WEAKER = 4.0
"""Hits this much weaker than the best one are left out as well, when they are below the threshold too."""


def relevance(best_cosine: float | None, coverage: float) -> float:
    """How likely the best candidates answer at all; comparable across questions, not a probability."""
    return COSINE_WEIGHT * (best_cosine or 0.0) + COVERAGE_WEIGHT * coverage


def coverage(rarity: Mapping[str, float], present: Collection[str]) -> float:
    """Share of the question's words, weighted by rarity, that stand in a text: 0 to 1."""
    total = sum(rarity.values())
    return sum(weight for stem, weight in rarity.items() if stem in present) / total if total else 0.0
