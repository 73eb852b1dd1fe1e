"""Vectors as the port promises them, from whatever a model answered."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import EmbedderUnavailable


def empty(dimensions: int) -> NDArray[np.float32]:
    return np.zeros((0, dimensions), dtype=np.float32)


def normalised(vectors: NDArray[Any], name: str, dimensions: int | None) -> NDArray[np.float32]:
    """`vectors` (n, d) with length 1 each; a zero vector stays zero.

    Raises EmbedderUnavailable for another dimension than `dimensions` or a number that is not finite.
    """
    if vectors.ndim != 2 or vectors.shape[1] == 0 or vectors.shape[1] != (dimensions or vectors.shape[1]):
        raise EmbedderUnavailable(
            f"{name} answered vectors of {vectors.shape[-1]} dimensions instead of {dimensions}",
            expected=dimensions,
            answered=vectors.shape[-1],
        )
    if not np.isfinite(vectors).all():
        raise EmbedderUnavailable(f"{name} answered vectors that are not numbers")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)
