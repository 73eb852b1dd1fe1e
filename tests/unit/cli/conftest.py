"""The commands, run in this process against a house that only records what it is asked."""

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hearthmind.cli import main
from hearthmind.errors import HearthmindError
from hearthmind.house import contract as c
from hearthmind.house import operations as o
from hearthmind.house.host import HouseClient
from hearthmind.settings import load_settings

MEMORY = {
    "id": "01A", "space": "home", "title": "Use uv", "path": "short-term/Use uv.md", "url": "http://h/n/01A",
    "type": "decision", "date": "2026-01-28", "tags": ["ci"], "summary": "S.", "importance": 5, "version": "v1",
    "text": "Use uv for CI.\n", "properties": {},
}  # fmt: skip
LINE = {name: MEMORY[name] for name in ("id", "title", "path", "url", "type", "date", "importance", "summary", "tags")}
NODE = {name: MEMORY[name] for name in ("id", "title", "path", "url", "type", "summary")}
HIT = {name: MEMORY[name] for name in ("id", "space", "title", "path", "url", "type", "date", "summary", "text")} | {
    "lines": [1, 1], "score": 0.9, "signals": {"keyword": 1, "meaning": 2, "graph": None}, "refs": [],
    "reason": "words",
}  # fmt: skip
SPACE = {"name": "home", "vault": "/v", "kind": "ours", "mounted": True}
ANSWERS: Mapping[str, dict[str, Any]] = {
    "remember": {"id": "01A", "title": "Use uv", "path": "a.md", "url": "u", "version": "v1", "job": None,
                 "similar": [{"id": "01B", "title": "Like it", "url": "u", "score": 0.91}]},
    "capture": {"memory": "01D", "ids": ["e1"], "paths": ["daily/2026-01-28.md"]},
    "log_episodes": {"session": "s", "memory": "01S", "ids": ["e1", "e2"], "paths": ["sessions/s.md"], "existing": 1},
    "recall": {"query": "q", "route": "both", "context": "THE CONTEXT", "degraded": ["vectors"], "took_ms": 1.0,
               "hits": [HIT]},
    "search": {"results": [{"id": "01A", "title": "Use uv", "url": "u"}]},
    "show": MEMORY,
    "update_memory": MEMORY,
    "related": {"nodes": [NODE | {"distance": 1}], "edges": [{"source": "01A", "target": "01B", "type": "supports"}]},
    "forget": {"id": "01A", "title": "Use uv", "path": "a.md", "trash": ".hearthmind/trash/a.md"},
    "list_index": {"items": [LINE], "next": "2", "total": 7},
    "list_tags": {"items": [{"tag": "ci", "count": 3, "description": "Builds"}], "next": None, "total": 1},
    "jobs": {"items": [], "next": None, "total": 0},
    "status": {"version": "1", "space": "home", "layers": {"embedder": {"state": "ok", "detail": "packaged"}},
               "indexing": {"active": True, "done": 3, "total": 9}, "warnings": ["little space"], "ready": True,
               "problems": [{"path": "a.md", "line": 2, "what": "Bad YAML.", "remedy": "Mend it."}]},
    "stats": {"space": "home", "memories": 1, "passages": 2, "relations": 0, "tags": 1, "types": {"note": 1},
              "mean_importance": 5.0, "unresolved_links": 0, "pending_vectors": 0, "jobs": {"done": 4}},
    "spaces": {"items": [SPACE], "next": None, "total": 1},
    "add_space": SPACE | {"name": "family"},
    "revoke_token": {"id": "t1", "name": "laptop"},
}  # fmt: skip


@dataclass
class RecordingHouse:
    """`asked` are (operation, request as it was set); `errors` are raised instead of an answer."""

    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    errors: dict[str, HearthmindError] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)

    def do(self, operation: Any, _caller: Any, request: Any) -> Any:
        values = request.model_dump(mode="json", exclude_unset=True)
        values.pop("idempotency_key", None)
        self.asked.append((operation.name, values))
        if error := self.errors.get(operation.name):
            raise error
        if operation is o.TOKENS:
            views = [
                c.TokenView(id=f"t{n}", name=name, scopes=["read"], spaces=[], created="2026-01-01", last_used=None)
                for n, name in enumerate(self.tokens)
            ]
            return c.Listing[c.TokenView](items=views, next=None, total=len(views))
        if operation is o.ADD_TOKEN:
            warning = None if self.tokens else "the anonymous owner ends"
            self.tokens.append(request.name)
            return c.NewToken(
                id="t", name=request.name, token="hm_secret", scopes=request.scopes, spaces=[], warning=warning
            )
        return operation.answer.model_validate(ANSWERS[operation.name])

    def close(self) -> None: ...

    def last(self) -> tuple[str, dict[str, Any]]:
        return self.asked[-1]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = tmp_path / "data"
    monkeypatch.setenv("HEARTHMIND_DATA", str(data))
    monkeypatch.setenv("HEARTHMIND_TIMEZONE", "UTC")
    return data


@pytest.fixture
def house(environment: Path) -> Iterator[RecordingHouse]:
    """A running host; the commands are its clients, as they are of `hearthmind serve`."""
    recording = RecordingHouse()
    host = HouseClient(load_settings(), lambda: recording)
    host.do(o.STATS, Any, c.StatusRequest())  # type: ignore[arg-type]
    recording.asked.clear()
    yield recording
    host.close()


@pytest.fixture
def run(environment: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*arguments: str, stdin: str | bytes = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["hearthmind", *arguments])
        monkeypatch.setattr(sys, "stdin", _Stdin(stdin.encode() if isinstance(stdin, str) else stdin))
        monkeypatch.setattr("signal.signal", lambda *_: None)
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return Ran(int(left.value.code or 0), captured.out, captured.err)

    return command


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)

    def isatty(self) -> bool:
        return False
