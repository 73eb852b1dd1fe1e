"""Front matter as YAML 1.2 core values, each knowing where it stands in the text.

PyYAML's C parser delivers events; values are built here, without recursion, so that neither nesting nor
aliases cost more than the text itself.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEPTH = 64
_EXPANSION = 100_000
"""Characters and nodes that all aliases of one text together may stand for."""
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, Any] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_CORE = "tag:yaml.org,2002:"
# YAML 1.2 knows two line breaks; libyaml takes these three for more, so it gets stand-ins of equal width.
_BREAKS = {0x85: "\U000f0085", 0x2028: "\U000f2028", 0x2029: "\U000f2029"}
_BREAKS_BACK = {ord(stand_in): chr(code) for code, stand_in in _BREAKS.items()}
_KEEPS = re.compile(r"[^|>\r\n]*[|>][0-9]?\+")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_BREAK = re.compile("[\x85\u2028\u2029]")


class YamlProblem(Exception):
    """Text that cannot be read as YAML; `index` is the character where it shows."""

    def __init__(self, reason: str, index: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.index = index


@dataclass(slots=True)
class Node:
    """A value and its place: characters `start` to `end`, anchor and tag included, comments not.

    `items` holds the children of a sequence; `entries` the keys and values of a mapping. `raw` is the text
    of a scalar without quotes. `style` is the quote or block mark of a scalar, empty for a plain one.
    """

    kind: str
    start: int
    end: int
    value: Any = None
    raw: str = ""
    style: str = ""
    flow: bool = False
    tag: str | None = None
    anchor: str | None = None
    size: int = 1
    items: list["Node"] = field(default_factory=list)
    entries: list[tuple["Node", "Node"]] = field(default_factory=list)
    pending: "Node | None" = None

    @property
    def key(self) -> str:
        """The property name this node stands for as a key: keys are text, whatever they look like."""
        return self.raw if self.kind == "scalar" else json.dumps(self.value, ensure_ascii=False)


def compose(text: str) -> Node | None:
    """The one document in `text`, None where there is only white space and comments.

    Values are JSON-able: numbers that JSON or 64 bits cannot hold, dates and unknown tags stay text. Raises
    `YamlProblem` for everything else, among it duplicate keys and aliases that stand for too much.
    """
    strange = _BREAK.search(text) is not None
    source = text.translate(_BREAKS) if strange else text
    composer = _Composer(source, strange)
    try:
        for event in yaml.parse(source, Loader=_LOADER):
            composer.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlProblem(error.problem or "syntax error", mark.index if mark else 0) from None
    except yaml.reader.ReaderError as error:
        bad = yaml.reader.Reader.NON_PRINTABLE.search(text)
        index = bad.start() if bad else min(error.position, len(text))
        raise YamlProblem("a control character stands in it", index) from None
    except yaml.YAMLError as error:
        raise YamlProblem(str(error), 0) from None
    return composer.root


class _Composer:
    def __init__(self, source: str, strange: bool) -> None:
        self.root: Node | None = None
        self._source = source
        self._strange = strange
        self._open: list[Node] = []
        self._anchors: dict[str, Node] = {}
        self._expanded = 0

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._attach(self._scalar(event))
        elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent:
            self._start(event, "sequence" if kind is yaml.SequenceStartEvent else "mapping")
        elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
            self._finish(event)
        elif kind is yaml.AliasEvent:
            self._attach(self._alias(event))
        elif kind is yaml.DocumentStartEvent and self.root is not None:
            raise YamlProblem("several YAML documents in one front matter", event.start_mark.index)

    def _scalar(self, event: Any) -> Node:
        raw: str = event.value
        if self._strange:
            raw = raw.translate(_BREAKS_BACK)
        start, end, style = event.start_mark.index, event.end_mark.index, event.style or ""
        value = resolve(raw) if event.implicit[0] else raw
        if event.tag is not None and event.tag.startswith(_CORE):
            value = _tagged(event.tag.removeprefix(_CORE), raw)
        if style in ("|", ">"):
            end = _block_scalar_end(self._source, start, end)
        return Node("scalar", start, end, value, raw, style, tag=event.tag, anchor=event.anchor, size=1 + len(raw))

    def _alias(self, event: Any) -> Node:
        target = self._anchors.get(event.anchor)
        if target is None:
            raise YamlProblem(f"the alias *{event.anchor} has no anchor before it", event.start_mark.index)
        self._expanded += target.size
        if self._expanded > _EXPANSION:
            raise YamlProblem("its aliases stand for too much text", event.start_mark.index)
        kind = "alias" if target.kind != "scalar" else "scalar"
        return Node(kind, event.start_mark.index, event.end_mark.index, target.value, target.raw, "*", size=target.size)

    def _start(self, event: Any, kind: str) -> None:
        if len(self._open) >= _DEPTH:
            raise YamlProblem(f"it is nested more than {_DEPTH} levels deep", event.start_mark.index)
        start, end = event.start_mark.index, event.end_mark.index
        self._open.append(Node(kind, start, end, flow=bool(event.flow_style), tag=event.tag, anchor=event.anchor))

    def _finish(self, event: Any) -> None:
        node = self._open.pop()
        node.size += sum(child.size for child in node.items)
        node.size += sum(key.size + value.size for key, value in node.entries)
        if node.flow:
            node.end = event.end_mark.index
        elif node.items or node.entries:
            # A block ends where its last child does: the parser's own mark is behind the comments after it.
            node.end = node.items[-1].end if node.items else node.entries[-1][1].end
        if node.kind == "sequence":
            node.value = [child.value for child in node.items]
        else:
            node.value = _mapping(node)
        self._attach(node)

    def _attach(self, node: Node) -> None:
        if node.anchor is not None:
            self._anchors[node.anchor] = node
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if parent.kind == "sequence":
            parent.items.append(node)
        elif parent.pending is None:
            parent.pending = node
        else:
            parent.entries.append((parent.pending, node))
            parent.pending = None


def _block_scalar_end(text: str, start: int, end: int) -> int:
    """Without the blank lines behind it, unless it keeps them as text (`|+`)."""
    written = text[start:end]
    if _KEEPS.match(written):
        return end
    stop = start + len(written.rstrip())
    found = _LINE_BREAK.search(text, stop)
    return found.start() if found else len(text)


def _mapping(node: Node) -> Any:
    own: dict[str, Any] = {}
    inherited: dict[str, Any] = {}
    for key, value in node.entries:
        if (merged := _merged(key, value)) is not None:
            for source in merged:
                inherited = {**source, **inherited}
            continue
        name = key.key
        if name in own:
            raise YamlProblem(f"the key {name[:80]!r} stands there twice", key.start)
        own[name] = value.value
    if node.tag == _CORE + "set":
        return list(own)
    return {**inherited, **own} if inherited else own


def _merged(key: Node, value: Node) -> list[dict[str, Any]] | None:
    if key.raw != "<<" or key.style or key.tag:
        return None
    if isinstance(value.value, dict):
        return [value.value]
    if isinstance(value.value, list) and all(isinstance(item, dict) for item in value.value):
        return list(value.value)
    return None


def resolve(raw: str) -> Any:
    """The value of a plain scalar by the core schema of YAML 1.2 (section 10.3.2)."""
    if raw in _CONSTANTS:
        return _CONSTANTS[raw]
    if raw[0] not in "-+.0123456789":
        return raw
    if _INT.fullmatch(raw):
        return _integer(raw)
    if _FLOAT.fullmatch(raw):
        number = float(raw)
        return raw if number in (float("inf"), float("-inf")) else number
    return raw


def _integer(raw: str) -> int | str:
    if len(raw) > 40:
        return raw
    number = int(raw, 0) if raw[:2] in ("0o", "0x") else int(raw)
    return number if -(2**63) <= number < 2**63 else raw


def _tagged(tag: str, raw: str) -> Any:
    value = resolve(raw)
    match tag:
        case "int" | "bool" | "null" if not isinstance(value, float):
            return value
        case "float" if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        case _:
            return raw


def lines_before(text: str, index: int) -> int:
    """How many line breaks (LF, CRLF or CR) stand before a character."""
    head = text[:index]
    return head.count("\n") + head.count("\r") - head.count("\r\n")
