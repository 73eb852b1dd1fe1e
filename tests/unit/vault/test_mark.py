import os
import threading
from pathlib import Path

import pytest

from hearthmind.errors import VaultNotMounted
from hearthmind.vault.mark import MARK_PATH, Kind, Mark, Mount, claim, mounted, require_mark


def test_an_empty_folder_is_ours(tmp_path: Path) -> None:
    for litter in (".obsidian", ".stfolder", ".git", "lost+found"):
        (tmp_path / litter).mkdir()
    (tmp_path / ".DS_Store").touch()
    assert claim(tmp_path).kind is Kind.OURS
    assert claim(tmp_path / "not" / "there").kind is Kind.OURS


@pytest.mark.parametrize("name", ["Welcome.md", "photo.jpg", "Folder/"])
def test_a_folder_with_anything_in_it_is_adopted(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir() if name.endswith("/") else (tmp_path / name).touch()
    assert claim(tmp_path).kind is Kind.ADOPTED


def test_the_mark_is_decided_once(tmp_path: Path) -> None:
    first = claim(tmp_path)
    raw = (tmp_path / MARK_PATH).read_bytes()
    (tmp_path / "note.md").touch()
    assert claim(tmp_path) == first == mounted(tmp_path, first.id)
    assert (tmp_path / MARK_PATH).read_bytes() == raw


def test_two_who_claim_at_once_get_one_mark(tmp_path: Path) -> None:
    marks: list[Mark] = []
    barrier = threading.Barrier(6)

    def go() -> None:
        barrier.wait()
        marks.append(claim(tmp_path / "vault"))

    threads = [threading.Thread(target=go) for _ in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(marks) == 6
    assert len({mark.id for mark in marks}) == 1
    assert [one.name for one in (tmp_path / "vault/.hearthmind").iterdir()] == ["vault.json"]


def test_a_known_vault_without_its_mark_is_not_mounted(tmp_path: Path) -> None:
    for root in (tmp_path / "gone", tmp_path):
        with pytest.raises(VaultNotMounted, match="not mounted"):
            mounted(root)
        with pytest.raises(VaultNotMounted):
            require_mark(root)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b'{"kind": "mine"}', b'{"kind":"ours","id":"x","created":"y","schema":{}}']
)
def test_a_damaged_mark_is_not_mounted_and_not_rewritten(tmp_path: Path, raw: bytes) -> None:
    claim(tmp_path)
    (tmp_path / MARK_PATH).write_bytes(raw)
    with pytest.raises(VaultNotMounted, match="damaged"):
        mounted(tmp_path)
    with pytest.raises(VaultNotMounted, match="damaged"):
        claim(tmp_path)
    assert (tmp_path / MARK_PATH).read_bytes() == raw


def test_another_vault_at_the_same_place_is_not_mounted(tmp_path: Path) -> None:
    claim(tmp_path)
    with pytest.raises(VaultNotMounted, match="another vault"):
        mounted(tmp_path, "01JQ2M0000000000000000000A")


def test_records_without_a_mark_are_never_claimed_anew(tmp_path: Path) -> None:
    (tmp_path / ".hearthmind").mkdir()
    (tmp_path / ".hearthmind/identity.jsonl").touch()
    with pytest.raises(VaultNotMounted, match="restored"):
        claim(tmp_path)
    (tmp_path / ".hearthmind/identity.jsonl").rename(tmp_path / ".hearthmind/.hearthmind-0123456789abcdef.tmp")
    assert claim(tmp_path).kind is Kind.OURS


def test_another_vault_in_its_place_is_noticed_at_the_next_write(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    mount = Mount(root, claim(root).id)
    mount.require()
    mount.require()
    claim(tmp_path / "other")
    root.rename(tmp_path / "away")
    with pytest.raises(VaultNotMounted):
        mount.require()
    (tmp_path / "other").rename(root)
    for _ in range(2):
        with pytest.raises(VaultNotMounted, match="another vault"):
            mount.require()
    root.rename(tmp_path / "other")
    (tmp_path / "away").rename(root)
    mount.require()


def test_a_mark_that_was_spoilt_is_noticed_and_its_return_too(tmp_path: Path) -> None:
    mount = Mount(tmp_path, claim(tmp_path).id)
    mount.require()
    path = tmp_path / MARK_PATH
    raw, before = path.read_bytes(), path.stat()
    path.write_bytes(b"garbage")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(VaultNotMounted, match="damaged"):
        mount.require()
    path.write_bytes(raw)
    mount.require()
