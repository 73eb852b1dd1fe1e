"""Several processes on one data folder: two servers, commands, stdio clients; the host among them killed."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.slow
HEARTHMIND = [sys.executable, "-m", "hearthmind.cli"]
START_SECONDS = 60


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEARTHMIND_")}
    return kept | {
        "HEARTHMIND_DATA": str(tmp_path / "data"),
        "HEARTHMIND_EMBEDDER": "packaged",
        "HEARTHMIND_TIMEZONE": "UTC",
    }


class Server:
    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self.running = subprocess.Popen(
            [*HEARTHMIND, "serve", "--port", "0", "--json"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
        )
        assert self.running.stdout
        line = self.running.stdout.readline()
        assert line, log.read_text()
        self.greeting = json.loads(line)
        self.url = self.greeting["url"]

    def post(self, path: str, **body: Any) -> Any:
        answer = httpx.post(f"{self.url}/api/v1{path}", json=body, timeout=30)
        assert answer.is_success, answer.text
        return answer.json()

    def recall(self, query: str) -> list[str]:
        return [hit["title"] for hit in self.post("/recall", query=query)["hits"]]


class Stdio:
    """`hearthmind mcp`, spoken to in JSON-RPC lines."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self.running = subprocess.Popen(
            [*HEARTHMIND, "mcp"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
        )
        self.number = 0
        self.ask(
            "initialize",
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> Any:
        self.number += 1
        self._send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        assert self.running.stdout
        for line in self.running.stdout:
            message = json.loads(line)  # nothing but the protocol may be on stdout
            if message.get("id") == self.number:
                assert "result" in message, message
                return message["result"]
        raise AssertionError("the stdio server ended")

    def call(self, tool: str, **arguments: Any) -> Any:
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self.running.stdin
        self.running.stdin.write(json.dumps(message) + "\n")
        self.running.stdin.flush()


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[[type[Any]], Any]]:
    started: list[Any] = []

    def begin(kind: type[Any]) -> Any:
        started.append(kind(environment, tmp_path / f"{kind.__name__}-{len(started)}.log"))
        return started[-1]

    yield begin
    for one in started:
        with contextlib.suppress(ProcessLookupError):
            one.running.kill()
        one.running.wait(10)


def command(environment: dict[str, str], *arguments: str) -> Any:
    ran = subprocess.run(
        [*HEARTHMIND, *arguments, "--json"], env=environment, capture_output=True, text=True, timeout=START_SECONDS
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_servers_commands_and_stdio_clients_share_one_data_folder_and_survive_the_hosts_death(
    start: Callable[[type[Any]], Any], environment: dict[str, str]
) -> None:
    first, second = start(Server), start(Server)
    assert (first.greeting["hosting"], second.greeting["hosting"]) == (True, False)
    clients = [start(Stdio) for _ in range(3)]
    first.post("/memories", content="Bees dance to show the way to flowers.", title="Bees")
    second.post("/memories", content="The kettle boils at a hundred degrees.", title="Kettle")
    command(environment, "remember", "Our cat is named Mog.", "--title", "Cat")
    clients[0].call("remember", content="The car is parked in the blue garage.", title="Car")

    first.running.kill()
    killed = time.monotonic()
    assert "Bees" in second.recall("bees")
    assert time.monotonic() - killed < 10

    for number, client in enumerate(clients):
        client.call("remember", content=f"Fact {number} was written after the crash.", title=f"After {number}")
    for word, title in [("flowers", "Bees"), ("kettle", "Kettle"), ("Mog", "Cat"), ("garage", "Car")]:
        assert title in second.recall(word)
        assert title in [hit["title"] for hit in command(environment, "recall", word)["hits"]]
    written = {line["title"] for line in command(environment, "index", "--limit", "200")["items"]}
    assert {"Bees", "Kettle", "Cat", "Car", "After 0", "After 1", "After 2"} <= written


def test_a_command_without_any_server_hosts_itself_and_leaves_nothing_behind(
    environment: dict[str, str], tmp_path: Path
) -> None:
    command(environment, "remember", "Our cat is named Mog.", "--title", "Cat")
    assert [hit["title"] for hit in command(environment, "recall", "cat Mog")["hits"]] == ["Cat"]
    assert not (tmp_path / "data" / "state" / "host.sock").exists()


def test_a_port_in_use_is_told_in_words(environment: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = subprocess.run(
            [*HEARTHMIND, "serve", "--port", str(taken.getsockname()[1])],
            env=environment,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
        )
    assert ran.returncode == 1
    assert "in use" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_sigterm_ends_a_server_cleanly(start: Callable[[type[Any]], Any], tmp_path: Path) -> None:
    server = start(Server)
    server.running.terminate()
    assert server.running.wait(20) == 0
    assert not (tmp_path / "data" / "state" / "host.sock").exists()


def test_adopt_makes_a_vault_the_home_space_and_changes_none_of_its_notes(
    environment: dict[str, str], tmp_path: Path
) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Bees.md").write_text("Bees dance.\n")
    adopted = command(environment, "adopt", str(vault))
    assert (adopted["name"], adopted["vault"], adopted["kind"]) == ("home", str(vault), "adopted")
    assert (vault / "Bees.md").read_text() == "Bees dance.\n"
    again = subprocess.run(
        [*HEARTHMIND, "adopt", str(tmp_path)], env=environment, capture_output=True, text=True, timeout=START_SECONDS
    )
    assert again.returncode == 1
    assert "has its vault already" in again.stderr
