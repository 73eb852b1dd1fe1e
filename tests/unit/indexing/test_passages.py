from hypothesis import given
from hypothesis import strategies as st

from hearthmind.indexing.passages import PASSAGE_TOKENS, cut_sections, estimate_tokens


def test_a_short_note_is_one_passage() -> None:
    (one,) = cut_sections("# Title\n\nA short note.\n", 1)
    assert one.text == "# Title\n\nA short note."
    assert one.lines == (1, 3)


def test_sections_carry_the_headings_above_them() -> None:
    long = "word " * 120
    passages = cut_sections(f"# A\n\n{long}\n\n## B\n\n{long}\n\n# C\n\n{long}\n", 5)
    assert [one.headings for one in passages] == [("A",), ("A", "B"), ("C",)]
    assert passages[0].lines[0] == 5


def test_code_that_fits_is_not_cut_even_with_blank_lines_and_hashes() -> None:
    code = "```sh\n# not a heading\n\n" + "echo one\n" * 20 + "```"
    passages = cut_sections("intro " * 150 + "\n\n" + code + "\n\n" + "outro " * 150, 1)
    assert any(code in one.text for one in passages)


def test_a_table_that_fits_is_not_cut() -> None:
    table = "| a | b |\n|---|---|\n" + "| x | y |\n" * 10
    passages = cut_sections("intro " * 190 + "\n\n" + table, 1)
    assert any(table.strip() in one.text for one in passages)


def test_one_endless_line_is_cut_into_pieces_that_fit() -> None:
    passages = cut_sections("word " * 5_000, 1)
    assert all(estimate_tokens(one.text) <= PASSAGE_TOKENS * 1.1 for one in passages)
    assert " ".join(one.text for one in passages).split() == ["word"] * 5_000


def test_text_without_spaces_is_cut_too() -> None:
    passages = cut_sections("漢" * 2_000, 1)
    assert len(passages) >= 9
    assert "".join(one.text for one in passages) == "漢" * 2_000


@given(
    st.lists(st.sampled_from(["word other", "", "# Head", "```", "- item", "x" * 2_000, "| a |", "  "]), max_size=40)
)
def test_every_line_is_in_a_passage_and_positions_are_in_order(lines: list[str]) -> None:
    passages = cut_sections("\n".join(lines), 3)
    text = "".join("".join(one.text.split()) for one in passages)
    assert text == "".join("".join(line.split()) for line in lines)
    assert [one.seq for one in passages] == list(range(len(passages)))
    assert all(3 <= one.lines[0] <= one.lines[1] <= len(lines) + 2 for one in passages)
