"""Commands that put memories in and take them out: remember, capture, log, show, update, forget."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from hearthmind.cli.joined import Json, Space, ask
from hearthmind.cli.shown import give, given_text, note

if TYPE_CHECKING:
    from hearthmind.house import contract as c

Text = Annotated[str | None, Argument(help="The text, or - for stdin.")]
File = Annotated[Path | None, Option("--file", help="Read the text from this file.")]
Tags = Annotated[list[str] | None, Option("--tag", help="A tag; may be given several times.")]
Topics = Annotated[list[str] | None, Option("--topic", help="A topic; may be given several times.")]
Importance = Annotated[str | None, Option(help="1 to 10, or low, medium, high.")]
Type = Annotated[str | None, Option(help="note, fact, preference, decision, event, task, experience, …")]
Key = Annotated[str | None, Option("--key", help="Idempotency key: the same key gives the first answer again.")]
Id = Annotated[str, Argument(help="The memory's id.")]
Version = Annotated[str | None, Option("--version", help="Refuse if the note is no longer this version.")]


def remember(
    text: Text = None,
    file: File = None,
    title: Annotated[str | None, Option(help="Made from the text if left out.")] = None,
    type: Type = None,
    tag: Tags = None,
    importance: Importance = None,
    project: Annotated[str | None, Option()] = None,
    critical: Annotated[bool, Option("--critical", help="Recalled at the start of every session.")] = False,
    occurred_at: Annotated[str | None, Option("--at", help="When it happened: ISO date or time.")] = None,
    source: Annotated[str | None, Option(help="Where it comes from, like a URL.")] = None,
    key: Key = None,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """Keep a memory. It is on disk when this returns."""
    from hearthmind.house.operations import REMEMBER

    answer = ask(
        REMEMBER,
        content=given_text(text, file),
        title=title,
        type=type,
        tags=tag or None,
        importance=_importance(importance),
        project=project,
        critical=critical or None,
        occurred_at=occurred_at,
        source=source,
        idempotency_key=key,
        space=space,
    )
    give(answer, as_json, _remembered)


def capture(
    text: Text = None,
    file: File = None,
    topic: Topics = None,
    occurred_at: Annotated[str | None, Option("--at", help="When: ISO date or time.")] = None,
    key: Key = None,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """Add a short entry to the day's note."""
    from hearthmind.house.operations import CAPTURE

    answer = ask(
        CAPTURE,
        text=given_text(text, file),
        topics=topic or None,
        occurred_at=occurred_at,
        idempotency_key=key,
        space=space,
    )
    give(answer, as_json, lambda captured: print(*captured.paths, sep="\n"))


def log(
    session: Annotated[str, Argument(help="Name of the session; the same name continues it.")],
    file: Annotated[Path, Argument(help="JSON array or JSON lines of {role, content, …}; - is stdin.")] = Path("-"),
    project: Annotated[str | None, Option()] = None,
    key: Key = None,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """Append turns or events to a session's note."""
    from hearthmind.house.operations import LOG_EPISODES

    text = given_text("-", None) if str(file) == "-" else given_text(None, file)
    answer = ask(
        LOG_EPISODES, session=session, entries=read_entries(text), project=project, idempotency_key=key, space=space
    )
    give(answer, as_json, _logged)


def show(id: Id, space: Space = None, as_json: Json = False) -> None:
    """Print a memory as it is stored."""
    from hearthmind.house.operations import SHOW

    give(ask(SHOW, id=id, space=space), as_json, _show)


def update(
    id: Id,
    title: Annotated[str | None, Option()] = None,
    text: Annotated[str | None, Option(help="The new text, or - for stdin.")] = None,
    type: Type = None,
    tag: Annotated[list[str] | None, Option("--tag", help="The tags it shall have; an empty one removes all.")] = None,
    importance: Importance = None,
    project: Annotated[str | None, Option()] = None,
    critical: Annotated[bool | None, Option("--critical/--not-critical")] = None,
    set_property: Annotated[
        list[str] | None, Option("--set", help="property=value, the value as JSON or text; null removes it.")
    ] = None,
    version: Version = None,
    key: Key = None,
    space: Space = None,
    as_json: Json = False,
) -> None:
    """Change a memory; what is not named stays as it is."""
    from hearthmind.house.operations import UPDATE

    fields = {
        "title": title,
        "text": None if text is None else given_text(text, None),
        "type": type,
        "tags": [one for one in tag if one] if tag else None,
        "importance": _importance(importance),
        "project": project,
        "critical": critical,
        "properties": _properties(set_property),
    }
    changed = {name: value for name, value in fields.items() if value is not None}
    if not changed:
        raise typer.BadParameter("say what to change, like --title or --tag")
    answer = ask(UPDATE, id=id, fields=changed, version=version, idempotency_key=key, space=space)
    give(answer, as_json, lambda memory: print(f"{memory.path}  version {memory.version}"))


def forget(id: Id, version: Version = None, key: Key = None, space: Space = None, as_json: Json = False) -> None:
    """Move a memory to the trash, where it waits for 30 days."""
    from hearthmind.house.operations import FORGET

    answer = ask(FORGET, id=id, version=version, idempotency_key=key, space=space)
    give(answer, as_json, lambda gone: print(f"Forgot “{gone.title}” ({gone.path}); it waits in {gone.trash}"))


def read_entries(text: str) -> list[Any]:
    """Entries from a JSON array, from {"entries": […]}, or from JSON lines."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        return [_line(line, number) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if isinstance(whole, dict) and isinstance(whole.get("entries"), list):
        whole = whole["entries"]
    return whole if isinstance(whole, list) else [whole]


def _line(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"line {number} is not JSON: {error.msg}") from error


def _importance(value: str | None) -> int | str | None:
    return int(value) if value is not None and value.lstrip("-").isdigit() else value


def _properties(pairs: list[str] | None) -> dict[str, Any] | None:
    properties: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"{pair!r} is not property=value")
        try:
            properties[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            properties[name.strip()] = value
    return properties or None


def _remembered(answer: "c.Remembered") -> None:
    print(f"{'Known already' if answer.existing else 'Remembered'}: {answer.title}\n{answer.path}\n{answer.id}")
    for similar in answer.similar:
        note(f"similar ({similar.score:.2f}): {similar.title}  {similar.id}")


def _logged(answer: "c.EpisodesLogged") -> None:
    known = f", {answer.existing} known already" if answer.existing else ""
    print(f"{len(answer.ids)} entries{known}", *answer.paths, sep="\n")


def _show(memory: "c.MemoryView") -> None:
    print(f"# {memory.title}\n{memory.path} · {memory.type} · {memory.date or 'no date'} · {memory.id}")
    if memory.tags:
        print(" ".join(f"#{tag}" for tag in memory.tags))
    print(f"\n{memory.text}")
