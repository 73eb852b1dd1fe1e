import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearthmind.errors import MemoryNotFound, VaultNotMounted
from hearthmind.vault.identity import LOG, Identities, Identity, is_ulid, new_id
from hearthmind.vault.mark import claim


@pytest.fixture
def root(tmp_path: Path) -> Path:
    claim(tmp_path)
    return tmp_path


def test_ids_are_ulids_in_order() -> None:
    ids = [new_id() for _ in range(1000)]
    assert all(map(is_ulid, ids))
    assert ids == sorted(set(ids))


@pytest.mark.parametrize(
    "value", [None, 7, "", "01jq2m0000000000000000000a", "8" * 26, "0" * 25, "0" * 25 + "U", "0" * 26 + "\n"]
)
def test_other_peoples_ids_are_no_ulids(value: object) -> None:
    assert not is_ulid(value)


def test_a_move_keeps_the_identity_and_the_former_path(root: Path) -> None:
    identities = Identities(root)
    id_ = new_id()
    identities.record([Identity(id_, "a.md", text_hash="h")])
    identities.move(id_, "b/a.md")
    for known in (identities, Identities(root)):
        assert known.by_path("a.md") is None
        found = known.by_path("b/a.md")
        assert found is not None
        assert (found.id, found.former, found.text_hash) == (id_, ("a.md",), "h")
        assert found.at
        assert known.by_former("a.md") == known.by_id(id_) == found
        assert known.by_text("h") == [found]
    identities.move(id_, "a.md")
    back = identities.by_id(id_)
    assert back is not None
    assert back.former == ("b/a.md",)
    with pytest.raises(MemoryNotFound):
        identities.move(new_id(), "c.md")


def test_a_new_note_at_an_old_path_is_another_memory(root: Path) -> None:
    identities = Identities(root)
    first, second = new_id(), new_id()
    identities.record([Identity(first, "a.md"), Identity(second, "a.md")])
    found = identities.by_path("a.md")
    assert found is not None
    assert found.id == second
    identities.move(first, "b.md")
    assert identities.by_path("a.md") == found


def test_the_forgotten_stay_forgotten(root: Path) -> None:
    identities = Identities(root)
    id_ = new_id()
    identities.record([Identity(id_, "a.md")])
    identities.forget([id_, new_id()])
    assert identities.by_id(id_) is None
    assert Identities(root).by_path("a.md") is None


def test_adopting_many_notes_is_one_fsync(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    identities = Identities(root)
    identities.record([Identity(new_id(), "first.md")])
    calls: list[int] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append(fd), fsync(fd))[1])
    identities.record(Identity(new_id(), f"n/{number}.md") for number in range(20_000))
    assert len(calls) == 1
    assert len(Identities(root)) == 20_001


def test_torn_and_foreign_lines_are_problems_and_survive_compaction(root: Path) -> None:
    identities = Identities(root)
    id_ = new_id()
    identities.record([Identity(id_, "a.md")])
    log = root / ".hearthmind" / LOG
    log.write_bytes(b'garbage \xff\n{"id": 5}\n' + log.read_bytes() + b'{"id": "01')
    identities = Identities(root)
    assert identities.by_path("a.md") is not None
    assert len(identities.problems) == 3
    identities.move(id_, "b.md")
    assert identities.compact(force=True)
    again = Identities(root)
    assert again.problems == []
    assert again.by_former("a.md") == again.by_path("b.md") != None  # noqa: E711
    assert b"garbage" in (root / ".hearthmind/identity.damaged.jsonl").read_bytes()


def test_another_process_and_a_sync_tool_may_write_too(root: Path) -> None:
    one, other = Identities(root), Identities(root)
    first, second = new_id(), new_id()
    one.record([Identity(first, "a.md")])
    other.record([Identity(second, "b.md")])
    assert other.by_path("a.md") is not None
    one.refresh()
    assert one.by_path("b.md") is not None
    (root / ".hearthmind/identity.sync-conflict-20260322-101010-ABC.jsonl").write_text("whatever")
    assert len(Identities(root)) == 2


def test_the_log_is_compacted_when_most_of_it_is_history(root: Path) -> None:
    identities = Identities(root)
    id_ = new_id()
    identities.record([Identity(id_, f"{number}.md") for number in range(900)])
    assert not identities.compact()
    identities.record([Identity(id_, f"{number}.md") for number in range(900)])
    assert identities.compact()
    assert (root / ".hearthmind" / LOG).read_bytes().count(b"\n") == 1
    assert identities.by_path("899.md") is not None


def test_a_vault_that_vanishes_makes_nobody_unknown(root: Path, tmp_path: Path) -> None:
    identities = Identities(root)
    identities.record([Identity(new_id(), "a.md")])
    (root / ".hearthmind").rename(root / "elsewhere")
    identities.refresh()
    assert identities.by_path("a.md") is not None
    (root / "elsewhere").rename(root / ".hearthmind")
    (root / ".hearthmind" / LOG).unlink()
    (root / ".hearthmind" / LOG).mkdir()
    identities.refresh()
    assert identities.by_path("a.md") is not None
    assert identities.problems[0].unread


def test_nothing_is_recorded_in_a_vault_that_is_not_mounted(root: Path) -> None:
    identities = Identities(root)
    (root / ".hearthmind/vault.json").unlink()
    with pytest.raises(VaultNotMounted):
        identities.record([Identity(new_id(), "a.md")])
    assert identities.by_path("a.md") is None


IDS = [new_id() for _ in range(3)]
STEPS = st.lists(
    st.tuples(st.sampled_from(["record", "move", "forget", "compact"]), st.sampled_from(IDS), st.sampled_from("abc")),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_what_is_known_is_what_is_on_disk(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    root = tmp_path_factory.mktemp("vault")
    claim(root)
    identities = Identities(root)
    for step, id_, path in steps:
        if step == "record":
            identities.record([Identity(id_, path)])
        elif step == "move" and identities.by_id(id_):
            identities.move(id_, path)
        elif step == "forget":
            identities.forget([id_])
        elif step == "compact":
            identities.compact(force=True)
    again = Identities(root)
    for id_ in IDS:
        assert again.by_id(id_) == identities.by_id(id_)
    for path in "abc":
        assert again.by_path(path) == identities.by_path(path)
        assert again.by_former(path) == identities.by_former(path)


def test_the_identities_of_another_vault_in_its_place_are_neither_read_nor_added_to(tmp_path: Path) -> None:
    root, other = tmp_path / "vault", tmp_path / "other"
    identities = Identities(root, claim(root).id)
    mine, theirs = new_id(), new_id()
    identities.record([Identity(mine, "a.md")])
    claim(other)
    Identities(other).record([Identity(theirs, "b.md")])
    raw = (other / ".hearthmind" / LOG).read_bytes()
    root.rename(tmp_path / "away")
    other.rename(root)
    identities.refresh()
    assert identities.by_id(mine) is not None
    assert identities.by_id(theirs) is None
    with pytest.raises(VaultNotMounted):
        identities.record([Identity(new_id(), "c.md")])
    assert (root / ".hearthmind" / LOG).read_bytes() == raw
