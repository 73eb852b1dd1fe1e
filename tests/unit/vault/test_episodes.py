from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthmind.model import Outcome
from hearthmind.vault.episodes import Episode, Episodes, record_name
from hearthmind.vault.mark import claim

SESSION = "sessions/2026-03-22 0930 Trip.md"


@pytest.fixture
def episodes(tmp_path: Path) -> Episodes:
    claim(tmp_path)
    return Episodes(tmp_path)


def test_details_come_back_by_entry(episodes: Episodes) -> None:
    one = Episode("e1", "D1:3", Outcome.SUCCESS, 8, ("trip", "車"), "2026-03-22T09:30:00+02:00", "user *x*")
    two = Episode("e2")
    episodes.append(SESSION, [one, two])
    assert episodes.load(SESSION) == ({"e1": one, "e2": two}, [])
    assert episodes.load("sessions/other.md") == ({}, [])


def test_later_lines_and_former_names_count(episodes: Episodes) -> None:
    episodes.append("sessions/Old.md", [Episode("e1", "a"), Episode("e2", "b")])
    episodes.append(SESSION, [Episode("e2", "c")])
    known, _ = episodes.load(SESSION, "sessions/Old.md")
    assert {key: one.ref for key, one in known.items()} == {"e1": "a", "e2": "c"}


def test_nonsense_is_tolerated(episodes: Episodes, tmp_path: Path) -> None:
    episodes.append(SESSION, [Episode("e1", "a")])
    path = tmp_path / ".hearthmind/episodes/2026-03-22 0930 Trip.jsonl"
    odd = '{"entry":"e2","outcome":"great","importance":99,"topics":"x","ref":5}\n{"ref":"no entry"}\n{"entry":"e3","re'
    path.write_text(path.read_text() + odd)
    known, problems = episodes.load(SESSION)
    assert known == {"e1": Episode("e1", "a"), "e2": Episode("e2")}
    assert len(problems) == 2


@given(st.text(max_size=300), st.text(max_size=300))
def test_every_session_has_a_record_of_its_own(one: str, other: str) -> None:
    name = record_name(one)
    assert name.count("/") == 1
    assert len(name.removeprefix("episodes/").encode()) <= 255
    stems = [s.rsplit("/", 1)[-1].removesuffix(".md") for s in (one, other)]
    if stems[0].lower() != stems[1].lower() and "/" not in one + other and not {".", ""} & set(stems):
        assert name != record_name(other)
