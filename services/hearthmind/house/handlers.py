"""What each operation on a space does: from a request of the contract to the use case and back."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from time import perf_counter

from hearthmind.errors import InvalidInput, JobNotFound, MemoryNotFound
from hearthmind.house import contract as c
from hearthmind.house.views import hit_view, index_line, job_view, memory_view, metadata
from hearthmind.indexing import fields
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.model import Filter, Hit, JobState, Memory, Query
from hearthmind.model.house import Caller, Scope
from hearthmind.recall.recall import recall as recall_from
from hearthmind.remember.accept import NewMemory
from hearthmind.remember.accept import remember as accept
from hearthmind.remember.change import forget as forget_memory
from hearthmind.remember.change import update as update_memory
from hearthmind.remember.episodes import Said
from hearthmind.remember.episodes import capture as capture_text
from hearthmind.remember.episodes import log_episodes as log_said

MAX_FETCH_CHARACTERS = 30_000
"""Of text in one answer; JSON escapes and metadata stay within c.MAX_ANSWER_CHARACTERS."""
MAX_SUMMARY_CHARACTERS = 200


def remember(space: MountedSpace, caller: Caller, request: c.RememberRequest) -> c.Remembered:
    when = request.occurred_at
    moment = _moment(space, when, "occurred_at")
    source = {"note": request.source} if isinstance(request.source, str) else dict(request.source or {})
    if caller.client:
        source.setdefault("client", caller.client)
    accepted = accept(
        space,
        NewMemory(
            content=request.content,
            title=request.title,
            type=request.type,
            tags=request.tags,
            importance=fields.importance_of(request.importance),
            project=request.project,
            critical=request.critical,
            occurred_at=moment,
            occurred_day=bool(when and len(when.strip()) == len("2026-03-22")),
            source=source,
        ),
    )
    memory = accepted.memory
    return c.Remembered(
        id=memory.id,
        title=memory.title,
        path=memory.path,
        url=space.url(memory.id),
        version=memory.version,
        job=accepted.job.id if accepted.job else None,
        existing=accepted.existing,
        similar=[
            c.SimilarMemory(
                id=one.memory.id, title=one.memory.title, url=space.url(one.memory.id), score=max(0.0, one.cosine)
            )
            for one in accepted.similar
        ],
    )


def recall(space: MountedSpace, _: Caller, request: c.RecallRequest) -> c.Recalled:
    started = perf_counter()
    found = recall_from(
        space,
        Query(
            text=_question(request.query),
            limit=request.limit,
            budget=request.budget,
            filter=_filter(space, request),
            mode=request.mode,
            expand=request.expand,
            floor=request.floor == "auto",
        ),
    )
    return c.Recalled(
        query=request.query[:1_000],
        route=found.route,
        context=found.context,
        degraded=list(found.degraded),
        took_ms=round((perf_counter() - started) * 1000, 2),
        hits=_bounded([hit_view(space, hit) for hit in found.hits], len(found.context)),
        silence=found.silence,
    )


def _bounded(hits: list[c.HitView], used: int) -> list[c.HitView]:
    """Hits within the size of an answer: texts are shortened evenly, no hit is dropped."""
    fixed = used + sum(len(hit.title) + len(hit.path) + len(hit.url) + len(hit.summary) + 400 for hit in hits)
    room = max(0, c.MAX_ANSWER_CHARACTERS - 1_000 - fixed)
    share = room // max(1, len(hits))
    if sum(len(hit.text) for hit in hits) <= room:
        return hits
    return [
        hit if len(hit.text) <= share else hit.model_copy(update={"text": hit.text[: max(80, share)] + "…"})
        for hit in hits
    ]


def _question(text: str) -> str:
    if not text.strip():
        raise InvalidInput("query is empty; ask something.")
    return text


def _filter(space: MountedSpace, request: c.RecallRequest) -> Filter:
    bounds = {}
    for name, end in (("since", False), ("until", True), ("as_of", True)):
        value = getattr(request, name)
        bounds[name] = fields.bound_of(value, space.zone, end=end) if value else None
        if value and bounds[name] is None:
            raise InvalidInput(f"{name} {value[:40]!r} is not an ISO date or time, like 2026-03-22.")
    since, until = bounds["since"], bounds["until"]
    if since and until and since > until:
        raise InvalidInput(f"since {request.since} lies after until {request.until}; exchange them.")
    return Filter(
        types=tuple(request.types),
        tags=fields.tags_of(request.tags),
        project=request.project,
        session=request.session,
        role=request.role,
        outcome=request.outcome,
        min_importance=request.min_importance,
        since=since,
        until=until,
        as_of=bounds["as_of"],
    )


def search(space: MountedSpace, _: Caller, request: c.SearchRequest) -> c.SearchResults:
    found = recall_from(space, Query(text=_question(request.query), limit=request.limit, budget=50))
    return c.SearchResults(
        results=[c.SearchResult(id=hit.id, title=hit.title, url=space.url(hit.id)) for hit in _by_note(found.hits)]
    )


def _by_note(hits: Sequence[Hit]) -> list[Hit]:
    """The first hit of each note: `search` names documents."""
    return list({hit.id: hit for hit in reversed(hits)}.values())[::-1]


def fetch(space: MountedSpace, _: Caller, request: c.FetchRequest) -> c.Fetched:
    memory = _memory(space, request.id)
    end = request.offset + MAX_FETCH_CHARACTERS
    extra: Mapping[str, object] = {"next_offset": end} if end < len(memory.text) else {}
    return c.Fetched(
        id=memory.id,
        title=memory.title,
        text=memory.text[request.offset : end],
        url=space.url(memory.id),
        metadata={**metadata(memory), "characters": len(memory.text), **extra},
    )


def show(space: MountedSpace, _: Caller, request: c.MemoryRequest) -> c.MemoryView:
    return memory_view(space, _memory(space, request.id))


def related(space: MountedSpace, _: Caller, request: c.RelatedRequest) -> c.Related:
    start = _memory(space, request.id)
    around = space.graph.neighbourhood([start.id], request.depth, request.types, limit=100)
    memories = space.catalog.memories(around.distances)
    nodes = [
        c.RelatedNode(
            id=memory.id,
            title=memory.title,
            path=memory.path,
            url=space.url(memory.id),
            type=memory.type,
            summary=memory.summary[:MAX_SUMMARY_CHARACTERS],
            distance=distance,
        )
        for note_id, distance in around.distances.items()
        if (memory := memories.get(note_id))
    ]
    shown = {node.id for node in nodes}
    edges = [
        c.RelatedEdge(source=edge.source, target=edge.target, type=edge.type)
        for edge in around.edges
        if edge.source in shown and edge.target in shown
    ]
    return c.Related(nodes=nodes, edges=edges)


def list_index(space: MountedSpace, _: Caller, request: c.ListRequest) -> c.Listing[c.IndexLine]:
    found, following, total = space.catalog.list_memories(
        filter=Filter(types=(request.type,) if request.type else ()),
        folder=request.folder,
        tag=request.tag.lstrip("#") if request.tag else None,
        after=request.page,
        limit=request.limit,
    )
    return c.Listing[c.IndexLine](items=[index_line(space, memory) for memory in found], next=following, total=total)


def list_tags(space: MountedSpace, _: Caller, request: c.TagsRequest) -> c.Listing[c.TagLine]:
    tags = space.catalog.tags(request.prefix)
    start = _offset(request.page)
    page = tags[start : start + request.limit]
    end = start + len(page)
    return c.Listing[c.TagLine](
        items=[c.TagLine(tag=tag.tag, count=tag.count, description=tag.description) for tag in page],
        next=str(end) if end < len(tags) else None,
        total=len(tags),
    )


def _offset(page: str | None) -> int:
    if page is None:
        return 0
    if not (page.isascii() and page.isdecimal() and len(page) < 10):
        raise InvalidInput("page is not a cursor of this list; use the `next` of the page before.")
    return int(page)


def update(space: MountedSpace, caller: Caller, request: c.UpdateRequest) -> c.MemoryView:
    changes = request.fields.model_dump(mode="json", exclude_unset=True)
    if not changes:
        raise InvalidInput("fields is empty; name at least one of title, text, type, tags, importance, properties.")
    for name in ("title", "text", "type"):
        if name in changes and changes[name] is None:
            raise InvalidInput(f"{name} cannot be removed; leave it out to keep it.")
    if changes.get("importance") is not None:
        changes["importance"] = fields.importance_of(changes["importance"])
    memory = update_memory(space, request.id, changes, request.version, theirs=caller.may(Scope.VAULT))
    return memory_view(space, memory)


def forget(space: MountedSpace, caller: Caller, request: c.ForgetRequest) -> c.Forgotten:
    gone = forget_memory(space, request.id, request.version, theirs=caller.may(Scope.VAULT))
    return c.Forgotten(id=gone.memory.id, title=gone.memory.title, path=gone.memory.path, trash=gone.path)


def log_episodes(space: MountedSpace, _: Caller, request: c.EpisodesRequest) -> c.EpisodesLogged:
    said = [
        Said(
            role=entry.role,
            content=entry.content,
            at=_moment(space, entry.occurred_at, f"entries[{place}].occurred_at"),
            topics=entry.topics,
            outcome=entry.outcome,
            importance=fields.importance_of(entry.importance),
            ref=entry.ref,
        )
        for place, entry in enumerate(request.entries)
    ]
    logged = log_said(space, request.session, said, request.project, request.idempotency_key)
    return c.EpisodesLogged(
        session=request.session,
        memory=logged.memory.id,
        ids=list(logged.blocks),
        paths=[logged.memory.path],
        existing=logged.existing,
    )


def capture(space: MountedSpace, _: Caller, request: c.CaptureRequest) -> c.Captured:
    moment = _moment(space, request.occurred_at, "occurred_at")
    logged = capture_text(space, request.text, request.topics, moment, request.idempotency_key)
    return c.Captured(
        memory=logged.memory.id, ids=list(logged.blocks), paths=[logged.memory.path], existing=logged.existing
    )


def _moment(space: MountedSpace, text: str | None, name: str) -> datetime | None:
    if text is None:
        return None
    moment = fields.moment_of(text, space.zone)
    if moment is None:
        raise InvalidInput(f"{name} {text[:40]!r} is not an ISO date or time, like 2026-03-22T09:30.")
    return moment


def job(space: MountedSpace, _: Caller, request: c.JobRequest) -> c.JobView:
    found = space.catalog.job(request.id)
    if found is None:
        raise JobNotFound(f"There is no job {request.id[:60]!r} in the space {space.name}.")
    return job_view(found)


def jobs(space: MountedSpace, _: Caller, request: c.JobsRequest) -> c.Listing[c.JobView]:
    found, following, total = space.catalog.jobs(request.state or list(JobState), request.page, request.limit)
    return c.Listing[c.JobView](items=[job_view(one) for one in found], next=following, total=total)


def stats(space: MountedSpace, caller: Caller, request: c.StatusRequest) -> c.Stats:  # noqa: ARG001
    counts = space.catalog.counts()
    relations = space.graph.counts()[1]
    return c.Stats(
        space=space.name,
        memories=counts.notes,
        passages=counts.passages,
        relations=relations,
        tags=counts.tags,
        types=counts.types,
        mean_importance=counts.mean_importance,
        unresolved_links=counts.unresolved_links,
        pending_vectors=counts.pending_vectors,
        jobs={state.value: number for state, number in space.catalog.job_counts().items()},
    )


def _memory(space: MountedSpace, note_id: str) -> Memory:
    memory = space.catalog.memory(note_id)
    if memory is None:
        raise MemoryNotFound(f"There is no memory {note_id[:60]!r} in the space {space.name}.")
    return memory
