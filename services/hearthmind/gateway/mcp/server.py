"""The MCP server, the same over HTTP and stdio."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

import anyio
from mcp.server import CacheHint, MCPServer

from hearthmind.gateway.mcp.tool import operation_tool
from hearthmind.gateway.mcp.words import INSTRUCTIONS, TOOLS
from hearthmind.house.operations import House
from hearthmind.model.house import Caller, Scope
from hearthmind.settings import Settings

STDIO = Caller("owner", frozenset({Scope.READ, Scope.WRITE}), None, "mcp")
"""A model at the owner's machine: not the scopes vault and admin, which belong to the person."""


def build_mcp(house: House, caller: Callable[[], Caller], settings: Settings) -> MCPServer[Any]:
    """The tools of DESIGN §6. `caller` is asked in each call, in the task that carries it out."""
    tools = [
        operation_tool(
            each.operation,
            house,
            caller,
            title=each.title,
            description=each.description,
            annotations=each.annotations,
        )
        for each in TOOLS
    ]
    with _logging_kept():
        return MCPServer(
            "hearthmind",
            title="Hearthmind",
            description="A persistent memory for any LLM client",
            version=version("hearthmind"),
            website_url=settings.public_url,
            instructions=INSTRUCTIONS,
            tools=list(tools),
            cache_hints={"tools/list": CacheHint(ttl_ms=60_000, scope="private")},
            subscriptions=False,
            log_level="WARNING",
        )


@contextmanager
def _logging_kept() -> Iterator[None]:
    """MCPServer calls logging.basicConfig; whatever was configured, or not, stays."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def run_stdio(house: House, settings: Settings, caller: Caller = STDIO) -> None:
    """Serve MCP on stdin and stdout until stdin ends. Logs go to stderr."""
    server = build_mcp(house, lambda: caller, settings)
    anyio.run(server.run_stdio_async)
