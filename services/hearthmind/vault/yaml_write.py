"""Values as YAML on one line, written so that every reader, YAML 1.1 or 1.2, gets the same value back."""

import math
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from enum import Enum
from typing import Any

from hearthmind.errors import InvalidInput
from hearthmind.vault.yaml_read import resolve

_DEPTH = 32
_KEY_LENGTH = 1000
"""YAML allows 1024 characters for a key on one line."""
_NO_PLAIN_START = frozenset("-?:,[]{}#&*!|>'\"%@`=<.~")
_NO_PLAIN = re.compile(r": |:$| #|\t")
_NO_PLAIN_FLOW = re.compile(r"[,\[\]{}:?]")
# What YAML 1.1 readers take for something else than text (yaml.org/type); dates are left plain on purpose.
_OLD_YAML = re.compile(
    r"(?:y|n|yes|no|on|off)|[-+]?[0-9][0-9_,]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[-+]?0[bxo][0-9a-f_]+",
    re.IGNORECASE,
)
_ESCAPE = re.compile('[\x00-\x1f\x7f-\x9f"\\\\\u2028\u2029\ufeff\ufffe\uffff]')
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\", "\0": "\\0"}


def plain_value(value: Any, depth: int = 0) -> Any:
    """A value as the JSON value that front matter can hold; dates become ISO text, keys text.

    Raises `InvalidInput` for what has no such form: NaN, numbers over 64 bits, bytes, half characters
    (lone surrogates), nesting over 32 levels, foreign objects.
    """
    if depth > _DEPTH:
        raise InvalidInput(f"a property is nested more than {_DEPTH} levels deep")
    match value:
        case Enum():
            return plain_value(value.value, depth)
        case None | bool():
            return value
        case str():
            return _text(value)
        case int() if -(2**63) <= value < 2**63:
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            return {_key(key): plain_value(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [plain_value(item, depth + 1) for item in value]
        case set() | frozenset():
            return [plain_value(item, depth + 1) for item in sorted(value, key=str)]
        case _:
            raise InvalidInput(f"a property cannot hold {value!r:.100}; give text, numbers, lists or mappings")


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput("a property holds half a character (a lone surrogate)") from None
    return str(value)


def _key(key: Any) -> str:
    plain = plain_value(key)
    name = plain if isinstance(plain, str) else inline(plain)
    if len(_double(name)) > _KEY_LENGTH:
        raise InvalidInput(f"the property name {name[:40]!r}… is too long")
    return name


def inline(value: Any, *, flow: bool = False, quote: str = "") -> str:
    """A plain value on one line, collections in flow style.

    `flow` says that it will stand inside `[]` or `{}`. `quote` is the quote that the present text uses,
    kept where it can carry the new text.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _scalar(value, flow=flow, quote=quote)
        case int():
            return str(value)
        case float():
            digits = repr(value)
            return digits.replace("e", ".0e") if "e" in digits and "." not in digits else digits
        case dict():
            return "{" + ", ".join(f"{entry(key, item, flow=True)}" for key, item in value.items()) + "}"
        case _:
            return "[" + ", ".join(inline(item, flow=True) for item in value) + "]"


def entry(key: str, value: Any, *, flow: bool = False) -> str:
    """`key: value` on one line. An empty value in block style is written as Obsidian does, `key:`."""
    name = _scalar(key, flow=flow)
    return f"{name}:" if value is None and not flow else f"{name}: {inline(value, flow=flow)}"


def _scalar(text: str, *, flow: bool = False, quote: str = "") -> str:
    if quote == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if quote != '"' and _can_be_plain(text, flow):
        return text
    return _double(text)


def _can_be_plain(text: str, flow: bool) -> bool:
    if not text or text[0] in _NO_PLAIN_START or text[-1] == " " or text[0] == " " or not text.isprintable():
        return False
    if _NO_PLAIN.search(text) or (flow and _NO_PLAIN_FLOW.search(text)):
        return False
    return isinstance(resolve(text), str) and not _OLD_YAML.fullmatch(text)


def _double(text: str) -> str:
    return '"' + _ESCAPE.sub(_escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in _NAMED:
        return _NAMED[char]
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"
