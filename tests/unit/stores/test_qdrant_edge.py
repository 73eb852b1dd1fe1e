"""The folder of a Qdrant Edge index: kills, other processes, damage, other dimensions."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as engine
from numpy.typing import NDArray

from hearthmind.errors import StoreUnavailable
from hearthmind.stores import qdrant_edge
from hearthmind.stores.qdrant_edge import QdrantEdgeIndex, open_edge_index

SIZE = 16


def some_vectors(count: int) -> NDArray[np.float32]:
    return np.random.default_rng(5).standard_normal((count, SIZE)).astype(np.float32)


def opened(folder: Path, dimensions: int = SIZE) -> QdrantEdgeIndex:
    index, warnings = open_edge_index(folder, dimensions)
    assert warnings == []
    return index


def filled(folder: Path, count: int = 20) -> None:
    index = opened(folder)
    index.upsert(range(1, count + 1), some_vectors(count))
    index.close()


def python(code: str, folder: Path) -> subprocess.Popen[str]:
    """Another process with an open index named `index`, and `rows` to store."""
    prepared = f"""
import numpy as np, os, signal, sys
from pathlib import Path
from hearthmind.stores.qdrant_edge import open_edge_index
index, warnings = open_edge_index(Path({str(folder)!r}), {SIZE})
rows = np.random.default_rng(5).standard_normal((40, {SIZE})).astype(np.float32)
{code}
"""
    return subprocess.Popen([sys.executable, "-c", prepared], stdin=-1, stdout=-1, stderr=-1, text=True)


def test_what_was_stored_survives_a_kill(tmp_path: Path) -> None:
    code = """
index.upsert(range(1, 21), rows[:20])
for key in range(21, 41):
    index.upsert([key], rows[key - 1:key])
index.upsert([40], rows[:1])
index.delete([2, 3])
os.kill(os.getpid(), signal.SIGKILL)
"""
    child = python(code, tmp_path / "vectors")
    _, errors = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL, errors
    index = opened(tmp_path / "vectors")
    assert index.count() == 38
    rows = some_vectors(40)
    assert [hit.key for hit in index.search(rows[29], 1)] == [30]
    assert {hit.key for hit in index.search(rows[0], 2)} == {1, 40}
    assert set(index.vectors([1, 2, 3, 4])) == {1, 4}
    index.close()


def test_a_kill_in_the_middle_of_writing_loses_nothing_acknowledged(tmp_path: Path) -> None:
    child = python(
        """
for turn in range(100000):
    index.upsert([turn + 1], rows[turn % 40:turn % 40 + 1])
    print(turn + 1, flush=True)
""",
        tmp_path / "vectors",
    )
    assert child.stdout is not None
    for _ in range(400):
        acknowledged = int(child.stdout.readline())
    child.kill()
    rest, _ = child.communicate(timeout=60)
    acknowledged = max([acknowledged, *(int(line) for line in rest.splitlines()[:-1])])
    index = opened(tmp_path / "vectors")
    assert len(index.vectors(range(1, acknowledged + 1))) == acknowledged
    index.close()


def test_after_close_another_process_has_it(tmp_path: Path) -> None:
    filled(tmp_path / "vectors")
    child = python("print(warnings, index.count()); index.upsert([99], rows[:1]); index.close()", tmp_path / "vectors")
    assert child.communicate(timeout=60)[0].strip() == "[] 20"
    index = opened(tmp_path / "vectors")
    assert index.count() == 21
    index.close()


def test_a_folder_that_another_process_has_open_is_left_alone(tmp_path: Path) -> None:
    filled(tmp_path / "vectors")
    child = python("print('open', flush=True); sys.stdin.read(); index.close()", tmp_path / "vectors")
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    for dimensions in (SIZE, SIZE + 1):
        with pytest.raises(StoreUnavailable, match="another process"):
            open_edge_index(tmp_path / "vectors", dimensions)
    assert [entry.name for entry in tmp_path.iterdir()] == ["vectors"]
    child.communicate("", timeout=60)
    index = opened(tmp_path / "vectors")
    assert index.count() == 20
    with pytest.raises(StoreUnavailable, match="open"):
        open_edge_index(tmp_path / "vectors", SIZE)
    index.close()


def assert_moved_aside(folder: Path, dimensions: int = SIZE) -> str:
    index, warnings = open_edge_index(folder, dimensions)
    assert index.count() == 0
    index.upsert([1], np.ones((1, dimensions), dtype=np.float32))
    assert index.count() == 1
    index.close()
    assert len(warnings) == 1
    aside = [entry for entry in folder.parent.iterdir() if ".damaged-" in entry.name]
    assert len(aside) == 1
    assert str(aside[0]) in warnings[0]
    assert "embedded again" in warnings[0]
    assert not open_edge_index(folder, dimensions)[1]
    return warnings[0]


def test_vectors_of_another_dimension_are_moved_aside(tmp_path: Path) -> None:
    filled(tmp_path / "vectors")
    assert "16" in assert_moved_aside(tmp_path / "vectors", SIZE * 2)


def test_a_file_in_place_of_the_folder_is_moved_aside(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("something else")
    assert_moved_aside(tmp_path / "vectors")


@pytest.mark.parametrize(
    "pattern",
    [
        "edge_config.json",
        "wal/open-1",
        "wal/first-index",
        "segments/*/segment.json",
        "segments/*/mutable_id_tracker.mappings",
        "segments/*/vector_storage/vectors/chunk_0.mmap",
    ],
)
def test_garbage_is_moved_aside(tmp_path: Path, pattern: str) -> None:
    filled(tmp_path / "vectors")
    (damaged,) = (tmp_path / "vectors").glob(pattern)
    damaged.write_bytes(b"\xff" * max(damaged.stat().st_size, 10))
    assert_moved_aside(tmp_path / "vectors")


@pytest.mark.parametrize("pattern", ["segments/*/vector_storage/vectors/status.dat", "wal/open-1"])
def test_an_emptied_file_is_moved_aside_though_the_engine_panics(tmp_path: Path, pattern: str) -> None:
    filled(tmp_path / "vectors")
    (damaged,) = (tmp_path / "vectors").glob(pattern)
    damaged.write_bytes(b"")
    assert_moved_aside(tmp_path / "vectors")


def test_damage_twice_in_a_second_keeps_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda *_: "20260322T093000Z")
    for _ in range(2):
        (tmp_path / "vectors").write_text("something else")
        open_edge_index(tmp_path / "vectors", SIZE)[0].close()
        (tmp_path / "vectors").rename(tmp_path / f"old{len(list(tmp_path.iterdir()))}")
    assert len([entry for entry in tmp_path.iterdir() if ".damaged-" in entry.name]) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_left_alone(tmp_path: Path) -> None:
    filled(tmp_path / "vectors")
    (tmp_path / "vectors").chmod(0)
    try:
        with pytest.raises(StoreUnavailable):
            open_edge_index(tmp_path / "vectors", SIZE)
        assert [entry.name for entry in tmp_path.iterdir()] == ["vectors"]
    finally:
        (tmp_path / "vectors").chmod(0o700)


def test_a_system_error_leaves_the_folder_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path / "vectors")

    class Failing:
        def __getattr__(self, name: str) -> object:
            return self if name == "EdgeShard" else getattr(engine, name)

        def load(self, *_: object) -> None:
            raise Exception("Service runtime error: IO Error: Too many open files (os error 24)")

    monkeypatch.setattr(qdrant_edge, "engine", Failing())
    with pytest.raises(StoreUnavailable, match="Too many open files"):
        open_edge_index(tmp_path / "vectors", SIZE)
    assert [entry.name for entry in tmp_path.iterdir()] == ["vectors"]


def test_the_log_stays_short_while_much_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_edge, "FLUSH_EVERY", 100)
    index = opened(tmp_path / "vectors")
    flushes = 0

    class Counting:
        def __init__(self, shard: object) -> None:
            self.shard = shard

        def __getattr__(self, name: str) -> object:
            nonlocal flushes
            flushes += name == "flush"
            return getattr(self.shard, name)

    monkeypatch.setattr(index, "_shard", Counting(index._shard))
    for start in range(0, 1000, 20):
        index.upsert(range(start, start + 20), some_vectors(20))
    assert flushes == 10
    index.close()


def test_optimising_gives_the_space_of_deleted_vectors_back(tmp_path: Path) -> None:
    index = opened(tmp_path / "vectors")
    index.upsert(range(1, 3001), np.random.default_rng(5).standard_normal((3000, SIZE)).astype(np.float32))
    index.delete(range(1, 2901))
    before = {entry.name for entry in (tmp_path / "vectors" / "segments").iterdir()}
    index.optimise()
    assert {entry.name for entry in (tmp_path / "vectors" / "segments").iterdir()} != before
    assert index.count() == 100
    index.close()
    assert opened(tmp_path / "vectors").count() == 100
