"""A process with a HouseClient around a fake house, driven by lines on stdin; the tests kill it.

The fake keeps its effects in files of the data folder, so that a second effect of one call shows up however
many hosts took part.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

from hearthmind.errors import HearthmindError, NoteChangedSinceRead
from hearthmind.house import contract as c
from hearthmind.house.host import HouseClient
from hearthmind.house.operations import ADD_SPACE, FORGET, RECALL, REMEMBER, UPDATE
from hearthmind.model.house import OWNER
from hearthmind.settings import load_settings


class FakeHouse:
    """`recall` answers the pid of the host. A query or content `slow:<seconds>` takes its time, after the
    effect. Writes with a known idempotency key have no second effect."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.closed = False

    def do(self, operation: Any, _caller: Any, request: Any) -> Any:
        if operation is RECALL:
            _take_time(request.query)
            return c.Recalled(
                query=request.query, route="both", context=str(os.getpid()), degraded=[], took_ms=0.0, hits=[]
            )
        if operation is REMEMBER:
            existing = self._effect(request.idempotency_key or "none", request.content)
            _take_time(request.content)
            return c.Remembered(
                id="1", title=request.content, path="a.md", url="u", version="v", job=None, existing=existing
            )
        if operation is UPDATE:
            raise NoteChangedSinceRead("changed since", version="abc", seen=[1, 2])
        if operation is FORGET:
            raise RuntimeError("a defect")
        if operation is ADD_SPACE:
            self._effect("no key", request.name)
            time.sleep(10)
        raise AssertionError(operation.name)

    def _effect(self, key: str, what: str) -> bool:
        effects = self.data / "effects.log"
        if effects.exists() and f"{key} " in effects.read_text():
            return True
        with effects.open("a") as file:
            file.write(f"{key} {what}\n")
        return False

    def close(self) -> None:
        self.closed = True


def _take_time(text: str) -> None:
    if text.startswith("slow:"):
        time.sleep(float(text.removeprefix("slow:")))


def main(data: str, keep: str) -> None:
    settings = load_settings(data=Path(data))
    client = HouseClient(settings, lambda: FakeHouse(settings.data))
    if keep == "keep":
        client.keep_hosting()
    print("ready", flush=True)
    for line in sys.stdin:
        verb, _, rest = line.strip().partition(" ")
        try:
            if verb == "recall":
                print(client.do(RECALL, OWNER, c.RecallRequest(query=rest)).context, flush=True)
            elif verb == "remember":
                print(client.do(REMEMBER, OWNER, c.RememberRequest(content=rest)).existing, flush=True)
            elif verb == "add_space":
                print(client.do(ADD_SPACE, OWNER, c.NewSpaceRequest(name=rest)).name, flush=True)
            elif verb == "hosting":
                print(client.hosting, flush=True)
        except HearthmindError as error:
            print(f"{error.slug}: {error.message}", flush=True)
    client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
