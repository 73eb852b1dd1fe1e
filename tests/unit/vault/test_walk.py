import os
import time
from pathlib import Path

import pytest

from hearthmind.vault.ignore import Ignore
from hearthmind.vault.walk import Findings, Unseen, walk


def found_in(root: Path) -> tuple[list[str], Findings]:
    findings = Findings()
    return [note.path for note in walk(root, Ignore(root), findings)], findings


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def test_every_note_is_found_in_a_fixed_order(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "a/z.MD", "a/a.md", "c/d/e.md", "x.txt", "B.md", ".obsidian/x.md", "y.markdown")
    paths, findings = found_in(tmp_path)
    assert paths == ["B.md", "b.md", "a/a.md", "a/z.MD", "c/d/e.md"]
    assert findings.others == ["x.txt", "y.markdown"]
    assert findings.ignored == [(".obsidian/", "hidden folder")]
    assert findings.problems == []


def test_a_conflict_copy_is_a_problem(tmp_path: Path) -> None:
    put(tmp_path, "x.md", "x.sync-conflict-20260322-101010-ABCDEF.md")
    paths, findings = found_in(tmp_path)
    assert paths == ["x.md"]
    assert "two versions" in findings.problems[0].message
    assert not Unseen(findings.problems).covers(findings.problems[0].path)


def test_symlinks_are_followed_only_where_they_help(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    put(root, "real/a.md", ".shared/b.md")
    put(tmp_path, "outside/secret.md")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "out.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "again").symlink_to("real")
    (root / "again.md").symlink_to("real/a.md")
    (root / "shared").symlink_to(".shared")
    (root / "real/loop").symlink_to("..")
    (root / ".shared/loop").symlink_to("../.shared")
    (root / "nowhere.md").symlink_to("missing.md")
    (root / "self.md").symlink_to("self.md")
    paths, findings = found_in(root)
    assert paths == ["real/a.md", "shared/b.md"]
    assert {problem.path for problem in findings.problems} == {
        "out",
        "out.md",
        "again",
        "again.md",
        "real/loop",
        "nowhere.md",
        "self.md",
    }


def test_names_that_cannot_be_used_are_problems(tmp_path: Path) -> None:
    put(tmp_path, "ok: fine.md", "back\\slash.md", "C:/x.md")
    with open(os.fsencode(tmp_path) + b"/\xff.md", "wb"):  # noqa: PTH123
        pass
    paths, findings = found_in(tmp_path)
    assert paths == ["ok: fine.md"]
    assert len(findings.problems) == 3
    for problem in findings.problems:
        problem.path.encode()


def test_a_folder_that_cannot_be_read_is_not_taken_as_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a/x.md", "locked/y.md", "locked/deep/z.md", "b.md")
    scandir = os.scandir

    def denied(path: str) -> object:
        if path.endswith("/locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    paths, findings = found_in(tmp_path)
    assert paths == ["b.md", "a/x.md"]
    unseen = Unseen(findings.problems)
    assert unseen.covers("locked/y.md")
    assert unseen.covers("locked/deep/z.md")
    assert unseen.covers("locked")
    assert not unseen.covers("a/gone.md")
    assert not unseen.covers("locked2/y.md")


def test_a_vanished_vault_covers_everything(tmp_path: Path) -> None:
    paths, findings = found_in(tmp_path / "gone")
    assert paths == []
    assert Unseen(findings.problems).covers("any/note.md")


def test_a_walk_costs_little_more_than_looking(tmp_path: Path) -> None:
    for folder in range(30):
        (tmp_path / f"f{folder}").mkdir()
        for number in range(100):
            (tmp_path / f"f{folder}/note {number}.md").touch()

    def bare(folder: str) -> int:
        count = 0
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir():
                    count += bare(entry.path)
                else:
                    entry.stat()
                    count += 1
        return count

    ratios = []
    for _ in range(5):
        start = time.perf_counter()
        assert bare(str(tmp_path)) == 3000
        middle = time.perf_counter()
        assert len(found_in(tmp_path)[0]) == 3000
        ratios.append((time.perf_counter() - middle) / (middle - start))
    assert min(ratios) < 6
