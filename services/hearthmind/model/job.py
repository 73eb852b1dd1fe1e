"""Background work with a visible state."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class JobState(StrEnum):
    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class WaitingReason(StrEnum):
    TIME = "time"
    MODEL = "model"
    QUIET_FILE = "quiet file"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of background work.

    `kind` is `room.action`. A job for a `text_version` that is no longer the note's is a no-op. `error` is
    the last failure in words. Times are UTC.
    """

    id: str
    kind: str
    space: str
    note_id: str | None
    text_version: str | None
    state: JobState
    created: datetime
    changed: datetime
    reason: WaitingReason | None = None
    due: datetime | None = None
    attempts: int = 0
    error: str | None = None
