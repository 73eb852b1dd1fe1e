"""Surgery on the text of a front matter: one key's own lines change, every other character stays.

Nothing here is trusted: `note.edit_note` reads the outcome again and refuses it unless it says exactly
what was asked.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hearthmind.vault.yaml_read import Node, YamlProblem, compose
from hearthmind.vault.yaml_write import entry, inline

_COLON = re.compile(r"[ \t]*:")
_BREAK = re.compile(r"[\r\n]")

Span = tuple[int, int, str]
"""Characters `start` to `end`, and what takes their place."""


def edit_keys(text: str, wanted: Mapping[str, Any], removed: Collection[str], newline: str) -> str:
    """`text` with top-level keys set to plain values, and others taken away; new keys go to the end.

    A list or mapping in block style stays in block style, and items that stay keep their text and comments.
    Reads the text once however many keys there are (front matter in flow style apart: there keys share a
    line). Raises `YamlProblem` where a key is written in a way that cannot be edited in place.
    """
    root = compose(text)
    if root is not None and root.kind != "mapping":
        raise YamlProblem("the front matter is not a list of properties", root.start)
    if root is not None and root.flow:
        return _edit_flow(text, wanted, removed)
    present = {name.key: (name, value) for name, value in root.entries} if root else {}
    spans = [_removal(text, present, key) for key in removed]
    spans += [_change(text, *present[key], value, newline) for key, value in wanted.items() if key in present]
    indent = _indent(text, root) if wanted.keys() - present.keys() and present.keys() - set(removed) else ""
    added = [f"{indent}{entry(key, value)}{newline}" for key, value in wanted.items() if key not in present]
    for start, end, replacement in sorted(spans, reverse=True):
        text = text[:start] + replacement + text[end:]
    return text + "".join(added)


def _removal(text: str, present: Mapping[str, tuple[Node, Node]], key: str) -> Span:
    """The lines of a key."""
    if key not in present:
        raise _merged_key(key)
    name, old = present[key]
    colon = _colon(text, name, block=True)
    return _line_start(text, name.start), _next_line(text, max(old.end, colon)), ""


def _change(text: str, name: Node, old: Node, value: Any, newline: str) -> Span:
    colon = _colon(text, name, block=True)
    block = _block(text, old, value, newline)
    if block is not None:
        return _line_start(text, old.start), _next_line(text, old.end), block
    return _inline(text, colon, old, value)


def _edit_flow(text: str, wanted: Mapping[str, Any], removed: Collection[str]) -> str:
    """`{a: 1, b: 2}`, key by key: where one ends depends on those beside it."""
    for key in removed:
        root = compose(text)
        found = _find(root, key)
        if root is None or found is None:
            raise _merged_key(key)
        _colon(text, found[0], block=False)
        text = _remove_flow(text, root, found[0])
    for key, value in wanted.items():
        root = compose(text)
        found = _find(root, key)
        if root is None or found is None:
            text = _add_flow(text, root, key, value)
            continue
        name, old = found
        _colon(text, name, block=False)
        written = inline(value, flow=True, quote=old.style)
        text = text[: old.start] + (written if old.end > old.start else f" {written}") + text[old.end :]
    return text


def _merged_key(key: str) -> YamlProblem:
    return YamlProblem(f"the key {key!r} comes from a merge (<<) and cannot be removed here", 0)


def _find(root: Node | None, key: str) -> tuple[Node, Node] | None:
    if root is None:
        return None
    if root.kind != "mapping":
        raise YamlProblem("the front matter is not a list of properties", root.start)
    return next(((name, value) for name, value in root.entries if name.key == key), None)


def _colon(text: str, name: Node, *, block: bool) -> int:
    """The position after the colon of a key that is written on one line."""
    found = _COLON.match(text, name.end)
    if found is None or (block and text[_line_start(text, name.start) : name.start].strip()):
        raise YamlProblem(f"the key {name.key!r} is written in a form that cannot be edited", name.start)
    return found.end()


def _indent(text: str, root: Node | None) -> str:
    """What stands before each key of a block mapping."""
    if root is None:
        return ""
    start = root.entries[0][0].start
    indent = text[_line_start(text, start) : start]
    if indent.strip():
        raise YamlProblem("the first key is written in a form that cannot be edited", start)
    return indent


def _add_flow(text: str, root: Node | None, key: str, value: Any) -> str:
    if root is None:
        raise YamlProblem("the front matter is not a list of properties", 0)
    written = entry(key, value, flow=True)
    if not root.entries:
        return text[: root.end - 1] + written + text[root.end - 1 :]
    last = root.entries[-1][1].end
    return f"{text[:last]}, {written}{text[last:]}"


def _remove_flow(text: str, root: Node, name: Node) -> str:
    place = next(index for index, (key, _) in enumerate(root.entries) if key is name)
    if place + 1 < len(root.entries):
        return text[: name.start] + text[root.entries[place + 1][0].start :]
    start = root.entries[place - 1][1].end if place else name.start
    return text[:start] + text[root.entries[place][1].end :]


def _inline(text: str, colon: int, old: Node, value: Any) -> Span:
    written = "" if value is None else inline(value, quote=old.style)
    end = old.end
    if old.end > old.start and text[old.end - 1] in "\r\n":  # a block scalar that keeps its last line breaks
        end -= 2 if text[: old.end].endswith("\r\n") else 1
    if old.start == old.end:
        return colon, colon, f" {written}" if written else ""
    head = text[colon : old.start]
    if not _BREAK.search(head):
        return (old.start, end, written) if written else (colon, end, "")
    comment = head[: _line_end(head, 0)].rstrip()
    return colon, end, (f" {written}" if written else "") + comment


def _block(text: str, old: Node, value: Any, newline: str) -> str | None:
    """The new lines of a block list or mapping; None where the value is to be written on one line."""
    indent = text[_line_start(text, old.start) : old.start]
    if old.flow or indent.strip(" ") or not value or old.anchor or old.tag:
        return None
    if old.kind == "sequence" and isinstance(value, list):
        wanted = [(_same(item), "-" if item is None else f"- {inline(item)}") for item in value]
        starts = [_dash(text, item, indent) for item in old.items]
        present = [_same(item.value) for item in old.items]
    elif old.kind == "mapping" and isinstance(value, dict):
        wanted = [(_same([key, item]), entry(key, item)) for key, item in value.items()]
        starts = [_own_line(text, key.start, indent) for key, _ in old.entries]
        present = [_same([key.key, item.value]) for key, item in old.entries]
    else:
        return None
    chunks = _chunks(text, starts, present, _next_line(text, old.end))
    return "".join(chunks[same].pop(0) if chunks[same] else f"{indent}{line}{newline}" for same, line in wanted)


def _chunks(text: str, starts: Sequence[int | None], present: Sequence[str], end: int) -> dict[str, list[str]]:
    """The lines of each present item, by value; none at all where an item does not own its lines."""
    kept: dict[str, list[str]] = defaultdict(list)
    places = [start for start in starts if start is not None]
    if len(places) == len(starts):
        for same, start, stop in zip(present, places, [*places[1:], end], strict=True):
            kept[same].append(text[start:stop])
    return kept


def _dash(text: str, item: Node, indent: str) -> int | None:
    start = _line_start(text, item.start)
    return start if re.fullmatch(re.escape(indent) + r"-[ \t]*", text[start : item.start]) else None


def _own_line(text: str, position: int, indent: str) -> int | None:
    start = _line_start(text, position)
    return start if text[start:position] == indent else None


def _same(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _line_start(text: str, position: int) -> int:
    return max(text.rfind("\n", 0, position), text.rfind("\r", 0, position)) + 1


def _line_end(text: str, position: int) -> int:
    found = _BREAK.search(text, position)
    return found.start() if found else len(text)


def _next_line(text: str, position: int) -> int:
    """The start of the line after the one in which a value that ends at `position` ends."""
    if position and text[position - 1] in "\r\n":
        return position
    end = _line_end(text, position)
    return end + (2 if text.startswith("\r\n", end) else 1 if end < len(text) else 0)
