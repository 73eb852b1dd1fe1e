"""How large a request may be."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hearthmind.errors import TooLarge
from hearthmind.gateway.envelope import header
from hearthmind.gateway.problems import problem_of
from hearthmind.house.contract import MAX_QUERY_CHARACTERS
from hearthmind.settings import Settings

JSON_GROWTH = 6
"""JSON may write one byte as six (`\\u00e4` for half of ä, `\\u0000`)."""
ENVELOPE_BYTES = 64 * 1024


def largest_body(settings: Settings) -> int:
    """Bytes: the largest content or query, each character escaped, and everything around it."""
    return max(settings.max_content_kb * 1024, 2 * MAX_QUERY_CHARACTERS) * JSON_GROWTH + ENVELOPE_BYTES


class BodyLimit:
    """413 before a body is read where it declares its length, while it is read where it does not."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._words = f"The body is larger than {limit} bytes; HEARTHMIND_MAX_CONTENT_KB sets how long a memory may be."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = header(scope, b"content-length")
        if declared is not None and declared.isdigit() and int(declared[:20]) > self._limit:
            await problem_of(TooLarge(self._words, limit=self._limit))(scope, receive, send)
            return
        if declared is not None:
            await self._app(scope, receive, send)  # the server reads no more than was declared
            return
        seen = 0

        async def receive_counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                # FastAPI and the MCP SDK let this type through; the app's handler makes it a problem document.
                raise HTTPException(413, self._words)
            return message

        await self._app(scope, receive_counted, send)
