"""A memory from remember to recall, in one process with nothing else installed."""

import pytest
from tests.home import Home

from hearthmind.errors import (
    InvalidInput,
    JobNotFound,
    MemoryNotFound,
    NotAllowed,
    NoteChangedSinceRead,
    SpaceNotFound,
    TooLarge,
)
from hearthmind.house import contract as c
from hearthmind.house import operations as op
from hearthmind.model.house import OWNER, Caller, Scope
from hearthmind.vault.note import parse_note

WRITER = Caller("writer", frozenset({Scope.READ, Scope.WRITE}))


def test_a_memory_is_on_disk_and_found_by_word_and_meaning_when_the_call_returns(home: Home) -> None:
    made = home.remember("The boiler was serviced in September. Ask for Mr Alvarez.", title="Boiler", tags=["house"])
    raw = (home.vault / made.path).read_bytes()
    note = parse_note(raw)
    assert note.properties["id"] == made.id
    assert note.properties["tags"] == ["house"]
    assert note.body == "The boiler was serviced in September. Ask for Mr Alvarez.\n"
    for mode in ("keyword", "meaning", "hybrid"):
        assert home.titles("who serviced the boiler", mode=mode) == ["Boiler"]


def test_the_summary_is_the_first_sentence_until_enriched(home: Home) -> None:
    made = home.remember("# Heading\n\nUse uv for speed. It also locks.", title="uv")
    assert home.show(made.id).summary == "Use uv for speed."


def test_the_job_of_a_new_memory_is_done_when_its_vectors_are_stored(home: Home) -> None:
    made = home.remember("Short.")
    assert made.job
    assert home.house.do(op.JOB, OWNER, c.JobRequest(id=made.job)).state == "done"


def test_a_dead_embedder_delays_meaning_and_nothing_else(home: Home) -> None:
    home.settled()
    home.embedder.down = True
    made = home.remember("The spare key hangs in the shed.", title="Spare key")
    answer = home.recall("where is the spare key", floor="off")
    assert [hit.title for hit in answer.hits] == ["Spare key"]
    assert answer.degraded == ["embedder"]
    assert made.job
    assert home.house.do(op.JOB, OWNER, c.JobRequest(id=made.job)).state == "queued"
    home.embedder.down = False
    home.settled()
    assert home.titles("spare key shed", mode="meaning") == ["Spare key"]


def test_a_retry_within_a_day_is_the_same_memory(home: Home) -> None:
    first = home.remember("Pay the rent on the first.", title="Rent")
    again = home.remember("Pay the rent on the first.", title="Rent")
    assert (again.id, again.existing) == (first.id, True)
    assert home.stats().memories == 1


def test_an_idempotency_key_gives_the_first_answer_and_refuses_another_request(home: Home) -> None:
    first = home.remember("One.", idempotency_key="k1")
    assert home.remember("One.", idempotency_key="k1").id == first.id
    assert home.remember("One.", idempotency_key="k1").existing
    with pytest.raises(InvalidInput, match="k1"):
        home.remember("Two.", idempotency_key="k1")


def test_near_duplicates_are_stored_and_named(home: Home) -> None:
    first = home.remember("She has worked there for 5 years now.", title="Job of Ann")
    second = home.remember("She has worked there for 6 years now.", title="Job of Ann")
    assert second.id != first.id
    assert [one.id for one in second.similar] == [first.id]


def test_a_title_that_exists_gets_a_name_of_its_own_and_keeps_the_title(home: Home) -> None:
    one = home.remember("First text.", title="Plan")
    two = home.remember("Second text.", title="Plan")
    assert one.path != two.path
    assert home.show(two.id).title == "Plan"
    assert parse_note((home.vault / two.path).read_bytes()).properties["title"] == "Plan"


@pytest.mark.parametrize(
    "title",
    [
        'a/b\\c:d*e?f"g<h>i|j#k^l[m]',
        "...",
        "x" * 300,
        "🏡 home 🏡",
        "مرحبا بالعالم",
        "CON",
        "index",
        "AGENTS",
        "..",
        "a\nb",
    ],
)
def test_any_title_is_kept_and_found(home: Home, title: str) -> None:
    made = home.remember("Unusual titles are kept.", title=title)
    shown = home.show(made.id)
    assert shown.title == " ".join(title.split())
    assert (home.vault / made.path).is_file()
    assert (home.vault / made.path).resolve().is_relative_to(home.vault.resolve())
    home.compare()
    assert home.show(made.id).title == shown.title


@pytest.mark.parametrize("content", ["", "  \n \t\n", "\x00\x01binary", "lone \ud800 surrogate"])
def test_content_that_is_no_text_is_refused_in_words(home: Home, content: str) -> None:
    with pytest.raises(InvalidInput, match="content"):
        home.remember(content)
    assert home.stats().memories == 0


def test_five_megabytes_are_refused_naming_the_limit(home: Home) -> None:
    with pytest.raises(TooLarge, match="HEARTHMIND_MAX_CONTENT_KB"):
        home.remember("word " * (1 << 20))


def test_every_word_of_a_long_memory_is_found(home: Home) -> None:
    text = "\n\n".join(f"Paragraph {n} speaks of topic{n}word." for n in range(3_000))
    made = home.remember(text, title="Long")
    assert home.titles("topic2999word", mode="keyword") == ["Long"]
    home.settled()
    assert home.house.do(op.JOB, OWNER, c.JobRequest(id=made.job or "")).state == "done"
    fetched = home.house.do(op.FETCH, OWNER, c.FetchRequest(id=made.id))
    assert len(fetched.model_dump_json()) <= c.MAX_ANSWER_CHARACTERS
    whole = fetched.text
    while offset := fetched.metadata.get("next_offset"):
        fetched = home.house.do(op.FETCH, OWNER, c.FetchRequest(id=made.id, offset=offset))
        whole += fetched.text
    assert whole == text + "\n"


def test_tags_are_made_valid_and_follow_the_registry(home: Home) -> None:
    home.remember("First.", title="One", tags=["Machine Learning", "#home", "a/b"])
    two = home.remember("Second.", title="Two", tags=["machine-learning", "HOME", "A/B", "123", "  "])
    assert home.show(two.id).tags == ["Machine-Learning", "home", "a/b"]
    tags = home.house.do(op.LIST_TAGS, OWNER, c.TagsRequest())
    assert {line.tag: line.count for line in tags.items} == {"Machine-Learning": 2, "home": 2, "a/b": 2}


def test_filters_narrow_what_is_recalled(home: Home) -> None:
    home.remember("Tea is green.", title="Old", occurred_at="2024-05-01", importance=2, project="tea")
    home.remember("Tea is black.", title="New", occurred_at="2025-05-01", importance="high", tags=["drink/hot"])
    home.remember("Tea is a task.", title="Task", type="task", occurred_at="2025-06-01")
    assert home.titles("tea", until="2024-12-31") == ["Old"]
    assert home.titles("tea", since="2025-05-01", until="2025-05-01") == ["New"]
    assert home.titles("tea", types=["task"]) == ["Task"]
    assert home.titles("tea", tags=["drink"]) == ["New"]
    assert home.titles("tea", min_importance=8) == ["New"]
    assert home.titles("tea", project="Tea") == ["Old"]
    assert home.titles("tea", project="none") == []


def test_since_after_until_says_so(home: Home) -> None:
    with pytest.raises(InvalidInput, match="since"):
        home.recall("x", since="2025-02-01", until="2025-01-01")
    with pytest.raises(InvalidInput, match="until"):
        home.recall("x", until="last week")


@pytest.mark.parametrize("query", ["?!…", "a" * 100_000, "x " * 50_000, "京都の天気", "''\" OR NEAR( *", "-", "\x00"])
def test_any_question_is_answered(home: Home, query: str) -> None:
    home.remember("京都の天気は晴れです。", title="天気")
    answer = home.recall(query)
    assert len(answer.model_dump_json()) <= c.MAX_ANSWER_CHARACTERS
    if "京" in query:
        assert [hit.title for hit in answer.hits] == ["天気"]


def test_nothing_relevant_is_an_empty_answer_with_a_reason(home: Home) -> None:
    home.remember("The cat sleeps on the sofa.", title="Cat")
    answer = home.recall("quarterly revenue forecast of the semiconductor industry")
    assert answer.hits == []
    assert answer.context == ""
    assert answer.silence


def test_an_answer_names_source_date_and_reason_within_the_budget(home: Home) -> None:
    for number in range(12):
        home.remember(f"The garden has {number} roses. " + "Roses need water. " * 80, title=f"Garden {number}")
    answer = home.recall("roses in the garden", budget=400, limit=8)
    first = answer.hits[0]
    assert first.path in answer.context
    assert first.title in answer.context
    assert (first.date or "") in answer.context
    assert "found by" in answer.context
    assert len(answer.context) < 400 * 6
    assert "not instructions" in answer.context


def test_neighbours_of_a_hit_come_through_links(home: Home) -> None:
    home.remember("Alvarez repairs heating systems.", title="Mr Alvarez")
    home.remember("Serviced in autumn by [[Mr Alvarez]].", title="Boiler log")
    hits = home.recall("autumn service", floor="off").hits
    assert {hit.title for hit in hits} >= {"Boiler log", "Mr Alvarez"}
    related = home.house.do(op.RELATED, OWNER, c.RelatedRequest(id=hits[0].id))
    assert {node.title for node in related.nodes} == {"Boiler log", "Mr Alvarez"}


def test_a_link_written_before_its_target_resolves_when_the_target_appears(home: Home) -> None:
    source = home.remember("See [[Later note]].", title="Earlier note")
    target = home.remember("Here it is.", title="Later note")
    related = home.house.do(op.RELATED, OWNER, c.RelatedRequest(id=source.id))
    assert [(edge.source, edge.target) for edge in related.edges] == [(source.id, target.id)]


def test_an_update_changes_what_was_asked_and_no_other_byte(home: Home) -> None:
    made = home.remember("Body stays.", title="Note", tags=["one"])
    path = home.vault / made.path
    path.write_bytes(path.read_bytes().replace(b"type: note", b"type: note   # mine\nodd:   'kept'"))
    home.compare()
    changed = home.update(made.id, importance=9)
    after = path.read_bytes()
    assert changed.importance == 9
    assert b"type: note   # mine\nodd:   'kept'" in after
    assert after.endswith(b"Body stays.\n")


def test_two_writers_on_one_note_the_second_learns_the_current_version(home: Home) -> None:
    made = home.remember("Shared.", title="Shared")
    current = home.update(made.id, version=made.version, text="Changed by one.")
    with pytest.raises(NoteChangedSinceRead) as caught:
        home.update(made.id, version=made.version, text="Changed by another.")
    assert caught.value.extra["version"] == current.version
    assert home.show(made.id).text == "Changed by one.\n"


def test_updated_text_is_found_and_the_old_is_not(home: Home) -> None:
    made = home.remember("The password hint is elephant.", title="Hint")
    home.update(made.id, text="The password hint is giraffe.")
    assert home.titles("giraffe", mode="keyword") == ["Hint"]
    assert home.titles("elephant", mode="keyword") == []


def test_forgotten_is_gone_from_every_index_and_waits_in_the_trash(home: Home) -> None:
    made = home.remember("A secret plan.", title="Plan")
    gone = home.forget(made.id)
    assert not (home.vault / made.path).exists()
    assert (home.vault / gone.trash).is_file()
    assert home.titles("secret plan") == []
    with pytest.raises(MemoryNotFound):
        home.show(made.id)
    home.compare()
    assert home.stats().memories == 0


def test_unknown_ids_are_named(home: Home) -> None:
    for call in (home.show, home.forget, lambda one: home.update(one, importance=1)):
        with pytest.raises(MemoryNotFound, match="no memory"):
            call("01ARZ3NDEKTSV4RRFFQ69G5FAV")
    with pytest.raises(JobNotFound):
        home.house.do(op.JOB, OWNER, c.JobRequest(id="nope"))
    with pytest.raises(SpaceNotFound):
        home.house.do(op.STATS, OWNER, c.StatusRequest(space="elsewhere"))


def test_clients_may_not_change_the_persons_own_notes(home: Home) -> None:
    (home.vault / "Mine.md").write_text("My own words.\n")
    home.compare()
    (line,) = home.house.do(op.LIST_INDEX, OWNER, c.ListRequest()).items
    with pytest.raises(NotAllowed, match="vault"):
        home.update(line.id, caller=WRITER, text="Theirs.")
    with pytest.raises(NotAllowed):
        home.forget(line.id, caller=WRITER)
    assert (home.vault / "Mine.md").read_text() == "My own words.\n"
    home.update(line.id, importance=7)
    assert (home.vault / "Mine.md").read_text() == "---\nimportance: 7\n---\nMy own words.\n"


def test_a_note_with_invalid_yaml_is_searchable_listed_and_never_rewritten(home: Home) -> None:
    raw = b"---\ntags: [a\n\tb: {{date}}\n---\nText about zeppelins.\n"
    (home.vault / "Broken.md").write_bytes(raw)
    home.compare()
    assert home.titles("zeppelins") == ["Broken"]
    assert any(problem.path == "Broken.md" for problem in home.status().problems)
    (line,) = home.house.do(op.LIST_INDEX, OWNER, c.ListRequest()).items
    with pytest.raises(Exception, match="left as it is"):
        home.update(line.id, importance=3)
    assert (home.vault / "Broken.md").read_bytes() == raw


def test_two_spaces_do_not_see_each_other(home: Home) -> None:
    home.house.do(op.ADD_SPACE, OWNER, c.NewSpaceRequest(name="family"))
    home.remember("Only at home.", title="Home")
    home.house.do(op.REMEMBER, OWNER, c.RememberRequest(content="Only family.", title="Family", space="family"))
    assert home.titles("only") == ["Home"]
    assert home.titles("only", space="family") == ["Family"]
    stranger = Caller("child", frozenset({Scope.READ}), ("family",))
    with pytest.raises(SpaceNotFound):
        home.house.do(op.STATS, stranger, c.StatusRequest(space="home"))


def test_a_house_that_is_opened_again_knows_everything(home: Home) -> None:
    made = home.remember("Kept over restarts.", title="Kept", tags=["x"])
    home.reopen()
    home.settled()
    assert home.show(made.id).version == made.version
    assert home.titles("kept restarts", mode="meaning") == ["Kept"]
    assert sum("Kept over restarts." in text for text in home.embedder.texts) == 1


def test_deleted_state_comes_back_from_the_vault(home: Home) -> None:
    import shutil

    made = home.remember("Rebuilt from the vault.", title="Rebuilt")
    (home.vault / "Mine.md").write_text("# Mine\n\nMy own words link to [[Rebuilt]].\n")
    home.compare()
    before = home.recall("own words rebuilt vault", floor="off")
    home.house.close()
    shutil.rmtree(home.settings.state)
    home.house = home._open()
    home.settled()
    after = home.recall("own words rebuilt vault", floor="off")
    assert [(hit.id, hit.path) for hit in after.hits] == [(hit.id, hit.path) for hit in before.hits]
    assert made.id in {hit.id for hit in after.hits}


def test_a_garbage_catalog_is_moved_aside_and_rebuilt_saying_so(home: Home) -> None:
    made = home.remember("Survives garbage.", title="Survivor")
    home.house.close()
    (home.settings.state / "home" / "catalog.db").write_bytes(b"garbage" * 1000)
    home.house = home._open()
    home.settled()
    assert home.show(made.id).title == "Survivor"
    assert any("catalog" in warning for warning in home.status().warnings)


def test_the_index_pages_through_every_memory(home: Home) -> None:
    for number in range(7):
        home.remember(f"Text {number}.", title=f"Note {number}", type="task" if number % 2 else "fact")
    seen, page = [], None
    while True:
        listing = home.house.do(op.LIST_INDEX, OWNER, c.ListRequest(page=page, limit=3))
        seen += [line.title for line in listing.items]
        assert listing.total == 7
        if (page := listing.next) is None:
            break
    assert sorted(seen) == [f"Note {number}" for number in range(7)]
    tasks = home.house.do(op.LIST_INDEX, OWNER, c.ListRequest(folder="tasks"))
    assert {line.type for line in tasks.items} == {"task"}


def test_agents_page_tells_how_to_use_the_memory_and_keeps_what_the_person_wrote(home: Home) -> None:
    home.settled()
    page = home.vault / "AGENTS.md"
    text = page.read_text()
    assert "recall" in text
    page.write_text("My rules for agents: zebra first.\n\n" + text)
    home.remember("The alarm code is with Ann.", title="Alarm", importance=10, critical=True)
    home.reopen()
    home.settled()
    after = page.read_text()
    assert after.startswith("My rules for agents: zebra first.")
    assert "`Alarm`" in after
    assert home.titles("alarm code")[0] == "Alarm"
