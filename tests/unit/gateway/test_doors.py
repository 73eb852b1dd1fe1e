"""Who gets in: Host, Origin, tokens, the anonymous owner."""

import socket
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.house import FakeHouse, requests_of_every_operation
from tests.unit.gateway.conftest import Enter, remembered

from hearthmind.house.operations import OPERATIONS
from hearthmind.model.house import Scope

TokenFor = Callable[..., dict[str, str]]
OWN = socket.gethostname()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8420", "[::1]:8420", OWN, f"{OWN}.local", "pub.example:443"])
def test_own_names_are_answered_whatever_the_port(enter: Enter, host: str) -> None:
    client = enter(public_url="https://pub.example")
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "127.0.0.1@evil.example", "[::1"])
@pytest.mark.parametrize("path", ["/api/v1/status", "/mcp", "/"])
def test_another_host_gets_421_naming_the_setting(client: TestClient, host: str, path: str) -> None:
    answer = client.get(path, headers={"Host": host})
    assert answer.status_code == 421
    assert "HEARTHMIND_ALLOWED_HOSTS" in answer.json()["detail"]


def test_configured_names_are_answered(enter: Enter) -> None:
    client = enter(allowed_hosts="nas.lan, memory.example", host="10.0.0.5")
    for host in ("nas.lan", "MEMORY.example:80", "10.0.0.5:8420"):
        assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "file://", "http://localhost.evil.example", "garbage"]
)
@pytest.mark.parametrize("path", ["/api/v1/recall", "/mcp"])
def test_pages_from_elsewhere_may_not_call(client: TestClient, origin: str, path: str) -> None:
    answer = client.post(path, json={"query": "x"}, headers={"Origin": origin})
    assert answer.status_code == 403
    assert "HEARTHMIND_ALLOWED_ORIGINS" in answer.json()["detail"]
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("others", [["https://evil.example"], ["http://localhost:3000"]])
def test_two_origins_or_hosts_are_refused_whatever_they_name(client: TestClient, others: list[str]) -> None:
    origins = [("Origin", origin) for origin in ["http://localhost:3000", *others]]
    assert client.get("/api/v1/status", headers=origins).status_code == 403
    hosts = [("Host", "localhost"), ("Host", "evil.example")]
    assert client.get("/api/v1/status", headers=hosts).status_code == 421


def test_allowed_pages_may_call_and_preflight(enter: Enter) -> None:
    client = enter(allowed_origins="https://app.example")
    for origin in ("https://app.example", "http://localhost:3000"):
        answer = client.get("/api/v1/status", headers={"Origin": origin})
        assert answer.headers["access-control-allow-origin"] == origin
        preflight = client.options(
            "/mcp", headers={"Origin": origin, "Access-Control-Request-Method": "POST", "Authorization": ""}
        )
        assert preflight.status_code == 204
        assert "POST" in preflight.headers["access-control-allow-methods"]
    assert client.get("/api/v1/status", headers={"Origin": "https://app.example:444"}).status_code == 403


OTHERS = ["/", "/healthz", "/readyz"]
CLOSED = ["/metrics", "/docs", "/openapi.json", "/api/v1/status", "/api/v1/nothing", "/n/x", "/mcp"]


def test_from_another_machine_a_token_is_needed(enter: Enter) -> None:
    client = enter(peer="192.168.1.7")
    for path in OTHERS:
        assert client.get(path).status_code == 200
    for path in CLOSED:
        answer = client.get(path)
        assert (answer.status_code, answer.json()["type"]) == (401, "urn:hearthmind:not-authenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert client.post("/mcp", json={}).status_code == 401
    probe = client.get("/.well-known/oauth-protected-resource/mcp")
    assert probe.json()["type"] == "urn:hearthmind:not-found"


def test_behind_a_proxy_nobody_is_the_owner(client: TestClient) -> None:
    assert client.get("/api/v1/status").status_code == 200
    assert client.get("/api/v1/status", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 401


def test_a_public_url_ends_the_anonymous_owner(enter: Enter) -> None:
    assert enter(public_url="https://pub.example").get("/api/v1/status").status_code == 401


@pytest.mark.parametrize("given", ["Bearer hm_wrong", "Basic dXNlcjpwdw==", "Bearer  ", "hm_x"])
def test_a_wrong_token_is_refused_once_tokens_exist(client: TestClient, token_for: TokenFor, given: str) -> None:
    token_for("read")
    assert client.get("/api/v1/status", headers={"Authorization": given}).status_code == 401


def test_a_known_token_is_its_caller(client: TestClient, house: FakeHouse, token_for: TokenFor) -> None:
    headers = {**token_for("read", name="laptop"), "User-Agent": "claude-code/2.1 (cli)"}
    assert client.get("/api/v1/status", headers=headers).status_code == 200
    caller = house.calls[-1][1]
    assert (caller.name, caller.client, caller.scopes) == ("laptop", "claude-code", frozenset({Scope.READ}))


@pytest.mark.parametrize("path", ["/metrics", "/docs", "/openapi.json"])
def test_pages_about_the_whole_need_read(client: TestClient, token_for: TokenFor, path: str) -> None:
    assert client.get(path, headers=token_for("write")).status_code == 403
    assert client.get(path, headers=token_for("read")).status_code == 200


def test_metrics_of_every_space_are_not_for_a_bound_token(client: TestClient, token_for: TokenFor) -> None:
    assert client.get("/metrics", headers=token_for("read", spaces=("home",))).status_code == 403


ROUTES: dict[str, tuple[str, str]] = {
    "remember": ("POST", "/memories"),
    "recall": ("POST", "/recall"),
    "search": ("POST", "/search"),
    "fetch": ("GET", "/fetch/{id}"),
    "show": ("GET", "/memories/{id}"),
    "related": ("GET", "/memories/{id}/related"),
    "list_index": ("GET", "/index"),
    "list_tags": ("GET", "/tags"),
    "update_memory": ("PATCH", "/memories/{id}"),
    "forget": ("DELETE", "/memories/{id}"),
    "log_episodes": ("POST", "/episodes"),
    "capture": ("POST", "/captures"),
    "job": ("GET", "/jobs/J1"),
    "jobs": ("GET", "/jobs"),
    "status": ("GET", "/status"),
    "stats": ("GET", "/stats"),
    "spaces": ("GET", "/spaces"),
    "add_space": ("POST", "/spaces"),
    "tokens": ("GET", "/tokens"),
    "add_token": ("POST", "/tokens"),
    "revoke_token": ("DELETE", "/tokens/first"),
}


def test_every_operation_has_a_route() -> None:
    assert ROUTES.keys() == OPERATIONS.keys()


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_route_opens_to_its_scope_alone(client: TestClient, token_for: TokenFor, name: str) -> None:
    made = remembered(client)
    token_for("read", name="first")
    request: Any = requests_of_every_operation(made["id"])[name]
    body = request.fields if name == "update_memory" else request
    method, path = ROUTES[name]
    payload = {"json": body.model_dump(mode="json", exclude_unset=True)} if method in {"POST", "PATCH"} else {}
    for scope in sorted(Scope, key=lambda scope: scope is OPERATIONS[name].scope):
        answer = client.request(
            method, "/api/v1" + path.format(id=made["id"]), headers=token_for(scope.value), **payload
        )
        if scope is OPERATIONS[name].scope:
            assert answer.status_code in {200, 201}, answer.text
        else:
            assert answer.status_code == 403
            assert answer.json()["scope"] == OPERATIONS[name].scope.value
