"""What clients have learnt of us changes only knowingly: HEARTHMIND_TEST_UPDATE=1 rewrites the snapshots."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from starlette.testclient import TestClient
from tests.fakes.house import FakeHouse

from hearthmind.gateway.auth.caller import current_caller
from hearthmind.gateway.mcp.server import build_mcp
from hearthmind.gateway.mcp.words import INSTRUCTIONS
from hearthmind.house.operations import OPERATIONS
from hearthmind.settings import Settings

SNAPSHOTS = Path(__file__).parents[2] / "snapshots"
DESIGN_TOOLS = {
    "remember": "content title type tags importance project critical occurred_at source",
    "recall": "query limit budget types tags project session role outcome min_importance since until as_of mode",
    "search": "query",
    "fetch": "id offset",
    "related": "id depth types",
    "list_index": "folder tag type page",
    "list_tags": "page",
    "update_memory": "id fields version",
    "forget": "id",
    "log_episodes": "session entries",
    "capture": "text topics",
    "job": "id",
    "status": "",
    "stats": "",
}


def _expect(name: str, found: Any) -> None:
    path = SNAPSHOTS / name
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("HEARTHMIND_TEST_UPDATE") == "1":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, f"{name} changed; HEARTHMIND_TEST_UPDATE=1 accepts it"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def _tools(house: FakeHouse, settings: Settings) -> list[dict[str, Any]]:
    async with Client(build_mcp(house, current_caller, settings)) as client:
        assert (client.instructions or "").startswith(INSTRUCTIONS[:512])
        return [tool.model_dump(mode="json", by_alias=True) for tool in (await client.list_tools()).tools]


def test_the_openapi_document(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    document["info"].pop("version")
    assert all(each["summary"] for methods in document["paths"].values() for each in methods.values())
    _expect("openapi.json", document)


@pytest.mark.anyio
async def test_the_tools(house: FakeHouse, settings: Settings) -> None:
    _expect("mcp_tools.json", await _tools(house, settings))


@pytest.mark.anyio
async def test_tools_have_the_names_and_arguments_of_the_design(house: FakeHouse, settings: Settings) -> None:
    tools = {tool["name"]: tool for tool in await _tools(house, settings)}
    assert tools.keys() == DESIGN_TOOLS.keys()
    for name, words in DESIGN_TOOLS.items():
        properties = tools[name]["inputSchema"]["properties"]
        assert {*words.split(), "space"} <= properties.keys(), name
        assert "idempotency_key" not in properties
        text = json.dumps(tools[name]["inputSchema"])
        assert "anyOf" not in text, name
        assert "$ref" not in text, name
        assert tools[name]["inputSchema"]["additionalProperties"] is False
        assert tools[name]["outputSchema"]["type"] == "object"
        assert tools[name]["title"]
        annotations = tools[name]["annotations"]
        assert annotations["openWorldHint"] is False
        assert annotations["readOnlyHint"] is not OPERATIONS[name].writes
        assert annotations["destructiveHint"] is (name in {"update_memory", "forget"})


def test_the_beginning_of_the_instructions_stands_alone() -> None:
    first = INSTRUCTIONS[:512].split("\n\n")[0]
    assert len(first) < 512
    assert first.endswith(".")
    assert "`recall`" in first
    assert "`remember`" in first
