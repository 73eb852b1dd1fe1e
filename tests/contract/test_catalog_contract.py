"""What every catalog promises (ports.Catalog and ports.CatalogWrite)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from hearthmind.errors import InvalidInput
from hearthmind.model.index import (
    PASSAGE_BITS,
    AnalysedPassage,
    Edge,
    FileState,
    GraphNode,
    IdempotentAnswer,
    IndexedFile,
    LinkEntry,
    Problem,
    Projection,
    ResolvedLink,
    StoredPassage,
    TagCount,
)
from hearthmind.model.job import Job, JobState, WaitingReason
from hearthmind.model.memory import Link, Memory, MemoryType, Outcome, Passage, RelationType
from hearthmind.model.query import Filter
from hearthmind.ports import Catalog
from hearthmind.stores.catalog import open_catalog

NOW = datetime(2026, 3, 22, 9, 30, tzinfo=UTC)
BERLIN = timezone(timedelta(hours=2))
ANY = Filter()


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def catalog(tmp_path: Path, clock: Clock) -> Iterator[Catalog]:
    opened, warnings = open_catalog(tmp_path / "catalog.db", "home", now=clock)
    assert warnings == []
    yield opened
    opened.close()


def entry(seq: int, text: str, *, heading: str = "", **fields: Any) -> AnalysedPassage:
    passage = Passage(seq=seq, text=text, lines=(seq + 1, seq + 1), **fields)
    return AnalysedPassage(passage, stems=text.casefold(), words="", heading=heading, embed=text)


def link(target: str, target_id: str | None = None, **fields: Any) -> ResolvedLink:
    return ResolvedLink(Link(target=target, line=fields.pop("line", 1), **fields), target.casefold(), target_id)


def note(note_id: str, *texts: str | AnalysedPassage, links: Any = (), **fields: Any) -> Projection:
    path = fields.pop("path", f"short-term/{note_id}.md")
    title = fields.pop("title", path.rpartition("/")[2].removesuffix(".md"))
    passages = [text if not isinstance(text, str) else entry(seq, text) for seq, text in enumerate(texts)]
    memory = Memory(
        id=note_id,
        space="home",
        title=title,
        path=path,
        type=fields.pop("type", MemoryType.NOTE),
        version=fields.pop("version", "v1"),
        text_version=fields.pop("text_version", "t1"),
        text=fields.pop("text", "\n".join(passage.passage.text for passage in passages)),
        **fields,
    )
    stem = path.rpartition("/")[2].removesuffix(".md").casefold()
    return Projection(memory, stem, FileState(10, 20), passages, tuple(links))


def put(catalog: Catalog, *projections: Projection) -> list[StoredPassage]:
    needing: list[StoredPassage] = []
    with catalog.write() as write:
        for projection in projections:
            needing.extend(write.put(projection))
    return needing


def found(catalog: Catalog, *stems: str, filter: Filter = ANY, words: tuple[str, ...] = ()) -> list[str]:
    hits = catalog.keyword(stems, words, 50, filter)
    stored = catalog.passages([hit.key for hit in hits])
    return [stored[hit.key].passage.text for hit in hits]


def matched(catalog: Catalog, **conditions: Any) -> set[str]:
    keys = catalog.matching(Filter(**conditions))
    assert keys is not None
    return {stored.passage.text for stored in catalog.passages(keys).values()}


# --- notes ---------------------------------------------------------------------------------------------------


def test_a_note_comes_back_as_it_was_stored(catalog: Catalog) -> None:
    full = note(
        "a",
        "first",
        "second",
        type=MemoryType.DECISION,
        date="2026-03-22",
        at=datetime(2026, 3, 22, 12, 0, 0, 5, tzinfo=BERLIN),
        updated="2026-03-23",
        summary="One line",
        tags=("CI", "ci/cd"),
        aliases=("Alias é",),
        importance=8,
        project="Api",
        session="s-1",
        outcome=Outcome.FAILURE,
        critical=True,
        valid_from="2026-01-01",
        valid_until="2026-06-01",
        ours=True,
        properties={"id": "a", "list": [1, 2.5, None], "nested": {"ü": True}},
        problem="YAML, line 3",
    )
    put(catalog, full)
    assert catalog.memory("a") == full.memory
    assert catalog.memory_at(full.memory.path) == full.memory
    assert catalog.memories(["a", "nobody"]) == {"a": full.memory}
    assert catalog.memory("nobody") is None
    assert catalog.memory_at("nowhere.md") is None
    stored = catalog.memory("a")
    assert stored is not None
    assert stored.at is not None
    assert stored.at.utcoffset() is not None


def test_properties_that_json_cannot_hold_do_no_harm(catalog: Catalog) -> None:
    circle: list[Any] = []
    circle.append(circle)
    odd: Mapping[str, Any] = {"day": date(2026, 1, 2), "circle": "no"}
    put(catalog, note("a", "x", properties=odd), note("b", "y", properties={"circle": circle}))
    assert catalog.memories(["a"])["a"].properties == {"day": "2026-01-02", "circle": "no"}
    assert catalog.memories(["b"])["b"].properties == {}


def test_lone_surrogates_do_no_harm(catalog: Catalog) -> None:
    bad = "caf\udce9"
    put(
        catalog,
        note(bad, bad, path=f"{bad}.md", tags=(bad,), project=bad, links=[link(bad)], properties={bad: bad}),
    )
    memory = catalog.memory(bad)
    assert memory is not None
    assert memory.text == "caf\ufffd"
    assert catalog.memory_at(f"{bad}.md") == memory
    assert found(catalog, bad) == ["caf\ufffd"]
    assert matched(catalog, tags=(bad,), project=bad) == {"caf\ufffd"}
    assert len(catalog.links_by_key([bad])) == 1
    assert catalog.document_frequency([bad])[1] == 1
    catalog.mark_embedded(catalog.unembedded(9))
    assert catalog.unembedded(9) == []


def test_a_changed_note_keeps_its_passage_keys(catalog: Catalog) -> None:
    first = put(catalog, note("a", "one", "two"))
    assert [passage.key & 0xFFFFF for passage in first] == [0, 1]
    assert first[1].key == first[0].key + 1
    again = put(catalog, note("a", "one", "changed", path="tasks/a.md"))
    assert [(passage.key, passage.passage.text) for passage in catalog.passages_of("a")] == [
        (first[0].key, "one"),
        (first[1].key, "changed"),
    ]
    assert catalog.memory_at("short-term/a.md") is None
    assert [passage.key for passage in again] == [first[0].key, first[1].key]


def test_keys_of_a_removed_note_are_never_used_again(catalog: Catalog) -> None:
    (old,) = put(catalog, note("a", "one"))
    with catalog.write() as write:
        assert write.remove("a") == [old.key]
        assert write.remove("a") == []
    (new,) = put(catalog, note("a", "one"))
    assert new.key >> PASSAGE_BITS > old.key >> PASSAGE_BITS
    assert catalog.passages([old.key]) == {}


def test_removing_a_note_takes_everything_of_it(catalog: Catalog) -> None:
    put(catalog, note("a", entry(0, "apple", tags=("t",)), tags=("x",), links=[link("B")]), note("b", "pear"))
    with catalog.write() as write:
        write.remove("a")
    counts = catalog.counts()
    assert (counts.notes, counts.passages, counts.links, counts.tags) == (1, 1, 0, 0)
    assert found(catalog, "apple") == []
    assert catalog.memory("a") is None
    assert catalog.passages_of("a") == []
    assert catalog.document_frequency(["apple"]) == ({}, 1)


def test_a_path_belongs_to_the_memory_stored_there_last(catalog: Catalog) -> None:
    put(catalog, note("a", "apple", path="x.md"), note("c", "cherry", path="c.md", links=[link("x", "a")]))
    put(catalog, note("b", "pear", path="x.md"))
    assert catalog.memory("a") is None
    there = catalog.memory_at("x.md")
    assert there is not None
    assert there.id == "b"
    assert found(catalog, "apple") == []
    assert catalog.links_from("c")[0].target_id is None


def test_touch_records_a_move_without_new_passages(catalog: Catalog) -> None:
    put(catalog, note("a", "apple", path="x/same.md"), note("b", "pear", path="y/same.md"))
    with catalog.write() as write:
        write.touch("a", "y/same.md", 5, 6)
        write.touch("nobody", "n.md", 1, 1)
        with pytest.raises(ValueError, match="put it"):
            write.touch("a", "y/other.md", 5, 6)
    assert catalog.files() == {"y/same.md": IndexedFile("a", "y/same.md", "v1", "t1", FileState(5, 6))}
    assert found(catalog, "apple") == ["apple"]


def test_an_exception_rolls_everything_back(catalog: Catalog) -> None:
    put(catalog, note("a", "apple"))

    def fail() -> None:
        with catalog.write() as write:
            write.put(note("a", "changed"))
            write.put(note("b", "pear"))
            write.remove("a")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert found(catalog, "apple") == ["apple"]
    assert found(catalog, "pear") == []
    put(catalog, note("b", "pear"))
    assert catalog.counts().notes == 2


def test_reads_see_only_what_is_committed(catalog: Catalog) -> None:
    with catalog.write() as write:
        write.put(note("a", "apple"))
        assert catalog.memory("a") is None
        assert found(catalog, "apple") == []
    assert catalog.memory("a") is not None


def test_same_text_is_known_since_it_was_first_seen(catalog: Catalog, clock: Clock) -> None:
    put(catalog, note("a", "x", title="T", text="body"))
    clock.now = NOW + timedelta(hours=1)
    put(catalog, note("a", "x", title="T", text="body", version="v2"))
    same = catalog.same_text("T", "body", NOW)
    assert same is not None
    assert same.id == "a"
    assert catalog.same_text("T", "body", NOW.astimezone(BERLIN)) is not None
    assert catalog.same_text("T", "body", NOW + timedelta(seconds=1)) is None
    assert catalog.same_text("T", "body.", NOW) is None
    assert catalog.same_text("Tb", "ody", NOW) is None


def test_names_files_and_link_entries(catalog: Catalog) -> None:
    put(catalog, note("a", "x", path="F/One.md", aliases=("Uno", "Eins")), note("b", "y", path="two.md"))
    assert catalog.name_taken("one")
    assert not catalog.name_taken("three")
    assert set(catalog.files()) == {"F/One.md", "two.md"}
    assert list(catalog.link_entries()) == [
        LinkEntry("a", "F/One.md", ("Uno", "Eins")),
        LinkEntry("b", "two.md", ()),
    ]


def test_list_memories_pages_by_path_without_bodies(catalog: Catalog) -> None:
    put(catalog, *(note(f"n{i}", "x", path=f"daily/{i}.md", tags=("CI/cd",)) for i in range(5)))
    put(catalog, note("other", "x", path="daily.md"), note("z", "x", path="daily2/1.md", properties={"k": 1}))
    seen: list[str] = []
    after = None
    while True:
        page, after, total = catalog.list_memories(filter=ANY, folder="daily", after=after, limit=2)
        assert total == 5
        seen.extend(memory.path for memory in page)
        if after is None:
            break
    assert seen == [f"daily/{i}.md" for i in range(5)]
    page, _, total = catalog.list_memories(filter=ANY)
    assert total == 7
    assert {memory.text for memory in page} == {""}
    assert page[-1].properties == {"k": 1}
    assert catalog.list_memories(filter=ANY, tag="ci")[2] == 5
    assert catalog.list_memories(filter=ANY, folder="daily/", tag="c")[2] == 0
    with pytest.raises(InvalidInput):
        catalog.list_memories(filter=ANY, after="rubbish!")


def test_list_memories_filters_notes_that_have_no_passages(catalog: Catalog) -> None:
    put(
        catalog,
        note("a", importance=8, date="2026-03-01", project="P"),
        note("b", entry(0, "x", role="Ann", outcome=Outcome.FAILURE), date="2026-03-05"),
    )

    def ids(**conditions: Any) -> list[str]:
        return [memory.id for memory in catalog.list_memories(filter=Filter(**conditions))[0]]

    assert ids() == ["a", "b"]
    assert ids(min_importance=6) == ["a"]
    assert ids(project="p") == ["a"]
    assert ids(until=datetime(2026, 3, 2, tzinfo=UTC)) == ["a"]
    assert ids(role="ann") == ["b"]
    assert ids(outcome=Outcome.FAILURE) == ["b"]


# --- passages and vectors ------------------------------------------------------------------------------------


def test_a_passage_comes_back_as_it_was_stored(catalog: Catalog) -> None:
    passage = Passage(
        seq=3,
        text="Said",
        lines=(4, 9),
        headings=("One", "Zwei ü"),
        at=datetime(2026, 3, 22, 23, 30, tzinfo=BERLIN),
        role="Ann",
        ref="D1:3",
        entry="e1",
        outcome=Outcome.SUCCESS,
        importance=9,
        tags=("x", "y/z"),
    )
    (stored,) = put(catalog, note("a", AnalysedPassage(passage, "said", "", "", "Title: Said")))
    assert stored == StoredPassage(stored.key, "a", passage, "Title: Said")
    assert catalog.passages([stored.key, 1]) == {stored.key: stored}
    assert catalog.passages_of("a") == [stored]
    assert stored.key & 0xFFFFF == 3


def test_only_passages_whose_embedded_text_changed_need_a_vector(catalog: Catalog) -> None:
    assert [passage.passage.text for passage in put(catalog, note("a", "one", "two"))] == ["one", "two"]
    catalog.mark_embedded(catalog.unembedded(10))
    assert catalog.counts().pending_vectors == 0
    assert put(catalog, note("a", "one", "two", summary="changed")) == []
    moved = replace(entry(0, "one"), passage=Passage(seq=0, text="one", lines=(7, 8)))
    assert put(catalog, note("a", moved, "two")) == []
    assert catalog.passages_of("a")[0].passage.lines == (7, 8)
    assert [stored.passage.text for stored in put(catalog, note("a", "one", "2", "three"))] == ["2", "three"]
    assert [stored.passage.text for stored in catalog.unembedded(10)] == ["2", "three"]
    assert [stored.passage.text for stored in catalog.unembedded(1)] == ["2"]
    assert [stored.passage.text for stored in put(catalog, note("a", "one", "2", "three"))] == ["2", "three"]


def test_a_vector_of_an_older_text_does_not_count(catalog: Catalog) -> None:
    old = put(catalog, note("a", "one"))
    new = put(catalog, note("a", "changed"))
    catalog.mark_embedded(old)
    assert catalog.unembedded(10) == new
    catalog.mark_embedded(new)
    assert catalog.unembedded(10) == []
    catalog.mark_all_unembedded()
    assert catalog.unembedded(10) == new


def test_a_note_that_shrinks_loses_its_last_passages(catalog: Catalog) -> None:
    put(catalog, note("a", "one", "two", "three"))
    put(catalog, note("a", "one"))
    assert [stored.passage.text for stored in catalog.passages_of("a")] == ["one"]
    assert found(catalog, "three") == []
    assert catalog.counts().passages == 1


def test_roles_are_those_who_speak(catalog: Catalog) -> None:
    assert list(catalog.roles()) == []
    put(catalog, note("a", entry(0, "x", role="user"), entry(1, "y", role="Ann"), entry(2, "z", role="user"), "q"))
    assert set(catalog.roles()) == {"Ann", "user"}


# --- full text -----------------------------------------------------------------------------------------------


def test_keyword_finds_any_term_best_first(catalog: Catalog) -> None:
    put(catalog, note("a", "apple pear"), note("b", "apple"), *(note(f"f{i}", f"filler{i} plum") for i in range(9)))
    assert found(catalog, "apple", "pear") == ["apple pear", "apple"]
    hits = catalog.keyword(["plum"], [], 3, ANY)
    assert len(hits) == 3
    assert all(hit.score > 0 for hit in hits)
    assert catalog.keyword([], [], 5, ANY) == []
    assert catalog.keyword(["", " "], [], 5, ANY) == []
    assert catalog.keyword(["apple"], [], 0, ANY) == []
    assert found(catalog, "nothing") == []


def test_headings_count_less_than_text_and_words_least(catalog: Catalog) -> None:
    def one(note_id: str, stems: str, words: str, heading: str) -> Projection:
        return note(note_id, AnalysedPassage(Passage(0, note_id, (1, 1)), stems, words, heading, note_id))

    put(
        catalog,
        one("text", "run aa", "bb", "cc"),
        one("heading", "aa dd", "bb", "run"),
        one("word", "aa dd", "run", "cc"),
        *(one(f"x{i}", "ee ff", "gg", "hh") for i in range(8)),
    )
    assert found(catalog, "run") == ["text", "heading"]
    assert found(catalog, words=("run",)) == ["word"]
    assert found(catalog, "run", words=("run",)) == ["text", "heading", "word"]


@pytest.mark.parametrize("term", ["日本", "क्षि", "นี้", "cafe\u0301", "x2", "123", "\U00031350", "a\u200db"])
def test_terms_of_every_script_survive(catalog: Catalog, term: str) -> None:
    put(catalog, note("a", f"before {term} after"), note("b", "other"))
    assert found(catalog, term) == [f"before {term} after"]
    assert catalog.document_frequency([term])[0] == {term: 1}


@pytest.mark.parametrize(
    "term", ['"', 'a"b', "a OR b", "NEAR(a b)", "*", "{x} : y", "-a", "a\0b", "^", "\ud800", "(", "'"]
)
def test_no_term_is_read_as_syntax(catalog: Catalog, term: str) -> None:
    put(catalog, note("a", "b"), note("c", "x y"))
    assert catalog.keyword([term], [term], 5, ANY) == []
    catalog.document_frequency([term])


def test_many_terms_are_answered(catalog: Catalog) -> None:
    put(catalog, note("a", "t7"), note("b", "other"))
    assert found(catalog, *(f"t{i}" for i in range(64)), words=tuple(f"w{i}" for i in range(64))) == ["t7"]


def test_full_text_follows_a_change(catalog: Catalog) -> None:
    put(catalog, note("a", "apple", "pear"))
    put(catalog, note("a", "plum", "pear"))
    assert found(catalog, "apple") == []
    assert found(catalog, "plum") == ["plum"]
    assert catalog.document_frequency(["apple", "plum", "pear"]) == ({"plum": 1, "pear": 1}, 2)


# --- filters -------------------------------------------------------------------------------------------------


def test_an_empty_filter_matches_everything_unsaid(catalog: Catalog) -> None:
    assert catalog.matching(ANY) is None


def test_filters_by_what_a_note_is(catalog: Catalog) -> None:
    put(
        catalog,
        note("a", "apple", type=MemoryType.FACT, tags=("CI/CD", "Work"), project="Straße", session="s1"),
        note("b", "pear", type=MemoryType.TASK, tags=("cicd", "work"), importance=8, outcome=Outcome.SUCCESS),
        note("c", entry(0, "plum", tags=("ci",)), importance=3),
    )
    assert matched(catalog, types=(MemoryType.FACT, MemoryType.TASK)) == {"apple", "pear"}
    assert matched(catalog, tags=("ci",)) == {"apple", "plum"}
    assert matched(catalog, tags=("#CI/cd",)) == {"apple"}
    assert matched(catalog, tags=("ci", "WORK")) == {"apple"}
    assert matched(catalog, project="STRASSE") == {"apple"}
    assert matched(catalog, session="s1") == {"apple"}
    assert matched(catalog, session="S1") == set()
    assert matched(catalog, min_importance=5) == {"apple", "pear"}
    assert matched(catalog, outcome=Outcome.SUCCESS) == {"pear"}
    assert found(catalog, "apple", "pear", "plum", filter=Filter(tags=("work",), min_importance=6)) == ["pear"]


def test_a_passage_speaks_for_itself_before_its_note(catalog: Catalog) -> None:
    put(
        catalog,
        note(
            "a",
            entry(0, "loud", importance=9, role="Ann", outcome=Outcome.FAILURE),
            entry(1, "quiet", importance=1, role="bob"),
            entry(2, "plain"),
            importance=5,
            outcome=Outcome.SUCCESS,
        ),
    )
    assert matched(catalog, min_importance=5) == {"loud", "plain"}
    assert matched(catalog, role="ANN") == {"loud"}
    assert matched(catalog, outcome=Outcome.FAILURE) == {"loud"}
    assert matched(catalog, outcome=Outcome.SUCCESS) == {"loud", "quiet", "plain"}


def test_bounds_compare_instants_where_known_and_days_otherwise(catalog: Catalog) -> None:
    put(
        catalog,
        note("a", entry(0, "late", at=datetime(2026, 3, 22, 23, 30, tzinfo=BERLIN)), date="2026-01-01"),
        note("b", "noon", at=datetime(2026, 3, 22, 12, tzinfo=UTC), date="2026-01-01"),
        note("c", "day", date="2026-03-22"),
        note("d", "never"),
    )
    since = datetime(2026, 3, 22, 13, 0, tzinfo=UTC)
    assert matched(catalog, since=since) == {"late", "day"}
    assert matched(catalog, since=datetime(2026, 3, 22, 21, 30, tzinfo=UTC)) == {"late", "day"}
    assert matched(catalog, since=datetime(2026, 3, 22, 21, 30, 1, tzinfo=UTC)) == {"day"}
    assert matched(catalog, since=datetime(2026, 3, 23, 0, 0, tzinfo=BERLIN)) == set()
    assert matched(catalog, until=datetime(2026, 3, 22, 12, 0, tzinfo=UTC)) == {"noon", "day"}
    assert matched(catalog, until=datetime(2026, 3, 21, 23, 59, tzinfo=BERLIN)) == set()
    assert matched(catalog, since=since, until=since) == {"day"}


def test_as_of_asks_what_was_true_on_a_day(catalog: Catalog) -> None:
    put(
        catalog,
        note("a", "always"),
        note("b", "spring", valid_from="2026-03-01", valid_until="2026-06-01"),
        note("c", "dated", date="2026-04-01"),
    )
    assert matched(catalog, as_of=datetime(2026, 2, 28, tzinfo=UTC)) == {"always"}
    assert matched(catalog, as_of=datetime(2026, 3, 1, tzinfo=UTC)) == {"always", "spring"}
    assert matched(catalog, as_of=datetime(2026, 5, 31, tzinfo=UTC)) == {"always", "spring", "dated"}
    assert matched(catalog, as_of=datetime(2026, 6, 1, tzinfo=UTC)) == {"always", "dated"}


# --- links and graph -----------------------------------------------------------------------------------------


def test_links_come_back_in_the_order_of_the_note(catalog: Catalog) -> None:
    full = link(
        "F/B",
        "b",
        line=3,
        relation=RelationType.SUPPORTS,
        heading="H",
        block="^x",
        embed=True,
        markdown=True,
        typed=True,
    )
    put(catalog, note("a", "x", links=[full, link("Gone")]), note("b", "y"))
    stored = catalog.links_from("a")
    assert [(item.source_id, item.link, item.target_id) for item in stored] == [
        ("a", full.link, "b"),
        ("a", Link("Gone", 1), None),
    ]
    assert catalog.links_to("b") == [stored[0]]
    assert catalog.links_from("b") == []


def test_links_to_a_removed_note_stay_and_can_be_resolved_again(catalog: Catalog) -> None:
    put(catalog, note("a", "x", links=[link("B", "b")]), note("b", "y"))
    with catalog.write() as write:
        write.remove("b")
    assert catalog.links_from("a")[0].target_id is None
    assert catalog.counts().unresolved_links == 1
    by_key = catalog.links_by_key(["b", "q"])
    assert [stored.link.target for stored in by_key.values()] == ["B"]
    put(catalog, note("b2", "y", path="B.md"))
    with catalog.write() as write:
        write.resolve_links(dict.fromkeys(by_key, "b2"))
    assert [stored.source_id for stored in catalog.links_to("b2")] == ["a"]
    with catalog.write() as write:
        write.resolve_links(dict.fromkeys(by_key))
    assert catalog.links_to("b2") == []


@pytest.mark.parametrize("now", [[], [link("Z")], [link("B", markdown=True)], [link("x/B")]])
def test_a_stale_link_key_never_names_another_link(catalog: Catalog, now: list[ResolvedLink]) -> None:
    put(catalog, note("a", "x", links=[link("B")]))
    stale = catalog.links_by_key(["b"])
    put(catalog, note("a", "x", links=now), note("c", "x", links=[link("Z")]))
    with catalog.write() as write:
        write.resolve_links(dict.fromkeys(stale, "a"))
    assert catalog.links_to("a") == []


def test_edges_are_unique_and_typed_ones_win(catalog: Catalog) -> None:
    put(
        catalog,
        note(
            "a",
            "x",
            links=[
                link("A", "a"),
                link("B", "b"),
                link("B", "b", line=9),
                link("B", "b", relation=RelationType.SUPPORTS, typed=True),
                link("C", "c"),
                link("Ghost", "ghost"),
                link("None"),
            ],
        ),
        note("b", "y", links=[link("A", "a")]),
        note("c", "z"),
    )
    assert list(catalog.edges()) == [
        Edge("a", "b", RelationType.SUPPORTS, True),
        Edge("a", "c", RelationType.RELATES_TO),
        Edge("b", "a", RelationType.RELATES_TO),
    ]


def test_graph_nodes_of_all_or_some(catalog: Catalog) -> None:
    put(catalog, note("a", "x", tags=("t",), date="2026-01-02", importance=7), note("b", "y"))
    first = GraphNode("a", "a", MemoryType.NOTE, "short-term/a.md", "2026-01-02", 7, ("t",))
    assert list(catalog.graph_nodes()) == [first, GraphNode("b", "b", MemoryType.NOTE, "short-term/b.md")]
    assert list(catalog.graph_nodes(["a", "nobody"])) == [first]
    assert list(catalog.graph_nodes([])) == []


# --- tags, jobs, answers, problems, counts -------------------------------------------------------------------


def test_the_registry_shows_the_most_used_spelling(catalog: Catalog) -> None:
    put(catalog, note("a", "x", tags=("CI", "ci")), note("b", "x", tags=("ci",)), note("c", "x", tags=("ci",)))
    put(catalog, note("d", "x", tags=("ci/cd", "Zed")))
    with catalog.write() as write:
        write.describe_tag("CI", "Continuous integration")
        write.describe_tag("unused", "Nothing yet")
    assert catalog.tags() == [
        TagCount("ci", 3, "Continuous integration"),
        TagCount("Zed", 1),
        TagCount("ci/cd", 1),
    ]
    assert [tag.tag for tag in catalog.tags("Ci")] == ["ci", "ci/cd"]
    put(catalog, note("d", "x"))
    assert [tag.tag for tag in catalog.tags()] == ["ci"]


def job(number: int, state: JobState = JobState.QUEUED, **fields: Any) -> Job:
    at = NOW + timedelta(minutes=number)
    return Job(f"j{number}", "remember.enrich", "home", "a", "t1", state, at, at, **fields)


def test_jobs_are_listed_newest_first(catalog: Catalog) -> None:
    waiting = job(5, JobState.WAITING, reason=WaitingReason.QUIET_FILE, due=NOW, attempts=2, error="no model")
    jobs = [*(job(number) for number in range(5)), waiting]
    with catalog.write() as write:
        for item in jobs:
            write.add_job(item)
        write.update_job(replace(jobs[0], state=JobState.DONE))
    assert catalog.job("j5") == waiting
    assert catalog.job("nobody") is None
    first, after, total = catalog.jobs([JobState.QUEUED, JobState.WAITING], limit=3)
    assert ([item.id for item in first], total) == (["j5", "j4", "j3"], 5)
    rest, after, _ = catalog.jobs([JobState.QUEUED, JobState.WAITING], after, limit=3)
    assert ([item.id for item in rest], after) == (["j2", "j1"], None)
    assert catalog.jobs([]) == ([], None, 0)
    counts = {JobState.QUEUED: 4, JobState.WAITING: 1, JobState.DONE: 1}
    assert {state: count for state, count in catalog.job_counts().items() if count} == counts


def test_answers_are_kept_for_a_day(catalog: Catalog, clock: Clock) -> None:
    answer = IdempotentAnswer("request", '{"id": "a"}', NOW)
    with catalog.write() as write:
        write.remember_answer("key", answer)
    clock.now = NOW + timedelta(hours=24)
    assert catalog.answer("key") == answer
    clock.now += timedelta(seconds=1)
    assert catalog.answer("key") is None
    assert catalog.answer("other") is None


def test_problems_of_files_and_of_notes(catalog: Catalog) -> None:
    put(catalog, note("a", "x", path="a.md", problem="Invalid YAML"), note("b", "x", path="b.md", problem="Vague"))
    precise = Problem("b.md", 3, "A tab in line 3", "Use spaces.")
    with catalog.write() as write:
        write.set_problem("c.md", Problem("c.md", None, "Not UTF-8", "Save it as UTF-8."))
        write.set_problem("b.md", precise)
    first, second, third = catalog.problems()
    assert (first.path, first.what) == ("a.md", "Invalid YAML")
    assert second == precise
    assert third.path == "c.md"
    with catalog.write() as write:
        write.set_problem("c.md", None)
        write.set_problem("nothing.md", None)
    put(catalog, note("a", "x", path="a.md"))
    assert [problem.path for problem in catalog.problems()] == ["b.md"]


def test_counts(catalog: Catalog) -> None:
    empty = catalog.counts()
    assert (empty.notes, empty.mean_importance, empty.types) == (0, None, {})
    put(
        catalog,
        note("a", "x", "y", type=MemoryType.TASK, importance=8, tags=("t", "u"), links=[link("B", "b"), link("C")]),
        note("b", "z", importance=5, tags=("T",)),
    )
    counts = catalog.counts()
    assert (counts.notes, counts.passages, counts.links, counts.unresolved_links) == (2, 3, 2, 1)
    assert (counts.tags, counts.pending_vectors, counts.mean_importance) == (2, 3, 6.5)
    assert counts.types == {"task": 1, "note": 1}


def test_identity_lasts_as_long_as_the_catalog(tmp_path: Path) -> None:
    identities = set()
    for name in ("one.db", "one.db", "two.db"):
        opened, _ = open_catalog(tmp_path / name, "home")
        identities.add(opened.identity)
        opened.check()
        opened.close()
    assert len(identities) == 2
