"""Every REST route, over a house in memory."""

from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.house import FakeHouse
from tests.unit.gateway.conftest import remembered

from hearthmind.errors import VaultNotMounted


def test_a_new_memory_answers_201_with_its_place_and_the_same_again_200(client: TestClient) -> None:
    first = client.post("/api/v1/memories", json={"content": "We use uv", "type": "decision", "tags": ["ci"]})
    again = client.post("/api/v1/memories", json={"content": "We use uv"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["existing"] is True
    shown = client.get(first.headers["location"])
    assert shown.json()["text"] == "We use uv"
    assert shown.headers["etag"] == first.headers["etag"] == f'"{first.json()["version"]}"'


def test_the_idempotency_key_reaches_the_house(client: TestClient, house: FakeHouse) -> None:
    client.post("/api/v1/memories", json={"content": "x"}, headers={"Idempotency-Key": "k1"})
    request: Any = house.calls[-1][2]
    assert request.idempotency_key == "k1"
    refused = client.post("/api/v1/memories", json={"content": "x"}, headers={"Idempotency-Key": "k" * 201})
    assert refused.status_code == 422
    assert "idempotency-key" in refused.json()["detail"].lower()


@pytest.mark.parametrize("shape", ['"{}"', 'W/"{}"', "{}", "*", '"other", "{}"'])
def test_a_change_with_the_right_version_succeeds(client: TestClient, shape: str) -> None:
    made = remembered(client)
    headers = {"If-Match": shape.replace("{}", made["version"])}
    changed = client.patch(f"/api/v1/memories/{made['id']}", json={"title": "New"}, headers=headers)
    assert changed.status_code == 200, changed.text
    assert changed.json()["title"] == "New"
    assert changed.headers["etag"] == f'"{changed.json()["version"]}"' != f'"{made["version"]}"'


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_change_of_an_older_version_gets_412_with_the_current_one(client: TestClient, method: str) -> None:
    made = remembered(client)
    body = {"json": {"title": "New"}} if method == "PATCH" else {}
    refused = client.request(method, f"/api/v1/memories/{made['id']}", headers={"If-Match": '"old"'}, **body)
    assert refused.status_code == 412
    assert refused.json()["version"] == made["version"]
    assert refused.headers["etag"] == f'"{made["version"]}"'


def test_a_memory_that_is_still_the_same_is_not_sent_again(client: TestClient) -> None:
    made = remembered(client)
    path = f"/api/v1/memories/{made['id']}"
    same = client.get(path, headers={"If-None-Match": f'W/"{made["version"]}"'})
    assert (same.status_code, same.content) == (304, b"")
    assert client.get(path, headers={"If-None-Match": '"old"'}).status_code == 200


def test_a_forgotten_memory_is_gone(client: TestClient) -> None:
    made = remembered(client)
    assert client.delete(f"/api/v1/memories/{made['id']}").json()["id"] == made["id"]
    assert client.get(f"/api/v1/memories/{made['id']}").json()["type"] == "urn:hearthmind:memory-not-found"


@pytest.mark.parametrize("path", ["/memories", "/index"])
def test_lists_are_paged(client: TestClient, path: str) -> None:
    for number in range(5):
        remembered(client, f"note {number}", tags=["a"] if number else [])
    page = client.get(f"/api/v1{path}?limit=3&tag=a").json()
    assert (len(page["items"]), page["total"]) == (3, 4)
    rest = client.get(f"/api/v1{path}", params={"limit": 3, "tag": "a", "page": page["next"]}).json()
    assert (len(rest["items"]), rest["next"]) == (1, None)


def test_a_page_of_long_lines_is_shorter_and_leads_to_all_of_them(client: TestClient) -> None:
    for number in range(200):
        remembered(client, f"{number} note", title=f"{number} " + "long title " * 20)
    seen: list[str] = []
    page: str | None = "0"
    while page is not None:
        answer = client.get("/api/v1/index", params={"limit": 200, "page": page})
        assert len(answer.text) <= 40_000
        seen += [line["id"] for line in answer.json()["items"]]
        page = answer.json()["next"]
    assert len(set(seen)) == len(seen) == 200


def test_recall_search_and_fetch(client: TestClient) -> None:
    made = remembered(client)
    recalled = client.post("/api/v1/recall", json={"query": "uv", "limit": 3}).json()
    assert [hit["id"] for hit in recalled["hits"]] == [made["id"]]
    assert client.post("/api/v1/search", json={"query": "uv"}).json()["results"][0]["id"] == made["id"]
    assert client.get(f"/api/v1/fetch/{made['id']}?offset=3").json()["text"] == "use uv"
    assert client.get(f"/api/v1/memories/{made['id']}/related?depth=2&types=supports").json()["nodes"]
    assert client.post("/api/v1/recall", json={"query": "zebra"}).json()["hits"] == []


def test_episodes_captures_jobs_tags_status_and_stats(client: TestClient) -> None:
    entry = {"role": "user", "content": "hi", "ref": "D1:1"}
    assert client.post("/api/v1/episodes", json={"session": "s", "entries": [entry]}).json()["ids"] == ["e0"]
    assert client.post("/api/v1/captures", json={"text": "tea"}).status_code == 201
    assert client.get("/api/v1/jobs?state=waiting,done&state=failed").json()["total"] == 1
    assert client.get("/api/v1/jobs?state=waiting").json()["items"] == []
    assert client.get("/api/v1/jobs/J1").json()["state"] == "done"
    assert client.get("/api/v1/jobs/none").json()["type"] == "urn:hearthmind:job-not-found"
    remembered(client, tags=["ci"])
    assert client.get("/api/v1/tags").json()["items"][0]["tag"] == "ci"
    assert client.get("/api/v1/status").json()["ready"] is True
    assert client.get("/api/v1/stats").json()["memories"] == 1


def test_a_space_is_named_in_the_query_or_the_body(client: TestClient, house: FakeHouse) -> None:
    assert client.post("/api/v1/spaces", json={"name": "family"}).status_code == 201
    assert [space["name"] for space in client.get("/api/v1/spaces").json()["items"]] == ["home", "family"]
    made = client.post("/api/v1/memories?space=family", json={"content": "x"}).json()
    assert ("family", made["id"]) in house.memories
    assert client.get(f"/api/v1/memories/{made['id']}").status_code == 404
    assert client.get(f"/api/v1/memories/{made['id']}?space=family").status_code == 200
    both = client.post("/api/v1/memories?space=family", json={"content": "x", "space": "home"})
    assert both.status_code == 422
    assert client.post("/api/v1/spaces", json={"name": "No Spaces!"}).status_code == 422


def test_a_link_to_a_memory_finds_it_in_whichever_space(client: TestClient) -> None:
    client.post("/api/v1/spaces", json={"name": "family"})
    made = client.post("/api/v1/memories?space=family", json={"content": "<b>x</b>"}).json()
    page = client.get(f"/n/{made['id']}")
    assert page.text.endswith("<b>x</b>")
    assert page.headers["content-type"].startswith("text/plain")
    assert client.get("/n/none").status_code == 404


def test_tokens_are_made_listed_and_revoked_and_count_at_once(client: TestClient) -> None:
    made = client.post("/api/v1/tokens", json={"name": "all", "scopes": ["read", "write", "admin"]})
    assert made.status_code == 201
    assert "anonymous owner ends" in made.json()["warning"]
    assert client.get("/api/v1/tokens").status_code == 401
    bearer = {"Authorization": f"Bearer {made.json()['token']}"}
    listed = client.get("/api/v1/tokens", headers=bearer)
    assert made.json()["token"] not in listed.text
    assert client.delete("/api/v1/tokens/all", headers=bearer).json()["name"] == "all"
    assert client.get("/api/v1/tokens", headers=bearer).status_code == 401
    assert client.get("/api/v1/tokens").status_code == 200


def test_a_situation_of_the_house_is_a_problem_document(client: TestClient, house: FakeHouse) -> None:
    house.fails["remember"] = VaultNotMounted("The vault is not mounted.", vault="/v")
    answer = client.post("/api/v1/memories", json={"content": "x"}, headers={"X-Request-Id": "mine-1"})
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.json() == {
        "type": "urn:hearthmind:vault-not-mounted",
        "title": "Vault not mounted",
        "status": 503,
        "detail": "The vault is not mounted.",
        "instance": "mine-1",
        "vault": "/v",
    }
