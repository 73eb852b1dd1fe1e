"""A remote embedder that misbehaves in every way a server can."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.hub import closed_port, silent_hub
from tests.fakes.openai_embeddings import FakeEmbeddingServer

from hearthmind.errors import EmbedderUnavailable
from hearthmind.stores.embedders import Options, build
from hearthmind.stores.embedders.openai_compatible import OpenAICompatibleEmbedder


def _vectors(texts: list[str], dimensions: int = 8) -> Any:
    return [[float(len(text)), *range(1, dimensions)] for text in texts]


@pytest.fixture
def server() -> Iterator[FakeEmbeddingServer]:
    with FakeEmbeddingServer(_vectors).serving() as serving:
        yield serving


def test_the_url_works_with_and_without_the_version(server: FakeEmbeddingServer, tmp_path: Path) -> None:
    for url in (server.url, f"{server.url}/v1", f"{server.url}/v1#all-minilm"):
        assert build(f"openai:{url}", tmp_path).embed_query("x").shape == (8,)


def test_the_named_model_the_key_and_plain_floats_are_sent(server: FakeEmbeddingServer, tmp_path: Path) -> None:
    embedder = build(f"openai:{server.url}/v1#nomic-embed-text", tmp_path, options=Options(api_key="s3cret"))
    embedder.embed_query("cat")
    embedder.embed_passages(["cat"])
    assert [each["input"] for each in server.requests] == [["search_query: cat"], ["search_document: cat"]]
    assert {each["model"] for each in server.requests} == {"nomic-embed-text"}
    assert {each["encoding_format"] for each in server.requests} == {"float"}
    assert set(server.keys) == {"Bearer s3cret"}
    assert embedder.name == "openai:nomic-embed-text"


def test_a_key_in_the_environment_is_not_sent(server: FakeEmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "somebody else's")
    OpenAICompatibleEmbedder(server.url).embed_query("x")
    assert "somebody" not in str(server.keys)


def test_without_a_name_the_servers_first_model_is_asked(server: FakeEmbeddingServer) -> None:
    OpenAICompatibleEmbedder(server.url).embed_query("x")
    assert server.requests[0]["model"] == "all-minilm"


def test_many_passages_go_in_batches(server: FakeEmbeddingServer) -> None:
    texts = [f"{'x' * (n % 37)} {n}" for n in range(300)]
    made = OpenAICompatibleEmbedder(server.url).embed_passages(texts)
    assert max(len(each["input"]) for each in server.requests) <= 32
    assert made[:, 0] / made[:, 1] == pytest.approx([len(text) for text in texts], rel=1e-4)


def test_the_dimension_is_found_once_and_then_fixed(server: FakeEmbeddingServer) -> None:
    embedder = OpenAICompatibleEmbedder(server.url)
    assert embedder.dimensions == 8
    server.embed = lambda texts: _vectors(texts, 16)
    with pytest.raises(EmbedderUnavailable, match="16 dimensions instead of 8"):
        embedder.embed_query("x")


def test_a_server_of_another_dimension_than_known_is_refused(server: FakeEmbeddingServer) -> None:
    with pytest.raises(EmbedderUnavailable, match="8 dimensions instead of 384"):
        OpenAICompatibleEmbedder(server.url, dimensions=384).embed_passages(["x"])


def test_rows_are_put_in_order(server: FakeEmbeddingServer) -> None:
    server.spoil = lambda rows: rows[::-1]
    made = OpenAICompatibleEmbedder(server.url).embed_passages(["x", "xx", "xxx"])
    assert (np.diff(made[:, 0]) > 0).all()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda rows: rows[:-1],
        lambda _: [],
        lambda _: None,
        lambda _: "nonsense",
        lambda rows: [{**row, "embedding": [float("nan")] * 8} for row in rows],
        lambda rows: [{**row, "embedding": ["a"] * 8} for row in rows],
        lambda rows: [{**row, "embedding": []} for row in rows],
        lambda rows: [{**row, "index": 0} for row in rows],
        lambda rows: [{**row, "embedding": [1.0] * (7 + row["index"])} for row in rows],
    ],
    ids=["short", "empty", "null", "text", "nan", "words", "no numbers", "same index", "ragged"],
)
def test_a_bad_answer_is_an_unavailable_embedder(server: FakeEmbeddingServer, spoil: Any) -> None:
    server.spoil = spoil
    with pytest.raises(EmbedderUnavailable):
        OpenAICompatibleEmbedder(f"{server.url}#m").embed_passages(["x", "y"])


@pytest.mark.parametrize("status", [401, 404, 500, 503])
def test_an_error_status_is_an_unavailable_embedder(server: FakeEmbeddingServer, status: int) -> None:
    server.status = status
    with pytest.raises(EmbedderUnavailable, match=str(status)):
        OpenAICompatibleEmbedder(f"{server.url}#m").embed_query("x")
    assert len(server.requests) <= 2


def test_a_text_the_server_finds_too_long_is_sent_shorter(server: FakeEmbeddingServer) -> None:
    server.longest = 900
    embedder = OpenAICompatibleEmbedder(f"{server.url}#m")
    assert embedder.embed_passages(["short", "word " * 20_000]).shape == (2, 8)


def test_a_closed_port_is_told_at_once() -> None:
    start = time.monotonic()
    with pytest.raises(EmbedderUnavailable):
        OpenAICompatibleEmbedder(f"{closed_port()}#m").embed_query("x")
    assert time.monotonic() - start < 5


def test_a_server_that_never_answers_is_given_up() -> None:
    with silent_hub() as url:
        start = time.monotonic()
        with pytest.raises(EmbedderUnavailable):
            OpenAICompatibleEmbedder(f"{url}#m", query_seconds=0.5).embed_query("x")
        assert time.monotonic() - start < 5


def test_a_server_that_comes_back_is_used_again() -> None:
    url = closed_port()
    embedder = OpenAICompatibleEmbedder(f"{url}#m")
    with pytest.raises(EmbedderUnavailable):
        embedder.embed_query("x")
    with FakeEmbeddingServer(_vectors).serving(port=int(url.rpartition(":")[2])):
        assert embedder.embed_query("x").shape == (8,)
