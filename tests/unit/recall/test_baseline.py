import pytest
from tests.fakes.embedder import WordEmbedder

from hearthmind.recall.baseline import REFERENCE, SENTENCES, comparable, unrelated_cosine


def test_sentences_share_next_to_nothing_for_an_honest_embedder() -> None:
    assert -0.1 < unrelated_cosine(WordEmbedder(dimensions=1024)) < 0.25
    assert len(set(SENTENCES)) == len(SENTENCES) >= 20


def test_equal_stays_equal_and_unrelated_becomes_the_reference() -> None:
    assert comparable(1.0, 0.73) == pytest.approx(1.0)
    assert comparable(0.73, 0.73) == pytest.approx(REFERENCE)
    assert comparable(0.5, REFERENCE) == pytest.approx(0.5)
    assert comparable(0.5, None) == 0.5
