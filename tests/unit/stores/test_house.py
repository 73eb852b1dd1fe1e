"""`house.db` as a store of record: rights, damage, versions, several processes."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from hearthmind.errors import NameTaken, StoreUnavailable
from hearthmind.model.house import Scope, SpaceRecord, Token
from hearthmind.stores import house as room
from hearthmind.stores.house import open_house

NOW = datetime(2026, 3, 22, 9, 30, tzinfo=UTC)


def token(number: int = 1, name: str | None = None) -> Token:
    return Token(f"id{number}", name or f"token {number}", f"{number:064x}", frozenset({Scope.READ}), ("home",), NOW)


def edited(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def filled(path: Path) -> None:
    store = open_house(path)
    store.put_space(SpaceRecord("home", None, "mark"))
    store.add_token(token())
    store.close()


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        path = tmp_path / "data" / "house.db"
        store = open_house(path)
        store.pin("a", "b")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    files = list(path.parent.iterdir())
    assert {file.name for file in files} >= {"house.db", "house.db-wal"}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    store.close()
    path.chmod(0o644)
    open_house(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_everything_is_there_after_reopening(tmp_path: Path) -> None:
    filled(tmp_path / "house.db")
    assert [file.name for file in tmp_path.iterdir()] == ["house.db"]
    store = open_house(tmp_path / "house.db")
    assert list(store.spaces()) == [SpaceRecord("home", None, "mark")]
    assert list(store.tokens()) == [token()]
    store.close()


def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from hearthmind.stores.house import open_house
store = open_house(Path({str(tmp_path / "house.db")!r}))
store.pin("embedder", "x")
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    store = open_house(tmp_path / "house.db")
    assert store.pinned("embedder") == "x"
    store.close()


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def overwritten(content: bytes) -> bytes:
    return b"\x5a" * len(content)


def scrambled_pages(content: bytes) -> bytes:
    return content[:4096] + b"\x5a" * (len(content) - 4096)


def emptied(_: bytes) -> bytes:
    return b""


@pytest.mark.parametrize("damage", [truncated, overwritten, scrambled_pages, emptied])
def test_a_damaged_file_is_reported_and_left_as_it_is(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "house.db"
    filled(path)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="hearthmind backup restore"):
            open_house(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if file.suffix == ".db"] == ["house.db"]


def test_a_lost_file_whose_log_is_there_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "house.db-wal").write_bytes(b"something")
    with pytest.raises(StoreUnavailable, match=r"house\.db-wal"):
        open_house(tmp_path / "house.db")
    assert not (tmp_path / "house.db").exists()


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    edited(tmp_path / "house.db", "CREATE TABLE theirs (x)")
    before = (tmp_path / "house.db").read_bytes()
    with pytest.raises(StoreUnavailable, match="another program"):
        open_house(tmp_path / "house.db")
    assert (tmp_path / "house.db").read_bytes() == before


def test_a_newer_schema_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "house.db"
    filled(path)
    edited(path, "PRAGMA user_version = 99")
    with pytest.raises(StoreUnavailable, match=r"newer Hearthmind \(schema 99.*upgrade"):
        open_house(path)


def test_an_older_schema_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "house.db"
    filled(path)
    monkeypatch.setattr(room, "_SCHEMAS", (*room._SCHEMAS, ("CREATE TABLE later (x TEXT) STRICT",)))
    for _ in range(2):
        store = open_house(path)
        assert list(store.tokens()) == [token()]
        store.close()
    edited(path, "INSERT INTO later VALUES ('there')")


def test_a_failed_migration_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "house.db"
    filled(path)
    with monkeypatch.context() as patch:
        patch.setattr(room, "_SCHEMAS", (*room._SCHEMAS, ("CREATE TABLE later (x)", "nonsense")))
        with pytest.raises(StoreUnavailable, match="nonsense"):
            open_house(path)
    open_house(path).close()


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        open_house(tmp_path / "file" / "house.db")


def test_names_are_unique_among_tokens_that_are_not_revoked(tmp_path: Path) -> None:
    store = open_house(tmp_path / "house.db")
    store.add_token(token(1, "laptop"))
    with pytest.raises(NameTaken, match="laptop"):
        store.add_token(token(2, "laptop"))
    assert list(store.tokens()) == [token(1, "laptop")]
    store.revoke_token("id1")
    store.add_token(token(2, "laptop"))
    assert list(store.tokens()) == [token(2, "laptop")]
    for again in (token(2, "other"), replace(token(3), hash=token(1).hash)):
        with pytest.raises(ValueError, match="exists"):
            store.add_token(again)
    store.close()


def test_use_is_recorded_once_a_minute_and_never_backwards(tmp_path: Path) -> None:
    store = open_house(tmp_path / "house.db")
    store.add_token(token(1))
    store.add_token(token(2))

    def last(number: int = 1) -> datetime | None:
        found = store.token_by_hash(token(number).hash)
        assert found is not None
        return found.last_used

    store.token_used("id1", NOW)
    store.token_used("id1", NOW + timedelta(seconds=59))
    store.token_used("id2", NOW + timedelta(seconds=59))
    assert last() == NOW
    assert last(2) == NOW + timedelta(seconds=59)
    store.token_used("id1", (NOW + timedelta(seconds=60)).astimezone(timezone(timedelta(hours=5))))
    assert last() == NOW + timedelta(seconds=60)
    other = open_house(tmp_path / "house.db")
    other.token_used("id1", NOW)
    assert last() == NOW + timedelta(seconds=60)
    store.token_used("nobody", NOW)
    other.close()
    store.close()


def test_a_use_that_cannot_be_recorded_refuses_nobody(tmp_path: Path) -> None:
    store = open_house(tmp_path / "house.db")
    store.close()
    store.token_used("id1", NOW)


def test_times_without_a_zone_are_refused(tmp_path: Path) -> None:
    store = open_house(tmp_path / "house.db")
    with pytest.raises(ValueError, match="zone"):
        store.add_token(replace(token(), created=NOW.replace(tzinfo=None)))
    assert not store.tokens()
    store.close()


def test_a_scope_of_a_later_version_allows_nothing(tmp_path: Path) -> None:
    filled(tmp_path / "house.db")
    edited(tmp_path / "house.db", """UPDATE tokens SET scopes = '["read", "rule-the-world"]'""")
    store = open_house(tmp_path / "house.db")
    assert store.tokens()[0].scopes == {Scope.READ}
    store.close()


def test_threads_and_processes_write_together(tmp_path: Path) -> None:
    path = tmp_path / "house.db"
    code = """
import sys
from pathlib import Path
from hearthmind.stores.house import open_house
store = open_house(Path(sys.argv[1]))
for number in range(20):
    store.pin(f"{sys.argv[2]} {number}", "x")
store.close()
"""
    children = [subprocess.Popen([sys.executable, "-c", code, str(path), f"child{each}"]) for each in range(3)]
    store = open_house(path)

    def write(name: str) -> None:
        for number in range(20):
            store.pin(f"{name} {number}", "x")

    threads = [threading.Thread(target=write, args=(f"thread{each}",)) for each in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [child.wait(60) for child in children] == [0, 0, 0]
    writers = [f"child{each}" for each in range(3)] + [f"thread{each}" for each in range(4)]
    assert all(store.pinned(f"{writer} {number}") == "x" for writer in writers for number in range(20))
    store.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_house(tmp_path / "house.db")
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.tokens()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.pin("a", "b")
