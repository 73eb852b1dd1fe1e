"""MCP over a real port: the official client in both eras, and requests as curl would send them."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.fakes.house import FakeHouse
from tests.fakes.serving import serving

from hearthmind.gateway.app import build_app
from hearthmind.house import contract as c
from hearthmind.house.access import add_token
from hearthmind.house.operations import Ans, Operation, Req
from hearthmind.model.house import Caller
from hearthmind.settings import load_settings

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass
class MeetingHouse(FakeHouse):
    """Holds each `status` until two callers are inside, so that they truly overlap."""

    meeting: threading.Barrier | None = None
    seen: dict[str, str] = field(default_factory=dict)

    def do(self, operation: Operation[Req, Ans], caller: Caller, request: Req) -> Ans:
        if self.meeting and operation.name == "status":
            self.meeting.wait(10)
        return super().do(operation, caller, request)


@pytest.fixture
def house() -> MeetingHouse:
    return MeetingHouse()


@pytest.fixture
def base(house: MeetingHouse, tmp_path: Path) -> Iterator[str]:
    with serving(build_app(house, house.store, load_settings(data=tmp_path))) as address:
        yield address


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _token(house: FakeHouse, name: str, *scopes: str) -> dict[str, str]:
    made = add_token(house.store, c.NewTokenRequest(name=name, scopes=list(scopes)))
    return {"Authorization": f"Bearer {made.token}"}


def _client(base: str, mode: str, headers: dict[str, str] | None = None) -> Client:
    return Client(
        streamable_http_client(f"{base}/mcp", http_client=httpx2.AsyncClient(headers=headers or {}, timeout=20)),
        mode=mode,
    )


@pytest.mark.anyio
@pytest.mark.parametrize(("mode", "version"), [("auto", MODERN), ("legacy", "2025-11-25")])
async def test_the_official_client_remembers_and_recalls(base: str, mode: str, version: str) -> None:
    async with _client(base, mode) as client:
        assert client.protocol_version == version
        assert len((await client.list_tools()).tools) == 14
        made: Any = (await client.call_tool("remember", {"content": "Ünser Hund heißt Ada"})).structured_content
        hits: Any = (await client.call_tool("recall", {"query": "hund"})).structured_content
        assert [hit["id"] for hit in hits["hits"]] == [made["id"]]
        wrong = await client.call_tool("recall", {"query": "x", "limit": 0})
        assert wrong.is_error


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_token_is_needed_once_one_exists(base: str, house: MeetingHouse, mode: str) -> None:
    headers = _token(house, "reader", "read")
    async with _client(base, mode, headers) as client:
        refused = await client.call_tool("remember", {"content": "x"})
        assert refused.is_error
        assert "scope 'write'" in refused.content[0].text  # type: ignore[union-attr]
    answer = httpx2.post(f"{base}/mcp", json=_call("status"), headers=ACCEPT)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="hearthmind"')


@pytest.mark.anyio
@pytest.mark.parametrize("modes", [("auto", "auto"), ("legacy", "legacy"), ("auto", "legacy")])
async def test_callers_at_the_same_time_keep_their_own_rights(
    base: str, house: MeetingHouse, modes: tuple[str, str]
) -> None:
    callers = {name: _token(house, name, *scopes) for name, scopes in (("a", ["read"]), ("b", ["write"]))}
    house.meeting = threading.Barrier(2)
    outcomes: dict[str, list[bool]] = {"a": [], "b": []}

    async def ask(name: str, mode: str) -> None:
        async with _client(base, mode, callers[name]) as client:
            for _ in range(5):
                outcomes[name].append((await client.call_tool("status", {})).is_error)

    async with anyio.create_task_group() as group:
        for name, mode in zip(callers, modes, strict=True):
            group.start_soon(ask, name, mode)
    assert outcomes == {"a": [False] * 5, "b": [True] * 5}
    assert [call[1].name for call in house.calls].count("a") == 5


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_clients_name_is_known(base: str, house: MeetingHouse, mode: str) -> None:
    async with _client(base, mode, {"User-Agent": "claude-code/2.1"}) as client:
        await client.call_tool("status", {})
    assert house.calls[-1][1].client in {"claude-code", "mcp"}


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def _answer(response: httpx2.Response) -> dict[str, Any]:
    text = response.text
    if response.headers["content-type"].startswith("text/event-stream"):
        text = next(line for line in text.splitlines() if line.startswith("data:")).removeprefix("data:")
    return dict(json.loads(text))


def test_a_bare_legacy_request_needs_no_initialize(base: str) -> None:
    response = httpx2.post(f"{base}/mcp", json=_call("search", query="tea"), headers=ACCEPT)
    assert response.status_code == 200
    assert _answer(response)["result"]["structuredContent"] == {"results": []}
    assert response.headers["x-request-id"]


def test_a_bare_modern_request(base: str) -> None:
    body = _call("search", query="tea")
    body["params"]["_meta"] = META
    named = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "search"}
    response = httpx2.post(f"{base}/mcp", json=body, headers={**ACCEPT, **named})
    assert _answer(response)["result"]["structuredContent"] == {"results": []}
    unnamed = httpx2.post(f"{base}/mcp", json=body, headers={**ACCEPT, "MCP-Protocol-Version": MODERN})
    assert (unnamed.status_code, unnamed.json()["error"]["code"]) == (400, -32020)
    body["params"]["_meta"] = {**META, "io.modelcontextprotocol/protocolVersion": "2999-01-01"}
    strange = httpx2.post(f"{base}/mcp", json=body, headers={**ACCEPT, **named, "MCP-Protocol-Version": "2999-01-01"})
    assert (strange.status_code, strange.json()["error"]["code"]) == (400, -32022)


def test_what_is_no_mcp_is_refused_without_a_stream_or_a_redirect(base: str) -> None:
    for method, path, expected in (("GET", "/mcp", 405), ("DELETE", "/mcp", 405), ("GET", "/mcp/", 405)):
        response = httpx2.request(method, base + path, headers={"Accept": "text/event-stream"}, timeout=5)
        assert (response.status_code, response.headers["allow"]) == (expected, "POST")
    slashed = httpx2.post(f"{base}/mcp/", json=_call("stats"), headers=ACCEPT)
    assert slashed.status_code == 200
    assert httpx2.post(f"{base}/mcp", json=_call("stats"), headers={"Accept": "application/json"}).status_code == 406
    assert httpx2.post(f"{base}/mcp", content=b"\x00\xff", headers={**ACCEPT, "Content-Type": "image/png"}).is_error
    broken = httpx2.post(f"{base}/mcp", content=b"{bad", headers={**ACCEPT, "Content-Type": "application/json"})
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, -32700)


def test_foreign_hosts_and_origins_are_refused(base: str) -> None:
    for header, value, status in (("Host", "evil.example", 421), ("Origin", "https://evil.example", 403)):
        response = httpx2.post(f"{base}/mcp", json=_call("stats"), headers={**ACCEPT, header: value})
        assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")


def test_a_large_content_arrives_whole(base: str, house: MeetingHouse) -> None:
    content = "ä\n" * 300_000
    response = httpx2.post(f"{base}/mcp", json=_call("remember", content=content), headers=ACCEPT, timeout=20)
    assert not _answer(response)["result"].get("isError")
    assert next(iter(house.memories.values())).text == content
