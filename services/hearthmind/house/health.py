"""What works, what does not, and what to do about it."""

import shutil
from collections.abc import Callable, Sequence
from importlib.metadata import version
from threading import Lock
from time import monotonic

from hearthmind.errors import HearthmindError, StoreUnavailable
from hearthmind.house import contract as c
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.upkeep.loop import Upkeep

SHOWN_PROBLEMS = 100
EMBEDDER_SECONDS = 15.0
"""How long the embedder's last answer counts: status is asked often, a remote model is not free."""


class EmbedderHealth:
    """The embedder's state, asked at most every few seconds, once for all spaces that share it."""

    def __init__(self) -> None:
        self._asked: tuple[float, c.LayerState] | None = None
        self._asking = Lock()

    def of(self, space: MountedSpace) -> c.LayerState:
        """What it last answered; who finds that old asks anew, while the others go on with the old answer."""
        known = self._asked
        if known and monotonic() - known[0] < EMBEDDER_SECONDS:
            return known[1]
        if not self._asking.acquire(blocking=known is None):
            return known[1] if known else c.LayerState(state="degraded", detail="not asked yet")
        try:
            self._asked = (monotonic(), _embedder(space))
            return self._asked[1]
        finally:
            self._asking.release()


def status(space: MountedSpace, upkeep: Upkeep, embedder: EmbedderHealth, warnings: Sequence[str]) -> c.Status:
    """Health of every layer of a space."""
    layers = {
        "vault": _state(lambda: _vault(space)),
        "catalog": _state(lambda: _catalog(space)),
        "embedder": embedder.of(space),
        "vectors": _state(lambda: _vectors(space)),
        "graph": _state(lambda: _graph(space)),
        "queue": c.LayerState(state="ok", detail="in this process"),
        "model": c.LayerState(state="off", detail="no language model is set; summaries are first sentences"),
    }
    problems = [
        c.ProblemView(path=one.path, line=one.line, what=one.what, remedy=one.remedy)
        for one in space.catalog.problems()[:SHOWN_PROBLEMS]
    ]
    vault = [layers["vault"].detail] if layers["vault"].state == "down" else []
    progress = space.progress
    usable = all(layers[name].state in {"ok", "degraded"} for name in ("vault", "catalog"))
    return c.Status(
        version=version("hearthmind"),
        space=space.name,
        layers=layers,
        indexing=c.Indexing(
            active=progress.active or not upkeep.compared.is_set(), done=progress.done, total=progress.total
        ),
        warnings=[*warnings, *vault, *space.notices, *space.warnings, *_disk(space)],
        problems=problems,
        ready=usable,
    )


def _state(check: Callable[[], c.LayerState]) -> c.LayerState:
    try:
        return check()
    except HearthmindError as error:
        return c.LayerState(state="down", detail=error.message)


def _vault(space: MountedSpace) -> c.LayerState:
    space.require_mounted()
    return c.LayerState(state="ok", detail=f"{space.files.root} ({space.mark.kind.value})")


def _catalog(space: MountedSpace) -> c.LayerState:
    space.catalog.check()
    return c.LayerState(state="ok", detail=f"{space.catalog.counts().notes} notes")


def _vectors(space: MountedSpace) -> c.LayerState:
    stored, pending = space.vectors.count(), space.catalog.counts().pending_vectors
    if pending:
        return c.LayerState(state="degraded", detail=f"{stored} stored, {pending} passages still to embed")
    return c.LayerState(state="ok", detail=f"{stored} stored")


def _graph(space: MountedSpace) -> c.LayerState:
    space.graph.check()
    nodes, relations = space.graph.counts()
    return c.LayerState(state="ok", detail=f"{nodes} memories, {relations} relations")


def _embedder(space: MountedSpace) -> c.LayerState:
    try:
        space.embedder.embed_query("status")
        return c.LayerState(state="ok", detail=f"{space.embedder.name}, {space.embedder.dimensions} dimensions")
    except StoreUnavailable as error:
        return c.LayerState(state="down", detail=error.message)


def _disk(space: MountedSpace) -> list[str]:
    try:
        free = shutil.disk_usage(space.files.root).free
    except OSError:
        return []
    if free >= space.min_free_bytes:
        return []
    return [
        f"only {free // (1 << 20)} MB are free where the vault of {space.name} lies; "
        f"below {space.min_free_bytes // (1 << 20)} MB (HEARTHMIND_MIN_FREE_MB) writing may soon fail. Free some space."
    ]
