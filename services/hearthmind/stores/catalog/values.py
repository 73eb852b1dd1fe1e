"""Model values as SQLite keeps them: text without lone surrogates, instants as UTC text, lists as JSON."""

import json
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

_LISTS = json.JSONEncoder(ensure_ascii=False)
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text with lone surrogates, which SQLite cannot store, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def clean_or_none(text: str | None) -> str | None:
    return None if text is None else clean(text)


def folded(text: str) -> str:
    return clean(text).casefold()


def instant(at: datetime) -> str:
    """UTC text of fixed width, so that order of text is order of time. A naive time is taken as UTC."""
    try:
        utc = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except OverflowError:
        utc = at.replace(tzinfo=UTC)
    return utc.isoformat(timespec="microseconds")


def instant_or_none(at: datetime | None) -> str | None:
    return None if at is None else instant(at)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def day(text: str | None) -> str | None:
    """The day of an ISO date or time."""
    return None if text is None else clean(text)[:10]


def digest(*parts: str) -> bytes:
    """128 bits that stand for the parts, boundaries included."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.digest()


def strings(items: Collection[str]) -> str:
    return _LISTS.encode([clean(item) for item in items]) if items else "[]"


def string_tuple(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()


def json_list(items: Collection[str] | Collection[int]) -> str:
    """A parameter for `IN (SELECT value FROM json_each(?))`, which no number of values can overflow."""
    return json.dumps([clean(item) if isinstance(item, str) else int(item) for item in items])


def properties_text(properties: Mapping[str, Any]) -> str:
    """JSON of front matter. What JSON cannot hold becomes text or is left out; nothing fails."""
    try:
        text = json.dumps(dict(properties), default=str, skipkeys=True)
        json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return "{}"
    return text


def properties_of(text: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(text)
    return loaded
