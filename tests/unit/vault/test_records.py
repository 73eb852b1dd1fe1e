from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearthmind.errors import PathOutsideVault, VaultNotMounted
from hearthmind.vault.mark import claim
from hearthmind.vault.records import Problem, Records, _line, _object


@pytest.fixture
def records(tmp_path: Path) -> Records:
    claim(tmp_path)
    return Records(tmp_path)


def test_a_record_comes_back_and_is_replaced_whole(records: Records) -> None:
    records.write_json("enrichment/x.json", {"name": "Zoë", "odd": "\udc80"})
    assert records.read_json("enrichment/x.json") == {"name": "Zoë", "odd": "\udc80"}
    records.write_json("enrichment/x.json", {"name": "Zoë"})
    assert "Zoë" in records.path("enrichment/x.json").read_text()
    records.remove("enrichment/x.json")
    records.remove("enrichment/x.json")
    assert records.read_json("enrichment/x.json") is None


def test_a_damaged_record_is_a_problem_not_a_crash(records: Records) -> None:
    records.path("x.json").write_bytes(b'{"half": ')
    problems: list[Problem] = []
    assert records.read_json("x.json", problems) is None
    assert problems[0].path == ".hearthmind/x.json"


def test_a_torn_last_line_costs_that_line_only(records: Records) -> None:
    records.append("log.jsonl", [{"n": 1}, {"n": 2}])
    path = records.path("log.jsonl")
    path.write_bytes(path.read_bytes() + b'{"n": 3, "te')
    assert [row["n"] for row in records.read_lines("log.jsonl").rows] == [1, 2]
    records.append("log.jsonl", [{"n": 4}])
    found = records.read_lines("log.jsonl")
    assert [row["n"] for row in found.rows] == [1, 2, 4]
    assert [problem.line for problem in found.problems] == [3]
    assert found.rejected == [b'{"n": 3, "te']


def test_garbage_lines_are_passed_over(records: Records) -> None:
    records.path("log.jsonl").write_bytes(b'\x00\xff\n[1]\n{"n":1}\r\n\n<<<<<<< HEAD\n' + b"[" * 100_000 + b"\n")
    found = records.read_lines("log.jsonl")
    assert found.rows == [{"n": 1}]
    assert len(found.problems) == 4


@settings(max_examples=100)
@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none() | st.lists(st.text())))
def test_any_values_fit_on_one_line(row: dict[str, object]) -> None:
    line = _line(row)
    assert line.count(b"\n") == 1
    assert _object(line) == row


def test_records_stay_inside_and_need_the_mark(records: Records) -> None:
    with pytest.raises(PathOutsideVault):
        records.write_json("../x.json", 1)
    (records.root / ".hearthmind/vault.json").unlink()
    with pytest.raises(VaultNotMounted):
        records.append("log.jsonl", [{}])
    with pytest.raises(VaultNotMounted):
        records.write_json("x.json", 1)
    assert list((records.root / ".hearthmind").iterdir()) == []
