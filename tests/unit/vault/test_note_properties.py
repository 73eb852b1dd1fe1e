"""For any note: setting one key changes that key's bytes only and reads back as it was given."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hearthmind.errors import NoteUnreadable
from hearthmind.vault.note import REMOVE, append_body, edit_note, parse_note, render_note, replace_body

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "yes",
        "no",
        "~",
        "null",
        "12",
        "1.5",
        "12:30",
        "2024-01-01",
        "a: b",
        "a #b",
        "- x",
        "[[Note]]",
        "#tag",
        "*a",
        "&b",
        "!c",
        "%d",
        "@e",
        "`f`",
        "'",
        '"',
        "it's",
        "a\nb",
        "😀👨‍👩‍👧",
        " lead",
        "trail ",
        "{{date}}",
        "0x1",
        "1_0",
        "=",
        "<<",
        "?",
        "? a",
        "---",
        "...",
        "-",
        "|",
        ">",
        "x:",
        "\t",
        "\x85",
        "\u2028",
        "\ufeff",
        "0o7",
        ".5",
        "1e3",
        "a, b",
        "key:v",
    ]
)
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)
KEY = st.from_regex(r"[a-z][a-z_]{0,6}", fullmatch=True) | st.sampled_from(["2024-01-01", "7", "ключ", "two words"])
NEWLINE = st.sampled_from(["\n", "\r\n", "\r"])
BODY = st.sampled_from(["", "Body", "Body\n", "\n\ntext\n---\nmore\n", "# H\n\n- [[x]]\n"])


@st.composite
def yaml_entries(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Top-level keys with the lines that are theirs, in many styles of writing."""
    entries = []
    for key in draw(st.lists(KEY, min_size=1, max_size=5, unique=True)):
        value = draw(VALUE)
        style = draw(st.sampled_from(["json", "block", "flow", "literal", "plain", "empty"]))
        comment = draw(st.sampled_from(["", "", " # note", "   "]))
        match style:
            case "json":
                lines = f"{key}:  {json.dumps(value)}{comment}\n"
            case "block" if not re.search("[\x85\u2028\u2029\ufeff]", str(value)):
                lines = yaml.safe_dump({key: value}, allow_unicode=True, indent=draw(st.sampled_from([2, 4])))
            case "flow" if isinstance(value, list | dict):
                lines = f"{key}: {json.dumps(value, ensure_ascii=True)}{comment}\n"
            case "literal":
                mark = draw(st.sampled_from(["|", "|-", "|+", ">", ">+"]))
                lines = f"{key}: {mark}\n  one: x\n\n  - two # no comment\n" + draw(st.sampled_from(["", "\n", "\n\n"]))
            case "plain":
                lines = f"{key} : some words\n   and more{comment}\n"
            case _:
                lines = f"{key}:{comment}\n"
        entries.append((key, lines))
    return entries


@st.composite
def notes(draw: st.DrawFn) -> tuple[list[tuple[str, str]], list[str], str, str, str]:
    entries = draw(yaml_entries())
    gaps = [draw(st.sampled_from(["", "", "# comment\n", "\n# comment: x\n"])) for _ in entries]
    return entries, gaps, draw(st.sampled_from(["", "\ufeff"])), draw(BODY), draw(NEWLINE)


def file(parts: list[str], bom: str, body: str, newline: str, end: str = "---\n") -> bytes:
    return (bom + ("---\n" + "".join(parts) + end + body).replace("\n", newline)).encode()


def strict(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(notes(), VALUE, st.data())
def test_setting_one_key_changes_only_its_own_bytes(note: Any, value: Any, data: st.DataObject) -> None:
    entries, gaps, bom, body, newline = note
    parts = [text for gap, (_, lines) in zip(gaps, entries, strict=True) for text in (gap, lines)]
    raw = file(parts, bom, body, newline)
    before = parse_note(raw)
    assume(before.problem is None)
    place = data.draw(st.integers(0, len(entries) - 1))
    key = entries[place][0]
    edited = edit_note(raw, {key: value})
    after = parse_note(edited)
    assert strict(after.properties) == strict({**before.properties, key: value})
    assert after.body == before.body
    # The key's own lines taken out of both, nothing differs: the head and the tail of the file are the same.
    head = file(parts[: 2 * place + 1], bom, "", newline, end="")
    tail = "".join(parts[2 * place + 2 :]).replace("\n", newline).encode() + raw[before.front[1] :]  # type: ignore[index]
    assert edited.startswith(head)
    assert edited.endswith(tail)
    own = edited[len(head) : len(edited) - len(tail)].decode()
    assert own.replace("'", "").replace(" ", "").startswith(key.replace(" ", "") + ":")
    try:
        removed = edit_note(raw, {key: REMOVE})
    except NoteUnreadable:
        # Blank lines after the key would become part of a block scalar before it that keeps them (`|+`).
        assert place > 0
        assert re.search(r"[|>][0-9]?\+", entries[place - 1][1])
        return
    assert removed.startswith(head)
    assert removed.endswith(tail)
    assert not removed[len(head) : len(removed) - len(tail)].strip()
    assert edit_note(edited, {key: value}) == edited


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(notes(), TEXT, VALUE)
def test_a_new_key_stands_at_the_end(note: Any, key: str, value: Any) -> None:
    entries, gaps, bom, body, newline = note
    raw = file([gap + lines for gap, (_, lines) in zip(gaps, entries, strict=True)], bom, body, newline)
    before = parse_note(raw)
    assume(before.problem is None and key not in before.properties)
    edited = edit_note(raw, {key: value})
    assert before.front is not None
    end = before.front[1]
    assert edited.startswith(raw[:end])
    assert edited.endswith(raw[end:])
    assert strict(parse_note(edited).properties) == strict({**before.properties, key: value})


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(TEXT, VALUE, max_size=5),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
)
def test_what_is_rendered_reads_back(properties: dict[str, Any], body: str) -> None:
    note = parse_note(render_note(properties, body))
    assert note.problem is None
    assert strict(note.properties) == strict(properties)
    assert note.body.rstrip("\n") == body.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(TEXT, VALUE, max_size=4))
def test_older_yaml_readers_see_the_same_text(properties: dict[str, Any]) -> None:
    """Strings that YAML 1.1 takes for something else are quoted; dates are the exception."""
    raw = render_note(properties, "")
    loaded = yaml.load(raw.decode().removeprefix("---\n").removesuffix("---\n"), Loader=yaml.CSafeLoader) or {}
    for key, value in properties.items():
        if isinstance(value, str) and value != "2024-01-01" and key in loaded:
            assert loaded[key] == value


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab:-[]{}#&*!|>'\"? \n\t<.1", max_size=50), st.sampled_from(["a", "b", "new"]), SCALAR)
def test_odd_front_matter_is_edited_right_or_refused(yaml_text: str, key: str, value: Any) -> None:
    raw = f"---\n{yaml_text}\n---\nBody".encode()
    before = parse_note(raw)
    assume(before.front is not None)
    try:
        edited = edit_note(raw, {key: value})
    except NoteUnreadable:
        return
    after = parse_note(edited)
    assert after.problem is None
    assert strict(after.properties) == strict({**before.properties, key: value})
    assert edited[after.body_start :] == raw[before.body_start :]


@settings(deadline=None)
@given(st.binary(max_size=60), st.text(alphabet="a-\n\r ", max_size=20))
def test_bodies_are_replaced_and_appended_without_touching_the_front(raw: bytes, text: str) -> None:
    try:
        replaced, appended = replace_body(raw, text), append_body(raw, text)
    except NoteUnreadable:
        return
    before = parse_note(raw)
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    assert parse_note(replaced).body == plain
    assert parse_note(replaced).properties == before.properties
    assert appended.startswith(raw)
    assert parse_note(appended).body.endswith(plain)


@pytest.mark.parametrize("key", ["a" * 900, "ключ", "🎉", "a: b", "#x", "[[y]]", "", " ", "null", "12"])
def test_any_key_can_be_set(key: str) -> None:
    assert parse_note(edit_note(b"---\nx: 1\n---\n", {key: "v"})).properties == {"x": 1, key: "v"}
