"""A space that is open: its vault and the stores behind it, as the rooms above use them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock, RLock
from zoneinfo import ZoneInfo

from hearthmind.indexing.words import Words
from hearthmind.model import Space
from hearthmind.ports import Catalog, Embedder, GraphStore, VectorIndex
from hearthmind.vault.files import VaultFiles
from hearthmind.vault.identity import Identities
from hearthmind.vault.ignore import Ignore
from hearthmind.vault.layout import Layout
from hearthmind.vault.links import LinkIndex
from hearthmind.vault.mark import Mark
from hearthmind.vault.records import Records


@dataclass(slots=True)
class Progress:
    """How far the index of a space has come, in notes."""

    active: bool = False
    done: int = 0
    total: int = 0


@dataclass(slots=True)
class MountedSpace:
    """`guard` protects `links` and `identities`, which live in memory; the catalog's write transaction
    protects everything else. Take the transaction first, then the guard."""

    space: Space
    mark: Mark
    layout: Layout
    files: VaultFiles
    records: Records
    ignore: Ignore
    identities: Identities
    links: LinkIndex
    catalog: Catalog
    vectors: VectorIndex
    graph: GraphStore
    embedder: Embedder
    words: Words
    zone: ZoneInfo
    base_url: str
    clock: Callable[[], datetime]
    max_content_bytes: int = 1 << 20
    min_free_bytes: int = 500 << 20
    unrelated: float | None = None
    """What the embedder makes of unrelated sentences (recall.baseline); None until it was asked."""
    progress: Progress = field(default_factory=Progress)
    warnings: list[str] = field(default_factory=list)
    """What the last comparison found wrong with the vault as a whole."""
    notices: list[str] = field(default_factory=list)
    """What was mended when the stores were opened."""
    guard: RLock = field(default_factory=RLock)
    comparing: Lock = field(default_factory=Lock)
    """Held by a comparison of the vault: two at once would each give a new note an identity."""
    appending: Lock = field(default_factory=Lock)
    """Held while an entry finds its note, makes it or appends to it: taken before the transaction."""

    @property
    def name(self) -> str:
        return self.space.name

    def require_mounted(self) -> None:
        """Raises VaultNotMounted unless this very vault lies in its place."""
        self.files.require_mounted()

    def url(self, note_id: str) -> str:
        return f"{self.base_url}/n/{note_id}"

    def now(self) -> datetime:
        """Now, in the house's zone."""
        return self.clock().astimezone(self.zone)
