import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from hearthmind.cli.clients import CLIENTS


def test_the_first_token_needs_a_yes_because_it_ends_the_anonymous_owner(run: Any, house: Any) -> None:
    ran = run("connect", "cursor")
    assert (ran.code, house.tokens) == (2, [])
    assert "every client needs one" in ran.err
    assert "--yes" in ran.err
    sure = run("connect", "cursor", "--yes")
    assert (sure.code, house.tokens) == (0, ["cursor"])
    assert "the anonymous owner ends" in sure.err


def test_later_tokens_are_minted_without_asking_under_a_free_name(run: Any, house: Any) -> None:
    house.tokens.append("cursor")
    assert run("connect", "cursor").code == 0
    assert house.tokens == ["cursor", "cursor-2"]


def test_no_token_prints_lines_for_the_anonymous_owner(run: Any, house: Any) -> None:
    ran = run("connect", "claude-code", "--no-token")
    assert (ran.code, house.tokens) == (0, [])
    assert "claude mcp add --transport http --scope user hearthmind http://127.0.0.1:8420/mcp\n" in ran.out
    assert "oken" not in ran.out
    house.tokens.append("laptop")
    assert "will be refused" in run("connect", "claude-code", "--no-token").err


def test_claude_code_gets_one_command(run: Any, house: Any) -> None:
    house.tokens.append("other")
    ran = run("connect", "claude-code")
    line = next(line for line in ran.out.splitlines() if "claude mcp" in line)
    assert shlex.split(line)[-2:] == ["--header", "Authorization: Bearer hm_secret"]


@pytest.mark.parametrize(
    ("client", "entry"),
    [
        ("cursor", {"url": "http://127.0.0.1:8420/mcp", "headers": {"Authorization": "Bearer hm_secret"}}),
        ("lm-studio", {"url": "http://127.0.0.1:8420/mcp", "headers": {"Authorization": "Bearer hm_secret"}}),
        (
            "vscode",
            {"type": "http", "url": "http://127.0.0.1:8420/mcp", "headers": {"Authorization": "Bearer hm_secret"}},
        ),
    ],
)
def test_json_clients_get_the_entry_to_paste(run: Any, house: Any, client: str, entry: dict[str, Any]) -> None:
    out = run("connect", client, "--yes").out
    pasted = json.loads(out[out.index("\n{") :])
    assert pasted == {"servers" if client == "vscode" else "mcpServers": {"hearthmind": entry}}


@pytest.mark.parametrize("client", ["stdio", "claude-desktop"])
def test_stdio_clients_get_an_absolute_command_with_the_settings_and_no_token(
    run: Any, house: Any, client: str, environment: Path
) -> None:
    out = run("connect", client).out
    entry = json.loads(out[out.index("\n{") :])["mcpServers"]["hearthmind"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-1] == "mcp"
    assert entry["env"]["HEARTHMIND_DATA"] == str(environment)
    assert house.tokens == []


def test_the_public_address_is_what_clients_are_given(run: Any, house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTHMIND_PUBLIC_URL", "https://memory.example.org/")
    assert "https://memory.example.org/mcp" in run("connect", "n8n", "--yes").out


def test_chatgpt_is_told_what_is_missing(run: Any, house: Any) -> None:
    ran = run("connect", "chatgpt")
    assert "OAuth" in ran.out
    assert house.tokens == []


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_answers_in_json_too(run: Any, house: Any, client: str) -> None:
    answer = run("connect", client, "--yes", "--json").json
    assert answer["client"] == client
    assert answer["lines"]
