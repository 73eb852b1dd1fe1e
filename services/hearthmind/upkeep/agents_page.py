"""AGENTS.md: how agents should use this memory, and what is current."""

import re

from hearthmind.errors import HearthmindError
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.model import Filter, Memory
from hearthmind.telemetry import get_logger
from hearthmind.vault.durable import version_of
from hearthmind.vault.layout import AGENTS_PAGE
from hearthmind.vault.pages import agents_text, render_agents

SHOWN = 12
SHOWN_CHARACTERS = 200
"""Memories of each kind in the current context: a page that an agent reads at every start stays short."""

log = get_logger(__name__)


def write_agents_page(space: MountedSpace) -> bool:
    """Write the generated part of AGENTS.md where it differs; True if it was written. A page without our
    markers is the person's and stays as it is."""
    path = space.layout.path(AGENTS_PAGE)
    try:
        space.require_mounted()
        existing = space.files.find(path)
        rendered = render_agents(existing, agents_text() + "\n\n" + current_context(space))
        if rendered is None or rendered == existing:
            return False
        if existing is None:
            space.files.create(path, rendered)
        else:
            space.files.exchange(path, version_of(existing), rendered)
    except HearthmindError as error:
        log.warning("agents_page_not_written", space=space.name, error=error.message)
        return False
    return True


def current_context(space: MountedSpace) -> str:
    """The newest important memories (importance 8 and up), critical ones first, a line each; as code,
    so that no word of a note is markup here, and Obsidian's graph is not drawn toward this page."""
    important: list[Memory] = []
    page: str | None = None
    while page is not None or not important:
        found, page, _ = space.catalog.list_memories(filter=Filter(min_importance=8), after=page, limit=1_000)
        important.extend(found)
        if page is None:
            break
    newest = sorted(important, key=lambda one: (one.date or "", one.id), reverse=True)
    parts = ["## Current context"]
    parts += _section("Critical", [one for one in newest if one.critical])
    parts += _section("Important", [one for one in newest if not one.critical])
    if len(parts) == 1:
        parts.append("Nothing important is remembered yet.")
    return "\n\n".join(parts)


def _section(title: str, memories: list[Memory]) -> list[str]:
    if not memories:
        return []
    lines = [f"- {_code(one.title)} ({one.date or 'undated'}): {_code(one.summary)}" for one in memories[:SHOWN]]
    return [f"### {title}", "\n".join(lines)]


def _code(text: str) -> str:
    """Text of a note in one line, as code that it cannot end."""
    line = " ".join(text.split())[:SHOWN_CHARACTERS]
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if "`" in line else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else "(no text)"
