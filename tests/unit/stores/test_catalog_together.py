"""Many threads and processes on one catalog: nobody meets a lock, nobody's rows are lost."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hearthmind.errors import StoreUnavailable
from hearthmind.model.index import AnalysedPassage, FileState, Projection
from hearthmind.model.memory import Memory, MemoryType, Passage
from hearthmind.model.query import Filter
from hearthmind.stores.catalog import SqliteCatalog, open_catalog
from hearthmind.stores.catalog.connections import Connections
from hearthmind.stores.turns import Turns

WRITER = Path(__file__).with_name("catalog_writer.py")


def projection(note_id: str) -> Projection:
    memory = Memory(note_id, "home", note_id, f"{note_id}.md", MemoryType.NOTE, "v", "t", note_id)
    passages = [AnalysedPassage(Passage(seq, note_id, (1, 1)), "word", "", "", note_id) for seq in range(3)]
    return Projection(memory, note_id, FileState(1, 1), passages, ())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


@pytest.fixture
def catalog(path: Path) -> Iterator[SqliteCatalog]:
    opened, _ = open_catalog(path, "home")
    yield opened
    opened.close()


def start_writer(path: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(path), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_readers_and_writers_of_one_process(catalog: SqliteCatalog) -> None:
    over = threading.Event()

    def read() -> int:
        reads = 0
        while not over.is_set():
            counts = catalog.counts()
            assert counts.passages == counts.notes * 3
            hits = catalog.keyword(["word"], [], 20, Filter(min_importance=1))
            assert set(catalog.passages([hit.key for hit in hits])) == {hit.key for hit in hits}
            reads += 1
        return reads

    def write(name: str) -> None:
        for number in range(60):
            with catalog.write() as transaction:
                transaction.put(projection(f"{name}{number}"))

    with ThreadPoolExecutor(10) as pool:
        readers = [pool.submit(read) for _ in range(8)]
        writers = [pool.submit(write, name) for name in ("x", "y")]
        for writer in writers:
            writer.result(timeout=60)
        over.set()
        assert all(reader.result(timeout=60) > 0 for reader in readers)
    assert catalog.counts().notes == 120


def test_readers_never_wait_for_a_writer(catalog: SqliteCatalog) -> None:
    with catalog.write() as write:
        write.put(projection("a"))
        with ThreadPoolExecutor(1) as pool:
            started = time.monotonic()
            assert pool.submit(catalog.counts).result(timeout=5).notes == 0
            assert time.monotonic() - started < 2


def test_connections_do_not_grow_with_threads(catalog: SqliteCatalog) -> None:
    fds = Path("/proc/self/fd")
    if not fds.exists():
        pytest.skip("needs /proc")

    def burst(threads: int) -> None:
        ready = threading.Barrier(threads)

        def read() -> None:
            ready.wait()
            catalog.counts()

        running = [threading.Thread(target=read) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    before = len(list(fds.iterdir()))
    for _ in range(4):
        burst(30)
    assert len(list(fds.iterdir())) <= before + 2 * 8 + 2  # file and journal of each reader, shared memory


def test_two_processes_write_at_once(path: Path) -> None:
    writers = [start_writer(path, name, "80") for name in ("x", "y")]
    for writer in writers:
        _, errors = writer.communicate(timeout=90)
        assert writer.returncode == 0, errors
    catalog, warnings = open_catalog(path, "home")
    assert warnings == []
    assert catalog.counts().notes == 160
    assert len(catalog.keyword(["word"], [], 1000, Filter())) == 480
    catalog.close()


def test_a_writer_gets_its_turn_beside_a_busy_process(catalog: SqliteCatalog, path: Path) -> None:
    busy = start_writer(path, "busy", "1500")
    waits = []
    while busy.poll() is None:
        started = time.monotonic()
        with catalog.write() as write:
            waits.append(time.monotonic() - started)
            write.put(projection(f"own{len(waits)}"))
        time.sleep(0.01)
    _, errors = busy.communicate()
    assert busy.returncode == 0, errors
    assert max(waits) < 5, sorted(waits)[-5:]
    assert catalog.counts().notes == 1500 + len(waits)


def test_a_killed_writer_leaves_nothing_and_blocks_nobody(catalog: SqliteCatalog, path: Path) -> None:
    with catalog.write() as write:
        write.put(projection("before"))
    victim = start_writer(path, "hang")
    assert victim.stdout is not None
    assert victim.stdout.readline() == "writing\n"
    assert set(catalog.files()) == {"before.md"}
    victim.kill()
    victim.communicate()
    with catalog.write() as write:
        write.put(projection("after"))
    catalog.close()
    again, warnings = open_catalog(path, "home")
    assert warnings == []
    assert set(again.files()) == {"before.md", "after.md"}
    assert again.counts().passages == 6
    again.close()


def test_a_killed_process_alone_on_the_catalog_leaves_it_whole(path: Path) -> None:
    victim = start_writer(path, "hang")
    assert victim.stdout is not None
    assert victim.stdout.readline() == "writing\n"
    victim.kill()
    victim.communicate()
    catalog, warnings = open_catalog(path, "home")
    assert warnings == []
    assert catalog.counts().notes == 0
    with catalog.write() as write:
        write.put(projection("after"))
    catalog.close()


def test_a_lock_held_too_long_is_told_in_words(catalog: SqliteCatalog, path: Path) -> None:
    impatient = SqliteCatalog(Connections(path), "home", write_wait_seconds=0.2)
    with catalog.write(), pytest.raises(StoreUnavailable) as refused, impatient.write():
        pass
    assert "another process" in refused.value.message
    assert "database is locked" not in refused.value.message

    with impatient.write(), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(impatient.mark_all_unembedded)
        with pytest.raises(StoreUnavailable, match="another thread"):
            waiting.result(timeout=10)
    impatient.mark_all_unembedded()
    impatient.close()


def test_turns_go_in_the_order_of_asking() -> None:
    turns = Turns()
    order: list[int] = []
    assert turns.take(1)

    def wait(number: int) -> None:
        assert turns.take(10)
        order.append(number)
        turns.give()

    threads = []
    for number in range(6):
        threads.append(threading.Thread(target=wait, args=(number,)))
        threads[-1].start()
        _until(lambda: len(turns._waiting) == len(threads))
    turns.give()
    for thread in threads:
        thread.join(10)
    assert order == list(range(6))


def test_a_turn_that_does_not_come_is_given_up() -> None:
    turns = Turns()
    assert turns.take(1)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(turns.take, 0.05).result(timeout=5) is False
        turns.give()
        assert pool.submit(turns.take, 0.05).result(timeout=5) is True


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
