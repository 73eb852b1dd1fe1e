"""Which memory a file is (DESIGN: its `id` property if that is a valid ULID of its own, else the log)."""

from collections.abc import Callable

from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.project import own_id, text_version
from hearthmind.vault.identity import Identity, is_ulid, new_id
from hearthmind.vault.note import parse_note


def identify(
    space: MountedSpace, path: str, raw: bytes, taken_elsewhere: Callable[[str], bool], vanished: Callable[[str], bool]
) -> Identity:
    """The identity of the file at `path`, not yet recorded. `taken_elsewhere(id)` tells whether another
    file that still exists has this id; `vanished(path)` whether a path known before is gone, so that its
    text found here is the same note moved. A duplicate `id` that the log settled stays settled while the
    file's text is the one that was settled."""
    note = parse_note(raw)
    text_hash = text_version(note.properties, note.body)
    own = own_id(note.properties)
    known = space.identities.by_path(path)
    settled = known is not None and known.id != own and known.text_hash == text_hash
    if own and is_ulid(own) and not settled and not taken_elsewhere(own):
        return Identity(own, path, (), text_hash)
    if known and not taken_elsewhere(known.id):
        return Identity(known.id, path, known.former, text_hash)
    for moved in space.identities.by_text(text_hash):
        if note.body.strip() and vanished(moved.path) and not taken_elsewhere(moved.id):
            return Identity(moved.id, path, (*moved.former, moved.path), text_hash)
    return Identity(new_id(), path, (), text_hash)
