"""Every tool, in memory: arguments, answers, errors."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp import Client
from tests.fakes.house import FakeHouse

from hearthmind.errors import NoteChangedSinceRead
from hearthmind.gateway.mcp.server import STDIO, build_mcp
from hearthmind.model.house import Scope
from hearthmind.settings import Settings

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["auto", "legacy"])
async def tools(request: pytest.FixtureRequest, house: FakeHouse, settings: Settings) -> AsyncIterator[Client]:
    async with Client(build_mcp(house, lambda: STDIO, settings), mode=request.param) as client:
        yield client


async def _call(client: Client, name: str, **arguments: Any) -> Any:
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    assert json.loads(answer.content[0].text) == answer.structured_content  # type: ignore[union-attr]
    return answer.structured_content


async def _refused(client: Client, name: str, **arguments: Any) -> str:
    answer = await client.call_tool(name, arguments)
    assert answer.is_error
    return str(answer.content[0].text)  # type: ignore[union-attr]


async def test_every_tool_answers(tools: Client) -> None:
    made = await _call(tools, "remember", content="We use uv", tags=["ci"], type="decision", importance=8)
    id = made["id"]
    assert (await _call(tools, "remember", content="We use uv"))["existing"] is True
    assert (await _call(tools, "recall", query="uv", limit=3))["hits"][0]["id"] == id
    assert (await _call(tools, "search", query="uv"))["results"] == [
        {"id": id, "title": "We use uv", "url": made["url"]}
    ]
    assert set(await _call(tools, "fetch", id=id)) == {"id", "title", "text", "url", "metadata"}
    assert (await _call(tools, "related", id=id))["nodes"][0]["id"] == id
    assert (await _call(tools, "list_index"))["items"][0]["id"] == id
    assert (await _call(tools, "list_tags"))["items"][0]["tag"] == "ci"
    changed = await _call(tools, "update_memory", id=id, fields={"title": "New"}, version=made["version"])
    assert changed["title"] == "New"
    entries = [{"role": "user", "content": "hi"}]
    assert (await _call(tools, "log_episodes", session="s", entries=entries))["ids"] == ["e0"]
    assert (await _call(tools, "capture", text="tea"))["ids"] == ["c1"]
    assert (await _call(tools, "job", id="J1"))["state"] == "done"
    assert (await _call(tools, "status"))["ready"] is True
    assert (await _call(tools, "stats"))["memories"] == 1
    assert (await _call(tools, "forget", id=id))["id"] == id


async def test_what_models_send_instead_is_understood(tools: Client, house: FakeHouse) -> None:
    await _call(tools, "remember", content="a", title=None, tags='["x", "y"]', importance="high", source={"url": "u"})
    await _call(tools, "remember", content="b", tags="x, y", importance="7", space=None, source="chat")
    first, second = (call[2] for call in house.calls)
    assert first.tags == second.tags == ["x", "y"]  # type: ignore[attr-defined]
    id = next(iter(house.memories))[1]
    await _call(tools, "update_memory", id=id, fields='{"title": "T"}')
    await _call(tools, "log_episodes", session="s", entries='[{"role": "user", "content": "hi"}]')
    await _call(tools, "recall", query='["not", "a list"]')


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"query": "x", "tag": ["a"]}, "tag: is not known here; did you mean tags?"),
        ({"query": "x", "limit": 99}, "limit: Input should be less than or equal to 50"),
        ({"query": "x", "types": ["novel"]}, "types.0: Input should be 'note', 'fact'"),
        ({}, "query: Field required"),
        ({"query": "s3cret" * 20_000}, "query: String should have at most 100000 characters"),
        ({"query": None}, "query: Input should be a valid string"),
    ],
)
async def test_wrong_arguments_are_named_and_not_echoed(tools: Client, arguments: dict[str, Any], says: str) -> None:
    words = await _refused(tools, "recall", **arguments)
    assert says in words
    assert "s3cret" not in words
    assert len(words) < 1_000


async def test_a_situation_comes_with_words_to_act_on(tools: Client, house: FakeHouse) -> None:
    assert "There is no memory 'nope'" in await _refused(tools, "fetch", id="nope")
    house.fails["update_memory"] = NoteChangedSinceRead("The note changed since you read it.", version="v2")
    words = await _refused(tools, "update_memory", id="x", fields={"title": "t"})
    assert words == "The note changed since you read it. (note-changed-since-read; version: v2)"


async def test_a_crash_tells_nothing_and_is_logged(
    tools: Client, house: FakeHouse, caplog: pytest.LogCaptureFixture
) -> None:
    house.fails["recall"] = RuntimeError("the password is hunter2")
    with caplog.at_level(logging.ERROR):
        words = await _refused(tools, "recall", query="x")
    assert "hunter2" not in words
    assert "no fault of yours" in words
    assert "hunter2" in caplog.text


async def test_a_long_answer_is_bounded(tools: Client, house: FakeHouse) -> None:
    made = await _call(tools, "remember", content="uv " + "x" * 300_000)
    for name, arguments in (("recall", {"query": "uv"}), ("fetch", {"id": made["id"]})):
        answer = await tools.call_tool(name, arguments)
        assert len(answer.content[0].text) <= 40_000  # type: ignore[union-attr]
    page = await _call(tools, "fetch", id=made["id"])
    assert page["metadata"]["next_offset"] == len(page["text"])


async def test_the_client_names_itself_and_has_no_rights_of_the_person(tools: Client, house: FakeHouse) -> None:
    await _call(tools, "status")
    caller = house.calls[-1][1]
    assert caller.client not in {"", "mcp-server"}
    assert caller.scopes == {Scope.READ, Scope.WRITE}


async def test_the_sdk_leaves_logging_alone(house: FakeHouse, settings: Settings) -> None:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    root.handlers.clear()
    try:
        build_mcp(house, lambda: STDIO, settings)
        assert root.handlers == []
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
