"""Running the app on its port."""

import errno
import gc
import http.client
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from hearthmind.errors import HearthmindError, InvalidSetting
from hearthmind.house.access import host_name, is_loopback
from hearthmind.ports import HouseStore
from hearthmind.settings import Settings

SHUTDOWN_SECONDS = 10
PROBE_SECONDS = 1.0
BACKLOG = 2048

Started = Callable[[str, int], None]


def check_binding(settings: Settings, store: HouseStore) -> None:
    """Raises InvalidSetting if the server would be reachable from elsewhere while anyone may use it."""
    if not is_loopback(host_name(_bracketed(settings.host))) and not store.tokens():
        raise InvalidSetting(
            f"HEARTHMIND_HOST: {settings.host!r} is reachable from other machines, but no token exists. Create one "
            "with `hearthmind token create <name>`, or leave HEARTHMIND_HOST at 127.0.0.1."
        )


def serve_app(app: ASGIApp, settings: Settings, store: HouseStore, *, started: Started = lambda _, __: None) -> None:
    """Serve until SIGINT or SIGTERM, then finish the requests at hand. `started` gets host and port once it
    answers. Returns after a graceful end, so that the caller can close the house. Raises InvalidSetting."""
    check_binding(settings, store)
    listening = _listen(settings)
    config = uvicorn.Config(
        app,
        http="h11",  # httptools keeps white space that MCP's header checks refuse
        ws="none",
        lifespan="on",
        proxy_headers=False,  # forwarding headers decide about the anonymous owner; they must stay visible
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        timeout_keep_alive=30,
    )
    host, port = listening.getsockname()[:2]
    server = _Server(config, lambda: started(host, port))
    with closing(listening):
        server.run(sockets=[listening])
    if not server.started:
        raise HearthmindError("The server could not start; the log says why.")


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        gc.freeze()  # what lives until the end need not be traversed: full collections cost 60-100 ms of p99
        self._on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, except that the signal is not raised again afterwards, since the house is still to be closed,
        and that `handle_exit` stays uncalled: sse-starlette hooks it and would cut off the answers under way."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def end(number: int, _: FrameType | None) -> None:
            self.force_exit = self.should_exit and number == signal.SIGINT
            self.should_exit = True

        before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _listen(settings: Settings) -> socket.socket:
    try:
        return listening_socket(settings.host, settings.port)
    except OSError as error:
        raise InvalidSetting(_why_not(settings, error)) from error


def listening_socket(host: str, port: int) -> socket.socket:
    """A TCP socket that listens. Its protocol is spelt out: asyncio turns Nagle's algorithm off only then, and with
    it on, an answer of two packets waits 40 ms for the client's acknowledgement."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _why_not(settings: Settings, error: OSError) -> str:
    where = f"{settings.host}:{settings.port}"
    match error.errno:
        case errno.EADDRINUSE:
            who = "another Hearthmind answers there" if hearthmind_answers(settings) else "another program uses it"
            return (
                f"HEARTHMIND_PORT: port {settings.port} on {settings.host} is in use ({who}). End that one, or set "
                f"HEARTHMIND_PORT to another port."
            )
        case errno.EACCES:
            return f"HEARTHMIND_PORT: no permission to listen on {where}; choose a port above 1023."
        case _:
            return f"HEARTHMIND_HOST: cannot listen on {where}: {error.strerror or error}."


def hearthmind_answers(settings: Settings) -> bool:
    """Whether a Hearthmind is what listens on the port."""
    host = "127.0.0.1" if settings.host in {"", "0.0.0.0", "::"} else settings.host
    with (
        suppress(OSError, ValueError, AttributeError, http.client.HTTPException),
        closing(http.client.HTTPConnection(host, settings.port, timeout=PROBE_SECONDS)) as probe,
    ):
        probe.request("GET", "/healthz")
        return bool(json.loads(probe.getresponse().read(1000)).get("name") == "hearthmind")
    return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
