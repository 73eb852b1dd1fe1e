"""Is it alive, can it do its job, and how much does it hold."""

from collections.abc import Iterable
from threading import Lock
from time import monotonic

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from hearthmind import telemetry
from hearthmind.errors import HearthmindError
from hearthmind.house import contract as c
from hearthmind.house import operations as op
from hearthmind.house.operations import House
from hearthmind.model.house import Caller, Scope
from hearthmind.telemetry import get_logger

PROBE = Caller("probe", frozenset({Scope.READ}), None, "probe")
COUNTS_FOR_SECONDS = 1.0

log = get_logger(__name__)


class Readiness(BaseModel):
    ready: bool
    reasons: list[str] = Field(default_factory=list, description="Why not, or which layers are degraded.")


class Health:
    """Asks the house, at most once a second however often probes come."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._lock = Lock()
        self._last: tuple[float, Readiness] = (float("-inf"), Readiness(ready=False))

    def readiness(self) -> Readiness:
        with self._lock:
            if monotonic() - self._last[0] > COUNTS_FOR_SECONDS:
                self._last = (monotonic(), self._ask())
            return self._last[1]

    def _ask(self) -> Readiness:
        try:
            status = self._house.do(op.STATUS, PROBE, c.StatusRequest())
        except HearthmindError as error:
            return Readiness(ready=False, reasons=[error.message])
        except Exception:
            log.exception("status failed")
            return Readiness(ready=False, reasons=["status failed; see the log"])
        weak = [f"{name} is {layer.state}" for name, layer in status.layers.items() if layer.state in _WEAK]
        return Readiness(ready=status.ready, reasons=weak)

    def refresh_gauges(self) -> None:
        """Bring the gauges up to date, space by space; one that cannot answer keeps its last figures."""
        try:
            spaces = [space.name for space in self._house.do(op.SPACES, PROBE, c.SpacesRequest()).items]
        except Exception as error:  # noqa: BLE001 - a scrape still gets the counters
            log.warning("gauges not refreshed", error=str(error))
            return
        for space in spaces:
            try:
                _show_stats(self._house.do(op.STATS, PROBE, c.StatusRequest(space=space)))
                _show_layers(space, self._house.do(op.STATUS, PROBE, c.StatusRequest(space=space)).layers.items())
            except Exception as error:  # noqa: BLE001 - the other spaces still count
                log.warning("gauges not refreshed", space=space, error=str(error))


_WEAK = {"degraded", "down"}


def _show_stats(stats: c.Stats) -> None:
    telemetry.NOTES.labels(stats.space).set(stats.memories)
    telemetry.PASSAGES.labels(stats.space).set(stats.passages)
    telemetry.PENDING_VECTORS.labels(stats.space).set(stats.pending_vectors)
    for state, number in stats.jobs.items():
        telemetry.JOBS.labels(stats.space, state).set(number)


def _show_layers(space: str, layers: Iterable[tuple[str, c.LayerState]]) -> None:
    for name, layer in layers:
        if layer.state != "off":
            telemetry.LAYER_UP.labels(space, name).set(layer.state != "down")


def health_routes(health: Health) -> APIRouter:
    routes = APIRouter(tags=["health"])

    @routes.get("/healthz", summary="Alive")
    async def healthz() -> JSONResponse:
        """The process answers. No token needed."""
        return JSONResponse({"status": "alive", "name": "hearthmind"})

    @routes.get("/readyz", response_model=Readiness, summary="Ready")
    def readyz() -> JSONResponse:
        """Whether it can remember and recall, whole or degraded; 503 and the reasons otherwise. No token needed."""
        readiness = health.readiness()
        return JSONResponse(readiness.model_dump(), 200 if readiness.ready else 503)

    @routes.get("/metrics", summary="Prometheus metrics", response_class=Response)
    def metrics() -> Response:
        """Requests, durations, jobs, notes, passages and layers of every space. Scope read, every space."""
        health.refresh_gauges()
        return Response(generate_latest(telemetry.REGISTRY), media_type=CONTENT_TYPE_LATEST)

    return routes
