"""Response headers: rules R-HDR."""

import re
from email.utils import parsedate_to_datetime

import httpx
import pytest

from tests.sandbox.support import NOON, Client


def test_R_HDR_01_header_names_are_read_without_case(sandbox: Client) -> None:
    address = f"{sandbox.running.base_url}/characters"
    answer = httpx.get(
        address,
        headers={"AUTHORIZATION": f"Bearer {sandbox.running.api_key}"},
        trust_env=False,
        verify=False,
        timeout=60,
    )
    assert answer.status_code == 200
    assert answer.headers["CF-RAY"] == answer.headers["cf-ray"]


@pytest.mark.parametrize("path", ["/models", "/characters", "/api_keys/rate_limits", "/billing/balance", "/nothing"])
def test_R_HDR_04_R_HDR_05_R_HDR_06_request_limits_are_on_every_answer(sandbox: Client, path: str) -> None:
    headers = sandbox.get(path).headers
    limit, left = int(headers["x-ratelimit-limit-requests"]), int(headers["x-ratelimit-remaining-requests"])
    assert 0 <= left <= limit
    assert int(headers["x-ratelimit-reset-requests"]) == int(NOON) + 60


def test_R_HDR_07_R_HDR_08_R_HDR_09_token_limits_are_on_text_answers(sandbox: Client) -> None:
    first, second = sandbox.chat_raw(), sandbox.chat_raw()
    assert first.headers["x-ratelimit-limit-tokens"] == "1000000"
    used = first.json()["usage"]["total_tokens"]
    assert int(second.headers["x-ratelimit-remaining-tokens"]) == 1_000_000 - used
    assert first.headers["x-ratelimit-reset-tokens"] == "60"
    assert "x-ratelimit-limit-tokens" not in sandbox.get("/characters").headers


def test_R_HDR_11_content_type_and_date(sandbox: Client) -> None:
    answer = sandbox.get("/models")
    assert answer.headers["content-type"].startswith("application/json")
    assert parsedate_to_datetime(answer.headers["date"]).timestamp() == NOON
    sandbox.turn_clock(3600)
    assert parsedate_to_datetime(sandbox.get("/models").headers["date"]).timestamp() == NOON + 3600


def test_R_HDR_12_gzip_when_asked_and_larger_than_a_kilobyte(sandbox: Client) -> None:
    assert sandbox.get("/models").headers["content-encoding"] == "gzip"
    assert "content-encoding" not in sandbox.get("/models", headers={"accept-encoding": "identity"}).headers
    assert "content-encoding" not in sandbox.get("/billing/balance").headers
    assert "content-encoding" not in sandbox.chat_raw(stream=True).headers


def test_R_HDR_13_an_export_has_a_file_name(sandbox: Client) -> None:
    answer = sandbox.get("/billing/usage-history", headers={"accept": "text/csv"})
    assert answer.headers["content-disposition"] == 'attachment; filename="usage-history.csv"'


def test_R_HDR_14_every_answer_has_its_own_ray(sandbox: Client) -> None:
    rays = [sandbox.get(path).headers["cf-ray"] for path in ("/models", "/models", "/nothing")]
    assert all(re.fullmatch(r"[0-9a-f]{16}-[A-Z]{3}", ray) for ray in rays)
    assert len(set(rays)) == 3


def test_R_HDR_15_the_version_is_on_every_answer(sandbox: Client) -> None:
    assert len({sandbox.get(path).headers["x-service-version"] for path in ("/models", "/nothing")}) == 1


def test_R_HDR_16_R_HDR_29_switches_add_timestamp_and_retry_count(sandbox: Client) -> None:
    assert not {"x-service-timestamp", "x-retry-count"} & set(sandbox.get("/models").headers)
    sandbox.control("/settings", {"timestamp_header": True, "retry_count_header": 2})
    headers = sandbox.get("/models").headers
    assert (headers["x-service-timestamp"], headers["x-retry-count"]) == ("2026-11-25T12:00:00.000Z", "2")


def test_R_HDR_17_the_host_name_is_on_errors(sandbox: Client) -> None:
    assert "x-service-host-name" not in sandbox.get("/models").headers
    assert sandbox.get("/nothing").headers["x-service-host-name"]


@pytest.mark.parametrize("stream", [False, True])
def test_R_HDR_18_inference_says_which_model_served(sandbox: Client, stream: bool) -> None:
    headers = sandbox.chat_raw(model="default", stream=stream).headers
    assert headers["x-service-model-id"] == "rialto-handbook"
    assert headers["x-service-model-name"] == "Handbook reader"
    assert headers["x-service-model-router"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/embeddings", {"model": "text-embedding-bge-m3", "input": "tide"}),
        ("/audio/speech", {"model": "tts-kokoro", "input": "Noon."}),
        ("/image/generate", {"model": "rialto-canvas", "prompt": "a boat", "width": 64, "height": 64}),
        ("/video/queue", {"model": "rialto-reel-text-to-video", "prompt": "a boat", "duration": "3s"}),
    ],
)
def test_R_HDR_18_other_kinds_of_models_are_named_too(sandbox: Client, path: str, body: dict[str, object]) -> None:
    answer = sandbox.post(path, body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-service-model-id"] == body["model"]
    assert answer.headers["x-service-model-name"] and answer.headers["x-service-model-router"]
    assert answer.headers["x-service-balance-usd"] == "100", "as it was before the call"


def test_R_HDR_19_R_HDR_20_only_the_deprecated_model_warns(sandbox: Client) -> None:
    assert "x-service-model-deprecation-warning" not in sandbox.chat_raw().headers
    headers = sandbox.chat_raw(model="rialto-handbook-2025", stream=True).headers
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", headers["x-service-model-deprecation-date"])
    assert "Use rialto-handbook." in headers["x-service-model-deprecation-warning"]


def test_R_HDR_03_R_HDR_22_balances_are_those_before_the_request_and_exact(sandbox: Client) -> None:
    answer = sandbox.chat_raw()
    assert answer.headers["x-service-balance-usd"] == "100"
    assert answer.headers["x-service-balance-diem"] == "0"
    after = sandbox.get("/billing/balance")
    assert after.headers["x-service-balance-usd"] == sandbox.balance()
    assert float(after.headers["x-service-balance-usd"]) == pytest.approx(100 - answer.json()["cost"]["usd"], abs=1e-12)


def test_R_HDR_22_without_a_key_there_is_no_balance(sandbox: Client, bare: httpx.Client) -> None:
    assert "x-service-balance-usd" not in bare.get(f"{sandbox.running.base_url}/models").headers


def test_R_HDR_27_R_HDR_28_debugging_headers_are_never_sent(sandbox: Client) -> None:
    names = " ".join([*sandbox.get("/models").headers, *sandbox.chat_raw().headers, *sandbox.get("/nothing").headers])
    for word in ("middleface", "mobile-version", "request-timestamp", "control-instance", "auth-refreshed"):
        assert word not in names
