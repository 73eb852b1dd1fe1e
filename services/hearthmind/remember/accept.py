"""Accept a new memory: a durable note first, then its place in the catalog, then its vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import NameTaken, StoreUnavailable
from hearthmind.indexing import fields
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.project import ReadNote, own_id, read_note
from hearthmind.indexing.store import embed, put_notes, reload_links, settle, state_of, take_back
from hearthmind.model import Job, JobState, Memory, MemoryType
from hearthmind.model.index import MAX_PASSAGES, StoredPassage
from hearthmind.ports import CatalogWrite
from hearthmind.recall.baseline import comparable
from hearthmind.remember.content import checked_text, checked_title
from hearthmind.telemetry import get_logger
from hearthmind.vault.durable import version_of
from hearthmind.vault.files import FileStat
from hearthmind.vault.identity import is_ulid, new_id
from hearthmind.vault.layout import is_page_stem
from hearthmind.vault.names import fold, safe_name, unique_name
from hearthmind.vault.note import parse_note, render_note

SAME_WITHIN = timedelta(hours=24)
"""A client's retry comes within this time; later the same words are a new memory."""
SIMILAR_COSINE = 0.88
"""Two texts this near say nearly the same; both are kept, the answer names the other."""
AT_ONCE = 32
"""Passages embedded before remember answers; the rest of a long memory follows in the background."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NewMemory:
    """What a client wants remembered. `occurred_at` is aware; `occurred_day` says it was a bare date."""

    content: str
    title: str | None = None
    type: MemoryType = MemoryType.NOTE
    tags: Sequence[str] = ()
    importance: int | None = None
    project: str | None = None
    critical: bool = False
    occurred_at: datetime | None = None
    occurred_day: bool = False
    source: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Similar:
    memory: Memory
    cosine: float


@dataclass(frozen=True, slots=True)
class Accepted:
    """The memory is on disk and in the catalog. `existing`: it was there before. `job` is the background
    work on it, None for an existing one."""

    memory: Memory
    job: Job | None
    existing: bool
    similar: Sequence[Similar]


def remember(space: MountedSpace, new: NewMemory) -> Accepted:
    """Store a memory. Returns after the note is fsynced. Raises InvalidInput, TooLarge, VaultNotMounted,
    VaultNotWritable, DiskFull."""
    body = checked_text(space, new.content)
    title = checked_title(new.title, body)
    properties = _properties(space, new)
    draft = _read(space, render_note(properties, body), f"{title[:50]}.md", properties["id"], title)
    vectors = _embedded(space, draft)
    similar = _similar(space, vectors)
    space.require_mounted()
    note, existing = None, False
    try:
        with space.catalog.write() as write:
            same = space.catalog.same_text(title, body, space.clock() - SAME_WITHIN)
            if same and _still_there(space, same):
                return Accepted(same, None, existing=True, similar=())
            note, existing = _written(space, new.type, title, properties, body)
            pending = put_notes(space, write, [note])
            job = None if existing else _job(space, write, note.memory)
    except Exception:
        if note is not None and not existing:
            take_back(space, note)
        reload_links(space)
        raise
    settle(space, [note])
    if existing or job is None:
        embed(space, pending)
        return Accepted(note.memory, None, existing=True, similar=())
    job = _finish(space, job, pending, vectors)
    return Accepted(note.memory, job, existing=False, similar=similar)


def _properties(space: MountedSpace, new: NewMemory) -> dict[str, Any]:
    moment = (new.occurred_at or space.now()).astimezone(space.zone)
    tags = fields.tags_of(new.tags)
    known = space.catalog.spellings(tags) if tags else {}
    properties: dict[str, Any] = {"id": new_id(), "date": moment.date().isoformat()}
    if new.occurred_at and not new.occurred_day:
        properties["at"] = moment.isoformat(timespec="seconds")
    properties["type"] = new.type.value
    if tags:
        properties["tags"] = [known.get(tag, tag) for tag in tags]
    if new.importance is not None:
        properties["importance"] = new.importance
    if new.project:
        properties["project"] = new.project
    if new.critical:
        properties["critical"] = True
    if new.source:
        properties["source"] = dict(new.source)
    return properties


def _still_there(space: MountedSpace, memory: Memory) -> bool:
    """Whether the note on disk is the one that the catalog knows."""
    raw = space.files.find(memory.path)
    return raw is not None and version_of(raw) == memory.version


def _read(space: MountedSpace, raw: bytes, path: str, note_id: str, title: str | None) -> ReadNote:
    """A note that is not on disk yet, as it will be read; `title` is the one it will have, None for what the
    bytes say."""
    return read_note(space, raw, FileStat(path, len(raw), 0, 0), note_id, title=title)


def _written(
    space: MountedSpace, type_: MemoryType, title: str, properties: dict[str, Any], body: str
) -> tuple[ReadNote, bool]:
    """The note in the vault under a name of its own. A file of that name which the catalog does not know is
    either this very memory, written before a crash, or somebody's: then the next name is tried."""
    refused: set[str] = set()

    def taken(stem: str) -> bool:
        return stem in refused or is_page_stem(stem) or space.catalog.name_taken(fold(stem))

    while True:
        stem = unique_name(safe_name(title), taken)
        path = space.layout.memory_path(type_, stem)
        raw = render_note(properties, body)
        if _read(space, raw, path, properties["id"], None).memory.title != title:
            raw = render_note({"id": properties["id"], "title": title, **properties}, body)
        try:
            space.files.create(path, raw)
        except NameTaken:
            if again := _left_by_crash(space, path, title, body):
                return again, True
            refused.add(stem)
            continue
        return read_note(space, raw, state_of(space, path, raw), properties["id"]), False


def _left_by_crash(space: MountedSpace, path: str, title: str, body: str) -> ReadNote | None:
    raw, stat = space.files.find(path), space.files.stat(path)
    if raw is None or stat is None:
        return None
    own = own_id(parse_note(raw).properties)
    if own is None or not is_ulid(own) or space.catalog.memory(own):
        return None
    found = read_note(space, raw, stat, own)
    same = found.memory.ours and found.memory.title == title and found.memory.text == body
    return found if same else None


def _embedded(space: MountedSpace, draft: ReadNote) -> NDArray[np.float32] | None:
    try:
        return space.embedder.embed_passages([passage.embed for passage in draft.passages[:AT_ONCE]])
    except StoreUnavailable as error:
        log.warning("embedding_postponed", space=space.name, error=error.message)
        return None


def _similar(space: MountedSpace, vectors: NDArray[np.float32] | None) -> list[Similar]:
    """Memories whose first passage says nearly the same."""
    if vectors is None or not len(vectors):
        return []
    try:
        near = space.vectors.search(vectors[0], 5)
        hits = [hit for hit in near if comparable(hit.score, space.unrelated) >= SIMILAR_COSINE]
    except StoreUnavailable:
        return []
    found = space.catalog.passages({hit.key for hit in hits})
    best: dict[str, float] = {}
    for hit in hits:
        if hit.key in found and hit.key % MAX_PASSAGES == 0:
            best.setdefault(found[hit.key].note_id, hit.score)
    memories = space.catalog.memories(best)
    return [Similar(memories[note_id], round(score, 4)) for note_id, score in best.items() if note_id in memories]


def _job(space: MountedSpace, write: CatalogWrite, memory: Memory) -> Job:
    now = space.clock()
    job = Job(
        id=new_id(),
        kind="index.embed",
        space=space.name,
        note_id=memory.id,
        text_version=memory.text_version,
        state=JobState.QUEUED,
        created=now,
        changed=now,
    )
    write.add_job(job)
    return job


def _finish(
    space: MountedSpace, job: Job, pending: Sequence[StoredPassage], vectors: NDArray[np.float32] | None
) -> Job:
    """Store the vectors made before the note was written; what is left is for the background."""
    if vectors is None or not embed(space, pending[: len(vectors)], vectors[: len(pending)]):
        return job
    return job if len(pending) > len(vectors) else finish_embedding(space, job)


def finish_embedding(space: MountedSpace, job: Job) -> Job:
    """The job as done, in the catalog too."""
    done = replace(job, state=JobState.DONE, changed=space.clock(), attempts=job.attempts + 1, error=None)
    with space.catalog.write() as write:
        write.update_job(done)
    return done
