"""Routes about the memory itself: what is in it, what it is doing, how it is."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import field_validator
from starlette.responses import Response

from hearthmind.gateway.rest.door import PREFIX, PROBLEM_ANSWER, RestDoor, Where, json_of
from hearthmind.house import contract as c
from hearthmind.house import operations as op


class JobsQuery(c.JobsRequest):
    """`state` may be repeated or separated by commas."""

    @field_validator("state", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, list):
            return [part.strip() for each in value for part in str(each).split(",") if part.strip()]
        return value


def keeping_routes(door: RestDoor) -> APIRouter:
    routes = APIRouter(prefix=PREFIX, tags=["keeping"], responses=PROBLEM_ANSWER)

    @routes.get("/index", response_model=c.Listing[c.IndexLine], summary="The index")
    def index(query: Annotated[c.ListRequest, Query()]) -> Response:
        """One line per memory, as in index.md."""
        return door.page(op.LIST_INDEX, query)

    @routes.get("/tags", response_model=c.Listing[c.TagLine], summary="The tag registry")
    def tags(query: Annotated[c.TagsRequest, Query()]) -> Response:
        """Tags in use with counts and descriptions."""
        return door.page(op.LIST_TAGS, query)

    @routes.get("/jobs", response_model=c.Listing[c.JobView], summary="Background work")
    def jobs(query: Annotated[JobsQuery, Query()]) -> Response:
        """Jobs, filtered by `state` (several separated by commas)."""
        return door.page(op.JOBS, c.JobsRequest(**query.model_dump()))

    @routes.get("/jobs/{id}", response_model=c.JobView, summary="One job")
    def job(id: str, where: Where) -> Response:
        """Its state, and its last error in words."""
        return json_of(door.ask(op.JOB, c.JobRequest(id=id, space=where.space)))

    @routes.get("/status", response_model=c.Status, summary="Health of every layer")
    def status(where: Where) -> Response:
        """Layers, indexing progress, warnings, and notes that need the person."""
        return json_of(door.ask(op.STATUS, c.StatusRequest(space=where.space)))

    @routes.get("/stats", response_model=c.Stats, summary="Totals")
    def stats(where: Where) -> Response:
        """How many memories, passages, relations, tags and jobs there are."""
        return json_of(door.ask(op.STATS, c.StatusRequest(space=where.space)))

    return routes
