"""connect: mint a token and print the lines for one client."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hearthmind.cli.clients import CLIENTS, Server
from hearthmind.cli.executable import chosen_environment, executable
from hearthmind.cli.joined import Json, ask_in, build, joined, settings_with_warnings
from hearthmind.cli.shown import note

if TYPE_CHECKING:
    from hearthmind.house.host import HouseClient

ENDS_ANONYMOUS = (
    "This will be the first token. From then on every client needs one: programs on this machine that use "
    "Hearthmind without a token will be refused. (--no-token prints lines that work without, until a token exists.)"
)


def connect(
    client: Annotated[str, typer.Argument(help=f"One of: {', '.join(CLIENTS)}.")],
    token: Annotated[bool, typer.Option("--token/--no-token", help="Mint a token for it.")] = True,
    name: Annotated[str | None, typer.Option(help="The token's name; else the client's.")] = None,
    space: Annotated[list[str] | None, typer.Option("--space", help="Only these spaces; else every one.")] = None,
    scope: Annotated[list[str] | None, typer.Option("--scope", help="read, write, vault, admin.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the first token.")] = False,
    as_json: Json = False,
) -> None:
    """Mint a token for a client and print the exact lines that connect it."""
    kind = CLIENTS.get(client)
    if kind is None:
        raise typer.BadParameter(f"{client!r} is not known; choose one of {', '.join(CLIENTS)}")
    settings = settings_with_warnings()
    secret = None
    if kind.takes_token:
        with joined(settings) as house:
            if token:
                secret = _minted(house, name or client, bool(name), scope, space, yes)
            else:
                _warn_of_tokens(house)
    server = Server(settings.base_url, secret, tuple(executable()), chosen_environment())
    lines = kind.lines(server)
    if as_json:
        answer = {"client": client, "url": server.mcp, "token": secret, "lines": lines}
        print(json.dumps(answer, ensure_ascii=False))
    else:
        print(lines)


def _minted(
    house: "HouseClient", name: str, exact: bool, scopes: list[str] | None, spaces: list[str] | None, yes: bool
) -> str:
    from hearthmind.house.contract import NewTokenRequest, TokensRequest
    from hearthmind.house.operations import ADD_TOKEN, TOKENS

    known = {one.name for one in ask_in(house, TOKENS, TokensRequest()).items}
    if not known and not yes:
        _confirm()
    if not exact:
        name = next(free for free in (name, *(f"{name}-{n}" for n in range(2, 1000))) if free not in known)
    request = build(NewTokenRequest, name=name, scopes=scopes or None, spaces=spaces or None)
    made = ask_in(house, ADD_TOKEN, request)
    if made.warning:
        note(f"warning: {made.warning}")
    note(f"Token {made.name!r} made; it is shown this one time. `hearthmind token revoke {made.name}` ends it.")
    return made.token


def _confirm() -> None:
    note(ENDS_ANONYMOUS)
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody to ask: add --yes to make the first token, or --no-token")
    typer.confirm("Make the first token?", abort=True, err=True)


def _warn_of_tokens(house: "HouseClient") -> None:
    from hearthmind.house.contract import TokensRequest
    from hearthmind.house.operations import TOKENS

    if ask_in(house, TOKENS, TokensRequest()).items:
        note("warning: tokens exist, so lines without one will be refused")
