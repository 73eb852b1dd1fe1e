"""Links as they are written: wikilinks, relative Markdown links, and links in front matter."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from hearthmind.model import Link, RelationType

LineAt = Callable[[int], int]
"""The line of a character."""

_WIKILINK = re.compile(r"(!?)\[\[(?!\[)((?:[^\[\]\n]|\](?!\])|\[(?!\[))*+)\]\]")
_BRACKETS = re.compile(r"\\.|\[++|\]++|\n[ \t]*+\n")
_DESTINATION = re.compile(
    r"""\([ \t]*+(?:<([^<>\n]*+)>|((?>[^\s()\\<]++|\\.|\((?>[^\s()\\]++|\\.)*+\))*+))"""
    r"""(?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'|\([^()\n]*+\)))?+[ \t]*+\)"""
)
_EXTERNAL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_RELATIONS = {relation.value: relation for relation in RelationType}
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def links_in_properties(properties: Mapping[str, Any]) -> list[Link]:
    """Wikilinks in front matter values, at any depth; typed where the key is a relation. Their line is 1."""
    return [
        link
        for key, value in properties.items()
        for text in _strings(value)
        for link in _property_links(text, _RELATIONS.get(key))
    ]


def _property_links(text: str, relation: RelationType | None) -> Iterator[Link]:
    for found in _WIKILINK.finditer(text):
        link = _wikilink(found, 1, relation)
        if link is not None:
            yield link


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if "[[" in value:
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        if (bare := _unquoted_link(value)) is not None:
            yield bare
        for item in value:
            yield from _strings(item)


def _unquoted_link(value: list[Any] | tuple[Any, ...]) -> str | None:
    """`key: [[Name]]` without quotes is a list in a list to YAML, and a link to the person."""
    match value:
        case [[str() as name]] if "[[" not in name:
            return f"[[{name}]]"
        case _:
            return None


def take_wikilinks(masked: str, line_at: LineAt, links: list[tuple[int, Link]]) -> str:
    """Collect the wikilinks of a masked text; the text with them as spaces."""

    def take(found: re.Match[str]) -> str:
        if _is_escaped(masked, found.start() + len(found[1])):
            return found[0]
        link = _wikilink(found, line_at(found.start()), None)
        if link is not None:
            links.append((found.start(), link))
        return " " * len(found[0])

    return _WIKILINK.sub(take, masked) if "[[" in masked else masked


def _is_escaped(text: str, position: int) -> bool:
    slashes = 0
    while position > slashes and text[position - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2 == 1


def _wikilink(found: re.Match[str], line: int, relation: RelationType | None) -> Link | None:
    written = found[2].split("|", 1)[0].rstrip("\\")
    target, heading, block = _split_target(written)
    if not (target or heading or block) or "://" in target:
        return None
    return Link(
        target,
        line,
        relation=relation or RelationType.RELATES_TO,
        heading=heading,
        block=block,
        embed=found[1] == "!",
        typed=relation is not None,
    )


def _split_target(written: str) -> tuple[str, str | None, str | None]:
    target, _, rest = written.partition("#")
    rest = rest.strip()
    block = None
    if rest.rpartition("#")[2].startswith("^"):
        rest, _, block = rest.rpartition("^")
        rest = rest.rstrip("#")
    return target.strip(), rest.strip() or None, (block or "").strip() or None


def take_markdown_links(masked: str, line_at: LineAt, links: list[tuple[int, Link]]) -> str:
    """Collect `[text](path)`; the text with the destinations of all such links as spaces."""
    if "](" not in masked:
        return masked
    pieces: list[str] = []
    last = 0
    for start, destination in _inline_links(masked):
        link = _markdown_link(destination, line_at(start), masked[start - 1 : start] == "!")
        if link is not None:
            links.append((start, link))
        if destination.start() >= last:
            pieces += [masked[last : destination.start()], " " * len(destination[0])]
            last = destination.end()
    return "".join([*pieces, masked[last:]])


def _inline_links(masked: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The opening bracket and destination of each inline link: brackets pair up within a paragraph."""
    open_runs: list[list[int]] = []
    for found in _BRACKETS.finditer(masked):
        token = found[0]
        if token[0] == "[":
            open_runs.append([found.start(), len(token)])
        elif token[0] == "]":
            start = _pop(open_runs, len(token))
            if start is not None and (destination := _DESTINATION.match(masked, found.end())):
                yield start, destination
        elif token[0] == "\n":
            open_runs.clear()


def _pop(open_runs: list[list[int]], count: int) -> int | None:
    """Close `count` brackets; where the last of them was opened."""
    start = None
    while count and open_runs:
        run = open_runs[-1]
        taken = min(count, run[1])
        run[1] -= taken
        count -= taken
        start = run[0] + run[1]
        if not run[1]:
            open_runs.pop()
    return start if not count else None


def _markdown_link(destination: re.Match[str], line: int, embed: bool) -> Link | None:
    written = destination[1] if destination[1] is not None else destination[2]
    if not written or _EXTERNAL.match(written):
        return None
    path, mark, rest = _ESCAPED.sub(r"\1", written).partition("#")
    target, heading, block = _split_target(f"#{unquote(rest)}" if mark else "")
    target = unquote(path)
    if not (target or heading or block) or _EXTERNAL.match(target) or "\0" in target:
        return None
    return Link(target, line, heading=heading, block=block, embed=embed, markdown=True)
