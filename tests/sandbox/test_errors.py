"""Error shapes, the abuse block, and the switches that make errors: rules R-ERR."""

import re
from typing import Any

import httpx
import pytest

from tests.sandbox.support import Client


def test_R_ERR_01_the_standard_error_is_one_string(sandbox: Client) -> None:
    assert sandbox.chat_raw(model="unknown").json() == {"error": "The model was not found"}


def test_R_ERR_02_R_ERR_03_R_ERR_04_all_invalid_fields_are_in_one_tree(sandbox: Client) -> None:
    body = {
        "messages": [{"role": "user"}, "not an object"],
        "temperature": 9,
        "stream": "no",
        "service_parameters": {"enable_web_search": "maybe", "disable_thinking": "x"},
        "tools": [{"type": "function", "function": {}}],
    }
    answer = sandbox.post("/chat/completions", body)
    assert answer.status_code == 400
    assert set(answer.json()) == {"error", "details"}
    tree = answer.json()["details"]

    def walk(level: dict[str, Any], path: str = "") -> list[str]:
        assert isinstance(level["_errors"], list), f"no _errors at {path}"
        here = [path] if level["_errors"] else []
        return here + [
            leaf for name, inner in level.items() if name != "_errors" for leaf in walk(inner, f"{path}/{name}")
        ]

    assert sorted(walk(tree)) == [
        "/messages/0/content",
        "/messages/1",
        "/model",
        "/service_parameters/disable_thinking",
        "/service_parameters/enable_web_search",
        "/stream",
        "/temperature",
        "/tools/0/function/name",
    ]


def test_the_venice_dialect_adds_a_flat_list(venice: Client) -> None:
    answer = venice.chat_raw(temperature=9)
    assert answer.json()["issues"][0]["path"] == ["temperature"]


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'"text"', b'{"model": NaN}', b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_a_400(sandbox: Client, content: bytes) -> None:
    address = f"{sandbox.running.base_url}/chat/completions"
    answer = sandbox.http.post(address, content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert isinstance(answer.json()["error"], str)


def test_R_ERR_05_a_body_over_35_mb_is_refused_with_the_code(sandbox: Client) -> None:
    address = f"{sandbox.running.base_url}/chat/completions"
    answer = sandbox.http.post(
        address, content=b" " * (35 * 1024 * 1024 + 1), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413
    assert answer.json()["code"] == "PAYLOAD_TOO_LARGE"


@pytest.mark.parametrize("status", [429, 500, 503, 401, 402, 403, 404, 409, 410, 413, 415, 422, 502, 504])
def test_R_ERR_10_a_switch_answers_with_any_status(sandbox: Client, status: int) -> None:
    sandbox.fault("answer", status=status, times=2)
    answers = [sandbox.get("/models") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [status, status, 200]
    assert isinstance(answers[0].json()["error"], str)


@pytest.mark.parametrize(
    "shape", ["E1", "E2", "E3", "E4", "E5", "E6", "E9", "E10", "E11", "E12", "E14", "E15", "E16", "E19", "empty"]
)
def test_every_shape_of_error_body_can_be_ordered(sandbox: Client, shape: str) -> None:
    sandbox.fault("answer", status=400, shape=shape, text="The width is odd", times=1)
    answer = sandbox.get("/models")
    assert answer.status_code == 400
    if shape == "empty":
        assert answer.content == b""
    elif shape == "E19":
        assert answer.headers["content-type"].startswith("text/html") and "The width is odd" in answer.text
    else:
        assert "The width is odd" in answer.text and "error" in answer.json()


def test_a_body_and_headers_of_ones_own_can_be_ordered(sandbox: Client) -> None:
    body = {"error": {"message": "odd"}}
    sandbox.fault("answer", status=418, body=body, headers={"x-odd": "yes"}, path="/characters", times=1)
    assert sandbox.get("/models").status_code == 200
    answer = sandbox.get("/characters")
    assert (answer.status_code, answer.json(), answer.headers["x-odd"]) == (418, body, "yes")


def test_R_ERR_11_R_HDR_10_a_429_names_the_next_window_in_unix_seconds(sandbox: Client) -> None:
    sandbox.fault("answer", status=429, times=1)
    headers = sandbox.get("/models").headers
    assert 0 < int(headers["x-ratelimit-reset-requests"]) - 1_795_608_000 <= 60
    assert headers["x-ratelimit-type"] == "api_key"


def fail(sandbox: Client, times: int) -> list[httpx.Response]:
    return [sandbox.get("/characters/nobody") for _ in range(times)]


def test_R_ERR_12_R_ERR_13_R_LIM_28_the_21st_failure_blocks_everything_for_30_seconds(sandbox: Client) -> None:
    assert {answer.status_code for answer in fail(sandbox, 20)} == {404}
    assert sandbox.get("/models").status_code == 200
    assert fail(sandbox, 1)[0].status_code == 404
    blocked = sandbox.get("/models")
    assert blocked.status_code == 429
    assert blocked.headers["retry-after"] == "30"
    sandbox.turn_clock(29)
    assert sandbox.get("/models").status_code == 429
    sandbox.turn_clock(30)
    assert sandbox.get("/models").status_code == 200


def test_R_ERR_14_the_text_of_the_block(sandbox: Client) -> None:
    fail(sandbox, 21)
    text = sandbox.get("/models").json()["error"]
    assert re.search("too many failed attempts", text, re.IGNORECASE)
    assert "30s" in text


def test_blocked_answers_do_not_make_the_block_longer(sandbox: Client) -> None:
    fail(sandbox, 21)
    sandbox.turn_clock(20)
    fail(sandbox, 30)
    sandbox.turn_clock(31)
    assert sandbox.get("/models").status_code == 200
    log = sandbox.get("/api_keys/rate_limits/log").json()["data"]
    assert [line["rateLimitType"] for line in log] == ["FAILED_REQUESTS"]


def test_failures_spread_over_more_than_30_seconds_do_not_block(sandbox: Client) -> None:
    fail(sandbox, 15)
    sandbox.turn_clock(31)
    fail(sandbox, 15)
    assert sandbox.get("/models").status_code == 200


def test_strangers_fill_a_budget_of_their_own(sandbox: Client, bare: httpx.Client) -> None:
    address = f"{sandbox.running.base_url}/characters"
    assert {bare.get(address).status_code for _ in range(21)} == {401}
    assert bare.get(address).status_code == 429
    assert sandbox.get("/characters").status_code == 200


def test_an_empty_balance_is_402_and_the_free_calls_go_on(sandbox: Client) -> None:
    sandbox.control("/balance", {"usd": "0"})
    answer = sandbox.chat_raw()
    assert (answer.status_code, set(answer.json())) == (402, {"error"})
    assert sandbox.get("/models").status_code == 200
    assert sandbox.get("/api_keys/rate_limits").json()["data"]["accessPermitted"] is False
    sandbox.control("/balance", {"usd": "0.00001"})
    assert sandbox.chat_raw().status_code == 200
    assert float(sandbox.balance()) < 0
    assert sandbox.chat_raw().status_code == 402


def test_a_mistake_of_the_sandbox_itself_is_a_500(sandbox: Client, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    from app.sandbox.model_catalog import ModelCatalog

    def broken(*_: object) -> object:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(ModelCatalog, "listed", broken)
    answer = sandbox.get("/models")
    assert (answer.status_code, answer.json()) == (500, {"error": "Unknown error"})
    assert "on purpose" in capfd.readouterr().err
