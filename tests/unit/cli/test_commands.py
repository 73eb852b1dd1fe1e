"""What each command asks of the house, and what it prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from hearthmind.errors import MemoryNotFound

COMMANDS = [
    ("remember", ["remember", "Use uv"], {"content": "Use uv"}),
    (
        "remember",
        ["remember", "x", "--title", "T", "--type", "decision", "--tag", "a", "--tag", "b", "--importance", "high",
         "--project", "p", "--critical", "--at", "2026-01-01", "--source", "http://s", "--space", "home"],
        {"content": "x", "title": "T", "type": "decision", "tags": ["a", "b"], "importance": "high", "project": "p",
         "critical": True, "occurred_at": "2026-01-01", "source": "http://s", "space": "home"},
    ),
    ("remember", ["remember", "x", "--importance", "7"], {"content": "x", "importance": 7}),
    ("capture", ["capture", "Met Ana", "--topic", "people"], {"text": "Met Ana", "topics": ["people"]}),
    ("recall", ["recall", "how"], {"query": "how"}),
    (
        "recall",
        ["recall", "how", "--limit", "3", "--type", "fact", "--tag", "ci", "--no-expand", "--floor", "off", "--mode",
         "keyword", "--since", "2026-01-01"],
        {"query": "how", "limit": 3, "types": ["fact"], "tags": ["ci"], "expand": False, "floor": "off",
         "mode": "keyword", "since": "2026-01-01"},
    ),
    ("search", ["search", "how"], {"query": "how"}),
    ("show", ["show", "01A"], {"id": "01A"}),
    ("related", ["related", "01A", "--depth", "2", "--type", "supports"],
     {"id": "01A", "depth": 2, "types": ["supports"]}),
    (
        "update_memory",
        ["update", "01A", "--title", "New", "--set", "rating=5", "--set", "old=null", "--set", "who=Ana", "--version",
         "v1"],
        {"id": "01A", "version": "v1",
         "fields": {"title": "New", "properties": {"rating": 5, "old": None, "who": "Ana"}}},
    ),
    ("update_memory", ["update", "01A", "--tag", ""], {"id": "01A", "fields": {"tags": []}}),
    ("update_memory", ["update", "01A", "--not-critical"], {"id": "01A", "fields": {"critical": False}}),
    ("forget", ["forget", "01A"], {"id": "01A"}),
    ("list_index", ["index", "--folder", "wiki", "--page", "2"], {"folder": "wiki", "page": "2"}),
    ("list_tags", ["tags", "c"], {"prefix": "c"}),
    ("jobs", ["jobs", "--state", "failed"], {"state": ["failed"]}),
    ("status", ["status"], {}),
    ("stats", ["stats"], {}),
    ("spaces", ["space", "list"], {}),
    ("add_space", ["space", "add", "family", "--vault", "/v"], {"name": "family", "vault": "/v"}),
    ("add_token", ["token", "create", "laptop", "--scope", "read", "--space", "home"],
     {"name": "laptop", "scopes": ["read"], "spaces": ["home"]}),
    ("tokens", ["token", "list"], {}),
    ("revoke_token", ["token", "revoke", "laptop"], {"id": "laptop"}),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "arguments", "request_"), COMMANDS)
def test_a_command_asks_for_what_it_names(
    run: Any, house: Any, operation: str, arguments: list[str], request_: dict[str, Any]
) -> None:
    ran = run(*arguments)
    assert (ran.code, house.last()) == (0, (operation, request_)), ran.err


@pytest.mark.parametrize("arguments", [arguments for _, arguments, _ in COMMANDS])
def test_json_is_one_document_and_the_exact_answer(run: Any, house: Any, arguments: list[str]) -> None:
    ran = run(*arguments, "--json")
    assert ran.code == 0
    assert isinstance(ran.json, dict)


def test_what_a_person_sees(run: Any, house: Any) -> None:
    remembered = run("remember", "x")
    assert remembered.out == "Remembered: Use uv\na.md\n01A\n"
    assert "similar (0.91): Like it" in remembered.err
    recalled = run("recall", "q")
    assert "1. Use uv  (2026-01-28, 0.90: words)" in recalled.out
    assert "vectors could not take part" in recalled.err
    assert run("recall", "q", "--context").out == "THE CONTEXT\n"
    assert "Use uv for CI." in run("show", "01A").out
    listed = run("index")
    assert listed.out == "01A\t2026-01-28\tdecision\tUse uv\tS.\n"
    assert "1 of 7; the next: --page 2" in listed.err
    assert run("related", "01A").out == "Use uv\tsupports\t01B\n"
    health = run("status").out
    assert "embedder   ok        packaged" in health
    assert "indexing   3 of 9 notes" in health
    assert "problem: a.md:2: Bad YAML. Mend it." in health


def test_text_comes_from_a_file_or_stdin(run: Any, house: Any, tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_bytes(b"\xef\xbb\xbfFrom a file \xc3\xa9")
    run("remember", "--file", str(file))
    assert house.last()[1] == {"content": "From a file é"}
    run("remember", "-", stdin="From stdin\n")
    assert house.last()[1] == {"content": "From stdin\n"}


@pytest.mark.parametrize(
    "text",
    [
        '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]',
        '{"entries": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]}',
        '{"role": "user", "content": "Hi"}\n\n{"role": "assistant", "content": "Yes"}\n',
    ],
)
def test_log_reads_json_and_json_lines(run: Any, house: Any, text: str, tmp_path: Path) -> None:
    assert run("log", "s", stdin=text).out == "2 entries, 1 known already\nsessions/s.md\n"
    _, request = house.last()
    assert [entry["content"] for entry in request["entries"]] == ["Hi", "Yes"]
    (tmp_path / "turns.json").write_text(text)
    run("log", "s", str(tmp_path / "turns.json"))
    assert house.last()[1] == request


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (["remember"], "", "give the text"),
        (["remember", "x", "--file", "/nope"], "", "not both"),
        (["remember", "--file", "/nope"], "", "cannot read"),
        (["remember", "-"], b"\xff\xfe", "not UTF-8"),
        (["remember", "x", "--importance", "11"], "", "importance"),
        (["remember", "x", "--type", "idea"], "", "type"),
        (["recall", "x", "--limit", "900"], "", "limit"),
        (["log", "s"], "{not json", "line 1 is not JSON"),
        (["log", "s"], '{"role": "user"}', "content"),
        (["update", "01A"], "", "say what to change"),
        (["update", "01A", "--set", "x"], "", "property=value"),
        (["space", "add", "Ä"], "", "name"),
        (["connect", "netscape"], "", "choose one of"),
        (["nonsense"], "", "nonsense"),
    ],
)
def test_wrong_usage_is_told_with_exit_code_2(
    run: Any, house: Any, arguments: list[str], stdin: str | bytes, words: str
) -> None:
    ran = run(*arguments, stdin=stdin)
    assert (ran.code, ran.out) == (2, "")
    assert words in " ".join(ran.err.split())
    assert house.asked == []


def test_a_failure_is_told_in_words_with_exit_code_1(run: Any, house: Any) -> None:
    house.errors["show"] = MemoryNotFound("no memory has the id nope")
    ran = run("show", "nope", "--json")
    assert (ran.code, ran.out, ran.err) == (1, "", "no memory has the id nope\n")


def test_unknown_and_wrong_settings_are_named(run: Any, house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTHMIND_PROT", "1")
    ran = run("stats", "--json")
    assert json.loads(ran.out)["memories"] == 1
    assert ran.err == "warning: unknown setting HEARTHMIND_PROT; did you mean HEARTHMIND_PORT?\n"
    monkeypatch.setenv("HEARTHMIND_PORT", "many")
    wrong = run("stats")
    assert (wrong.code, wrong.out) == (1, "")
    assert "HEARTHMIND_PORT" in wrong.err
