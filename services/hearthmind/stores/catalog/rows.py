"""Columns and the model values they become. Every function takes one row in the order of its columns."""

from typing import Any

from hearthmind.model.index import MAX_PASSAGES, StoredLink, StoredPassage
from hearthmind.model.job import Job, JobState, WaitingReason
from hearthmind.model.memory import Link, Memory, MemoryType, Outcome, Passage, RelationType
from hearthmind.stores.catalog.values import (
    clean,
    clean_or_none,
    instant,
    instant_or_none,
    moment,
    moment_or_none,
    properties_of,
    string_tuple,
)

Row = tuple[Any, ...]

MEMORY_COLUMNS = (
    "n.id, n.title, n.path, n.type, n.version, n.text_version, n.date, n.at, n.updated, n.summary, n.tags,"
    " n.aliases, n.importance, n.project, n.session, n.outcome, n.critical, n.valid_from, n.valid_until,"
    " n.ours, n.problem, b.properties"
)
PASSAGE_COLUMNS = (
    "p.key, n.id, t.text, t.first_line, t.last_line, t.headings, p.at, p.role, t.ref, t.entry, p.outcome,"
    " p.importance, t.tags, t.embed"
)
LINK_COLUMNS = "n.id, l.target_id, l.target, l.line, l.relation, l.heading, l.block, l.embed, l.markdown, l.typed"
JOB_COLUMNS = "id, kind, space, note_id, text_version, state, created, changed, reason, due, attempts, error"


def memory_of(row: Row, space: str) -> Memory:
    """MEMORY_COLUMNS followed by the text."""
    return Memory(
        id=row[0],
        space=space,
        title=row[1],
        path=row[2],
        type=MemoryType(row[3]),
        version=row[4],
        text_version=row[5],
        date=row[6],
        at=moment_or_none(row[7]),
        updated=row[8],
        summary=row[9],
        tags=string_tuple(row[10]),
        aliases=string_tuple(row[11]),
        importance=row[12],
        project=row[13],
        session=row[14],
        outcome=Outcome(row[15]) if row[15] else None,
        critical=bool(row[16]),
        valid_from=row[17],
        valid_until=row[18],
        ours=bool(row[19]),
        problem=row[20],
        properties=properties_of(row[21]),
        text=row[22],
    )


def passage_of(row: Row) -> StoredPassage:
    """PASSAGE_COLUMNS."""
    passage = Passage(
        seq=row[0] & (MAX_PASSAGES - 1),
        text=row[2],
        lines=(row[3], row[4]),
        headings=string_tuple(row[5]),
        at=moment_or_none(row[6]),
        role=row[7],
        ref=row[8],
        entry=row[9],
        outcome=Outcome(row[10]) if row[10] else None,
        importance=row[11],
        tags=string_tuple(row[12]),
    )
    return StoredPassage(key=row[0], note_id=row[1], passage=passage, embed=row[13])


def link_of(row: Row) -> StoredLink:
    """LINK_COLUMNS."""
    link = Link(
        target=row[2],
        line=row[3],
        relation=RelationType(row[4]),
        heading=row[5],
        block=row[6],
        embed=bool(row[7]),
        markdown=bool(row[8]),
        typed=bool(row[9]),
    )
    return StoredLink(source_id=row[0], link=link, target_id=row[1])


def job_of(row: Row) -> Job:
    """JOB_COLUMNS."""
    return Job(
        id=row[0],
        kind=row[1],
        space=row[2],
        note_id=row[3],
        text_version=row[4],
        state=JobState(row[5]),
        created=moment(row[6]),
        changed=moment(row[7]),
        reason=WaitingReason(row[8]) if row[8] else None,
        due=moment_or_none(row[9]),
        attempts=row[10],
        error=row[11],
    )


def job_row(job: Job) -> Row:
    """JOB_COLUMNS of a job."""
    return (
        clean(job.id),
        clean(job.kind),
        clean(job.space),
        clean_or_none(job.note_id),
        clean_or_none(job.text_version),
        job.state.value,
        instant(job.created),
        instant(job.changed),
        job.reason.value if job.reason else None,
        instant_or_none(job.due),
        job.attempts,
        clean_or_none(job.error),
    )
