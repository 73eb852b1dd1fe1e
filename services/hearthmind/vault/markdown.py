"""What a Markdown body holds besides words: headings, tags, links, block ids. As Obsidian reads them."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from hearthmind.model import Link
from hearthmind.vault.link_text import links_in_properties, take_markdown_links, take_wikilinks
from hearthmind.vault.markup import Span, blank, find_spans
from hearthmind.vault.prose import first_sentence, plain_text

__all__ = [
    "BlockId", "Heading", "Scan", "Tag", "first_sentence", "links_in_properties", "plain_text", "scan",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heading:
    """`text` is as written, without the hashes; `line` is 1-based in the file."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Tag:
    """`name` is as written, without `#`; nested tags keep their slashes."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class BlockId:
    """`^id` at the end of a line."""

    id: str
    line: int


@dataclass(frozen=True, slots=True)
class Scan:
    """What stands in a body, each in order of appearance. `spans` are code, mathematics and comments, in
    characters of the body."""

    headings: tuple[Heading, ...]
    tags: tuple[Tag, ...]
    links: tuple[Link, ...]
    blocks: tuple[BlockId, ...]
    spans: tuple[Span, ...]


# Obsidian's tag characters: anything but white space and punctuation other than `_ - /`.
_NOT_TAG = (
    r"\s\x00-\x1f!-,.:-@\[-\^`{-\xa0\xa1\xa7\xab\xb6\xb7\xbb\xbf\u2000-\u206f\u2e00-\u2e7f"
    r"\u3000-\u3004\u3008-\u3020\u3030\u303d\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3d\uff5b-\uff65"
)
_TAG = re.compile(rf"(?:(?<=[\s(\[{{*_~>|（「『【])|(?<![\s\S]))#([^{_NOT_TAG}]++)")
_URL = re.compile(r"(?<=\w)://[^\s<>]*+")
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t].*+)?$", re.MULTILINE)
_UNDERLINE = re.compile(r"^ {0,3}(={2,}+|-{2,}+)[ \t]*+$", re.MULTILINE)
_NOT_PARAGRAPH = re.compile(r"\s*+(?:\Z|#{1,6}(?:\s|\Z)|>|[-*+]\s|\d{1,9}[.)]\s|\||(?:[-*_=]\s*+){3,}\Z)|\s")
_BLOCK_ID = re.compile(r"(?<!\S)\^([A-Za-z0-9-]++)[ \t]*+$", re.MULTILINE)


def scan(body: str, first_line: int = 1) -> Scan:
    """Read a body (line breaks as LF) whose first line is `first_line` of the file.

    Links and tags in code, mathematics and comments are text. Links to other schemes (`https:`, `mailto:`)
    are no links here. Time is linear in the text, whatever it holds.
    """
    spans = find_spans(body)
    masked = blank(body, spans)
    lines = _Lines(body, first_line)
    headings = tuple(_headings(body, masked, lines))
    blocks = tuple(BlockId(found[1], lines.at(found.start())) for found in _BLOCK_ID.finditer(masked))
    found: list[tuple[int, Link]] = []
    if "[" in masked:
        masked = take_wikilinks(masked, lines.at, found)
        masked = take_markdown_links(masked, lines.at, found)
    found.sort(key=lambda place: place[0])
    return Scan(
        headings=headings,
        tags=tuple(_tags(masked, lines)) if "#" in masked else (),
        links=tuple(link for _, link in found),
        blocks=blocks,
        spans=tuple(spans),
    )


class _Lines:
    def __init__(self, body: str, first_line: int) -> None:
        self._breaks = [found.start() for found in re.finditer("\n", body)]
        self._first = first_line

    def at(self, position: int) -> int:
        return self._first + bisect_right(self._breaks, position - 1)


def _headings(body: str, masked: str, lines: _Lines) -> Iterator[Heading]:
    found: list[tuple[int, int, str]] = []
    if "#" in masked:
        for match in _HEADING.finditer(masked):
            text = body[match.end(1) : match.end()]
            found.append((match.start(), len(match[1]), _without_closing_hashes(text)))
    for match in _UNDERLINE.finditer(masked):
        start = masked.rfind("\n", 0, max(match.start() - 1, 0)) + 1
        above = masked[start : max(match.start() - 1, 0)]
        if above and not _NOT_PARAGRAPH.match(above):
            level = 1 if match[1][0] == "=" else 2
            found.append((start, level, body[start : match.start() - 1].strip()))
    for position, level, text in sorted(found):
        yield Heading(level, text, lines.at(position))


def _without_closing_hashes(text: str) -> str:
    text = text.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if bare == "" or bare[-1] in " \t" else text


def _tags(masked: str, lines: _Lines) -> Iterator[Tag]:
    for found in _TAG.finditer(_URL.sub(lambda url: " " * len(url[0]), masked)):
        name = found[1].rstrip("/")
        if name.strip("-_/") and not name.isdecimal():
            yield Tag(name, lines.at(found.start()))
