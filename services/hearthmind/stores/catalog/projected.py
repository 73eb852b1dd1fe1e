"""Rows of one note brought up to date with its projection; what stayed the same is not written."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from hearthmind.errors import TooLarge
from hearthmind.model.index import (
    MAX_PASSAGES,
    PASSAGE_BITS,
    AnalysedPassage,
    Projection,
    ResolvedLink,
    StoredPassage,
)
from hearthmind.stores.catalog.rows import Row
from hearthmind.stores.catalog.values import (
    clean,
    clean_or_none,
    day,
    digest,
    folded,
    instant_or_none,
    properties_text,
    strings,
)


def _marks(count: int) -> str:
    return ", ".join("?" * count)


NOTE_COLUMNS = (
    "path, folded_name, title, type, version, text_version, date, day, at, updated, summary, tags, aliases,"
    " importance, project, folded_project, session, outcome, critical, valid_from, valid_until, ours, problem,"
    " size, mtime_ns, text_digest"
)
_INSERT_NOTE = f"INSERT INTO notes (id, first_seen, {NOTE_COLUMNS}) VALUES ({_marks(28)})"
_UPDATE_NOTE = f"UPDATE notes SET ({NOTE_COLUMNS}) = ({_marks(26)}) WHERE note_key = ?"
_PUT_BODY = (
    "INSERT INTO bodies (note_key, properties, text) VALUES (?, ?, ?)"
    " ON CONFLICT (note_key) DO UPDATE SET properties = excluded.properties, text = excluded.text"
)
# Plain statements, no REPLACE: a statement that may write several rows opens a savepoint, at which FTS5 writes
# out what it has gathered, and a bulk load then pays one segment for each note.
_PASSAGE_COLUMNS = "at, role, folded_role, outcome, importance, embedded, row_digest, terms_digest, embed_digest, key"
_INSERT_PASSAGE = f"INSERT INTO passages ({_PASSAGE_COLUMNS}) VALUES ({_marks(10)})"
_UPDATE_PASSAGE = (
    "UPDATE passages SET at = ?, role = ?, folded_role = ?, outcome = ?, importance = ?, embedded = ?,"
    " row_digest = ?, terms_digest = ?, embed_digest = ? WHERE key = ?"
)
_TEXT_COLUMNS = "first_line, last_line, headings, tags, ref, entry, text, embed, key"
_INSERT_TEXT = f"INSERT INTO passage_texts ({_TEXT_COLUMNS}) VALUES ({_marks(9)})"
_UPDATE_TEXT = (
    "UPDATE passage_texts SET first_line = ?, last_line = ?, headings = ?, tags = ?, ref = ?, entry = ?,"
    " text = ?, embed = ? WHERE key = ?"
)
# The first three say what is asked for.
_LINK_COLUMNS = "name, target, markdown, target_id, line, relation, heading, block, embed, typed"


def first_key(note_key: int) -> int:
    return note_key << PASSAGE_BITS


def put_note(connection: sqlite3.Connection, projection: Projection, first_seen: str) -> int:
    """The note's own row and body; its key, the old one where the id is known."""
    note_id, row = clean(projection.memory.id), _note_row(projection)
    found = connection.execute("SELECT note_key FROM notes WHERE id = ?", (note_id,)).fetchone()
    if found is None:
        note_key = connection.execute(_INSERT_NOTE, (note_id, first_seen, *row)).lastrowid
        assert note_key is not None
    else:
        note_key = found[0]
        connection.execute(_UPDATE_NOTE, (*row, note_key))
    memory = projection.memory
    connection.execute(_PUT_BODY, (note_key, properties_text(memory.properties), clean(memory.text)))
    return int(note_key)


def put_tags(connection: sqlite3.Connection, note_key: int, tags: Sequence[str]) -> None:
    wanted: dict[str, str] = {}
    for tag in tags:
        wanted.setdefault(folded(tag), clean(tag))
    stored = dict(connection.execute("SELECT folded, tag FROM note_tags WHERE note_key = ?", (note_key,)))
    if stored == wanted:
        return
    if stored:
        connection.execute("DELETE FROM note_tags WHERE note_key = ?", (note_key,))
    connection.executemany(
        "INSERT INTO note_tags (note_key, folded, tag) VALUES (?, ?, ?)",
        [(note_key, name, tag) for name, tag in wanted.items()],
    )


def put_links(connection: sqlite3.Connection, note_key: int, links: Sequence[ResolvedLink]) -> None:
    """Compared by position, so a link appended to a long note writes one row. A key keeps naming the same
    question: where another name is asked for, the link gets a new one."""
    stored = connection.execute(
        f"SELECT link_key, {_LINK_COLUMNS} FROM links WHERE note_key = ? ORDER BY position", (note_key,)
    ).fetchall()
    new: list[Row] = []
    changed: list[Row] = []
    stale = [(old[0],) for old in stored[len(links) :]]
    for position, link in enumerate(links):
        row = _link_row(link)
        old = stored[position] if position < len(stored) else None
        if old is None or old[1:4] != row[:3]:
            new.append((note_key, position, *row))
            if old is not None:
                stale.append((old[0],))
        elif old[1:] != row:
            changed.append((*row, old[0]))
    connection.executemany("DELETE FROM links WHERE link_key = ?", stale)
    connection.executemany(f"UPDATE links SET ({_LINK_COLUMNS}) = ({_marks(10)}) WHERE link_key = ?", changed)
    connection.executemany(f"INSERT INTO links (note_key, position, {_LINK_COLUMNS}) VALUES ({_marks(12)})", new)


def put_passages(
    connection: sqlite3.Connection, note_key: int, note_id: str, passages: Sequence[AnalysedPassage]
) -> list[StoredPassage]:
    """Stores the passages of a note and returns those that need a vector. Full-text rows are touched only
    where their terms changed: an entry appended to a session costs one."""
    base = first_key(note_key)
    stored = {
        row[0]: row
        for row in connection.execute(
            "SELECT key, embedded, row_digest, terms_digest, embed_digest FROM passages WHERE key BETWEEN ? AND ?",
            (base, base + MAX_PASSAGES - 1),
        )
    }
    new: list[_Prepared] = []
    changed: list[_Prepared] = []
    reworded: list[_Prepared] = []
    needing: list[StoredPassage] = []
    for analysed in passages:
        made = _prepared(base, analysed)
        old = stored.pop(made.key, None)
        if old is None:
            new.append(made)
        else:
            _, embedded, row_digest, terms_digest, embed_digest = old
            made.embedded = bool(embedded) and embed_digest == made.embed_digest
            if row_digest != made.row_digest or terms_digest != made.terms_digest:
                changed.append(made)
            if terms_digest != made.terms_digest:
                reworded.append(made)
        if not made.embedded:
            needing.append(StoredPassage(made.key, note_id, analysed.passage, analysed.embed))
    drop_passages(connection, list(stored))
    connection.executemany(_UPDATE_PASSAGE, [made.row for made in changed])
    connection.executemany(_UPDATE_TEXT, [made.texts for made in changed])
    connection.executemany("DELETE FROM passage_tags WHERE key = ?", [(made.key,) for made in changed])
    connection.executemany("DELETE FROM terms WHERE rowid = ?", [(made.key,) for made in reworded])
    connection.executemany(_INSERT_PASSAGE, [made.row for made in new])
    connection.executemany(_INSERT_TEXT, [made.texts for made in new])
    connection.executemany(
        "INSERT INTO passage_tags (key, folded) VALUES (?, ?)",
        [(made.key, name) for made in chain(new, changed) for name in made.tags],
    )
    connection.executemany(
        "INSERT INTO terms (rowid, heading, stems, words) VALUES (?, ?, ?, ?)",
        [(made.key, *made.terms) for made in sorted(chain(new, reworded), key=lambda made: made.key)],
    )
    return needing


def drop_passages(connection: sqlite3.Connection, keys: Sequence[int]) -> None:
    each = [(key,) for key in keys]
    connection.executemany("INSERT OR IGNORE INTO dropped VALUES (?)", each)
    for table in ("passages", "passage_texts", "passage_tags"):
        connection.executemany(f"DELETE FROM {table} WHERE key = ?", each)
    connection.executemany("DELETE FROM terms WHERE rowid = ?", each)


@dataclass(slots=True)
class _Prepared:
    """A passage as rows. `row_digest` covers all of it but its terms, `embed_digest` its embedded text."""

    key: int
    fields: Row
    texts: Row
    tags: tuple[str, ...]
    terms: tuple[str, str, str]
    row_digest: bytes
    terms_digest: bytes
    embed_digest: bytes
    embedded: bool = False

    @property
    def row(self) -> Row:
        return (
            *self.fields,
            int(self.embedded),
            self.row_digest,
            self.terms_digest,
            self.embed_digest,
            self.key,
        )


def _prepared(base: int, analysed: AnalysedPassage) -> _Prepared:
    passage = analysed.passage
    if not 0 <= passage.seq < MAX_PASSAGES:
        raise TooLarge(f"A note can have at most {MAX_PASSAGES:,} passages.")
    key = base | passage.seq
    embed, text, role = clean(analysed.embed), clean(passage.text), clean_or_none(passage.role)
    fields = (
        instant_or_none(passage.at),
        role,
        None if role is None else role.casefold(),
        passage.outcome.value if passage.outcome else None,
        passage.importance,
    )
    details = (
        *passage.lines,
        strings(passage.headings),
        strings(passage.tags),
        clean_or_none(passage.ref),
        clean_or_none(passage.entry),
    )
    terms = (clean(analysed.heading), clean(analysed.stems), clean(analysed.words))
    return _Prepared(
        key=key,
        fields=fields,
        texts=(*details, text, embed, key),
        tags=tuple(dict.fromkeys(folded(tag) for tag in passage.tags)),
        terms=terms,
        row_digest=digest(repr((fields, details)), text, embed),
        terms_digest=digest(*terms),
        embed_digest=digest(embed),
    )


def _note_row(projection: Projection) -> Row:
    """NOTE_COLUMNS of a projection."""
    memory = projection.memory
    title, text, project = clean(memory.title), clean(memory.text), clean_or_none(memory.project)
    return (
        clean(memory.path),
        clean(projection.folded_name),
        title,
        memory.type.value,
        clean(memory.version),
        clean(memory.text_version),
        clean_or_none(memory.date),
        day(memory.date),
        instant_or_none(memory.at),
        clean_or_none(memory.updated),
        clean(memory.summary),
        strings(memory.tags),
        strings(memory.aliases),
        memory.importance,
        project,
        None if project is None else project.casefold(),
        clean_or_none(memory.session),
        memory.outcome.value if memory.outcome else None,
        int(memory.critical),
        clean_or_none(memory.valid_from),
        clean_or_none(memory.valid_until),
        int(memory.ours),
        clean_or_none(memory.problem),
        projection.file.size,
        projection.file.mtime_ns,
        digest(title, text),
    )


def _link_row(resolved: ResolvedLink) -> Row:
    """_LINK_COLUMNS of a link."""
    link = resolved.link
    return (
        clean(resolved.key),
        clean(link.target),
        int(link.markdown),
        clean_or_none(resolved.target_id),
        link.line,
        link.relation.value,
        clean_or_none(link.heading),
        clean_or_none(link.block),
        int(link.embed),
        int(link.typed),
    )
