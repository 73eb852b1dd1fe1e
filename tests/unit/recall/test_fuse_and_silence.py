import pytest

from hearthmind.model.index import MAX_PASSAGES, Scored
from hearthmind.recall.context import assemble
from hearthmind.recall.fuse import ENTRY, SECTION, fused, ranks, smoothed
from hearthmind.recall.silence import THRESHOLD, coverage, relevance


def test_neighbours_share_a_score_within_their_note_only() -> None:
    first_of_second_note = MAX_PASSAGES
    scores = smoothed([Scored(first_of_second_note, 10.0)])
    assert scores[first_of_second_note + 1] == pytest.approx(4.0)
    assert scores[first_of_second_note + 2] == pytest.approx(2.0)
    assert first_of_second_note - 1 not in scores


def test_ranks_are_one_based_and_ties_are_stable() -> None:
    assert ranks({7: 1.0, 3: 2.0, 5: 1.0}) == {3: 1, 5: 2, 7: 3}


def test_words_decide_for_entries_and_meaning_for_sections() -> None:
    keyword, meaning = {1: 1, 2: 5}, {1: 5, 2: 1}
    entry = fused(keyword, meaning, {1: ENTRY, 2: ENTRY}, [1, 2])
    section = fused(keyword, meaning, {1: SECTION, 2: SECTION}, [1, 2])
    assert entry[1] > entry[2]
    assert section[2] > section[1]


def test_coverage_weighs_rare_words_more() -> None:
    rarity = {"boiler": 6.0, "see": 1.0}
    assert coverage(rarity, {"boiler"}) > 0.8
    assert coverage(rarity, {"see"}) < 0.2
    assert coverage({}, {"x"}) == 0.0


def test_a_text_with_every_word_is_never_silenced() -> None:
    assert relevance(0.0, 1.0) >= THRESHOLD
    assert relevance(None, 0.0) == 0.0


def test_no_hits_make_no_context() -> None:
    assert assemble([], 1_000) == ""
