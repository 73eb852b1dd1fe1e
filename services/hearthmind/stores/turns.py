"""Threads of one process take turns at what only one may use, first come first served."""

import threading
from collections import deque


class Turns:
    """A fair lock: whoever asked first goes first, so a busy thread cannot starve the others.

    Not re-entrant: a thread that asks while it has the turn gets a RuntimeError instead of a deadlock.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._taken = False
        self._owner: int | None = None

    def take(self, seconds: float) -> bool:
        """Waits for the turn at most `seconds`; False when it did not come."""
        with self._guard:
            if self._owner == threading.get_ident():
                raise RuntimeError("a write is already open in this thread")
            if not self._taken:
                self._taken, self._owner = True, threading.get_ident()
                return True
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        try:
            came = gate.acquire(timeout=max(seconds, 0.0))
        except BaseException:
            if not self._withdraw(gate):
                self.give()
            raise
        if not came and self._withdraw(gate):
            return False
        with self._guard:
            self._owner = threading.get_ident()
        return True

    def give(self) -> None:
        """Hands the turn to the next in line."""
        with self._guard:
            self._owner = None
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False

    def __enter__(self) -> None:
        self.take(threading.TIMEOUT_MAX)

    def __exit__(self, *_: object) -> None:
        self.give()

    def _withdraw(self, gate: threading.Lock) -> bool:
        """Leaves the line; False when the turn was handed over in the last moment."""
        with self._guard:
            if gate in self._waiting:
                self._waiting.remove(gate)
                return True
            return False
