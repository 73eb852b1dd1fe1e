"""An honest small embedder: words hashed into dimensions, so texts that share words are near."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import EmbedderUnavailable


class WordEmbedder:
    """Deterministic and fast. `down` makes it unreachable; `texts` are those embedded."""

    def __init__(self, dimensions: int = 64, name: str = "words-64") -> None:
        self.dimensions = dimensions
        self.name = name
        self.max_tokens = 256
        self.down = False
        self.texts: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.down:
            raise EmbedderUnavailable("the embedder is down")
        self.texts.extend(texts)
        rows = [self._vector(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.embed_passages([text])[0]

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.full(self.dimensions, 1e-3, np.float32)
        for word in re.findall(r"\w+", text.lower()):
            digest = hashlib.blake2b(word.encode(errors="replace"), digest_size=4).digest()
            vector[int.from_bytes(digest[:2], "big") % self.dimensions] += 1 if digest[2] % 2 else -1
        return vector / np.linalg.norm(vector)
