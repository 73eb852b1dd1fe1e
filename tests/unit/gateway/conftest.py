from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.house import FakeHouse

from hearthmind.gateway.app import build_app
from hearthmind.house import contract as c
from hearthmind.house.access import add_token
from hearthmind.settings import Settings, load_settings

Enter = Callable[..., TestClient]


@pytest.fixture
def house() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(data=tmp_path)


@pytest.fixture
def enter(house: FakeHouse, tmp_path: Path) -> Iterator[Enter]:
    """Opens the app over the house, with settings, and a client of it; `peer` is where it calls from."""
    opened: list[TestClient] = []

    def open_app(peer: str = "127.0.0.1", base: str = "http://127.0.0.1:8420", **settings: Any) -> TestClient:
        app = build_app(house, house.store, load_settings(data=tmp_path, **settings))
        client = TestClient(app, base_url=base, client=(peer, 50000), raise_server_exceptions=False)
        client.__enter__()
        opened.append(client)
        return client

    yield open_app
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def client(enter: Enter) -> TestClient:
    """The anonymous owner."""
    return enter()


@pytest.fixture
def token_for(house: FakeHouse) -> Callable[..., dict[str, str]]:
    def make(*scopes: str, spaces: tuple[str, ...] = (), name: str = "") -> dict[str, str]:
        request = c.NewTokenRequest(name=name or "-".join(scopes), scopes=list(scopes), spaces=list(spaces))
        return {"Authorization": f"Bearer {add_token(house.store, request).token}"}

    return make


def remembered(client: TestClient, content: str = "We use uv", **more: Any) -> dict[str, Any]:
    answer = client.post("/api/v1/memories", json={"content": content, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())
