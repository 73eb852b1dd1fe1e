"""Authentication: a bearer token, or the anonymous owner (DESIGN §6)."""

from collections.abc import Callable
from dataclasses import replace
from time import monotonic

from anyio import to_thread
from starlette.types import ASGIApp, Receive, Scope, Send

from hearthmind.errors import HearthmindError, NotAllowed, NotAuthenticated
from hearthmind.gateway.auth.caller import CALLER, client_of
from hearthmind.gateway.envelope import header
from hearthmind.gateway.problems import problem_of
from hearthmind.house.access import anonymous_owner, caller_of, forwarded, token_hash
from hearthmind.model.house import Caller
from hearthmind.model.house import Scope as Right
from hearthmind.ports import HouseStore
from hearthmind.settings import Settings

OPEN_PATHS = frozenset({"/", "/healthz", "/readyz", "/favicon.ico"})
OPEN_PREFIX = "/.well-known/"
"""Clients probe here for OAuth; a 401 would look like a broken authorization server."""
READ_PATHS = frozenset({"/metrics", "/docs", "/openapi.json"})
"""Routes that name no operation and so are checked here."""
REMEMBERED_SECONDS = 0.25
REMEMBERED_CALLERS = 256

HOW_TO = "Send `Authorization: Bearer hm_…`; `hearthmind token create <name>` on the server makes a token."


class Doorkeeper:
    """Knows callers by their token. An answer counts for a quarter of a second, so that a busy client costs
    no look-up per request and a revoked token is refused at once for human purposes."""

    def __init__(self, store: HouseStore, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._known: dict[tuple[str, ...], tuple[float, Caller | None]] = {}

    def forget(self) -> None:
        """Tokens have changed."""
        self._known.clear()

    async def caller(self, scope: Scope) -> Caller:
        """Raises NotAuthenticated."""
        bearer = _bearer(scope)
        if bearer:
            caller = await self._remembered(("token", token_hash(bearer)), lambda: caller_of(bearer, self._store))
            if caller is None:
                raise NotAuthenticated(f"This token is not known; it may have been revoked. {HOW_TO}")
            return caller
        caller = await self._anonymous(scope)
        if caller is None:
            raise NotAuthenticated(f"A token is needed. {HOW_TO}")
        return caller

    async def _anonymous(self, scope: Scope) -> Caller | None:
        peer = scope["client"][0] if scope.get("client") else ""
        host = (header(scope, b"host") or b"").decode("latin-1")
        passed_on = [name for key, _ in scope["headers"] if forwarded(name := key.decode("latin-1"))]
        return await self._remembered(
            ("anonymous", peer, host, ",".join(passed_on)[:100]),
            lambda: anonymous_owner(self._settings, self._store, peer, host, passed_on),
        )

    async def _remembered(self, key: tuple[str, ...], find: Callable[[], Caller | None]) -> Caller | None:
        now = monotonic()
        known = self._known.get(key)
        if known and now < known[0]:
            return known[1]
        caller = await to_thread.run_sync(find)
        if len(self._known) >= REMEMBERED_CALLERS:
            self._known.clear()
        self._known[key] = (now + REMEMBERED_SECONDS, caller)
        return caller


class Authentication:
    """Lets through who may ask; what exactly they may do is the house's to decide."""

    def __init__(self, app: ASGIApp, doorkeeper: Doorkeeper) -> None:
        self._app = app
        self._doorkeeper = doorkeeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS or scope["path"].startswith(OPEN_PREFIX):
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._doorkeeper.caller(scope)
            if scope["path"] in READ_PATHS:
                _may_read(caller, scope["path"])
        except HearthmindError as error:
            await problem_of(error)(scope, receive, send)
            return
        client = client_of((header(scope, b"user-agent") or b"").decode("latin-1"))
        token = CALLER.set(replace(caller, client=client))
        try:
            await self._app(scope, receive, send)
        finally:
            CALLER.reset(token)


def _bearer(scope: Scope) -> str:
    """The token sent; empty for none (some clients send an empty Bearer). Raises NotAuthenticated for another
    scheme."""
    given = (header(scope, b"authorization") or b"").decode("latin-1").strip()
    scheme, _, value = given.partition(" ")
    if scheme and scheme.lower() != "bearer":
        raise NotAuthenticated(f"Only bearer tokens are understood. {HOW_TO}")
    return value.strip()


def _may_read(caller: Caller, path: str) -> None:
    if not caller.may(Right.READ):
        raise NotAllowed(f"{path} needs the scope 'read'.", scope="read")
    if path == "/metrics" and caller.spaces is not None:
        raise NotAllowed("/metrics covers every space; this token is bound to some of them.")
