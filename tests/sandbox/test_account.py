"""Billing endpoints: balance, history with its cursor, analytics, and the endpoint that is gone."""

import csv
import io

import pytest

from tests.sandbox.support import Client

MONEY = ("USD", "DIEM")


def test_R_EP_16_the_balance_follows_the_charges(sandbox: Client) -> None:
    body = sandbox.get("/billing/balance").json()
    assert body == {
        "canConsume": True,
        "consumptionCurrency": "USD",
        "balances": {"usd": 100.0, "diem": 0.0},
        "diemEpochAllocation": 0,
    }
    sandbox.control("/balance", {"usd": "0", "diem": "0"})
    empty = sandbox.get("/billing/balance").json()
    assert (empty["canConsume"], empty["consumptionCurrency"]) == (False, None)


def test_the_history_adds_up_to_what_was_charged(sandbox: Client) -> None:
    answer = sandbox.chat(service_parameters={"enable_web_search": "on"})
    lines = sandbox.get("/billing/usage-history").json()["data"]
    assert [line["sku"] for line in lines] == ["rialto-handbook-llm-input", "rialto-handbook-llm-output", "web-search"]
    assert -sum(line["amount"] for line in lines) == pytest.approx(answer["cost"]["usd"])
    details = lines[0]["inferenceDetails"]
    assert (details["requestId"], details["promptTokens"]) == (answer["id"], answer["usage"]["prompt_tokens"])
    for line in lines:
        assert line["units"] * line["pricePerUnitUsd"] == pytest.approx(-line["amount"])


def test_the_history_is_read_page_by_page_with_the_cursor_alone(sandbox: Client) -> None:
    for _ in range(8):
        sandbox.chat("hello")
    first = sandbox.get("/billing/usage-history", params={"pageSize": 10})
    assert (len(first.json()["data"]), first.headers["x-pagination-total-pages"]) == (10, "2")
    cursor = first.json()["nextCursor"]
    second = sandbox.get("/billing/usage-history", params={"cursor": cursor})
    assert (len(second.json()["data"]), second.json()["nextCursor"]) == (6, None)
    assert second.headers["x-pagination-page"] == "2"
    assert sandbox.get("/billing/usage-history", params={"cursor": cursor, "pageSize": 10}).status_code == 400
    assert sandbox.get("/billing/usage-history", params={"cursor": "abc"}).status_code == 400
    table = sandbox.get("/billing/usage-history", params={"pageSize": 10}, headers={"accept": "text/csv"})
    assert table.headers["x-next-cursor"] == cursor
    assert len(list(csv.DictReader(io.StringIO(table.text)))) == 10


def test_the_history_can_be_cut_by_time_and_currency(sandbox: Client) -> None:
    sandbox.chat("hello")
    sandbox.turn_clock(7200)
    sandbox.chat("hello")

    def count(**query: str) -> int:
        return len(sandbox.get("/billing/usage-history", params=query).json()["data"])

    assert count() == 4
    assert count(startTimestamp="2026-11-25T13:00:00Z") == 2
    assert count(endTimestamp="2026-11-25T13:00:00Z") == 2
    assert count(currency="DIEM") == 0
    wrong = {"pageSize": "9", "startTimestamp": "yesterday", "currency": "shells"}
    details = sandbox.get("/billing/usage-history", params=wrong).json()["details"]
    assert set(details) == {"_errors", *wrong}
    backwards = {"startTimestamp": "2026-11-25T13:00:00Z", "endTimestamp": "2026-11-25T12:00:00Z"}
    assert sandbox.get("/billing/usage-history", params=backwards).status_code == 400


def test_R_NS_09_analytics_sum_up_days_and_models(sandbox: Client) -> None:
    first = sandbox.chat("hello")["cost"]["usd"]
    sandbox.turn_clock(86_400)
    second = sandbox.chat("hello", model="rialto-reasoning")["cost"]["usd"]
    body = sandbox.get("/billing/usage-analytics").json()
    assert body["lookback"] == "7d"
    assert [day["date"] for day in body["byDate"]] == ["2026-11-25", "2026-11-26"]
    assert [day["USD"] for day in body["byDate"]] == pytest.approx([first, second])
    assert body["topModels"] == ["rialto-reasoning", "rialto-handbook"]
    assert body["byModelDaily"][1]["date"] == 1_795_651_200_000
    assert body["byKey"][0]["totalUsd"] == pytest.approx(first + second)
    one_day = sandbox.get(
        "/billing/usage-analytics", params={"startDate": "2026-11-26", "endDate": "2026-11-26"}
    ).json()
    assert one_day["topModels"] == ["rialto-reasoning"]
    for wrong in ({"lookback": "91d"}, {"lookback": "week"}, {"startDate": "2026-11-26"}):
        assert sandbox.get("/billing/usage-analytics", params=wrong).status_code == 400


def test_usage_is_told_by_its_kind_with_units_of_that_kind(sandbox: Client) -> None:
    tokens = sandbox.chat("Where are my chats kept?", venice_parameters={"enable_web_search": "on"})["usage"]
    sandbox.post("/audio/speech", {"model": "tts-kokoro", "input": "Good morning.", "response_format": "wav"})
    sandbox.post("/embeddings", {"model": "text-embedding-bge-m3", "input": "a text"})
    image = {"model": "rialto-canvas", "prompt": "a boat", "width": 64, "height": 64}
    sandbox.post("/image/generate", image)
    sandbox.post("/crypto/rpc/base-mainnet", {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"})
    body = sandbox.get("/billing/usage-analytics").json()
    used = {one["modelName"]: one for one in body["byModel"]}
    kinds = {name: (one.get("modelType"), one["unitType"]) for name, one in used.items()}
    assert kinds == {
        "rialto-handbook": ("text", "tokens"),
        "tts-kokoro": ("tts", "characters"),
        "text-embedding-bge-m3": ("embedding", "tokens"),
        "rialto-canvas": ("image", "images"),
        "crypto-rpc:base-mainnet": (None, "credits"),
    }
    assert used["rialto-handbook"]["totalUnits"] == tokens["total_tokens"]  # the search is booked beside them
    assert {part["sku"] for part in used["rialto-handbook"]["breakdown"]} == {
        "rialto-handbook-llm-input",
        "rialto-handbook-llm-output",
        "web-search",
    }
    assert (used["tts-kokoro"]["totalUnits"], used["rialto-canvas"]["totalUnits"]) == (len("Good morning."), 1)
    total = sum(one["totalUsd"] for one in body["byModel"])
    assert body["byKey"][0]["totalUsd"] == pytest.approx(total) and total == pytest.approx(
        100 - float(sandbox.balance())
    )


def test_daily_credits_are_told_apart_from_dollars(sandbox: Client) -> None:
    sandbox.control("/balance", {"diem": "1"})
    cost = sandbox.chat("hello")["cost"]["usd"]
    body = sandbox.get("/billing/usage-analytics").json()
    assert (body["byDate"][0]["USD"], body["byDate"][0]["DIEM"]) == (0, pytest.approx(cost))
    assert (body["byModel"][0]["totalUsd"], body["byModel"][0]["totalDiem"]) == (0, pytest.approx(cost))


def test_the_old_usage_endpoint_is_gone_and_says_where_to_go(sandbox: Client) -> None:
    answer = sandbox.get("/billing/usage")
    assert answer.status_code == 410
    assert {"deprecation", "sunset", "link"} <= set(answer.headers)


def test_R_AUTH_12_daily_credits_are_spent_first_and_come_again_at_midnight(sandbox: Client) -> None:
    sandbox.control("/balance", {"usd": "1", "diem": "0.005"})
    told = sandbox.get("/billing/balance").json()
    assert (told["consumptionCurrency"], told["diemEpochAllocation"]) == ("DIEM", 0.005)
    cost = sandbox.chat(service_parameters={"enable_web_search": "on"})["cost"]["usd"]
    assert cost > 0.01
    after = sandbox.get("/billing/balance").json()["balances"]
    assert after["diem"] == 0 and after["usd"] == pytest.approx(1.005 - cost)
    history = [sandbox.get("/billing/usage-history", params={"currency": name}).json()["data"] for name in MONEY]
    assert [-sum(line["amount"] for line in lines) for lines in history] == pytest.approx([cost - 0.005, 0.005])
    sandbox.turn_clock(12 * 3600 - 1)  # it is noon
    assert sandbox.get("/billing/balance").json()["balances"]["diem"] == 0
    sandbox.turn_clock(12 * 3600)
    fresh = sandbox.get("/billing/balance")
    assert (fresh.json()["balances"]["diem"], fresh.headers["x-service-balance-diem"]) == (0.005, "0.005")


def test_R_AUTH_12_what_is_left_of_a_day_is_not_kept(sandbox: Client) -> None:
    sandbox.control("/balance", {"usd": "0", "diem": "2"})
    sandbox.chat("hello")
    assert sandbox.get("/api_keys/rate_limits").json()["data"]["balances"]["USD"] == 0
    sandbox.turn_clock(3 * 86_400)
    assert sandbox.get("/api_keys/rate_limits").json()["data"]["balances"]["DIEM"] == 2
