"""Change or forget a memory, byte for byte as asked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hearthmind.errors import InvalidInput, MemoryNotFound, NotAllowed, NoteChangedSinceRead
from hearthmind.indexing import fields
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
)
from hearthmind.model import Memory
from hearthmind.remember.content import checked_text, checked_title
from hearthmind.vault.durable import version_of
from hearthmind.vault.note import REMOVE, edit_note, parse_note, replace_body

ATTEMPTS = 3
"""A caller without a version asks for the newest state; a file that changes under us more often than this
is being written by something else."""


@dataclass(frozen=True, slots=True)
class Trashed:
    memory: Memory
    path: str
    """Where the note waits inside the vault."""


def update(
    space: MountedSpace, note_id: str, changes: Mapping[str, Any], version: str | None, *, theirs: bool
) -> Memory:
    """Set fields of a memory: title, text, type, tags, importance, project, critical, properties (a mapping;
    None removes a key). `theirs`: the caller may change the person's own notes. Raises MemoryNotFound,
    NotAllowed, NoteChangedSinceRead, NoteUnreadable, InvalidInput."""
    memory = _changeable(space, note_id, theirs)
    space.require_mounted()
    return _written(space, memory, version, lambda raw: _edited(space, memory, raw, changes))


def rewrite(space: MountedSpace, memory: Memory, edit: Callable[[bytes], bytes]) -> Memory:
    """Write a note anew through `edit`, which is given its present bytes, and bring the index up to date."""
    space.require_mounted()
    return _written(space, memory, None, edit)


def forget(space: MountedSpace, note_id: str, version: str | None, *, theirs: bool) -> Trashed:
    """Move a memory to the trash and out of every index. Raises as `update`."""
    memory = _changeable(space, note_id, theirs)
    space.require_mounted()
    with space.catalog.write() as write:
        raw = space.files.find(memory.path)
        if raw is not None and version is not None and version_of(raw) != version:
            raise _changed(memory, version_of(raw))
        trash = space.files.remove_to_trash(memory.path) if raw is not None else ""
        keys = forget_note(space, write, memory.id)
        write.set_problem(memory.path, None)
    drop_vectors(space, keys)
    settle(space, [], [(memory.id, memory.path, memory.aliases)])
    return Trashed(memory, trash)


def _changeable(space: MountedSpace, note_id: str, theirs: bool) -> Memory:
    memory = space.catalog.memory(note_id)
    if memory is None:
        raise MemoryNotFound(f"There is no memory {note_id!r} in the space {space.name}.")
    if not memory.ours and not theirs:
        raise NotAllowed(
            f"{memory.path!r} is the person's own note; changing it needs the scope vault, which this caller lacks."
        )
    return memory


def _written(space: MountedSpace, memory: Memory, version: str | None, edit: Callable[[bytes], bytes]) -> Memory:
    try:
        with space.catalog.write() as write:
            raw = _exchanged(space, memory, version, edit)
            note = read_note(space, raw, state_of(space, memory.path, raw), memory.id)
            pending = put_notes(space, write, [note])
            write.set_problem(memory.path, None)
    except NoteChangedSinceRead:
        raise
    except Exception:
        reload_links(space)
        raise
    settle(space, [note])
    embed(space, pending)
    return note.memory


def _exchanged(space: MountedSpace, memory: Memory, version: str | None, edit: Callable[[bytes], bytes]) -> bytes:
    """The new bytes, on disk. A person's edit in between is edited in turn, unless the caller named the
    version he read."""
    for attempt in range(ATTEMPTS):
        raw = space.files.read(memory.path)
        current = version_of(raw)
        changed = edit(raw)
        if changed == raw:
            # Also a call repeated after a crash: what it asks for is there, whatever version it read.
            return raw
        if version is not None and current != version:
            raise _changed(memory, current)
        try:
            space.files.exchange(memory.path, current, changed)
        except NoteChangedSinceRead:
            if version is not None or attempt == ATTEMPTS - 1:
                raise
            continue
        return changed
    raise AssertionError("unreachable")


def _changed(memory: Memory, version: str) -> NoteChangedSinceRead:
    return NoteChangedSinceRead(
        f"{memory.path!r} changed since you read it; fetch it again and repeat your change.", version=version
    )


def _edited(space: MountedSpace, memory: Memory, raw: bytes, changes: Mapping[str, Any]) -> bytes:
    present = parse_note(raw)
    wanted: dict[str, Any] = {}
    for key, value in (changes.get("properties") or {}).items():
        if key == "id":
            raise InvalidInput("properties.id is the memory's identity; it cannot be changed.")
        wanted[key] = REMOVE if value is None else value
    for key in ("type", "importance", "project", "critical"):
        if key in changes:
            wanted[key] = REMOVE if changes[key] in (None, "") or changes[key] is False else changes[key]
    if "title" in changes:
        wanted["title"] = checked_title(changes["title"], present.body)
    if "tags" in changes:
        tags = list(fields.tags_of(changes["tags"] or ()))
        key = next((key for key in fields.TAG_KEYS if key in present.properties), "tags")
        wanted[key] = tags or REMOVE
    edited = edit_note(raw, wanted)
    if changes.get("text") is not None:
        edited = replace_body(edited, checked_text(space, changes["text"], "text"))
    if edited != raw and memory.ours:
        edited = edit_note(edited, {"updated": space.now().date().isoformat()})
    return edited
