"""The other side of the door: calls to the host over connections that are kept."""

import socket
from contextlib import suppress
from pathlib import Path
from threading import Lock

from hearthmind.house import wire
from hearthmind.house.lock import address
from hearthmind.house.operations import Ans, Operation, Req
from hearthmind.model.house import Caller

KEPT = 32
"""Idle connections kept for the next calls."""


class NoHost(Exception):
    """Nobody is at the door, or the call did not reach the host: it was not begun."""


class HostLost(Exception):
    """The host ended during the call: it may or may not have been carried out."""


class Visits:
    """Calls to the host of one data folder. Safe for many threads; each call has a connection to itself."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._lock = Lock()
        self._idle: list[_Connection] = []

    def ask(self, operation: Operation[Req, Ans], caller: Caller, request: Req, request_id: str) -> Ans:
        """Let the host carry out one operation. Raises its HearthmindError, NoHost or HostLost."""
        connection = self._take()
        try:
            line = connection.ask(wire.write_call(operation, caller, request, request_id))
        except BaseException:
            connection.close()
            raise
        self._keep(connection)
        try:
            return wire.read_answer(line, operation)
        except wire.HostClosing as closing:
            raise NoHost from closing

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> "_Connection":
        while True:
            with self._lock:
                if not self._idle:
                    break
                connection = self._idle.pop()
            if connection.alive():
                return connection
            connection.close()
        return _Connection(self._data)

    def _keep(self, connection: "_Connection") -> None:
        with self._lock:
            if len(self._idle) < KEPT:
                self._idle.append(connection)
                return
        connection.close()


class _Connection:
    def __init__(self, data: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(str(address(data)))
        except OSError as error:
            self._socket.close()
            raise NoHost from error
        self._answers = self._socket.makefile("rb")

    def ask(self, call: bytes) -> bytes:
        try:
            self._socket.sendall(call)
        except OSError as error:
            raise NoHost from error  # half a line is never begun
        try:
            line = self._answers.readline()
        except OSError as error:
            raise HostLost from error
        if not line.endswith(b"\n"):
            raise HostLost
        return line

    def alive(self) -> bool:
        """False if the host has closed its end: between calls there is nothing else to read."""
        try:
            self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        with suppress(OSError):
            self._answers.close()
        with suppress(OSError):
            self._socket.close()
