"""Knowing when to say nothing."""

from collections.abc import Collection, Mapping

COSINE_WEIGHT = 12.3
COVERAGE_WEIGHT = 4.15
"""Logistic weights that separate LoCoMo questions from those asked of another memory (AUC .92)."""
THRESHOLD = 4.0
"""The best hit must reach this. Measured with the packaged embedder: the weakest right hit of til-dev has 4.33, 1.3%
of the questions to LoCoMo stay below it; of those asked of another conversation 37% do, of til 82%."""
COVERED_ALONE = 0.1
"""Share of the question's words, by rarity, that must stand in a text where meaning was not searched:
loses 3% of the questions to LoCoMo and 8% of those to til, silences 37% and 53% of those asked of another memory."""
WEAK = 3.0
"""Every further hit must reach this: half of the best hits for questions of another memory do not."""


def relevance(best_cosine: float | None, covered: float) -> float:
    """How likely a text answers at all; comparable across questions, not a probability. A text that holds every
    word of the question is relevant whatever the embedder, which may not know its language, makes of it.
    `best_cosine` None: meaning was not searched, words alone decide."""
    if best_cosine is None:
        return THRESHOLD * covered / COVERED_ALONE
    score = COSINE_WEIGHT * best_cosine + COVERAGE_WEIGHT * covered
    return max(score, THRESHOLD) if covered > 0.99 else score


def coverage(rarity: Mapping[str, float], present: Collection[str]) -> float:
    """Share of the question's words, weighted by rarity, that stand in a text: 0 to 1."""
    total = sum(rarity.values())
    return sum(weight for stem, weight in rarity.items() if stem in present) / total if total else 0.0
