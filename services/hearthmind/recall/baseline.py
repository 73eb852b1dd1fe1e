"""Cosines of different embedders on one scale.

Unrelated sentences have a mean cosine of 0.04 with MiniLM, 0.43 with bge-small-en-v1.5 and 0.73 with e5-small-v2. A
floor set with one says nothing about the other, so every embedder is asked once what it makes of sentences that have
nothing in common.
"""

import numpy as np

from hearthmind.ports import Embedder

SENTENCES = (
    "The dentist moved my appointment to Thursday morning.",
    "Glaciers in the north have retreated by several kilometres.",
    "She tunes the cello before every rehearsal.",
    "A mutex protects the shared counter from two threads.",
    "We painted the fence dark green last summer.",
    "Lentil soup needs cumin and a squeeze of lemon.",
    "The treaty was signed after eleven months of talks.",
    "His passport expires in the spring.",
    "Bees navigate by the polarisation of the sky.",
    "The invoice for the new boiler is still unpaid.",
    "Our football team lost in the last minute.",
    "Compile the library with optimisation switched on.",
    "Grandmother's ring was found behind the wardrobe.",
    "The comet will be visible shortly before dawn.",
    "Interest rates rose by a quarter of a percent.",
    "He is learning Portuguese for his trip.",
    "The bus to the harbour leaves every twenty minutes.",
    "Vaccination protects cats from leukaemia.",
    "The cathedral's roof was rebuilt in oak.",
    "Remember to water the tomatoes in the evening.",
)
REFERENCE = 0.04
"""What the packaged embedder makes of them; the floor was calibrated with it."""


def unrelated_cosine(embedder: Embedder) -> float:
    """The mean cosine of sentences that have nothing in common. Raises EmbedderUnavailable."""
    vectors = embedder.embed_passages(SENTENCES)
    count = len(vectors)
    return float((np.linalg.norm(vectors.sum(axis=0)) ** 2 - count) / (count * (count - 1)))


def comparable(cosine: float, unrelated: float | None) -> float:
    """A cosine as the packaged embedder would have it: the span from unrelated to equal is stretched to its
    own. `unrelated` None: not measured yet, taken as it is."""
    if unrelated is None or unrelated >= 1:
        return cosine
    return REFERENCE + (cosine - unrelated) * (1 - REFERENCE) / (1 - unrelated)
