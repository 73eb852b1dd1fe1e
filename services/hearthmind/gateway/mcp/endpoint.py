"""The MCP server over HTTP."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from hearthmind.gateway.body import largest_body
from hearthmind.settings import Settings


class McpEndpoint:
    """The server as an ASGI endpoint for one exact path. Host, Origin, caller and body size are checked by the
    gateway before, so the SDK's own checks stand aside. Its session manager runs once, in the app's lifespan."""

    def __init__(self, server: MCPServer[Any], settings: Settings) -> None:
        server.streamable_http_app(
            stateless_http=True,
            json_response=False,  # with JSON alone, progress and keep-alive would be lost
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            max_request_body_size=largest_body(settings) + 1,
        )
        self._manager = server.session_manager
        self.run = self._manager.run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._manager.handle_request(scope, receive, send)
