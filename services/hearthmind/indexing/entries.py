"""Passages of session and daily notes: every turn and every capture is one of its own."""

from dataclasses import replace
from datetime import datetime, time

from hearthmind.indexing import fields
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.passages import PASSAGE_TOKENS, cut_sections, estimate_tokens
from hearthmind.model import Memory, Passage
from hearthmind.vault.entries import Entry, parse_captures, parse_turns
from hearthmind.vault.episodes import Episode, Episodes
from hearthmind.vault.layout import day_of
from hearthmind.vault.note import Note


def cut_entries(space: MountedSpace, memory: Memory, note: Note) -> list[Passage]:
    """Passages of a session or daily note in the order of the file. A long turn is several passages with the
    same `entry`; text that is no entry is cut like any other."""
    day = day_of(memory.path)
    if space.layout.is_session(memory.path):
        entries = parse_turns(note.body, note.body_line, day)
        details, _ = Episodes(space.files.root).load(memory.path, *former_paths(space, memory.id))
    else:
        entries, details = parse_captures(note.body, note.body_line, day), {}
    passages: list[Passage] = []
    for entry in entries:
        if entry.at is None:
            passages.extend(cut_sections(entry.text, entry.lines[0]))
        elif entry.text.strip():
            passages.extend(_of_entry(space, entry, details.get(entry.block or "")))
    return [replace(passage, seq=seq) for seq, passage in enumerate(passages)]


def former_paths(space: MountedSpace, note_id: str) -> tuple[str, ...]:
    """Where a memory lay before."""
    known = space.identities.by_id(note_id)
    return known.former if known else ()


def _of_entry(space: MountedSpace, entry: Entry, episode: Episode | None) -> list[Passage]:
    whole = Passage(
        seq=0,
        text=entry.text,
        lines=entry.lines,
        at=_moment(space, entry, episode),
        role=(episode.role if episode else None) or entry.role,
        ref=episode.ref if episode else None,
        entry=entry.block or f"L{entry.lines[0]}",
        outcome=episode.outcome if episode else None,
        importance=episode.importance if episode else None,
        tags=fields.tags_of([*entry.topics, *(episode.topics if episode else ())]),
    )
    if estimate_tokens(entry.text) <= PASSAGE_TOKENS:
        return [whole]
    return [replace(whole, text=part.text) for part in cut_sections(entry.text, entry.lines[0])]


def _moment(space: MountedSpace, entry: Entry, episode: Episode | None) -> datetime | None:
    """The exact instant from the details; what the note says where a person changed the time there."""
    exact = fields.moment_of(episode.occurred_at, space.zone) if episode else None
    if entry.day is None or entry.at is None:
        return exact
    shown = datetime.combine(entry.day, entry.at, space.zone)
    same = exact and exact.astimezone(space.zone).replace(second=0, microsecond=0, tzinfo=None) == datetime.combine(
        entry.day, time(entry.at.hour, entry.at.minute)
    )
    return exact if same else shown
