"""What every vector index promises (ports.VectorIndex). Scores may differ by what a store rounds (float16)."""

import random
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fakes.vector_index import InMemoryVectorIndex

from hearthmind.errors import StoreUnavailable
from hearthmind.ports import VectorIndex
from hearthmind.stores.qdrant_edge import open_edge_index

SIZE = 32
ROUNDING = 2e-3


@pytest.fixture(params=["fake", "qdrant_edge"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorIndex]:
    opened: VectorIndex
    if request.param == "fake":
        opened = InMemoryVectorIndex(SIZE)
    else:
        opened, warnings = open_edge_index(tmp_path / "vectors", SIZE)
        assert warnings == []
    yield opened
    opened.close()


def some_vectors(count: int, seed: int = 1) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, SIZE))
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def passage_keys(count: int) -> list[int]:
    return [(note + 1) << 20 | note % 3 for note in range(count)]


def assert_nearest(
    index: VectorIndex,
    query: NDArray[np.float32],
    limit: int,
    stored: dict[int, NDArray[np.float32]],
    among: Collection[int] | None = None,
) -> None:
    """The answer is that of scoring everything: the same scores in the same order, each that of its key."""
    hits = index.search(query, limit, among)
    exact = {key: float(row @ query) for key, row in stored.items() if among is None or key in among}
    best = sorted(exact.values(), reverse=True)[:limit]
    assert [hit.score for hit in hits] == pytest.approx(best, abs=ROUNDING)
    assert [hit.score for hit in hits] == pytest.approx([exact[hit.key] for hit in hits], abs=ROUNDING)
    assert len({hit.key for hit in hits}) == len(hits)


def test_nothing_is_found_in_an_empty_index(index: VectorIndex) -> None:
    assert index.count() == 0
    assert list(index.search(some_vectors(1)[0], 5)) == []
    assert dict(index.vectors([1, 2])) == {}


def test_the_nearest_come_first(index: VectorIndex) -> None:
    rows, keys = some_vectors(300), passage_keys(300)
    index.upsert(keys, rows)
    assert index.count() == 300
    for query in some_vectors(5, seed=2):
        assert_nearest(index, query, 20, dict(zip(keys, rows, strict=True)))
    best = index.search(rows[7], 1)[0]
    assert best.key == keys[7]
    assert best.score == pytest.approx(1.0, abs=ROUNDING)


def test_the_length_of_a_vector_does_not_matter(index: VectorIndex) -> None:
    rows = some_vectors(3)
    index.upsert([1, 2, 3], rows * np.array([[0.01], [1.0], [500.0]], dtype=np.float32))
    assert [round(hit.score, 2) for hit in index.search(rows[2] * 9, 1)] == [1.0]
    for key, row in index.vectors([1, 2, 3]).items():
        assert row.dtype == np.float32
        assert row == pytest.approx(rows[key - 1], abs=ROUNDING)
        assert float(np.linalg.norm(row)) == pytest.approx(1.0, abs=1e-5)


def test_a_vector_is_replaced(index: VectorIndex) -> None:
    old, new = some_vectors(2)
    index.upsert([5], old[None])
    index.upsert([5], new[None])
    assert index.count() == 1
    assert index.vectors([5])[5] == pytest.approx(new, abs=ROUNDING)


def test_of_equal_keys_in_one_upsert_the_last_counts(index: VectorIndex) -> None:
    rows = some_vectors(3)
    index.upsert([5, 6, 5], rows)
    assert index.count() == 2
    assert index.vectors([5])[5] == pytest.approx(rows[2], abs=ROUNDING)


def test_deleted_vectors_are_gone_and_unknown_keys_do_not_matter(index: VectorIndex) -> None:
    rows = some_vectors(4)
    index.upsert([1, 2, 3, 4], rows)
    index.delete([2, 3, 99])
    index.delete([])
    assert index.count() == 2
    assert set(index.vectors([1, 2, 3, 4])) == {1, 4}
    assert {hit.key for hit in index.search(rows[1], 10)} == {1, 4}


def test_keys_up_to_two_to_the_sixty(index: VectorIndex) -> None:
    row = some_vectors(1)
    index.upsert([2**60], row)
    assert [hit.key for hit in index.search(row[0], 3, {2**60})] == [2**60]
    assert list(index.vectors([2**60])) == [2**60]


@pytest.mark.parametrize("chosen", [1, 10, 150, 2500, 4500, 5000])
def test_only_those_among_the_given_keys(index: VectorIndex, chosen: int) -> None:
    rows, keys = some_vectors(5000), passage_keys(5000)
    index.upsert(keys, rows)
    stored = dict(zip(keys, rows, strict=True))
    among = frozenset(random.Random(chosen).sample(keys, chosen))
    for query in some_vectors(3, seed=3):
        assert_nearest(index, query, 20, stored, among)


@pytest.mark.parametrize("chosen", [100, 3000])
def test_among_the_keys_that_are_least_like_the_query(index: VectorIndex, chosen: int) -> None:
    rows, keys = some_vectors(5000), passage_keys(5000)
    index.upsert(keys, rows)
    query = some_vectors(1, seed=4)[0]
    farthest = {keys[row] for row in np.argsort(rows @ query)[:chosen]}
    assert_nearest(index, query, 20, dict(zip(keys, rows, strict=True)), farthest)


def test_among_nothing_or_unknown_keys_is_nothing(index: VectorIndex) -> None:
    rows = some_vectors(3)
    index.upsert([1, 2, 3], rows)
    assert list(index.search(rows[0], 5, [])) == []
    assert list(index.search(rows[0], 5, {77, 78})) == []
    assert [hit.key for hit in index.search(rows[0], 5, [1, 77])] == [1]
    assert list(index.search(rows[0], 0)) == []


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, -np.inf])
def test_a_batch_with_a_value_that_is_not_finite_is_refused_whole(index: VectorIndex, spoilt: float) -> None:
    rows = some_vectors(3)
    rows[2, 4] = spoilt
    with pytest.raises(ValueError, match="finite"):
        index.upsert([1, 2, 3], rows)
    with pytest.raises(ValueError, match="finite"):
        index.search(rows[2], 3)
    assert index.count() == 0


def test_vectors_of_another_shape_are_refused(index: VectorIndex) -> None:
    rows = some_vectors(2)
    for keys, vectors in (([1, 2], rows[:, :-1]), ([1], rows), ([1], rows[0])):
        with pytest.raises(ValueError, match="shape"):
            index.upsert(keys, vectors)
    with pytest.raises(ValueError, match=str(SIZE)):
        index.search(rows[0, :-1], 3)
    with pytest.raises(ValueError, match="negative"):
        index.upsert([1, -1], rows)
    assert index.count() == 0


def test_a_zero_vector_is_like_nothing_and_spoils_nothing(index: VectorIndex) -> None:
    rows = some_vectors(2)
    rows[0] = 0
    index.upsert([1, 2], rows)
    assert [hit.key for hit in index.search(rows[1], 1)] == [2]
    assert not index.vectors([1])[1].any()


def test_optimising_changes_no_answer(index: VectorIndex) -> None:
    rows, keys = some_vectors(3000), passage_keys(3000)
    index.upsert(keys, rows)
    index.delete(keys[:1500])
    index.optimise()
    index.optimise()
    assert index.count() == 1500
    assert_nearest(index, rows[1600], 20, dict(zip(keys[1500:], rows[1500:], strict=True)))
    index.upsert(keys[:10], rows[:10])
    assert index.count() == 1510
    assert index.search(rows[3], 1)[0].key == keys[3]


def test_many_threads_search_while_one_writes(index: VectorIndex) -> None:
    rows, keys = some_vectors(400), passage_keys(400)
    index.upsert(keys[:200], rows[:200])
    failures: list[BaseException] = []
    done = threading.Event()

    def search(seed: int) -> None:
        row = seed
        try:
            while not done.is_set():
                row = (row + 1) % 200
                assert index.search(rows[row], 3)[0].key == keys[row]
                assert index.search(rows[row], 3, keys[:200])[0].key == keys[row]
                assert keys[row] in index.vectors([keys[row]])
        except BaseException as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    threads = [threading.Thread(target=search, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for start in range(200, 400, 20):
        index.upsert(keys[start : start + 20], rows[start : start + 20])
        index.delete(keys[start : start + 5])
    index.optimise()
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert index.count() == 200 + 200 * 15 // 20


def test_a_closed_index_says_so(index: VectorIndex) -> None:
    row = some_vectors(1)
    index.close()
    index.close()
    with pytest.raises(StoreUnavailable):
        index.search(row[0], 1)
    with pytest.raises(StoreUnavailable):
        index.upsert([1], row)
