"""fastembed's models, opened with the session options that a home server needs.

fastembed exposes neither of them, so its classes are subclassed:
- no spinning: the idle thread of a session otherwise burns a core between operators. Measured on two cores,
  a query costs 8 ms of processor time instead of 21, at the same latency, and the other core stays free.
- no memory pattern: onnxruntime keeps one plan of buffers for every shape it ever saw; batches have many.
"""

import ctypes
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import onnxruntime  # type: ignore[import-untyped]
from fastembed import TextEmbedding
from fastembed.common.model_description import DenseModelDescription, ModelSource, PoolingType
from fastembed.common.onnx_model import OnnxModel
from fastembed.text.custom_text_embedding import CustomTextEmbedding
from numpy.typing import NDArray
from tokenizers import Tokenizer


class TextModel(Protocol):
    """What every fastembed text model answers."""

    def passage_embed(self, texts: Iterable[str], **kwargs: Any) -> Iterable[NDArray[Any]]: ...

    def query_embed(self, query: str | Iterable[str], **kwargs: Any) -> Iterable[NDArray[Any]]: ...


@dataclass(frozen=True, slots=True)
class OpenModel:
    model: TextModel
    tokenizer: Tokenizer | None
    """The model's own, which truncates and pads. A second one only to count would cost too much: a
    vocabulary of 250,000 pieces, as of multilingual-e5, takes up to 400 MB of memory."""


class _AtHome(OnnxModel[Any]):
    @classmethod
    def add_extra_session_options(
        cls, session_options: onnxruntime.SessionOptions, extra_options: dict[str, Any]
    ) -> None:
        super().add_extra_session_options(session_options, extra_options)
        session_options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session_options.enable_mem_pattern = False


class _Folder(_AtHome, CustomTextEmbedding):
    """A model from a folder; one whose graph already pools is taken as it is."""

    def _pool(self, embeddings: NDArray[Any], attention_mask: NDArray[Any] | None = None) -> NDArray[Any]:
        return embeddings if embeddings.ndim == 2 else super()._pool(embeddings, attention_mask)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open_folder(
    folder: Path,
    *,
    model_file: str = "model.onnx",
    pooling: str = "mean",
    normalize: bool = True,
    max_tokens: int,
    threads: int | None = None,
) -> OpenModel:
    """The ONNX model in `folder`, which has the files that fastembed wants (tokenizer and its settings).

    `pooling` is `mean`, `cls` or `last`. Raises whatever onnxruntime or the file system raises.
    """
    poolings = {"mean": PoolingType.MEAN, "cls": PoolingType.CLS, "last": PoolingType.LAST_TOKEN}
    kind: Any = type("FolderModel", (_Folder,), {"SUPPORTED_MODELS": [], "POSTPROCESSING_MAPPING": {}})
    kind.add_model(
        DenseModelDescription(
            model="folder",
            sources=ModelSource(hf="local/folder"),
            dim=0,
            model_file=model_file,
            description="",
            license="",
            size_in_GB=0,
        ),
        pooling=poolings[pooling],
        normalization=normalize,
    )
    return _open(kind, "folder", folder, max_tokens, threads)


def open_listed(model: str, folder: Path, *, max_tokens: int, threads: int | None = None) -> OpenModel:
    """A model that fastembed lists, from its downloaded `folder`."""
    kind: Any = next(kind for kind, each in _listed() if each.model.lower() == model.lower())
    if issubclass(kind, OnnxModel):
        kind = type(f"{kind.__name__}AtHome", (_AtHome, kind), {})
    else:
        threads = None
    return _open(kind, model, folder, max_tokens, threads)


def described(model: str) -> DenseModelDescription | None:
    """fastembed's own description of `model`, None if it lists no such model."""
    return next((each for _, each in _listed() if each.model.lower() == model.lower()), None)


def listed_names() -> list[str]:
    return [each.model for _, each in _listed()]


def _listed() -> list[tuple[type[Any], DenseModelDescription]]:
    return [(kind, each) for kind in TextEmbedding.EMBEDDINGS_REGISTRY for each in kind._list_supported_models()]


def _open(kind: Any, name: str, folder: Path, max_tokens: int, threads: int | None) -> OpenModel:
    options = {"threads": threads or cores()} if issubclass(kind, OnnxModel) else {}
    model = kind(name, cache_dir=str(folder), specific_model_path=str(folder), **options)
    tokenizer = cast("Tokenizer | None", getattr(model, "tokenizer", None))
    if tokenizer and tokenizer.truncation and tokenizer.truncation["max_length"] > max_tokens:
        tokenizer.enable_truncation(max_tokens, direction=tokenizer.truncation["direction"])
    _return_freed_memory()
    return OpenModel(cast("TextModel", model), tokenizer)


def _return_freed_memory() -> None:
    """Loading leaves 60 MB of freed weights in glibc's heap (MiniLM: 202 MB resident before, 144 after)."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return
