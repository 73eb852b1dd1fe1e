"""`sentence-transformers:<model>`: any model that library loads, on the device it chooses."""

import importlib
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import EmbedderUnavailable, HearthmindError, InvalidSetting
from hearthmind.stores.embedders.prefixes import Prefixes, identity, prefixes_for
from hearthmind.stores.embedders.text import readable, shortened
from hearthmind.stores.embedders.vectors import empty, normalised

EXTRA = "sentence-transformers"
_MOST_TOKENS = 1024


class SentenceTransformersEmbedder:
    """A hub name or a folder, loaded on first use. Needs the extra `hearthmind[sentence-transformers]`.

    Prefixes: those given, else the model's own prompts, else those of its family. torch serves one caller at
    a time here: its threads already use every core, and its memory grows with every batch in flight.
    """

    def __init__(
        self, model: str, *, device: str | None = None, prefixes: Prefixes | None = None, batch_size: int = 32
    ) -> None:
        usual = prefixes_for(model)
        self._model_name = model
        self._device = device
        self._prefixes = prefixes
        self._usual = usual
        self._name = identity(f"sentence-transformers:{model}", prefixes or usual, usual)
        self._batch_size = batch_size
        self._loaded: Any = None
        self._lock = threading.RLock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        model = self._model()
        # Renamed in version 5.
        ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
        return int(ask())

    @property
    def max_tokens(self) -> int:
        return int(self._model().max_seq_length or 512)

    def warm(self) -> None:
        """Loads the model. Raises InvalidSetting without the extra, EmbedderUnavailable if it fails."""
        self._model()

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return empty(self.dimensions)
        return self._embed(self._chosen().passage, texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._embed(self._chosen().query, [text])[0]
        return vector

    def count_tokens(self, text: str) -> int:
        return len(self._model().tokenizer(readable(text), truncation=False, verbose=False)["input_ids"])

    def _embed(self, prefix: str, texts: Sequence[str]) -> NDArray[np.float32]:
        model = self._model()
        prepared = [prefix + shortened(readable(text), self.max_tokens) for text in texts]
        try:
            with self._lock:
                vectors = model.encode(
                    prepared,
                    batch_size=self._batch_size,
                    prompt="",
                    normalize_embeddings=True,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
        except Exception as error:
            raise EmbedderUnavailable(f"{self._name}: {error}") from error
        return normalised(np.asarray(vectors, dtype=np.float32), self._name, None)

    def _chosen(self) -> Prefixes:
        if self._prefixes is not None:
            return self._prefixes
        prompts = getattr(self._model(), "prompts", None) or {}
        query = prompts.get("query") or self._usual.query
        passage = prompts.get("document") or prompts.get("passage") or self._usual.passage
        return Prefixes(query, passage)

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> Any:
        try:
            library = importlib.import_module("sentence_transformers")
        except ImportError as error:
            raise InvalidSetting(
                f"sentence-transformers:{self._model_name} needs the extra {EXTRA}: "
                f"install hearthmind[{EXTRA}] ({error})"
            ) from error
        try:
            model = library.SentenceTransformer(self._model_name, device=self._device)
        except HearthmindError:
            raise
        except Exception as error:
            raise EmbedderUnavailable(f"{self._name} could not be loaded: {error}") from error
        model.max_seq_length = min(model.max_seq_length or 512, _MOST_TOKENS)
        return model
