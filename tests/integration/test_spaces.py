"""Which folder is whose vault, and what happens while it is not there."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.home import Home, wait_for

from hearthmind.errors import HearthmindError, InvalidInput, StoreUnavailable, VaultNotMounted
from hearthmind.house import contract as c
from hearthmind.house import operations as op
from hearthmind.model.house import OWNER

MakeHome = Callable[..., Home]


@pytest.fixture
def make_home(tmp_path: Path) -> Iterator[MakeHome]:
    opened: list[Home] = []

    def make(vault: Path | None = None, **settings: Any) -> Home:
        opened.append(Home(tmp_path / "data", vault, **settings))
        return opened[-1]

    yield make
    for home in opened:
        home.house.close()


def add(home: Home, name: str, vault: Path | str | None = None) -> c.SpaceView:
    request = c.NewSpaceRequest(name=name, vault=None if vault is None else str(vault))
    return home.house.do(op.ADD_SPACE, OWNER, request)


def spaces(home: Home) -> dict[str, c.SpaceView]:
    return {one.name: one for one in home.house.do(op.SPACES, OWNER, c.SpacesRequest()).items}


def test_a_vault_set_after_the_first_start_is_adopted(make_home: MakeHome, tmp_path: Path) -> None:
    home = make_home()
    home.remember("Kept in our own.", title="Own")
    home.house.close()
    vault = tmp_path / "Notes"
    vault.mkdir()
    (vault / "Theirs.md").write_text("The person's zebra.\n")
    home = make_home(vault)
    home.settled()
    assert spaces(home)["home"] == c.SpaceView(name="home", vault=str(vault), kind="adopted", mounted=True)
    assert home.titles("zebra") == ["Theirs"]
    assert home.remember("Written beside it.", title="New").path == "Hearthmind/short-term/New.md"
    assert home.titles("kept in our own", mode="keyword") == []
    home.house.close()
    # The vault stays without the setting, too, once it was chosen.
    home = make_home()
    assert spaces(home)["home"].vault == str(vault)


def test_a_vault_that_moved_keeps_its_memories_and_their_ids(make_home: MakeHome, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    home = make_home(before)
    made = home.remember("Kept.", title="Kept")
    home.house.close()
    before.rename(after)
    home = make_home(after)
    home.settled()
    assert home.show(made.id).title == "Kept"
    assert home.status().warnings == []


def test_a_vault_that_is_gone_is_answered_for_from_the_catalog_and_heals(make_home: MakeHome, tmp_path: Path) -> None:
    vault = tmp_path / "Notes"
    vault.mkdir()
    (vault / "Theirs.md").write_text("The person's zebra.\n")
    home = make_home(vault)
    home.settled()
    home.house.close()
    vault.rename(tmp_path / "away")
    home = make_home(vault)
    assert home.titles("zebra") == ["Theirs"]
    status = home.status()
    assert (status.layers["vault"].state, status.layers["catalog"].state, status.ready) == ("down", "ok", False)
    assert any("not mounted" in warning for warning in status.warnings)
    assert spaces(home)["home"] == c.SpaceView(name="home", vault=str(vault), kind="adopted", mounted=False)
    with pytest.raises(VaultNotMounted):
        home.remember("Not now.")
    assert not vault.exists()
    (tmp_path / "away").rename(vault)
    assert home.remember("Now.", title="Now").path == "Hearthmind/short-term/Now.md"
    wait_for(lambda: not home.status().indexing.active)
    assert home.status().warnings == []
    assert home.titles("zebra", mode="keyword") == ["Theirs"]


def test_a_space_that_does_not_open_is_named_until_it_does(
    make_home: MakeHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = make_home()
    home.remember("Kept.", title="Kept")
    shelf = tmp_path / "Shelf"
    shelf.mkdir()
    add(home, "shelf", shelf)
    home.house.close()
    catalog = home.settings.state / "shelf"
    shutil.rmtree(catalog)
    catalog.write_text("a file where the state should be")
    home = make_home()
    assert home.titles("kept") == ["Kept"]
    assert any("space shelf" in warning for warning in home.status().warnings)
    with pytest.raises(HearthmindError):
        home.recall("kept", space="shelf")
    catalog.unlink()
    assert home.recall("kept", space="shelf").hits == []
    assert home.status().warnings == []


def test_a_store_that_fails_to_close_does_not_keep_the_others_open(make_home: MakeHome) -> None:
    home = make_home()
    space = home.house.space("home")

    def fail() -> None:
        raise OSError(28, "No space left on device")

    space.graph.close = fail  # type: ignore[method-assign]
    home.house.close()
    with pytest.raises(StoreUnavailable):
        space.catalog.counts()
    home = make_home()
    assert home.stats().memories == 0


def test_a_new_space_gets_no_folder_that_is_the_systems_ours_or_anothers(make_home: MakeHome, tmp_path: Path) -> None:
    notes = tmp_path / "Notes"
    (notes / "Inner").mkdir(parents=True)
    alias = tmp_path / "Alias"
    alias.symlink_to(notes)
    home = make_home()
    data = home.settings.data
    add(home, "notes", notes)
    folders: list[Path | str] = [
        "/",
        "/etc",
        "/usr/lib",
        "/tmp",
        "/home",
        "",
        "Notes",
        "../Notes",
        "~/Notes",
        "/no\0pe",
    ]
    folders += [data, data.parent, data / "state", data / "state" / "home", data / "vaults", data / "vaults" / "home"]
    folders += [notes, notes / "Inner", tmp_path, alias, alias / "Inner", tmp_path / "missing", "/" + "a" * 300]
    file = tmp_path / "file.md"
    file.touch()
    for folder in [*folders, file]:
        with pytest.raises((InvalidInput, ValidationError)):
            add(home, "odd", folder)
    assert set(spaces(home)) == {"home", "notes"}
    assert not (data / ".hearthmind").exists()
    assert not (notes / "Inner" / ".hearthmind").exists()


def test_a_folder_among_our_vaults_may_be_adopted_and_no_space_is_made_over_it(make_home: MakeHome) -> None:
    home = make_home()
    restored = home.settings.data / "vaults" / "restored"
    restored.mkdir()
    assert add(home, "old", restored).vault == str(restored)
    with pytest.raises(InvalidInput, match="overlaps"):
        add(home, "restored")
    assert add(home, "new").mounted


@pytest.mark.parametrize("which", ["data", "system", "space"])
def test_the_setting_names_no_folder_that_must_not_be_a_vault(make_home: MakeHome, tmp_path: Path, which: str) -> None:
    shelf = tmp_path / "Shelf"
    shelf.mkdir()
    home = make_home()
    add(home, "shelf", shelf)
    home.house.close()
    vault = {"data": tmp_path, "system": Path(os.sep, "etc"), "space": shelf}[which]
    home = make_home(vault)
    with pytest.raises(InvalidInput):
        home.recall("anything")
    assert home.recall("anything", space="shelf").hits == []
    assert not (tmp_path / ".hearthmind").exists()
    assert any(
        "home" in warning for warning in home.house.do(op.STATUS, OWNER, c.StatusRequest(space="shelf")).warnings
    )


def test_a_key_given_again_says_that_nothing_new_was_stored(make_home: MakeHome) -> None:
    home = make_home()
    captured = c.CaptureRequest(text="Once.", idempotency_key="k")
    logged = c.EpisodesRequest(session="S", entries=[c.EpisodeEntry(role="user", content="Once.")], idempotency_key="k")
    first, again = (home.house.do(op.CAPTURE, OWNER, captured) for _ in range(2))
    assert (first.existing, again.existing, again.ids) == (0, 1, first.ids)
    said, repeated = (home.house.do(op.LOG_EPISODES, OWNER, logged) for _ in range(2))
    assert (said.existing, repeated.existing, repeated.ids) == (0, 1, said.ids)


@pytest.mark.parametrize(
    "fields",
    [
        {"source": {f"k{number}": "v" for number in range(21)}},
        {"source": "x" * 5000},
        {"project": "p" * 201},
        {"tags": ["t"] * 51},
    ],
)
def test_a_memory_holds_a_bounded_amount_beside_its_text(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        c.RememberRequest(content="x", **fields)
