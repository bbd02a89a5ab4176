"""The test controls under /sandbox: every fault, the clock, the log, reset; all of them repeatable."""

import json
import time
from typing import Any

import httpx
import pytest

from tests.sandbox.support import NOON, Client, deltas, events_of


def broken_stream(sandbox: Client, **body: Any) -> str:
    """Return what arrived of a stream that the Sandbox breaks off."""
    received = ""
    request = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "How do I stop an answer?"}]}
    address = f"{sandbox.running.base_url}/chat/completions"
    with (
        pytest.raises(httpx.RemoteProtocolError),
        sandbox.http.stream("POST", address, json={**request, "stream": True, **body}) as answer,
    ):
        for piece in answer.iter_text():
            received += piece
    return received


def test_controls_want_the_key(sandbox: Client, bare: httpx.Client) -> None:
    for method, path in (("GET", "state"), ("GET", "log"), ("PUT", "clock"), ("POST", "reset")):
        assert bare.request(method, f"{sandbox.running.origin}/sandbox/{path}").status_code == 401


def test_setting_a_fault_twice_is_the_same_as_once(sandbox: Client) -> None:
    for _ in range(2):
        sandbox.fault("answer", status=503, times=1)
    assert [sandbox.get("/models").status_code for _ in range(2)] == [503, 200]


def test_a_fault_without_times_stays_until_it_is_taken_away(sandbox: Client) -> None:
    sandbox.fault("answer", status=500)
    assert [sandbox.get("/models").status_code for _ in range(3)] == [500] * 3
    for _ in range(2):
        sandbox.control("/faults/answer", method="DELETE")
    assert sandbox.get("/models").status_code == 200


def test_all_faults_are_explained_and_cleared_at_once(sandbox: Client) -> None:
    sandbox.fault("cut", after=10, times=3)
    body = sandbox.control("/faults", method="GET")
    assert body["armed"] == {"cut": {"times": 3, "path": "", "after": 10}}
    assert {"slow", "answer", "drop", "lie", "cut", "no_done", "in_band_error"} <= set(body["known"])
    assert sandbox.control("/faults", method="DELETE")["armed"] == {}


def test_an_unknown_fault_and_wrong_values_are_refused(sandbox: Client) -> None:
    address = f"{sandbox.running.origin}/sandbox/faults"
    assert sandbox.http.put(f"{address}/earthquake", json={}).status_code == 404
    answer = sandbox.http.put(f"{address}/answer", json={"status": 200, "times": 0, "shape": "E99", "aftr": 1})
    assert set(answer.json()["details"]) == {"_errors", "status", "times", "shape", "aftr"}


def test_slow_waits_before_the_answer(sandbox: Client) -> None:
    sandbox.fault("slow", seconds=0.2, times=1)
    before = time.monotonic()
    assert sandbox.get("/models").status_code == 200
    assert time.monotonic() - before >= 0.2


def test_drop_closes_without_an_answer(sandbox: Client) -> None:
    sandbox.fault("drop", times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        sandbox.get("/models")
    assert sandbox.get("/models").status_code == 200


def test_lying_bodies(sandbox: Client) -> None:
    sandbox.fault("lie", kind="length", times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        sandbox.get("/models")
    for kind in ("json", "html", "empty"):
        sandbox.fault("lie", kind=kind, times=1)
        answer = sandbox.get("/models")
        assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "application/json")
        with pytest.raises(json.JSONDecodeError):
            answer.json()
    sandbox.fault("lie", kind="type", times=1)
    assert sandbox.get("/models").headers["content-type"] == "text/html"


def test_cut_breaks_the_stream_after_so_many_characters(sandbox: Client) -> None:
    sandbox.fault("cut", after=40, times=1)
    received = broken_stream(sandbox)
    events = events_of(received)
    assert "[DONE]" not in received
    assert 25 <= len(deltas(events, "content")) <= 40
    assert sandbox.stream()[-1] == "[DONE]"


def test_a_cut_stream_is_charged_for_what_was_generated(sandbox: Client) -> None:
    full = sandbox.stream()[-2]["cost"]["usd"]
    sandbox.control("/reset", method="POST")
    sandbox.fault("cut", after=40, times=1)
    broken_stream(sandbox)
    assert 0 < 100 - float(sandbox.balance()) < full


def test_a_stream_may_lack_its_done(sandbox: Client) -> None:
    sandbox.fault("no_done", times=1)
    events = sandbox.stream()
    assert "usage" in events[-1]
    assert sandbox.stream()[-1] == "[DONE]"


def test_an_error_inside_the_stream_ends_it_with_done(sandbox: Client) -> None:
    sandbox.fault("in_band_error", after=20, times=1)
    events = sandbox.stream()
    assert events[-1] == "[DONE]"
    error = events[-2]["error"]
    assert (error["code"], error["type"], error["retry_after"]) == ("model_overloaded", "server_error", 30)
    assert len(deltas(events[:-2], "content")) <= 20
    sandbox.fault("in_band_error", code="upstream_error", text="The upstream went away", times=1)
    assert sandbox.stream()[-2]["error"]["message"] == "The upstream went away"


def test_think_tags_can_be_split_over_chunks(sandbox: Client) -> None:
    def pieces() -> list[str]:
        events = sandbox.stream(model="rialto-think-tags")
        return [c["delta"]["content"] for e in events[:-1] for c in e["choices"] if "content" in c["delta"]]

    assert "<think>" in pieces()
    sandbox.fault("split_think", times=1)
    split = pieces()
    assert "<think>" not in split and "</think>" not in split
    assert "".join(split).startswith("<think>")


def test_parallel_calls_can_share_one_index(sandbox: Client) -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("get_weather", "get_time")]
    sandbox.fault("same_index", times=1)
    events = sandbox.stream("weather and time", tools=tools)
    fragments = [f for e in events[:-1] for c in e["choices"] for f in c["delta"].get("tool_calls", ())]
    assert {fragment["index"] for fragment in fragments} == {0}
    assert len({fragment["id"] for fragment in fragments if "id" in fragment}) == 2


def test_the_clock_is_set_not_pushed(sandbox: Client) -> None:
    for _ in range(2):
        sandbox.turn_clock(90)
    state = sandbox.control("/state", method="GET")
    assert (state["now"], state["clock_offset_s"]) == ("2026-11-25T12:01:30.000Z", 90)
    assert sandbox.chat()["created"] == int(NOON) + 90
    assert sandbox.http.put(f"{sandbox.running.origin}/sandbox/clock", json={}).status_code == 400


def test_balances_are_exact_decimals(sandbox: Client) -> None:
    assert sandbox.control("/balance", {"usd": "0.10000001", "diem": 2}) == {"usd": "0.10000001", "diem": "2"}
    assert sandbox.get("/models").headers["x-service-balance-usd"] == "0.10000001"
    wrong = sandbox.http.put(f"{sandbox.running.origin}/sandbox/balance", json={"usd": "much"})
    assert wrong.json()["details"]["usd"]["_errors"]


def test_R_AUTH_10_the_log_names_requests_without_bodies_or_keys(sandbox: Client) -> None:
    sandbox.chat("A very private question about receipts")
    sandbox.stream()
    sandbox.get("/nothing")
    text = json.dumps(sandbox.control("/log", method="GET"))
    rows = json.loads(text)["data"]
    assert [(row["path"].removeprefix("/api/v1"), row["status"]) for row in rows] == [
        ("/chat/completions", 200),
        ("/chat/completions", 200),
        ("/nothing", 404),
    ]
    assert rows[0]["model"] == "rialto-handbook" and float(rows[1]["cost_usd"]) > 0
    assert "private" not in text and sandbox.running.api_key not in text


def test_reset_sets_everything_back_but_the_key(sandbox: Client) -> None:
    sandbox.fault("answer", status=500)
    sandbox.turn_clock(60)
    sandbox.control("/settings", {"partner": True, "dialect": "venice", "tokens_per_second": 5})
    sandbox.control("/balance", {"usd": "1"})
    for _ in range(2):
        sandbox.control("/reset", method="POST")
    state = sandbox.control("/state", method="GET")
    assert state["faults"] == {} and state["clock_offset_s"] == 0
    assert state["balance"] == {"usd": "100", "diem": "0"}
    assert (state["settings"]["dialect"], state["settings"]["tokens_per_second"]) == ("service", 0)
    assert sandbox.get("/characters").status_code == 200


def test_the_dialect_can_be_changed_while_it_runs(sandbox: Client) -> None:
    sandbox.control("/settings", {"dialect": "venice"})
    assert "venice_parameters" in sandbox.chat()
    wrong = sandbox.http.put(f"{sandbox.running.origin}/sandbox/settings", json={"dialect": "klingon", "partner": 1})
    assert set(wrong.json()["details"]) == {"_errors", "dialect", "partner"}


def test_the_prompt_is_shown_after_the_first_chat(sandbox: Client) -> None:
    assert sandbox.http.get(f"{sandbox.running.origin}/sandbox/prompt").status_code == 404
    sandbox.chat("hello")
    assert sandbox.control("/prompt", method="GET")["model"] == "rialto-handbook"
