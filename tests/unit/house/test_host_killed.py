"""Hosts in processes of their own, ended with SIGKILL."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, sleep

import pytest

SCRIPT = Path(__file__).with_name("hosting_process.py")


class Process:
    def __init__(self, data: Path, keep: bool) -> None:
        self.running = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(data), "keep" if keep else "leave"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = str(self.running.pid)

    def tell(self, line: str) -> None:
        assert self.running.stdin
        self.running.stdin.write(line + "\n")
        self.running.stdin.flush()

    def hear(self) -> str:
        assert self.running.stdout
        return self.running.stdout.readline().strip()

    def ask(self, line: str) -> str:
        self.tell(line)
        return self.hear()

    def kill(self) -> None:
        self.running.kill()
        self.running.wait()


Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Process] = []

    def begin(keep: bool = False) -> Process:
        started.append(Process(tmp_path, keep))
        return started[-1]

    yield begin
    for process in started:
        process.kill()


def ready(*processes: Process) -> None:
    for process in processes:
        assert process.hear() == "ready"


def test_of_processes_that_race_exactly_one_hosts(start: Start) -> None:
    racing = [start() for _ in range(4)]
    ready(*racing)
    for process in racing:
        process.tell("recall q")
    hosts = {process.hear() for process in racing}
    assert len(hosts) == 1
    assert [process.ask("hosting") for process in racing].count("True") == 1


def test_an_idle_client_takes_over_from_a_killed_host(start: Start) -> None:
    host = start()
    ready(host)
    host.ask("recall q")
    idle = start(keep=True)
    ready(idle)
    assert idle.ask("hosting") == "False"
    host.kill()
    killed = perf_counter()
    while idle.ask("hosting") == "False" and perf_counter() - killed < 5:
        sleep(0.02)
    assert perf_counter() - killed < 2


def test_a_call_after_the_host_was_killed_is_answered_by_the_caller_itself(start: Start) -> None:
    host, other = start(), start()
    ready(host, other)
    host.ask("recall q")
    assert other.ask("recall q") == host.pid
    host.kill()
    assert other.ask("recall q") == other.pid


def test_a_write_is_done_once_when_the_host_is_killed_during_it(start: Start, tmp_path: Path) -> None:
    host, other = start(), start()
    ready(host, other)
    host.ask("recall q")
    other.tell("remember slow:1.5")
    _wait_for_effect(tmp_path)
    host.kill()
    killed = perf_counter()
    assert other.hear() == "True"  # the second host knew the key of the first try
    assert perf_counter() - killed < 4
    assert len((tmp_path / "effects.log").read_text().splitlines()) == 1


def test_a_write_without_a_key_is_not_repeated_and_says_so(start: Start, tmp_path: Path) -> None:
    host, other = start(), start()
    ready(host, other)
    host.ask("recall q")
    other.tell("add_space family")
    _wait_for_effect(tmp_path)
    host.kill()
    assert other.hear().startswith("host-unavailable: the Hearthmind host ended during add_space")
    assert len((tmp_path / "effects.log").read_text().splitlines()) == 1


def test_a_call_that_ends_every_host_is_given_up(start: Start) -> None:
    hosts = [start(keep=True) for _ in range(4)]
    ready(*hosts)
    caller = start()
    ready(caller)
    caller.tell("recall slow:20")
    for _ in range(3):
        hosting = _host_among(hosts)
        sleep(0.7)  # the call looks for the next host every 0.2 s
        hosting.kill()
        hosts.remove(hosting)
    assert caller.hear().startswith("host-unavailable")


def _host_among(processes: list[Process]) -> Process:
    until = perf_counter() + 10
    while perf_counter() < until:
        for process in processes:
            if process.ask("hosting") == "True":
                return process
        sleep(0.05)
    raise AssertionError("nobody became the host")


def _wait_for_effect(data: Path) -> None:
    until = perf_counter() + 5
    while not (data / "effects.log").exists() and perf_counter() < until:
        sleep(0.01)
