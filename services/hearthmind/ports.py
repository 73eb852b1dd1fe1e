"""What the rooms need of the stores. `stores` implements these; `bootstrap` alone chooses."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hearthmind.model.house import SpaceRecord, Token
from hearthmind.model.index import (
    Counts,
    Edge,
    GraphNode,
    IdempotentAnswer,
    IndexedFile,
    LinkEntry,
    Neighbourhood,
    Problem,
    Projection,
    Scored,
    StoredLink,
    StoredPassage,
    TagCount,
)
from hearthmind.model.job import Job, JobState
from hearthmind.model.memory import Memory, RelationType
from hearthmind.model.query import Filter


class CatalogWrite(Protocol):
    """The write transaction of a space: while it is open no other process or thread writes to the space.

    Leaving the context commits, an exception rolls everything back.
    """

    def put(self, projection: Projection) -> Sequence[StoredPassage]:
        """Store or replace a note by its id. Passages whose `embed` text stayed the same at the same `seq`
        keep their vector; those returned need one. SHALL drop the id's old rows first, also those at
        another path."""

    def remove(self, note_id: str) -> Sequence[int]:
        """Forget a note; returns the passage keys that other stores must drop. Links to it stay,
        unresolved."""

    def touch(self, note_id: str, path: str, size: int, mtime_ns: int) -> None:
        """Record a file state (and folder) for a note whose bytes are unchanged. An unknown id does nothing.
        A note whose file name changed SHALL be put, since its title and terms follow the name (ValueError)."""

    def resolve_links(self, targets: Mapping[int, str | None]) -> None:
        """Set the target note of stored links by link key, see `Catalog.links_by_key`."""

    def add_job(self, job: Job) -> None: ...

    def update_job(self, job: Job) -> None: ...

    def remember_answer(self, key: str, answer: IdempotentAnswer) -> None:
        """Keep the answer to a request with an idempotency key; older than 24 h may be dropped."""

    def describe_tag(self, tag: str, description: str) -> None: ...

    def set_problem(self, path: str, problem: Problem | None) -> None:
        """Record or clear a problem of a file that is not a readable note."""


class Catalog(Protocol):
    """Notes, passages, full-text, links, tags and jobs of one space (SQLite). Safe for concurrent threads.

    Reads see the last committed state and never wait for a writer.
    """

    @property
    def identity(self) -> str:
        """Random name of this catalog's life; a rebuilt catalog has another, so vectors of old keys are
        never mistaken for its own."""

    def write(self) -> AbstractContextManager[CatalogWrite]: ...

    def memory(self, note_id: str) -> Memory | None: ...

    def memories(self, ids: Collection[str]) -> Mapping[str, Memory]: ...

    def memory_at(self, path: str) -> Memory | None: ...

    def same_text(self, title: str, text: str, since: datetime) -> Memory | None:
        """A memory with this very title and body that the catalog first saw at or after `since`."""

    def name_taken(self, folded_stem: str) -> bool:
        """Is a file of this folded name (see vault.names.fold) anywhere in the vault?"""

    def list_memories(
        self,
        *,
        filter: Filter,
        folder: str | None = None,
        tag: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> tuple[Sequence[Memory], str | None, int]:
        """A page by path order without bodies (`text` is empty): memories, the cursor of the next page, and
        the total."""

    def files(self) -> Mapping[str, IndexedFile]:
        """Every indexed file by path."""

    def link_entries(self) -> Iterator[LinkEntry]: ...

    def links_from(self, note_id: str) -> Sequence[StoredLink]: ...

    def links_to(self, note_id: str) -> Sequence[StoredLink]: ...

    def unresolved_links(self) -> Sequence[StoredLink]:
        """Links that no memory answers to."""

    def links_by_key(self, keys: Collection[str]) -> Mapping[int, StoredLink]:
        """Stored links whose normalised target name (vault.links.key_of) is among `keys`, by link key."""

    def edges(self) -> Iterator[Edge]:
        """Every resolved link between two memories, without duplicates and self-links."""

    def graph_nodes(self, ids: Collection[str] | None = None) -> Iterator[GraphNode]: ...

    def keyword(self, stems: Sequence[str], words: Sequence[str], limit: int, filter: Filter) -> Sequence[Scored]:
        """Passages by BM25 over any of the terms, best first, scores positive. `words` weigh a little for
        the unreduced form."""

    def document_frequency(self, stems: Collection[str]) -> tuple[Mapping[str, int], int]:
        """In how many passages each stem stands, and how many passages there are."""

    def matching(self, filter: Filter) -> frozenset[int] | None:
        """Passage keys that meet a filter; None for an empty filter."""

    def passages(self, keys: Collection[int]) -> Mapping[int, StoredPassage]: ...

    def passages_of(self, note_id: str) -> Sequence[StoredPassage]: ...

    def unembedded(self, limit: int) -> Sequence[StoredPassage]:
        """Passages that still need a vector, oldest first."""

    def mark_embedded(self, passages: Sequence[StoredPassage]) -> None:
        """Their vectors are stored; a passage whose `embed` text changed meanwhile stays unembedded."""

    def mark_all_unembedded(self) -> None: ...

    def dropped(self, limit: int) -> Sequence[int]:
        """Keys of passages that are gone and whose vectors may still be stored."""

    def mark_dropped(self, keys: Collection[int]) -> None:
        """Their vectors are gone; a passage that has such a key again needs a new one."""

    def roles(self) -> Collection[str]:
        """Everybody who speaks in a session. Called with every question: cheap."""

    def spellings(self, tags: Collection[str]) -> Mapping[str, str]:
        """The spelling in use of each of these tags that is in use, by the tag as given."""

    def tags(self, prefix: str | None = None) -> Sequence[TagCount]:
        """The tag registry, most used first."""

    def job(self, job_id: str) -> Job | None: ...

    def jobs(
        self, states: Collection[JobState], after: str | None = None, limit: int = 50
    ) -> tuple[Sequence[Job], str | None, int]: ...

    def job_counts(self) -> Mapping[JobState, int]: ...

    def answer(self, key: str) -> IdempotentAnswer | None: ...

    def problems(self) -> Sequence[Problem]: ...

    def counts(self) -> Counts: ...

    def check(self) -> None:
        """Raises StoreUnavailable when the catalog cannot answer."""

    def close(self) -> None: ...


class VectorIndex(Protocol):
    """Vectors of one space for one embedder, by passage key. Durable: what `upsert` returned from survives
    a kill. Raises StoreUnavailable."""

    def upsert(self, keys: Sequence[int], vectors: NDArray[np.float32]) -> None: ...

    def delete(self, keys: Collection[int]) -> None: ...

    def search(self, vector: NDArray[np.float32], limit: int, among: Collection[int] | None = None) -> Sequence[Scored]:
        """Nearest passages by cosine, best first; only those `among`, where given."""

    def vectors(self, keys: Collection[int]) -> Mapping[int, NDArray[np.float32]]: ...

    def count(self) -> int: ...

    def optimise(self) -> None:
        """Merge and index segments after bulk work."""

    def close(self) -> None: ...


class GraphStore(Protocol):
    """Memories and their relations. Raises StoreUnavailable."""

    def put(self, nodes: Sequence[GraphNode], edges: Sequence[Edge]) -> None:
        """Store nodes; `edges` replace all outgoing relations of these nodes. Idempotent."""

    def delete(self, ids: Collection[str]) -> None:
        """Drop nodes and every relation that touches them."""

    def neighbourhood(
        self,
        ids: Collection[str],
        depth: int = 1,
        types: Collection[RelationType] = (),
        limit: int = 200,
    ) -> Neighbourhood:
        """Everything within `depth` steps in either direction, over relations of these types (all if
        empty); at most `limit` memories, nearest first. Unknown ids are left out."""

    def shortest_path(self, source: str, target: str) -> Sequence[str]:
        """Ids from one memory to another, direction aside; empty when there is none."""

    def communities(self) -> Sequence[frozenset[str]]:
        """Groups of memories more connected among themselves than with others, largest first."""

    def orphans(self) -> Sequence[str]:
        """Memories without any relation."""

    def counts(self) -> tuple[int, int]:
        """Nodes and relations."""

    def clear(self) -> None: ...

    def check(self) -> None:
        """Raises StoreUnavailable when the graph cannot answer."""

    def close(self) -> None: ...


class Embedder(Protocol):
    """Turns text into vectors. Query and passage prefixes belong to the model. Raises EmbedderUnavailable."""

    @property
    def name(self) -> str:
        """Identity of the vectors; another name means another collection."""

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """The longest passage the model reads whole."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n, d), L2-normalised, in the order given."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """(d,), L2-normalised."""

    def count_tokens(self, text: str) -> int:
        """How long a text is for this model; an estimate for remote ones."""


class HouseStore(Protocol):
    """What belongs to the house rather than a space: spaces, tokens, pinned choices (`house.db`)."""

    def spaces(self) -> Sequence[SpaceRecord]: ...

    def put_space(self, record: SpaceRecord) -> None: ...

    def tokens(self) -> Sequence[Token]: ...

    def add_token(self, token: Token) -> None: ...

    def revoke_token(self, token_id: str) -> bool: ...

    def token_by_hash(self, digest: str) -> Token | None: ...

    def token_used(self, token_id: str, at: datetime) -> None:
        """Recorded at most once a minute per token."""

    def pinned(self, key: str) -> str | None: ...

    def pin(self, key: str, value: str) -> None: ...

    def close(self) -> None: ...
