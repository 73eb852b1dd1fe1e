"""Commands about work and health: jobs, status, stats."""

from typing import TYPE_CHECKING, Annotated

from typer import Option

from hearthmind.cli.joined import Json, Space, ask
from hearthmind.cli.shown import give, more, table

if TYPE_CHECKING:
    from hearthmind.house import contract as c


def jobs(
    state: Annotated[list[str] | None, Option("--state", help="waiting, queued, running, done or failed.")] = None,
    page: Annotated[str | None, Option("--page")] = None,
    limit: Annotated[int | None, Option("--limit")] = None,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """List background work and its state."""
    from hearthmind.house.operations import JOBS

    def lines(answer: "c.Listing[c.JobView]") -> None:
        rows = [(job.id, job.kind, job.state, job.reason, job.changed, job.error) for job in answer.items]
        table(("Id", "Work", "State", "Waits for", "Changed", "Error"), rows, "No jobs.")
        more(answer.next, len(rows), answer.total)

    give(ask(JOBS, state=state or None, page=page, limit=limit, space=space), as_json, lines)


def status(space: Space = None, as_json: Json = False) -> None:
    """Health of every layer, warnings, and notes that need you."""
    from hearthmind.house.operations import STATUS

    give(ask(STATUS, space=space), as_json, show_status)


def stats(space: Space = None, as_json: Json = False) -> None:
    """Totals of a space."""
    from hearthmind.house.operations import STATS

    def lines(answer: "c.Stats") -> None:
        values = answer.model_dump(mode="json")
        kinds, states = values.pop("types"), values.pop("jobs")
        rows = [(name.replace("_", " "), value) for name, value in values.items()]
        rows += [(f"type {name}", count) for name, count in kinds.items()]
        rows += [(f"jobs {name}", count) for name, count in states.items()]
        table(("What", "Value"), rows, "")

    give(ask(STATS, space=space), as_json, lines)


def show_status(answer: "c.Status") -> None:
    print(f"Hearthmind {answer.version}, space {answer.space}: {'ready' if answer.ready else 'not ready'}")
    for name, layer in answer.layers.items():
        print(f"  {name:<10} {layer.state:<9} {layer.detail}".rstrip())
    if answer.indexing.active:
        print(f"  indexing   {answer.indexing.done} of {answer.indexing.total} notes")
    for warning in answer.warnings:
        print(f"warning: {warning}")
    for problem in answer.problems:
        where = problem.path + (f":{problem.line}" if problem.line else "")
        print(f"problem: {where}: {problem.what} {problem.remedy}".rstrip())
