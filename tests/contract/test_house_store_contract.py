"""What every store of the house promises (ports.HouseStore)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.house import FakeHouseStore

from hearthmind.model.house import Scope, SpaceRecord, Token
from hearthmind.ports import HouseStore
from hearthmind.stores.house import open_house

NOW = datetime(2026, 3, 22, 9, 30, 15, 123456, tzinfo=UTC)


@pytest.fixture(params=["fake", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HouseStore]:
    opened: HouseStore = FakeHouseStore(()) if request.param == "fake" else open_house(tmp_path / "house.db")
    yield opened
    opened.close()


def token(number: int = 1) -> Token:
    scopes = frozenset({Scope.READ, Scope.WRITE})
    return Token(f"id{number}", f"token {number}", f"{number:064x}", scopes, ("home", "family"), NOW)


def test_an_empty_house(store: HouseStore) -> None:
    assert list(store.spaces()) == []
    assert list(store.tokens()) == []
    assert store.token_by_hash("0" * 64) is None
    assert store.pinned("embedder") is None
    assert store.revoke_token("nobody") is False


def test_spaces_are_kept_and_replaced_by_name(store: HouseStore) -> None:
    store.put_space(SpaceRecord("family", "/srv/famille à nous", "mark-1"))
    store.put_space(SpaceRecord("home", None))
    store.put_space(SpaceRecord("home", None, "mark-2"))
    assert sorted(store.spaces(), key=lambda record: record.name) == [
        SpaceRecord("family", "/srv/famille à nous", "mark-1"),
        SpaceRecord("home", None, "mark-2"),
    ]


def test_a_token_comes_back_as_it_was(store: HouseStore) -> None:
    bound, unbound = token(1), Token("id2", "Клод 🏠", "b" * 64, frozenset(Scope), (), NOW, NOW)
    store.add_token(bound)
    store.add_token(unbound)
    assert sorted(store.tokens(), key=lambda each: each.id) == [bound, unbound]
    assert store.token_by_hash(bound.hash) == bound
    assert store.token_by_hash("b" * 64) == unbound


def test_a_revoked_token_is_gone(store: HouseStore) -> None:
    store.add_token(token(1))
    store.add_token(token(2))
    assert store.revoke_token("id1") is True
    assert store.revoke_token("id1") is False
    assert store.token_by_hash(token(1).hash) is None
    assert list(store.tokens()) == [token(2)]


def test_the_last_use_of_a_token_is_kept(store: HouseStore) -> None:
    store.add_token(token(1))
    store.token_used("id1", NOW + timedelta(hours=1))
    used = store.token_by_hash(token(1).hash)
    assert used is not None
    assert used.last_used == NOW + timedelta(hours=1)


def test_choices_are_pinned(store: HouseStore) -> None:
    store.pin("embedder", "packaged")
    store.pin("embedder", "fastembed:x")
    store.pin("zone", "")
    assert store.pinned("embedder") == "fastembed:x"
    assert store.pinned("zone") == ""
