"""Binding, ports in use, and a graceful end."""

import os
import signal
import socket
import threading
import time
from pathlib import Path

import httpx2
import pytest
from tests.fakes.house import FakeHouse, FakeHouseStore

from hearthmind.errors import InvalidSetting
from hearthmind.gateway.app import build_app
from hearthmind.gateway.serve import check_binding, serve_app
from hearthmind.house import contract as c
from hearthmind.house.access import add_token
from hearthmind.house.operations import Ans, Operation, Req
from hearthmind.model.house import Caller
from hearthmind.settings import load_settings


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "", "nas.lan"])
def test_a_wider_binding_needs_a_token(tmp_path: Path, host: str) -> None:
    store, settings = FakeHouseStore(), load_settings(data=tmp_path, host=host)
    with pytest.raises(InvalidSetting, match=r"HEARTHMIND_HOST.*hearthmind token create"):
        check_binding(settings, store)
    add_token(store, c.NewTokenRequest(name="one"))
    check_binding(settings, store)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_loopback_needs_none(tmp_path: Path, host: str) -> None:
    check_binding(load_settings(data=tmp_path, host=host), FakeHouseStore())


def test_a_port_in_use_names_the_setting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = load_settings(data=tmp_path, port=other.getsockname()[1])
        with pytest.raises(InvalidSetting, match=r"HEARTHMIND_PORT.*another program uses it"):
            serve_app(_unreached, settings, FakeHouseStore())


async def _unreached(*_: object) -> None:
    raise AssertionError


def test_it_serves_until_a_signal_and_names_itself_to_a_second_one(tmp_path: Path) -> None:
    house = FakeHouse()
    refusals: list[str] = []

    def second(host: str, port: int) -> None:
        def try_again() -> None:
            try:
                serve_app(_unreached, load_settings(data=tmp_path, host=host, port=port), house.store)
            except InvalidSetting as error:
                refusals.append(error.message)
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=try_again).start()

    settings = load_settings(data=tmp_path, port=0)
    serve_app(build_app(house, house.store, settings), settings, house.store, started=second)
    assert len(refusals) == 1
    assert "another Hearthmind answers there" in refusals[0]


def test_a_call_under_way_is_answered_before_the_end(tmp_path: Path) -> None:
    house, inside = FakeHouse(), threading.Event()
    answers: list[str] = []
    threads: list[threading.Thread] = []

    class Slow(FakeHouse):
        def do(self, operation: Operation[Req, Ans], caller: Caller, request: Req) -> Ans:
            inside.set()
            time.sleep(1.0)
            return house.do(operation, caller, request)

    def call(host: str, port: int) -> None:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "stats", "arguments": {}}}
        accept = {"Accept": "application/json, text/event-stream"}

        def ask() -> None:
            answers.append(httpx2.post(f"http://{host}:{port}/mcp", json=body, headers=accept, timeout=10).text)

        def end() -> None:
            inside.wait(5)
            os.kill(os.getpid(), signal.SIGTERM)

        threads.extend(threading.Thread(target=each) for each in (ask, end))
        for thread in threads:
            thread.start()

    settings = load_settings(data=tmp_path, port=0)
    serve_app(build_app(Slow(), house.store, settings), settings, house.store, started=call)
    for thread in threads:
        thread.join(5)
    assert len(answers) == 1
    assert '"memories":0' in answers[0]
