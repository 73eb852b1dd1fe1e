"""A house shared by processes: whoever comes first hosts it, the others are its clients, and when the host
ends the next one takes over (DESIGN §3)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Event, Lock, Thread
from time import monotonic
from typing import Any, Protocol
from uuid import uuid4

from hearthmind.errors import HearthmindError, HostUnavailable
from hearthmind.house.lock import HostLock, holder
from hearthmind.house.operations import Ans, House, Operation, Req
from hearthmind.house.visit import HostLost, NoHost, Visits
from hearthmind.model.house import Caller
from hearthmind.settings import Settings

PATIENCE = 15.0
"""Seconds that a call waits for a host to appear. Opening the house is not counted: its door is there by then."""
MOST_LOST = 3
"""A call during which this many hosts ended is given up: it may be what ends them."""
RETRY_OPENING = 5.0


class LocalHouse(House, Protocol):
    """The house itself, with its stores open in this process."""

    def close(self) -> None: ...


class HouseClient:
    """Carries out operations, as the host or through the host's door. Implements `House`; for many threads.

    `open_house` is called while this process holds the host lock; `request_id` names the call in the host's
    log. A read, and a write that has an idempotency key, is asked again when the host ends during it; every
    request that can have such a key gets one.
    """

    def __init__(
        self,
        settings: Settings,
        open_house: Callable[[], LocalHouse],
        *,
        request_id: Callable[[], str] = str,
        patience: float = PATIENCE,
    ) -> None:
        self._data = settings.data
        self._open_house = open_house
        self._request_id = request_id
        self._patience = patience
        self._visits = Visits(self._data)
        self._opening = Lock()
        self._busy = Condition()
        self._calls = 0
        self._hosted: _Hosted | None = None
        self._closed = Event()
        self._watcher: Thread | None = None

    @property
    def hosting(self) -> bool:
        """Whether this process is the host."""
        return self._hosted is not None

    def do(self, operation: Operation[Req, Ans], caller: Caller, request: Req) -> Ans:
        """Carry out one operation. Raises HearthmindError; HostUnavailable where no host answers, or where a
        host ended during a write that cannot be asked again."""
        asked: Req | None = None
        lost = 0
        deadline = monotonic() + self._patience
        pause = 0.01
        while True:
            with self._begun() as house:
                if house is not None:
                    return house.do(operation, caller, asked or request)
            asked = asked or _repeatable(operation, request)
            try:
                return self._visits.ask(operation, caller, asked, self._request_id())
            except HostLost as error:
                lost += 1
                if not _may_repeat(operation, asked) or lost >= MOST_LOST:
                    raise HostUnavailable(
                        f"the Hearthmind host ended during {operation.name}; whether it was done is unknown"
                    ) from error
                deadline = monotonic() + self._patience
            except NoHost:
                pass
            if self._try_to_host():
                continue
            if monotonic() > deadline:
                raise HostUnavailable(
                    f"a Hearthmind process (pid {holder(self._data)}) holds {self._data} and does not answer"
                )
            self._closed.wait(pause)
            pause = min(pause * 2, 0.2)

    def keep_hosting(self) -> None:
        """Take over as soon as the host ends, even while idle. For processes that live long."""
        if self._watcher is None:
            self._watcher = Thread(target=self._watch, name="host-watch", daemon=True)
            self._watcher.start()

    def close(self) -> None:
        """Finish the calls begun here and those of the visitors, close the house, let the next host in."""
        self._closed.set()
        with self._opening:
            hosted, self._hosted = self._hosted, None
            with self._busy:
                self._busy.wait_for(lambda: self._calls == 0)
            if hosted is not None:
                hosted.close()
        self._visits.close()

    @contextmanager
    def _begun(self) -> Iterator[LocalHouse | None]:
        """Our own house, kept open until the call is over; None if it is elsewhere."""
        with self._busy:
            if self._closed.is_set():
                raise HostUnavailable("Hearthmind is ending")
            hosted = self._hosted
            self._calls += 1
        try:
            yield hosted.house if hosted else None
        finally:
            with self._busy:
                self._calls -= 1
                self._busy.notify_all()

    def _try_to_host(self) -> bool:
        """Become the host if nobody is. True also where another thread of ours just did."""
        with self._opening:
            if self._hosted is not None:
                return True
            lock = HostLock(self._data)
            try:
                free = lock.try_acquire()
            except OSError as error:
                raise HostUnavailable(f"cannot use the data folder {self._data}: {error}") from error
            if not free or self._closed.is_set():
                lock.release()
                return False
            self._hosted = _Hosted(lock, self._open_house)
            return True

    def _watch(self) -> None:
        while not self._closed.is_set():
            lock = HostLock(self._data)
            try:
                lock.acquire()
                with self._opening:
                    if self._closed.is_set() or self._hosted is not None:
                        lock.release()
                        return
                    self._hosted = _Hosted(lock, self._open_house)
            except (HearthmindError, OSError):
                from hearthmind.telemetry import get_logger

                get_logger(__name__).exception("could not become the host")
                self._closed.wait(RETRY_OPENING)
            else:
                return


class _Hosted:
    """What the host holds: the lock, the door, the open house. If opening fails nothing is held."""

    def __init__(self, lock: HostLock, open_house: Callable[[], LocalHouse]) -> None:
        from hearthmind.house.door import Door  # only a host needs it, and it costs every command a third of a second

        self._lock = lock
        try:
            self._door = Door(lock.data)
            try:
                self.house = open_house()
            except BaseException:
                self._door.close()
                raise
        except OSError as error:
            lock.release()
            raise HostUnavailable(f"cannot open the data folder {lock.data}: {error}") from error
        except BaseException:
            lock.release()
            raise
        self._door.serve(self.house)

    def close(self) -> None:
        try:
            self._door.close()
            self.house.close()
        finally:
            self._lock.release()


def _repeatable(operation: Operation[Req, Any], request: Req) -> Req:
    """The request with an idempotency key, where it can have one."""
    if operation.writes and _has_key(request) and getattr(request, "idempotency_key", None) is None:
        return request.model_copy(update={"idempotency_key": f"call-{uuid4().hex}"})
    return request


def _may_repeat(operation: Operation[Any, Any], request: Any) -> bool:
    return not operation.writes or _has_key(request)


def _has_key(request: Any) -> bool:
    return "idempotency_key" in type(request).model_fields
