"""What the REST routes share: asking the house, and turning its answers into HTTP."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from fastapi import Header, Query
from pydantic import BaseModel
from starlette.responses import Response

from hearthmind.errors import InvalidInput
from hearthmind.gateway.auth.caller import current_caller
from hearthmind.gateway.bounds import fitting_page
from hearthmind.gateway.problems import MEDIA_TYPE
from hearthmind.house import contract as c
from hearthmind.house.operations import Ans, House, Operation, Req
from hearthmind.telemetry import measured

PREFIX = "/api/v1"
PROBLEM_ANSWER: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem document",
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
}

Where = Annotated[c.SpaceRequest, Query()]
"""`?space=` of any route; an unknown parameter is refused."""
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=200, description="The same key within 24 h gives the first answer."),
]
IfMatch = Annotated[str | None, Header(alias="If-Match", description="The version you read, as in ETag.")]

SpaceReq = TypeVar("SpaceReq", bound=c.SpaceRequest)


class RestDoor:
    """Asks the house in the name of the request's caller. Blocks: for routes that run in a thread."""

    def __init__(self, house: House) -> None:
        self._house = house

    def ask(self, operation: Operation[Req, Ans], request: Req) -> Ans:
        """Raises HearthmindError."""
        with measured("rest", operation.name):
            return self._house.do(operation, current_caller(), request)

    def page(self, operation: Operation[Any, Any], request: Any) -> Response:
        """A page of a list, shortened where its lines are long."""
        return json_of(fitting_page(lambda asked: self.ask(operation, asked), request))


def json_of(answer: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The answer as it is: it was validated when the house made it."""
    return Response(answer.model_dump_json(), status, headers, "application/json")


def addressed(request: SpaceReq, where: c.SpaceRequest, key: str | None = None) -> SpaceReq:
    """The request with what the URL and the headers add. Raises InvalidInput if they contradict it."""
    added: dict[str, Any] = {}
    if where.space is not None:
        if request.space not in (None, where.space):
            raise InvalidInput("space in the body and ?space= name different spaces", field="space")
        added["space"] = where.space
    if key is not None:
        added["idempotency_key"] = key
    return request.model_copy(update=added) if added else request
