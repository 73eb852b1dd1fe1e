"""Bounds at 10,000 notes of three passages, several times above what an idle core of a home server needs."""

import random
import time
from collections.abc import Callable, Iterator

import pytest

from hearthmind.model.index import AnalysedPassage, FileState, Projection, ResolvedLink
from hearthmind.model.memory import Link, Memory, MemoryType, Passage
from hearthmind.model.query import Filter
from hearthmind.stores.catalog import SqliteCatalog, open_catalog

NOTES = 10_000
VOCABULARY = [f"w{rank}x" for rank in range(30_000)]
WEIGHTS = [1 / (rank + 20) for rank in range(30_000)]

pytestmark = pytest.mark.slow


def projections() -> Iterator[Projection]:
    chance = random.Random(7)
    words = iter(chance.choices(VOCABULARY, WEIGHTS, k=NOTES * 3 * 40))
    for number in range(NOTES):
        passages = []
        for seq in range(3):
            terms = [next(words) for _ in range(40)]
            stems = " ".join(terms)
            text = stems.replace("x", "xing ") * 2
            passages.append(
                AnalysedPassage(
                    Passage(seq, text, (seq, seq)), stems, " ".join(f"{term}ing" for term in terms), terms[0], text
                )
            )
        note_id = f"note{number:05}"
        memory = Memory(
            id=note_id,
            space="home",
            title=note_id,
            path=f"folder{number % 20}/{note_id}.md",
            type=chance.choice(list(MemoryType)),
            version="v",
            text_version="t",
            text="\n".join(item.passage.text for item in passages),
            date=f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}",
            tags=tuple(f"tag{chance.randrange(200)}" for _ in range(3)),
            importance=chance.randint(1, 10),
        )
        links = [
            ResolvedLink(Link(f"note{target:05}", 1), f"note{target:05}", f"note{target:05}")
            for target in (chance.randrange(NOTES) for _ in range(4))
        ]
        yield Projection(memory, note_id, FileState(1, 1), passages, links)


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteCatalog]:
    path = tmp_path_factory.mktemp("speed") / "catalog.db"
    opened, _ = open_catalog(path, "home")
    made = list(projections())
    started = time.perf_counter()
    for first in range(0, NOTES, 500):
        with opened.write() as write:
            for projection in made[first : first + 500]:
                write.put(projection)
    took = time.perf_counter() - started
    print(f"\n{NOTES * 3 / took:,.0f} passages a second, {path.stat().st_size / 1e6:.0f} MB")
    assert NOTES * 3 / took > 2_000
    yield opened
    opened.close()


def median_ms(what: str, call: Callable[[], object], times: int = 15) -> float:
    took = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        took.append((time.perf_counter() - started) * 1000)
    median = sorted(took)[times // 2]
    print(f"{what}: median {median:.2f} ms, most {max(took):.2f}")
    return median


def test_keyword_search(catalog: SqliteCatalog) -> None:
    chance = random.Random(1)

    def query(filter: Filter, low: int, high: int) -> None:
        stems = [VOCABULARY[chance.randrange(low, high)] for _ in range(8)]
        catalog.keyword(stems, [f"{stem}ing" for stem in stems], 200, filter)

    narrow = Filter(types=(MemoryType.FACT, MemoryType.NOTE), min_importance=4)
    assert median_ms("keyword", lambda: query(Filter(), 30, 3000)) < 50
    assert median_ms("keyword, filtered", lambda: query(narrow, 30, 3000)) < 50
    assert median_ms("keyword, frequent terms", lambda: query(Filter(), 0, 30)) < 400


def test_totals_and_frequencies(catalog: SqliteCatalog) -> None:
    assert median_ms("counts", catalog.counts) < 20
    assert median_ms("document_frequency", lambda: catalog.document_frequency(VOCABULARY[::1000])) < 20
    assert median_ms("job_counts", catalog.job_counts) < 20
    assert median_ms("roles", catalog.roles) < 5


def test_lists_and_filters(catalog: SqliteCatalog) -> None:
    assert median_ms("matching", lambda: catalog.matching(Filter(min_importance=5, tags=("tag7",)))) < 100
    assert median_ms("matching, wide", lambda: catalog.matching(Filter(min_importance=5))) < 300
    assert median_ms("list_memories", lambda: catalog.list_memories(filter=Filter(), folder="folder3")) < 50
    assert median_ms("tags", catalog.tags) < 300
    assert median_ms("files", catalog.files, 5) < 600
    assert median_ms("edges", lambda: list(catalog.edges()), 3) < 3000
    assert median_ms("graph_nodes", lambda: list(catalog.graph_nodes()), 3) < 1500
    assert median_ms("unembedded", lambda: catalog.unembedded(512)) < 100
    keys = [passage.key for passage in catalog.unembedded(200)]
    assert median_ms("passages", lambda: catalog.passages(keys)) < 50


def test_one_change(catalog: SqliteCatalog) -> None:
    changed = next(projections())

    def change() -> None:
        with catalog.write() as write:
            write.put(changed)

    assert median_ms("put of one unchanged note", change) < 50
