"""The caller of the request at hand."""

from contextvars import ContextVar

from hearthmind.errors import NotAuthenticated
from hearthmind.model.house import Caller

CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Set by the authentication of one request, and seen by whatever task or thread carries it out."""

LIBRARIES = frozenset(
    {"mozilla", "curl", "wget", "python", "python-httpx", "python-httpx2", "python-requests", "python-urllib", "node"}
    | {"undici", "axios", "okhttp", "go-http-client", "java", "node-fetch", "aiohttp", "httpie", "testclient"}
)
"""Product names that say how a client speaks HTTP, not which program it is."""


def current_caller() -> Caller:
    """Raises NotAuthenticated outside an authenticated request."""
    caller = CALLER.get()
    if caller is None:
        raise NotAuthenticated("no caller is known here")
    return caller


def client_of(user_agent: str) -> str:
    """The program in a User-Agent (`claude-code/2.1 (cli)` → `claude-code`), empty if it tells nothing."""
    product = user_agent.strip().split(" ", 1)[0].split("/", 1)[0]
    return product[:60] if product.isascii() and product.isprintable() and product.lower() not in LIBRARIES else ""
