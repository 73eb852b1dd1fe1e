"""Vectors on Qdrant's engine inside this process (`qdrant-edge-py`).

Searches are exact. Measured at 384 dimensions on two cores: 1 ms at 10,000 vectors, 4 ms at 30,000, 13 ms at
100,000. The engine holds the interpreter lock during every call, so a graph index (27 s to build for 30,000
vectors) would freeze the whole process for longer than it could ever save.
"""

import re
import shutil
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from errno import EACCES, EDQUOT, EMFILE, ENFILE, ENOMEM, ENOSPC, EPERM, EROFS
from pathlib import Path
from typing import cast

import numpy as np
import qdrant_edge as engine
from numpy.typing import NDArray

from hearthmind.errors import StoreUnavailable
from hearthmind.model.index import Scored

FLUSH_EVERY = 5000
"""Points written between flushes. A flush takes 5 to 200 ms and shortens the log that a start after a kill
replays (30,000 points: 1 s)."""
_CHUNK = 256
"""Points per engine call: about 8 ms, so that other threads get their turn."""
_NOT_THE_FOLDER = {EACCES, EPERM, ENOSPC, EDQUOT, EROFS, EMFILE, ENFILE, ENOMEM}
"""System errors that say nothing about the stored vectors."""


ROOM_BYTES = 64 << 20
"""One log segment is 32 MB, and the next one is prepared in advance."""


class _Unreadable(Exception):
    """What is in the folder cannot be used as an index of this dimension."""


def open_edge_index(folder: Path, dimensions: int) -> tuple["QdrantEdgeIndex", list[str]]:
    """Load the index in `folder`, or create it; also says what the person should know.

    A folder that cannot be read, or holds vectors of another dimension, is moved to
    `<folder>.damaged-<time>` and an empty index takes its place. Raises StoreUnavailable, and leaves the
    folder alone, when another process has it open or the system refuses access.
    """
    warnings: list[str] = []
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _require_room(folder.parent)
    if folder.exists() or folder.is_symlink():
        try:
            return QdrantEdgeIndex(_load(folder, dimensions), dimensions, folder), warnings
        except _Unreadable as reason:
            aside = _move_aside(folder)
            warnings.append(
                f"the vector index {folder} could not be used ({reason}); it was moved to {aside} and an "
                "empty one created: passages must be embedded again"
            )
    with _engine("create"):
        shard = engine.EdgeShard.create(str(folder), _config(dimensions))
    return QdrantEdgeIndex(shard, dimensions, folder), warnings


class QdrantEdgeIndex:
    """`ports.VectorIndex`. Vectors are normalised and kept as float16 on mapped files: scores are within
    1e-4 of float32. Safe for concurrent threads; a folder belongs to one process at a time.

    What `upsert` and `delete` returned from survives a kill of the process by the engine's log; a power cut
    may take what was written since the last flush (see FLUSH_EVERY; `optimise` and `close` flush).
    """

    def __init__(self, shard: engine.EdgeShard, dimensions: int, folder: Path) -> None:
        self._shard = shard
        self._folder = folder
        self._dimensions = dimensions
        self._lock = threading.RLock()
        self._unflushed = 0
        self._closed = False

    def upsert(self, keys: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Store vectors (n, dimensions); of equal keys the last counts. Raises ValueError, with nothing
        stored, for another shape, a negative key or a value that is not finite."""
        matrix = np.asarray(vectors, dtype=np.float64)
        if matrix.shape != (len(keys), self._dimensions):
            expected = (len(keys), self._dimensions)
            raise ValueError(f"vectors have the shape {matrix.shape}, expected {expected}")
        if not np.isfinite(matrix).all():
            raise ValueError("vectors hold values that are not finite; nothing was stored")
        if any(key < 0 for key in keys):
            raise ValueError("passage keys are not negative; nothing was stored")
        unit = _normalised(matrix)
        for start in range(0, len(keys), _CHUNK):
            rows = zip(keys[start : start + _CHUNK], unit[start : start + _CHUNK], strict=True)
            points = [engine.Point(int(key), row.tolist()) for key, row in rows]
            self._write(engine.UpdateOperation.upsert_points(points), len(points))

    def delete(self, keys: Collection[int]) -> None:
        ids: list[engine.PointId] = [int(key) for key in keys if key >= 0]
        for start in range(0, len(ids), FLUSH_EVERY):
            part = ids[start : start + FLUSH_EVERY]
            self._write(engine.UpdateOperation.delete_points(part), len(part))

    def search(self, vector: NDArray[np.float32], limit: int, among: Collection[int] | None = None) -> Sequence[Scored]:
        query = np.asarray(vector, dtype=np.float32)
        if query.shape != (self._dimensions,) or not np.isfinite(query).all():
            raise ValueError(f"a query needs {self._dimensions} finite numbers, got the shape {query.shape}")
        if limit <= 0 or (among is not None and not among):
            return []
        if among is None:
            return self._nearest(query, limit)
        wanted = among if isinstance(among, set | frozenset) else frozenset(among)
        # An id condition costs 1 µs a key, ranking everything 0.13 µs a vector: from a sixth of the index on,
        # the head of the whole ranking is the cheaper source. It is exact as long as it yields enough; a
        # filter that agrees badly with the query falls back to the condition.
        stored = self.count()
        if len(wanted) > max(2000, stored // 6):
            depth = 200 + 2 * limit * stored // len(wanted)
            head = self._nearest(query, depth)
            found = [hit for hit in head if hit.key in wanted][:limit]
            if len(found) == limit or len(head) < depth:
                return found
        condition = engine.HasIdCondition(cast("set[engine.PointId]", wanted))
        return self._nearest(query, limit, engine.Filter(must=[condition]))

    def vectors(self, keys: Collection[int]) -> Mapping[int, NDArray[np.float32]]:
        ids: list[engine.PointId] = [int(key) for key in keys if key >= 0]
        found: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(ids), _CHUNK):
            with self._open("read vectors") as shard:
                records = shard.retrieve(ids[start : start + _CHUNK], with_payload=False, with_vector=True)
            rows = np.asarray([record.vector for record in records], dtype=np.float64)
            unit = _normalised(rows.reshape(len(records), self._dimensions))
            found.update((cast("int", record.id), row) for record, row in zip(records, unit, strict=True))
        return found

    def count(self) -> int:
        with self._open("count") as shard:
            return int(shard.info().points_count)

    def optimise(self) -> None:
        """Flush, and drop the space of deleted vectors (0.2 s at 100,000, other threads wait)."""
        with self._lock, self._open("optimise") as shard:
            shard.flush()
            self._unflushed = 0
            shard.optimize()

    def close(self) -> None:
        """Flush and release the folder. Closing again does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            with _engine("close"):
                try:
                    self._shard.flush()
                finally:
                    self._shard.close()

    def _nearest(self, query: NDArray[np.float32], limit: int, condition: engine.Filter | None = None) -> list[Scored]:
        request = engine.SearchRequest(
            query=engine.Query.Nearest(query.tolist()),
            limit=limit,
            params=engine.SearchParams(exact=True),
            filter=condition,
        )
        with self._open("search") as shard:
            points = shard.search(request)
        hits = [Scored(cast("int", point.id), point.score) for point in points]
        return sorted(hits, key=lambda hit: (-hit.score, hit.key))

    def _write(self, operation: engine.UpdateOperation, points: int) -> None:
        _require_room(self._folder)
        with self._lock, self._open("write") as shard:
            shard.update(operation)
            self._unflushed += points
            if self._unflushed >= FLUSH_EVERY:
                shard.flush()
                self._unflushed = 0

    @contextmanager
    def _open(self, doing: str) -> Iterator[engine.EdgeShard]:
        if self._closed:
            raise StoreUnavailable(f"the vector index is closed, it cannot {doing}")
        with _engine(doing):
            yield self._shard


def _config(dimensions: int) -> engine.EdgeConfig:
    return engine.EdgeConfig(
        vectors=engine.EdgeVectorParams(
            dimensions,
            engine.Distance.Cosine,
            datatype=engine.VectorStorageDatatype.Float16,
            memory=engine.Memory.Cached,
        ),
        # One segment, and a threshold (in KB) that no index reaches: optimising never builds a graph.
        optimizers=engine.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1_000_000_000),
        max_search_threads=1,
    )


def _load(folder: Path, dimensions: int) -> engine.EdgeShard:
    try:
        with _engine("load"):
            shard = engine.EdgeShard.load(str(folder), _config(dimensions))
    except StoreUnavailable as error:
        if "WouldBlock" in error.message or _held(folder / "wal"):
            raise StoreUnavailable(
                f"another process has the vector index {folder} open: end it, or let it do the work"
            ) from error
        system = re.search(r"os error (\d+)", error.message)
        if system and int(system[1]) in _NOT_THE_FOLDER:
            raise
        raise _Unreadable(error.message) from error
    try:
        with _engine("probe"):
            # Damaged vectors score NaN, which the engine leaves out of the answer without a word.
            probe = engine.SearchRequest(query=engine.Query.Nearest([1.0] * dimensions), limit=1)
            if shard.info().points_count and not shard.search(probe):
                raise _Unreadable("its vectors are not numbers")
    except (_Unreadable, StoreUnavailable) as error:
        with suppress(StoreUnavailable), _engine("close"):
            shard.close()
        raise _Unreadable(str(error)) from error
    return shard


def _held(log: Path) -> bool:
    """Does another handle lock the engine's log? Asked apart from the words of the engine's error."""
    if sys.platform == "win32":
        return False
    import fcntl
    import os

    try:
        descriptor = os.open(log, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _move_aside(folder: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = folder.with_name(f"{folder.name}.damaged-{stamp}")
    number = 1
    while aside.exists():
        number += 1
        aside = folder.with_name(f"{folder.name}.damaged-{stamp}-{number}")
    try:
        return folder.rename(aside)
    except OSError as error:
        raise StoreUnavailable(f"the damaged vector index {folder} cannot be moved aside: {error}") from error


def _normalised(matrix: NDArray[np.float64]) -> NDArray[np.float32]:
    """Rows of length 1; a row of zeros stays one and is like nothing."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return (matrix / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _require_room(folder: Path) -> None:
    """The engine writes to mapped, sparse files: where the disk is full the system ends the process (SIGBUS),
    so it is not touched when room is short."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError as fault:
        raise StoreUnavailable(f"the vector index {folder} is not there: {fault.strerror or fault}") from fault
    if free < ROOM_BYTES:
        raise StoreUnavailable(
            f"less than {ROOM_BYTES >> 20} MB are free where the vectors lie ({folder}); free some space. Words are "
            "searched meanwhile."
        )


@contextmanager
def _engine(doing: str) -> Iterator[None]:
    """The engine raises Exception itself, and PanicException (a BaseException) when its own code fails. Anything
    else is a mistake in ours, which must not pass for damage."""
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise StoreUnavailable(f"the vector index cannot {doing}: {error}") from error
