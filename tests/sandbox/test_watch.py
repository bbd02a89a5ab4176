"""Following the Sandbox while it works: the log as it grows, what was in a call, and what is switched on."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sandbox.http.log_endpoints import LONGEST_WAIT_S
from app.sandbox.http.request_log import (
    DETAILS_KEPT,
    HIDDEN,
    LOG_LENGTH,
    MAX_BODY_BYTES,
    SECRET_HEADERS,
    Capture,
    Details,
    LoggedRequest,
    RequestLog,
    key_of,
    side,
)
from tests.sandbox.support import Client
from tests.sandbox.wallet_support import WalletClient


def watch(sandbox: Client, **query: Any) -> dict[str, Any]:
    answer = sandbox.http.get(f"{sandbox.running.origin}/sandbox/watch", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def follow(sandbox: Client, seen: dict[str, Any], wait_s: float = 10) -> dict[str, Any]:
    return watch(sandbox, epoch=seen["epoch"], revision=seen["revision"], after=seen["last"], wait_s=wait_s)


def inside(sandbox: Client) -> dict[str, Any]:
    """The newest call with everything that is kept of it."""
    newest = sandbox.control("/log", method="GET")["data"][-1]
    return dict(sandbox.control(f"/log/{newest['request_id']}", method="GET"))


def test_the_first_look_has_everything_and_the_next_only_what_is_new(sandbox: Client) -> None:
    sandbox.get("/models")
    seen = watch(sandbox)
    assert [(one["number"], one["path"], one["status"]) for one in seen["lines"]] == [(1, "/api/v1/models", 200)]
    assert (seen["faults"], seen["clock_offset_s"], seen["balance"]["usd"]) == ({}, 0, "100")
    assert follow(sandbox, seen, wait_s=0)["lines"] == []
    sandbox.chat()
    news = follow(sandbox, seen)
    assert [one["number"] for one in news["lines"]] == [2]
    assert float(news["lines"][0]["cost_usd"]) > 0 and float(news["balance"]["usd"]) < 100


@pytest.mark.parametrize(
    ("control", "body"),
    [("/clock", {"offset_s": 60}), ("/faults/slow", {"seconds": 0}), ("/balance", {"usd": "5"}), ("/reset", {})],
)
def test_a_watcher_is_told_at_once_that_a_control_was_used(
    control: str, body: dict[str, object], sandbox: Client
) -> None:
    seen = watch(sandbox)
    with ThreadPoolExecutor() as pool:
        told = pool.submit(follow, sandbox, seen, LONGEST_WAIT_S)
        with httpx.Client(headers=sandbox.http.headers, trust_env=False, verify=False, timeout=60) as other:
            other.put(f"{sandbox.running.origin}/sandbox{control}", json=body).raise_for_status()
        news = told.result(timeout=LONGEST_WAIT_S - 1)
    assert news["revision"] > seen["revision"]


def test_a_reset_begins_a_new_epoch_and_numbers_go_on(sandbox: Client) -> None:
    sandbox.get("/models")
    seen = watch(sandbox)
    sandbox.control("/reset", method="POST")
    sandbox.get("/characters")
    news = follow(sandbox, seen)
    assert news["epoch"] == seen["epoch"] + 1
    assert [(one["number"], one["path"]) for one in news["lines"]] == [(2, "/api/v1/characters")]


def test_wrong_questions_are_refused_and_nobody_waits_for_ever(sandbox: Client) -> None:
    address = f"{sandbox.running.origin}/sandbox/watch"
    answer = sandbox.http.get(address, params={"after": "-1", "wait_s": "long", "epoch": "1e3"})
    assert answer.status_code == 400 and set(answer.json()["details"]) == {"_errors", "after", "wait_s", "epoch"}
    assert sandbox.http.get(address, params={"wait_s": "-5"}).status_code == 200


def test_a_stopped_sandbox_lets_watchers_go(sandbox: Client) -> None:
    seen = watch(sandbox)
    ended = threading.Event()

    def wait() -> None:
        with pytest.raises(httpx.HTTPError):
            follow(sandbox, seen, 20)
        ended.set()

    thread = threading.Thread(target=wait)
    thread.start()
    sandbox.running.stop()
    thread.join(timeout=60)
    assert ended.is_set()


def test_what_was_in_a_call_is_shown_without_the_key(sandbox: Client) -> None:
    key = sandbox.running.api_key
    sandbox.chat(f"My key is {key}, is that safe?")
    call = inside(sandbox)
    sent, came = call["request"], call["response"]
    assert ["authorization", HIDDEN] in sent["headers"]
    assert "is that safe?" in sent["text"] and HIDDEN in sent["text"]
    assert json.loads(came["text"])["object"] == "chat.completion"  # as text, although it may have gone out compressed
    assert came["size_bytes"] == len(came["text"].encode())
    assert key not in json.dumps(call) and key not in json.dumps(watch(sandbox))


def test_a_wallets_sign_in_and_payment_are_hidden(wallet: WalletClient) -> None:
    wallet.get(f"/x402/balance/{wallet.wallet.address}")
    headers = dict(inside(wallet.sandbox)["request"]["headers"])
    assert headers["x-sign-in-with-x"] == HIDDEN


def test_a_stream_is_kept_as_it_went_out(sandbox: Client) -> None:
    sandbox.stream()
    came = inside(sandbox)["response"]
    assert came["kind"] == "text" and came["text"].startswith("data: {")
    assert came["size_bytes"] > len(came["text"]) == MAX_BODY_BYTES or "[DONE]" in came["text"]


def test_forms_are_told_by_their_parts_and_media_by_their_size(sandbox: Client) -> None:
    sound = sandbox.post("/audio/speech", {"model": "tts-kokoro", "input": "Good morning.", "response_format": "wav"})
    came = inside(sandbox)["response"]
    assert (came["kind"], came["text"], came["size_bytes"]) == ("media", "", len(sound.content))
    sandbox.http.post(
        f"{sandbox.running.base_url}/audio/transcriptions",
        files={"file": ("morning.wav", sound.content, "audio/wav")},
        data={"model": "nvidia/parakeet-tdt-0.6b-v3"},
    )
    sent = inside(sandbox)["request"]
    assert sent["kind"] == "form"
    assert sent["text"].splitlines() == [
        "model: nvidia/parakeet-tdt-0.6b-v3",
        f"file: file “morning.wav”, {len(sound.content):,} bytes",
    ]


def test_a_call_that_was_cut_without_an_answer_is_in_the_log(sandbox: Client) -> None:
    sandbox.fault("drop", times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        sandbox.get("/models")
    assert inside(sandbox)["status"] == 0


def line(number: int) -> LoggedRequest:
    return LoggedRequest(0.0, f"r{number}", "GET", "/", 200, 0.0, "", Decimal(0))


def test_only_so_much_is_kept() -> None:
    log = RequestLog()
    nothing = side({}, b"", 0, "")
    for number in range(LOG_LENGTH + 10):
        log.append(line(number), Details(nothing, nothing))
    assert len(log) == LOG_LENGTH and log.last == LOG_LENGTH + 10
    assert log.after(0)[0][0] == 11 and log.after(log.last) == []
    assert log.details(f"r{LOG_LENGTH + 9}") is not None
    assert log.details(f"r{LOG_LENGTH + 9 - DETAILS_KEPT}") is None


def test_asking_for_a_call_that_is_not_kept_is_404(sandbox: Client) -> None:
    assert sandbox.http.get(f"{sandbox.running.origin}/sandbox/log/nobody").status_code == 404


def test_a_long_body_is_counted_whole_and_kept_in_part() -> None:
    capture = Capture()
    for _ in range(3):
        capture.add(b"x" * MAX_BODY_BYTES)
    assert (len(capture.head), capture.size_bytes) == (MAX_BODY_BYTES, 3 * MAX_BODY_BYTES)


@given(st.sampled_from(sorted(SECRET_HEADERS)), st.booleans())
def test_no_spelling_of_a_secret_header_is_shown(name: str, upper: bool) -> None:
    shown = side({name.upper() if upper else name: "secret"}, b"", 0, "")
    assert [text for _, text in shown.headers] == [HIDDEN]


@given(st.binary(max_size=3000), st.sampled_from(["multipart/form-data; boundary=x", "application/json", "a/b"]))
def test_no_body_can_break_the_log(body: bytes, content_type: str) -> None:
    shown = side({"content-type": content_type}, body, len(body), key_of({"authorization": "Bearer abcdef"}))
    assert shown.size_bytes == len(body)


SIDES = {"httpVersion", "cookies", "headers", "headersSize", "bodySize"}
REQUIRED_IN_HAR = {  # of HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/
    "entry": {"startedDateTime", "time", "request", "response", "cache", "timings"},
    "request": {*SIDES, "method", "url", "queryString"},
    "response": {*SIDES, "status", "statusText", "content", "redirectURL"},
}


def test_R_AUTH_10_the_log_as_an_archive_and_as_lines_hides_every_credential(wallet: WalletClient) -> None:
    sandbox = wallet.sandbox
    key = sandbox.running.api_key
    sandbox.control("/answers", {"name": "greeting", "times": 1, "answer": {"text": "Ahoy."}}, "POST")
    sandbox.chat(f"My key is {key}")
    sandbox.stream("How do I stop an answer?")
    sandbox.get("/models", params={"type": "all", "mine": key})
    signed_in = wallet.get("/models")
    assert signed_in.status_code == 200
    archive = sandbox.http.get(f"{sandbox.running.origin}/sandbox/log.har")
    lines = sandbox.http.get(f"{sandbox.running.origin}/sandbox/log.jsonl")
    assert lines.headers["content-type"].startswith("application/jsonl")
    assert key not in archive.text + lines.text
    signatures = [value for name, value in signed_in.request.headers.items() if name.lower() in SECRET_HEADERS]
    assert signatures and not any(value in archive.text + lines.text for value in signatures)

    log = archive.json()["log"]
    assert log["version"] == "1.2" and set(log["creator"]) == {"name", "version"}
    for entry in log["entries"]:
        assert REQUIRED_IN_HAR["entry"] <= set(entry)
        for part in ("request", "response"):
            assert REQUIRED_IN_HAR[part] <= set(entry[part])
        assert entry["time"] == sum(entry["timings"].values())
    first, second, third, _ = log["entries"]
    assert first["_scripted_answer"] == "greeting" and "Ahoy." in first["response"]["content"]["text"]
    assert json.loads(first["request"]["postData"]["text"])["messages"][0]["content"] == f"My key is {HIDDEN}"
    assert second["response"]["content"]["mimeType"] == "text/event-stream"
    assert second["response"]["content"]["text"].startswith("data: {")
    assert third["request"]["url"].startswith(f"{sandbox.running.base_url}/models?type=all&mine=")
    assert {"name": "type", "value": "all"} in third["request"]["queryString"]
    assert third["response"]["content"]["comment"] == f"Only the first {MAX_BODY_BYTES} bytes are kept"

    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert [row["path"] for row in rows] == [row["path"] for row in sandbox.control("/log", method="GET")["data"]]
    assert rows[0]["scripted_answer"] == "greeting" and "Ahoy." in rows[0]["response"]["text"]


def test_lines_go_back_further_than_the_archive(sandbox: Client) -> None:
    for _ in range(DETAILS_KEPT + 3):
        sandbox.get("/image/styles")
    rows = sandbox.http.get(f"{sandbox.running.origin}/sandbox/log.jsonl").text.splitlines()
    archive = sandbox.control("/log.har", method="GET")["log"]["entries"]
    assert (len(rows), len(archive)) == (DETAILS_KEPT + 3, DETAILS_KEPT)
    assert ["request" in json.loads(row) for row in (rows[0], rows[-1])] == [False, True]
