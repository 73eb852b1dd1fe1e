"""The exact lines that connect each client (what each needs: MCP.md §6)."""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Server:
    """What a client has to know. `token` None means the anonymous owner; `command` and `environment` start
    `hearthmind mcp` on stdio."""

    base_url: str
    token: str | None
    command: tuple[str, ...]
    environment: dict[str, str]

    @property
    def mcp(self) -> str:
        return f"{self.base_url}/mcp"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


@dataclass(frozen=True, slots=True)
class Client:
    """`takes_token`: it reaches the server over HTTP, so it needs a token once one exists."""

    title: str
    lines: Callable[[Server], str]
    takes_token: bool = True


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _claude_code(server: Server) -> str:
    header = f' --header "Authorization: Bearer {server.token}"' if server.token else ""
    return f"Run:\n\n  claude mcp add --transport http --scope user hearthmind {server.mcp}{header}"


def _claude_desktop(server: Server) -> str:
    where = (
        "Settings > Developer > Edit Config opens claude_desktop_config.json (macOS: ~/Library/Application Support/"
        "Claude/, Windows: %APPDATA%\\Claude\\). Add, and restart Claude:"
    )
    return f"{where}\n\n{_pretty({'mcpServers': {'hearthmind': _stdio_entry(server)}})}"


def _cursor(server: Server) -> str:
    return f"In ~/.cursor/mcp.json:\n\n{_pretty({'mcpServers': {'hearthmind': _url_entry(server)}})}"


def _vscode(server: Server) -> str:
    entry = {"type": "http", **_url_entry(server)}
    return f"In .vscode/mcp.json, or MCP: Open User Configuration:\n\n{_pretty({'servers': {'hearthmind': entry}})}"


def _open_webui(server: Server) -> str:
    auth = f"Bearer, with this key:  {server.token}" if server.token else "None"
    hint = ""
    if "127.0.0.1" in server.base_url or "localhost" in server.base_url:
        hint = (
            "\n\nOpen WebUI in Docker reaches this machine as http://host.docker.internal; Hearthmind must then listen"
            "\non that address (HEARTHMIND_HOST) and know the name (HEARTHMIND_ALLOWED_HOSTS=host.docker.internal)."
        )
    return (
        "Open WebUI 0.6.31 or later: Admin Settings > External Tools > + :\n\n"
        f"  Type  MCP (Streamable HTTP)\n  URL   {server.mcp}\n  Auth  {auth}{hint}"
    )


def _lm_studio(server: Server) -> str:
    entry = _pretty({"mcpServers": {"hearthmind": _url_entry(server)}})
    return f"LM Studio 0.3.17 or later: Program > Install > Edit mcp.json:\n\n{entry}"


def _n8n(server: Server) -> str:
    auth = f"Bearer Auth, token  {server.token}" if server.token else "None"
    return (
        "Add an MCP Client Tool node:\n\n"
        f"  Endpoint          {server.mcp}\n  Server Transport  HTTP Streamable\n  Authentication    {auth}"
    )


def _chatgpt(_server: Server) -> str:
    return (
        "ChatGPT runs in OpenAI's cloud: it reaches only public https addresses, and it signs in with OAuth; it takes"
        "\nno bearer token. This version has no OAuth sign-in yet, so ChatGPT cannot be connected yet."
    )


def _curl(server: Server) -> str:
    header = f' -H "Authorization: Bearer {server.token}"' if server.token else ""
    return (
        f"curl -s {server.base_url}/api/v1/status{header}\n"
        f"curl -s {server.base_url}/api/v1/recall{header} \\\n"
        "  -H 'Content-Type: application/json' -d '{\"query\": \"what did we decide about CI?\"}'"
    )


def _stdio(server: Server) -> str:
    line = shlex.join([*(f"{name}={value}" for name, value in server.environment.items()), *server.command, "mcp"])
    entry = _pretty({"mcpServers": {"hearthmind": _stdio_entry(server)}})
    return f"Any client on this machine that starts its servers itself. The command:\n\n  {line}\n\nAs JSON:\n\n{entry}"


def _url_entry(server: Server) -> dict[str, object]:
    return {"url": server.mcp} | ({"headers": server.headers} if server.headers else {})


def _stdio_entry(server: Server) -> dict[str, object]:
    first, *rest = server.command
    entry: dict[str, object] = {"command": first, "args": [*rest, "mcp"]}
    return entry | ({"env": server.environment} if server.environment else {})


CLIENTS = {
    "claude-code": Client("Claude Code", _claude_code),
    "claude-desktop": Client("Claude Desktop", _claude_desktop, takes_token=False),
    "cursor": Client("Cursor", _cursor),
    "vscode": Client("VS Code", _vscode),
    "open-webui": Client("Open WebUI", _open_webui),
    "lm-studio": Client("LM Studio", _lm_studio),
    "n8n": Client("n8n", _n8n),
    "chatgpt": Client("ChatGPT", _chatgpt, takes_token=False),
    "curl": Client("curl", _curl),
    "stdio": Client("any client on stdio", _stdio, takes_token=False),
}
