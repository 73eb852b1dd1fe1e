"""The gateway: one app for REST, MCP and health, over one house."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from anyio import to_thread
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware import Middleware
from starlette.routing import Route

from hearthmind.gateway.auth.bearer import Authentication, Doorkeeper
from hearthmind.gateway.auth.caller import current_caller
from hearthmind.gateway.auth.guard import Guard
from hearthmind.gateway.body import BodyLimit, largest_body
from hearthmind.gateway.envelope import MCP_PATHS, Envelope
from hearthmind.gateway.health import Health, health_routes
from hearthmind.gateway.mcp.endpoint import McpEndpoint
from hearthmind.gateway.mcp.server import build_mcp
from hearthmind.gateway.pages import page_routes
from hearthmind.gateway.problems import Problem, answer_with_problems
from hearthmind.gateway.rest.door import RestDoor
from hearthmind.gateway.rest.journal import journal_routes
from hearthmind.gateway.rest.keeping import keeping_routes
from hearthmind.gateway.rest.memories import memory_routes
from hearthmind.gateway.rest.owning import owning_routes
from hearthmind.gateway.rest.recalling import recall_routes
from hearthmind.gateway.warned import WarnedHouse
from hearthmind.house.operations import House
from hearthmind.ports import HouseStore
from hearthmind.settings import Settings

REQUEST_THREADS = 40


def build_app(
    house: House, store: HouseStore, settings: Settings, *, warnings: Callable[[], list[str]] = list
) -> FastAPI:
    """The app over a house. `store` tells who callers are; `warnings` are added to every status."""
    house = WarnedHouse(house, warnings)
    doorkeeper = Doorkeeper(store, settings)
    endpoint = McpEndpoint(build_mcp(house, current_caller, settings), settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = REQUEST_THREADS
        async with endpoint.run():
            yield

    app = FastAPI(
        title="Hearthmind",
        description="A persistent memory for any LLM client. Every error is a problem document (RFC 9457).",
        version=version("hearthmind"),
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        middleware=[
            Middleware(Envelope),
            Middleware(Guard, settings=settings),
            Middleware(Authentication, doorkeeper=doorkeeper),
            Middleware(BodyLimit, limit=largest_body(settings)),
        ],
    )
    for path in MCP_PATHS:
        # An exact route: a mount would answer 307 with the inner address, and GET would hold a stream open.
        app.router.routes.insert(0, Route(path, endpoint=endpoint, methods=["POST"], include_in_schema=False))
    door = RestDoor(house)
    for routes in (
        memory_routes(door),
        recall_routes(door),
        journal_routes(door),
        keeping_routes(door),
        owning_routes(door, doorkeeper.forget),
        health_routes(Health(house)),
        page_routes(app, door),
    ):
        app.include_router(routes)
    answer_with_problems(app)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    if not app.openapi_schema:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        parts = schema.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
        parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "description": "A token, hm_…"}}
        schema["security"] = [{"token": []}]
        app.openapi_schema = schema
    return app.openapi_schema
