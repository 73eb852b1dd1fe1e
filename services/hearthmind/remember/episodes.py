"""Log what was said: turns appended to the note of their session, captures to the note of the day."""

import hashlib
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime

from hearthmind.errors import InvalidInput, NameTaken
from hearthmind.indexing import fields
from hearthmind.indexing.entries import former_paths
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.project import read_note
from hearthmind.indexing.store import (
    drop_vectors,
    embed,
    forget_note,
    put_notes,
    reload_links,
    settle,
    state_of,
    take_back,
)
from hearthmind.model import Filter, Memory, MemoryType, Outcome
from hearthmind.remember.change import rewrite
from hearthmind.remember.content import checked_text
from hearthmind.vault.entries import (
    Entry,
    Turn,
    append,
    new_block_id,
    parse_captures,
    parse_turns,
    render_capture,
    render_turns,
)
from hearthmind.vault.episodes import Episode, Episodes
from hearthmind.vault.identity import new_id
from hearthmind.vault.layout import day_of, session_stem
from hearthmind.vault.names import fold, unique_name
from hearthmind.vault.note import parse_note, render_note, replace_body


@dataclass(frozen=True, slots=True)
class Said:
    """One turn to log. `at` is aware."""

    role: str
    content: str
    at: datetime | None = None
    topics: Sequence[str] = ()
    outcome: Outcome | None = None
    importance: int | None = None
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Logged:
    """`blocks` are the entries' block ids in the order given; `existing` of them were logged before."""

    memory: Memory
    blocks: Sequence[str]
    existing: int


def log_episodes(
    space: MountedSpace, session: str, said: Sequence[Said], project: str | None = None, key: str | None = None
) -> Logged:
    """Append turns to the session's note, made at its first turn. A turn whose `ref` is in the session
    already is not written again, nor one that was written for the same idempotency `key`.

    Raises InvalidInput, TooLarge, VaultNotMounted, VaultNotWritable, DiskFull."""
    name = " ".join(session.split())
    if not name:
        raise InvalidInput("session is empty; give the session a name.")
    for entry in said:
        checked_text(space, entry.content)
    space.require_mounted()
    with space.appending:
        memory = _session(space, name) or _started(space, name, said, project)
        written, by_ref = _written(space, memory)
        blocks: list[str] = []
        turns: list[Turn] = []
        episodes: list[Episode] = []
        for place, entry in enumerate(said):
            if entry.ref and entry.ref in by_ref:
                blocks.append(by_ref[entry.ref])
                continue
            block = _block(key, f"{place}\n{entry.role}\n{entry.content}", {*written, *blocks})
            if block in written:
                blocks.append(block)
                continue
            turn, episode = _turn(space, entry, block)
            blocks.append(turn.block)
            turns.append(turn)
            episodes.append(episode)
            if entry.ref:
                by_ref[entry.ref] = turn.block
        if turns:
            # Details before the note: an entry without its details would be indexed without its ref.
            Episodes(space.files.root, space.mark.id).append(memory.path, episodes)
            memory = rewrite(space, memory, lambda raw: _with_turns(raw, memory.path, turns))
    return Logged(memory, blocks, len(said) - len(turns))


def capture(
    space: MountedSpace, text: str, topics: Sequence[str], at: datetime | None, key: str | None = None
) -> Logged:
    """Append a short entry to the day's note, made when it is not there; once for an idempotency `key`.
    Raises as `log_episodes`."""
    body = checked_text(space, text, "text").rstrip("\n")
    moment = (at or space.now()).astimezone(space.zone)
    block = _block(key, body, ())
    rendered = render_capture(moment.time(), body, topics, block)
    space.require_mounted()
    with space.appending:
        memory = _day_note(space, moment.date())
        if any(entry.block == block for entry in _captures(space, memory)):
            return Logged(memory, [block], 1)
        memory = rewrite(space, memory, lambda raw: _appended(raw, rendered))
    return Logged(memory, [block], 0)


def _day_note(space: MountedSpace, day: date) -> Memory:
    """Our note of a day, made when it is not there. A daily note that the person wrote stays the person's:
    ours then has a name of its own beside it."""
    for path in dict.fromkeys((space.layout.daily_path(day), space.layout.own_daily_path(day))):
        memory = _present(space, space.catalog.memory_at(path))
        if memory is not None and memory.ours:
            return memory
        if memory is None:
            with suppress(NameTaken):
                return _created(space, path, {"date": day.isoformat(), "type": "note"}, "")
    raise NameTaken(f"The names for the note of {day} are taken by notes of the person; rename one of them.")


def _present(space: MountedSpace, memory: Memory | None) -> Memory | None:
    """A memory whose file is there. One that the person deleted is forgotten now, not at the next comparison."""
    if memory is None or space.files.find(memory.path) is not None:
        return memory
    with space.catalog.write() as write:
        keys = forget_note(space, write, memory.id)
    drop_vectors(space, keys)
    settle(space, [], [(memory.id, memory.path, memory.aliases)])
    return None


def _session(space: MountedSpace, name: str) -> Memory | None:
    found, _, _ = space.catalog.list_memories(filter=Filter(session=name), limit=20)
    ours = next((memory for memory in found if memory.ours and space.layout.is_session(memory.path)), None)
    return _present(space, ours)


def _started(space: MountedSpace, name: str, said: Sequence[Said], project: str | None) -> Memory:
    started = (said[0].at or space.now()).astimezone(space.zone)
    properties = {"date": started.date().isoformat(), "type": MemoryType.EVENT.value, "session": name}
    if project:
        properties["project"] = project
    refused: set[str] = set()

    def taken(stem: str) -> bool:
        return stem in refused or space.catalog.name_taken(fold(stem))

    while True:
        stem = unique_name(session_stem(started, name), taken)
        try:
            return _created(space, space.layout.session_path(stem), properties, "")
        except NameTaken:
            refused.add(stem)


def _created(space: MountedSpace, path: str, properties: dict[str, str], body: str) -> Memory:
    """A note of ours at `path`; one that a crash left there without an entry in the catalog is taken over."""
    note_id = new_id()
    raw = render_note({"id": note_id, **properties}, body)
    note = None
    try:
        with space.catalog.write() as write:
            space.files.create(path, raw)
            note = read_note(space, raw, state_of(space, path, raw), note_id)
            pending = put_notes(space, write, [note])
    except NameTaken:
        if memory := _taken_over(space, path, properties):
            return memory
        raise
    except Exception:
        if note is not None:
            take_back(space, note)
        reload_links(space)
        raise
    settle(space, [note])
    embed(space, pending)
    return note.memory


def _taken_over(space: MountedSpace, path: str, properties: dict[str, str]) -> Memory | None:
    raw, stat = space.files.find(path), space.files.stat(path)
    if raw is None or stat is None or space.catalog.memory_at(path):
        return None
    present = parse_note(raw).properties
    own = fields.text_in(present.get("id"))
    if own is None or present.get("session") != properties.get("session") or space.catalog.memory(own):
        return None
    note = read_note(space, raw, stat, own)
    if not note.memory.ours:
        return None
    with space.catalog.write() as write:
        pending = put_notes(space, write, [note])
    settle(space, [note])
    embed(space, pending)
    return note.memory


def _written(space: MountedSpace, memory: Memory) -> tuple[set[str], dict[str, str]]:
    """Block ids that stand in the session's note, and which block a ref has; the details of a turn that a
    crash kept out of the note do not count."""
    details, _ = Episodes(space.files.root).load(memory.path, *former_paths(space, memory.id))
    note = parse_note(space.files.read(memory.path))
    entries = parse_turns(note.body, note.body_line, day_of(memory.path))
    written = {entry.block for entry in entries if entry.block}
    return written, {one.ref: block for block, one in details.items() if one.ref and block in written}


def _captures(space: MountedSpace, memory: Memory) -> Sequence[Entry]:
    note = parse_note(space.files.read(memory.path))
    return parse_captures(note.body, note.body_line, day_of(memory.path))


def _block(key: str | None, said: str, taken: Collection[str]) -> str:
    """A new block id. With an idempotency key it follows from the key and from what is said: a call repeated
    after a crash finds what it wrote, and another text under the same key is never taken for written."""
    if key is None:
        return new_block_id(taken)
    return "e" + hashlib.sha256(f"{key}\n{said}".encode()).hexdigest()[:12]


def _turn(space: MountedSpace, entry: Said, block: str) -> tuple[Turn, Episode]:
    moment = (entry.at or space.now()).astimezone(space.zone)
    text = entry.content.strip("\n")
    episode = Episode(
        entry=block,
        ref=entry.ref,
        outcome=entry.outcome,
        importance=entry.importance,
        topics=tuple(entry.topics),
        occurred_at=moment.isoformat(timespec="seconds"),
        role=entry.role,
    )
    return Turn(moment.replace(tzinfo=None), entry.role, text, block), episode


def _with_turns(raw: bytes, path: str, turns: Sequence[Turn]) -> bytes:
    note = parse_note(raw)
    entries = parse_turns(note.body, note.body_line, day_of(path))
    day: date | None = entries[-1].day if entries else day_of(path)
    return _appended(raw, render_turns(turns, day))


def _appended(raw: bytes, rendered: str) -> bytes:
    note = parse_note(raw)
    return replace_body(raw, append(note.body, rendered))
