"""A house for tests: real vault, catalog, vectors and graph in a temporary folder, a fast embedder."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hearthmind.bootstrap import Overrides, open_house
from hearthmind.house import contract as c
from hearthmind.house import operations as op
from hearthmind.house.local import LocalHouse
from hearthmind.model.house import OWNER, Caller
from hearthmind.settings import Settings
from tests.fakes.embedder import WordEmbedder


class Home:
    """A house with short ways to ask it. `reopen` closes it and opens it anew on the same folder."""

    def __init__(self, data: Path, vault: Path | None = None, **settings: Any) -> None:
        self.embedder = WordEmbedder()
        self.settings = Settings(data=data, vault=vault, timezone="Europe/Berlin", **settings)
        self.house: LocalHouse = self._open()

    def _open(self) -> LocalHouse:
        return open_house(self.settings, Overrides(embedder=self.embedder, environ={}))

    def reopen(self) -> None:
        self.house.close()
        self.house = self._open()

    @property
    def vault(self) -> Path:
        return self.settings.vault or self.settings.data / "vaults" / "home"

    def remember(self, content: str, caller: Caller = OWNER, **fields: Any) -> c.Remembered:
        return self.house.do(op.REMEMBER, caller, c.RememberRequest(content=content, **fields))

    def recall(self, query: str, **fields: Any) -> c.Recalled:
        return self.house.do(op.RECALL, OWNER, c.RecallRequest(query=query, **fields))

    def titles(self, query: str, **fields: Any) -> list[str]:
        fields.setdefault("floor", "off")
        return [hit.title for hit in self.recall(query, **fields).hits]

    def show(self, note_id: str) -> c.MemoryView:
        return self.house.do(op.SHOW, OWNER, c.MemoryRequest(id=note_id))

    def update(self, note_id: str, version: str | None = None, caller: Caller = OWNER, **fields: Any) -> c.MemoryView:
        request = c.UpdateRequest(id=note_id, version=version, fields=c.MemoryFields(**fields))
        return self.house.do(op.UPDATE, caller, request)

    def forget(self, note_id: str, caller: Caller = OWNER, **fields: Any) -> c.Forgotten:
        return self.house.do(op.FORGET, caller, c.ForgetRequest(id=note_id, **fields))

    def status(self) -> c.Status:
        return self.house.do(op.STATUS, OWNER, c.StatusRequest())

    def stats(self) -> c.Stats:
        return self.house.do(op.STATS, OWNER, c.StatusRequest())

    def log(self, session: str, *said: tuple[str, str], **fields: Any) -> c.EpisodesLogged:
        entries = [c.EpisodeEntry(role=role, content=content, **fields) for role, content in said]
        return self.house.do(op.LOG_EPISODES, OWNER, c.EpisodesRequest(session=session, entries=entries))

    def compare(self) -> None:
        """Compare the vault with the catalog now, instead of at the next turn of upkeep."""
        from hearthmind.upkeep.sync import sync

        sync(self.house.space("home"))

    def settled(self, seconds: float = 20) -> None:
        """Wait until the vault is compared and every passage has its vector."""
        wait_for(lambda: not self.status().indexing.active and self.stats().pending_vectors == 0, seconds)


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
