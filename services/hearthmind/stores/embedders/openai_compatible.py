"""`openai:<url>`: any server that answers `/v1/embeddings` (our own embedder, TEI, Ollama, vLLM, OpenAI)."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import EmbedderUnavailable, InvalidSetting
from hearthmind.stores.embedders.batching import batches
from hearthmind.stores.embedders.prefixes import Prefixes, identity, prefixes_for
from hearthmind.stores.embedders.text import estimated_tokens, readable, shortened
from hearthmind.stores.embedders.vectors import empty, normalised

if TYPE_CHECKING:
    from openai import OpenAI

_BATCH_ROWS = 32
_BATCH_TOKENS = 8192
_SHORTER = 0.6
_SHORTENINGS = 5
_TOO_LONG = (400, 413, 422)
_NOTHING = "."


class OpenAICompatibleEmbedder:
    """Embeddings from `<url>[#<model>]`; `/v1` may be left out of the url.

    Without a model the server's first one (`/v1/models`) is asked, and the vectors are named after the
    address; with one they are named after the model, so the server may move. The dimension is the one of the
    first answer and fixed from then on, or `dimensions`. Prefixes are ours to add: a server gets the text
    that the model shall read. A text that the server finds too long is sent shorter.

    Every failure is EmbedderUnavailable: an unreachable server within `connect_seconds`, an answer of another
    count, order or dimension, numbers that are not finite.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        dimensions: int | None = None,
        max_tokens: int = 512,
        prefixes: Prefixes | None = None,
        connect_seconds: float = 2.0,
        answer_seconds: float = 60.0,
        query_seconds: float = 10.0,
    ) -> None:
        self._base, self._asked_model = address(url)
        self._api_key = api_key
        self._dimensions = dimensions
        self._max_tokens = max_tokens
        self._prefixes = prefixes
        self._connect_seconds = connect_seconds
        self._answer_seconds = answer_seconds
        self._query_seconds = query_seconds
        self._found_model: str | None = None
        self._lazy: OpenAI | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        label = self._asked_model or self._base.partition("://")[2].removesuffix("/v1")
        usual = prefixes_for(self._asked_model or "")
        return identity(f"openai:{label}", self._prefixes or usual, usual)

    @property
    def dimensions(self) -> int:
        """Asks the server once if nobody told. Raises EmbedderUnavailable."""
        if self._dimensions is None:
            self.embed_query("dimension")
        assert self._dimensions is not None
        return self._dimensions

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def warm(self) -> None:
        """Asks the server for one vector. Raises EmbedderUnavailable."""
        self.embed_query("warm")

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return empty(self.dimensions)
        prefix = self._chosen().passage
        prepared = [self._prepared(prefix, text) for text in texts]
        lengths = [estimated_tokens(text) for text in prepared]
        made: dict[int, NDArray[np.float32]] = {}
        for group in batches(lengths, tokens=_BATCH_TOKENS, rows=_BATCH_ROWS):
            answer = self._ask([prepared[each] for each in group], self._answer_seconds)
            made.update(zip(group, answer, strict=True))
        return np.stack([made[position] for position in range(len(texts))])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._ask([self._prepared(self._chosen().query, text)], self._query_seconds)[0]
        return vector

    def count_tokens(self, text: str) -> int:
        """An estimate: the tokenizer is the server's."""
        return estimated_tokens(readable(text))

    def _prepared(self, prefix: str, text: str) -> str:
        clean = readable(text)
        room = self._max_tokens * 4
        clean = shortened(clean, self._max_tokens) if len(clean) > room * 3 else clean
        # OpenAI and TEI refuse an empty input.
        return prefix + (clean if clean.strip() else _NOTHING)

    def _chosen(self) -> Prefixes:
        return prefixes_for(self._model()) if self._prefixes is None else self._prefixes

    def _ask(self, texts: list[str], seconds: float) -> NDArray[np.float32]:
        import openai

        for _ in range(_SHORTENINGS):
            try:
                answer = self._client().embeddings.create(
                    model=self._model(),
                    input=texts,
                    encoding_format="float",
                    timeout=openai.Timeout(seconds, connect=self._connect_seconds),
                )
                return self._read(answer, len(texts))
            except openai.APIStatusError as error:
                longest = max(map(len, texts))
                if error.status_code not in _TOO_LONG or longest < 200:
                    raise EmbedderUnavailable(
                        f"{self._base} answered {error.status_code}: {error.message[:300]}"
                    ) from error
                texts = [text[: int(longest * _SHORTER)] for text in texts]
            except openai.OpenAIError as error:
                raise EmbedderUnavailable(f"{self._base} did not answer: {error}") from error
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                raise EmbedderUnavailable(f"{self._base} did not answer with embeddings: {error}") from error
        raise EmbedderUnavailable(f"{self._base} refuses every text as too long")

    def _read(self, answer: Any, count: int) -> NDArray[np.float32]:
        rows = sorted(answer.data, key=lambda row: row.index)
        if [row.index for row in rows] != list(range(count)):
            raise EmbedderUnavailable(f"{self._base} answered {len(rows)} vectors for {count} texts")
        vectors = normalised(np.asarray([row.embedding for row in rows], dtype=np.float32), self.name, self._dimensions)
        with self._lock:
            if self._dimensions is None:
                self._dimensions = vectors.shape[1]
        return normalised(vectors, self.name, self._dimensions)

    def _model(self) -> str:
        model = self._asked_model or self._found_model
        if model is None:
            model = self._found_model = self._first_model()
        return model

    def _first_model(self) -> str:
        import openai

        try:
            offered = self._client().models.list(
                timeout=openai.Timeout(self._query_seconds, connect=self._connect_seconds)
            )
            return next((each.id for each in offered.data if each.id), "default")
        except openai.APIStatusError as error:
            if error.status_code in (404, 405, 501):
                return "default"
            raise EmbedderUnavailable(f"{self._base} answered {error.status_code}") from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise EmbedderUnavailable(f"{self._base} did not answer: {error}") from error

    def _client(self) -> "OpenAI":
        with self._lock:
            if self._lazy is None:
                from openai import OpenAI

                # The library insists on a key; servers at home want none. It must not pick up somebody
                # else's from the environment.
                self._lazy = OpenAI(base_url=self._base, api_key=self._api_key or "none", max_retries=1)
            return self._lazy


def address(url: str) -> tuple[str, str | None]:
    """The base that ends in the version, and the model after `#`. Raises InvalidSetting."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InvalidSetting(f"openai:{url} is not an address: openai:http://host:port/v1#model")
    path = parts.path.rstrip("/").removesuffix("/embeddings")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}", parts.fragment or None
