"""A server killed in a burst: what it acknowledged is there once, what it did not is not half there."""

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.slow
HEARTHMIND = [sys.executable, "-m", "hearthmind.cli"]
KILLS = 4
CLIENTS = 3
HEAL_SECONDS = 60


class House:
    """`hearthmind serve` on one data folder, started again after each kill."""

    def __init__(self, folder: Path) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HEARTHMIND_")}
        self.data = folder / "data"
        self.environment = kept | {
            "HEARTHMIND_DATA": str(self.data),
            "HEARTHMIND_EMBEDDER": "packaged",
            "HEARTHMIND_TIMEZONE": "UTC",
        }
        self._log = folder / "serve.log"
        self._running: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> None:
        self._running = subprocess.Popen(
            [*HEARTHMIND, "serve", "--port", "0", "--json"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=self._log.open("a"),
            text=True,
        )
        assert self._running.stdout
        line = self._running.stdout.readline()
        assert line, self._log.read_text()
        self.url = json.loads(line)["url"]

    def kill(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.wait(10)
            self._running = None

    def post(self, path: str, **body: Any) -> Any:
        answer = httpx.post(f"{self.url}/api/v1{path}", json=body, timeout=60)
        assert answer.is_success, answer.text
        return answer.json()

    def get(self, path: str, **query: Any) -> Any:
        answer = httpx.get(f"{self.url}/api/v1{path}", params=query, timeout=60)
        assert answer.is_success, answer.text
        return answer.json()

    def notes(self) -> dict[str, str]:
        vault = self.data / "vaults" / "home"
        return {
            path.relative_to(vault).as_posix(): path.read_text()
            for path in vault.rglob("*.md")
            if ".hearthmind" not in path.parts and path.name != "AGENTS.md"
        }

    def settled(self) -> None:
        deadline = time.monotonic() + HEAL_SECONDS
        while self.get("/status")["indexing"]["active"] or self.get("/stats")["pending_vectors"]:
            assert time.monotonic() < deadline, "the index did not settle"
            time.sleep(0.2)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.kill()


class Burst:
    """Clients that remember, capture and log without pause; each text holds a word of its own."""

    def __init__(self, house: House, round_: int) -> None:
        self.sent: dict[str, tuple[str, dict[str, Any]]] = {}
        self.acknowledged: set[str] = set()
        self._house = house
        self._round = round_
        self._threads = [threading.Thread(target=self._client, args=(number,)) for number in range(CLIENTS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(90)
            assert not thread.is_alive()

    def _client(self, number: int) -> None:
        with httpx.Client(base_url=f"{self._house.url}/api/v1", timeout=30) as client:
            for count in range(10_000):
                word = f"quokka{self._round}x{number}x{count}z"
                path, body = request_for(word, count, f"Session {self._round} {number}")
                self.sent[word] = (path, body)
                try:
                    answer = client.post(path, json=body)
                except httpx.HTTPError:
                    return
                assert answer.is_success, answer.text
                self.acknowledged.add(word)


def request_for(word: str, count: int, session: str) -> tuple[str, dict[str, Any]]:
    text = f"{word} was seen.\n\nIt ate leaves and {word}end."
    match count % 3:
        case 0:
            return "/memories", {"content": text, "title": f"About {word}"}
        case 1:
            return "/captures", {"text": text}
        case _:
            return "/episodes", {
                "session": session,
                "entries": [
                    {"role": "user", "content": text, "ref": word},
                    {"role": "assistant", "content": f"Noted {word}reply.", "ref": f"{word}reply"},
                ],
            }


def test_what_was_acknowledged_before_a_kill_is_there_once_and_nothing_is_half_there(house: House) -> None:
    chance = random.Random(20260322)
    sent: dict[str, tuple[str, dict[str, Any]]] = {}
    acknowledged: set[str] = set()
    round_ = 0
    house.start()
    while round_ < KILLS or len(acknowledged) < 60:
        burst = Burst(house, round_)
        burst.start()
        time.sleep(1 + 3 * chance.random())
        house.kill()
        burst.join()
        sent |= burst.sent
        acknowledged |= burst.acknowledged
        round_ += 1
        house.start()
        assert round_ < 20
    house.settled()

    notes = house.notes()
    everything = "\n".join(notes.values())
    for word, (path, _) in sent.items():
        begins, ends = everything.count(f"{word} was seen."), everything.count(f"{word}end.")
        assert begins == ends, f"{word} is half there"
        assert begins <= 1, f"{word} is there {begins} times"
        if word in acknowledged:
            assert begins == 1, f"{word} was acknowledged and is lost ({path})"
        if path == "/episodes":
            assert everything.count(f"{word}reply.") == begins, f"half of a batch: {word}"
    assert not [path for path in notes if ".hearthmind-" in path]
    temporaries = [path for path in (house.data / "vaults").rglob(".hearthmind-*.tmp") if path.is_file()]
    assert len(temporaries) <= round_ * (CLIENTS + 1)

    titles = Counter(line["title"] for line in house.get("/memories", limit=200)["items"])
    assert {title: count for title, count in titles.items() if title.startswith("About") and count > 1} == {}
    for word in sorted(acknowledged):
        hits = house.post("/recall", query=word, mode="keyword", floor="off")["hits"]
        assert any(word in hit["text"] for hit in hits), f"{word} is not found by its word"
    for word in chance.sample(sorted(acknowledged), 20):
        hits = house.post("/recall", query=f"{word} was seen", mode="meaning", floor="off", limit=50)["hits"]
        assert hits, f"nothing is found by meaning for {word}"
    stats = house.get("/stats")
    assert stats["pending_vectors"] == 0
    assert stats["jobs"].get("queued", 0) == stats["jobs"].get("running", 0) == 0


def test_every_request_of_a_burst_repeated_after_a_kill_stands_once(house: House) -> None:
    chance = random.Random(7)
    keyed: dict[str, tuple[str, dict[str, Any]]] = {}
    house.start()
    for round_ in range(3):
        burst = Burst(house, round_)
        burst.start()
        time.sleep(1 + 2 * chance.random())
        house.kill()
        burst.join()
        house.start()
        unsure = {word: one for word, one in burst.sent.items() if word not in burst.acknowledged}
        assert unsure
        for path, body in unsure.values():
            if path != "/captures":  # without a key a capture is a new one each time
                house.post(path, **body)
        keyed |= {word: one for word, one in burst.sent.items() if one[0] != "/captures"}
    everything = "\n".join(house.notes().values())
    assert {word: everything.count(f"{word}end.") for word in keyed} == dict.fromkeys(keyed, 1)


def test_two_processes_that_retry_with_one_key_at_once_make_one_memory(house: House) -> None:
    house.start()
    second = House(house.data.parent)
    second.start()
    try:
        answers: list[httpx.Response] = []
        for number in range(10):
            gate = threading.Barrier(2)

            def retry(url: str, gate: threading.Barrier = gate, number: int = number) -> None:
                gate.wait()
                answers.append(
                    httpx.post(
                        f"{url}/api/v1/memories",
                        json={"content": f"Kept once, number {number}.", "title": f"Once {number}"},
                        headers={"Idempotency-Key": f"key-{number}"},
                        timeout=30,
                    )
                )

            threads = [threading.Thread(target=retry, args=(one.url,)) for one in (house, second)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(40)
            both = [answer.json() for answer in answers[-2:]]
            assert {answer.status_code for answer in answers[-2:]} == {200, 201}
            assert both[0]["id"] == both[1]["id"]
        assert house.get("/stats")["memories"] == 10
    finally:
        second.kill()


def test_a_garbage_house_db_stops_the_server_with_words_and_stays(house: House) -> None:
    house.start()
    house.post("/memories", content="Kept.", title="Kept")
    house.kill()
    path = house.data / "house.db"
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(b"garbage" * 1000)
    ran = subprocess.run(
        [*HEARTHMIND, "serve", "--port", "0"], env=house.environment, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 1
    assert "house.db is damaged" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert path.read_bytes() == b"garbage" * 1000


def test_a_command_against_a_vault_that_is_gone_says_so_and_creates_nothing(house: House, tmp_path: Path) -> None:
    vault = tmp_path / "usb stick" / "vault"
    vault.mkdir(parents=True)
    house.environment["HEARTHMIND_VAULT"] = str(vault)
    house.start()
    house.post("/memories", content="Kept.", title="Kept")
    house.kill()
    away = tmp_path / "away"
    vault.parent.rename(away)
    ran = subprocess.run(
        [*HEARTHMIND, "remember", "Not here.", "--json"],
        env=house.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 1
    assert "not mounted" in ran.stderr + ran.stdout
    assert "Traceback" not in ran.stderr
    assert not vault.parent.exists()
    with contextlib.suppress(OSError):
        away.rename(vault.parent)
    house.start()
    assert [hit["title"] for hit in house.post("/recall", query="kept", floor="off")["hits"]] == ["Kept"]
