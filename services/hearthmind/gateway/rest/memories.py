"""Routes of single memories."""

from typing import Annotated

from fastapi import APIRouter, Header, Query
from pydantic import Field
from starlette.responses import Response

from hearthmind.gateway.rest.door import PREFIX, PROBLEM_ANSWER, IfMatch, Key, RestDoor, Where, addressed, json_of
from hearthmind.gateway.rest.versions import etag, matches, tags_in
from hearthmind.house import contract as c
from hearthmind.house import operations as op
from hearthmind.model import RelationType

IfNoneMatch = Annotated[str | None, Header(alias="If-None-Match", description="304 if this is still the version.")]


class RelatedQuery(c.SpaceRequest):
    depth: int = Field(default=1, ge=1, le=4, description="How many links away.")
    types: list[RelationType] = Field(default_factory=list, description="Only these kinds of links.")


def memory_routes(door: RestDoor) -> APIRouter:
    routes = APIRouter(prefix=PREFIX, tags=["memories"], responses=PROBLEM_ANSWER)

    @routes.post("/memories", status_code=201, response_model=c.Remembered, summary="Remember something")
    def remember(body: c.RememberRequest, where: Where, key: Key = None) -> Response:
        """Stores a new memory; it is on disk and searchable when this answers. 200 with `existing: true` if the same
        content and title were remembered in the last 24 hours."""
        done = door.ask(op.REMEMBER, addressed(body, where, key))
        headers = {"Location": f"/api/v1/memories/{done.id}", "ETag": etag(done.version)}
        return json_of(done, 200 if done.existing else 201, headers)

    @routes.get("/memories", response_model=c.Listing[c.IndexLine], summary="List memories")
    def list_memories(query: Annotated[c.ListRequest, Query()]) -> Response:
        """One line per memory, a page at a time, filtered by folder, tag or type."""
        return door.page(op.LIST_INDEX, query)

    @routes.get("/memories/{id}", response_model=c.MemoryView, summary="Show a memory")
    def show(id: str, where: Where, if_none_match: IfNoneMatch = None) -> Response:
        """The whole memory; `ETag` carries its version."""
        memory = door.ask(op.SHOW, c.MemoryRequest(id=id, space=where.space))
        headers = {"ETag": etag(memory.version), "Cache-Control": "private, no-cache"}
        if matches(if_none_match, memory.version):
            return Response(status_code=304, headers=headers)
        return json_of(memory, headers=headers)

    @routes.patch("/memories/{id}", response_model=c.MemoryView, summary="Change a memory")
    def update(id: str, body: c.MemoryFields, where: Where, if_match: IfMatch = None, key: Key = None) -> Response:
        """Changes only the fields named. With `If-Match`, 412 and the current version if the note changed since."""
        version = _expected(door, id, where, if_match)
        request = c.UpdateRequest(id=id, fields=body, version=version, space=where.space, idempotency_key=key)
        memory = door.ask(op.UPDATE, request)
        return json_of(memory, headers={"ETag": etag(memory.version)})

    @routes.delete("/memories/{id}", response_model=c.Forgotten, summary="Forget a memory")
    def forget(id: str, where: Where, if_match: IfMatch = None, key: Key = None) -> Response:
        """Moves the note to the vault's trash, where it stays 30 days."""
        version = _expected(door, id, where, if_match)
        request = c.ForgetRequest(id=id, version=version, space=where.space, idempotency_key=key)
        return json_of(door.ask(op.FORGET, request))

    @routes.get("/memories/{id}/related", response_model=c.Related, summary="What is linked to a memory")
    def related(id: str, query: Annotated[RelatedQuery, Query()]) -> Response:
        """Memories within `depth` links, and the links between them."""
        return json_of(door.ask(op.RELATED, c.RelatedRequest(id=id, **query.model_dump())))

    return routes


def _expected(door: RestDoor, id: str, where: c.SpaceRequest, if_match: str | None) -> str | None:
    """The version that If-Match expects; of several, the one that the memory has now."""
    found = tags_in(if_match)
    if not found or "*" in found:
        return None
    if len(found) == 1:
        return found[0]
    current = door.ask(op.SHOW, c.MemoryRequest(id=id, space=where.space)).version
    return current if current in found else found[0]
