"""Tokens, the anonymous owner, scopes and spaces."""

from pathlib import Path

import pytest
from tests.fakes.house import FakeHouseStore

from hearthmind.errors import InvalidInput, NameTaken, NotAllowed, SpaceNotFound, TokenNotFound
from hearthmind.house import access
from hearthmind.house import contract as c
from hearthmind.house.operations import OPERATIONS, RECALL
from hearthmind.model.house import Caller, Scope
from hearthmind.settings import load_settings

LOOPBACK = ("127.0.0.1", "127.0.0.1:8420")


def test_a_token_is_stored_only_as_its_hash_and_finds_its_caller() -> None:
    store = FakeHouseStore(["home", "family"])
    made = access.add_token(store, c.NewTokenRequest(name="claude", scopes=["read"], spaces=["family"]))
    assert made.token.startswith("hm_")
    assert len(made.token) >= 3 + 43
    assert made.token not in repr(store.tokens())
    assert access.caller_of(made.token, store) == Caller("claude", frozenset({Scope.READ}), ("family",))
    assert store.tokens()[0].last_used is not None
    for wrong in ("", made.token[:-1], made.token + "x", "hm_" + "a" * 10_000, "hm_\udcff"):
        assert access.caller_of(wrong, store) is None


def test_the_first_token_warns_that_the_anonymous_owner_ends_and_the_last_that_it_returns() -> None:
    store = FakeHouseStore()
    first = access.add_token(store, c.NewTokenRequest(name="one"))
    second = access.add_token(store, c.NewTokenRequest(name="two"))
    assert "anonymous owner ends" in (first.warning or "")
    assert second.warning is None
    assert access.revoke_token(store, c.RevokeRequest(id="one")).warning is None
    assert "anonymous owner is back" in (access.revoke_token(store, c.RevokeRequest(id=second.id)).warning or "")
    assert access.caller_of(first.token, store) is None


def test_tokens_that_could_not_work_are_refused() -> None:
    store = FakeHouseStore()
    access.add_token(store, c.NewTokenRequest(name="one"))
    with pytest.raises(NameTaken):
        access.add_token(store, c.NewTokenRequest(name="one"))
    with pytest.raises(SpaceNotFound, match="famly"):
        access.add_token(store, c.NewTokenRequest(name="two", spaces=["famly"]))
    with pytest.raises(InvalidInput, match="scopes"):
        access.add_token(store, c.NewTokenRequest(name="two", scopes=[]))
    with pytest.raises(InvalidInput, match="whole house"):
        access.add_token(store, c.NewTokenRequest(name="two", scopes=["admin"], spaces=["home"]))
    with pytest.raises(TokenNotFound):
        access.revoke_token(store, c.RevokeRequest(id="nobody"))
    assert [token.name for token in access.list_tokens(store, c.TokensRequest()).items] == ["one"]


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["127.0.0.1:8420", "localhost", "LOCALHOST:8420", "[::1]:8420"])
def test_the_anonymous_owner_is_who_asks_from_this_machine(tmp_path: Path, peer: str, host: str) -> None:
    settings = load_settings(data=tmp_path)
    owner = access.anonymous_owner(settings, FakeHouseStore(), peer, host, ["accept", "user-agent"])
    assert owner is not None
    assert owner.scopes == frozenset(Scope)


@pytest.mark.parametrize(
    ("peer", "host"),
    [
        ("192.168.1.7", "127.0.0.1:8420"),
        ("127.0.0.1", "memory.example.org"),
        ("127.0.0.1", "localhost.example.org"),
        ("127.0.0.1", "[::1"),
        ("127.0.0.1", "localhost:80@evil"),
        ("127.0.0.1", None),
        (None, "localhost"),
        ("", "localhost"),
    ],
)
def test_nobody_else_is_the_anonymous_owner(tmp_path: Path, peer: str | None, host: str | None) -> None:
    assert access.anonymous_owner(load_settings(data=tmp_path), FakeHouseStore(), peer, host, []) is None


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded",
        "X-Forwarded-For",
        "x-forwarded-host",
        "X-Forwarded-Proto",
        "X-Original-Forwarded-For",
        "X-Original-Host",
        "X-Real-IP",
        "CF-Connecting-IP",
        "CF-Ray",
        "True-Client-IP",
        "Via",
        "Tailscale-User-Login",
    ],
)
def test_a_request_that_was_passed_on_is_not_the_owner(tmp_path: Path, header: str) -> None:
    assert access.anonymous_owner(load_settings(data=tmp_path), FakeHouseStore(), *LOOPBACK, [header]) is None


def test_a_token_or_a_public_url_ends_the_anonymous_owner(tmp_path: Path) -> None:
    public = load_settings(data=tmp_path, public_url="https://memory.example.org")
    assert access.anonymous_owner(public, FakeHouseStore(), *LOOPBACK, []) is None
    store = FakeHouseStore()
    access.add_token(store, c.NewTokenRequest(name="one"))
    assert access.anonymous_owner(load_settings(data=tmp_path), store, *LOOPBACK, []) is None


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("scope", Scope)
def test_an_operation_needs_its_own_scope(name: str, scope: Scope) -> None:
    operation = OPERATIONS[name]
    caller = Caller("t", frozenset({scope}))
    if scope is operation.scope:
        access.authorise(operation, caller)
    else:
        with pytest.raises(NotAllowed, match=f"scope '{operation.scope.value}'"):
            access.authorise(operation, caller)


def test_the_words_of_a_refusal_name_who_asked() -> None:
    with pytest.raises(NotAllowed, match="'t' has write"):
        access.authorise(RECALL, Caller("t", frozenset({Scope.WRITE})))


def test_a_space_is_the_one_named_else_the_default_else_the_only_one() -> None:
    known = ["home", "family", "work"]
    everyone = Caller("owner", frozenset(Scope))
    bound = Caller("t", frozenset(Scope), ("family",))
    two = Caller("t", frozenset(Scope), ("family", "work"))
    assert access.space_of(everyone, None, known, "home") == "home"
    assert access.space_of(everyone, "work", known, "home") == "work"
    assert access.space_of(bound, None, known, "home") == "family"
    with pytest.raises(InvalidInput, match="family, work"):
        access.space_of(two, None, known, "home")
    with pytest.raises(SpaceNotFound):
        access.space_of(Caller("t", frozenset(Scope), ("gone",)), None, known, "home")


def test_a_space_out_of_reach_looks_like_one_that_does_not_exist() -> None:
    bound = Caller("t", frozenset(Scope), ("family",))
    words = []
    for space in ("home", "nope"):
        with pytest.raises(SpaceNotFound) as refused:
            access.space_of(bound, space, ["home", "family"], "home")
        words.append(refused.value.message.replace(space, "…"))
    assert words[0] == words[1]
