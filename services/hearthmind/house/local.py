"""The house itself: every space with its upkeep, and the operations on them."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock, RLock
from typing import Any

from pydantic import BaseModel

from hearthmind.errors import HearthmindError, InvalidInput, NameTaken, StoreUnavailable
from hearthmind.house import contract as c
from hearthmind.house import handlers, operations
from hearthmind.house.access import add_token, authorise, list_tokens, revoke_token, space_of
from hearthmind.house.health import SlowLayers, status
from hearthmind.house.operations import Ans, Operation, Req
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.model.house import Caller, SpaceRecord
from hearthmind.model.index import IdempotentAnswer
from hearthmind.ports import HouseStore
from hearthmind.telemetry import get_logger
from hearthmind.upkeep.loop import Upkeep

DEFAULT_SPACE = "home"
log = get_logger(__name__)
Handler = Callable[[MountedSpace, Caller, Any], BaseModel]

HANDLERS: Mapping[str, Handler] = {
    operations.REMEMBER.name: handlers.remember,
    operations.RECALL.name: handlers.recall,
    operations.SEARCH.name: handlers.search,
    operations.FETCH.name: handlers.fetch,
    operations.SHOW.name: handlers.show,
    operations.RELATED.name: handlers.related,
    operations.LIST_INDEX.name: handlers.list_index,
    operations.LIST_TAGS.name: handlers.list_tags,
    operations.UPDATE.name: handlers.update,
    operations.FORGET.name: handlers.forget,
    operations.LOG_EPISODES.name: handlers.log_episodes,
    operations.CAPTURE.name: handlers.capture,
    operations.JOB.name: handlers.job,
    operations.JOBS.name: handlers.jobs,
    operations.STATS.name: handlers.stats,
}


@dataclass(slots=True)
class _Room:
    space: MountedSpace
    upkeep: Upkeep


class LocalHouse:
    """The house in this process. Opens every known space; one that cannot be opened is named in the status
    of the others and tried again when it is asked for."""

    def __init__(
        self,
        store: HouseStore,
        open_space: Callable[[SpaceRecord], MountedSpace],
        describe: Callable[[SpaceRecord], c.SpaceView],
        check_vault: Callable[[SpaceRecord], None],
        warnings: Sequence[str] = (),
    ) -> None:
        self._store = store
        self._open_space = open_space
        self._describe = describe
        self._check_vault = check_vault
        self._unopened: dict[str, str] = {}
        self._warnings = tuple(warnings)
        self._rooms: dict[str, _Room] = {}
        self._slow = SlowLayers()
        self._opening = RLock()
        self._keys = [Lock() for _ in range(64)]
        self._closed = False
        for record in store.spaces():
            with suppress(HearthmindError):
                self._room(record.name)

    def do(self, operation: Operation[Req, Ans], caller: Caller, request: Req) -> Ans:
        """Carry out one operation. Raises HearthmindError."""
        authorise(operation, caller)
        answer = self._of_the_house(operation, caller, request)
        if answer is None:
            answer = self._in_a_space(operation, caller, request)
        if not isinstance(answer, operation.answer):
            raise TypeError(f"{operation.name} answered {type(answer).__name__}")
        return answer

    def space(self, name: str) -> MountedSpace:
        """An open space by its name, for the loops and tests that work on it directly."""
        return self._room(name).space

    def close(self) -> None:
        """End upkeep after the batch at hand and close the stores."""
        with self._opening:
            self._closed = True
            rooms = list(self._rooms.values())
            for room in rooms:
                self._ended(room.upkeep.close, room.space.name)
            for room in rooms:
                for store in (room.space.vectors, room.space.graph, room.space.catalog):
                    self._ended(store.close, room.space.name)
            self._rooms.clear()
            self._ended(self._store.close, "")

    def _ended(self, close: Callable[[], None], space: str) -> None:
        """Derived stores heal at the next start; whatever fails here, the others must still be closed."""
        try:
            close()
        except Exception as error:
            log.exception("store_not_closed", space=space, error=str(error))

    def _of_the_house(self, operation: Operation[Any, Any], caller: Caller, request: Any) -> BaseModel | None:
        match operation.name:
            case operations.SPACES.name:
                views = [self._describe(one) for one in self._store.spaces() if caller.reaches(one.name)]
                return c.Listing[c.SpaceView](items=views, next=None, total=len(views))
            case operations.ADD_SPACE.name:
                return self._add_space(request)
            case operations.TOKENS.name:
                return list_tokens(self._store, request)
            case operations.ADD_TOKEN.name:
                return add_token(self._store, request)
            case operations.REVOKE_TOKEN.name:
                return revoke_token(self._store, request)
        return None

    def _in_a_space(self, operation: Operation[Any, Any], caller: Caller, request: Any) -> BaseModel:
        names = [record.name for record in self._store.spaces()]
        room = self._room(space_of(caller, request.space, names, DEFAULT_SPACE))
        if operation.name == operations.STATUS.name:
            return status(room.space, room.upkeep, self._slow, [*self._warnings, *self._unopened_spaces(caller)])
        handler = HANDLERS[operation.name]
        key = getattr(request, "idempotency_key", None)
        if not operation.writes:
            return handler(room.space, caller, request)
        answer = (
            self._once(room.space, operation, caller, request, key) if key else handler(room.space, caller, request)
        )
        room.upkeep.wake()
        return answer

    def _unopened_spaces(self, caller: Caller) -> list[str]:
        return [
            f"space {name} could not be opened: {reason}"
            for name, reason in list(self._unopened.items())
            if caller.reaches(name)
        ]

    def _once(
        self, space: MountedSpace, operation: Operation[Any, Any], caller: Caller, request: Any, key: str
    ) -> BaseModel:
        """The first answer again for a key that was seen; the same key for another request is refused."""
        scoped = f"{caller.name}\0{operation.name}\0{key}"
        digest = hashlib.sha256(request.model_dump_json(exclude={"idempotency_key"}).encode()).hexdigest()
        with self._keys[hash(scoped) % len(self._keys)]:
            if known := space.catalog.answer(scoped):
                if known.request != digest:
                    raise InvalidInput(
                        f"the idempotency key {key[:40]!r} was used for another request in the last 24 hours; "
                        "use a new key for a new request."
                    )
                answer: BaseModel = operation.answer.model_validate_json(known.answer)
                return _as_existing(answer)
            # What a handler derives from the key is the caller's and the operation's own.
            own = request.model_copy(update={"idempotency_key": hashlib.sha256(scoped.encode()).hexdigest()})
            answer = HANDLERS[operation.name](space, caller, own)
            with space.catalog.write() as write:
                write.remember_answer(scoped, IdempotentAnswer(digest, answer.model_dump_json(), datetime.now(UTC)))
            return answer

    def _add_space(self, request: c.NewSpaceRequest) -> c.SpaceView:
        with self._opening:
            if any(record.name == request.name for record in self._store.spaces()):
                raise NameTaken(f"There is a space {request.name!r} already; choose another name.")
            record = SpaceRecord(request.name, request.vault)
            self._check_vault(record)
            # Opened before it is recorded: a folder that cannot be a vault leaves no trace in the house.
            space = self._open_space(record)
            self._start(record.name, space)
            return self._describe(SpaceRecord(request.name, request.vault, space.mark.id, space.mark.kind.value))

    def _room(self, name: str) -> _Room:
        room = self._rooms.get(name)
        if room is not None:
            return room
        with self._opening:
            if self._closed:
                raise HearthmindError("the house is closing")
            if name not in self._rooms:
                record = next(one for one in self._store.spaces() if one.name == name)
                self._start(name, self._opened(record))
            return self._rooms[name]

    def _opened(self, record: SpaceRecord) -> MountedSpace:
        """Raises HearthmindError, and keeps the reason for the status of the others until the space opened."""
        try:
            return self._open_space(record)
        except HearthmindError as error:
            self._not_opened(record.name, error.message)
            raise
        except Exception as error:
            self._not_opened(record.name, str(error))
            log.exception("space_not_opened", space=record.name, error=str(error))
            raise StoreUnavailable(f"The space {record.name} cannot be opened: {error}") from error

    def _not_opened(self, name: str, reason: str) -> None:
        if self._unopened.get(name) != reason:
            log.warning("space_not_opened", space=name, error=reason)
        self._unopened[name] = reason

    def _start(self, name: str, space: MountedSpace) -> None:
        upkeep = Upkeep(space)
        self._rooms[name] = _Room(space, upkeep)
        self._unopened.pop(name, None)
        upkeep.start()


def _as_existing(answer: BaseModel) -> BaseModel:
    """The first answer to a write, given again: nothing new was stored."""
    match answer:
        case c.Remembered():
            return answer.model_copy(update={"existing": True})
        case c.EpisodesLogged() | c.Captured():
            return answer.model_copy(update={"existing": len(answer.ids)})
        case _:
            return answer
