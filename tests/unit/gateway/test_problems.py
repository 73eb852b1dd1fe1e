"""Bad input, and what goes wrong inside: always a problem document, never internals."""

import json
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs
from tests.fakes.house import FakeHouse
from tests.unit.gateway.conftest import Enter, remembered

from hearthmind.house.contract import MAX_QUERY_CHARACTERS

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        ({"query": "x" * (MAX_QUERY_CHARACTERS + 1)}, "query", "100000"),
        ({"query": 7}, "query", "string"),
        ({}, "query", "required"),
        ({"query": "x", "limit": 51}, "limit", "50"),
        ({"query": "x", "limit": "many"}, "limit", "integer"),
        ({"query": "x", "types": ["novel"]}, "types.0", "'fact'"),
        ({"query": "x", "bogus": 1}, "bogus", "not known"),
        ({"query": "\ud800"}, "query", "valid string"),
        ([], "body", "JSON object"),
        ("text", "body", "JSON object"),
        (None, "body", "JSON object"),
    ],
)
def test_a_wrong_argument_is_named_with_what_is_allowed(
    client: TestClient, body: object, field: str, says: str
) -> None:
    answer = client.post("/api/v1/recall", content=json.dumps(body), headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    problem = answer.json()
    assert problem["type"] == "urn:hearthmind:invalid-input"
    assert field in [error["field"] for error in problem["errors"]]
    assert says in problem["detail"]
    assert len(answer.content) < 2_000


@pytest.mark.parametrize(
    "body",
    [
        b"{bad",
        b"\xff\xfe{}",
        b"\x00\x01\x02",
        b"",
        b'{"query": "x"',
        b"[" * 100_000,
        b'{"query": ' + b"9" * 5000 + b"}",
    ],
    ids=["broken", "utf16", "binary", "empty", "cut", "deep", "huge-number"],
)
def test_a_body_that_is_no_json_is_a_problem(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/v1/recall", content=body, headers=JSON)
    assert answer.status_code in {400, 422}
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(answer.content) < 1_000


def test_a_binary_body_without_a_type_says_what_to_send(client: TestClient) -> None:
    answer = client.post("/api/v1/memories", content=bytes(range(256)), headers={"Content-Type": "image/png"})
    assert answer.status_code == 422
    assert "application/json" in answer.json()["detail"]


@pytest.mark.parametrize("value", ['"\\ud800"', "NaN", "-Infinity", '{"a": ["\\udfff"]}', '{"\\ud800": 1}'])
def test_properties_that_no_note_can_hold_are_refused(client: TestClient, value: str) -> None:
    made = remembered(client)
    body = '{"properties": {"x": ' + value + "}}"
    answer = client.patch(f"/api/v1/memories/{made['id']}", content=body, headers=JSON)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] == "properties"


def test_unknown_names_are_not_echoed_at_length(client: TestClient) -> None:
    answer = client.post("/api/v1/recall", json={"query": "x", "k" * 100_000: 1})
    assert answer.status_code == 422
    assert len(answer.content) < 2_000


@pytest.mark.parametrize("parameter", ["limit=0", "limit=201", "type=novel", "bogus=1", "limit=x"])
def test_wrong_query_parameters_are_named(client: TestClient, parameter: str) -> None:
    answer = client.get(f"/api/v1/memories?{parameter}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == parameter.split("=")[0]


def test_an_unknown_parameter_is_refused_where_only_a_space_is_known(client: TestClient) -> None:
    assert client.get("/api/v1/status?sapce=home").status_code == 422
    assert client.post("/api/v1/recall?sapce=home", json={"query": "x"}).status_code == 422


def test_a_declared_or_streamed_body_beyond_the_limit_gets_413(enter: Enter) -> None:
    client = enter(max_content_kb=1)
    large = json.dumps({"content": "x" * 1_400_000}).encode()

    def chunks() -> Iterator[bytes]:
        for start in range(0, len(large), 65_536):
            yield large[start : start + 65_536]

    for path in ("/api/v1/memories", "/mcp"):
        for content in (large, chunks()):
            headers = {**JSON, "Accept": "application/json, text/event-stream"}
            answer = client.post(path, content=content, headers=headers)
            assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
            assert "HEARTHMIND_MAX_CONTENT_KB" in answer.json()["detail"]


def test_the_largest_content_passes_though_json_escapes_all_of_it(enter: Enter) -> None:
    client = enter(max_content_kb=300)
    content = "\x01" * (300 * 1024)
    assert client.post("/api/v1/memories", content=json.dumps({"content": content}), headers=JSON).status_code == 201


def test_what_does_not_exist_is_a_problem_too(client: TestClient) -> None:
    missing, wrong = client.get("/api/v1/nothing"), client.put("/api/v1/memories")
    assert missing.json()["type"] == "urn:hearthmind:not-found"
    assert wrong.json()["type"] == "urn:hearthmind:method-not-allowed"
    assert "GET" in wrong.headers["allow"] or "POST" in wrong.headers["allow"]


def test_a_crash_is_logged_with_its_traceback_and_tells_nothing(client: TestClient, house: FakeHouse) -> None:
    house.fails["recall"] = RuntimeError("the password is hunter2")
    with capture_logs() as logged:
        answer = client.post("/api/v1/recall", json={"query": "x"}, headers={"X-Request-Id": "r-9"})
    assert (answer.status_code, answer.json()["type"]) == (500, "urn:hearthmind:internal")
    assert answer.json()["instance"] == answer.headers["x-request-id"] == "r-9"
    assert "hunter2" not in answer.text
    assert [line["event"] for line in logged] == ["request crashed", "request answered"]
    assert logged[0]["exc_info"]
    assert logged[1]["path"] == "/api/v1/recall"


@pytest.mark.parametrize("given", ["", "x" * 101, "a b", "ü"])
def test_a_strange_request_id_is_replaced(client: TestClient, given: str) -> None:
    answer = client.get("/healthz", headers={"X-Request-Id": given.encode()})
    assert len(answer.headers["x-request-id"]) == 26


def test_every_answer_carries_safe_headers(client: TestClient) -> None:
    made = remembered(client)
    for path in ("/", "/healthz", "/docs", "/nope", f"/n/{made['id']}", "/api/v1/status"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-request-id"]
