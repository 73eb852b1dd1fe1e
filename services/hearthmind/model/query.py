"""What is asked of the memory and what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from hearthmind.model.memory import MemoryType, Outcome


class Mode(StrEnum):
    HYBRID = "hybrid"
    KEYWORD = "keyword"
    MEANING = "meaning"


class Route(StrEnum):
    """What a query needs."""

    NONE = "none"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions a memory must meet; every one that is set. `tags`: all of them, a parent tag covers its
    children. `since` and `until` are inclusive bounds on the day of a memory or of an entry. `as_of` asks
    for what was true on that day (memories valid then)."""

    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    project: str | None = None
    session: str | None = None
    role: str | None = None
    outcome: Outcome | None = None
    min_importance: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None

    @property
    def empty(self) -> bool:
        return self == Filter()


@dataclass(frozen=True, slots=True)
class Query:
    """One question to a space. `limit` counts hits, `budget` tokens of context."""

    text: str
    limit: int = 8
    budget: int = 2000
    filter: Filter = field(default_factory=Filter)
    mode: Mode = Mode.HYBRID
    expand: bool = True
    """Let neighbours of good hits through links enter the result."""
    floor: bool = True
    """Return nothing when nothing is relevant; off returns the ranking whatever its scores."""


@dataclass(frozen=True, slots=True)
class Signals:
    """The rank of a hit in each list that found it, 1-based; None where it was not found."""

    keyword: int | None = None
    meaning: int | None = None
    graph: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One note (its passages merged) or one episode with its neighbours. `refs` are the episodes that the
    text covers, best first; `lines` the file lines of `text`."""

    id: str
    space: str
    title: str
    path: str
    type: MemoryType
    date: str | None
    summary: str
    text: str
    lines: tuple[int, int]
    score: float
    signals: Signals
    refs: Sequence[str] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Recollection:
    """The answer to a query. `degraded` names the layers that could not take part; `silence` says why
    there are no hits."""

    hits: Sequence[Hit]
    context: str
    route: Route
    degraded: Sequence[str] = ()
    silence: str | None = None
