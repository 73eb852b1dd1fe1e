"""The tree of commands."""

from typing import Annotated

import typer

from hearthmind.cli import adopting, connecting, finding, notes, service, serving, spaces, tokens, work

app = typer.Typer(
    name="hearthmind",
    help="A persistent memory for any LLM client, kept as Markdown notes. Settings are HEARTHMIND_* variables.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def hearthmind(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        print(installed("hearthmind"))
        raise typer.Exit


for command in (
    serving.serve,
    serving.mcp,
    notes.remember,
    notes.capture,
    notes.log,
    finding.recall,
    finding.search,
    notes.show,
    finding.related,
    notes.update,
    notes.forget,
    finding.index,
    finding.tags,
    work.jobs,
    work.status,
    work.stats,
    adopting.adopt,
    connecting.connect,
):
    app.command()(command)
app.add_typer(spaces.app, name="space")
app.add_typer(tokens.app, name="token")
app.add_typer(service.app, name="service")
