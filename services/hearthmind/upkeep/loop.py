"""The background work of one space while this process hosts it: comparing, embedding, finishing jobs."""

from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from time import monotonic

from hearthmind.errors import HearthmindError, StoreUnavailable, VaultNotMounted
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.store import EMBED_BATCH, drop_forgotten_vectors, embed, relink_all
from hearthmind.model import JobState
from hearthmind.recall.baseline import unrelated_cosine
from hearthmind.telemetry import get_logger
from hearthmind.upkeep.agents_page import write_agents_page
from hearthmind.upkeep.sync import sync

TICK_SECONDS = 1.0
COMPARE_SHARE = 100
"""The vault is compared again after this many times the time a comparison takes: under 1% of a core."""
COMPARE_AT_LEAST_SECONDS = 10.0
COMPARE_AT_MOST_SECONDS = 60.0
RETRY_SECONDS = (2.0, 60.0)
"""First and longest pause while the embedder or the vector index is down."""

log = get_logger(__name__)


class Upkeep:
    """A thread that keeps a space's indexes true to its vault until `close`."""

    def __init__(self, space: MountedSpace, clock: Callable[[], float] = monotonic) -> None:
        self._space = space
        self._clock = clock
        self._stop = Event()
        self._wake = Event()
        self._compare_at = 0.0
        self._embed_at = 0.0
        self._pause = RETRY_SECONDS[0]
        self._thread = Thread(target=self._run, name=f"upkeep-{space.name}", daemon=True)
        self.compared = Event()
        """Set once the vault has been compared since the start."""

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is work: do not wait for the next tick."""
        self._wake.set()

    def close(self) -> None:
        """Stop after the batch at hand."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=30)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._once()
            self._wake.wait(TICK_SECONDS)
            self._wake.clear()

    def _once(self) -> None:
        now = self._clock()
        if now >= self._compare_at:
            self._compare_at = now + COMPARE_AT_LEAST_SECONDS
            self._guarded("comparing", self._compare)
        if now >= self._embed_at:
            self._guarded("embedding", self._embed)

    def _guarded(self, doing: str, step: Callable[[], None]) -> None:
        """One step; a fault in it is told and does not keep the other from its work."""
        try:
            step()
        except Exception as error:
            log.exception("upkeep_failed", space=self._space.name, doing=doing, error=str(error))
            self._space.warnings[:] = [f"{doing} failed and is tried again: {error}"]
            if doing == "embedding":
                self._wait_to_embed()

    def _compare(self) -> None:
        try:
            report = sync(self._space, self._stop.is_set)
        except VaultNotMounted as error:
            log.warning("vault_not_mounted", space=self._space.name, error=error.message)
            self._compare_at = self._clock() + COMPARE_AT_LEAST_SECONDS
            return
        if not self.compared.is_set():
            relink_all(self._space)
        write_agents_page(self._space)
        if not self._stop.is_set():
            self.compared.set()
        pause = max(COMPARE_AT_LEAST_SECONDS, min(COMPARE_AT_MOST_SECONDS, COMPARE_SHARE * report.looked_seconds))
        self._compare_at = self._clock() + pause

    def _embed(self) -> None:
        """Vectors for every passage that lacks one, then the jobs that waited for them."""
        space = self._space
        try:
            if space.unrelated is None:
                space.unrelated = unrelated_cosine(space.embedder)
            drop_forgotten_vectors(space)
            bulk = False
            while not self._stop.is_set() and (batch := space.catalog.unembedded(EMBED_BATCH)):
                bulk = bulk or len(batch) == EMBED_BATCH
                if not embed(space, batch):
                    raise StoreUnavailable(
                        "the embedder or the vector index cannot answer; words are searched meanwhile"
                    )
            if bulk:
                space.vectors.optimise()
        except HearthmindError as error:
            self._wait_to_embed()
            self._tell_jobs(JobState.QUEUED, error.message)
            return
        self._pause = RETRY_SECONDS[0]
        if not self._stop.is_set():
            self._tell_jobs(JobState.DONE, None)

    def _wait_to_embed(self) -> None:
        self._embed_at = self._clock() + self._pause
        self._pause = min(RETRY_SECONDS[1], self._pause * 2)

    def _tell_jobs(self, state: JobState, error: str | None) -> None:
        """Set the jobs that wait for vectors. Those queued before the last look at the passages are meant:
        a memory that came in since embeds itself or is found at the next tick."""
        waiting, _, _ = self._space.catalog.jobs([JobState.QUEUED], limit=500)
        jobs = [job for job in waiting if job.kind == "index.embed" and (state, error) != (job.state, job.error)]
        if not jobs:
            return
        unembedded = {passage.note_id for passage in self._space.catalog.unembedded(5_000)} if error is None else set()
        now = self._space.clock()
        with self._space.catalog.write() as write:
            for job in jobs:
                if job.note_id not in unembedded:
                    tries = job.attempts + 1
                    write.update_job(replace(job, state=state, error=error, attempts=tries, changed=now))
