"""`adopt --dry-run`, which needs no house. Adopting itself is in tests/e2e/test_hosts.py."""

import os
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "A.md").write_text("# A\n")
    (vault / "photo.png").write_bytes(b"x")
    (vault / ".trash").mkdir()
    return vault


def test_dry_run_tells_what_would_be_read_ignored_and_created(run: Any, vault: Path, environment: Path) -> None:
    before = sorted(os.walk(vault))
    ran = run("adopt", str(vault), "--dry-run")
    assert ran.code == 0, ran.err
    assert "would be adopted" in ran.out
    assert "Read: 1 notes" in ran.out
    assert "A.md" in ran.out
    assert "Ignored, " in ran.out
    assert "  .hearthmind/vault.json" in ran.out
    assert sorted(os.walk(vault)) == before
    assert not environment.exists()


def test_dry_run_in_json(run: Any, vault: Path) -> None:
    answer = run("adopt", str(vault), "--dry-run", "--json").json
    assert answer["kind"] == "adopted"
    assert answer["notes"] == {"count": 1, "examples": ["A.md"]}


def test_a_folder_that_is_not_there_is_named(run: Any, tmp_path: Path) -> None:
    ran = run("adopt", str(tmp_path / "nope"), "--dry-run")
    assert ran.code == 1
    assert "is not a folder" in ran.err
