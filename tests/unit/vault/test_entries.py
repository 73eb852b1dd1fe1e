from datetime import date, datetime, time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hearthmind.vault.entries import (
    Turn,
    append,
    as_tag,
    clean,
    new_block_id,
    parse_captures,
    parse_turns,
    render_capture,
    render_turn,
    render_turns,
    safe_role,
)

DAY = date(2026, 3, 22)
PIECES = [
    "word",
    " ",
    "\n",
    "\n\n",
    "```",
    "~~~",
    "# H",
    "### 10:00",
    "## 2026-03-23",
    "> quote",
    ">",
    "**user** 09:30 hi ^abc",
    "^abc",
    " ^x",
    "Topics: #a",
    "- item",
    "\t",
    "\r\n",
    "\r",
    "%%",
    "\u2028",
    "\x0b",
    "\x00",
    "é",
]
TEXT = st.text(st.characters(), max_size=60) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
TIME = st.times().map(lambda at: at.replace(second=0, microsecond=0))


def test_a_short_turn_is_one_readable_line() -> None:
    assert render_turn("user", time(9, 30), "Where is the key?", "e1") == "**user** 09:30 Where is the key? ^e1\n"


def test_a_long_turn_is_a_quotation_with_its_id_below() -> None:
    rendered = render_turn("assistant", time(9, 31), "Run this:\n\n```py\n# x\n```", "e2")
    assert rendered == "> **assistant** 09:31 Run this:\n>\n> ```py\n> # x\n> ```\n\n^e2\n"


@settings(max_examples=300)
@given(st.lists(st.tuples(TIME, TEXT, st.text(max_size=20)), max_size=5), st.booleans())
@example([(time(1, 2), "\n", "a"), (time(1, 2), "", ""), (time(1, 2), " ", "*")], True)
def test_turns_come_back_exactly(said: list[tuple[time, str, str]], crlf: bool) -> None:
    turns = [Turn(datetime.combine(DAY, at), role, text, f"e{number}") for number, (at, text, role) in enumerate(said)]
    body = render_turns(turns, DAY)
    if crlf:
        body = body.replace("\n", "\r\n")
    entries = parse_turns(body, 10, DAY)
    assert [(e.text, e.role, e.at, e.block, e.day) for e in entries] == [
        (clean(turn.text), safe_role(turn.role), turn.at.time(), turn.block, DAY) for turn in turns
    ]
    lines = body.split("\n")
    for entry in entries:
        assert f"^{entry.block}" in lines[entry.lines[1] - 10]
        assert f"**{entry.role}**" in lines[entry.lines[0] - 10]


def test_later_days_stand_under_a_heading_of_their_own() -> None:
    first = render_turns([Turn(datetime(2026, 3, 22, 23, 59), "user", "a", "e1")], DAY)  # noqa: DTZ001
    second = render_turns(
        [
            Turn(datetime(2026, 3, 23, 0, 1), "user", "b", "e2"),  # noqa: DTZ001
            Turn(datetime(2026, 3, 23, 0, 2), "user", "c", "e3"),  # noqa: DTZ001
        ],
        DAY,
    )
    body = append("# Title\n", append(first, second))
    assert body.count("## 2026-03-23\n") == 1
    entries = parse_turns(body, 1, DAY)
    assert [(e.text, e.day) for e in entries] == [
        ("# Title", DAY),
        ("a", DAY),
        ("b", date(2026, 3, 23)),
        ("c", date(2026, 3, 23)),
    ]


@pytest.mark.parametrize("body", ["", "x", "x\n", "x\n\n", "x\r\ny\r\n", "x\r\n\r\n", "\n"])
def test_appending_keeps_every_byte_of_before(body: str) -> None:
    longer = append(body, "**u** 09:30 a ^e1\n")
    assert longer.startswith(body)
    assert longer.count("\r\n") in (0, longer.count("\n"))
    assert parse_turns(longer, 1, DAY)[-1].text == "a"


def test_a_note_edited_by_hand_is_still_read() -> None:
    body = (
        "Some words before.\n\n"
        "**user** 9:05 no id here\n\n"
        "**assistant** 09:06 wrapped ^e2\nby a person\n"
        "**user** 09:07 no blank line above ^e3\n\n"
        "A remark of mine.\n\nAnd another.\n\n"
        "> only cited\n\n"
        "**user** 25:00 not a time\n\n"
        "> **assistant** 09:08 first\n> second\nlazy\n^e5\n"
    )
    entries = parse_turns(body, 1, DAY)
    assert [(e.role, e.text, e.block) for e in entries] == [
        (None, "Some words before.", None),
        ("user", "no id here", None),
        ("assistant", "wrapped\nby a person", "e2"),
        ("user", "no blank line above", "e3"),
        (None, "A remark of mine.\n\nAnd another.\n\n> only cited\n\n**user** 25:00 not a time", None),
        ("assistant", "first\nsecond\nlazy", "e5"),
    ]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=25).map("".join))
def test_no_line_of_a_note_is_lost(body: str) -> None:
    lines = body.split("\n")
    for entries, skipped in (
        (parse_turns(body, 1, DAY), lambda line: line.rstrip().startswith("## 2026-03-23")),
        (parse_captures(body, 1, DAY), lambda _line: False),
    ):
        covered = [number for e in entries for number in range(e.lines[0], e.lines[1] + 1)]
        assert len(covered) == len(set(covered))
        assert covered == sorted(covered)
        for number, line in enumerate(lines, 1):
            if line.strip() and not skipped(line):
                assert number in covered
                said = next(e for e in entries if e.lines[0] <= number <= e.lines[1])
                words = [word for word in line.removesuffix("\r").split() if word.isalpha()]
                assert all(word in said.text for word in words)


def test_a_capture_is_plain_markdown() -> None:
    assert render_capture(time(9, 30), "Bought *milk*.\n\nTwo litres.", ["home life", "#shop"]) == (
        "### 09:30\n\nBought *milk*.\n\nTwo litres.\n\nTopics: #home-life #shop\n"
    )


@settings(max_examples=300)
@given(st.lists(st.tuples(TIME, TEXT, st.lists(st.text(max_size=8), max_size=3)), max_size=4))
@example([(time(1, 2), "```", []), (time(1, 3), "```\n### 10:00\n```", ["2026"])])
def test_captures_come_back_exactly(captured: list[tuple[time, str, list[str]]]) -> None:
    body = ""
    for at, text, topics in captured:
        body = append(body, render_capture(at, text, topics))
    read = [(e.at, e.text, e.topics) for e in parse_captures(body, 1, DAY)]
    assert read == [
        (at, clean(text), tuple(dict.fromkeys(tag for tag in map(as_tag, topics) if tag)))
        for at, text, topics in captured
    ]


def test_digests_and_words_of_the_person_stand_beside_captures() -> None:
    body = "Slept well.\n\n### 8:15\ntea ^x\n#### detail\n\n## Session: Trip\n\nWe planned.\n\n### 10:00\n"
    read = parse_captures(body, 5, DAY)
    assert [(e.at, e.text) for e in read] == [
        (None, "Slept well."),
        (time(8, 15), "tea ^x\n#### detail"),
        (None, "## Session: Trip\n\nWe planned."),
        (time(10, 0), ""),
    ]
    assert read[2].lines == (11, 13)


def test_topics_are_tags_that_obsidian_takes() -> None:
    assert [as_tag(t) for t in ["Home Life", "#a/b", "2026", " ", "c++", "日本"]] == [
        "Home-Life",
        "a/b",
        "2026_",
        "",
        "c",
        "日本",
    ]


def test_block_ids_are_new() -> None:
    ids: set[str] = set()
    for _ in range(200):
        ids.add(new_block_id(ids))
    assert len(ids) == 200
