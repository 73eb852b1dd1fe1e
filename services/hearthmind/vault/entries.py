"""The Markdown of session and daily notes, both ways.

**Session notes.** A turn of one line is a paragraph, `**role** HH:MM text ^id`. A turn of several lines is a
quotation whose first line is the head, so that no line of it (heading, fence, blank line, a line that looks
like a turn) can be anything but text; its block id stands alone below, where Obsidian wants it:

    > **assistant** 09:31 first line
    > second line
    >
    > ```py

    ^e1f2a3b4

Turns of a later day stand under `## 2026-03-23`.

**Daily notes.** A capture is `### HH:MM`, its text, and perhaps a last line `Topics: #a #b`. Text that could
not be read back as it is (it has headings, ends in a topics line, …) stands as a quotation.

Text comes back exactly, but for line ends (`\\n`), NUL and lone surrogates, see `clean`. People edit these
notes: whatever is not an entry comes back as an entry without role or time, so that no text is ever lost.
"""

import re
import secrets
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from itertools import pairwise

_HOUR = r"([01]?\d|2[0-3]):([0-5]\d)"
_TURN = re.compile(rf"\*\*(?P<role>[^*\n]+)\*\* (?P<at>{_HOUR})(?: (?P<text>.*))?", re.DOTALL)
_DAY = re.compile(r"## (\d{4}-\d{2}-\d{2})[ \t]*")
_ID = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*")
_ID_AT_END = re.compile(r"(?: |^)\^([A-Za-z0-9-]+)[ \t]*\Z")
_CAPTURE = re.compile(rf"### (?P<at>{_HOUR})[ \t]*")
_SECTION = re.compile(r"#{1,3}(?:[ \t]|$)")
_TOPICS = re.compile(r"Topics:((?: #[^\s#]+)+)[ \t]*")
_NOT_IN_TAG = re.compile(r"[^\w/-]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One turn, one capture, or text in between (no `role`, no `at`). `at` is local, on `day` (None when
    nothing says which). `lines` are the first and last line in the file, 1-based, block id included."""

    text: str
    lines: tuple[int, int]
    day: date | None
    at: time | None = None
    role: str | None = None
    block: str | None = None
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn to write. `at` is local time."""

    at: datetime
    role: str
    text: str
    block: str


def clean(text: str) -> str:
    """Text as a note can hold it: line ends as `\\n`, no NUL, no lone surrogates."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return text.encode(errors="replace").decode()


def safe_role(role: str) -> str:
    """A role as a turn can show it: one line without `*`, at most 60 characters, `unknown` when empty."""
    visible = "".join(char if char.isprintable() else " " for char in clean(role).replace("*", " "))
    return " ".join(visible.split())[:60].strip() or "unknown"


def new_block_id(taken: Container[str] = ()) -> str:
    """A short block id that is not taken."""
    while True:
        block = f"e{secrets.token_hex(4)}"
        if block not in taken:
            return block


def render_turn(role: str, at: time, text: str, block: str) -> str:
    """One turn, ending in a newline."""
    text = clean(text)
    head = f"**{safe_role(role)}** {at:%H:%M}"
    if "\n" not in text:
        return f"{head}{' ' + text if text else ''} ^{block}\n"
    return f"{_quoted(f'{head} {text}' if text[0] != chr(10) else head + text)}\n\n^{block}\n"


def render_turns(turns: Iterable[Turn], day: date | None) -> str:
    """Turns to append, with a heading wherever the day changes; `day` is that of the note's last turn (or of
    the session, for the first)."""
    blocks: list[str] = []
    for turn in turns:
        if turn.at.date() != day:
            day = turn.at.date()
            blocks.append(f"## {day.isoformat()}\n")
        blocks.append(render_turn(turn.role, turn.at.time(), turn.text, turn.block))
    return "\n".join(blocks)


def append(body: str, rendered: str) -> str:
    """`body` with `rendered` after it, a blank line between, in the line ends of `body`. What was there is
    kept to the byte."""
    newline = "\r\n" if "\r\n" in body else "\n"
    bare = body.replace("\r\n", "\n")
    gap = "" if not bare.strip("\n") or bare.endswith("\n\n") else "\n" if bare.endswith("\n") else "\n\n"
    return body + (gap + rendered).replace("\n", newline)


def parse_turns(body: str, first_line: int, day: date | None) -> list[Entry]:
    """The entries of a session note in the order of the file. `first_line` is the line of the file where
    `body` begins, `day` that of the session."""
    lines = _lines(body)
    entries: list[Entry] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif heading := _day_of(line):
            day = heading
            at += 1
        elif (block := _ID.fullmatch(line)) and _lacks_id(entries):
            last = entries[-1]
            entries[-1] = replace(last, block=block.group(1), lines=(last.lines[0], first_line + at))
            at += 1
        else:
            end = _end_of_paragraph(lines, at)
            entries.append(_entry(lines[at:end], (first_line + at, first_line + end - 1), day))
            at = end
    return _joined(entries)


def render_capture(at: time, text: str, topics: Sequence[str] = (), block: str | None = None) -> str:
    """One capture, ending in a newline. Topics become tags (see `as_tag`)."""
    text = clean(text)
    tags = tuple(dict.fromkeys(tag for tag in map(as_tag, topics) if tag))
    plain = _capture(at, text, tags, block)
    read = parse_captures(plain, 1, None)
    if len(read) == 1 and (read[0].text, read[0].topics, read[0].block) == (text, tags, block):
        return plain
    return _capture(at, _quoted(text), tags, block)


def parse_captures(body: str, first_line: int, day: date | None) -> list[Entry]:
    """The captures of a daily note in the order of the file; text before them and other sections (digests)
    are entries without a time."""
    lines = _lines(body)
    starts = [at for at, line in enumerate(lines) if _SECTION.match(line)]
    bounds = [0, *(at for at in starts if at > 0), len(lines)]
    entries: list[Entry] = []
    for begin, end in pairwise(bounds):
        while end > begin and not lines[end - 1].strip():
            end -= 1
        while begin < end and not lines[begin].strip():
            begin += 1
        if begin < end:
            span = (first_line + begin, first_line + end - 1)
            entries.append(_captured(lines[begin:end], span, day))
    return entries


def as_tag(topic: str) -> str:
    """A topic as an Obsidian tag, without `#`: blanks and signs become `-`, a number alone gets a `_`."""
    tag = _NOT_IN_TAG.sub("-", clean(topic).strip().lstrip("#")).strip("-/")
    return f"{tag}_" if tag and not re.search(r"[^\d/-]", tag) else tag


def _entry(lines: list[str], span: tuple[int, int], day: date | None) -> Entry:
    quoted = lines[0].startswith(">")
    content = [_unquoted(line) for line in lines] if quoted else lines
    head = _TURN.fullmatch(content[0])
    if head is None:
        return Entry("\n".join(lines), span, day)
    text = "\n".join([head.group("text") or "", *content[1:]])
    block = None
    if not quoted:
        text, block = _split_id(text)
    return Entry(text, span, day, _time(head), head.group("role"), block)


def _split_id(text: str) -> tuple[str, str | None]:
    """The block id at the end of a paragraph; or of its first line, when a person wrote more below."""
    if found := _ID_AT_END.search(text):
        return text[: found.start()], found.group(1)
    first, newline, rest = text.partition("\n")
    if newline and (found := _ID_AT_END.search(first)):
        return first[: found.start()] + newline + rest, found.group(1)
    return text, None


def _end_of_paragraph(lines: list[str], start: int) -> int:
    """The line after the paragraph or quotation that begins at `start`."""
    quoted = lines[start].startswith(">")
    end = start + 1
    while end < len(lines) and lines[end].strip():
        line = lines[end]
        if quoted and line.startswith(">"):
            end += 1
            continue
        if _starts_turn(line) or _day_of(line) or (quoted and _ID.fullmatch(line)):
            break
        end += 1
    return end


def _starts_turn(line: str) -> bool:
    return _TURN.fullmatch(_unquoted(line)) is not None


def _lacks_id(entries: list[Entry]) -> bool:
    return bool(entries) and entries[-1].block is None and entries[-1].role is not None


def _joined(entries: list[Entry]) -> list[Entry]:
    """Neighbouring paragraphs that are no turns become one entry."""
    joined: list[Entry] = []
    for entry in entries:
        last = joined[-1] if joined else None
        if last and last.role is None and entry.role is None and last.day == entry.day:
            span = (last.lines[0], entry.lines[1])
            joined[-1] = replace(last, text=f"{last.text}\n\n{entry.text}", lines=span)
        else:
            joined.append(entry)
    return joined


def _capture(at: time, text: str, tags: tuple[str, ...], block: str | None) -> str:
    parts = [f"### {at:%H:%M}", text] if text else [f"### {at:%H:%M}"]
    if tags:
        parts.append("Topics: " + " ".join(f"#{tag}" for tag in tags))
    if block:
        parts.append(f"^{block}")
    return "\n\n".join(parts) + "\n"


def _captured(lines: list[str], span: tuple[int, int], day: date | None) -> Entry:
    head = _CAPTURE.fullmatch(lines[0])
    if head is None:
        return Entry("\n".join(lines), span, day)
    rest = lines[1:]
    block: str | None = None
    topics: tuple[str, ...] = ()
    if rest and (found := _ID.fullmatch(rest[-1])):
        block, rest = found.group(1), _without_blank_end(rest[:-1])
    if rest and (found := _TOPICS.fullmatch(rest[-1])):
        topics, rest = tuple(found.group(1).replace(" #", "\n").split()), _without_blank_end(rest[:-1])
    if rest and not rest[0].strip():
        rest = rest[1:]
    if rest and all(line.startswith(">") for line in rest):
        rest = [_unquoted(line) for line in rest]
    return Entry("\n".join(rest), span, day, _time(head), None, block, topics)


def _without_blank_end(lines: list[str]) -> list[str]:
    return lines[:-1] if lines and not lines[-1].strip() else lines


def _time(head: re.Match[str]) -> time:
    return time.fromisoformat(head.group("at").zfill(5))


def _day_of(line: str) -> date | None:
    found = _DAY.fullmatch(line)
    try:
        return date.fromisoformat(found.group(1)) if found else None
    except ValueError:
        return None


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _unquoted(line: str) -> str:
    return line[1:].removeprefix(" ") if line.startswith(">") else line


def _lines(body: str) -> list[str]:
    return [line.removesuffix("\r") for line in body.split("\n")]
