"""Which embedder a setting means, and which one `auto` settles on at the first start."""

import logging
from dataclasses import dataclass
from pathlib import Path

from hearthmind.errors import HearthmindError, InvalidSetting
from hearthmind.stores.embedders.hub import STALL_SECONDS, HubUnreachable, Progress, cached, fetch
from hearthmind.stores.embedders.hub_models import MULTILINGUAL, find, hub_embedder
from hearthmind.stores.embedders.local import LocalEmbedder
from hearthmind.stores.embedders.onnx_folder import onnx_folder
from hearthmind.stores.embedders.openai_compatible import OpenAICompatibleEmbedder
from hearthmind.stores.embedders.packaged import packaged
from hearthmind.stores.embedders.prefixes import Prefixes
from hearthmind.stores.embedders.torch_models import SentenceTransformersEmbedder

log = logging.getLogger(__name__)

PACKAGED = "packaged"


LocalOrRemote = LocalEmbedder | SentenceTransformersEmbedder | OpenAICompatibleEmbedder
"""Each is an `Embedder` with `warm()`, which loads or asks once."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the settings may say beside the name. `prefixes` and `api_key` None: the usual, none."""

    threads: int | None = None
    api_key: str | None = None
    prefixes: Prefixes | None = None
    dimensions: int | None = None
    """Of a remote model, where it is already known."""
    progress: Progress | None = None
    stall_seconds: float = STALL_SECONDS
    """A download of the first start that brings nothing for so long has failed."""


@dataclass(frozen=True, slots=True)
class Choice:
    embedder: LocalOrRemote
    pin: str
    """What to keep in `house.db`, and give back as `pinned` at later starts."""


def choose(
    spec: str,
    data: Path,
    pinned: str | None = None,
    *,
    hub_seconds: float = 5.0,
    options: Options | None = None,
) -> Choice:
    """The embedder that `spec` names; `data` is the house's data folder.

    `auto` without a pin asks the hub for multilingual-e5-small: it has `hub_seconds` to answer, then the
    download takes its time as long as it moves; whatever fails on the way, the packaged model is chosen.
    `auto` with a pin is the pin, and no network. Raises InvalidSetting for a spec that means nothing.
    """
    options = options or Options()
    if spec != "auto":
        return Choice(build(spec, data, options=options, hub_seconds=hub_seconds), spec)
    if pinned:
        return Choice(build(pinned, data, options=options, hub_seconds=hub_seconds), pinned)
    return _first_start(data, hub_seconds, options)


def build(spec: str, data: Path, *, options: Options | None = None, hub_seconds: float = 5.0) -> LocalOrRemote:
    """The embedder of a concrete `spec`: `packaged`, `fastembed:<model>`, `onnx:<folder>`,
    `sentence-transformers:<model>` or `openai:<url>[#<model>]`. Loads nothing. Raises InvalidSetting."""
    options = options or Options()
    models = data / "models"
    kind, _, what = spec.partition(":")
    if spec == PACKAGED:
        return packaged(models, threads=options.threads)
    if not what:
        raise InvalidSetting(f"{spec!r} names no embedder: {_FORMS}")
    match kind:
        case "fastembed":
            return hub_embedder(
                what,
                models,
                threads=options.threads,
                prefixes=options.prefixes,
                probe_seconds=hub_seconds,
                progress=options.progress,
            )
        case "onnx":
            return onnx_folder(Path(what).expanduser(), models, threads=options.threads, prefixes=options.prefixes)
        case "sentence-transformers":
            return SentenceTransformersEmbedder(what, prefixes=options.prefixes)
        case "openai":
            return OpenAICompatibleEmbedder(
                what, api_key=options.api_key, dimensions=options.dimensions, prefixes=options.prefixes
            )
        case _:
            raise InvalidSetting(f"{spec!r} names no embedder: {_FORMS}")


_FORMS = "auto, packaged, fastembed:<model>, onnx:<folder>, sentence-transformers:<model> or openai:<url>#<model>"


def _first_start(data: Path, hub_seconds: float, options: Options) -> Choice:
    model, cache = find(MULTILINGUAL), data / "models" / "hub"
    try:
        if cached(model.repository, model.files, model.needed, cache) is None:
            log.info("asking the hub for %s", model.repository)
            fetch(
                model.repository,
                model.files,
                cache,
                probe_seconds=hub_seconds,
                stall_seconds=options.stall_seconds,
                progress=options.progress,
            )
        pin = f"fastembed:{MULTILINGUAL}"
        embedder = build(pin, data, options=options, hub_seconds=hub_seconds)
        embedder.embed_query("does it work")
    except (HubUnreachable, HearthmindError, OSError) as error:
        log.info("the packaged embedder is used, %s cannot be had: %s", model.repository, error)
        return Choice(build(PACKAGED, data, options=options), PACKAGED)
    return Choice(embedder, pin)
