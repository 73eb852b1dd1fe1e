"""Commands about bearer tokens: token create, list, revoke."""

from typing import TYPE_CHECKING, Annotated

import typer

from hearthmind.cli.joined import Json, ask
from hearthmind.cli.shown import give, note, table

if TYPE_CHECKING:
    from hearthmind.house import contract as c

app = typer.Typer(help="Bearer tokens for clients.", no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="Who will use it, like laptop or n8n.")],
    scope: Annotated[list[str] | None, typer.Option("--scope", help="read, write, vault, admin.")] = None,
    space: Annotated[list[str] | None, typer.Option("--space", help="Only these spaces; else every one.")] = None,
    as_json: Json = False,
) -> None:
    """Make a token. It is shown this one time."""
    from hearthmind.house.operations import ADD_TOKEN

    answer = ask(ADD_TOKEN, name=name, scopes=scope or None, spaces=space or None)
    if answer.warning:
        note(f"warning: {answer.warning}")
    give(answer, as_json, lambda made: print(made.token))


@app.command("list")
def list_tokens(as_json: Json = False) -> None:
    """List the tokens, without their secrets."""
    from hearthmind.house.operations import TOKENS

    def lines(answer: "c.Listing[c.TokenView]") -> None:
        rows = [
            (one.id, one.name, " ".join(one.scopes), " ".join(one.spaces) or "every space", one.created, one.last_used)
            for one in answer.items
        ]
        table(("Id", "Name", "Scopes", "Spaces", "Created", "Last used"), rows, "No tokens.")

    give(ask(TOKENS), as_json, lines)


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(help="Id or name of the token.")],
    as_json: Json = False,
) -> None:
    """Make a token useless at once."""
    from hearthmind.house.operations import REVOKE_TOKEN

    answer = ask(REVOKE_TOKEN, id=token)
    if answer.warning:
        note(f"warning: {answer.warning}")
    give(answer, as_json, lambda gone: print(f"Revoked {gone.name} ({gone.id})"))
