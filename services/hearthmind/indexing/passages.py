"""Cut a note's body into passages: by headings, never inside a block that fits."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hearthmind.model import Passage

PASSAGE_TOKENS = 200
"""Largest size, unless one line is larger. MiniLM reads 256 tokens, title and headings included; on the til
vault 200 estimated tokens keep 99% of the passages within."""
SMALL_TOKENS = 60
"""A section smaller than this is joined with the next one."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_PIECE = re.compile(r"[^\W_]+|[^\w\s]|_")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")


def estimate_tokens(text: str) -> int:
    """Tokens of a text for a wordpiece model, estimated without a tokenizer, which costs more than the cut
    itself: a word is one token per 7 letters, a mark one, an unspaced script or Cyrillic one a letter."""
    words = 0
    for match in _PIECE.finditer(text):
        length = match.end() - match.start()
        words += 1 + length // 7 if text[match.start()] < "\u0370" else length
    return max(1, words)


@dataclass(frozen=True, slots=True)
class _Block:
    lines: Sequence[str]
    first: int
    tokens: int
    level: int = 0
    heading: str = ""


def cut_sections(body: str, first_line: int, *, budget: int = PASSAGE_TOKENS) -> list[Passage]:
    """Passages of a body whose first line is `first_line` of the file. Every line that is not blank is in
    exactly one passage."""
    passages: list[Passage] = []
    path: list[tuple[int, str]] = []
    current: list[_Block] = []
    at_start: tuple[str, ...] = ()

    def close() -> None:
        nonlocal current
        if current:
            passages.append(_passage(len(passages), current, at_start))
            current = []

    for block in _blocks(body, first_line, budget):
        size = sum(part.tokens for part in current)
        if block.level:
            if size >= SMALL_TOKENS:
                close()
            path = [*[entry for entry in path if entry[0] < block.level], (block.level, block.heading)]
        if current and size + block.tokens > budget and not _only_headings(current):
            close()
        if not current:
            at_start = tuple(heading for _, heading in path)
        current.append(block)
    close()
    return passages


def _passage(seq: int, blocks: Sequence[_Block], headings: tuple[str, ...]) -> Passage:
    last = blocks[-1]
    text = "\n\n".join("\n".join(block.lines) for block in blocks)
    return Passage(seq=seq, text=text, lines=(blocks[0].first, last.first + len(last.lines) - 1), headings=headings)


def _only_headings(blocks: Sequence[_Block]) -> bool:
    return all(block.level for block in blocks)


def _blocks(body: str, first_line: int, budget: int) -> Iterator[_Block]:
    """Headings, fenced code and runs of lines between blank ones, too large ones split at lines."""
    run: list[str] = []
    start = first_line
    fence = ""
    for number, line in enumerate(body.split("\n"), start=first_line):
        opened = _FENCE.match(line)
        if fence:
            run.append(line)
            if opened and opened.group(1).startswith(fence) and not line.strip(" \t>").strip(fence[0]):
                fence = ""
            continue
        heading = _HEADING.match(line)
        if not line.strip() or heading:
            yield from _fitting(run, start, budget)
            run = []
            if heading:
                level, title = len(heading.group(1)), heading.group(2)
                yield _Block((line,), number, estimate_tokens(line), level, title)
            continue
        if not run:
            start = number
        run.append(line)
        if opened:
            fence = opened.group(1)
    yield from _fitting(run, start, budget)


def _fitting(lines: list[str], start: int, budget: int) -> Iterator[_Block]:
    """One block, or several where it alone is larger than a passage."""
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        return
    total = estimate_tokens("\n".join(lines))
    if total <= budget:
        yield _Block(tuple(lines), start, total)
        return
    part: list[str] = []
    size = 0
    for offset, line in enumerate(lines):
        tokens = estimate_tokens(line)
        if part and size + tokens > budget:
            yield _Block(tuple(part), start + offset - len(part), size)
            part, size = [], 0
        if tokens > budget:
            yield from (_Block((piece,), start + offset, estimate_tokens(piece)) for piece in _pieces(line, budget))
            continue
        part.append(line)
        size += tokens
    if part:
        yield _Block(tuple(part), start + len(lines) - len(part), size)


def _pieces(line: str, budget: int) -> Iterator[str]:
    """A very long line in pieces, at spaces where there are any."""
    width = max(1, budget * len(line) // estimate_tokens(line))
    position = 0
    while position < len(line):
        end = min(len(line), position + width)
        if end < len(line) and (space := line.rfind(" ", position + width // 2, end)) > 0:
            end = space + 1
        yield line[position:end]
        position = end
