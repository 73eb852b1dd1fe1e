"""Routes of the house: spaces and tokens."""

from collections.abc import Callable

from fastapi import APIRouter
from starlette.responses import Response

from hearthmind.gateway.rest.door import PREFIX, PROBLEM_ANSWER, RestDoor, json_of
from hearthmind.house import contract as c
from hearthmind.house import operations as op


def owning_routes(door: RestDoor, tokens_changed: Callable[[], None]) -> APIRouter:
    routes = APIRouter(prefix=PREFIX, tags=["house"], responses=PROBLEM_ANSWER)

    @routes.get("/spaces", response_model=c.Listing[c.SpaceView], summary="List spaces")
    def spaces() -> Response:
        """The spaces within the caller's reach."""
        return json_of(door.ask(op.SPACES, c.SpacesRequest()))

    @routes.post("/spaces", status_code=201, response_model=c.SpaceView, summary="Add a space")
    def add_space(body: c.NewSpaceRequest) -> Response:
        """A new space with a vault of its own, or with an existing one that it adopts. Scope admin."""
        return json_of(door.ask(op.ADD_SPACE, body), 201)

    @routes.get("/tokens", response_model=c.Listing[c.TokenView], summary="List tokens")
    def tokens() -> Response:
        """Names, scopes, spaces and last use; never the secrets. Scope admin."""
        return json_of(door.ask(op.TOKENS, c.TokensRequest()))

    @routes.post("/tokens", status_code=201, response_model=c.NewToken, summary="Create a token")
    def add_token(body: c.NewTokenRequest) -> Response:
        """The only answer that shows the secret. The first token ends the anonymous owner. Scope admin."""
        made = door.ask(op.ADD_TOKEN, body)
        tokens_changed()
        return json_of(made, 201, {"Cache-Control": "no-store"})

    @routes.delete("/tokens/{id}", response_model=c.Revoked, summary="Revoke a token")
    def revoke_token(id: str) -> Response:
        """By id or name; it is refused from then on. Scope admin."""
        gone = door.ask(op.REVOKE_TOKEN, c.RevokeRequest(id=id))
        tokens_changed()
        return json_of(gone)

    return routes
