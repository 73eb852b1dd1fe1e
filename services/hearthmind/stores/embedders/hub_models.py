"""`fastembed:<model>`: a model of the hub, downloaded once to `<models>/hub` and offline ever after."""

import difflib
import logging
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hearthmind.errors import EmbedderUnavailable, InvalidSetting
from hearthmind.stores.embedders.hub import HubUnreachable, Progress, cached, fetch
from hearthmind.stores.embedders.local import LocalEmbedder
from hearthmind.stores.embedders.prefixes import Prefixes, identity, prefixes_for

if TYPE_CHECKING:
    from hearthmind.stores.embedders.onnx_models import OpenModel

log = logging.getLogger(__name__)

MULTILINGUAL = "intfloat/multilingual-e5-small"
RETRY_SECONDS = 30.0
_PATIENCE_SECONDS = 1.0
_MOST_TOKENS = 1024
_SETTINGS = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


@dataclass(frozen=True, slots=True)
class HubModel:
    """Where a model lies on the hub. `pooling` is None for one that fastembed lists and knows how to use."""

    model: str
    repository: str
    model_file: str
    dimensions: int
    max_tokens: int
    pooling: str | None = None
    more_files: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return (*_SETTINGS, self.model_file, *self.more_files)

    @property
    def needed(self) -> tuple[str, ...]:
        return ("tokenizer.json", self.model_file, *self.more_files)


# fastembed lists the large e5 only. The int8 file is 113 MB, 16 MB more for the tokenizer.
_OURS = (
    HubModel(
        MULTILINGUAL,
        repository="Xenova/multilingual-e5-small",
        model_file="onnx/model_quantized.onnx",
        dimensions=384,
        max_tokens=512,
        pooling="mean",
    ),
)


def find(model: str) -> HubModel:
    """Raises InvalidSetting, with near names, for a model that neither we nor fastembed know."""
    for ours in _OURS:
        if model.lower() == ours.model.lower():
            return ours
    from hearthmind.stores.embedders.onnx_models import described, listed_names

    description = described(model)
    if description is None or description.dim is None or not description.sources.hf:
        names = [*(ours.model for ours in _OURS), *listed_names()]
        near = difflib.get_close_matches(model, names, n=3, cutoff=0.4)
        hint = f"; near it: {', '.join(near)}" if near else ""
        raise InvalidSetting(f"fastembed:{model}: fastembed has no such model{hint}")
    said = re.search(r"([\d,]+)\s+(?:input\s+)?tokens?", description.description)
    return HubModel(
        description.model,
        repository=description.sources.hf,
        model_file=description.model_file,
        dimensions=description.dim,
        max_tokens=min(int(said[1].replace(",", "")) if said else 512, _MOST_TOKENS),
        more_files=tuple(description.additional_files),
    )


class HubEmbedder(LocalEmbedder):
    """A model from the hub's cache; one that is not there yet is downloaded in the background.

    While it arrives, or while the hub cannot be reached, every use raises EmbedderUnavailable at once and
    says how far it is; `warm()` waits instead. A failed download is tried again after `RETRY_SECONDS`.
    """

    def __init__(
        self,
        model: HubModel,
        models: Path,
        *,
        threads: int | None = None,
        prefixes: Prefixes | None = None,
        probe_seconds: float = 5.0,
        progress: Progress | None = None,
    ) -> None:
        usual = prefixes_for(model.model)
        chosen = usual if prefixes is None else prefixes
        super().__init__(
            identity(f"fastembed:{model.model}", chosen, usual),
            self._open,
            max_tokens=model.max_tokens,
            dimensions=model.dimensions,
            prefixes=chosen,
        )
        self._hub_model = model
        self._threads = threads
        self._download = _Download(model, models / "hub", probe_seconds, progress)

    def warm(self) -> None:
        """Downloads if need be and opens the model. Raises EmbedderUnavailable."""
        self._download.wait()
        super().warm()

    def _open(self) -> "OpenModel":
        from hearthmind.stores.embedders.onnx_models import open_folder, open_listed

        model, folder = self._hub_model, self._download.folder()
        if model.pooling is None:
            return open_listed(model.model, folder, max_tokens=model.max_tokens, threads=self._threads)
        return open_folder(
            folder,
            model_file=model.model_file,
            pooling=model.pooling,
            max_tokens=model.max_tokens,
            threads=self._threads,
        )


class _Download:
    def __init__(self, model: HubModel, cache: Path, probe_seconds: float, progress: Progress | None) -> None:
        self._model = model
        self._cache = cache
        self._probe_seconds = probe_seconds
        self._progress = progress
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._arrived: tuple[int, int] = (0, 0)
        self._failed: str | None = None
        self._failed_at = 0.0

    def folder(self) -> Path:
        """The model's folder if it is here; starts a download otherwise and raises EmbedderUnavailable."""
        found = self._found()
        if found is None:
            self._started().join(_PATIENCE_SECONDS)
            found = self._found()
        if found is None:
            raise EmbedderUnavailable(self._why())
        return found

    def wait(self) -> None:
        if self._found() is None:
            self._started(again=True).join()

    def _found(self) -> Path | None:
        return cached(self._model.repository, self._model.files, self._model.needed, self._cache)

    def _started(self, again: bool = False) -> threading.Thread:
        with self._lock:
            rested = again or time.monotonic() - self._failed_at > RETRY_SECONDS
            if self._thread is None or (not self._thread.is_alive() and rested):
                self._failed = None
                self._thread = threading.Thread(target=self._fetch, name="embedder-download", daemon=True)
                self._thread.start()
            return self._thread

    def _fetch(self) -> None:
        model = self._model
        log.info("downloading the embedding model %s", model.repository)
        try:
            fetch(
                model.repository,
                model.files,
                self._cache,
                probe_seconds=self._probe_seconds,
                progress=self._note,
            )
        except (HubUnreachable, OSError) as error:
            self._failed, self._failed_at = str(error), time.monotonic()
            log.warning("the embedding model %s could not be downloaded: %s", model.repository, error)

    def _note(self, arrived: int, total: int) -> None:
        self._arrived = (arrived, total)
        if self._progress:
            self._progress(arrived, total)

    def _why(self) -> str:
        if self._failed:
            return f"the embedding model {self._model.repository} could not be downloaded: {self._failed}"
        arrived, total = (each // 1_000_000 for each in self._arrived)
        return f"the embedding model {self._model.repository} is being downloaded ({arrived} of {total} MB)"


def hub_embedder(
    model: str,
    models: Path,
    *,
    threads: int | None = None,
    prefixes: Prefixes | None = None,
    probe_seconds: float = 5.0,
    progress: Callable[[int, int], None] | None = None,
) -> HubEmbedder:
    return HubEmbedder(
        find(model),
        models,
        threads=threads,
        prefixes=prefixes,
        probe_seconds=probe_seconds,
        progress=progress,
    )
