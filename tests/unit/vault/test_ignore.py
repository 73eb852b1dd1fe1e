import json
from pathlib import Path

import pytest

from hearthmind.vault.ignore import Ignore, is_conflict_copy


@pytest.mark.parametrize(
    "path",
    [
        ".hearthmind/x.md",
        ".obsidian/x.md",
        ".trash/x.md",
        ".git/x.md",
        ".stversions/a/x.md",
        "a/.hidden/x.md",
        ".x.md",
        "a/.syncthing.x.md.tmp",
        "~syncthing~x.md.tmp",
        "x.sync-conflict-20260322-101010-ABCDEF.md",
        ".DS_Store",
        "a/.hearthmind-0123456789abcdef.tmp",
        "web/node_modules/readme.md",
    ],
)
def test_hidden_files_and_those_of_sync_tools_are_never_read(tmp_path: Path, path: str) -> None:
    assert Ignore(tmp_path).reason(path)


@pytest.mark.parametrize("path", ["x.md", "a/b/c.md", "node_modules.md", "a.b/x.md", "~x.md"])
def test_notes_are_read(tmp_path: Path, path: str) -> None:
    assert Ignore(tmp_path).reason(path) is None


def test_the_ignore_file_speaks_gitignore(tmp_path: Path) -> None:
    (tmp_path / ".hearthmindignore").write_bytes(
        b"\xef\xbb\xbfdrafts/\r\n# words\r\n*.tmp.md\r\n!keep.tmp.md\r\n/top.md\r\n"
    )
    ignore = Ignore(tmp_path)
    assert ignore.reason("drafts/x.md") == "excluded in .hearthmindignore: drafts/"
    assert ignore.reason("a/drafts/b/x.md")
    assert ignore.reason("drafts", is_dir=True)
    assert ignore.reason("drafts") is None
    assert ignore.reason("a/b.tmp.md") == "excluded in .hearthmindignore: *.tmp.md"
    assert ignore.reason("a/keep.tmp.md") is None
    assert ignore.reason("top.md")
    assert ignore.reason("a/top.md") is None
    assert ignore.problems == []


def test_obsidians_excluded_files_count(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    filters = ["Archive/", "/secret.*\\.md$/", "/^[^.]*$/", "/(/", "", "/"]
    (tmp_path / ".obsidian/app.json").write_text(json.dumps({"userIgnoreFilters": filters}))
    ignore = Ignore(tmp_path)
    assert ignore.reason("Archive/old/x.md") == "excluded in Obsidian: Archive/"
    assert ignore.reason("archive/x.md")
    assert ignore.reason("My Archive/x.md") is None
    assert ignore.reason("a/Secret plan.md") == "excluded in Obsidian: /secret.*\\.md$/"
    assert ignore.reason("Projects/x.md") is None
    assert [problem.path for problem in ignore.problems] == [".obsidian/app.json"]


@pytest.mark.parametrize("raw", [b"{", b"[]", b'{"userIgnoreFilters": 3}', b"\xff\xfe", b"[" * 100_000])
def test_broken_settings_of_obsidian_never_stop_us(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / ".obsidian/app.json").write_bytes(raw)
    assert Ignore(tmp_path).reason("x.md") is None


def test_a_broken_pattern_is_reported_and_the_rest_counts(tmp_path: Path) -> None:
    (tmp_path / ".hearthmindignore").write_bytes(b"!\n[z-a]\n\xff\xfe\ngood.md\n\\\n")
    ignore = Ignore(tmp_path)
    assert ignore.reason("good.md")
    assert [problem.line for problem in ignore.problems] == [1, 2, 5]


def test_rules_are_read_again_when_they_change(tmp_path: Path) -> None:
    ignore = Ignore(tmp_path)
    assert ignore.fresh() is ignore
    (tmp_path / ".hearthmindignore").write_text("x.md\n")
    assert ignore.fresh().reason("x.md")


def test_conflict_copies_are_recognised() -> None:
    assert is_conflict_copy("Note.sync-conflict-20260322-101010-ABCDEF.md")
    assert not is_conflict_copy("How to solve sync-conflict.md")
