"""The one place where settings become objects."""

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

from hearthmind.errors import HearthmindError, InvalidInput, StoreUnavailable, VaultNotMounted
from hearthmind.house import contract as c
from hearthmind.house.local import DEFAULT_SPACE, LocalHouse
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.store import reload_links
from hearthmind.indexing.words import Words
from hearthmind.model import Space
from hearthmind.model.house import SpaceRecord
from hearthmind.ports import Catalog, Embedder, HouseStore, VectorIndex
from hearthmind.settings import Settings, unknown_variables
from hearthmind.stores.catalog.open import open_catalog
from hearthmind.stores.embedders import Options, choose
from hearthmind.stores.healing import AwaitedEmbedder, HealingVectorIndex
from hearthmind.stores.house import open_house as open_house_store
from hearthmind.stores.networkx_graph import NetworkxGraph
from hearthmind.stores.qdrant_edge import open_edge_index
from hearthmind.telemetry import get_logger
from hearthmind.vault.files import VaultFiles
from hearthmind.vault.identity import Identities
from hearthmind.vault.ignore import Ignore
from hearthmind.vault.layout import Layout
from hearthmind.vault.links import LinkIndex
from hearthmind.vault.mark import Kind, Mark, claim, mounted
from hearthmind.vault.records import Records

PROJECTION_SCHEMA = "1"
"""Raise it when passages, words or titles are made otherwise: catalogs are then rebuilt from the vault."""
EMBEDDER_PIN = "embedder"
"""The embedder that `auto` settled on at the first start."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Overrides:
    """Objects that tests put in the place of the real ones."""

    embedder: Embedder | None = None
    clock: Callable[[], datetime] | None = None
    environ: dict[str, str] | None = None


def open_store(settings: Settings) -> HouseStore:
    """`house.db` of a data folder. Several processes may have it open."""
    settings.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    return open_house_store(settings.data / "house.db")


def open_house(settings: Settings, overrides: Overrides | None = None) -> LocalHouse:
    """The whole house in this process. Only the holder of the host lock may call this.

    A space that cannot be opened is named in the status of the others. Raises StoreUnavailable.
    """
    overrides = overrides or Overrides()
    store = open_store(settings)
    if not any(record.name == DEFAULT_SPACE for record in store.spaces()):
        store.put_space(SpaceRecord(DEFAULT_SPACE, str(settings.vault) if settings.vault else None))
    embedder = overrides.embedder or AwaitedEmbedder(partial(_chosen_embedder, settings, store))
    opener = partial(_open_space, settings, store, embedder, overrides.clock or _utc_now)
    warnings = unknown_variables(dict(os.environ) if overrides.environ is None else overrides.environ)
    check = partial(_check_new_vault, settings, store)
    return LocalHouse(store, opener, partial(_describe, settings), check, warnings)


def vault_of(settings: Settings, record: SpaceRecord) -> Path:
    """Where the vault of a space lies; the setting HEARTHMIND_VAULT decides for the home space."""
    if record.name == DEFAULT_SPACE and settings.vault:
        return settings.vault
    return Path(record.vault) if record.vault else settings.data / "vaults" / record.name


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _chosen_embedder(settings: Settings, store: HouseStore) -> Embedder:
    key = settings.embedder_api_key.get_secret_value() if settings.embedder_api_key else None
    choice = choose(
        settings.embedder,
        settings.data,
        store.pinned(EMBEDDER_PIN) if settings.embedder == "auto" else None,
        hub_seconds=settings.hub_seconds,
        options=Options(api_key=key),
    )
    if settings.embedder == "auto":
        store.pin(EMBEDDER_PIN, choice.pin)
    log.info("embedder_chosen", embedder=choice.pin)
    try:
        choice.embedder.warm()
    except StoreUnavailable as error:
        log.warning("embedder_not_ready", error=error.message)
    return choice.embedder


def _open_space(
    settings: Settings,
    store: HouseStore,
    embedder: Embedder,
    clock: Callable[[], datetime],
    record: SpaceRecord,
) -> MountedSpace:
    root = vault_of(settings, record)
    mark = _mark(settings, store, record, root)
    chosen = record.vault or (record.name == DEFAULT_SPACE and settings.vault)
    seen = SpaceRecord(record.name, str(root) if chosen else None, mark.id, mark.kind.value)
    known = any(one.name == record.name for one in store.spaces())
    if known:
        store.put_space(seen)
    schema = f"{PROJECTION_SCHEMA} {','.join(settings.languages)} {mark.id} {settings.zone.key}"
    state = settings.state / record.name
    catalog, warnings = open_catalog(state / "catalog.db", record.name, schema)
    try:
        space = _mounted_space(settings, embedder, clock, seen, root, mark, catalog, warnings)
        if not known:
            # Last: a folder that cannot be a vault leaves no trace in the house.
            store.put_space(seen)
    except BaseException:
        catalog.close()
        raise
    return space


def _mounted_space(
    settings: Settings,
    embedder: Embedder,
    clock: Callable[[], datetime],
    record: SpaceRecord,
    root: Path,
    mark: Mark,
    catalog: Catalog,
    warnings: list[str],
) -> MountedSpace:
    space = MountedSpace(
        space=Space(record.name, str(root)),
        mark=mark,
        layout=Layout.of(mark, settings.folder),
        files=VaultFiles(root, mark.id),
        records=Records(root, mark.id),
        ignore=Ignore(root),
        identities=Identities(root, mark.id),
        links=LinkIndex(),
        catalog=catalog,
        vectors=HealingVectorIndex(
            partial(_open_vectors, settings.state / record.name / "vectors", catalog, embedder, warnings)
        ),
        graph=NetworkxGraph(),
        embedder=embedder,
        words=Words(settings.languages),
        zone=settings.zone,
        base_url=settings.base_url,
        clock=clock,
        max_content_bytes=settings.max_content_kb * 1024,
        min_free_bytes=settings.min_free_mb << 20,
        notices=warnings,
    )
    for warning in warnings:
        log.warning("store_rebuilt", space=record.name, warning=warning)
    with suppress(HearthmindError):
        space.files.rescue_temporaries()
    reload_links(space)
    space.graph.put(list(catalog.graph_nodes()), list(catalog.edges()))
    return space


def _mark(settings: Settings, store: HouseStore, record: SpaceRecord, root: Path) -> Mark:
    """The mark of a vault: of one seen before in this folder even while it is not mounted, so that recall
    answers from the catalog; a new folder is claimed."""
    before = Path(record.vault) if record.vault else settings.data / "vaults" / record.name
    if record.mark and record.kind and before == root:
        try:
            return mounted(root, record.mark)
        except VaultNotMounted as error:
            log.warning("vault_not_mounted", space=record.name, error=error.message)
            return Mark(Kind(record.kind), record.mark, "")
    if root.exists() and not root.is_dir():
        raise InvalidInput(f"{root} is not a folder; a vault is a folder of Markdown notes.")
    if not root.exists() and root.parent != settings.data / "vaults":
        raise VaultNotMounted(
            f"There is no folder {root}. Create it, or correct the path; nothing is created in its place.",
            vault=str(root),
        )
    _check_place(settings, store, record, root)
    root.mkdir(parents=True, exist_ok=True)
    return claim(root)


SYSTEM_FOLDERS = frozenset(
    "/" + name
    for name in [
        *("", "bin", "boot", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "root", "run", "sbin", "sys", "tmp"),
        *("usr", "var", "Applications", "Library", "System", "Users", "Volumes", "private"),
    ]
)
"""Nobody's vault; what lies in them may be."""
SYSTEM_TREES = ("/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr", "/System")
"""Nothing in them is anybody's vault."""


def _check_new_vault(settings: Settings, store: HouseStore, record: SpaceRecord) -> None:
    """Raises InvalidInput for a folder that must not become the vault of a new space."""
    root = vault_of(settings, record)
    if record.vault is not None:
        if "\0" in record.vault or not root.is_absolute():
            raise InvalidInput(f"{record.vault[:200]!r} is not the absolute path of a folder, like /home/me/Notes.")
        try:
            there = root.is_dir()
        except OSError as fault:
            raise InvalidInput(f"{root} cannot be looked at: {fault.strerror or fault}.") from fault
        if not there:
            raise InvalidInput(f"There is no folder {root}. Create it first; nothing is created in its place.")
    _check_place(settings, store, record, root)


def _check_place(settings: Settings, store: HouseStore, record: SpaceRecord, root: Path) -> None:
    """Raises InvalidInput where a vault would be the system's, hold our own data, or overlap with another."""
    try:
        real, data = root.resolve(), settings.data.resolve()
        others = {one.name: vault_of(settings, one).resolve() for one in store.spaces() if one.name != record.name}
    except (OSError, RuntimeError) as fault:
        raise InvalidInput(f"{root} cannot be looked at: {fault}.") from fault
    if str(real) in {real.anchor, *SYSTEM_FOLDERS} or any(str(real).startswith(f"{tree}/") for tree in SYSTEM_TREES):
        raise InvalidInput(f"{root} belongs to the system; name the folder of your notes.")
    vaults = data / "vaults"
    if _holds(real, vaults) or (_holds(data, real) and not _holds(vaults, real)):
        raise InvalidInput(f"{root} is, holds or lies in Hearthmind's own data folder {data}; name another folder.")
    for name, other in others.items():
        if _holds(real, other) or _holds(other, real):
            raise InvalidInput(f"{root} overlaps with the vault of the space {name}; name another folder.")


def _holds(folder: Path, path: Path) -> bool:
    """Whether `path` is `folder` or lies in it, by whatever name: links, bind mounts, another case."""
    for one in (path, *path.parents):
        if one == folder:
            return True
        with suppress(OSError):
            if one.samefile(folder):
                return True
    return False


def _open_vectors(folder: Path, catalog: Catalog, embedder: Embedder, notices: list[str]) -> VectorIndex:
    """The collection of this embedder for this life of the catalog. An index that lost its vectors, or never
    had them, makes every passage due for embedding."""
    name = hashlib.sha256(f"{embedder.name}\n{catalog.identity}".encode()).hexdigest()[:16]
    try:
        index, warnings = open_edge_index(folder / name, embedder.dimensions)
    except OSError as fault:
        raise StoreUnavailable(f"The vector index in {folder} cannot be opened: {fault.strerror or fault}.") from fault
    try:
        notices.extend(warnings)
        counts = catalog.counts()
        if index.count() < counts.passages - counts.pending_vectors:
            catalog.mark_all_unembedded()
        elif counts.pending_vectors == 0 and counts.passages:
            # Kept until now: a mistyped embedder must not cost the vectors of the right one.
            _drop_others(folder, name)
    except BaseException:
        # It is opened again in a few seconds, which its lock would refuse.
        index.close()
        raise
    return index


def _drop_others(folder: Path, name: str) -> None:
    """Collections of other embedders and of catalogs that are gone. What cannot be removed stays until the
    next opening."""
    with suppress(OSError):
        for other in folder.iterdir():
            if other.is_dir() and not other.name.startswith(name):
                shutil.rmtree(other, ignore_errors=True)


def _describe(settings: Settings, record: SpaceRecord) -> c.SpaceView:
    root = vault_of(settings, record)
    try:
        mark = mounted(root, record.mark)
    except HearthmindError:
        kind: Literal["ours", "adopted", "unknown"] = Kind(record.kind).value if record.kind else "unknown"
        return c.SpaceView(name=record.name, vault=str(root), kind=kind, mounted=False)
    return c.SpaceView(name=record.name, vault=str(root), kind=mark.kind.value, mounted=True)
