"""Memories and what they are made of: pure values, no behaviour beyond their own consistency."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class MemoryType(StrEnum):
    """What kind of memory a note holds."""

    NOTE = "note"
    FACT = "fact"
    PREFERENCE = "preference"
    DECISION = "decision"
    EVENT = "event"
    TASK = "task"
    EXPERIENCE = "experience"
    PROCEDURE = "procedure"
    THEME = "theme"
    AGENT = "agent"


class RelationType(StrEnum):
    """The vocabulary of typed links between memories."""

    RELATES_TO = "relates_to"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    DERIVED_FROM = "derived_from"
    PART_OF = "part_of"
    FOLLOWS = "follows"
    CAUSES = "causes"
    ABOUT = "about"


class Outcome(StrEnum):
    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Space:
    """One vault with its own indexes and access list. `name` matches `[a-z0-9-]{1,40}`."""

    name: str
    vault: str
    """Absolute path of the vault folder."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link found in a note, typed when it stands in a relation property.

    `target` is the note text as written, without heading, block or display text (`Folder/Name`). `markdown`
    tells a relative Markdown link (resolved against the note's folder, URL escapes already undone) from a
    wikilink. `embed` is `![[…]]`. `line` is 1-based in the file.
    """

    target: str
    line: int
    relation: RelationType = RelationType.RELATES_TO
    heading: str | None = None
    block: str | None = None
    embed: bool = False
    markdown: bool = False
    typed: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A resolved, directed link between two memories, by id."""

    source: str
    target: str
    type: RelationType
    typed: bool = False
    """Stands in a relation property; a plain link in the text otherwise."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrievable piece of a note: a section, or one entry of a session or daily note.

    `seq` is the position in the note (0-based): neighbours differ by one. `lines` are the first and last
    line in the file, 1-based, inclusive. `headings` is the path of headings above it, without the title.
    """

    seq: int
    text: str
    lines: tuple[int, int]
    headings: tuple[str, ...] = ()
    at: datetime | None = None
    role: str | None = None
    ref: str | None = None
    """The caller's own id of an episode."""
    entry: str | None = None
    """Block id of an entry (`^id`) in a session or daily note."""
    outcome: Outcome | None = None
    importance: int | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """One note of a vault, whoever wrote it, as the catalog knows it.

    `path` is vault-relative with `/`. `version` is the git blob id of the file's bytes. `text_version` hashes
    the body and the human-owned fields. `text` is the body, without front matter. `importance` is 1-10.
    `date` is the local day, ISO.
    """

    id: str
    space: str
    title: str
    path: str
    type: MemoryType
    version: str
    text_version: str
    text: str
    date: str | None = None
    at: datetime | None = None
    updated: str | None = None
    summary: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    importance: int = 5
    project: str | None = None
    session: str | None = None
    outcome: Outcome | None = None
    critical: bool = False
    valid_from: str | None = None
    valid_until: str | None = None
    ours: bool = False
    """Created by Hearthmind (carries our id); only these may be changed without the scope `vault`."""
    properties: Mapping[str, Any] = field(default_factory=dict)
    """The front matter as JSON values; dates as ISO strings."""
    problem: str | None = None
    """Why the front matter could not be read, if it could not."""
