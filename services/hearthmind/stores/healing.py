"""Stores that are not there yet, or not any more: asked again until they are."""

from collections.abc import Callable, Collection, Mapping, Sequence
from threading import Condition, Lock, Thread
from time import monotonic, sleep

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import EmbedderUnavailable, HearthmindError, InvalidSetting, StoreUnavailable
from hearthmind.model.index import Scored
from hearthmind.ports import Embedder, VectorIndex
from hearthmind.telemetry import get_logger

RETRY_SECONDS = 5.0
WAIT_SECONDS = 10.0
"""How long a caller waits for the embedder of the first start before it goes on without."""

log = get_logger(__name__)


class HealingVectorIndex:
    """A vector index that is opened when it is first needed and, where that fails, again every few seconds.
    Until then every call raises StoreUnavailable, which recall answers with keywords."""

    def __init__(self, opened: Callable[[], VectorIndex]) -> None:
        self._opened = opened
        self._index: VectorIndex | None = None
        self._lock = Lock()
        self._failed: tuple[float, StoreUnavailable] | None = None
        self._closed = False

    def upsert(self, keys: Sequence[int], vectors: NDArray[np.float32]) -> None:
        self._there().upsert(keys, vectors)

    def delete(self, keys: Collection[int]) -> None:
        self._there().delete(keys)

    def search(self, vector: NDArray[np.float32], limit: int, among: Collection[int] | None = None) -> Sequence[Scored]:
        return self._there().search(vector, limit, among)

    def vectors(self, keys: Collection[int]) -> Mapping[int, NDArray[np.float32]]:
        return self._there().vectors(keys)

    def count(self) -> int:
        return self._there().count()

    def optimise(self) -> None:
        self._there().optimise()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._index is not None:
                self._index.close()
                self._index = None

    def _there(self) -> VectorIndex:
        if self._index is not None:
            return self._index
        with self._lock:
            if self._closed:
                raise StoreUnavailable("The vector index is closed.")
            if self._index is None:
                if self._failed and monotonic() - self._failed[0] < RETRY_SECONDS:
                    raise self._failed[1]
                try:
                    self._index = self._opened()
                    self._failed = None
                except (StoreUnavailable, OSError) as error:
                    told = error if isinstance(error, StoreUnavailable) else _unopened(error)
                    self._failed = (monotonic(), told)
                    raise told from error.__cause__
            return self._index


def _unopened(fault: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"the vector index cannot be opened: {fault.strerror or fault}")


class AwaitedEmbedder:
    """An embedder that is chosen, perhaps fetched, in the background. A caller waits a little for it, then
    gets EmbedderUnavailable with the reason."""

    def __init__(self, choose: Callable[[], Embedder], wait_seconds: float = WAIT_SECONDS) -> None:
        self._choose = choose
        self._wait = wait_seconds
        self._embedder: Embedder | None = None
        self._error: HearthmindError | None = None
        self._changed = Condition()
        Thread(target=self._resolve, name="choose-embedder", daemon=True).start()

    @property
    def name(self) -> str:
        return self._there().name

    @property
    def dimensions(self) -> int:
        return self._there().dimensions

    @property
    def max_tokens(self) -> int:
        return self._there().max_tokens

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._there().embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._there().embed_query(text)

    def count_tokens(self, text: str) -> int:
        return self._there().count_tokens(text)

    def _resolve(self) -> None:
        """Choose until it works: a disk may be full, a server asleep. A setting that means nothing stays
        wrong until it is corrected, so it is said and left."""
        pause = RETRY_SECONDS
        while self._embedder is None:
            try:
                found = self._choose()
            except Exception as error:
                told = (
                    error if isinstance(error, HearthmindError) else StoreUnavailable(f"the embedder failed: {error}")
                )
                log.exception("embedder_not_chosen", error=str(error))
                with self._changed:
                    self._error = told
                    self._changed.notify_all()
                if isinstance(error, InvalidSetting):
                    return
                sleep(pause)
                pause = min(2 * pause, 60.0)
                continue
            with self._changed:
                self._embedder, self._error = found, None
                self._changed.notify_all()

    def _settled(self) -> bool:
        return self._embedder is not None or self._error is not None

    def _there(self) -> Embedder:
        if self._embedder is not None:
            return self._embedder
        with self._changed:
            self._changed.wait_for(self._settled, timeout=self._wait)
            # Only the first callers wait: those after them should not each lose seconds.
            self._wait = 0.0
        return self._chosen()

    def _chosen(self) -> Embedder:
        if self._embedder is not None:
            return self._embedder
        if self._error is not None:
            raise EmbedderUnavailable(self._error.message)
        raise EmbedderUnavailable("The embedding model is still being fetched; words are searched meanwhile.")
