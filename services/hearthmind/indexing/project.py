"""A note as the catalog keeps it: the one place where a file becomes a memory."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from hearthmind.indexing import fields
from hearthmind.indexing.entries import cut_entries
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.passages import cut_sections
from hearthmind.model import Link, Memory, Passage
from hearthmind.model.index import MAX_PASSAGES, AnalysedPassage, FileState, Projection, ResolvedLink
from hearthmind.vault.durable import version_of
from hearthmind.vault.files import FileStat
from hearthmind.vault.links import key_of
from hearthmind.vault.markdown import Scan, links_in_properties, scan
from hearthmind.vault.names import fold
from hearthmind.vault.note import Note, parse_note
from hearthmind.vault.prose import first_sentence

MACHINE_OWNED = frozenset({"id", "updated", "summary", "reference_count"})
"""Properties whose change is no change of what the person wrote."""


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A file that has been read, before its links are resolved."""

    memory: Memory
    state: FileState
    passages: Sequence[AnalysedPassage]
    links: Sequence[Link]

    @property
    def folded_name(self) -> str:
        return fold(PurePosixPath(self.memory.path).stem)


def own_id(raw_properties: Mapping[str, Any]) -> str | None:
    """The `id` property as text, whatever it is worth."""
    return fields.text_in(raw_properties.get("id"))


def read_note(space: MountedSpace, raw: bytes, stat: FileStat, note_id: str, title: str | None = None) -> ReadNote:
    """A file as a memory of this id, with passages and links. Never raises for what is in the file. `title`
    stands in for a note that is not in its place yet."""
    note = parse_note(raw)
    seen = scan(note.body, note.body_line)
    memory = _memory(space, raw, stat.path, note_id, note, seen)
    if title is not None:
        memory = replace(memory, title=title)
    passages = _passages(space, memory, note)
    analysed = [analyse(space, memory, passage) for passage in passages[:MAX_PASSAGES]]
    links = [*links_in_properties(note.properties), *seen.links]
    return ReadNote(memory, FileState(stat.size, stat.mtime_ns), analysed, links)


def resolved(space: MountedSpace, note: ReadNote) -> Projection:
    """With its links resolved as the vault stands. Call with the space's guard held."""
    path = note.memory.path
    links = [ResolvedLink(link, key_of(link), space.links.resolve(link, path)) for link in note.links]
    return Projection(note.memory, note.folded_name, note.state, note.passages, links)


def text_version(properties: Mapping[str, Any], body: str) -> str:
    """Hash of what the person owns: the body and every property that machines do not write."""
    owned = {key: value for key, value in properties.items() if key not in MACHINE_OWNED}
    payload = json.dumps(owned, sort_keys=True, ensure_ascii=False) + "\0" + body
    return hashlib.sha256(payload.encode(errors="surrogatepass")).hexdigest()[:32]


def title_of(properties: Mapping[str, Any], path: str, scanned: Scan) -> str:
    """The title property, else the file's name; where a first heading says the same in better spelling
    (`use-uv-for-ci.md`, "Use uv for CI"), that."""
    if title := fields.text_in(properties.get("title")):
        return title
    stem = PurePosixPath(path).stem
    if scanned.headings and _letters(scanned.headings[0].text) == _letters(stem):
        return scanned.headings[0].text
    return stem


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold(text))


def _memory(space: MountedSpace, raw: bytes, path: str, note_id: str, note: Note, seen: Scan) -> Memory:
    properties = note.properties
    zone = space.zone
    return Memory(
        id=note_id,
        space=space.name,
        title=title_of(properties, path, seen),
        path=path,
        type=fields.type_in(properties),
        version=version_of(raw),
        text_version=text_version(properties, note.body),
        text=note.body,
        date=fields.day_of(properties, path, zone),
        at=fields.moment_of(properties.get("at"), zone),
        updated=fields.text_in(properties.get("updated")),
        summary=fields.text_in(properties.get("summary")) or first_sentence(note.body),
        tags=fields.tags_of([*fields.tags_in(properties), *(tag.name for tag in seen.tags)]),
        aliases=(*fields.texts_in(properties.get("aliases")), *fields.texts_in(properties.get("alias"))),
        importance=fields.importance_of(properties.get("importance")) or fields.DEFAULT_IMPORTANCE,
        project=fields.text_in(properties.get("project")),
        session=fields.text_in(properties.get("session")),
        outcome=fields.outcome_in(properties),
        critical=properties.get("critical") is True,
        valid_from=_day(properties.get("valid_from"), space),
        valid_until=_day(properties.get("valid_until"), space),
        ours=own_id(properties) == note_id,
        properties=properties,
        problem=note.problem,
    )


def _day(value: Any, space: MountedSpace) -> str | None:
    moment = fields.moment_of(value, space.zone)
    return moment.date().isoformat() if moment else None


def _passages(space: MountedSpace, memory: Memory, note: Note) -> list[Passage]:
    if space.layout.is_session(memory.path) or space.layout.is_daily(memory.path):
        return cut_entries(space, memory, note)
    return cut_sections(note.body, note.body_line)


def analyse(space: MountedSpace, memory: Memory, passage: Passage) -> AnalysedPassage:
    """With the terms that find it, and the text that the embedder reads: an entry as it was spoken, a
    section under its title and headings."""
    terms = space.words.of_text(passage.text)
    above = [memory.title, *passage.headings, *passage.tags]
    if passage.entry:
        above += [passage.role or "", _spoken_date(passage.at, space)]
        embed = passage.text
    else:
        embed = "\n".join([" › ".join(dict.fromkeys([memory.title, *passage.headings])), passage.text])
        above += [*memory.tags, *memory.aliases]
    heading = space.words.of_text(" ".join(above))
    return AnalysedPassage(
        passage=passage,
        stems=" ".join(terms.stems),
        words=" ".join(terms.words),
        heading=" ".join(heading.stems),
        embed=embed,
    )


def _spoken_date(at: datetime | None, space: MountedSpace) -> str:
    """A date in the words of a question ("8 May 2023", "Monday"): they stand in the keyword index."""
    return f"{at.astimezone(space.zone):%A %d %B %Y} {at.astimezone(space.zone).day}" if at else ""
