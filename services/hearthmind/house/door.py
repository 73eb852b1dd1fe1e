"""The host's door: an owner-only Unix socket through which other processes reach the house."""

import os
import shutil
import socket
import socketserver
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Lock, Thread, current_thread
from time import monotonic

from hearthmind import telemetry
from hearthmind.errors import HearthmindError
from hearthmind.house import wire
from hearthmind.house.lock import ADDRESS, SOCKET, address, state_folder
from hearthmind.house.operations import House
from hearthmind.telemetry import get_logger

LONGEST_PATH = 100
"""Bytes. `sun_path` holds 108 on Linux and 104 on macOS, with the final zero."""
FINISH_SECONDS = 30.0
PRIVATE = "hearthmind-"

log = get_logger(__name__)


class Door:
    """Serves a house, one thread per connection. Calls wait while `house` is still being opened.

    Only the holder of the host lock opens a door: it replaces the socket that a killed host left behind.
    """

    def __init__(self, data: Path) -> None:
        self._data = data
        self._ready = Event()
        self._house: House | None = None
        self._closing = False
        self._lock = Lock()
        self._visits: dict[socket.socket, Thread] = {}
        state = state_folder(data)
        _clear(data)
        self.path = state / SOCKET
        self._private: Path | None = None
        fresh = state / (SOCKET + ".new")
        if len(os.fsencode(fresh)) > LONGEST_PATH:
            self._private = Path(tempfile.mkdtemp(prefix=PRIVATE, dir=_short_folder()))
            self.path = self._private / "s"
            fresh = self._private / "n"
        with suppress(FileNotFoundError):
            fresh.unlink()
        self._server = _Server(str(fresh), self._visit)
        fresh.chmod(0o600)
        fresh.replace(self.path)  # visible only when it is private and answering
        if self._private:
            _write_private(state / ADDRESS, str(self.path))
        self._thread = Thread(target=self._server.serve_forever, args=(0.2,), name="door", daemon=True)
        self._thread.start()

    def serve(self, house: House) -> None:
        """From now on calls are carried out by `house`."""
        self._house = house
        self._ready.set()

    def close(self) -> None:
        """Take the socket away, finish the calls begun, turn the others away."""
        self._closing = True
        _clear(self._data)
        self._ready.set()
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            visits = dict(self._visits)
        for connection in visits:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        until = monotonic() + FINISH_SECONDS
        for thread in visits.values():
            thread.join(max(0.0, until - monotonic()))

    def _visit(self, connection: socket.socket) -> None:
        with self._lock:
            if self._closing:
                return
            self._visits[connection] = current_thread()
        try:
            with connection.makefile("rb") as calls:
                for line in calls:
                    connection.sendall(self._answer(line) if line.endswith(b"\n") else wire.CLOSING)
        except OSError:
            log.debug("visitor left", exc_info=True)
        finally:
            with self._lock:
                self._visits.pop(connection, None)

    def _answer(self, line: bytes) -> bytes:
        self._ready.wait()
        house = self._house
        if self._closing or house is None:
            return wire.CLOSING
        try:
            operation, caller, request, request_id = wire.read_call(line)
            telemetry.request_id.set(request_id)
            return wire.write_answer(house.do(operation, caller, request))
        except HearthmindError as error:
            return wire.write_problem(error)
        except Exception as error:  # the visitor must hear of a defect as well
            log.exception("call failed")
            return wire.write_problem(HearthmindError(f"unexpected {type(error).__name__}: {error}"))


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, path: str, visit: Callable[[socket.socket], None]) -> None:
        self._visit = visit
        super().__init__(path, socketserver.BaseRequestHandler)

    def finish_request(self, request: object, client_address: object) -> None:  # noqa: ARG002
        assert isinstance(request, socket.socket)
        self._visit(request)


def _short_folder() -> str:
    """Not the user's runtime folder: that goes at logout, while a host may stay."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) < LONGEST_PATH - len("/hearthmind-12345678/s") else "/tmp"


def _write_private(path: Path, text: str) -> None:
    fresh = path.with_name(path.name + ".new")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(text)
    fresh.replace(path)


def _clear(data: Path) -> None:
    """Remove the socket that is there, ours or that of a killed host, with its private folder."""
    state = data / "state"
    private = address(data).parent
    if private != state and private.name.startswith(PRIVATE):
        shutil.rmtree(private, ignore_errors=True)
    for name in (SOCKET, ADDRESS):
        with suppress(OSError):
            (state / name).unlink()
