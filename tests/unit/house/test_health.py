"""Status answers at once, whatever a layer does."""

import time
from threading import Event, Thread

import pytest

from hearthmind.errors import StoreUnavailable
from hearthmind.house import contract as c
from hearthmind.house.health import SlowLayers

OK = c.LayerState(state="ok", detail="here")


def test_a_layer_that_does_not_answer_holds_nobody_up_and_is_asked_once() -> None:
    layers, gate, asked = SlowLayers(), Event(), []

    def check() -> c.LayerState:
        asked.append(1)
        gate.wait(20)
        return OK

    states: list[c.LayerState] = []
    started = time.monotonic()
    threads = [Thread(target=lambda: states.append(layers.state("embedder", check))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - started < 3
    assert {state.state for state in states} == {"degraded"}
    assert len(asked) == 1
    assert layers.state("vectors", lambda: OK) == OK
    gate.set()
    assert layers.state("embedder", check) == OK


def test_an_answer_counts_for_a_while_and_then_is_asked_anew() -> None:
    layers, asked = SlowLayers(), []

    def check() -> c.LayerState:
        asked.append(1)
        return OK

    for _ in range(3):
        assert layers.state("embedder", check, counts_for=60) == OK
    assert len(asked) == 1
    assert layers.state("embedder", check) == OK
    assert len(asked) == 2


@pytest.mark.parametrize("error", [StoreUnavailable("the server sleeps"), ValueError("a bug")])
def test_a_check_that_fails_is_a_layer_that_is_down(error: Exception) -> None:
    def check() -> c.LayerState:
        raise error

    assert SlowLayers().state("vectors", check).state == "down"
