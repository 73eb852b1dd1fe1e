"""Commands that find memories: recall, search, related, index, tags."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from hearthmind.cli.joined import Json, Space, ask
from hearthmind.cli.shown import give, more, note, table

if TYPE_CHECKING:
    from hearthmind.house import contract as c

Query = Annotated[str, Argument(help="The question, in natural language.")]
Page = Annotated[str | None, Option("--page", help="Continue here: the cursor of the page before.")]
Limit = Annotated[int | None, Option("--limit", help="At most so many.")]
OneTag = Annotated[str | None, Option("--tag")]


def recall(
    query: Query,
    limit: Limit = None,
    budget: Annotated[int | None, Option(help="Tokens of context.")] = None,
    type: Annotated[list[str] | None, Option("--type", help="Only these types.")] = None,
    tag: Annotated[list[str] | None, Option("--tag", help="All of these tags.")] = None,
    project: Annotated[str | None, Option()] = None,
    session: Annotated[str | None, Option()] = None,
    role: Annotated[str | None, Option(help="Only episodes spoken by this role.")] = None,
    outcome: Annotated[str | None, Option(help="success, failure or neutral.")] = None,
    min_importance: Annotated[int | None, Option()] = None,
    since: Annotated[str | None, Option(help="ISO date or time, inclusive.")] = None,
    until: Annotated[str | None, Option(help="ISO date or time, inclusive.")] = None,
    as_of: Annotated[str | None, Option(help="What was true on that day.")] = None,
    mode: Annotated[str | None, Option(help="hybrid, keyword or meaning.")] = None,
    expand: Annotated[bool, Option("--expand/--no-expand", help="Also memories linked to good hits.")] = True,
    floor: Annotated[str | None, Option(help="auto: nothing relevant gives no hits; off: the whole ranking.")] = None,
    context: Annotated[bool, Option("--context", help="Print the context block for a prompt.")] = False,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """Find the memories that answer a question."""
    from hearthmind.house.operations import RECALL

    answer = ask(
        RECALL,
        query=query,
        limit=limit,
        budget=budget,
        types=type or None,
        tags=tag or None,
        project=project,
        session=session,
        role=role,
        outcome=outcome,
        min_importance=min_importance,
        since=since,
        until=until,
        as_of=as_of,
        mode=mode,
        expand=None if expand else False,
        floor=floor,
        space=space,
    )
    give(answer, as_json, (lambda recalled: print(recalled.context)) if context else _recalled)


def search(query: Query, limit: Limit = None, space: Space = None, as_json: Json = False) -> None:
    """List the titles that match a query."""
    from hearthmind.house.operations import SEARCH

    def lines(answer: "c.SearchResults") -> None:
        table(("Title", "Id", "Address"), [(hit.title, hit.id, hit.url) for hit in answer.results], "Nothing found.")

    give(ask(SEARCH, query=query, limit=limit, space=space), as_json, lines)


def related(
    id: Annotated[str, Argument(help="The memory's id.")],
    depth: Annotated[int | None, Option(help="How many steps away, 1 to 4.")] = None,
    type: Annotated[list[str] | None, Option("--type", help="Only these relations.")] = None,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """List the memories connected to one."""
    from hearthmind.house.operations import RELATED

    def lines(answer: "c.Related") -> None:
        titles = {node.id: node.title for node in answer.nodes}
        rows = [(titles.get(edge.source, edge.source), edge.type, titles.get(edge.target, edge.target))
                for edge in answer.edges]  # fmt: skip
        table(("From", "Relation", "To"), rows, "Nothing is connected to it.")
        _degraded(answer.degraded)

    give(ask(RELATED, id=id, depth=depth, types=type or None, space=space), as_json, lines)


def index(
    folder: Annotated[str | None, Option()] = None,
    tag: OneTag = None,
    type: Annotated[str | None, Option("--type")] = None,
    page: Page = None,
    limit: Limit = None,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """List memories, one line each."""
    from hearthmind.house.operations import LIST_INDEX

    def lines(answer: "c.Listing[c.IndexLine]") -> None:
        rows = [(line.id, line.date, line.type, line.title, line.summary) for line in answer.items]
        table(("Id", "Date", "Type", "Title", "Summary"), rows, "No memories.")
        more(answer.next, len(rows), answer.total)

    answer = ask(LIST_INDEX, folder=folder, tag=tag, type=type, page=page, limit=limit, space=space)
    give(answer, as_json, lines)


def tags(
    prefix: Annotated[str | None, Argument(help="Only tags that begin so.")] = None,
    page: Page = None,
    limit: Limit = None,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """List the tags in use."""
    from hearthmind.house.operations import LIST_TAGS

    def lines(answer: "c.Listing[c.TagLine]") -> None:
        rows = [(line.tag, line.count, line.description) for line in answer.items]
        table(("Tag", "Notes", "Description"), rows, "No tags.")
        more(answer.next, len(rows), answer.total)

    give(ask(LIST_TAGS, prefix=prefix, page=page, limit=limit, space=space), as_json, lines)


def _recalled(answer: "c.Recalled") -> None:
    for number, hit in enumerate(answer.hits, 1):
        print(
            f"{number}. {hit.title}  ({hit.date or 'no date'}, {hit.score:.2f}: {hit.reason})\n   {hit.path}  {hit.id}"
        )
        print(*(f"   {line}" for line in hit.text.strip().splitlines()[:8]), "", sep="\n")
    if not answer.hits:
        silence = answer.silence or "nothing relevant"
        note(silence[:1].upper() + silence[1:])
    _degraded(answer.degraded)


def _degraded(layers: list[str]) -> None:
    if layers:
        note(f"degraded: {', '.join(layers)} could not take part; see `hearthmind status`")
