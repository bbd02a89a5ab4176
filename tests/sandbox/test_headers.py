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


def test_R_HDR_07_R_HDR_08_R_HDR_09_token_limits_are_those_of_the_text_model(sandbox: Client) -> None:
    first, second = sandbox.chat_raw(), sandbox.chat_raw()
    assert first.headers["x-ratelimit-limit-tokens"] == "1000000"
    used = first.json()["usage"]["total_tokens"]
    assert int(second.headers["x-ratelimit-remaining-tokens"]) == 1_000_000 - used
    assert first.headers["x-ratelimit-reset-tokens"] == "60"


@pytest.mark.parametrize("path", ["/models", "/characters", "/billing/balance", "/image/styles", "/nothing"])
@pytest.mark.parametrize("with_key", [True, False])
def test_R_HDR_04_to_R_HDR_10_every_answer_has_every_limit_header(sandbox: Client, path: str, with_key: bool) -> None:
    headers = sandbox.get(path, headers={} if with_key else {"authorization": ""}).headers
    for what in ("requests", "tokens"):
        for part in ("limit", "remaining", "reset"):
            assert int(headers[f"x-ratelimit-{part}-{what}"]) >= 0
    assert headers["x-ratelimit-type"] == "api_key"


@pytest.mark.parametrize("limit_type", ["user", "api_key", "global"])
def test_R_HDR_10_a_switch_says_whose_the_limits_are(sandbox: Client, limit_type: str) -> None:
    sandbox.control("/settings", {"limit_type": limit_type})
    assert sandbox.get("/models").headers["x-ratelimit-type"] == limit_type
    sandbox.control("/faults/answer", {"status": 429})
    assert sandbox.get("/models").headers["x-ratelimit-type"] == limit_type
    sandbox.control("/settings", {"no_limits": True})
    sandbox.control("/faults/answer", {"times": 1, "status": 400})
    assert "x-ratelimit-type" not in sandbox.get("/models").headers


def test_R_HDR_28_a_switch_says_that_the_sign_in_was_refreshed(sandbox: Client) -> None:
    assert "x-auth-refreshed" not in sandbox.get("/models").headers
    sandbox.control("/settings", {"auth_refreshed_header": True})
    assert sandbox.get("/models").headers["x-auth-refreshed"] == "true"


def test_R_HDR_19_R_HDR_20_any_model_can_be_announced_as_leaving(sandbox: Client) -> None:
    voices = [each["id"] for each in sandbox.get("/models?type=tts").json()["data"]]
    sandbox.control("/settings", {"leaving_model": voices[0]})
    listed = {each["id"]: each["model_spec"] for each in sandbox.get("/models?type=tts").json()["data"]}
    assert listed[voices[0]]["deprecation"]["replacementModelId"] == voices[1]
    assert "deprecation" not in listed[voices[1]]
    answer = sandbox.post(
        "/audio/speech", {"model": voices[0], "input": "Hello.", "voice": listed[voices[0]]["voices"][0]}
    )
    assert answer.headers["x-service-model-deprecation-date"] == listed[voices[0]]["deprecation"]["date"]
    assert voices[1] in answer.headers["x-service-model-deprecation-warning"]


@pytest.mark.parametrize(
    ("word", "header"),
    [
        ("sandbox-violation", "is-content-violation"),
        ("sandbox-adult-violation", "is-adult-model-content-violation"),
        ("sandbox-minor", "contains-minor"),
        ("sandbox-blurred", "is-blurred"),
    ],
)
def test_R_HDR_23_to_R_HDR_26_words_in_a_chat_switch_the_verdicts_on(sandbox: Client, word: str, header: str) -> None:
    assert sandbox.chat_raw().headers["x-service-is-content-violation"] == "false"
    said = [{"role": "user", "content": f"What is this? {word}"}]
    assert sandbox.chat_raw(messages=said).headers[f"x-service-{header}"] == "true"


def test_a_chat_is_refused_or_stopped_for_its_content_by_a_word(sandbox: Client) -> None:
    refused = sandbox.chat_raw(messages=[{"role": "user", "content": "sandbox-refused"}])
    assert (refused.status_code, refused.json()["suggested_prompt"]) == (422, "What may I ask?")
    stopped = sandbox.chat_raw(messages=[{"role": "user", "content": "How do I stop? sandbox-blocked"}], stream=True)
    assert stopped.status_code == 200
    assert '"type":"content_filter_error","code":"content_blocked_by_provider"' in stopped.text
    assert stopped.text.rstrip().endswith("data: [DONE]")


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
