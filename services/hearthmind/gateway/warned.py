"""A house whose status also tells the edge's warnings."""

from collections.abc import Callable
from typing import cast

from hearthmind.house.contract import Status
from hearthmind.house.operations import Ans, House, Operation, Req
from hearthmind.model.house import Caller


class WarnedHouse:
    def __init__(self, house: House, warnings: Callable[[], list[str]]) -> None:
        self._house = house
        self._warnings = warnings

    def do(self, operation: Operation[Req, Ans], caller: Caller, request: Req) -> Ans:
        answer = self._house.do(operation, caller, request)
        if isinstance(answer, Status) and (more := [each for each in self._warnings() if each not in answer.warnings]):
            return cast(Ans, answer.model_copy(update={"warnings": [*answer.warnings, *more]}))
        return answer
