"""Memories and jobs in the words of the contract."""

from collections.abc import Mapping

from hearthmind.house import contract as c
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.model import Hit, Job, Memory


def memory_view(space: MountedSpace, memory: Memory) -> c.MemoryView:
    return c.MemoryView(
        id=memory.id,
        space=space.name,
        title=memory.title,
        path=memory.path,
        url=space.url(memory.id),
        type=memory.type,
        date=memory.date,
        tags=list(memory.tags),
        summary=memory.summary,
        importance=memory.importance,
        version=memory.version,
        text=memory.text,
        properties=dict(memory.properties),
    )


def index_line(space: MountedSpace, memory: Memory) -> c.IndexLine:
    return c.IndexLine(
        id=memory.id,
        title=memory.title,
        path=memory.path,
        url=space.url(memory.id),
        type=memory.type,
        date=memory.date,
        importance=memory.importance,
        summary=memory.summary,
        tags=list(memory.tags),
    )


def hit_view(space: MountedSpace, hit: Hit) -> c.HitView:
    return c.HitView(
        id=hit.id,
        space=hit.space,
        title=hit.title,
        path=hit.path,
        url=space.url(hit.id),
        type=hit.type,
        date=hit.date,
        summary=hit.summary,
        text=hit.text,
        lines=list(hit.lines),
        score=hit.score,
        signals=c.SignalsView(keyword=hit.signals.keyword, meaning=hit.signals.meaning, graph=hit.signals.graph),
        refs=list(hit.refs),
        reason=hit.reason,
    )


def job_view(job: Job) -> c.JobView:
    return c.JobView(
        id=job.id,
        kind=job.kind,
        space=job.space,
        memory=job.note_id,
        state=job.state,
        reason=job.reason,
        attempts=job.attempts,
        error=job.error,
        created=job.created.isoformat(),
        changed=job.changed.isoformat(),
    )


def metadata(memory: Memory) -> Mapping[str, object]:
    """What goes with a fetched text, ChatGPT's `metadata`."""
    return {
        "path": memory.path,
        "type": memory.type.value,
        "date": memory.date,
        "tags": list(memory.tags),
        "summary": memory.summary,
        "version": memory.version,
    }
