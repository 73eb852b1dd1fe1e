import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hearthmind.errors import EmbedderUnavailable, InvalidSetting
from hearthmind.stores.embedders import Prefixes, build, choose
from hearthmind.stores.embedders.model_folder import gather
from hearthmind.stores.embedders.onnx_folder import onnx_folder, read_folder
from hearthmind.stores.embedders.openai_compatible import address


def _model(folder: Path, model: str = "model.onnx", tokenizer: str = "tokenizer.json", **files: Any) -> Path:
    for name, text in {model: "onnx", tokenizer: '{"added_tokens": [{"content": "<pad>"}]}'}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_json", ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def test_a_folder_is_gathered_whole_by_many_at_once(tmp_path: Path) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(b"x" * 100)
    with ThreadPoolExecutor(8) as threads:
        made = list(
            threads.map(
                lambda _: gather(tmp_path / "models", "m", {"model.onnx": source}, {"config.json": {}}), range(32)
            )
        )
    assert len(set(made)) == 1
    assert (made[0] / "model.onnx").read_bytes() == source.read_bytes()
    assert [each.name for each in (tmp_path / "models").iterdir()] == [made[0].name]


def test_a_damaged_folder_is_made_again(tmp_path: Path) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(b"x")
    folder = gather(tmp_path / "models", "m", {"model.onnx": source}, {"config.json": {}})
    (folder / "model.onnx").unlink()
    assert gather(tmp_path / "models", "m", {"model.onnx": source}, {"config.json": {}}) == folder
    assert (folder / "model.onnx").read_bytes() == b"x"


def test_a_changed_source_is_another_folder(tmp_path: Path) -> None:
    source = tmp_path / "source.bin"
    source.write_bytes(b"x")
    first = gather(tmp_path / "models", "m", {"model.onnx": source}, {})
    source.write_bytes(b"longer")
    assert gather(tmp_path / "models", "m", {"model.onnx": source}, {}) != first


def test_files_are_copied_where_links_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    source = tmp_path / "source.bin"
    source.write_bytes(b"x")
    folder = gather(tmp_path / "models", "m", {"model.onnx": source}, {})
    source.unlink()
    assert (folder / "model.onnx").read_bytes() == b"x"


def test_the_defaults_follow_the_name(tmp_path: Path) -> None:
    e5 = read_folder(_model(tmp_path / "multilingual-e5-small", "onnx/model_quantized.onnx"))
    assert (e5.pooling, e5.max_tokens, e5.prefixes.query) == ("mean", 512, "query: ")
    bge = read_folder(_model(tmp_path / "jar", "bge-small-en-v1.5-q.onnx", "bge-small-en-v1.5-q-tokenizer.json"))
    assert bge.pooling == "cls"
    assert bge.prefixes.query.startswith("Represent")
    assert read_folder(_model(tmp_path / "all-MiniLM-L6-v2")).max_tokens == 256


def test_sentence_transformers_files_say_how_to_use_the_model(tmp_path: Path) -> None:
    folder = _model(
        tmp_path / "mine",
        **{"1_Pooling__config_json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}},
        sentence_bert_config_json={"max_seq_length": 128},
        config_sentence_transformers_json={"prompts": {"query": "Q: ", "document": "D: "}},
    )
    read = read_folder(folder)
    assert (read.pooling, read.max_tokens, read.prefixes) == ("cls", 128, Prefixes("Q: ", "D: "))


def test_our_own_file_in_the_folder_wins(tmp_path: Path) -> None:
    said = {"pooling": "mean", "normalize": False, "query_prefix": "", "passage_prefix": "p ", "max_tokens": 64}
    folder = _model(
        tmp_path / "bge-e5",
        hearthmind_json={**said, "dim": 12},
        sentence_bert_config_json={"max_seq_length": 128},
    )
    read = read_folder(folder)
    assert (read.pooling, read.normalize, read.max_tokens, read.dimensions) == ("mean", False, 64, 12)
    assert read.prefixes == Prefixes("", "p ")


def test_another_model_in_the_folder_is_another_name(tmp_path: Path) -> None:
    folder = _model(tmp_path / "mine")
    before = onnx_folder(folder, tmp_path).name
    assert onnx_folder(folder, tmp_path).name == before
    (folder / "model.onnx").write_text("other")
    assert onnx_folder(folder, tmp_path).name != before


@pytest.mark.parametrize("case", ["absent", "empty", "two models", "no tokenizer", "not json", "odd pooling"])
def test_a_folder_without_a_usable_model_is_refused_by_name(tmp_path: Path, case: str) -> None:
    folder = tmp_path / "mine"
    if case != "absent":
        folder.mkdir()
    if case == "two models":
        _model(folder, "a.onnx")
        _model(folder, "b.onnx")
    if case == "no tokenizer":
        (folder / "model.onnx").write_text("x")
    if case == "not json":
        (_model(folder) / "hearthmind.json").write_text("{")
    if case == "odd pooling":
        _model(folder, hearthmind_json={"pooling": "max"})
    with pytest.raises(InvalidSetting, match="mine"):
        build(f"onnx:{folder}", tmp_path)


def test_a_model_that_cannot_be_opened_is_an_unavailable_embedder(tmp_path: Path) -> None:
    embedder = build(f"onnx:{_model(tmp_path / 'mine')}", tmp_path / "data")
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("x")


@pytest.mark.parametrize("spec", ["", "nothing", "fastembed:", "onnx:", "openai:host:80", "word2vec:x"])
def test_a_spec_that_means_nothing_is_refused(spec: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting):
        choose(spec, tmp_path)


def test_an_unknown_model_is_refused_with_near_names(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"BAAI/bge-small-en-v1\.5"):
        choose("fastembed:BAAI/bge-smal-en-v1.5", tmp_path)


def test_listed_models_are_known_without_a_download(tmp_path: Path) -> None:
    bge = choose("fastembed:BAAI/bge-small-en-v1.5", tmp_path)
    assert (bge.embedder.name, bge.embedder.dimensions, bge.embedder.max_tokens) == (
        "fastembed:BAAI/bge-small-en-v1.5",
        384,
        512,
    )
    assert bge.pin == "fastembed:BAAI/bge-small-en-v1.5"
    assert not list(tmp_path.iterdir())


def test_the_pin_is_used_and_given_back(tmp_path: Path) -> None:
    choice = choose("auto", tmp_path, "packaged")
    assert (choice.pin, choice.embedder.name) == ("packaged", "packaged:all-MiniLM-L6-v2-int8")
    pinned = choose("auto", tmp_path, "fastembed:intfloat/multilingual-e5-small")
    assert pinned.embedder.name == "fastembed:intfloat/multilingual-e5-small"


def test_without_the_extra_sentence_transformers_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"hearthmind\[sentence-transformers\]"):
        choose("sentence-transformers:all-MiniLM-L6-v2", tmp_path).embedder.warm()


@pytest.mark.parametrize(
    ("url", "base", "model"),
    [
        ("http://host:8080", "http://host:8080/v1", None),
        ("http://host:8080/v1/", "http://host:8080/v1", None),
        ("http://host:8080/v1#bge-m3", "http://host:8080/v1", "bge-m3"),
        ("http://host#BAAI/bge-m3", "http://host/v1", "BAAI/bge-m3"),
        ("https://host/openai/v1/embeddings#m", "https://host/openai/v1", "m"),
    ],
)
def test_addresses_with_and_without_the_version(url: str, base: str, model: str | None) -> None:
    assert address(url) == (base, model)


def test_a_folder_that_moved_keeps_its_name(tmp_path: Path) -> None:
    folder = _model(tmp_path / "mine")
    name = onnx_folder(folder, tmp_path).name
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "mine")
    assert onnx_folder(moved, tmp_path).name == name
