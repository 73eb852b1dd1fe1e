"""Alive, ready, and counted."""

from starlette.testclient import TestClient
from tests.fakes.house import FakeHouse
from tests.unit.gateway.conftest import Enter, remembered

from hearthmind.errors import StoreUnavailable
from hearthmind.gateway.app import build_app
from hearthmind.gateway.health import Health
from hearthmind.settings import Settings


def test_ready_says_why_it_is_not(enter: Enter, house: FakeHouse) -> None:
    house.ready = False
    client = enter()
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "reasons": ["catalog is down"]})
    assert client.get("/healthz").status_code == 200


def test_a_house_that_cannot_answer_is_not_ready_but_alive(enter: Enter, house: FakeHouse) -> None:
    house.fails["status"] = RuntimeError("secret")
    client = enter()
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "secret" not in answer.text
    house.fails["status"] = StoreUnavailable("the catalog is locked")
    assert Health(house).readiness().reasons == ["the catalog is locked"]


def test_probes_ask_the_house_at_most_once_a_second(client: TestClient, house: FakeHouse) -> None:
    for _ in range(5):
        assert client.get("/readyz").status_code == 200
    assert [call[0] for call in house.calls] == ["status"]


def test_metrics_show_what_each_space_holds(client: TestClient, house: FakeHouse) -> None:
    client.post("/api/v1/spaces", json={"name": "family"})
    remembered(client)
    text = client.get("/metrics").text
    assert 'hearthmind_notes{space="home"} 1.0' in text
    assert 'hearthmind_notes{space="family"} 0.0' in text
    assert 'hearthmind_jobs{space="home",state="done"} 1.0' in text
    assert 'hearthmind_layer_up{layer="catalog",space="home"} 1.0' in text
    assert 'hearthmind_requests_total{edge="rest",operation="remember",outcome="ok"}' in text
    house.fails["stats"] = RuntimeError("broken")
    assert client.get("/metrics").status_code == 200


def test_status_tells_the_edges_warnings(house: FakeHouse, settings: Settings) -> None:
    app = build_app(house, house.store, settings, warnings=lambda: ["unknown setting HEARTHMIND_PROT"])
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 1)) as client:
        assert client.get("/api/v1/status").json()["warnings"] == ["unknown setting HEARTHMIND_PROT"]
