"""The few plain pages: the root, a memory as text, the documentation of the API."""

import json
from html import escape
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import HTMLResponse, PlainTextResponse

from hearthmind.errors import MemoryNotFound
from hearthmind.gateway.rest.door import RestDoor, Where
from hearthmind.house import contract as c
from hearthmind.house import operations as op

ROOT = """\
Hearthmind: a persistent memory for LLM clients, kept as Markdown notes.

MCP     POST /mcp
REST    /api/v1   (documentation: /docs, /openapi.json)
health  /healthz  /readyz  /metrics
"""
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}code,pre{font:14px/1.4 ui-monospace,monospace;overflow:auto}summary{cursor:pointer}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


def page_routes(app: FastAPI, door: RestDoor) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def root() -> PlainTextResponse:
        return PlainTextResponse(ROOT)

    @routes.get("/n/{id}")
    def memory(id: str, where: Where) -> PlainTextResponse:
        """A memory as plain Markdown, wherever its link is opened."""
        found = _find(door, id, where.space)
        return PlainTextResponse(f"# {found.title}\n\n{found.text}", media_type="text/plain")

    @routes.get("/docs")
    def docs() -> HTMLResponse:
        return HTMLResponse(documentation(app.openapi()), headers={"Content-Security-Policy": POLICY})

    return routes


def _find(door: RestDoor, id: str, space: str | None) -> c.MemoryView:
    """The memory in the space named, else in whichever space within reach has it: links carry no space."""
    try:
        return door.ask(op.SHOW, c.MemoryRequest(id=id, space=space))
    except MemoryNotFound as missing:
        if space is None:
            for other in door.ask(op.SPACES, c.SpacesRequest()).items:
                try:
                    return door.ask(op.SHOW, c.MemoryRequest(id=id, space=other.name))
                except MemoryNotFound:
                    continue
        raise missing


def documentation(schema: dict[str, Any]) -> str:
    """The OpenAPI document as one page that loads nothing: it works offline, and no foreign script runs where the
    owner needs no token."""
    parts = [f"<!doctype html><meta charset=utf-8><title>Hearthmind API</title><style>{STYLE}</style>"]
    parts.append(f"<h1>Hearthmind API</h1><p>{escape(schema['info'].get('description', ''))}</p>")
    parts.append("<p>The whole as <a href=/openapi.json>openapi.json</a>.</p>")
    for path, methods in schema["paths"].items():
        parts.extend(_operation(path, method, each) for method, each in methods.items())
    parts.append("<h2>Schemas</h2>")
    for name, each in schema["components"]["schemas"].items():
        parts.append(
            f"<details id='{escape(name)}'><summary><code>{escape(name)}</code></summary>{_json(each)}</details>"
        )
    return "\n".join(parts)


def _operation(path: str, method: str, described: dict[str, Any]) -> str:
    inputs = {key: described[key] for key in ("parameters", "requestBody", "responses") if key in described}
    return (
        f"<details><summary><code><b>{method.upper()}</b> {escape(path)}</code> {escape(described.get('summary', ''))}"
        f"</summary><p>{escape(described.get('description', ''))}</p>{_json(inputs)}</details>"
    )


def _json(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, indent=1, ensure_ascii=False))}</pre>"
