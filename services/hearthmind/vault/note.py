"""A note as bytes and as values: reading never fails, editing never touches a byte it was not asked to."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hearthmind.errors import InvalidInput, NoteUnreadable
from hearthmind.vault.yaml_edit import edit_keys
from hearthmind.vault.yaml_read import YamlProblem, compose, lines_before
from hearthmind.vault.yaml_write import entry, plain_value

_BOM = b"\xef\xbb\xbf"
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*(\r\n|\n|\r)")
_CLOSING = re.compile(rb"(?<=[\r\n])---[ \t]*(\r\n|\n|\r|\Z)")
_LOOKS_LIKE_PROPERTY = re.compile(rb"[\w-]+:(?:[ \t\r\n]|\Z)")
_LARGEST = 1 << 20
"""Bytes of front matter; more is text that lost its closing line."""


class _Remove:
    def __repr__(self) -> str:
        return "REMOVE"


REMOVE: Final = _Remove()
"""As a value in `edit_note`: take the key away."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note file, read.

    `properties` are JSON values with text keys: dates stay ISO text, times stay text. They are empty where
    the front matter cannot be read; `problem` says why and in which line of the file (`problem_line`).
    A note with a problem is never rewritten.

    `body` is the text after the front matter with every line break as LF, so that its line `n` (0-based) is
    line `body_line + n` of the file. `newline` is the line break that the file uses most. `front` is the
    byte span of the YAML between the `---` lines, `body_start` the byte where the body starts.
    """

    raw: bytes = field(repr=False)
    properties: dict[str, Any]
    body: str
    body_line: int
    newline: str
    bom: bool
    front: tuple[int, int] | None
    body_start: int
    problem: str | None = None
    problem_line: int | None = None


def parse_note(raw: bytes) -> Note:
    """Read a note as Obsidian does. Never raises.

    Front matter starts in the first line with `---` (a BOM may precede) and ends at the next line `---`; when
    it is not closed there is none. Bytes that are not UTF-8 are replaced in `body`, and a problem.
    """
    front, body_start = _fences(raw)
    body, problem = _decode(raw, body_start)
    properties: dict[str, Any] = {}
    if front is not None:
        properties, unreadable = _read_front(raw, front)
        problem = unreadable or problem
    elif problem is None:
        problem = _unclosed(raw)
    line, reason = problem or (None, None)
    return Note(
        raw=raw,
        properties=properties,
        body=_lf(body),
        body_line=1 + _breaks(raw[:body_start]),
        newline=_newline(raw),
        bom=raw.startswith(_BOM),
        front=front,
        body_start=body_start,
        problem=f"line {line}: {reason}" if reason else None,
        problem_line=line,
    )


def edit_note(raw: bytes, changes: Mapping[str, Any]) -> bytes:
    """The note with top-level keys set, or removed where the value is `REMOVE`; every other byte stays.

    A new key goes to the end of the front matter, which is created where there is none. Lists keep the style
    they have, new ones are written `[a, b]`. Setting what is there already, or removing what is not, changes
    nothing. Raises `NoteUnreadable` when the note cannot be edited safely, `InvalidInput` for values that
    front matter cannot hold; the outcome has been read back and says exactly what was asked.
    """
    note = _editable(raw)
    wanted = {str(key): value if value is REMOVE else plain_value(value) for key, value in changes.items()}
    effective = {key: value for key, value in wanted.items() if _changes(note.properties, key, value)}
    if not effective:
        return raw
    expected = {**note.properties, **effective}
    expected = {key: value for key, value in expected.items() if value is not REMOVE}
    try:
        edited = _edit_front(note, effective)
    except YamlProblem as problem:
        line = _front_line(note, problem.index)
        raise _refusal(f"line {line}: {problem.reason}", line) from None
    outcome = parse_note(edited)
    kept = edited[outcome.body_start :] == raw[note.body_start :]
    if outcome.problem or not kept or _json(outcome.properties) != _json(expected):
        raise _refusal(f"its front matter is written in a way that cannot be edited ({', '.join(effective)})", None)
    return edited


def replace_body(raw: bytes, body: str) -> bytes:
    """The note with another body; the front matter keeps its bytes, line breaks become the file's own.

    Raises `NoteUnreadable` for a note with a problem, `InvalidInput` for text that UTF-8 cannot hold.
    """
    note = _editable(raw)
    front = raw[: note.body_start]
    new = _in_style(body, note.newline)
    if front and body and note.front and not front.endswith((b"\n", b"\r")):
        front += note.newline.encode()
    if note.front is None and _reads_as_front(new):
        front += _empty_front(note.newline)
    return front + new


def append_body(raw: bytes, text: str) -> bytes:
    """The note with text added at its end, on a line of its own, in the file's line breaks.

    Raises `NoteUnreadable` for a note with a problem, and where the text would turn the start of the note
    into front matter.
    """
    note = _editable(raw)
    gap = "" if not raw[len(_BOM) if note.bom else 0 :] or raw.endswith((b"\n", b"\r")) else note.newline
    appended = raw + gap.encode() + _in_style(text, note.newline)
    if parse_note(appended).front != note.front:
        raise _refusal("the text would close the `---` in line 1 and turn the note into front matter", 1)
    return appended


def render_note(properties: Mapping[str, Any], body: str) -> bytes:
    """A new note: LF, keys in the order given, a line break at the end. Raises `InvalidInput`."""
    plain: dict[str, Any] = plain_value(dict(properties))
    lines = "".join(f"{entry(key, value)}\n" for key, value in plain.items())
    text = _in_style(body, "\n")
    if text and not text.endswith(b"\n"):
        text += b"\n"
    if not plain and not _reads_as_front(text):
        return text
    return f"---\n{lines}---\n".encode() + text


def _fences(raw: bytes) -> tuple[tuple[int, int] | None, int]:
    opening = _OPENING.match(raw)
    closing = _CLOSING.search(raw, opening.end()) if opening else None
    if opening is None or closing is None:
        return None, len(_BOM) if raw.startswith(_BOM) else 0
    return (opening.end(), closing.start()), closing.end()


def _decode(raw: bytes, start: int) -> tuple[str, tuple[int, str] | None]:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = raw.decode("utf-16", "replace").replace("\0", "\ufffd")
        return text, (1, "the file is UTF-16, not UTF-8")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        line = 1 + _breaks(raw[: error.start])
        return _harmless(raw[start:].decode(errors="replace")), (line, "the file is not UTF-8")
    text = raw[start:].decode()
    if (nul := raw.find(b"\0")) >= 0:
        return _harmless(text), (1 + _breaks(raw[:nul]), "the file holds NUL bytes; it is binary or damaged")
    return text, None


def _harmless(text: str) -> str:
    return text.replace("\0", "\ufffd")


def _read_front(raw: bytes, front: tuple[int, int]) -> tuple[dict[str, Any], tuple[int, str] | None]:
    start, end = front
    first = 1 + _breaks(raw[:start])
    if end - start > _LARGEST:
        return {}, (first, "the front matter is larger than 1 MiB")
    try:
        text = raw[start:end].decode()
    except UnicodeDecodeError as error:
        return {}, (first + _breaks(raw[start : start + error.start]), "the front matter is not UTF-8")
    try:
        root = compose(text)
    except YamlProblem as problem:
        reason = f"the front matter is not valid YAML: {problem.reason}"
        return {}, (first + lines_before(text, problem.index), reason)
    if root is None or root.value is None:
        return {}, None
    if not isinstance(root.value, dict):
        return {}, (first + lines_before(text, root.start), "the front matter is not a list of properties")
    return root.value, None


def _unclosed(raw: bytes) -> tuple[int, str] | None:
    """A first line `---` may be a rule; followed by a property it is front matter that lost its end."""
    opening = _OPENING.match(raw)
    if opening and _LOOKS_LIKE_PROPERTY.match(raw, opening.end()):
        return 1, "the front matter is not closed by a line ---"
    return None


def _editable(raw: bytes) -> Note:
    note = parse_note(raw)
    if note.problem:
        raise _refusal(note.problem, note.problem_line)
    return note


def _refusal(reason: str, line: int | None) -> NoteUnreadable:
    return NoteUnreadable(
        f"the note was left as it is: {reason}. Correct the front matter by hand, then try again.", line=line
    )


def _edit_front(note: Note, changes: Mapping[str, Any]) -> bytes:
    if note.front is None:
        opening = "---" + note.newline
        text = "".join(f"{entry(key, value)}{note.newline}" for key, value in changes.items())
        head = note.raw[: note.body_start]
        return head + f"{opening}{text}{opening}".encode() + note.raw[note.body_start :]
    start, end = note.front
    newline = "\r\n" if note.raw[:start].endswith(b"\r\n") else note.raw[start - 1 : start].decode()
    text = note.raw[start:end].decode()
    removed = [key for key, value in changes.items() if value is REMOVE]
    wanted = {key: value for key, value in changes.items() if value is not REMOVE}
    return note.raw[:start] + edit_keys(text, wanted, removed, newline).encode() + note.raw[end:]


def _changes(properties: Mapping[str, Any], key: str, value: Any) -> bool:
    if key not in properties:
        return value is not REMOVE
    return value is REMOVE or _json(properties[key]) != _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _front_line(note: Note, index: int) -> int:
    start, end = note.front or (0, 0)
    return 1 + _breaks(note.raw[:start]) + lines_before(note.raw[start:end].decode(), index)


def _reads_as_front(text: bytes) -> bool:
    note = parse_note(text)
    return note.front is not None or note.bom or note.problem is not None


def _empty_front(newline: str) -> bytes:
    return f"---{newline}---{newline}".encode()


def _newline(raw: bytes) -> str:
    crlf = raw.count(b"\r\n")
    counts = {"\n": raw.count(b"\n") - crlf, "\r\n": crlf, "\r": raw.count(b"\r") - crlf}
    return max(counts, key=lambda style: counts[style])


def _breaks(raw: bytes) -> int:
    return raw.count(b"\n") + raw.count(b"\r") - raw.count(b"\r\n")


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _in_style(text: str, newline: str) -> bytes:
    if "\0" in text:
        raise InvalidInput("the text holds NUL characters")
    plain = _lf(text)
    try:
        return (plain if newline == "\n" else plain.replace("\n", newline)).encode()
    except UnicodeEncodeError:
        raise InvalidInput("the text holds half a character (a lone surrogate)") from None
