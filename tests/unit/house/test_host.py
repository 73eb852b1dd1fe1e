import importlib.util
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any

import pytest

from hearthmind.errors import HearthmindError, HostUnavailable, NoteChangedSinceRead
from hearthmind.house import contract as c
from hearthmind.house.host import HouseClient
from hearthmind.house.lock import HostLock, address
from hearthmind.house.operations import FORGET, RECALL, REMEMBER, UPDATE
from hearthmind.model.house import OWNER, Caller, Scope
from hearthmind.settings import load_settings

spec = importlib.util.spec_from_file_location("hosting_process", Path(__file__).with_name("hosting_process.py"))
assert spec
assert spec.loader
hosting_process = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hosting_process)
FakeHouse = hosting_process.FakeHouse
Client = Callable[..., HouseClient]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """Makes clients of one data folder; each holds its own lock, as a process of its own would."""
    made: list[HouseClient] = []

    def make(house: Any = None, data: Path = tmp_path, **more: Any) -> HouseClient:
        settings = load_settings(data=data)
        house = house or FakeHouse(data)
        made.append(HouseClient(settings, house if callable(house) else lambda: house, **more))
        return made[-1]

    yield make
    for one in reversed(made):
        one.close()


def recall(client: HouseClient, query: str = "q") -> c.Recalled:
    return client.do(RECALL, OWNER, c.RecallRequest(query=query))


def test_the_first_hosts_and_the_second_is_its_client(client: Client) -> None:
    first, second = client(), client()
    recall(first)
    assert recall(second).context == str(os.getpid())
    assert (first.hosting, second.hosting) == (True, False)


def test_socket_lock_and_folder_are_the_owners_alone(client: Client, tmp_path: Path) -> None:
    recall(client())
    state = tmp_path / "state"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (state, *state.iterdir())}
    assert modes == {"state": 0o700, "host.lock": 0o600, "host.sock": 0o600}


def test_closing_leaves_no_socket_and_frees_the_lock(client: Client, tmp_path: Path) -> None:
    house = FakeHouse(tmp_path)
    first = client(house)
    recall(first)
    first.close()
    assert house.closed
    assert not (tmp_path / "state" / "host.sock").exists()
    assert HostLock(tmp_path).try_acquire()


def test_errors_are_rebuilt_with_class_words_and_members(client: Client) -> None:
    recall(client())
    with pytest.raises(NoteChangedSinceRead, match=r"^changed since$") as caught:
        client().do(UPDATE, OWNER, c.UpdateRequest(id="1", fields=c.MemoryFields(text="x")))
    assert caught.value.extra == {"version": "abc", "seen": [1, 2]}


def test_a_defect_in_the_host_reaches_the_caller_and_the_host_lives(client: Client) -> None:
    recall(client())
    second = client()
    with pytest.raises(HearthmindError, match="RuntimeError: a defect"):
        second.do(FORGET, OWNER, c.ForgetRequest(id="1"))
    assert recall(second).context


def test_the_host_sees_the_caller_and_what_was_left_unset(client: Client, tmp_path: Path) -> None:
    seen: list[Any] = []

    class Seeing(FakeHouse):  # type: ignore[misc,valid-type]
        def do(self, operation: Any, caller: Any, request: Any) -> Any:
            seen.append((operation, caller, request))
            return super().do(operation, caller, request)

    recall(client(Seeing(tmp_path)))
    caller = Caller("phone", frozenset({Scope.READ}), ("home",), "claude")
    with pytest.raises(NoteChangedSinceRead):
        client().do(UPDATE, caller, c.UpdateRequest(id="1", fields=c.MemoryFields(project=None)))
    operation, who, request = seen[-1]
    assert (operation, who) == (UPDATE, caller)
    assert request.fields.model_fields_set == {"project"}
    assert request.idempotency_key


def test_the_callers_own_idempotency_key_is_kept(client: Client, tmp_path: Path) -> None:
    recall(client())
    client().do(REMEMBER, OWNER, c.RememberRequest(content="x", idempotency_key="mine"))
    assert (tmp_path / "effects.log").read_text() == "mine x\n"


def test_a_stale_socket_is_replaced(client: Client, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(state / "host.sock"))
    recall(client())
    assert recall(client()).context


def test_a_long_data_path_gets_a_short_private_socket(client: Client, tmp_path: Path) -> None:
    data = tmp_path / ("d" * 90) / ("e" * 40)
    stale = tmp_path / "hearthmind-gone" / "s"
    (data / "state").mkdir(parents=True)
    stale.parent.mkdir()
    (data / "state" / "host.addr").write_text(str(stale))
    first, second = client(data=data), client(data=data)
    recall(first)
    assert recall(second).context == str(os.getpid())
    assert not second.hosting
    path = address(data)
    assert len(os.fsencode(path)) <= 100
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    first.close()
    assert not path.parent.exists()
    assert not stale.parent.exists()
    assert not (data / "state" / "host.addr").exists()


def test_sixteen_calls_run_at_once(client: Client) -> None:
    recall(client())
    second = client()
    started = perf_counter()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: recall(second, "slow:0.5").context, range(16)))
    assert len(answers) == 16
    assert perf_counter() - started < 3


def test_one_process_opens_the_house_once_for_all_its_threads(client: Client, tmp_path: Path) -> None:
    opened: list[Any] = []

    def open_house() -> Any:
        sleep(0.2)
        opened.append(FakeHouse(tmp_path))
        return opened[-1]

    one = client(open_house)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: recall(one), range(8)))
    assert len(opened) == 1


def test_visitors_wait_while_the_house_is_opening(client: Client, tmp_path: Path) -> None:
    opening, go = Event(), Event()

    def open_house() -> Any:
        opening.set()
        go.wait(10)
        return FakeHouse(tmp_path)

    first, second = client(open_house), client(patience=0.1)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(recall, first)
        assert opening.wait(5)
        two = pool.submit(recall, second)
        sleep(0.4)
        go.set()
        assert one.result(5).context == two.result(5).context


def test_a_house_that_cannot_be_opened_leaves_nothing_held(client: Client, tmp_path: Path) -> None:
    def broken() -> Any:
        raise OSError("no space")

    with pytest.raises(HostUnavailable, match="no space"):
        recall(client(broken))
    assert recall(client()).context


def test_a_process_that_holds_the_lock_without_a_door_is_named(client: Client, tmp_path: Path) -> None:
    lock = HostLock(tmp_path)
    assert lock.try_acquire()
    with pytest.raises(HostUnavailable, match=rf"pid {os.getpid()}.*does not answer"):
        recall(client(patience=0.3))
    lock.release()


def test_an_unwritable_data_folder_is_named(client: Client, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostUnavailable, match="data folder"):
        recall(client(data=tmp_path / "file" / "data"))


def test_closing_finishes_the_call_begun_and_the_next_host_takes_the_rest(client: Client, tmp_path: Path) -> None:
    first, second = client(), client()
    recall(first)
    recall(second)
    answers: list[Any] = []
    caller = Thread(target=lambda: answers.append(recall(second, "slow:0.5")))
    caller.start()
    sleep(0.2)
    first.close()
    caller.join(5)
    assert answers[0].query == "slow:0.5"
    assert recall(second).context
    assert second.hosting


def test_an_idle_client_that_keeps_hosting_takes_over(client: Client) -> None:
    first, second = client(), client()
    recall(first)
    second.keep_hosting()
    sleep(0.1)
    first.close()
    started = perf_counter()
    while not second.hosting and perf_counter() - started < 5:
        sleep(0.01)
    assert perf_counter() - started < 1


def test_a_closed_client_says_so_and_does_not_take_the_lock(client: Client, tmp_path: Path) -> None:
    first, second = client(), client()
    recall(first)
    second.keep_hosting()
    second.close()
    with pytest.raises(HostUnavailable, match="ending"):
        recall(second)
    first.close()
    sleep(0.2)
    assert HostLock(tmp_path).try_acquire()


def test_a_lock_in_a_deleted_state_folder_is_not_the_lock(tmp_path: Path) -> None:
    first, second = HostLock(tmp_path), HostLock(tmp_path)
    assert first.try_acquire()
    assert not second.try_acquire()
    waiting = Thread(target=second.acquire, daemon=True)
    waiting.start()
    sleep(0.1)
    (tmp_path / "state" / "host.lock").unlink()
    first.release()
    waiting.join(5)
    assert second.held
    assert not HostLock(tmp_path).try_acquire()


def test_a_call_through_the_door_costs_little(client: Client) -> None:
    recall(client())
    second = client()
    took = []
    for _ in range(200):
        started = perf_counter()
        recall(second)
        took.append(perf_counter() - started)
    print(f"median {median(took) * 1000:.2f} ms", file=sys.stderr)
    assert median(took) < 0.01
