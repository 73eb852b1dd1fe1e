"""Whatever was stored before, a catalog holds what its notes are now; and it writes only what changed."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hearthmind.model.index import AnalysedPassage, FileState, Projection, ResolvedLink
from hearthmind.model.memory import Link, Memory, MemoryType, Passage, RelationType
from hearthmind.model.query import Filter
from hearthmind.stores.catalog import SqliteCatalog, open_catalog
from hearthmind.stores.catalog.projected import put_note, put_passages
from hearthmind.stores.catalog.schema import DDL

IDS = ["a", "b", "c", "d"]
WORDS = ["apple", "pear", "plum", "日本", "x"]

passages = st.builds(
    AnalysedPassage,
    passage=st.builds(
        Passage,
        seq=st.just(0),
        text=st.sampled_from(WORDS),
        lines=st.tuples(st.integers(1, 3), st.integers(3, 5)),
        role=st.sampled_from([None, "Ann", "bob"]),
        importance=st.sampled_from([None, 2, 9]),
        tags=st.sampled_from([(), ("t",), ("T/u", "v")]),
        at=st.sampled_from([None, datetime(2026, 3, 22, tzinfo=UTC)]),
    ),
    stems=st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
    words=st.sampled_from(["", "apples"]),
    heading=st.sampled_from(["", "pear", "title"]),
    embed=st.sampled_from(WORDS),
)
links = st.builds(
    ResolvedLink,
    link=st.builds(
        Link,
        target=st.sampled_from(IDS),
        line=st.integers(1, 3),
        relation=st.sampled_from([RelationType.RELATES_TO, RelationType.SUPPORTS]),
        typed=st.booleans(),
    ),
    key=st.sampled_from(IDS),
    target_id=st.sampled_from([None, *IDS]),
)


def numbered(found: list[AnalysedPassage]) -> list[AnalysedPassage]:
    return [
        AnalysedPassage(
            Passage(
                seq,
                item.passage.text,
                item.passage.lines,
                at=item.passage.at,
                role=item.passage.role,
                importance=item.passage.importance,
                tags=item.passage.tags,
            ),
            item.stems,
            item.words,
            item.heading,
            item.embed,
        )
        for seq, item in enumerate(found)
    ]


@st.composite
def projections(draw: st.DrawFn) -> Projection:
    memory = Memory(
        id=draw(st.sampled_from(IDS)),
        space="home",
        title=draw(st.sampled_from(["T", "U"])),
        path=draw(st.sampled_from(["1.md", "2.md", "f/3.md", "f/4.md", "5.md", "6.md"])),
        type=draw(st.sampled_from([MemoryType.NOTE, MemoryType.TASK])),
        version="v",
        text_version="t",
        text=draw(st.sampled_from(["", "body"])),
        tags=draw(st.sampled_from([(), ("t",), ("T", "t/u"), ("CI",)])),
        importance=draw(st.integers(1, 10)),
        problem=draw(st.sampled_from([None, "YAML"])),
    )
    return Projection(
        memory, memory.title.casefold(), FileState(1, 2), numbered(draw(st.lists(passages, max_size=4))),
        draw(st.lists(links, max_size=3)),
    )  # fmt: skip


operations = st.lists(st.one_of(projections(), st.sampled_from(IDS)), max_size=12)


def everything(catalog: SqliteCatalog) -> dict[str, Any]:
    """All that can be read, keys aside: a fresh catalog numbers its notes anew."""

    def names(keys: Any) -> set[tuple[str, int]]:
        return {(item.note_id, item.passage.seq) for item in catalog.passages(keys).values()}

    def scores(filter: Filter) -> dict[tuple[str, int], float]:
        hits = catalog.keyword([*WORDS, "title"], ["apples"], 100, filter)
        stored = catalog.passages([hit.key for hit in hits])
        return {(stored[hit.key].note_id, stored[hit.key].passage.seq): round(hit.score, 9) for hit in hits}

    filters = [
        Filter(tags=("t",)),
        Filter(role="ann"),
        Filter(min_importance=5),
        Filter(since=datetime(2026, 1, 1, tzinfo=UTC)),
    ]
    ids = sorted(item.id for item in catalog.files().values())
    return {
        "memories": catalog.memories(ids),
        "files": catalog.files(),
        "passages": {note_id: [(p.passage, p.embed) for p in catalog.passages_of(note_id)] for note_id in ids},
        "pending": {(p.note_id, p.passage.seq) for p in catalog.unembedded(1000)},
        "links": {note_id: catalog.links_from(note_id) for note_id in ids},
        "edges": {(edge.source, edge.target, edge.type, edge.typed) for edge in catalog.edges()},
        "scores": scores(Filter()),
        "filtered scores": [scores(filter) for filter in filters],
        "matching": [names(catalog.matching(filter)) for filter in filters],
        "frequency": catalog.document_frequency(WORDS),
        "tags": catalog.tags(),
        "roles": set(catalog.roles()),
        "problems": catalog.problems(),
        "counts": catalog.counts(),
    }


@settings(max_examples=40, deadline=None)
@given(operations, st.integers(1, 3))
def test_any_history_equals_a_fresh_catalog(history: list[Projection | str], per_transaction: int) -> None:
    with TemporaryDirectory() as folder:
        lived, _ = open_catalog(Path(folder) / "lived.db", "home")
        now: dict[str, Projection] = {}
        for start in range(0, len(history), per_transaction):
            with lived.write() as write:
                for step in history[start : start + per_transaction]:
                    if isinstance(step, str):
                        write.remove(step)
                        now.pop(step, None)
                        continue
                    write.put(step)
                    path = step.memory.path
                    now = {key: item for key, item in now.items() if item.memory.path != path}
                    now[step.memory.id] = step
        fresh, _ = open_catalog(Path(folder) / "fresh.db", "home")
        targets = {
            (note_id, position): stored.target_id
            for note_id in now
            for position, stored in enumerate(lived.links_from(note_id))
        }
        with fresh.write() as write:
            for note_id, item in now.items():
                # Links to removed notes lose their target, which is history; the rest must be as projected.
                kept = [
                    ResolvedLink(link.link, link.key, targets[note_id, position])
                    for position, link in enumerate(item.links)
                ]
                assert all(new.target_id in (None, old.target_id) for new, old in zip(kept, item.links, strict=True))
                write.put(Projection(item.memory, item.folded_name, item.file, item.passages, kept))
        assert everything(lived) == everything(fresh)
        with lived.write() as write:
            for note_id in list(now):
                write.remove(note_id)
        empty = lived.counts()
        assert (empty.notes, empty.passages, empty.links, empty.tags) == (0, 0, 0, 0)
        lived.close()
        fresh.close()


def test_an_entry_appended_to_a_long_session_writes_one_full_text_row() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(DDL)
    memory = Memory("s", "home", "S", "s.md", MemoryType.NOTE, "v", "t", "")

    def entries(count: int, first_line: int) -> list[AnalysedPassage]:
        return [
            AnalysedPassage(
                Passage(seq, f"turn {seq}", (seq + first_line, seq + first_line)), f"turn {seq}", "", "s", f"{seq}"
            )
            for seq in range(count)
        ]

    def statements(found: list[AnalysedPassage]) -> list[str]:
        seen: list[str] = []
        connection.set_trace_callback(seen.append)
        put_passages(connection, 1, "s", found)
        connection.set_trace_callback(None)
        return [statement for statement in seen if not statement.startswith(("SELECT", "--"))]

    put_note(connection, Projection(memory, "s", FileState(0, 0), (), ()), "2026")
    put_passages(connection, 1, "s", entries(2000, 1))
    appended = statements(entries(2001, 1))
    assert len([statement for statement in appended if " terms " in statement]) == 1
    assert len(appended) == 3, appended
    shifted = statements(entries(2001, 5))
    assert [statement for statement in shifted if " terms " in statement] == []
    connection.close()
