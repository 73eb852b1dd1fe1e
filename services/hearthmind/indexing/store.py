"""Bring the derived stores up to date with notes: catalog and links first, then vectors and graph."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack, suppress

import numpy as np
from numpy.typing import NDArray

from hearthmind.errors import DiskFull, HearthmindError, StoreUnavailable
from hearthmind.indexing.entries import former_paths
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.project import ReadNote, resolved
from hearthmind.model.index import Edge, StoredPassage
from hearthmind.ports import CatalogWrite
from hearthmind.telemetry import EMBEDDED, get_logger
from hearthmind.vault.durable import version_of
from hearthmind.vault.files import FileStat
from hearthmind.vault.links import Entry, LinkIndex, key_of, keys_of

EMBED_BATCH = 512
"""Passages embedded and stored together: large enough that sorting by length pays, small enough that a kill
loses seconds of work."""

log = get_logger(__name__)


def put_notes(space: MountedSpace, write: CatalogWrite, notes: Sequence[ReadNote]) -> list[StoredPassage]:
    """Store notes in an open transaction; returns the passages that need vectors. Follow with `settle`."""
    arriving = {note.memory.id for note in notes}
    displaced: set[str] = set()
    with space.guard:
        for note in notes:
            memory = note.memory
            other = space.links.id_at(memory.path)
            if other and other not in arriving:
                space.links.remove(other)
                displaced.add(other)
            space.links.add(Entry(memory.id, memory.path, memory.aliases, former_paths(space, memory.id)))
        projections = [resolved(space, note) for note in notes]
    if displaced:
        with suppress(StoreUnavailable):
            space.graph.delete(displaced)
    return [passage for projection in projections for passage in write.put(projection)]


def settle(
    space: MountedSpace, notes: Sequence[ReadNote], removed: Iterable[tuple[str, str, tuple[str, ...]]] = ()
) -> None:
    """After the commit: links of other notes that these notes answer (or no longer answer), and the graph.

    `removed` are (id, path, aliases) of notes that went.
    """
    gone = list(removed)
    keys: set[str] = set()
    for note in notes:
        keys |= keys_of(note.memory.path, note.memory.aliases, former_paths(space, note.memory.id))
    for _, path, aliases in gone:
        keys |= keys_of(path, aliases)
    touched = _relink(space, keys) | {note.memory.id for note in notes}
    try:
        if gone:
            space.graph.delete([note_id for note_id, _, _ in gone])
        put_in_graph(space, touched)
    except StoreUnavailable as error:
        log.warning("graph_unavailable", space=space.name, error=error.message)


def put_in_graph(space: MountedSpace, ids: Collection[str]) -> None:
    """Nodes and outgoing relations of notes, as the catalog has them."""
    edges = [
        Edge(link.source_id, link.target_id, link.link.relation, link.link.typed)
        for note_id in ids
        for link in space.catalog.links_from(note_id)
        if link.target_id and link.target_id != link.source_id
    ]
    space.graph.put(list(space.catalog.graph_nodes(ids)), edges)


def _relink(space: MountedSpace, keys: Collection[str]) -> set[str]:
    """Resolve again every link that asks for one of these names; returns the notes whose links changed."""
    if not space.catalog.links_by_key(keys):
        return set()
    with space.catalog.write() as write:
        stored = space.catalog.links_by_key(keys)
        with space.guard:
            paths = {link.source_id: space.links.path_of(link.source_id) for link in stored.values()}
            answers = {
                key: space.links.resolve(link.link, path)
                for key, link in stored.items()
                if (path := paths[link.source_id]) is not None
            }
        changed = {key: target for key, target in answers.items() if target != stored[key].target_id}
        write.resolve_links(changed)
    return {stored[key].source_id for key in changed}


def embed(space: MountedSpace, passages: Sequence[StoredPassage], vectors: NDArray[np.float32] | None = None) -> bool:
    """Give passages their vectors, computed here unless given. False when a layer is down: the passages stay
    unembedded and are tried again in the background."""
    try:
        for start in range(0, len(passages), EMBED_BATCH):
            batch = passages[start : start + EMBED_BATCH]
            made = (
                vectors[start : start + EMBED_BATCH]
                if vectors is not None
                else space.embedder.embed_passages([passage.embed for passage in batch])
            )
            space.vectors.upsert([passage.key for passage in batch], made)
            space.catalog.mark_embedded(batch)
            EMBEDDED.inc(len(batch))
    except StoreUnavailable as error:
        log.warning("embedding_postponed", space=space.name, passages=len(passages), error=error.message)
        return False
    return True


def forget_note(space: MountedSpace, write: CatalogWrite, note_id: str) -> Sequence[int]:
    """Drop a note in an open transaction; returns its passage keys for `drop_vectors`."""
    with space.guard:
        space.links.remove(note_id)
    return write.remove(note_id)


def drop_vectors(space: MountedSpace, keys: Collection[int]) -> None:
    """Drop vectors; one that stays behind because the index is down is ignored by recall."""
    if not keys:
        return
    try:
        space.vectors.delete(keys)
    except StoreUnavailable as error:
        log.warning("vectors_unavailable", space=space.name, error=error.message)


def drop_forgotten_vectors(space: MountedSpace) -> None:
    """Vectors of passages that notes lost, also those that a kill or a dead index left behind. Raises
    StoreUnavailable."""
    while keys := space.catalog.dropped(EMBED_BATCH):
        space.vectors.delete(keys)
        space.catalog.mark_dropped(keys)


def reload_links(space: MountedSpace) -> None:
    """Read the link index anew from the catalog: at start, and after a transaction that failed. No other
    transaction is open meanwhile: what it added and has not committed yet would be lost here."""
    with ExitStack() as holding:
        with suppress(StoreUnavailable, DiskFull):
            holding.enter_context(space.catalog.write())
        holding.enter_context(space.guard)
        space.links = LinkIndex(
            Entry(entry.id, entry.path, entry.aliases, former_paths(space, entry.id))
            for entry in space.catalog.link_entries()
        )


def relink_all(space: MountedSpace) -> None:
    """Resolve again what is unresolved: a process that was killed after its commit left links open."""
    _relink(space, {key_of(stored.link) for stored in space.catalog.unresolved_links()})


def state_of(space: MountedSpace, path: str, raw: bytes) -> FileStat:
    """The file state to record for bytes that we wrote. When somebody changed the file since, one that no
    file has: the next comparison reads it."""
    stat = space.files.stat(path)
    if stat is None or space.files.find(path) != raw:
        return FileStat(path, -1, 0, 0)
    return stat


def take_back(space: MountedSpace, note: ReadNote) -> None:
    """After a failed commit: a new note that its caller was refused leaves the vault again, for the trash,
    unless somebody changed it meanwhile."""
    raw = space.files.find(note.memory.path)
    if raw is not None and version_of(raw) == note.memory.version:
        with suppress(HearthmindError):
            space.files.remove_to_trash(note.memory.path)
