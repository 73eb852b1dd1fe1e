import pytest

from hearthmind.indexing.words import Words, fold


def test_case_accents_and_compatibility_forms_are_folded() -> None:
    assert fold("ÉTÉ") == fold("été") == fold("e\u0301te\u0301") == "ete"
    assert fold("ﬁle") == "file"
    assert fold("Straße") == fold("STRASSE")


def test_a_word_is_found_by_its_stem_and_as_it_stands() -> None:
    words = Words(["en"])
    terms = words.of_text("Universities")
    assert words.of_question("university").stems == terms.stems
    assert "universities" in terms.words


def test_several_languages_stem_together() -> None:
    words = Words(["en", "de"])
    assert set(words.of_question("Häuser").stems) & set(words.of_text("Haus").stems)
    assert set(words.of_question("running").stems) & set(words.of_text("run").stems)


@pytest.mark.parametrize("text", ["東京の天気", "오늘 날씨", "สวัสดีครับ"])
def test_scripts_without_spaces_match_by_bigrams(text: str) -> None:
    words = Words(["en"])
    indexed = words.of_text("前文" + text + "後文")
    asked = words.of_question(text)
    assert asked.stems
    assert set(asked.stems) <= set(indexed.stems)


def test_a_single_character_of_an_unspaced_script_is_found() -> None:
    words = Words(["en"])
    assert set(words.of_question("京").words) <= set(words.of_text("東京").words)


def test_vowel_signs_do_not_split_words() -> None:
    assert Words(["en"]).of_text("हिन्दी शब्द").stems == ("हिन्दी", "शब्द")


def test_function_words_are_left_out_of_questions_only() -> None:
    words = Words(["en"])
    assert words.of_question("what is the capital of France").stems == ("capit", "franc")
    assert "the" in words.of_text("the capital").stems


def test_a_question_of_function_words_alone_keeps_them() -> None:
    assert Words(["en"]).of_question("The Who").stems == ("the", "who")


def test_a_language_without_stemmer_or_list_still_works() -> None:
    assert Words(["pl"]).of_text("Zażółć gęślą").stems == ("zazołc", "gesla")


def test_nothing_but_punctuation_has_no_terms() -> None:
    assert Words(["en"]).of_question("?!… ()").stems == ()
