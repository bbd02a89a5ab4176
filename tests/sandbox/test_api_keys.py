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
        ({"consumptionLimit": {"usd": 5}}, "consumptionLimit"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_name(sandbox: Client, fields: dict[str, object], name: str) -> None:
    answer = sandbox.post("/api_keys", {"apiKeyType": "INFERENCE", "description": "Night work", **fields})
    assert answer.status_code == 400
    assert name in answer.json()["details"]
