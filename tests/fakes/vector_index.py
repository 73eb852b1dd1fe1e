"""A VectorIndex in memory that scores every vector: slow, exact, and what the real ones are held to."""

import threading
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import StoreUnavailable
from hearthmind.model.index import Scored


class InMemoryVectorIndex:
    """`down = True` makes every call raise StoreUnavailable, as a dead server would."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.down = False
        self._vectors: dict[int, NDArray[np.float32]] = {}
        self._lock = threading.RLock()

    def upsert(self, keys: Sequence[int], vectors: NDArray[np.float32]) -> None:
        self._answer()
        matrix = np.asarray(vectors, dtype=np.float64)
        if matrix.shape != (len(keys), self.dimensions):
            raise ValueError(f"vectors have the shape {matrix.shape}")
        if not np.isfinite(matrix).all():
            raise ValueError("vectors hold values that are not finite")
        if any(key < 0 for key in keys):
            raise ValueError("passage keys are not negative")
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        unit = (matrix / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
        with self._lock:
            self._vectors.update((int(key), row) for key, row in zip(keys, unit, strict=True))

    def delete(self, keys: Collection[int]) -> None:
        self._answer()
        with self._lock:
            for key in keys:
                self._vectors.pop(key, None)

    def search(self, vector: NDArray[np.float32], limit: int, among: Collection[int] | None = None) -> Sequence[Scored]:
        self._answer()
        query = np.asarray(vector, dtype=np.float64)
        if query.shape != (self.dimensions,) or not np.isfinite(query).all():
            raise ValueError(f"a query needs {self.dimensions} finite numbers")
        query = query / (np.linalg.norm(query) or 1.0)
        wanted = None if among is None else frozenset(among)
        with self._lock:
            items = [(key, row) for key, row in self._vectors.items() if wanted is None or key in wanted]
        hits = [Scored(key, float(row @ query)) for key, row in items]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))[: max(limit, 0)]

    def vectors(self, keys: Collection[int]) -> Mapping[int, NDArray[np.float32]]:
        self._answer()
        with self._lock:
            return {key: self._vectors[key].copy() for key in keys if key in self._vectors}

    def count(self) -> int:
        self._answer()
        return len(self._vectors)

    def optimise(self) -> None:
        self._answer()

    def close(self) -> None:
        self.down = True

    def _answer(self) -> None:
        if self.down:
            raise StoreUnavailable("the vector index is down")
