"""Routes that append to sessions and days."""

from fastapi import APIRouter
from starlette.responses import Response

from hearthmind.gateway.rest.door import PREFIX, PROBLEM_ANSWER, Key, RestDoor, Where, addressed, json_of
from hearthmind.house import contract as c
from hearthmind.house import operations as op


def journal_routes(door: RestDoor) -> APIRouter:
    routes = APIRouter(prefix=PREFIX, tags=["journal"], responses=PROBLEM_ANSWER)

    @routes.post("/episodes", status_code=201, response_model=c.EpisodesLogged, summary="Log turns of a session")
    def log_episodes(body: c.EpisodesRequest, where: Where, key: Key = None) -> Response:
        """Appends the entries to the session's note; each can be recalled alone. An entry whose `ref` is already in
        the session is not written again."""
        return json_of(door.ask(op.LOG_EPISODES, addressed(body, where, key)), 201)

    @routes.post("/captures", status_code=201, response_model=c.Captured, summary="Capture a thought")
    def capture(body: c.CaptureRequest, where: Where, key: Key = None) -> Response:
        """Appends a short entry to the note of the day."""
        return json_of(door.ask(op.CAPTURE, addressed(body, where, key)), 201)

    return routes
