"""A tool that is one operation of the house."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from anyio import to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools.base import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError
from ulid import ULID

from hearthmind.errors import HearthmindError
from hearthmind.gateway.auth.caller import client_of
from hearthmind.gateway.bounds import bounded, fitting_page
from hearthmind.gateway.explain import explained, words_of
from hearthmind.gateway.mcp.schema import lenient, tool_schema
from hearthmind.house.contract import Listing
from hearthmind.house.operations import House, Operation
from hearthmind.model.house import Caller
from hearthmind.telemetry import measured, request_id


class OperationTool(Tool):
    """Arguments are the operation's request, the result is its answer: one definition for every edge.

    Unlike the SDK's own tools it refuses unknown arguments by name and never echoes what was sent.
    """

    operation: Any = Field(exclude=True)
    house: Any = Field(exclude=True)
    caller: Callable[[], Caller] = Field(exclude=True)

    async def run(
        self, arguments: dict[str, Any], context: "Context[Any, Any]", convert_result: bool = False
    ) -> CallToolResult | InputRequiredResult | BaseModel:
        """Raises ToolError with words for the model, UnexpectedToolError for a crash (the SDK logs it)."""
        known = self.parameters["properties"]
        try:
            request = self.operation.request.model_validate(lenient(arguments, self.parameters))
        except ValidationError as error:
            lines = explained(cast(Any, error.errors(include_url=False, include_input=False)), known)
            raise ToolError(f"{self.name} cannot be called like this: {words_of(lines)}") from error
        token = request_id.set(request_id.get() or str(ULID()))
        try:
            caller = _named(self.caller(), context)
            answer = await to_thread.run_sync(self._perform, caller, request)
        except HearthmindError as error:
            raise ToolError(_words(error)) from error
        except Exception as error:
            raise UnexpectedToolError(
                f"{self.name} failed inside Hearthmind, through no fault of yours; "
                f"the server's log names request {request_id.get()}"
            ) from error
        finally:
            request_id.reset(token)
        return _result(answer) if convert_result else answer

    def _perform(self, caller: Caller, request: Any) -> BaseModel:
        def ask(asked: Any) -> BaseModel:
            with measured("mcp", self.operation.name):
                return cast(BaseModel, self.house.do(self.operation, caller, asked))

        if issubclass(self.operation.answer, Listing):
            return cast(BaseModel, fitting_page(ask, request))
        return bounded(ask(request), request)


def operation_tool(
    operation: Operation[Any, Any],
    house: House,
    caller: Callable[[], Caller],
    *,
    title: str,
    description: str,
    annotations: ToolAnnotations,
) -> OperationTool:
    async def unused() -> None:
        """The SDK asks for a function; `run` does not call it."""

    return OperationTool(
        fn=unused,
        name=operation.name,
        title=title,
        description=description,
        parameters=tool_schema(operation.request),
        fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_model=operation.answer),
        is_async=True,
        context_kwarg=None,
        annotations=annotations,
        operation=operation,
        house=house,
        caller=caller,
    )


def _named(caller: Caller, context: "Context[Any, Any]") -> Caller:
    """The caller with the client's name: what it says of itself in MCP, else its User-Agent."""
    params = context.request_context.session.client_params
    name = client_of(params.client_info.name.replace(" ", "-")) if params else ""
    return replace(caller, client=name) if name else caller


def _words(error: HearthmindError) -> str:
    extra = "".join(f"; {key}: {value}" for key, value in error.extra.items())
    return f"{error.message} ({error.slug}{extra})"


def _result(answer: BaseModel) -> CallToolResult:
    content = answer.model_dump(mode="json")
    return CallToolResult(content=[TextContent(type="text", text=answer.model_dump_json())], structured_content=content)
