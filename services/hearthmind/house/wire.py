"""What goes through the door: one JSON document per line, a call one way, its answer or a problem the other."""

import json
from typing import Any

from pydantic import BaseModel

from hearthmind.errors import HearthmindError, by_slug
from hearthmind.house.operations import OPERATIONS, Ans, Operation, Req
from hearthmind.model.house import Caller, Scope

CLOSING = b'{"closing":true}\n'
"""The answer of a host that is ending: the call was not begun, ask the next host."""


class HostClosing(Exception):
    """The host read the call and did not begin it."""


def write_call(operation: Operation[Req, Ans], caller: Caller, request: Req, request_id: str) -> bytes:
    head = json.dumps(
        {
            "operation": operation.name,
            "caller": {
                "name": caller.name,
                "scopes": sorted(caller.scopes),
                "spaces": caller.spaces,
                "client": caller.client,
            },
            "request_id": request_id,
        }
    )
    # Unset members stay unset: "not mentioned" and "set to null" differ in an update.
    return f'{head[:-1]},"request":{request.model_dump_json(exclude_unset=True)}}}\n'.encode()


def read_call(line: bytes) -> tuple[Operation[Any, Any], Caller, BaseModel, str]:
    call = json.loads(line)
    operation = OPERATIONS[call["operation"]]
    who = call["caller"]
    spaces = who["spaces"]
    caller = Caller(
        who["name"],
        frozenset(Scope(scope) for scope in who["scopes"]),
        None if spaces is None else tuple(spaces),
        who["client"],
    )
    return operation, caller, operation.request.model_validate(call["request"]), call["request_id"]


def write_answer(answer: BaseModel) -> bytes:
    return f'{{"answer":{answer.model_dump_json()}}}\n'.encode()


def write_problem(error: HearthmindError) -> bytes:
    problem = {"slug": error.slug, "message": error.message, "extra": error.extra}
    return json.dumps({"problem": problem}, default=str).encode() + b"\n"


def read_answer(line: bytes, operation: Operation[Req, Ans]) -> Ans:
    """The answer, or the host's own HearthmindError raised again. HostClosing: not begun."""
    reply = json.loads(line)
    if "answer" in reply:
        return operation.answer.model_validate(reply["answer"])
    if "problem" in reply:
        problem = reply["problem"]
        raise by_slug(problem["slug"])(problem["message"], **problem["extra"])
    raise HostClosing
