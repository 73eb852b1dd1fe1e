"""Which parts of a Markdown body are not prose: code, mathematics, comments. Linear in the text."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class SpanKind(StrEnum):
    FENCE = "fence"
    INDENTED = "indented"
    CODE = "code"
    MATH = "math"
    COMMENT = "comment"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` of a body, `inner` being the part between the marks."""

    kind: SpanKind
    start: int
    end: int
    inner: tuple[int, int]


_MARKER = r"(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))"
_FENCE = re.compile(rf"((?>[ \t]*+{_MARKER})*+[ \t]*+)(`{{3,}}+(?=[^`\n]*+(?:\n|\Z))|~{{3,}}+)")
_FENCE_END = re.compile(r"[ \t>]*+(`{3,}+|~{3,}+)[ \t]*+(?=\n|\Z)")
_LIST_ITEM = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}[.)]|\[\^[^\]\n]*+\]:)[ \t]")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*+[^\s]")
_TOKEN = re.compile(r"\\[\\`$%<]|`++|%%|<!--|\$\$?")
_TICKS = re.compile(r"`++")
_BLOCK_START = re.compile(rf"\n(?=[ \t>]*+(?:\n|\Z|#{{1,6}}[ \t]|{_MARKER}|`{{3}}|~{{3}}|\|))")
_MATH_END = re.compile(r"(?<![\s\\])\$(?!\d)")

_INDENT = 100
"""Characters of white space and quote marks looked at before a `$$` that opens a block."""


def find_spans(body: str) -> list[Span]:
    """Everything in a body that is code, mathematics or a comment, in order, without overlaps.

    Fences of any length, indented and in lists and quotes; indented code; inline code with any number of
    backticks; `$…$`, `$$…$$`; `%%…%%`; HTML comments. An opening without its end is text, except a fence,
    which runs to the end of its container.
    """
    finder = _Finder(body)
    finder.run()
    return finder.spans


def blank(body: str, spans: Iterable[Span]) -> str:
    """`body` with the spans as spaces: same length, same lines."""
    pieces: list[str] = []
    last = 0
    for span in spans:
        pieces.append(body[last : span.start])
        pieces.append("\n".join(" " * len(line) for line in body[span.start : span.end].split("\n")))
        last = span.end
    pieces.append(body[last:])
    return "".join(pieces)


class _Finder:
    def __init__(self, body: str) -> None:
        self.body = body
        self.spans: list[Span] = []
        self._never: set[str] = set()
        self._in_list = False
        self._after_blank = True

    def run(self) -> None:
        body, position = self.body, 0
        while position < len(body):
            end = body.find("\n", position)
            end = len(body) if end < 0 else end
            if fence := _FENCE.match(body, position):
                position = self._fence(fence)
                self._after_blank = True
            elif self._is_indented_code(position, end):
                self.spans.append(Span(SpanKind.INDENTED, position, end, (position, end)))
                position = end + 1
            else:
                position = self._line(position, end)

    def _is_indented_code(self, position: int, end: int) -> bool:
        """Indented code follows a blank line outside of lists; keeps account of both."""
        body, after_blank = self.body, self._after_blank
        first = body[position : position + 1]
        if end == position or (first in " \t" and not body[position:end].strip()):
            self._after_blank = True
            return False
        if after_blank and not self._in_list and first in " \t" and _INDENTED.match(body, position, end):
            return True
        self._after_blank = False
        if _LIST_ITEM.match(body, position, end):
            self._in_list = True
        elif after_blank and first not in " \t":
            self._in_list = False
        return False

    def _fence(self, opening: re.Match[str]) -> int:
        """Mark a fenced block; the start of the line after it."""
        body, mark, prefix = self.body, opening[2], opening[1]
        first = body.find("\n", opening.end())
        position = len(body) if first < 0 else first + 1
        inner = position
        while position < len(body):
            found = _FENCE_END.match(body, position)
            end = body.find("\n", position)
            after = len(body) if end < 0 else end + 1
            if _leaves(body[position : min(after, position + 80)], prefix):
                break
            if found and found[1][0] == mark[0] and len(found[1]) >= len(mark):
                self.spans.append(Span(SpanKind.FENCE, opening.start(), found.end(), (inner, position)))
                return after
            position = after
        end = position - 1 if body[position - 1 : position] == "\n" else position
        self.spans.append(Span(SpanKind.FENCE, opening.start(), end, (min(inner, end), end)))
        return position

    def _line(self, position: int, end: int) -> int:
        """Mark what opens in this line; the start of the first line not looked at."""
        start, dead = position, -1
        while token := _TOKEN.search(self.body, position, end):
            mark = token[0]
            span = None if mark == "$" and dead == end else self._close(token, mark, start, end)
            if span is None:
                dead = end if mark == "$" else dead
                position = token.end()
                continue
            self.spans.append(span)
            position = span.end
            if position > end:
                end = self.body.find("\n", position)
                end = len(self.body) if end < 0 else end
        return end + 1

    def _close(self, token: re.Match[str], mark: str, line: int, end: int) -> Span | None:
        if mark[0] == "`":
            return self._inline_code(token)
        if mark == "%%":
            return self._until(token, "%%", SpanKind.COMMENT)
        if mark == "<!--":
            return self._until(token, "-->", SpanKind.COMMENT)
        if mark == "$$":
            span = self._until(token, "$$", SpanKind.MATH)
            before = token.start() - line
            own_line = before < _INDENT and not self.body[line : token.start()].strip(" \t>")
            return span if span and (own_line or span.end <= self._paragraph_end(token.start())) else None
        return self._inline_math(token, end) if mark == "$" else None

    def _until(self, token: re.Match[str], mark: str, kind: SpanKind) -> Span | None:
        if mark in self._never:
            return None
        found = self.body.find(mark, token.end())
        if found < 0:
            self._never.add(mark)
            return None
        return Span(kind, token.start(), found + len(mark), (token.end(), found))

    def _inline_code(self, token: re.Match[str]) -> Span | None:
        width = len(token[0])
        starts = self._ticks.get(width, [])
        place = bisect_right(starts, token.end() - 1)
        if place == len(starts) or starts[place] >= self._paragraph_end(token.start()):
            return None
        return Span(SpanKind.CODE, token.start(), starts[place] + width, (token.end(), starts[place]))

    def _inline_math(self, token: re.Match[str], end: int) -> Span | None:
        if self.body[token.end() : token.end() + 1].isspace():
            return None
        found = _MATH_END.search(self.body, token.end() + 1, end)
        return Span(SpanKind.MATH, token.start(), found.end(), (token.end(), found.start())) if found else None

    @cached_property
    def _ticks(self) -> dict[int, list[int]]:
        runs: dict[int, list[int]] = {}
        for run in _TICKS.finditer(self.body):
            runs.setdefault(len(run[0]), []).append(run.start())
        return runs

    @cached_property
    def _block_starts(self) -> list[int]:
        return [found.start() for found in _BLOCK_START.finditer(self.body)]

    def _paragraph_end(self, position: int) -> int:
        place = bisect_right(self._block_starts, position)
        return self._block_starts[place] if place < len(self._block_starts) else len(self.body)


def _leaves(line: str, prefix: str) -> bool:
    """A line that no longer belongs to the quote or list item in which a fence was opened."""
    if ">" in prefix:
        return not line.lstrip(" \t").startswith(">")
    indent = len(line) - len(line.lstrip(" \t"))
    return bool(prefix.strip()) and bool(line.strip()) and not line.startswith("\t") and indent < len(prefix)
