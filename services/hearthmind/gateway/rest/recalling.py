"""Routes that ask the memory."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from hearthmind.gateway.bounds import bounded
from hearthmind.gateway.rest.door import PREFIX, PROBLEM_ANSWER, RestDoor, Where, addressed, json_of
from hearthmind.house import contract as c
from hearthmind.house import operations as op


class FetchQuery(c.SpaceRequest):
    offset: int = Field(default=0, ge=0, description="First character of the text to return.")


def recall_routes(door: RestDoor) -> APIRouter:
    routes = APIRouter(prefix=PREFIX, tags=["recall"], responses=PROBLEM_ANSWER)

    @routes.post("/recall", response_model=c.Recalled, summary="Recall what is known")
    def recall(body: c.RecallRequest, where: Where) -> Response:
        """The most relevant memories and a context block for a prompt; no hits where nothing is relevant. `degraded`
        names layers that could not take part."""
        request = addressed(body, where)
        return json_of(bounded(door.ask(op.RECALL, request), request))

    @routes.post("/search", response_model=c.SearchResults, summary="Search for memories")
    def search(body: c.SearchRequest, where: Where) -> Response:
        """Ids, titles and addresses only; `GET /fetch/{id}` gives the text."""
        return json_of(door.ask(op.SEARCH, addressed(body, where)))

    @routes.get("/fetch/{id}", response_model=c.Fetched, summary="Fetch the text of a memory")
    def fetch(id: str, query: Annotated[FetchQuery, Query()]) -> Response:
        """A page of the text from `offset`; `metadata.next_offset` is there while text remains."""
        request = c.FetchRequest(id=id, offset=query.offset, space=query.space)
        return json_of(bounded(door.ask(op.FETCH, request), request))

    return routes
