"""What works, what does not, and what to do about it."""

import shutil
from collections.abc import Callable, Sequence
from importlib.metadata import version
from threading import Event, Lock, Thread
from time import monotonic

from hearthmind.errors import HearthmindError
from hearthmind.house import contract as c
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.telemetry import get_logger
from hearthmind.upkeep.loop import Upkeep

SHOWN_PROBLEMS = 100
EMBEDDER_SECONDS = 15.0
"""How long the embedder's last answer counts: status is asked often, a remote model is not free."""
PATIENCE_SECONDS = 0.5
"""How long status waits for a layer that does not answer; probes give up after a second or two."""
STALE_SECONDS = 60.0
"""A layer that has not answered for this long is no longer what it was."""

log = get_logger(__name__)


class SlowLayers:
    """Layers that may take seconds to answer: a model that is being fetched, a server far away. Each is asked
    in a thread of its own, once at a time; whoever waits gets what was last known after a moment."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._layers: dict[str, _SlowLayer] = {}

    def state(self, name: str, check: Callable[[], c.LayerState], counts_for: float = 0.0) -> c.LayerState:
        """The state of a layer; an answer younger than `counts_for` seconds is given again."""
        with self._lock:
            layer = self._layers.setdefault(name, _SlowLayer())
        return layer.state(check, counts_for)


class _SlowLayer:
    def __init__(self) -> None:
        self._lock = Lock()
        self._known: tuple[float, c.LayerState] | None = None
        self._answered: Event | None = None

    def state(self, check: Callable[[], c.LayerState], counts_for: float) -> c.LayerState:
        with self._lock:
            if self._known and monotonic() - self._known[0] < counts_for:
                return self._known[1]
            answered = self._answered
            if answered is None:
                answered = self._answered = Event()
                Thread(target=self._ask, args=(check, answered), name="status", daemon=True).start()
        answered.wait(PATIENCE_SECONDS)
        known = self._known
        if known and monotonic() - known[0] < STALE_SECONDS:
            return known[1]
        return c.LayerState(state="degraded", detail="is being loaded; words are searched meanwhile")

    def _ask(self, check: Callable[[], c.LayerState], answered: Event) -> None:
        state = _state(check)
        with self._lock:
            self._known, self._answered = (monotonic(), state), None
        answered.set()


def status(space: MountedSpace, upkeep: Upkeep, slow: SlowLayers, warnings: Sequence[str]) -> c.Status:
    """Health of every layer of a space."""
    layers = {
        "vault": _state(lambda: _vault(space)),
        "catalog": _state(lambda: _catalog(space)),
        "embedder": slow.state("embedder", lambda: _embedder(space), EMBEDDER_SECONDS),
        "vectors": slow.state(f"vectors {space.name}", lambda: _vectors(space)),
        "graph": _state(lambda: _graph(space)),
        "queue": c.LayerState(state="ok", detail="in this process"),
        "model": c.LayerState(state="off", detail="no language model is set; summaries are first sentences"),
    }
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
        problems=_problems(space) if layers["catalog"].state == "ok" else [],
        ready=usable,
    )


def _state(check: Callable[[], c.LayerState]) -> c.LayerState:
    try:
        return check()
    except HearthmindError as error:
        return c.LayerState(state="down", detail=error.message)
    except Exception as error:
        log.exception("layer_check_failed", error=str(error))
        return c.LayerState(state="down", detail=f"the check failed ({type(error).__name__}); the log says more")


def _problems(space: MountedSpace) -> list[c.ProblemView]:
    return [
        c.ProblemView(path=one.path, line=one.line, what=one.what, remedy=one.remedy)
        for one in space.catalog.problems()[:SHOWN_PROBLEMS]
    ]


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
    space.embedder.embed_query("status")
    return c.LayerState(state="ok", detail=f"{space.embedder.name}, {space.embedder.dimensions} dimensions")


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
