"""An embedder that runs in this process, whatever model it opens."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import EmbedderUnavailable, HearthmindError
from hearthmind.stores.embedders.batching import batches
from hearthmind.stores.embedders.prefixes import NONE, Prefixes
from hearthmind.stores.embedders.text import estimated_tokens, readable, shortened
from hearthmind.stores.embedders.vectors import empty, normalised
from hearthmind.stores.turns import Turns

if TYPE_CHECKING:
    from hearthmind.stores.embedders.onnx_models import OpenModel

T = TypeVar("T")

_COUNTED_AT_ONCE = 256


class LocalEmbedder:
    """Embeds with the model that `open_model` opens: on first use, once, whatever the number of threads.

    Constructing costs nothing; a failed opening raises EmbedderUnavailable and is tried again on the next
    use. Passages of concurrent callers take turns batch by batch, which bounds memory to one batch; a query
    does not wait for them.
    """

    def __init__(
        self,
        name: str,
        open_model: Callable[[], "OpenModel"],
        *,
        max_tokens: int,
        dimensions: int | None = None,
        prefixes: Prefixes = NONE,
    ) -> None:
        self._name = name
        self._open_model = open_model
        self._max_tokens = max_tokens
        self._dimensions = dimensions
        self._prefixes = prefixes
        self._opened: OpenModel | None = None
        self._opening = threading.Lock()
        self._indexing = Turns()  # a plain lock goes back to the thread that indexes: remember would wait for seconds

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of a vector; opens the model if only the model knows."""
        if self._dimensions is None:
            self._dimensions = len(self.embed_query(""))
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def warm(self) -> None:
        """Opens the model now, so that the first query does not wait for it."""
        self._model()

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return empty(self.dimensions)
        opened = self._model()
        prepared = [self._prepared(self._prefixes.passage, text) for text in texts]
        lengths = self._run(lambda: _lengths(opened, prepared))
        vectors: list[NDArray[np.float32] | None] = [None] * len(texts)
        for group in batches(lengths):
            with self._indexing:
                made = self._run(partial(_embedded, opened, [prepared[each] for each in group]))
            for position, vector in zip(group, made, strict=True):
                vectors[position] = vector
        return self._checked(np.asarray(vectors, dtype=np.float32))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        opened = self._model()
        prepared = self._prepared(self._prefixes.query, text)
        made = self._run(lambda: list(opened.model.query_embed([prepared])))
        vector: NDArray[np.float32] = self._checked(np.asarray(made, dtype=np.float32))[0]
        return vector

    def count_tokens(self, text: str) -> int:
        opened, clean = self._model(), readable(text)
        return self._run(lambda: _whole_length(opened, clean))

    def _prepared(self, prefix: str, text: str) -> str:
        return prefix + shortened(readable(text), self._max_tokens)

    def _model(self) -> "OpenModel":
        if self._opened is None:
            with self._opening:
                if self._opened is None:
                    self._opened = self._run(self._open_model)
        return self._opened

    def _run(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except HearthmindError:
            raise
        except Exception as error:
            raise EmbedderUnavailable(f"{self._name}: {error}") from error

    def _checked(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        return normalised(vectors, self._name, self._dimensions)


def _embedded(opened: "OpenModel", texts: list[str]) -> list[NDArray[np.float32]]:
    return list(opened.model.passage_embed(texts, batch_size=len(texts)))


def _lengths(opened: "OpenModel", texts: list[str]) -> list[int]:
    """Tokens of each text, truncated."""
    tokenizer = opened.tokenizer
    if tokenizer is None:
        return [estimated_tokens(text) for text in texts]
    return [
        sum(encoding.attention_mask)
        for start in range(0, len(texts), _COUNTED_AT_ONCE)
        for encoding in tokenizer.encode_batch_fast(texts[start : start + _COUNTED_AT_ONCE])
    ]


def _whole_length(opened: "OpenModel", text: str) -> int:
    """Tokens of `text` with what the model would not read: the tokenizer keeps it as overflow, in pieces
    that carry the special tokens again."""
    tokenizer = opened.tokenizer
    if tokenizer is None:
        return estimated_tokens(text)
    read = tokenizer.encode(text)
    special = tokenizer.num_special_tokens_to_add(False)
    return sum(read.attention_mask) + sum(sum(rest.attention_mask) - special for rest in read.overflowing)
