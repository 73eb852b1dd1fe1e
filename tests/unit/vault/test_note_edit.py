"""An edit changes the lines of its key and nothing else."""

import time
from datetime import UTC, date, datetime
from enum import StrEnum
from itertools import product
from typing import Any

import pytest

from hearthmind.errors import InvalidInput, NoteUnreadable
from hearthmind.vault.note import REMOVE, append_body, edit_note, parse_note, render_note, replace_body


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("a: 1 # one\nb: 2\n", {"a": 3}, "a: 3 # one\nb: 2\n"),
        ("a:   old\t# c\n", {"a": "new"}, "a:   new\t# c\n"),
        ("a: 'it''s'\n", {"a": "he's"}, "a: 'he''s'\n"),
        ('a: "x"\n', {"a": "y"}, 'a: "y"\n'),
        ("a: x\n", {"a": "12"}, 'a: "12"\n'),
        ("a:\nb: 1\n", {"a": "x"}, "a: x\nb: 1\n"),
        ("a: # why\nb: 1\n", {"a": "x"}, "a: x # why\nb: 1\n"),
        ("a: x # why\n", {"a": None}, "a: # why\n"),
        ("a: 1\n# end\n", {"b": 2}, "a: 1\n# end\nb: 2\n"),
        ("  a: 1\n  b: 2\n", {"c": 3, "a": 4}, "  a: 4\n  b: 2\n  c: 3\n"),
        ("tags: [a,  'b'] # t\n", {"tags": ["a", "c"]}, "tags: [a, c] # t\n"),
        (
            "tags:\n  - a # one\n  - 'b'\nz: 1\n",
            {"tags": ["b", "c", "a"]},
            "tags:\n  - 'b'\n  - c\n  - a # one\nz: 1\n",
        ),
        ("tags: # t\n- a\n- b\n\n# z\nz: 1\n", {"tags": ["b"]}, "tags: # t\n- b\n\n# z\nz: 1\n"),
        ("tags:\n  - a\n", {"tags": []}, "tags: []\n"),
        ("tags: a\n", {"tags": ["a", "b"]}, "tags: [a, b]\n"),
        ("tags:\n  - a\nb: 1\n", {"tags": "x"}, "tags: x\nb: 1\n"),
        ("s:\n  c: x # k\n  u: y\n", {"s": {"u": "z", "c": "x"}}, "s:\n  u: z\n  c: x # k\n"),
        ("a: |\n  one\n  two\n\nb: 1\n", {"a": "x"}, "a: x\n\nb: 1\n"),
        ("a: |+\n  one\n\nb: 1\n", {"a": "x"}, "a: x\nb: 1\n"),
        ("a: >-\n  one\n\n  two\nb: 1\n", {"b": 2}, "a: >-\n  one\n\n  two\nb: 2\n"),
        ("a: one\n  two\nb: 1\n", {"a": "x"}, "a: x\nb: 1\n"),
        ("a:\n  one two\nb: 1\n", {"a": "x"}, "a: x\nb: 1\n"),
        ("a: 1\nb: 2\nc: 3\n", {"b": REMOVE}, "a: 1\nc: 3\n"),
        ("a: 1\ntags:\n- x\n- y # c\n# keep\nc: 3\n", {"tags": REMOVE}, "a: 1\n# keep\nc: 3\n"),
        ("a: 1\n", {"a": REMOVE}, ""),
        ("", {"a": 1}, "a: 1\n"),
        ("# c\n\n", {"a": 1}, "# c\n\na: 1\n"),
        ("{a: 1, b: [x]}\n", {"a": "p, q", "c": [1]}, '{a: "p, q", b: [x], c: [1]}\n'),
        ('{"a":1,"b":2}\n', {"a": REMOVE}, '{"b":2}\n'),
        ("{a: 1, b: 2}\n", {"b": REMOVE}, "{a: 1}\n"),
        ("{}\n", {"b": 1}, "{b: 1}\n"),
        ("2024-01-01: x\n1: y\n", {"2024-01-01": "z"}, "2024-01-01: z\n1: y\n"),
        ("b: &x 1\na: *x\n", {"a": 2}, "b: &x 1\na: 2\n"),
        ("<<: {a: 1}\nb: 2\n", {"a": 2}, "<<: {a: 1}\nb: 2\na: 2\n"),
        ("'a': 1\n\"b\" : 2\n", {"a": 3, "b": 4}, "'a': 3\n\"b\" : 4\n"),
        ("a: 1\n...\n", {"a": 2}, "a: 2\n...\n"),
        ("d: {{date}}\nx: 1\n", {"x": 2}, "d: {{date}}\nx: 2\n"),
        ("t: a\u2028b\nx: 1\n", {"x": 2}, "t: a\u2028b\nx: 2\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_only_the_asked_lines_change(before: str, changes: dict[str, Any], after: str, newline: str) -> None:
    def file(yaml: str) -> bytes:
        return f"\ufeff---\n{yaml}--- \nBody \r\n no newline".replace("\r\n", "\n").replace("\n", newline).encode()

    assert edit_note(file(before), changes) == file(after)


def test_a_key_that_has_the_value_changes_nothing() -> None:
    raw = b"---\ntags:   [ a , b ]\nn: 0x10\nd: 2024-01-01\nf: 1.50\n---\nx"
    assert edit_note(raw, {"tags": ["a", "b"], "n": 16, "d": date(2024, 1, 1), "f": 1.5, "gone": REMOVE}) is raw


def test_true_is_not_one() -> None:
    assert edit_note(b"---\na: 1\n---\n", {"a": True}) == b"---\na: true\n---\n"
    assert edit_note(b"---\na: 1\n---\n", {"a": 1.0}) == b"---\na: 1.0\n---\n"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", b"---\na: 1\n---\n"),
        (b"text", b"---\na: 1\n---\ntext"),
        (b"x\r\ny", b"---\r\na: 1\r\n---\r\nx\r\ny"),
        (b"\xef\xbb\xbfx\ry\r", b"\xef\xbb\xbf---\ra: 1\r---\rx\ry\r"),
        (b"---\n\nrule", b"---\na: 1\n---\n---\n\nrule"),
        (b"---\r\n---", b"---\r\na: 1\r\n---"),
    ],
)
def test_front_matter_is_created_in_the_files_own_style(raw: bytes, expected: bytes) -> None:
    assert edit_note(raw, {"a": 1}) == expected


@pytest.mark.parametrize(
    "yaml",
    [
        "a: 1\n\tb: 2\n",
        "a: 1\na: 2\n",
        "- a\n",
        "b: &x 1\nc: *x\na: 1\n? q\n: r\n",
        "a: 1\n...\n",
        "null\n",
        "<<: {a: 1}\n",
    ],
)
def test_what_cannot_be_edited_safely_is_refused(yaml: str) -> None:
    raw = f"---\n{yaml}---\nx".encode()
    changes: dict[str, Any] = {"b": 2, "q": 3, "a": REMOVE}
    with pytest.raises(NoteUnreadable) as refused:
        edit_note(raw, changes)
    assert "by hand" in refused.value.message


@pytest.mark.parametrize("raw", [b"---\na: [\n---\nx", b"---\na: 1\nx", b"caf\xe9", b"a\0b", b"\xff\xfea\0"])
def test_a_note_with_a_problem_is_never_rewritten(raw: bytes) -> None:
    with pytest.raises(NoteUnreadable, match=r"line \d+: "):
        edit_note(raw, {"a": 1})
    with pytest.raises(NoteUnreadable, match=r"line \d+: "):
        replace_body(raw, "y")
    with pytest.raises(NoteUnreadable, match=r"line \d+: "):
        append_body(raw, "y")


class Colour(StrEnum):
    RED = "red"


def test_foreign_values_become_plain_ones() -> None:
    at = datetime(2026, 1, 28, 9, 30, tzinfo=UTC)
    edited = edit_note(b"", {"at": at, "c": Colour.RED, "t": (1, 2), "s": {"b", "a"}, "m": {1: date(2026, 1, 2)}})
    assert edited == (b'---\nat: 2026-01-28T09:30:00+00:00\nc: red\nt: [1, 2]\ns: [a, b]\nm: {"1": 2026-01-02}\n---\n')


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 2**70, b"x", object(), "\ud800", {"k" * 2000: 1}, {"a": "\ud800"}]
)
def test_values_without_a_form_in_front_matter_are_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        edit_note(b"x", {"a": value})
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(InvalidInput, match="deep"):
        render_note({"a": loop}, "")


def test_replace_body_keeps_the_front_matter_bytes() -> None:
    assert replace_body(b"\xef\xbb\xbf---\r\na:   1 #c\r\n---\r\nold", "n\nm\n") == (
        b"\xef\xbb\xbf---\r\na:   1 #c\r\n---\r\nn\r\nm\r\n"
    )
    assert replace_body(b"---\na: 1\n---", "new") == b"---\na: 1\n---\nnew"
    assert replace_body(b"---\na: 1\n---", "") == b"---\na: 1\n---"
    assert parse_note(replace_body(b"old", "---\na: 1\n---\nx")).body == "---\na: 1\n---\nx"


def test_append_body_starts_on_a_line_of_its_own() -> None:
    assert append_body(b"", "x") == b"x"
    assert append_body(b"a\r\nb", "x\ny\n") == b"a\r\nb\r\nx\r\ny\r\n"
    assert append_body(b"a\n", "x\n") == b"a\nx\n"
    assert append_body(b"---\na: 1\n---", "x\n") == b"---\na: 1\n---\nx\n"
    assert append_body(b"\xef\xbb\xbf", "x") == b"\xef\xbb\xbfx"
    with pytest.raises(NoteUnreadable):
        append_body(b"---\nA rule above", "text\n---\n")


def test_render_note() -> None:
    raw = render_note({"id": "01J", "tags": ["a", "[[b]]"], "empty": None, "source": {"client": "x: y"}}, "Body\r\n2")
    assert raw == b'---\nid: 01J\ntags: [a, "[[b]]"]\nempty:\nsource: {client: "x: y"}\n---\nBody\n2\n'
    assert render_note({}, "text") == b"text\n"
    assert parse_note(render_note({}, "---\na: 1\n---\n")).body == "---\na: 1\n---\n"
    with pytest.raises(InvalidInput):
        render_note({}, "a\0b")


MIXED = b"""---
# the person's
title: "Old" # why
tags:
  - a # first
  - b
nested:
  x: 1
  y: [1, 2]
empty:
text: |+
  kept

last: 'q'
---
Body
"""


@pytest.mark.parametrize("style", ["block", "flow", "crlf", "indented"])
def test_many_keys_at_once_give_the_bytes_of_one_by_one(style: str) -> None:
    raw = {
        "block": MIXED,
        "flow": b"---\n{title: Old, tags: [a, b], nested: {x: 1}, empty: , text: t, last: 'q'}\n---\nBody\n",
        "crlf": MIXED.replace(b"\n", b"\r\n"),
        "indented": b"---\n  title: Old\n  tags: [a]\n  nested: {x: 1}\n  empty: ~\n  text: t\n  last: q\n---\nBody\n",
    }[style]
    options: dict[str, list[Any]] = {
        "title": ["New", REMOVE, None],
        "tags": [["b", "c"], REMOVE, "one"],
        "nested": [{"x": 2, "z": {"deep": [1]}}, REMOVE],
        "empty": ["filled", REMOVE],
        "text": ["one\ntwo\n", REMOVE],
        "last": [["now", "a list"], REMOVE],
        "fresh": [1, {"a": [None]}],
    }
    for values in product(*options.values()):
        changes = dict(zip(options, values, strict=True))
        expected = raw
        # Removals first: a new key then stands where it does when all are made at once.
        for key, value in sorted(changes.items(), key=lambda change: change[1] is not REMOVE):
            expected = edit_note(expected, {key: value})
        assert edit_note(raw, changes) == expected, changes


def test_two_hundred_keys_are_set_changed_and_removed_quickly() -> None:
    """Inside the write lock, at the largest that the contract lets through: once it took half a minute."""
    many = {f"key{number}": {f"k{part}": [part] * 8 for part in range(8)} for number in range(200)}
    raw = b"---\ntype: note\n---\nBody\n"
    started = time.perf_counter()
    full = edit_note(raw, many)
    assert edit_note(edit_note(full, dict.fromkeys(many, 1)), dict.fromkeys(many, REMOVE)) == raw
    assert time.perf_counter() - started < 3
