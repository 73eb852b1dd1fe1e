from datetime import date, datetime
from pathlib import Path

import pytest

from hearthmind.errors import InvalidSetting
from hearthmind.model import MemoryType
from hearthmind.vault.layout import Layout, day_of, is_page_stem, session_stem
from hearthmind.vault.mark import Kind, Mark, claim
from hearthmind.vault.preview import preview

OURS = Layout.of(Mark(Kind.OURS, "x", "y"))
THEIRS = Layout.of(Mark(Kind.ADOPTED, "x", "y"))
DAY = date(2026, 3, 22)


def test_type_decides_the_folder() -> None:
    assert OURS.memory_path(MemoryType.TASK, "Buy milk") == "tasks/Buy milk.md"
    assert OURS.memory_path(MemoryType.DECISION, "Use uv") == "short-term/Use uv.md"
    assert THEIRS.memory_path(MemoryType.THEME, "Home") == "Hearthmind/themes/Home.md"


def test_day_and_session_notes_know_their_day() -> None:
    session = session_stem(datetime(2026, 3, 22, 9, 30), "Plan: the trip?")  # noqa: DTZ001
    assert session == "2026-03-22 0930 Plan - the trip"
    for path in (OURS.daily_path(DAY), THEIRS.daily_path(DAY), OURS.session_path(session)):
        assert day_of(path) == DAY
    assert THEIRS.daily_path(DAY) == "Hearthmind/daily/2026-03-22 memories.md"
    assert OURS.is_daily("daily/2026-03-22.md")
    assert not OURS.is_daily("journal/2026-03-22.md")
    assert OURS.is_session("sessions/2026-03-22 0930 Plan.md")
    assert not THEIRS.is_session("sessions/2026-03-22 0930 Plan.md")
    assert day_of("daily/2026-13-45.md") is None
    assert session_stem(datetime(2026, 3, 22, 9, 30), "") == "2026-03-22 0930 Session"  # noqa: DTZ001


def test_pages_have_their_places() -> None:
    assert OURS.is_page_path("index.md")
    assert OURS.is_page_path("tasks/index.json")
    assert not OURS.is_page_path("recipes/index.md")
    assert not THEIRS.is_page_path("index.md")
    assert THEIRS.is_page_path("Hearthmind/tags.md")
    assert is_page_stem("Index")
    assert not is_page_stem("Index 2")


@pytest.mark.parametrize(("given", "folder"), [("", ""), (".", ""), ("Notes/AI/", "Notes/AI"), ("./X", "X")])
def test_the_folder_can_be_set(given: str, folder: str) -> None:
    assert Layout.of(Mark(Kind.ADOPTED, "x", "y"), given).folder == folder


@pytest.mark.parametrize("given", ["../x", "a/../b", ".hidden", "C:/x", "a\\b", "x/.y"])
def test_a_folder_that_cannot_be_used_is_refused(given: str) -> None:
    with pytest.raises(InvalidSetting, match="HEARTHMIND_FOLDER"):
        Layout.of(Mark(Kind.OURS, "x", "y"), given)


def test_a_preview_tells_all_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(7):
        (tmp_path / f"notes/{number}.md").write_text("text")
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts/x.md").touch()
    (tmp_path / ".hearthmindignore").write_text("drafts/\n!\n")
    (tmp_path / "photo.jpg").touch()
    before = sorted(tmp_path.rglob("*"))
    seen = preview(tmp_path, DAY)
    assert sorted(tmp_path.rglob("*")) == before
    assert seen.kind is Kind.ADOPTED
    assert (seen.notes.count, seen.note_bytes) == (7, 28)
    assert seen.notes.examples == tuple(f"notes/{number}.md" for number in range(5))
    assert seen.others.examples == ("photo.jpg",)
    assert seen.ignored["excluded in .hearthmindignore: drafts/"].examples == ("drafts/",)
    assert seen.ignored["hidden folder"].examples == (".obsidian/",)
    assert [problem.line for problem in seen.problems] == [2]
    assert "Hearthmind/daily/2026-03-22 memories.md" in seen.created
    assert ".hearthmind/vault.json" in seen.created
    claim(tmp_path)
    assert ".hearthmind/vault.json" not in preview(tmp_path, DAY).created
