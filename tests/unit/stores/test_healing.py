"""Stores that fail at first and are there later."""

import pytest
from tests.fakes.embedder import WordEmbedder
from tests.fakes.vector_index import InMemoryVectorIndex
from tests.home import wait_for

from hearthmind.errors import EmbedderUnavailable, InvalidSetting, StoreUnavailable
from hearthmind.ports import Embedder, VectorIndex
from hearthmind.stores import healing
from hearthmind.stores.healing import AwaitedEmbedder, HealingVectorIndex


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), RuntimeError("odd")])
def test_the_embedder_is_chosen_again_until_it_works(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(healing, "RETRY_SECONDS", 0.05)
    faults = [fault, fault]

    def choose() -> Embedder:
        if faults:
            raise faults.pop()
        return WordEmbedder()

    embedder = AwaitedEmbedder(choose)
    with pytest.raises(EmbedderUnavailable, match="embedder failed"):
        embedder.embed_query("x")
    wait_for(lambda: not faults)
    wait_for(lambda: _answers(embedder))
    assert embedder.dimensions == WordEmbedder().dimensions


def test_a_setting_that_means_nothing_is_said_and_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(healing, "RETRY_SECONDS", 0.01)
    tried = []

    def choose() -> Embedder:
        tried.append(1)
        raise InvalidSetting("HEARTHMIND_EMBEDDER: 'word2vec' is none of auto, packaged")

    embedder = AwaitedEmbedder(choose)
    for _ in range(3):
        with pytest.raises(EmbedderUnavailable, match="word2vec"):
            embedder.embed_query("x")
    assert len(tried) == 1


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), StoreUnavailable("held elsewhere")])
def test_the_vector_index_is_opened_again(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(healing, "RETRY_SECONDS", 0.05)
    faults = [fault]

    def opened() -> VectorIndex:
        if faults:
            raise faults.pop()
        return InMemoryVectorIndex(3)

    index = HealingVectorIndex(opened)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            index.count()
    wait_for(lambda: _counts(index))
    index.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        index.count()


def _answers(embedder: Embedder) -> bool:
    try:
        embedder.embed_query("x")
    except EmbedderUnavailable:
        return False
    return True


def _counts(index: VectorIndex) -> bool:
    try:
        return index.count() == 0
    except StoreUnavailable:
        return False
