"""Which Host and Origin a request may name (DESIGN §6): against DNS rebinding and foreign web pages."""

import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hearthmind.errors import MisdirectedHost
from hearthmind.gateway.envelope import header, repeated
from hearthmind.gateway.problems import OriginNotAllowed, problem_of
from hearthmind.house.access import host_name
from hearthmind.settings import Settings

EVERY_ADDRESS = frozenset({"0.0.0.0", "::", ""})
CORS_METHODS = "GET, POST, PATCH, DELETE"
CORS_EXPOSED = "ETag, Location, X-Request-Id, WWW-Authenticate, MCP-Protocol-Version"
PORTS = {"http": 80, "https": 443}


def allowed_names(settings: Settings) -> frozenset[str]:
    """Host names under which this server may be addressed, without ports."""
    own = socket.gethostname().lower()
    names = {"localhost", "127.0.0.1", "::1", own, own if own.endswith(".local") else f"{own}.local"}
    names.update(name for each in settings.allowed_hosts if (name := host_name(each)))
    if settings.host not in EVERY_ADDRESS:
        names.add(settings.host.lower())
    if settings.public_url:
        names.add((urlsplit(settings.public_url).hostname or "").lower())
    return frozenset(names - {""})


def allowed_origins(configured: Iterable[str]) -> frozenset[str]:
    return frozenset(origin for each in configured if (origin := _origin(each)))


def _origin(text: str) -> str | None:
    """An origin with its port spelt out; None for `null`, files and nonsense."""
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        port = parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.hostname}:{port}" if parts.scheme in PORTS and parts.hostname else None


class Guard:
    """Refuses other Hosts with 421 and other Origins with 403, each naming its setting; answers CORS for
    the allowed origins."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._names = allowed_names(settings)
        self._origins = allowed_origins(settings.allowed_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = host_name(_text(header(scope, b"host")))
        if host not in self._names or repeated(scope, b"host"):
            await _refuse_host(host)(scope, receive, send)
            return
        given = header(scope, b"origin")
        if given is None:
            await self._app(scope, receive, send)
            return
        origin = _text(given) or ""
        if repeated(scope, b"origin") or not self._allows(origin):
            await _refuse_origin(origin)(scope, receive, send)
            return
        await self._answer_across(origin, scope, receive, send)

    def _allows(self, origin: str) -> bool:
        whole = _origin(origin) if "://" in origin else None
        if whole is None:
            return False
        return whole in self._origins or (urlsplit(whole).hostname or "") in self._names

    async def _answer_across(self, origin: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "OPTIONS" and header(scope, b"access-control-request-method"):
            wanted = _text(header(scope, b"access-control-request-headers")) or "authorization, content-type"
            await Response(
                status_code=204,
                headers={
                    "Access-Control-Allow-Origin": origin,
                    "Access-Control-Allow-Methods": CORS_METHODS,
                    "Access-Control-Allow-Headers": wanted,
                    "Access-Control-Max-Age": "600",
                    "Vary": "Origin",
                },
            )(scope, receive, send)
            return

        async def send_shared(message: Message) -> None:
            if message["type"] == "http.response.start":
                shared = [
                    (b"access-control-allow-origin", origin.encode()),
                    (b"access-control-expose-headers", CORS_EXPOSED.encode()),
                    (b"vary", b"Origin"),
                ]
                message = {**message, "headers": [*message["headers"], *shared]}
            await send(message)

        await self._app(scope, receive, send_shared)


def _text(value: bytes | None) -> str | None:
    return value.decode("latin-1") if value is not None else None


def _refuse_host(host: str | None) -> Response:
    return problem_of(
        MisdirectedHost(
            f"This server does not answer to the host name {(host or '(none)')[:100]!r}. If it is yours, add it to "
            "HEARTHMIND_ALLOWED_HOSTS and restart.",
            setting="HEARTHMIND_ALLOWED_HOSTS",
        )
    )


def _refuse_origin(origin: str) -> Response:
    return problem_of(
        OriginNotAllowed(
            f"Pages from {origin[:100]!r} may not call this server. If you trust them, add that origin to "
            "HEARTHMIND_ALLOWED_ORIGINS and restart.",
            setting="HEARTHMIND_ALLOWED_ORIGINS",
        )
    )
