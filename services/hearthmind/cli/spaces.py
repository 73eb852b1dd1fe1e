"""Commands about spaces: space list, space add."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hearthmind.cli.joined import Json, ask
from hearthmind.cli.shown import give, table

if TYPE_CHECKING:
    from hearthmind.house import contract as c

app = typer.Typer(help="Spaces: vaults with their own indexes and access.", no_args_is_help=True)


@app.command("list")
def list_spaces(as_json: Json = False) -> None:
    """List the spaces."""
    from hearthmind.house.operations import SPACES

    def lines(answer: "c.Listing[c.SpaceView]") -> None:
        rows = [(one.name, one.kind, "" if one.mounted else "not mounted", one.vault) for one in answer.items]
        table(("Space", "Kind", "", "Vault"), rows, "No spaces.")

    give(ask(SPACES), as_json, lines)


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    vault: Annotated[Path | None, typer.Option(help="An existing vault to adopt; else a new one is made.")] = None,
    as_json: Json = False,
) -> None:
    """Add a space."""
    from hearthmind.house.operations import ADD_SPACE

    where = str(vault.expanduser().absolute()) if vault else None
    answer = ask(ADD_SPACE, name=name, vault=where)
    give(answer, as_json, lambda space: print(f"Added the space {space.name} ({space.kind}): {space.vault}"))
