"""Keys that the Sandbox's key makes: they call at once, spend the same money, and end when they are told to."""

import httpx
import pytest

from tests.sandbox.support import Client


def make(sandbox: Client, **fields: object) -> dict[str, object]:
    body = {"apiKeyType": "INFERENCE", "description": "Night work", **fields}
    answer = sandbox.post("/api_keys", body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"])


def as_key(sandbox: Client, key: object, path: str) -> httpx.Response:
    return httpx.get(sandbox.running.base_url + path, headers={"Authorization": f"Bearer {key}"}, timeout=60)


def test_a_made_key_calls_spends_the_same_money_and_sees_nothing_of_the_account(sandbox: Client) -> None:
    made = make(sandbox)
    assert as_key(sandbox, made["apiKey"], "/api_keys/rate_limits").json()["data"]["balances"]["USD"] == 100.0
    body = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "How do I stop an answer?"}]}
    headers = {"Authorization": f"Bearer {made['apiKey']}"}
    answer = httpx.post(sandbox.running.base_url + "/chat/completions", json=body, headers=headers, timeout=60)
    assert answer.status_code == 200
    assert sandbox.get("/billing/balance").json()["balances"]["usd"] < 100
    for path in ("/api_keys", "/billing/balance", "/billing/usage-history", "/billing/usage-analytics"):
        assert as_key(sandbox, made["apiKey"], path).status_code == 401, path


def test_a_key_is_told_once_and_listed_by_its_end(sandbox: Client) -> None:
    made = make(sandbox, expiresAt="2031-01-31")
    rows = sandbox.get("/api_keys").json()["data"]
    assert [row["description"] for row in rows] == ["Sandbox key", "Night work"]
    assert (rows[1]["id"], rows[1]["expiresAt"]) == (made["id"], "2031-01-31T00:00:00.000Z")
    assert str(made["apiKey"]).endswith(rows[1]["last6Chars"])
    assert "apiKey" not in rows[1]


def test_a_revoked_key_and_one_that_has_ended_are_refused(sandbox: Client) -> None:
    first, second = make(sandbox), make(sandbox, expiresAt="2027-01-01")
    address = f"{sandbox.running.base_url}/api_keys"
    assert sandbox.http.delete(address, params={"id": str(first["id"])}).json() == {"success": True}
    assert as_key(sandbox, first["apiKey"], "/api_keys/rate_limits").status_code == 401
    sandbox.turn_clock(400 * 86_400)
    assert as_key(sandbox, second["apiKey"], "/api_keys/rate_limits").status_code == 401
    assert sandbox.http.delete(address, params={"id": str(first["id"])}).status_code == 404
    own = sandbox.get("/api_keys").json()["data"][0]["id"]
    assert sandbox.http.delete(address, params={"id": own}).status_code == 400


def test_an_admin_key_makes_keys_too(sandbox: Client) -> None:
    made = make(sandbox, apiKeyType="ADMIN")
    assert [row["apiKeyType"] for row in as_key(sandbox, made["apiKey"], "/api_keys").json()["data"]] == ["ADMIN"] * 2


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"apiKeyType": "ROOT"}, "apiKeyType"),
        ({"description": "x" * 65}, "description"),
        ({"description": None}, "description"),
        ({"expiresAt": "soon"}, "expiresAt"),
        ({"expiresAt": "2001-01-01"}, "expiresAt"),
        ({"consumptionLimit": 5}, "consumptionLimit"),
        ({"consumptionLimit": {"usd": -1}}, "consumptionLimit"),
        ({"limitPeriod": "WEEK"}, "limitPeriod"),
        ({"modelPrivacy": "SOME"}, "modelPrivacy"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_name(sandbox: Client, fields: dict[str, object], name: str) -> None:
    answer = sandbox.post("/api_keys", {"apiKeyType": "INFERENCE", "description": "Night work", **fields})
    assert answer.status_code == 400
    assert name in answer.json()["details"]


def chat(sandbox: Client, key: object) -> httpx.Response:
    body = {"model": "rialto-handbook", "messages": [{"role": "user", "content": "How do I stop an answer?"}]}
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.post(sandbox.running.base_url + "/chat/completions", json=body, headers=headers, timeout=60)


@pytest.mark.parametrize(("period", "next_one_s"), [("EPOCH", 86_400), ("MONTH", 31 * 86_400), ("LIFETIME", None)])
def test_r_key_03_r_key_04_a_limit_ends_the_calls_of_its_key_until_its_period_is_over(
    sandbox: Client, period: str, next_one_s: int | None
) -> None:
    made = make(sandbox, consumptionLimit={"usd": 0.000001}, limitPeriod=period)
    assert chat(sandbox, made["apiKey"]).status_code == 200
    refused = chat(sandbox, made["apiKey"])
    assert refused.status_code == 402
    assert refused.json()["error"].startswith("API key USD spend limit exceeded. Your account may still have USD")
    assert chat(sandbox, sandbox.running.api_key).status_code == 200, "the limit is of that key alone"
    row = sandbox.get("/api_keys").json()["data"][1]
    assert row["consumptionLimits"]["usd"] == 0.000001
    assert float(row["currentPeriodUsage"]["usd"]) == float(row["usage"]["trailingSevenDays"]["usd"]) > 0
    sandbox.turn_clock(next_one_s or 400 * 86_400)
    assert chat(sandbox, made["apiKey"]).status_code == (200 if next_one_s else 402)


def test_r_key_01_r_key_02_only_the_fields_that_are_sent_change(sandbox: Client) -> None:
    made = make(sandbox, consumptionLimit={"usd": 5, "diem": 2}, expiresAt="2031-01-31")
    address = f"{sandbox.running.base_url}/api_keys"
    assert made["consumptionLimit"] == {"usd": 5, "diem": 2, "vcu": None}
    changed = sandbox.http.patch(address, json={"id": made["id"], "consumptionLimit": {"usd": None}}).json()["data"]
    assert changed["consumptionLimits"] == {"usd": None, "diem": 2, "vcu": None}
    assert (changed["description"], changed["expiresAt"]) == ("Night work", "2031-01-31T00:00:00.000Z")
    changed = sandbox.http.patch(address, json={"id": made["id"], "description": "Day work", "expiresAt": ""}).json()
    assert (changed["data"]["description"], changed["data"]["expiresAt"]) == ("Day work", None)
    for body in ({"id": "nobody", "description": "x"}, {"id": made["id"], "apiKeyType": "ADMIN"}):
        assert sandbox.http.patch(address, json=body).status_code == 400


def test_r_key_05_a_key_for_private_models_sees_and_uses_no_others(sandbox: Client) -> None:
    made = make(sandbox, modelPrivacy="PRIVATE_ONLY")
    everything = {row["id"]: row["model_spec"]["privacy"] for row in sandbox.get("/models?type=tts").json()["data"]}
    seen = {row["id"] for row in as_key(sandbox, made["apiKey"], "/models?type=tts").json()["data"]}
    other = next(model for model, privacy in everything.items() if privacy != "private")
    assert seen == {model for model, privacy in everything.items() if privacy == "private"}
    headers = {"Authorization": f"Bearer {made['apiKey']}"}
    body = {"model": other, "input": "Hello"}
    answer = httpx.post(sandbox.running.base_url + "/audio/speech", json=body, headers=headers, timeout=60)
    assert answer.status_code == 403
    assert f"`{other}` is an Anonymous model" in answer.json()["error"]


def test_usage_is_told_by_key(sandbox: Client) -> None:
    made = make(sandbox)
    chat(sandbox, made["apiKey"])
    rows = sandbox.get("/billing/usage-analytics").json()["byKey"]
    assert [(row["apiKeyId"], row["description"]) for row in rows] == [(made["id"], "Night work")]
