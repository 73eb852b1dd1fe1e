"""Pure values that every room shares."""

from hearthmind.model.job import Job, JobState, WaitingReason
from hearthmind.model.memory import Link, Memory, MemoryType, Outcome, Passage, Relation, RelationType, Space
from hearthmind.model.query import Filter, Hit, Mode, Query, Recollection, Route, Signals

__all__ = [
    "Filter",
    "Hit",
    "Job",
    "JobState",
    "Link",
    "Memory",
    "MemoryType",
    "Mode",
    "Outcome",
    "Passage",
    "Query",
    "Recollection",
    "Relation",
    "RelationType",
    "Route",
    "Signals",
    "Space",
    "WaitingReason",
]
