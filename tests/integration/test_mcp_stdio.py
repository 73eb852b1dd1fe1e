"""MCP on stdio, through a real process: stdout speaks nothing but MCP."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parents[2]
SERVER = """
import pathlib, sys
from hearthmind.gateway.mcp.server import run_stdio
from hearthmind.settings import load_settings
from hearthmind.telemetry import configure_logging, get_logger
from tests.fakes.house import FakeHouse

configure_logging("debug", "json")
get_logger("x").info("this goes to stderr")
run_stdio(FakeHouse(), load_settings(data=pathlib.Path(sys.argv[1])))
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_on_stdio_remembers_and_recalls(tmp_path: Path, mode: str) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", SERVER, str(tmp_path)],
        cwd=str(ROOT),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        made: Any = (await client.call_tool("remember", {"content": "We use uv"})).structured_content
        hits: Any = (await client.call_tool("recall", {"query": "uv"})).structured_content
        assert hits["hits"][0]["id"] == made["id"]
        assert (await client.call_tool("fetch", {"id": "none"})).is_error
