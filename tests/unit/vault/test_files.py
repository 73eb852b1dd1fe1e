import os
import stat
import threading
from pathlib import Path

import pytest

from hearthmind.errors import (
    InvalidInput,
    MemoryNotFound,
    NameTaken,
    NoteChangedSinceRead,
    NoteUnreadable,
    PathOutsideVault,
    VaultNotMounted,
    VaultNotWritable,
)
from hearthmind.vault import durable
from hearthmind.vault.files import VaultFiles, version_of
from hearthmind.vault.mark import claim


@pytest.fixture(params=["renameat2", "links", "neither"])
def files(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VaultFiles:
    """A vault on a file system that can exchange, on one with hard links alone, on one with neither."""
    root = tmp_path / "vault"
    claim(root)
    if request.param != "renameat2":
        monkeypatch.setattr(durable, "_renameat2", lambda: None)
    if request.param == "neither":

        def no_links(*_: object, **__: object) -> None:
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(os, "link", no_links)
    return VaultFiles(root)


@pytest.fixture
def plain(tmp_path: Path) -> VaultFiles:
    claim(tmp_path / "vault")
    return VaultFiles(tmp_path / "vault")


def names_in(root: Path) -> set[str]:
    return {one.relative_to(root).as_posix() for one in root.rglob("*") if one.is_file()}


def test_the_version_is_what_git_says() -> None:
    assert version_of(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert version_of(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_a_created_file_is_there_with_its_folders(files: VaultFiles) -> None:
    version = files.create("a/b/Né.md", b"one")
    assert files.read("a/b/Né.md") == b"one"
    assert version == version_of(b"one")
    assert names_in(files.root) == {"a/b/Né.md", ".hearthmind/vault.json"}


def test_create_never_replaces(files: VaultFiles) -> None:
    files.create("a.md", b"one")
    with pytest.raises(NameTaken):
        files.create("a.md", b"two")
    with pytest.raises(NameTaken):
        files.create("a.md/b.md", b"two")
    assert files.read("a.md") == b"one"
    assert names_in(files.root) == {"a.md", ".hearthmind/vault.json"}


def test_exchange_replaces_what_was_read_and_keeps_the_mode(files: VaultFiles) -> None:
    files.create("a.md", b"one")
    (files.root / "a.md").chmod(0o640)
    assert files.exchange("a.md", version_of(b"one"), b"two") == version_of(b"two")
    assert files.read("a.md") == b"two"
    assert stat.S_IMODE((files.root / "a.md").stat().st_mode) == 0o640
    assert names_in(files.root) == {"a.md", ".hearthmind/vault.json"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_exchange_keeps_the_owner(plain: VaultFiles) -> None:
    plain.create("a.md", b"one")
    os.chown(plain.root / "a.md", 1234, 2345)
    plain.exchange("a.md", version_of(b"one"), b"two")
    found = (plain.root / "a.md").stat()
    assert (found.st_uid, found.st_gid) == (1234, 2345)


def test_exchange_refuses_a_note_that_changed(files: VaultFiles) -> None:
    files.create("a.md", b"theirs")
    with pytest.raises(NoteChangedSinceRead) as refused:
        files.exchange("a.md", version_of(b"one"), b"ours")
    assert refused.value.extra["version"] == version_of(b"theirs")
    assert files.read("a.md") == b"theirs"
    with pytest.raises(MemoryNotFound):
        files.exchange("gone.md", version_of(b"one"), b"ours")
    assert names_in(files.root) == {"a.md", ".hearthmind/vault.json"}


def test_an_edit_that_slips_in_before_the_exchange_is_put_back(
    plain: VaultFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.create("a.md", b"one")
    swap = durable.swap

    def late_edit(one: Path, other: Path) -> bool:
        monkeypatch.setattr(durable, "swap", swap)
        (plain.root / "a.md").write_bytes(b"the person's")
        return swap(one, other)

    monkeypatch.setattr(durable, "swap", late_edit)
    with pytest.raises(NoteChangedSinceRead) as refused:
        plain.exchange("a.md", version_of(b"one"), b"ours")
    assert refused.value.extra["version"] == version_of(b"the person's")
    assert plain.read("a.md") == b"the person's"
    assert names_in(plain.root) == {"a.md", ".hearthmind/vault.json"}


@pytest.mark.parametrize("then", ["replaced", "deleted"])
def test_two_edits_that_slip_in_are_both_kept(plain: VaultFiles, monkeypatch: pytest.MonkeyPatch, then: str) -> None:
    plain.create("a.md", b"one")
    swap = durable.swap

    def busy(one: Path, other: Path) -> bool:
        monkeypatch.setattr(durable, "swap", swap)
        (plain.root / "a.md").write_bytes(b"first edit")
        swap(one, other)
        if then == "replaced":
            (plain.root / "a.md").write_bytes(b"second edit")
        else:
            (plain.root / "a.md").unlink()
        return True

    monkeypatch.setattr(durable, "swap", busy)
    with pytest.raises((NoteChangedSinceRead, MemoryNotFound)):
        plain.exchange("a.md", version_of(b"one"), b"ours")
    assert plain.read(".hearthmind/trash/a.md") == b"first edit"
    assert plain.find("a.md") == (b"second edit" if then == "replaced" else None)


def test_of_many_writers_one_wins_each_version(plain: VaultFiles) -> None:
    plain.create("a.md", b"0")
    other = VaultFiles(plain.root)
    wins: list[bytes] = []
    for turn in range(25):
        before = plain.read("a.md")
        barrier = threading.Barrier(4)

        def write(number: int, before: bytes = before, barrier: threading.Barrier = barrier, turn: int = turn) -> None:
            raw = b"%d.%d" % (turn, number)
            barrier.wait()
            try:
                (plain, other)[number % 2].exchange("a.md", version_of(before), raw)
            except NoteChangedSinceRead:
                return
            wins.append(raw)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert len(wins) == turn + 1
        assert plain.read("a.md") == wins[-1]
    assert names_in(plain.root) == {"a.md", ".hearthmind/vault.json"}


def test_move_keeps_the_bytes_and_never_replaces(files: VaultFiles) -> None:
    files.create("a.md", b"one")
    files.create("b.md", b"two")
    with pytest.raises(NameTaken):
        files.move("a.md", "b.md")
    files.move("a.md", "sub/folder/c.md")
    assert files.read("sub/folder/c.md") == b"one"
    assert files.find("a.md") is None
    with pytest.raises(MemoryNotFound):
        files.move("a.md", "other/d.md")
    assert not (files.root / "other").exists()


def test_the_trash_keeps_everything(files: VaultFiles) -> None:
    for text in (b"one", b"two", b"three"):
        files.create("sub/a.md", text)
        files.remove_to_trash("sub/a.md")
    assert files.read(".hearthmind/trash/sub/a.md") == b"one"
    assert files.read(".hearthmind/trash/sub/a 2.md") == b"two"
    assert files.read(".hearthmind/trash/sub/a 3.md") == b"three"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x.md",
        "a/../../x.md",
        "a/./b.md",
        "a//b.md",
        "a\0.md",
        "a\\b.md",
        "C:/x.md",
        "a/",
        "\udcff.md",
    ],
)
def test_a_path_that_is_not_inside_is_refused(plain: VaultFiles, path: str) -> None:
    for action in (
        lambda: plain.read(path),
        lambda: plain.create(path, b"x"),
        lambda: plain.exchange(path, "", b"x"),
        lambda: plain.remove_to_trash(path),
        lambda: plain.move(path, "ok.md"),
    ):
        with pytest.raises(PathOutsideVault):
            action()
    plain.create("from.md", b"x")
    with pytest.raises(PathOutsideVault):
        plain.move("from.md", path)


def test_symlinks_that_lead_out_are_refused(plain: VaultFiles, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (plain.root / "folder").symlink_to(outside)
    (plain.root / "file.md").symlink_to(outside / "secret.md")
    (plain.root / "new.md").symlink_to(outside / "new.md")
    (plain.root / "loop.md").symlink_to("loop.md")
    for path in ("folder/secret.md", "file.md", "folder/sub/new.md", "new.md"):
        with pytest.raises(PathOutsideVault):
            plain.read(path)
        with pytest.raises(PathOutsideVault):
            plain.create(path, b"x")
        with pytest.raises(PathOutsideVault):
            plain.exchange(path, version_of(b"secret"), b"x")
    with pytest.raises(PathOutsideVault):
        plain.read("loop.md")
    assert {one.name for one in outside.iterdir()} == {"secret.md"}
    assert (outside / "secret.md").read_text() == "secret"


def test_a_symlink_from_inside_to_inside_is_fine(plain: VaultFiles) -> None:
    plain.create("real/a.md", b"one")
    (plain.root / "way").symlink_to("real")
    (plain.root / "link.md").symlink_to("real/a.md")
    plain.exchange("link.md", version_of(b"one"), b"two")
    plain.exchange("way/a.md", version_of(b"two"), b"three")
    assert plain.read("real/a.md") == b"three"
    assert (plain.root / "link.md").is_symlink()


def test_a_vault_may_itself_be_reached_through_a_symlink(plain: VaultFiles, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(plain.root)
    aliased = VaultFiles(tmp_path / "alias")
    aliased.create("a.md", b"one")
    assert plain.read("a.md") == b"one"


def test_odd_files_are_refused_without_hanging(plain: VaultFiles) -> None:
    os.mkfifo(plain.root / "pipe.md")
    (plain.root / "folder.md").mkdir()
    for path in ("pipe.md", "folder.md"):
        with pytest.raises(NoteUnreadable):
            plain.read(path)
    with pytest.raises(InvalidInput):
        plain.create("a" * 300 + ".md", b"x")


def test_nothing_is_written_where_the_mark_is_missing(plain: VaultFiles) -> None:
    plain.create("a.md", b"one")
    (plain.root / ".hearthmind/vault.json").unlink()
    for action in (
        lambda: plain.create("new/b.md", b"x"),
        lambda: plain.exchange("a.md", version_of(b"one"), b"x"),
        lambda: plain.move("a.md", "b.md"),
        lambda: plain.remove_to_trash("a.md"),
        plain.rescue_temporaries,
    ):
        with pytest.raises(VaultNotMounted):
            action()
    assert names_in(plain.root) == {"a.md"}


def test_reading_from_a_vanished_vault_is_no_missing_note(tmp_path: Path) -> None:
    with pytest.raises(VaultNotMounted):
        VaultFiles(tmp_path / "nowhere").read("a.md")


def test_what_a_killed_process_left_is_rescued(plain: VaultFiles) -> None:
    displaced = plain.root / "sub/.hearthmind-0123456789abcdef.tmp"
    displaced.parent.mkdir()
    displaced.write_bytes(b"perhaps the only copy")
    record = plain.root / ".hearthmind/.hearthmind-0123456789abcdef.tmp"
    record.write_bytes(b"{")
    stranger = plain.root / "sub/.other.tmp"
    stranger.write_bytes(b"theirs")
    assert plain.rescue_temporaries() == []
    assert displaced.exists()
    assert plain.rescue_temporaries(older_than_seconds=-60) == [".hearthmind/trash/sub/recovered 0123456789abcdef.md"]
    assert plain.read(".hearthmind/trash/sub/recovered 0123456789abcdef.md") == b"perhaps the only copy"
    assert not displaced.exists()
    assert not record.exists()
    assert stranger.exists()


def test_stat_tells_size_time_and_inode(plain: VaultFiles) -> None:
    plain.create("a.md", b"one")
    found = plain.stat("a.md")
    assert found is not None
    assert (found.path, found.size) == ("a.md", 3)
    assert plain.stat("b.md") is None


def test_a_change_of_case_alone_is_a_move_where_case_does_not_count(
    plain: VaultFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.create("note.md", b"one")

    def there_already(source: Path, target: Path) -> None:
        raise FileExistsError(17, "File exists")

    monkeypatch.setattr(durable, "place", there_already)
    monkeypatch.setattr(Path, "samefile", lambda _self, _other: True)
    plain.move("note.md", "Note.md")
    assert names_in(plain.root) == {"Note.md", ".hearthmind/vault.json"}


def test_two_hard_links_are_two_files(plain: VaultFiles) -> None:
    plain.create("note.md", b"one")
    (plain.root / "Note.md").hardlink_to(plain.root / "note.md")
    with pytest.raises(NameTaken):
        plain.move("note.md", "Note.md")
    assert names_in(plain.root) == {"note.md", "Note.md", ".hearthmind/vault.json"}


def test_a_note_that_is_read_only_is_left_alone(plain: VaultFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    plain.create("a.md", b"one")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(VaultNotWritable):
        plain.exchange("a.md", version_of(b"one"), b"two")
    assert names_in(plain.root) == {"a.md", ".hearthmind/vault.json"}


def test_another_vault_in_its_place_is_not_written_to(tmp_path: Path) -> None:
    root, other = tmp_path / "vault", tmp_path / "other"
    files = VaultFiles(root, claim(root).id)
    version = files.create("a.md", b"mine")
    claim(other)
    (other / "a.md").write_bytes(b"mine")
    root.rename(tmp_path / "away")
    other.rename(root)
    with pytest.raises(VaultNotMounted):
        files.create("b.md", b"new")
    with pytest.raises(VaultNotMounted):
        files.exchange("a.md", version, b"new")
    with pytest.raises(VaultNotMounted):
        files.move("a.md", "c.md")
    with pytest.raises(VaultNotMounted):
        files.remove_to_trash("a.md")
    assert sorted(path.name for path in root.iterdir()) == [".hearthmind", "a.md"]
