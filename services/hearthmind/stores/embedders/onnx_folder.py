"""`onnx:<folder>`: a model of the person's own, as an ONNX file and its tokenizer."""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hearthmind.errors import InvalidSetting
from hearthmind.stores.embedders.local import LocalEmbedder
from hearthmind.stores.embedders.model_folder import gather, usual_settings
from hearthmind.stores.embedders.prefixes import Prefixes, prefixes_for

if TYPE_CHECKING:
    from hearthmind.stores.embedders.onnx_models import OpenModel

SETTINGS = "hearthmind.json"
_MOST_TOKENS = 1024
_MODELS = ("model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx", "onnx/model_int8.onnx")


@dataclass(frozen=True, slots=True)
class FolderModel:
    """What a folder says about its model: from `hearthmind.json`, else the files of sentence-transformers,
    else what is usual for a model of that name."""

    model: Path
    tokenizer: Path
    pooling: str
    normalize: bool
    max_tokens: int
    dimensions: int | None
    prefixes: Prefixes


def onnx_folder(
    folder: Path, models: Path, *, threads: int | None = None, prefixes: Prefixes | None = None
) -> LocalEmbedder:
    """The model in `folder`, which is only read; `models` is a folder of ours.

    Raises InvalidSetting if the folder holds no model, several, or settings that cannot be read.
    """
    read = read_folder(folder)
    if prefixes is not None:
        read = replace(read, prefixes=prefixes)

    def open_model() -> "OpenModel":
        from hearthmind.stores.embedders.onnx_models import open_folder

        return open_folder(
            _as_fastembed_wants(read, folder, models),
            pooling=read.pooling,
            normalize=read.normalize,
            max_tokens=read.max_tokens,
            threads=threads,
        )

    name = f"onnx:{folder.resolve().name}@{_fingerprint(read)}"
    return LocalEmbedder(
        name, open_model, max_tokens=read.max_tokens, dimensions=read.dimensions, prefixes=read.prefixes
    )


def read_folder(folder: Path) -> FolderModel:
    """Raises InvalidSetting, naming the folder and what is missing."""
    if not folder.is_dir():
        raise InvalidSetting(f"onnx:{folder} is not a folder")
    ours = _json(folder / SETTINGS)
    model = _model_file(folder, ours.get("model_file"))
    names = f"{folder.resolve().name} {model.stem}"
    bert = _json(folder / "sentence_bert_config.json")
    tokens = _json(folder / "tokenizer_config.json")
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    usual = prefixes_for(names)
    pooling = ours.get("pooling") or _pooling(folder, names)
    if pooling not in ("mean", "cls", "last"):
        raise InvalidSetting(f"{folder / SETTINGS}: pooling is mean, cls or last, not {pooling!r}")
    lengths = (
        ours.get("max_tokens"),
        bert.get("max_seq_length"),
        tokens.get("model_max_length"),
        256 if "minilm" in names.lower() else 512,
    )
    length = next(int(each) for each in lengths if isinstance(each, int) and 0 < each < 1_000_000)
    return FolderModel(
        model=model,
        tokenizer=_tokenizer_file(folder, model),
        pooling=pooling,
        normalize=bool(ours.get("normalize", True)),
        max_tokens=min(length, _MOST_TOKENS),
        dimensions=ours.get("dim"),
        prefixes=Prefixes(
            query=_first(ours.get("query_prefix"), prompts.get("query"), usual.query),
            passage=_first(ours.get("passage_prefix"), prompts.get("document"), prompts.get("passage"), usual.passage),
        ),
    )


def _first(*choices: str | None) -> str:
    return next((each for each in choices if each is not None), "")


def _pooling(folder: Path, names: str) -> str:
    said = _json(folder / "1_Pooling" / "config.json")
    for pooling, key in (("cls", "pooling_mode_cls_token"), ("last", "pooling_mode_lasttoken")):
        if said.get(key):
            return pooling
    if said:
        return "mean"
    name = names.lower()
    return "cls" if any(family in name for family in ("bge", "arctic-embed", "mxbai")) else "mean"


def _model_file(folder: Path, named: str | None) -> Path:
    if named:
        if (folder / named).is_file():
            return folder / named
        raise InvalidSetting(f"{folder / SETTINGS}: there is no {named}")
    for usual in _MODELS:
        if (folder / usual).is_file():
            return folder / usual
    found = sorted({*folder.glob("*.onnx"), *folder.glob("*/*.onnx")})
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(str(each.relative_to(folder)) for each in found)
        raise InvalidSetting(f'onnx:{folder} holds several models ({listed}): say "model_file" in {SETTINGS}')
    raise InvalidSetting(f"onnx:{folder} holds no .onnx file")


def _tokenizer_file(folder: Path, model: Path) -> Path:
    stem = model.stem.removesuffix("-q")
    for place in (model.parent, folder):
        for name in ("tokenizer.json", f"{model.stem}-tokenizer.json", f"{stem}-tokenizer.json"):
            if (place / name).is_file():
                return place / name
        found = sorted(place.glob("*tokenizer.json"))
        if len(found) == 1:
            return found[0]
    raise InvalidSetting(f"onnx:{folder} holds no tokenizer.json for {model.name}")


def _as_fastembed_wants(read: FolderModel, folder: Path, models: Path) -> Path:
    files = {"model.onnx": read.model, "tokenizer.json": read.tokenizer}
    # Weights beside the graph (over 2 GB) are found by the name they have there.
    for each in read.model.parent.glob(f"{read.model.name}[_.]*"):
        files[each.name] = each
    settings = usual_settings(read.max_tokens, _pad_token(read.tokenizer))
    for name in ("config.json", "special_tokens_map.json"):
        settings[name] = _json(folder / name)
    settings["tokenizer_config.json"] = {
        **settings["tokenizer_config.json"],
        **_json(folder / "tokenizer_config.json"),
        "model_max_length": read.max_tokens,
    }
    settings["tokenizer_config.json"].pop("max_length", None)
    return gather(models, f"onnx-{folder.resolve().name}", files, settings)


def _pad_token(tokenizer: Path) -> str:
    known = {each.get("content") for each in _json(tokenizer).get("added_tokens", ())}
    return next((each for each in ("[PAD]", "<pad>", "<|endoftext|>", "</s>") if each in known), "[PAD]")


def _fingerprint(read: FolderModel) -> str:
    """What the vectors depend on: the weights by size and both ends, the tokenizer, how they are used."""
    digest = hashlib.sha256()
    for path in (read.model, read.tokenizer):
        with path.open("rb") as file:
            size = path.stat().st_size
            digest.update(f"{size}:".encode() + file.read(65_536))
            file.seek(max(0, size - 65_536))
            digest.update(file.read())
    digest.update(repr((read.pooling, read.normalize, read.max_tokens, read.prefixes)).encode())
    return digest.hexdigest()[:10]


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidSetting(f"{path} is not a JSON object")
    return value
