"""A catalog is derived: whatever cannot be one is set aside, and nobody's start fails over it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hearthmind.errors import StoreUnavailable
from hearthmind.model.index import AnalysedPassage, FileState, Projection
from hearthmind.model.memory import Memory, MemoryType, Passage
from hearthmind.model.query import Filter
from hearthmind.stores.catalog import SqliteCatalog, open_catalog


def projection(note_id: str = "a", *texts: str) -> Projection:
    memory = Memory(note_id, "home", note_id, f"{note_id}.md", MemoryType.NOTE, "v", "t", "text")
    passages = [
        AnalysedPassage(Passage(seq, text, (1, 1)), text, "", "", text) for seq, text in enumerate(texts or ("apple",))
    ]
    return Projection(memory, note_id, FileState(1, 1), passages, ())


def filled(path: Path, notes: int = 3) -> str:
    catalog, _ = open_catalog(path, "home")
    with catalog.write() as write:
        for number in range(notes):
            write.put(projection(f"n{number}"))
    identity = catalog.identity
    catalog.close()
    return identity


def assert_new_and_working(catalog: SqliteCatalog) -> None:
    assert catalog.counts().notes == 0
    with catalog.write() as write:
        write.put(projection())
    assert len(catalog.keyword(["apple"], [], 5, Filter())) == 1
    catalog.check()
    catalog.close()


def asides(path: Path) -> list[str]:
    return sorted(found.name for found in path.parent.glob("catalog.db.damaged-*"))


def test_a_closed_catalog_opens_again_with_everything(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "catalog.db"
    identity = filled(path)
    catalog, warnings = open_catalog(path, "home")
    assert warnings == []
    assert catalog.identity == identity
    assert catalog.counts().notes == 3
    catalog.close()
    assert sorted(found.name for found in path.parent.iterdir()) == ["catalog.db", "catalog.db.lock"]


@pytest.mark.parametrize(
    "content",
    [b"", b"garbage", b"SQLite format 3\0" + b"\xff" * 5000, os.urandom(20_000)],
    ids=["empty", "short", "false header", "noise"],
)
def test_garbage_is_moved_aside_with_a_warning(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "catalog.db"
    path.write_bytes(content)
    catalog, warnings = open_catalog(path, "home")
    (aside,) = asides(path)
    assert (tmp_path / aside).read_bytes() == content
    assert len(warnings) == 1
    assert aside in warnings[0]
    assert "'home'" in warnings[0]
    assert_new_and_working(catalog)


@pytest.mark.parametrize("offset", [0, 16, 4096, 30_000])
def test_damaged_pages_are_noticed_at_open(tmp_path: Path, offset: int) -> None:
    path = tmp_path / "catalog.db"
    filled(path, notes=200)
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\xa5" * 3000)
    catalog, warnings = open_catalog(path, "home")
    assert len(warnings) == 1
    assert len(asides(path)) == 1
    assert_new_and_working(catalog)


def test_a_truncated_file_is_noticed_at_open(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    filled(path, notes=200)
    os.truncate(path, path.stat().st_size // 2)
    catalog, warnings = open_catalog(path, "home")
    assert "damaged" in warnings[0]
    assert_new_and_working(catalog)


def test_a_folder_in_its_place_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    (path / "inner").mkdir(parents=True)
    catalog, warnings = open_catalog(path, "home")
    assert "is not a file" in warnings[0]
    assert_new_and_working(catalog)


def test_a_journal_without_its_catalog_is_not_replayed(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    catalog, _ = open_catalog(path, "home")
    with catalog.write() as write:
        write.put(projection())
    path.unlink()
    assert (tmp_path / "catalog.db-wal").exists()
    fresh, warnings = open_catalog(path, "home")
    assert len(warnings) == 1
    assert_new_and_working(fresh)
    catalog.close()


def test_somebody_elses_database_is_left_whole(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.execute("INSERT INTO theirs VALUES (7)")
        other.commit()
    catalog, warnings = open_catalog(path, "home")
    assert "not a catalog of Hearthmind" in warnings[0]
    with closing(sqlite3.connect(tmp_path / asides(path)[0])) as other:
        assert other.execute("SELECT x FROM theirs").fetchall() == [(7,)]
    assert_new_and_working(catalog)


def test_another_version_schema_or_space_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")
    catalog, warnings = open_catalog(path, "home")
    assert "another version" in warnings[0]
    catalog.close()
    catalog, warnings = open_catalog(path, "home", "cutter-2")
    assert "other rules" in warnings[0]
    catalog.close()
    catalog, warnings = open_catalog(path, "home", "cutter-2")
    assert warnings == []
    catalog.close()
    catalog, warnings = open_catalog(path, "family", "cutter-2")
    assert "belongs to space 'home'" in warnings[0]
    assert_new_and_working(catalog)
    assert len([name for name in asides(path) if not name.endswith(("-wal", "-shm"))]) == 3


def test_only_the_newest_set_aside_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    for number in range(6):
        path.write_bytes(b"garbage %d" % number)
        catalog, _ = open_catalog(path, "home")
        catalog.close()
    assert {(tmp_path / name).read_bytes() for name in asides(path)} == {b"garbage 3", b"garbage 4", b"garbage 5"}


def test_damage_met_while_running_is_unavailable_and_rebuilt_at_the_next_open(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    filled(path, notes=2000)
    catalog, _ = open_catalog(path, "home")
    size = path.stat().st_size
    with path.open("r+b") as file:
        for offset in range(4096, size, 4096):
            file.seek(offset)
            file.write(b"\xa5" * 4096)
    with pytest.raises(StoreUnavailable, match="damaged"):
        catalog.files()
    catalog.close()
    catalog, warnings = open_catalog(path, "home")
    assert len(warnings) == 1
    assert_new_and_working(catalog)
    catalog, warnings = open_catalog(path, "home")
    assert warnings == []
    catalog.close()


def test_a_deleted_or_replaced_file_refuses_writes(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    filled(path)
    catalog, _ = open_catalog(path, "home")
    path.rename(tmp_path / "elsewhere.db")
    with pytest.raises(StoreUnavailable, match="gone"), catalog.write() as write:
        write.put(projection())
    with pytest.raises(StoreUnavailable):
        catalog.check()
    fresh, _ = open_catalog(path, "home")
    with pytest.raises(StoreUnavailable, match="replaced"), catalog.write() as write:
        write.put(projection())
    catalog.close()
    fresh.close()


def test_a_folder_without_rights_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnavailable):
        open_catalog(tmp_path / "file" / "catalog.db", "home")


def test_a_closed_catalog_is_unavailable(tmp_path: Path) -> None:
    catalog, _ = open_catalog(tmp_path / "catalog.db", "home")
    catalog.close()
    catalog.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        catalog.counts()
    with pytest.raises(StoreUnavailable, match="closed"), catalog.write():
        pass


def test_a_write_is_of_no_use_after_its_end(tmp_path: Path) -> None:
    catalog, _ = open_catalog(tmp_path / "catalog.db", "home")
    with catalog.write() as write:
        pass
    with pytest.raises(RuntimeError, match="ended"):
        write.put(projection())
    with catalog.write(), pytest.raises(RuntimeError, match="already open"):
        catalog.mark_all_unembedded()
    catalog.close()
