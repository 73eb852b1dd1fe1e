"""What the catalog stores of a note, and what it gives back: the values of a projection.

A *passage key* is `note_key << PASSAGE_BITS | seq`: the neighbours of a passage are `key ± 1`, and every
store names a passage by the same number. A *note key* is the catalog's own integer for a memory; both
change when the catalog is rebuilt, ids do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hearthmind.model.memory import Link, Memory, MemoryType, Passage, RelationType

PASSAGE_BITS = 20
MAX_PASSAGES = 1 << PASSAGE_BITS


@dataclass(frozen=True, slots=True)
class FileState:
    """The file as it was when it was projected; an equal size and mtime means unchanged."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class AnalysedPassage:
    """A passage with its full-text terms: space-joined tokens of letters and digits, already folded.

    `stems` are the words of the text reduced for each language in use, `words` the same words unreduced,
    `heading` the stems of title and headings. `embed` is the text that the embedder reads; equal `embed`
    means an equal vector.
    """

    passage: Passage
    stems: str
    words: str
    heading: str
    embed: str


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link with the normalised name it asks for and the memory that answers to it, None if none does."""

    link: Link
    key: str
    target_id: str | None


@dataclass(frozen=True, slots=True)
class Projection:
    """All that the catalog keeps of one note. `folded_name` is the file's stem, folded for comparison
    (vault.names.fold)."""

    memory: Memory
    folded_name: str
    file: FileState
    passages: Sequence[AnalysedPassage]
    links: Sequence[ResolvedLink]


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """What the catalog knows of a file, for comparison with the vault."""

    id: str
    path: str
    version: str
    text_version: str
    state: FileState


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage as the catalog gives it back, with what a hit needs of its note."""

    key: int
    note_id: str
    passage: Passage
    embed: str


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage key with a score; more is better."""

    key: int
    score: float


@dataclass(frozen=True, slots=True)
class LinkEntry:
    """What link resolution needs to know of a note."""

    id: str
    path: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link in the catalog; `target_id` is None while nothing in the vault answers to it."""

    source_id: str
    link: Link
    target_id: str | None


@dataclass(frozen=True, slots=True)
class TagCount:
    tag: str
    count: int
    description: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """A note that needs the person's attention."""

    path: str
    line: int | None
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Counts:
    """Totals of a space. `pending_vectors` are passages not yet embedded."""

    notes: int
    passages: int
    links: int
    unresolved_links: int
    tags: int
    pending_vectors: int
    types: dict[str, int]
    mean_importance: float | None


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A memory in the graph."""

    id: str
    title: str
    type: MemoryType
    path: str
    date: str | None = None
    importance: int = 5
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    type: RelationType
    typed: bool = False


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The part of the graph around a memory: ids with their distance in steps (the start is 0), nearest
    first, and the relations between them."""

    distances: dict[str, int]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class IdempotentAnswer:
    """The stored answer to a request with an idempotency key. `request` hashes the request's content."""

    request: str
    answer: str
    at: datetime
