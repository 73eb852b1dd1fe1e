"""Sessions and days: turns and captures, each retrievable alone."""

import pytest
from tests.home import Home

from hearthmind.errors import InvalidInput
from hearthmind.house import contract as c
from hearthmind.house import operations as op
from hearthmind.model.house import OWNER


def entry(role: str, content: str, **fields: object) -> c.EpisodeEntry:
    return c.EpisodeEntry.model_validate({"role": role, "content": content, **fields})


def log(home: Home, session: str, *entries: c.EpisodeEntry, **fields: object) -> c.EpisodesLogged:
    request = c.EpisodesRequest.model_validate({"session": session, "entries": list(entries), **fields})
    return home.house.do(op.LOG_EPISODES, OWNER, request)


def test_turns_stand_in_the_session_note_with_role_time_and_id(home: Home) -> None:
    logged = log(
        home,
        "Trip planning",
        entry("Ann", "Let us go to Lisbon.", occurred_at="2026-03-22T09:30", ref="D1:1"),
        entry("Ben", "In May?", occurred_at="2026-03-22T09:31", ref="D1:2"),
    )
    (path,) = logged.paths
    text = (home.vault / path).read_text()
    assert path == "sessions/2026-03-22 0930 Trip planning.md"
    assert f"**Ann** 09:30 Let us go to Lisbon. ^{logged.ids[0]}" in text
    assert f"**Ben** 09:31 In May? ^{logged.ids[1]}" in text


def test_each_turn_is_found_alone_with_its_ref(home: Home) -> None:
    log(
        home,
        "s/1",
        *(
            entry("Ann", f"I bought {thing} today.", ref=f"r{n}")
            for n, thing in enumerate(["a violin", "a tent", "fresh bread", "a lawnmower", "two tickets"])
        ),
    )
    hits = home.recall("lawnmower", floor="off").hits
    assert hits[0].refs == ["r3"]
    assert "lawnmower" in hits[0].text
    assert "violin" not in hits[0].text


def test_a_session_is_continued_under_its_name_and_a_ref_is_logged_once(home: Home) -> None:
    first = log(home, "Chat", entry("user", "Hello.", ref="1"))
    second = log(home, "Chat", entry("user", "Hello.", ref="1"), entry("assistant", "Hi!", ref="2"))
    assert second.paths == first.paths
    assert second.ids[0] == first.ids[0]
    assert second.existing == 1
    assert (home.vault / first.paths[0]).read_text().count("Hello.") == 1


def test_text_of_any_shape_comes_back_as_it_was_said(home: Home) -> None:
    said = "First line\n\n```py\nprint('**x** 10:00 no turn ^abc')\n```\n# not a heading\n> quote"
    logged = log(home, "Odd", entry("assistant", said, ref="odd"), entry("user", "after", ref="next"))
    assert len(set(logged.ids)) == 2
    hits = home.recall("not a heading", floor="off").hits
    assert hits[0].refs == ["odd"]
    home.reopen()
    home.settled()
    assert home.recall("after", floor="off", mode="keyword").hits[0].refs == ["next"]


def test_role_session_outcome_and_importance_filter_turns(home: Home) -> None:
    log(home, "A", entry("Ann", "The deploy failed again.", outcome="failure", importance="high", ref="a"))
    log(home, "B", entry("Ben", "The deploy went well.", outcome="success", importance=2, ref="b"))
    assert home.recall("deploy", role="ann", floor="off").hits[0].refs == ["a"]
    assert home.recall("deploy", session="B", floor="off").hits[0].refs == ["b"]
    assert [hit.refs for hit in home.recall("deploy", outcome="failure", floor="off").hits] == [["a"]]
    assert [hit.refs for hit in home.recall("deploy", min_importance=8, floor="off").hits] == [["a"]]


def test_the_instant_of_a_turn_is_kept_and_its_day_is_local(home: Home) -> None:
    log(home, "Late", entry("Ann", "Evening talk in UTC.", occurred_at="2026-03-22T23:30:00+00:00"))
    (hit,) = home.recall("evening talk", floor="off").hits
    assert hit.date == "2026-03-23"
    assert hit.path.startswith("sessions/2026-03-23 0030")


def test_captures_go_to_the_note_of_their_day(home: Home) -> None:
    for text in ("Bought milk.", "Called the dentist."):
        request = c.CaptureRequest(text=text, topics=["errands"], occurred_at="2026-03-22T09:30")
        made = home.house.do(op.CAPTURE, OWNER, request)
    text = (home.vault / "daily/2026-03-22.md").read_text()
    assert made.paths == ["daily/2026-03-22.md"]
    assert text.count("### 09:30") == 2
    assert "#errands" in text
    hits = home.recall("dentist", floor="off").hits
    assert hits[0].text == "Called the dentist."
    assert home.recall("dentist", tags=["errands"], floor="off").hits


def test_a_repeated_key_writes_once_even_when_its_answer_was_lost(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    request = c.CaptureRequest(text="Once only.", occurred_at="2026-03-22T09:30", idempotency_key="k")
    first = home.house.do(op.CAPTURE, OWNER, request)
    monkeypatch.setattr(type(home.house.space("home").catalog), "answer", lambda *_: None)
    again = home.house.do(op.CAPTURE, OWNER, request)
    assert (again.ids, again.existing) == (first.ids, 1)
    assert (home.vault / "daily/2026-03-22.md").read_text().count("Once only.") == 1


def test_empty_turns_and_bad_times_are_refused_in_words(home: Home) -> None:
    with pytest.raises(InvalidInput, match="content"):
        log(home, "S", entry("a", "   "))
    with pytest.raises(InvalidInput, match=r"entries\[0\].occurred_at"):
        log(home, "S", entry("a", "x", occurred_at="yesterday"))
    with pytest.raises(InvalidInput, match="session"):
        log(home, "   ", entry("a", "x"))
    assert home.stats().memories == 0


def test_a_person_may_edit_a_session_note_and_the_turns_follow(home: Home) -> None:
    logged = log(home, "Edit", entry("Ann", "I like tulips.", ref="t"))
    path = home.vault / logged.paths[0]
    path.write_text(path.read_text().replace("tulips", "orchids"))
    home.compare()
    (hit,) = home.recall("orchids", mode="keyword", floor="off").hits
    assert hit.refs == ["t"]
    assert home.recall("tulips", mode="keyword", floor="off").hits == []


def test_a_capture_leaves_the_daily_note_of_the_person_alone(home: Home) -> None:
    mine = home.vault / "daily" / "2026-03-22.md"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("My own day.\n")
    for text in ("First thought.", "Second thought."):
        made = home.house.do(op.CAPTURE, OWNER, c.CaptureRequest(text=text, occurred_at="2026-03-22T09:30"))
        home.compare()
    assert mine.read_text() == "My own day.\n"
    assert made.paths == ["daily/2026-03-22 memories.md"]
    assert home.recall("second thought", floor="off").hits[0].text == "Second thought."


def test_a_session_note_that_the_person_deleted_begins_anew(home: Home) -> None:
    first = log(home, "Gone", entry("user", "Before.", ref="1"))
    (home.vault / first.paths[0]).unlink()
    second = log(home, "Gone", entry("user", "After.", ref="2"))
    text = (home.vault / second.paths[0]).read_text()
    assert "After." in text
    assert "Before." not in text
    assert home.stats().memories == 1
