"""What a comparison of the vault with the catalog finds, and what it must not."""

import os

import pytest
from tests.home import Home, wait_for

from hearthmind.errors import MemoryNotFound
from hearthmind.house import contract as c
from hearthmind.house import operations as op
from hearthmind.model.house import OWNER
from hearthmind.upkeep import sync as comparing


def test_two_notes_that_exchange_names_keep_their_identities(home: Home) -> None:
    one, two = home.remember("First text.", title="Alpha"), home.remember("Second text.", title="Beta")
    first, second, aside = home.vault / one.path, home.vault / two.path, home.vault / "aside"
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
    home.compare()
    assert (home.show(one.id).text, home.show(two.id).text) == ("First text.\n", "Second text.\n")
    assert (home.show(one.id).path, home.show(two.id).path) == (two.path, one.path)
    assert home.stats().memories == 2


def test_a_chain_of_renames_keeps_every_identity(home: Home) -> None:
    one, two = home.remember("First text.", title="Alpha"), home.remember("Second text.", title="Beta")
    (home.vault / two.path).rename(home.vault / "short-term/Gamma.md")
    (home.vault / one.path).rename(home.vault / two.path)
    home.compare()
    assert home.show(one.id).path == two.path
    assert home.show(two.id).path == "short-term/Gamma.md"


def test_a_moved_note_of_the_person_keeps_its_identity_and_links_by_its_old_name(home: Home) -> None:
    (home.vault / "Old.md").write_text("A text of my own about lanterns.\n")
    home.compare()
    (before,) = home.house.do(op.LIST_INDEX, OWNER, c.ListRequest()).items
    (home.vault / "Old.md").rename(home.vault / "New.md")
    home.compare()
    after = home.show(before.id)
    assert after.path == "New.md"
    source = home.remember("See [[Old]].", title="Source")
    related = home.house.do(op.RELATED, OWNER, c.RelatedRequest(id=source.id))
    assert before.id in {node.id for node in related.nodes}


def test_what_is_remembered_during_the_walk_is_not_taken_for_vanished(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.settled()
    walked = comparing.walk
    made: list[c.Remembered] = []

    def walk(*arguments: object) -> object:
        found = list(walked(*arguments))  # type: ignore[arg-type]
        made.append(home.remember("Remembered meanwhile."))
        return iter(found)

    monkeypatch.setattr(comparing, "walk", walk)
    home.compare()
    monkeypatch.undo()
    assert home.show(made[0].id).text == "Remembered meanwhile.\n"


def test_a_changed_time_alone_reads_the_note_and_nothing_more(home: Home) -> None:
    made = home.remember("Same bytes.", title="Same")
    home.settled()
    before = list(home.embedder.texts)
    os.utime(home.vault / made.path, (1, 1))
    home.compare()
    assert not any("Same bytes." in text for text in home.embedder.texts[len(before) :])
    assert home.house.space("home").catalog.files()[made.path].state.mtime_ns == 1_000_000_000


def test_many_notes_vanishing_at_once_are_kept_until_a_person_says_so(home: Home) -> None:
    for number in range(30):
        home.remember(f"Text {number}.", title=f"Note {number}")
    for path in (home.vault / "short-term").iterdir():
        path.unlink()
    home.compare()
    assert home.stats().memories == 30
    assert any("vanished" in warning for warning in home.status().warnings)


def test_a_deleted_note_leaves_the_index(home: Home) -> None:
    made = home.remember("To be deleted by hand.", title="Gone")
    (home.vault / made.path).unlink()
    home.compare()
    with pytest.raises(MemoryNotFound):
        home.show(made.id)


def test_a_memory_whose_file_is_gone_is_remembered_anew(home: Home) -> None:
    first = home.remember("Say it again.", title="Again")
    (home.vault / first.path).unlink()
    again = home.remember("Say it again.", title="Again")
    assert not again.existing
    assert (home.vault / again.path).is_file()


def test_a_heading_that_spells_the_title_otherwise_makes_no_second_note(home: Home) -> None:
    first = home.remember("# Boiler Service\n\nDone.", title="boiler service")
    again = home.remember("# Boiler Service\n\nDone.", title="boiler service")
    assert (again.id, again.existing) == (first.id, True)
    assert home.show(first.id).title == "boiler service"


def test_words_alone_answer_while_the_embedder_is_down(home: Home) -> None:
    home.remember("The garden hose hangs in the shed.", title="Garden hose")
    home.settled()
    home.embedder.down = True
    answer = home.recall("where did I put the garden hose")
    assert [hit.title for hit in answer.hits] == ["Garden hose"]
    assert answer.degraded == ["embedder"]


def test_a_late_vector_of_an_older_text_is_made_again(home: Home) -> None:
    made = home.remember("Old words.", title="Text")
    home.settled()
    space = home.house.space("home")
    (late,) = space.catalog.passages_of(made.id)
    home.update(made.id, text="New words.")
    space.catalog.mark_embedded([late])
    assert space.catalog.counts().pending_vectors == 1


def test_a_fault_while_embedding_does_not_stop_the_comparing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.settled()
    monkeypatch.setattr(home.embedder, "embed_passages", lambda _: 1 / 0)
    (home.vault / "Mine.md").write_text("Found although embedding fails: cormorant.\n")
    home.compare()
    assert home.titles("cormorant", mode="keyword") == ["Mine"]


def test_vectors_of_passages_that_a_note_lost_go_as_well(home: Home) -> None:
    made = home.remember("\n\n".join(f"# Part {n}\n\n" + "Lengthy words. " * 120 for n in range(6)), title="Long")
    home.settled()
    space = home.house.space("home")
    assert space.vectors.count() == len(space.catalog.passages_of(made.id)) > 3
    home.update(made.id, text="Short now.")
    home.forget(home.remember("Forgotten soon.", title="Soon").id)
    wait_for(lambda: space.vectors.count() == 1)
    assert home.titles("short now", mode="meaning") == ["Long"]
