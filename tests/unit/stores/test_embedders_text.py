import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthmind.stores.embedders.batching import batches
from hearthmind.stores.embedders.prefixes import NONE, Prefixes, identity, prefixes_for
from hearthmind.stores.embedders.text import estimated_tokens, readable, shortened


@given(st.text(alphabet=st.characters()))
def test_readable_text_is_always_valid_unicode(text: str) -> None:
    readable(text).encode("utf-8")
    assert "\0" not in readable(text)


def test_surrogates_are_joined_or_replaced() -> None:
    assert readable("\ud83d\ude00") == "😀"
    assert readable("a\udfffb") == "a\ufffdb"
    assert readable("naïve 日本") == "naïve 日本"


def test_a_long_text_keeps_its_beginning() -> None:
    text = "".join(random.Random(1).choices(string.ascii_lowercase + "   ", k=100_000))
    short = shortened(text, 256)
    assert len(short) <= 256 * 12
    assert text.split()[:100] == short.split()[:100]
    assert shortened("short  text", 256) == "short  text"


def test_a_long_margin_does_not_hide_the_text() -> None:
    assert "here" in shortened(" " * 10_000 + "here" + " x" * 5000, 256)


def test_estimates_are_near_for_several_scripts() -> None:
    assert 20 <= estimated_tokens("the cat sat on the mat and looked at the moon " * 2) <= 32
    assert 10 <= estimated_tokens("我的护照在书桌的第二个抽屉里") <= 20
    assert estimated_tokens("") <= 2


@given(st.lists(st.integers(2, 300), max_size=200))
def test_batches_hold_every_passage_once_within_the_budget(lengths: list[int]) -> None:
    made = list(batches(lengths, tokens=512, rows=8))
    assert sorted(position for group in made for position in group) == list(range(len(lengths)))
    for group in made:
        assert len(group) <= 8
        assert len(group) == 1 or len(group) * max(lengths[each] for each in group) <= 512


def test_batches_of_mixed_lengths_hardly_pad() -> None:
    chance = random.Random(2)
    lengths = [chance.randint(3, 256) for _ in range(1000)]
    padded = sum(len(group) * max(lengths[each] for each in group) for group in batches(lengths))
    assert padded < 1.05 * sum(lengths)


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("e5-small-v2-q", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "Instruct: ", ""),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence", ""),
        ("BAAI/bge-small-zh-v1.5", "为这个句子", ""),
        ("bge-m3", "", ""),
        ("nomic-ai/nomic-embed-text-v1.5-Q", "search_query: ", "search_document: "),
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("mixedbread-ai/mxbai-embed-large-v1", "Represent this sentence", ""),
        ("snowflake/snowflake-arctic-embed-m", "Represent this sentence", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("Qwen/Qwen3-Embedding-0.6B", "Instruct: ", ""),
        ("google/embeddinggemma-300m", "task: search result", "title: none"),
        ("thenlper/gte-base", "", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
        ("sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", "", ""),
    ],
)
def test_each_family_reads_its_own_words_first(model: str, query: str, passage: str) -> None:
    found = prefixes_for(model)
    assert found.query.startswith(query)
    assert found.passage.startswith(passage)
    assert bool(found.query) == bool(query)
    assert bool(found.passage) == bool(passage)


def test_other_prefixes_make_other_vectors() -> None:
    assert identity("x", NONE, NONE) == "x"
    assert identity("x", Prefixes("q"), NONE) != identity("x", Prefixes("p"), NONE)
