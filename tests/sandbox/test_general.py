"""Base address, names, the endpoints that exist, authentication and versions: rules R-GEN, R-EP, R-AUTH, R-VER."""

import re

import httpx
import pytest

from app.sandbox.http.routes import ROUTES
from tests.sandbox.support import Client

ASK = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "hello"}]}


def test_R_GEN_01_R_VER_01_everything_is_below_api_v1(sandbox: Client) -> None:
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/api/v1", sandbox.running.base_url)
    assert sandbox.get("/models").status_code == 200
    assert sandbox.http.get(f"{sandbox.running.origin}/models").status_code == 404
    assert sandbox.get("/v1/models").status_code == 404


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_R_GEN_02_another_content_type_is_refused_with_415(sandbox: Client, content_type: str) -> None:
    address = f"{sandbox.running.base_url}/chat/completions"
    answer = sandbox.http.post(address, content=b"{}", headers={"content-type": content_type})
    assert answer.status_code == 415
    assert "error" in answer.json()


def test_R_GEN_03_answers_carry_service_names(sandbox: Client) -> None:
    answer = sandbox.chat_raw()
    assert "service_parameters" in answer.json()
    assert "x-service-version" in answer.headers
    assert not any(name.startswith("x-venice") for name in answer.headers)


def test_R_GEN_03_input_is_accepted_under_both_names_and_the_own_one_wins(sandbox: Client) -> None:
    echo = sandbox.chat(venice_parameters={"enable_web_search": "on"})["service_parameters"]
    assert echo["enable_web_search"] == "on"
    both = sandbox.chat(
        venice_parameters={"enable_web_search": "on"}, service_parameters={"enable_web_citations": True}
    )["service_parameters"]
    assert (both["enable_web_search"], both["enable_web_citations"]) == ("off", True)


def test_the_venice_dialect_answers_with_its_own_names(venice: Client) -> None:
    answer = venice.chat_raw(service_parameters={"enable_web_search": "on"})
    assert answer.json()["venice_parameters"]["enable_web_search"] == "on"
    assert "x-venice-balance-usd" in answer.headers
    assert not any(name.startswith("x-service") for name in answer.headers)
    assert venice.get("/models").json()["data"][0]["owned_by"] == "venice.ai"


def test_R_GEN_04_an_answer_can_be_streamed_in_chunks(sandbox: Client) -> None:
    answer = sandbox.chat_raw(stream=True)
    assert answer.headers["transfer-encoding"] == "chunked"
    assert answer.headers["content-type"].startswith("text/event-stream")


def test_R_GEN_06_the_extension_object_may_be_absent(sandbox: Client) -> None:
    echo = sandbox.chat()["service_parameters"]
    assert echo == {
        "strip_thinking_response": False,
        "disable_thinking": False,
        "enable_web_search": "off",
        "enable_web_scraping": False,
        "enable_x_search": False,
        "enable_e2ee": True,
        "enable_web_citations": False,
        "include_search_results_in_stream": False,
        "return_search_results_as_documents": False,
        "include_venice_system_prompt": True,
        "web_search_citations": [],
    }


def test_R_GEN_11_a_listed_character_can_be_used_in_chat(sandbox: Client) -> None:
    slug = sandbox.get("/characters").json()["data"][0]["slug"]
    assert sandbox.chat_raw(service_parameters={"character_slug": slug}).status_code == 200


def test_R_GEN_13_credit_is_prepaid_and_really_charged(sandbox: Client) -> None:
    before = float(sandbox.balance())
    cost = sandbox.chat(service_parameters={"enable_web_search": "on"})["cost"]["usd"]
    assert cost > 0.01
    assert float(sandbox.balance()) == pytest.approx(before - cost)


def test_R_GEN_15_R_GEN_16_unknown_fields_are_accepted_and_ignored(sandbox: Client) -> None:
    unknown = {"a_field_of_next_year": [1, 2], "service_parameters": {"another_one": {"deep": True}}}
    assert sandbox.chat(**unknown)["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("rule", "method", "path"),
    [
        ("R-EP-01", "GET", "/characters"),
        ("R-EP-02", "POST", "/chat/completions"),
        ("R-EP-10", "GET", "/api_keys/rate_limits"),
        ("R-EP-11", "GET", "/api_keys/rate_limit_logs"),
        ("R-EP-11", "GET", "/api_keys/rate_limits/log"),
        ("R-EP-12", "GET", "/models"),
        ("R-EP-12", "GET", "/models?type=all"),
        ("R-EP-12", "GET", "/models?type=code"),
        ("R-EP-13", "GET", "/models/rialto-handbook"),
        ("R-EP-16", "GET", "/billing/balance"),
        ("R-EP-16", "GET", "/billing/usage-history"),
        ("R-EP-16", "GET", "/billing/usage-analytics"),
    ],
)
def test_R_EP_the_endpoint_exists(sandbox: Client, rule: str, method: str, path: str) -> None:
    answer = sandbox.http.request(method, sandbox.running.base_url + path, json=ASK if method == "POST" else None)
    assert answer.status_code == 200, f"{rule}: {answer.text}"


def test_a_path_that_does_not_exist_is_404_and_another_method_405(sandbox: Client) -> None:
    assert sandbox.get("/nothing/here").status_code == 404
    answer = sandbox.post("/models", {})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/characters"),
        ("POST", "/chat/completions"),
        ("GET", "/api_keys/rate_limits"),
        ("GET", "/billing/balance"),
    ],
)
def test_R_AUTH_01_R_AUTH_02_every_endpoint_wants_the_bearer_key(
    sandbox: Client, bare: httpx.Client, method: str, path: str
) -> None:
    address = sandbox.running.base_url + path
    body = ASK if method == "POST" else None
    assert bare.request(method, address, json=body).status_code == 401
    wrong = bare.request(method, address, json=body, headers={"Authorization": "Bearer not-the-key"})
    assert wrong.status_code == 401
    basic = bare.request(method, address, json=body, headers={"Authorization": f"Basic {sandbox.running.api_key}"})
    assert basic.status_code == 401
    right = bare.request(method, address, json=body, headers={"authorization": f"bearer {sandbox.running.api_key}"})
    assert right.status_code == 200


def test_models_need_no_key_but_a_wrong_one_is_still_refused(sandbox: Client, bare: httpx.Client) -> None:
    address = f"{sandbox.running.base_url}/models"
    assert bare.get(address).status_code == 200
    assert bare.get(address, headers={"Authorization": "Bearer nonsense"}).status_code == 401


def test_R_AUTH_11_the_401_has_the_standard_body(sandbox: Client, bare: httpx.Client) -> None:
    answer = bare.get(f"{sandbox.running.base_url}/characters")
    assert answer.status_code == 401
    assert answer.json() == {"error": "Authentication failed"}


def test_every_start_has_a_key_of_its_own_that_repr_does_not_show(sandbox: Client) -> None:
    key = sandbox.running.api_key
    assert len(key) > 20
    assert key not in repr(sandbox.running)


def test_R_VER_03_R_VER_04_the_version_has_date_and_time(sandbox: Client) -> None:
    assert re.fullmatch(r"\d{8}\.\d{6}", sandbox.get("/models").headers["x-service-version"])


def test_R_VER_05_R_NS_14_a_deprecated_model_is_flagged_in_each_answer(sandbox: Client) -> None:
    headers = sandbox.chat_raw(model="rialto-handbook-2025").headers
    assert "rialto-handbook-2025" in headers["x-service-model-deprecation-warning"]
    assert headers["x-service-model-deprecation-date"] == "2026-12-09"


def test_every_route_leads_to_a_handler() -> None:
    assert len(ROUTES) > 25
    assert all(callable(route.handler) for route in ROUTES)
