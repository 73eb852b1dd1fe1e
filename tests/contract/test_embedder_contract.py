"""What every embedder promises, whatever answers behind it."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.hub import StandInHub, e5_from
from tests.fakes.openai_embeddings import FakeEmbeddingServer

from hearthmind.stores.embedders import Prefixes, choose
from hearthmind.stores.embedders.onnx_folder import onnx_folder
from hearthmind.stores.embedders.openai_compatible import OpenAICompatibleEmbedder
from hearthmind.stores.embedders.packaged import packaged, packaged_folder

# These weights are int8, the arithmetic is float32, so what else is in a batch hardly matters. Models that
# quantise activations per batch (most *_quantized.onnx) drift by some 1e-2: that is theirs, not ours.
TOLERANCE = 1e-3


@pytest.fixture(scope="module", params=["packaged", "fastembed", "onnx", "openai"])
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    data = tmp_path_factory.mktemp(request.param)
    models = data / "models"
    match request.param:
        case "packaged":
            yield packaged(models)
        case "fastembed":
            _fetch_through_stand_in(data)
            yield choose("fastembed:intfloat/multilingual-e5-small", data).embedder
        case "onnx":
            yield onnx_folder(packaged_folder(data / "theirs"), models)
        case "openai":
            behind = packaged(models)
            with FakeEmbeddingServer(behind.embed_passages).serving() as server:
                yield OpenAICompatibleEmbedder(server.url, prefixes=Prefixes())


def _fetch_through_stand_in(data: Path) -> None:
    """In a process of its own: huggingface_hub reads HF_ENDPOINT once, when it is imported."""
    fetch = (
        "import sys, pathlib; from hearthmind.stores.embedders import build;"
        "build('fastembed:intfloat/multilingual-e5-small', pathlib.Path(sys.argv[1])).warm()"
    )
    with StandInHub(e5_from(packaged_folder(data / "theirs"))).serving() as hub:
        subprocess.run([sys.executable, "-c", fetch, str(data)], check=True, env={**os.environ, "HF_ENDPOINT": hub.url})


def _words(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    words = ["river", "bank", "passport", "drawer", "tax", "law", "kitten", "garden", "server", "recipe", "bread"]
    return [" ".join(chance.choices(words, k=chance.randint(1, 60))) for _ in range(count)]


def test_vectors_come_in_the_order_of_the_passages(embedder: Any) -> None:
    texts = _words(1, 40)
    together = embedder.embed_passages(texts)
    alone = np.vstack([embedder.embed_passages([text]) for text in texts])
    assert np.abs(together - alone).max() < TOLERANCE
    assert together.argmax(axis=1).tolist() == alone.argmax(axis=1).tolist()


def test_vectors_have_length_one_and_the_dimension_promised(embedder: Any) -> None:
    vectors = embedder.embed_passages(_words(2, 7))
    assert vectors.shape == (7, embedder.dimensions)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    query = embedder.embed_query("where is it")
    assert query.shape == (embedder.dimensions,)
    assert query.dtype == np.float32
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)


def test_no_passages_give_no_vectors(embedder: Any) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)


def test_the_company_of_a_passage_does_not_change_its_vector(embedder: Any) -> None:
    passage = "The passport is in the second drawer of the desk."
    alone = embedder.embed_passages([passage])[0]
    for seed in range(3):
        others = _words(seed, 11)
        assert np.abs(embedder.embed_passages([*others, passage])[-1] - alone).max() < TOLERANCE


def test_a_query_is_nearest_to_what_it_means(embedder: Any) -> None:
    texts = ["A kitten sleeps on the sofa.", "The tax law changes in January.", "We restarted the server."]
    vectors = embedder.embed_passages(texts)
    assert (vectors @ embedder.embed_query("my young cat")).argmax() == 0
    assert (vectors @ embedder.embed_query("legislation about money owed to the state")).argmax() == 1
    assert (vectors @ embedder.embed_query("rebooting a computer")).argmax() == 2


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("   \n", id="blank"),
        pytest.param("\0\0", id="nul"),
        pytest.param("\ud800", id="surrogate"),
        pytest.param("\ud83d\ude00 x \udfff", id="surrogates"),
        pytest.param("x" * 100_000, id="one long word"),
        pytest.param("word " * 20_000, id="long"),
        pytest.param(" " * 99_999 + "x", id="late"),
        pytest.param("日本語" * 9000, id="long japanese"),
    ],
)
def test_any_text_can_be_embedded_and_counted(embedder: Any, text: str) -> None:
    assert np.isfinite(embedder.embed_passages(["before", text])).all()
    assert np.isfinite(embedder.embed_query(text)).all()
    assert embedder.count_tokens(text) >= 0


def test_only_the_beginning_of_a_long_passage_counts(embedder: Any) -> None:
    beginning = "The garden needs water in July. " * 200
    first, second = embedder.embed_passages([beginning + "tax " * 9000, beginning + "kitten " * 9000])
    assert first @ second > 0.999


def test_tokens_are_counted_about_right(embedder: Any) -> None:
    assert 80 <= embedder.count_tokens("the cat sat on the mat and " * 14) <= 130
    assert embedder.count_tokens("note " * 5000) > embedder.max_tokens >= 128


def test_many_threads_may_ask_at_once(embedder: Any) -> None:
    texts = [_words(seed, 6) for seed in range(8)]
    expected = [embedder.embed_passages(each) for each in texts]
    queries = [embedder.embed_query(each[0]) for each in texts]
    with ThreadPoolExecutor(8) as threads:
        passages = list(threads.map(embedder.embed_passages, texts * 2))
        asked = list(threads.map(embedder.embed_query, [each[0] for each in texts] * 2))
    assert max(np.abs(a - b).max() for a, b in zip(passages, expected * 2, strict=True)) < TOLERANCE
    assert max(np.abs(a - b).max() for a, b in zip(asked, queries * 2, strict=True)) < TOLERANCE


def test_the_name_says_what_made_the_vectors(embedder: Any) -> None:
    assert embedder.name.partition(":")[0] in ("packaged", "fastembed", "onnx", "openai")
