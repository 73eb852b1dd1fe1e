"""What a person would read: plain text and first sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthmind.vault.markdown import first_sentence, plain_text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# Head **bold** _it_", "Head bold it"),
        ("see [[Folder/Name]] and [[A#B]]", "see Name and A > B"),
        ("[[Name|shown]] [t](x.md) <https://x.org>", "shown t https://x.org"),
        ("![[e]]![a](b.png)x", "x"),
        ("`my_var__x` and __b__ ~~c~~ ==d==", "my_var__x and b c d"),
        ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
        ("- [x] done\n1. one\n> quote", "done\none\nquote"),
        ("> [!note] Title\n> text", "Title\ntext"),
        ("a %%hidden%% b<!-- c -->", "a  b"),
        ("```py\ncode_a_b = 1\n```", "code_a_b = 1"),
        ("text[^1] ^id", "text"),
        ("\\*not\\* <b>x</b>", "*not* x"),
        ("***both***", "both"),
        ("[[n#^b]]", "n"),
        ("", ""),
    ],
)
def test_plain_text(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("# T\n\nThe first one. The second.", "The first one."),
        ("Use e.g. uv for this. Then go.", "Use e.g. uv for this."),
        ("Mr. Smith met Dr. Jones at 3.5 p.m. today. Then left.", "Mr. Smith met Dr. Jones at 3.5 p.m. today."),
        ("今日は晴れ。明日は雨。", "今日は晴れ。"),
        ("Was it so? Yes.", "Was it so?"),
        ("「はい！」と言った。", "「はい！」"),
        (
            "```\ncode\n```\n\n| a | b |\n|---|---|\n\n![[x.png]]\n\n---\n\nProse **here**\nwraps. More.",
            "Prose here wraps.",
        ),
        ("---\na: 1\n---\nText follows.", "Text follows."),
        ("- first item\n- second", "first item"),
        ("Title\n=====\n\nSome prose.", "Some prose."),
        ("## Only a heading", "Only a heading"),
        ("```\nprint(1)\n```", "print(1)"),
        ("", ""),
        ("%% hidden %%\n\nShown text.", "Shown text."),
        ("> [!info] Callout title\n> And text.", "Callout title And text."),
        ("Hi. This is the point. More.", "Hi. This is the point."),
        ('He said "stop." Then went.', 'He said "stop."'),
        ("See [[Note|this note]]. Next", "See this note."),
    ],
)
def test_first_sentence(body: str, sentence: str) -> None:
    assert first_sentence(body) == sentence


def test_a_long_sentence_is_cut_between_words() -> None:
    cut = first_sentence("word " * 100, limit=30)
    assert cut == "word word word word word word…"[:30] or cut.endswith("word…")
    assert len(cut) <= 30
    assert first_sentence("字" * 100, limit=10) == "字" * 9 + "…"
    assert len(first_sentence("👨‍👩‍👧" * 50, limit=10)) <= 10


@given(st.text(max_size=200), st.integers(5, 60))
def test_first_sentence_keeps_its_limit(body: str, limit: int) -> None:
    found = first_sentence(body, limit)
    assert len(found) <= limit
    assert "\n" not in found
