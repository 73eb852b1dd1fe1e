"""What front matter says about a memory, read as people write it in the wild."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, tzinfo
from pathlib import PurePosixPath
from typing import Any

from hearthmind.model import MemoryType, Outcome

DEFAULT_IMPORTANCE = 5
IMPORTANCE_WORDS = {"low": 3, "medium": 5, "high": 8}
TAG_KEYS = ("tags", "topics", "tag")
DATE_KEYS = ("date", "created", "date created", "created_at", "creation date")
_DAY_IN_NAME = re.compile(r"^(\d{4}-\d{2}-\d{2})(?!\d)")
_TAG_FORBIDDEN = re.compile(r"[^\w\-/]+")


def tag_of(text: str) -> str | None:
    """A tag as Obsidian allows it: no `#`, no spaces, letters, digits, `_ - /`, not digits alone; None when
    nothing of it is left."""
    tag = _TAG_FORBIDDEN.sub("-", text.strip().lstrip("#").strip()).strip("-/")
    tag = re.sub(r"-{2,}", "-", re.sub(r"/{2,}", "/", tag))[:100].strip("-/")
    return tag if tag and not tag.replace("/", "").isdigit() else None


def tags_of(values: Iterable[str]) -> tuple[str, ...]:
    """Tags without doubles; of two that differ in case only the first is kept."""
    kept: dict[str, str] = {}
    for value in values:
        if tag := tag_of(value):
            kept.setdefault(tag.casefold(), tag)
    return tuple(kept.values())


def tags_in(properties: Mapping[str, Any]) -> list[str]:
    """Tags of the front matter, as written: a list, or text with commas or spaces."""
    found: list[str] = []
    for key in TAG_KEYS:
        value = properties.get(key)
        if isinstance(value, str):
            found.extend(part for part in re.split(r"[,\s]+", value) if part)
        elif isinstance(value, list):
            found.extend(str(part) for part in value if isinstance(part, str | int | float))
    return found


def texts_in(value: Any) -> tuple[str, ...]:
    """Text, or a list of texts, as a tuple."""
    if isinstance(value, str):
        return (value,) if value.strip() else ()
    if isinstance(value, list):
        return tuple(str(part) for part in value if isinstance(part, str | int | float) and str(part).strip())
    return ()


def text_in(value: Any) -> str | None:
    """A single text; numbers count, anything else does not."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value).strip() or None
    return None


def type_in(properties: Mapping[str, Any]) -> MemoryType:
    try:
        return MemoryType(str(properties.get("type", "")).strip().lower())
    except ValueError:
        return MemoryType.NOTE


def outcome_in(properties: Mapping[str, Any]) -> Outcome | None:
    try:
        return Outcome(str(properties.get("outcome", "")).strip().lower())
    except ValueError:
        return None


def importance_of(value: Any) -> int | None:
    """1 to 10; low, medium, high are 3, 5, 8; None for anything else."""
    if isinstance(value, str):
        text = value.strip().lower()
        return IMPORTANCE_WORDS.get(text) or (int(text) if re.fullmatch(r"[1-9]|10", text) else None)
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= 10:
        return round(value)
    return None


def moment_of(text: Any, zone: tzinfo) -> datetime | None:
    """A date or time in ISO form as an aware time; naive ones are in `zone`, a date is its midnight."""
    if not isinstance(text, str):
        return None
    clean = text.strip().replace(" ", "T", 1)
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", clean):
            day = date.fromisoformat(clean)
            return datetime.combine(day, time(), zone) if 1 < day.year < 9999 else None
        moment = datetime.fromisoformat(clean)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        # The first and last days of the calendar have no name in every zone.
        return aware if 1 < aware.year < 9999 else None
    except (ValueError, OverflowError):
        return None


def day_of(properties: Mapping[str, Any], path: str, zone: tzinfo) -> str | None:
    """The local day of a memory: its date property, else the day its file name begins with."""
    for key in DATE_KEYS:
        if moment := moment_of(properties.get(key), zone):
            return moment.astimezone(zone).date().isoformat()
    if found := _DAY_IN_NAME.match(PurePosixPath(path).stem):
        try:
            return date.fromisoformat(found[1]).isoformat()
        except ValueError:
            return None
    return None


def bound_of(text: str, zone: tzinfo, *, end: bool) -> datetime | None:
    """A bound of a period: a bare date as `end` covers its whole day."""
    moment = moment_of(text, zone)
    if moment and end and re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip()):
        return datetime.combine(moment.date(), time.max, zone)
    return moment
