"""Faults of the file system, injected where they happen."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearthmind.errors import DiskFull, HearthmindError, VaultNotWritable
from hearthmind.vault.files import VaultFiles, version_of
from hearthmind.vault.identity import Identities, Identity, new_id
from hearthmind.vault.ignore import Ignore
from hearthmind.vault.mark import claim
from hearthmind.vault.records import Records
from hearthmind.vault.walk import Findings, walk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    root = tmp_path / "disk"
    root.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", root], capture_output=True)
    if made.returncode:
        pytest.skip("NOT TESTED: a tmpfs cannot be mounted here, so a full disk cannot be tried")
    try:
        yield root
    finally:
        subprocess.run(["mount", "-o", "remount,rw", root], capture_output=True)
        subprocess.run(["umount", root], check=True)


def snapshot(root: Path) -> dict[str, bytes | None]:
    return {one.relative_to(root).as_posix(): one.read_bytes() if one.is_file() else None for one in root.rglob("*")}


def test_on_a_full_disk_nothing_is_half_written(small_disk: Path) -> None:
    claim(small_disk)
    files, records = VaultFiles(small_disk), Records(small_disk)
    files.create("a.md", b"one")
    records.append("log.jsonl", [{"n": 1}])
    before = snapshot(small_disk)
    huge = b"x" * 200_000
    for action in (
        lambda: files.create("new/b.md", huge),
        lambda: files.exchange("a.md", version_of(b"one"), huge),
        lambda: records.append("log.jsonl", [{"text": "y" * 200_000}]),
        lambda: records.write_json("big.json", "z" * 200_000),
    ):
        with pytest.raises(DiskFull, match="Free some space"):
            action()
        assert snapshot(small_disk) == before
    files.exchange("a.md", version_of(b"one"), b"two")


def test_a_read_only_vault_says_so_and_stays_as_it_is(small_disk: Path) -> None:
    claim(small_disk)
    files = VaultFiles(small_disk)
    files.create("a.md", b"one")
    identities = Identities(small_disk)
    before = snapshot(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for action in (
        lambda: files.create("new/b.md", b"x"),
        lambda: files.exchange("a.md", version_of(b"one"), b"x"),
        lambda: files.move("a.md", "b.md"),
        lambda: files.remove_to_trash("a.md"),
        lambda: identities.record([Identity(new_id(), "a.md")]),
    ):
        with pytest.raises(VaultNotWritable, match="writable"):
            action()
    assert files.read("a.md") == b"one"
    assert snapshot(small_disk) == before


def test_a_folder_on_another_file_system_is_moved_into_by_copy(small_disk: Path, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    claim(root)
    (root / "mounted").mkdir()
    bound = subprocess.run(["mount", "--bind", small_disk, root / "mounted"], capture_output=True)
    if bound.returncode:
        pytest.skip("NOT TESTED: no bind mounts here")
    try:
        files = VaultFiles(root)
        files.create("mounted/a.md", b"one")
        assert files.remove_to_trash("mounted/a.md") == ".hearthmind/trash/mounted/a.md"
        files.create("b.md", b"two")
        files.move("b.md", "mounted/b.md")
        assert files.read(".hearthmind/trash/mounted/a.md") == b"one"
        assert files.read("mounted/b.md") == b"two"
        assert sorted(os.listdir(root / "mounted")) == ["b.md"]  # noqa: PTH208
    finally:
        subprocess.run(["umount", root / "mounted"], check=True)


@pytest.mark.parametrize(
    ("code", "situation"),
    [
        (errno.EDQUOT, DiskFull),
        (errno.EACCES, VaultNotWritable),
        (errno.EIO, VaultNotWritable),
    ],
)
def test_a_write_that_cannot_be_made_durable_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, situation: type[HearthmindError]
) -> None:
    claim(tmp_path)
    files = VaultFiles(tmp_path)
    files.create("a.md", b"one")
    before = snapshot(tmp_path)

    def fails(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(situation):
        files.create("sub/b.md", b"x")
    with pytest.raises(situation):
        files.exchange("a.md", version_of(b"one"), b"x")
    monkeypatch.undo()
    assert snapshot(tmp_path) == before


def test_a_process_killed_while_it_exchanges_leaves_a_whole_note(tmp_path: Path) -> None:
    claim(tmp_path)
    files = VaultFiles(tmp_path)
    texts = [bytes([letter]) * 50_000 for letter in b"ab"]
    files.create("a.md", texts[0])
    script = textwrap.dedent(
        """
        import itertools, sys
        from pathlib import Path
        from hearthmind.vault.files import VaultFiles, version_of
        files = VaultFiles(Path(sys.argv[1]))
        texts = [b"a" * 50_000, b"b" * 50_000]
        now = texts.index(files.read("a.md"))
        print("ready", flush=True)
        for turn in itertools.count(now):
            files.exchange("a.md", version_of(texts[turn % 2]), texts[(turn + 1) % 2])
        """
    )
    for wait in (0.01, 0.03, 0.06):
        process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert files.read("a.md") in texts
        assert [note.path for note in walk(tmp_path, Ignore(tmp_path), Findings())] == ["a.md"]
    files.rescue_temporaries(older_than_seconds=-60)
    assert {one.name for one in tmp_path.iterdir()} == {"a.md", ".hearthmind"}
