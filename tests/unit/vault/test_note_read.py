"""Reading a note never fails and says what Obsidian would say."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthmind.vault.note import parse_note


def front(yaml: str, body: str = "Body\n") -> bytes:
    return f"---\n{yaml}---\n{body}".encode()


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"), ("on", "on"), ("No", "No"), ("12:30", "12:30"), ("1_000", "1_000"),
        ("2024-01-01", "2024-01-01"), ("2024-01-01T10:00:00+02:00", "2024-01-01T10:00:00+02:00"),
        ("", None), ("~", None), ("null", None), ("true", True), ("False", False), ("12", 12), ("-3", -3),
        ("007", 7), ("0o17", 15), ("0x1F", 31), ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5),
        (".inf", ".inf"), (".nan", ".nan"), ("1e999", "1e999"), ("9" * 30, "9" * 30), ("9" * 5000, "9" * 5000),
        ('"12"', "12"), ("'true'", "true"), ("[a, 1, yes]", ["a", 1, "yes"]), ("{a: {b: 1}}", {"a": {"b": 1}}),
        ("!!set {a, b}", ["a", "b"]), ("!!str 12", "12"), ("!!int '3'", 3), ("!!float 3", 3.0),
        ("!custom 5", "5"), ("!!binary aGk=", "aGk="), ("!!timestamp 2024-01-01", "2024-01-01"),
        ("|\n  two\n  lines", "two\nlines\n"), (">-\n  two\n  lines", "two lines"), ("emoji 😀", "emoji 😀"),
        ('"\\u00e9"', "é"), ("[[Name]]", [["Name"]]), ('"[[Name]]"', "[[Name]]"),
        ("line\u2028separator", "line\u2028separator"), ("a\x85b", "a\x85b"),
    ],
)  # fmt: skip
def test_values_follow_yaml_1_2(written: str, value: object) -> None:
    note = parse_note(front(f"key: {written}\n"))
    assert note.problem is None
    assert note.properties == {"key": value}
    assert type(note.properties["key"]) is type(value)


def test_keys_are_text() -> None:
    note = parse_note(front("2024-01-01: a\n1: b\nnull: c\nyes: d\n1.0: e\n{{date}}: f\n"))
    assert list(note.properties) == ["2024-01-01", "1", "null", "yes", "1.0", '{"{\\"date\\": null}": null}']


def test_template_placeholders_in_values_are_harmless() -> None:
    note = parse_note(front("date: {{date}}\ntags: [a]\n"))
    assert note.problem is None
    assert note.properties["tags"] == ["a"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_every_line_break_and_bom(newline: str, bom: str) -> None:
    raw = (bom + newline.join(["--- ", "a: 1", "b: |", "  x", "  y", "---\t", "one", "two"])).encode()
    note = parse_note(raw)
    assert note.properties == {"a": 1, "b": "x\ny\n"}
    assert (note.body, note.body_line, note.newline, note.bom) == ("one\ntwo", 7, newline, bool(bom))


@pytest.mark.parametrize(
    ("raw", "body", "line"),
    [
        (b"", "", 1), (b"\xef\xbb\xbf", "", 1), (b"text", "text", 1), (b"---\n---\n", "", 3), (b"---\n---", "", 2),
        (b"---\n# only a comment\n---\nx", "x", 4), (b"---\n\n\n---\nx", "x", 5), (b"---\na:\n---", "", 3),
        (b"---\nnot closed", "---\nnot closed", 1), (b"---", "---", 1), (b"----\na: 1\n---\n", "----\na: 1\n---\n", 1),
        (b"\n---\na: 1\n---\n", "\n---\na: 1\n---\n", 1), (b"---\na: |\n  ---\n---\nx", "x", 5),
    ],
)  # fmt: skip
def test_edges_of_front_matter(raw: bytes, body: str, line: int) -> None:
    note = parse_note(raw)
    assert note.problem is None
    assert (note.body, note.body_line) == (body, line)


@pytest.mark.parametrize(
    ("yaml", "line", "reason"),
    [
        ("a: 1\n\tb: 2\n", 3, "tab"), ("a: 1\nb: 2\na: 3\n", 4, "twice"), ("x:\n  a: 1\n  a: 2\n", 4, "twice"),
        ("- a\n- b\n", 2, "not a list of properties"), ("just text\n", 2, "not a list of properties"),
        ("a: [b\n", 3, "not valid YAML"), ("a: b: c\n", 2, "not valid YAML"), ("a: *nothing\n", 2, "no anchor"),
        ("a: &x [*x]\n", 2, "no anchor"), ("a: 1\nb: \x07\n", 3, "control character"),
        ("a: 1\n--- b\n", 3, "several YAML documents"), ("{{date}}: {{x}} y\n", 2, "not valid YAML"),
        ("a: 1\n...\nb: 2\n", 4, "document start"),
    ],
)  # fmt: skip
def test_problems_name_line_and_reason_and_keep_the_body(yaml: str, line: int, reason: str) -> None:
    note = parse_note(front(yaml))
    assert note.problem is not None
    assert reason in note.problem
    assert note.problem.startswith(f"line {line}: ")
    assert (note.problem_line, note.properties, note.body) == (line, {}, "Body\n")


def test_front_matter_that_lost_its_end_is_a_problem_a_rule_is_none() -> None:
    assert "not closed" in str(parse_note(b"---\ntitle: x\n\ntext").problem)
    assert parse_note(b"---\n\nAfter a rule\n").problem is None


def test_bytes_that_are_not_utf8_stay_searchable() -> None:
    note = parse_note("---\ntitle: x\n---\ncaf\xe9 here\n".encode("latin-1"))
    assert note.problem == "line 4: the file is not UTF-8"
    assert note.body == "caf\ufffd here\n"
    assert note.properties == {"title": "x"}
    assert parse_note("héllo".encode("utf-16")).body == "héllo"
    assert "UTF-16" in str(parse_note("x".encode("utf-16")).problem)
    assert "NUL" in str(parse_note(b"a\nb\0c").problem)
    assert "\0" not in parse_note(b"a\nb\0c").body


def bomb() -> str:
    levels = (f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 40))
    return "a0: &a0 [x, x, x]\n" + "".join(levels)


@pytest.mark.parametrize(
    "yaml",
    [
        bomb(), "a: " + "[" * 300_000 + "\n", "a: " + "{a: " * 200_000 + "\n", "- " * 300_000 + "\n",
        "a: " + "[" * 500 + "]" * 500 + "\n", "? " * 100_000 + "\n",
        "".join(f"{' ' * depth}a:\n" for depth in range(900)), "a: 1\n" + "#" * 2_000_000 + "\n",
    ],
    ids=["anchors", "flow", "maps", "dashes", "closed", "complex", "indented", "large"],
)  # fmt: skip
def test_bombs_cost_neither_time_nor_memory(yaml: str) -> None:
    started = time.perf_counter()
    note = parse_note(front(yaml))
    assert time.perf_counter() - started < 2
    assert note.problem is not None
    assert note.body == "Body\n"


def test_aliases_and_merges_read_as_values() -> None:
    note = parse_note(front("base: &b {a: 1, b: 2}\nc: *b\nd:\n  <<: *b\n  b: 3\n"))
    assert note.properties == {"base": {"a": 1, "b": 2}, "c": {"a": 1, "b": 2}, "d": {"a": 1, "b": 3}}


@given(st.binary(max_size=200) | st.binary(max_size=100).map(lambda data: b"---\n" + data + b"\n---\nx"))
def test_reading_never_raises(raw: bytes) -> None:
    note = parse_note(raw)
    json.dumps(note.properties, allow_nan=False)
    assert raw[note.body_start :] == raw[len(raw) - len(raw[note.body_start :]) :]
    assert note.body_line >= 1


@given(st.text(alphabet="ab:-[]{}#&*!|>'\"%@`~?, \n\t<=1.\u2028\x85", max_size=60))
def test_reading_odd_yaml_never_raises(text: str) -> None:
    json.dumps(parse_note(front(text)).properties, allow_nan=False)


def test_two_thousand_notes_read_in_well_under_a_second() -> None:
    raw = front("id: 01JQ2M\ndate: 2026-01-28\ntype: decision\nsummary: One line\ntags: [testing, ci]\nn: 8\n")
    started = time.perf_counter()
    for _ in range(2000):
        parse_note(raw)
    assert time.perf_counter() - started < 2
