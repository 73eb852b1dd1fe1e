"""What every request and answer carries: an id, safe headers, one log line, and never a bare 500."""

import re
from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from ulid import ULID

from hearthmind.gateway.problems import unexpected
from hearthmind.telemetry import get_logger, request_id

SANE_ID = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines: logged only when they fail."""
MCP_PATHS = frozenset({"/mcp", "/mcp/"})
SAFE_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
NOTHING_LOADS = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")

log = get_logger(__name__)


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first value of a header; `name` in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def repeated(scope: Scope, name: bytes) -> bool:
    """Whether a header that may stand once is there more than once: proxies and apps then differ in which
    one counts."""
    return sum(1 for key, _ in scope["headers"] if key == name) > 1


class Envelope:
    """Outermost of our middlewares. A request keeps a sane X-Request-Id of its own, else it gets a ULID."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = header(scope, b"x-request-id")
        current = given.decode() if given and SANE_ID.fullmatch(given) else str(ULID())
        token = request_id.set(current)
        started, status = perf_counter(), 0

        async def send_enveloped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], (b"x-request-id", current.encode()), *SAFE_HEADERS]
                if not any(key == b"content-security-policy" for key, _ in headers):
                    headers.append(NOTHING_LOADS)
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self._app(scope, receive, send_enveloped)
        except Exception:
            log.exception("request crashed", method=scope["method"], path=_template(scope))
            if status:
                raise  # the answer has begun: only closing the connection tells the client
            await unexpected()(scope, receive, send_enveloped)
        finally:
            _log(scope, status, started)
            request_id.reset(token)


def _log(scope: Scope, status: int, started: float) -> None:
    quiet = scope["path"] in QUIET_PATHS and status < 500
    line = log.debug if quiet else log.warning if status >= 500 else log.info
    line(
        "request answered",
        method=scope["method"],
        path=_template(scope),
        status=status or 499,
        ms=round((perf_counter() - started) * 1000, 2),
    )


def _template(scope: Scope) -> str:
    """The route's pattern: ids and what strangers probe for stay out."""
    if scope["path"] in MCP_PATHS:
        return "/mcp"
    return getattr(scope.get("route"), "path", None) or "(no route)"
