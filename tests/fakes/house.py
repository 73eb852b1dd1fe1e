"""A house in memory for tests of the edges, and the store of its tokens and spaces."""

# ruff: noqa: ARG002 - every handler takes the same arguments

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from pydantic import BaseModel
from ulid import ULID

from hearthmind.errors import InvalidInput, JobNotFound, MemoryNotFound, NoteChangedSinceRead, TooLarge
from hearthmind.house import contract as c
from hearthmind.house import operations as op
from hearthmind.house.access import add_token, authorise, list_tokens, revoke_token, space_of
from hearthmind.house.operations import Ans, Operation, Req
from hearthmind.model import JobState, Route
from hearthmind.model.house import Caller, SpaceRecord, Token

DAY = "2026-03-22"


class FakeHouseStore:
    """`house.db` in memory."""

    def __init__(self, spaces: Sequence[str] = ("home",)) -> None:
        self._spaces = {name: SpaceRecord(name, None) for name in spaces}
        self._tokens: dict[str, Token] = {}
        self._pins: dict[str, str] = {}

    def spaces(self) -> Sequence[SpaceRecord]:
        return list(self._spaces.values())

    def put_space(self, record: SpaceRecord) -> None:
        self._spaces[record.name] = record

    def tokens(self) -> Sequence[Token]:
        return list(self._tokens.values())

    def add_token(self, token: Token) -> None:
        self._tokens[token.id] = token

    def revoke_token(self, token_id: str) -> bool:
        return self._tokens.pop(token_id, None) is not None

    def token_by_hash(self, digest: str) -> Token | None:
        return next((token for token in self._tokens.values() if token.hash == digest), None)

    def token_used(self, token_id: str, at: datetime) -> None:
        self._tokens[token_id] = replace(self._tokens[token_id], last_used=at)

    def pinned(self, key: str) -> str | None:
        return self._pins.get(key)

    def pin(self, key: str, value: str) -> None:
        self._pins[key] = value

    def close(self) -> None:
        pass


@dataclass
class FakeHouse:
    """Remembers, fetches and recalls by words. `fails` raises instead of the operation of that name; `calls` keeps
    who asked for what."""

    store: FakeHouseStore = field(default_factory=FakeHouseStore)
    memories: dict[tuple[str, str], c.MemoryView] = field(default_factory=dict)
    calls: list[tuple[str, Caller, BaseModel]] = field(default_factory=list)
    fails: dict[str, Exception] = field(default_factory=dict)
    ready: bool = True
    max_content: int = 1024 * 1024

    def do(self, operation: Operation[Req, Ans], caller: Caller, request: Req) -> Ans:
        self.calls.append((operation.name, caller, request))
        authorise(operation, caller)
        if error := self.fails.get(operation.name):
            raise error
        asked: Any = request
        handler = getattr(self, f"_{operation.name}")
        if hasattr(asked, "space"):
            known = [record.name for record in self.store.spaces()]
            answer = handler(space_of(caller, asked.space, known, "home"), asked)
        else:
            answer = handler(caller, asked)
        assert isinstance(answer, operation.answer)
        return answer

    def _memory(self, space: str, id: str) -> c.MemoryView:
        if (space, id) not in self.memories:
            raise MemoryNotFound(f"There is no memory {id[:60]!r} in the space {space}.")
        return self.memories[space, id]

    def _put(self, memory: c.MemoryView) -> c.MemoryView:
        version = hashlib.sha1(memory.model_dump_json(exclude={"version"}).encode()).hexdigest()
        memory = memory.model_copy(update={"version": version})
        self.memories[memory.space, memory.id] = memory
        return memory

    def _remember(self, space: str, request: c.RememberRequest) -> c.Remembered:
        if len(request.content.encode()) > self.max_content:
            raise TooLarge("the content is too long")
        if not request.content.strip():
            raise InvalidInput("content is empty", field="content")
        same = [m for m in self.memories.values() if m.space == space and m.text == request.content]
        id = same[0].id if same else str(ULID())
        title = request.title or request.content.split("\n", 1)[0][:60]
        view = c.MemoryView(
            id=id,
            space=space,
            title=title,
            path=f"short-term/{title}.md",
            url=f"http://127.0.0.1:8420/n/{id}",
            type=request.type,
            date=DAY,
            tags=request.tags,
            summary=title,
            importance=5,
            version="",
            text=request.content,
            properties={},
        )
        memory = same[0] if same else self._put(view)
        return c.Remembered(
            id=id, title=title, path=memory.path, url=memory.url, version=memory.version, job="J1", existing=bool(same)
        )

    def _found(self, space: str, query: str) -> list[c.MemoryView]:
        words = query.lower().split()
        return [m for m in self.memories.values() if m.space == space and any(w in m.text.lower() for w in words)]

    def _recall(self, space: str, request: c.RecallRequest) -> c.Recalled:
        hits = [
            c.HitView(
                **memory.model_dump(include=set(c.HitView.model_fields)),
                lines=[1, 3],
                score=1.0,
                signals=c.SignalsView(keyword=1, meaning=None, graph=None),
                refs=[],
                reason="keyword",
            )
            for memory in self._found(space, request.query)[: request.limit]
        ]
        context = "\n".join(hit.text for hit in hits)[: request.budget * 4]
        return c.Recalled(
            query=request.query[:1000],
            route=Route.SEMANTIC,
            context=context,
            degraded=[],
            took_ms=0.1,
            hits=hits,
            silence=None if hits else "nothing relevant",
        )

    def _search(self, space: str, request: c.SearchRequest) -> c.SearchResults:
        found = self._found(space, request.query)[: request.limit]
        return c.SearchResults(results=[c.SearchResult(id=m.id, title=m.title, url=m.url) for m in found])

    def _fetch(self, space: str, request: c.FetchRequest) -> c.Fetched:
        m = self._memory(space, request.id)
        text = m.text[request.offset :]
        return c.Fetched(id=m.id, title=m.title, text=text, url=m.url, metadata={"path": m.path})

    def _show(self, space: str, request: c.MemoryRequest) -> c.MemoryView:
        return self._memory(space, request.id)

    def _related(self, space: str, request: c.RelatedRequest) -> c.Related:
        m = self._memory(space, request.id)
        node = c.RelatedNode(**m.model_dump(include=set(c.RelatedNode.model_fields)), distance=0)
        return c.Related(nodes=[node], edges=[])

    def _list_index(self, space: str, request: c.ListRequest) -> c.Listing[c.IndexLine]:
        rows = [m for m in self.memories.values() if m.space == space and request.type in (None, m.type)]
        rows = [m for m in rows if request.tag is None or request.tag in m.tags]
        start = int(request.page or 0)
        end = start + request.limit
        lines = [c.IndexLine(**m.model_dump(include=set(c.IndexLine.model_fields))) for m in rows[start:end]]
        return c.Listing[c.IndexLine](items=lines, next=str(end) if end < len(rows) else None, total=len(rows))

    def _list_tags(self, space: str, request: c.TagsRequest) -> c.Listing[c.TagLine]:
        tags = sorted({tag for m in self.memories.values() if m.space == space for tag in m.tags})
        return c.Listing[c.TagLine](
            items=[c.TagLine(tag=tag, count=1, description="") for tag in tags], next=None, total=len(tags)
        )

    def _update_memory(self, space: str, request: c.UpdateRequest) -> c.MemoryView:
        memory = self._memory(space, request.id)
        if request.version not in (None, memory.version):
            raise NoteChangedSinceRead("The note changed since you read it.", version=memory.version)
        changes = request.fields.model_dump(exclude_unset=True)
        return self._put(memory.model_copy(update=changes))

    def _forget(self, space: str, request: c.ForgetRequest) -> c.Forgotten:
        memory = self._memory(space, request.id)
        if request.version not in (None, memory.version):
            raise NoteChangedSinceRead("The note changed since you read it.", version=memory.version)
        del self.memories[space, request.id]
        return c.Forgotten(id=memory.id, title=memory.title, path=memory.path, trash=".hearthmind/trash/x.md")

    def _log_episodes(self, space: str, request: c.EpisodesRequest) -> c.EpisodesLogged:
        ids = [f"e{place}" for place in range(len(request.entries))]
        return c.EpisodesLogged(session=request.session, memory="M1", ids=ids, paths=["sessions/s.md"])

    def _capture(self, space: str, request: c.CaptureRequest) -> c.Captured:
        return c.Captured(memory="M2", ids=["c1"], paths=[f"daily/{DAY}.md"])

    def _view_job(self, space: str, id: str) -> c.JobView:
        return c.JobView(
            id=id,
            kind="index.project",
            space=space,
            memory=None,
            state=JobState.DONE,
            reason=None,
            attempts=1,
            error=None,
            created=DAY,
            changed=DAY,
        )

    def _job(self, space: str, request: c.JobRequest) -> c.JobView:
        if request.id != "J1":
            raise JobNotFound(f"There is no job {request.id[:60]!r}.")
        return self._view_job(space, request.id)

    def _jobs(self, space: str, request: c.JobsRequest) -> c.Listing[c.JobView]:
        rows = [self._view_job(space, "J1")] if JobState.DONE in (request.state or list(JobState)) else []
        return c.Listing[c.JobView](items=rows, next=None, total=len(rows))

    def _status(self, space: str, request: c.StatusRequest) -> c.Status:
        return c.Status(
            version="0",
            space=space,
            layers={"catalog": c.LayerState(state="ok" if self.ready else "down")},
            indexing=c.Indexing(active=False, done=1, total=1),
            warnings=[],
            ready=self.ready,
        )

    def _stats(self, space: str, request: c.StatusRequest) -> c.Stats:
        count = sum(key[0] == space for key in self.memories)
        return c.Stats(
            space=space,
            memories=count,
            passages=count,
            relations=0,
            tags=0,
            types={"note": count},
            mean_importance=5.0,
            unresolved_links=0,
            pending_vectors=0,
            jobs={"done": 1},
        )

    def _spaces(self, caller: Caller, request: c.SpacesRequest) -> c.Listing[c.SpaceView]:
        names = [record.name for record in self.store.spaces() if caller.reaches(record.name)]
        views = [c.SpaceView(name=name, vault=f"/vaults/{name}", kind="ours", mounted=True) for name in names]
        return c.Listing[c.SpaceView](items=views, next=None, total=len(views))

    def _add_space(self, caller: Caller, request: c.NewSpaceRequest) -> c.SpaceView:
        self.store.put_space(SpaceRecord(request.name, request.vault))
        return c.SpaceView(name=request.name, vault=request.vault or "/vaults/x", kind="ours", mounted=True)

    def _tokens(self, caller: Caller, request: c.TokensRequest) -> c.Listing[c.TokenView]:
        return list_tokens(self.store, request)

    def _add_token(self, caller: Caller, request: c.NewTokenRequest) -> c.NewToken:
        return add_token(self.store, request)

    def _revoke_token(self, caller: Caller, request: c.RevokeRequest) -> c.Revoked:
        return revoke_token(self.store, request)


def requests_of_every_operation(id: str) -> dict[str, BaseModel]:
    """A request that each operation can carry out, for the memory `id`."""
    requests: dict[Operation[Any, Any], BaseModel] = {
        op.REMEMBER: c.RememberRequest(content="x"),
        op.RECALL: c.RecallRequest(query="x"),
        op.SEARCH: c.SearchRequest(query="x"),
        op.FETCH: c.FetchRequest(id=id),
        op.SHOW: c.MemoryRequest(id=id),
        op.RELATED: c.RelatedRequest(id=id),
        op.UPDATE: c.UpdateRequest(id=id, fields=c.MemoryFields(title="y")),
        op.FORGET: c.ForgetRequest(id=id),
        op.LOG_EPISODES: c.EpisodesRequest(session="s", entries=[c.EpisodeEntry(role="user", content="x")]),
        op.CAPTURE: c.CaptureRequest(text="x"),
        op.JOB: c.JobRequest(id="J1"),
        op.ADD_SPACE: c.NewSpaceRequest(name="family"),
        op.ADD_TOKEN: c.NewTokenRequest(name="t"),
        op.REVOKE_TOKEN: c.RevokeRequest(id="first"),
    }
    named = {operation.name: request for operation, request in requests.items()}
    return {name: named.get(name) or cast(BaseModel, each.request()) for name, each in op.OPERATIONS.items()}
