"""A wallet's money over the wire: terms, one payment sent once, its outcome, balance and bookings."""

import base64
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.calls import is_outcome_unknown
from app.service.dialect import DIALECTS
from app.service.errors import (
    BadRequest,
    BadResponse,
    CallsPaused,
    Conflict,
    ConnectionFailed,
    LimitExceeded,
    OutcomeUnknown,
    PaymentRequired,
    RateLimited,
    ServerFailed,
    ServiceError,
    StreamCut,
    TimedOut,
)
from app.service.exchange import curl_command
from app.service.response_info import ResponseInfo
from app.service.retry import CallKind
from app.service.x402 import Settlement, TopUpRequirements, read_receipt
from tests.service.loopback import Watched, http, serving

BASE_URL = "https://service.test/api/v1"
WALLET = "0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1"
OTHER_CHAIN_WALLET = "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu"
PAYMENT = base64.b64encode(b'{"x402Version":2,"payload":"signed by nobody"}').decode()
OPTION = {
    "scheme": "exact",
    "network": "eip155:8453",
    "amount": "5000000",
    "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "payTo": "0x2222222222222222222222222222222222222222",
    "maxTimeoutSeconds": 300,
    "extra": {"name": "USD Coin", "version": "2"},
}
OTHER_RAIL = {**OPTION, "network": "solana", "payTo": OTHER_CHAIN_WALLET}
OLD_OPTION = {**{key: OPTION[key] for key in OPTION if key != "amount"}, "network": "base", "maxAmountRequired": "5"}
TERMS = {"x402Version": 2, "accepts": [OPTION, OTHER_RAIL]}
CREDITED = {
    "success": True,
    "data": {"walletAddress": WALLET, "amountCredited": 5.1, "newBalance": 9.370001, "paymentId": "pay-1"},
}
RECEIPT = {"success": True, "network": "eip155:8453", "payer": WALLET, "transaction": "0x" + "cd" * 32}
Handler = Callable[[httpx.Request], httpx.Response]


def packed(content: object) -> str:
    return base64.b64encode(json.dumps(content).encode()).decode()


def always(status: int, body: object = None, **headers: str) -> Handler:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: httpx.Response(status, content=content, headers=names)


def failing(error: type[httpx.TransportError]) -> Handler:
    def handler(request: httpx.Request) -> httpx.Response:
        raise error("broke", request=request)

    return handler


def paying(handler: Handler, **more: str) -> Watched:
    return Watched(more.pop("base_url", BASE_URL), handler=handler, **more)


async def terms_of(handler: Handler) -> TopUpRequirements:
    async with paying(handler) as watched:
        return await watched.service.x402.top_up_requirements()


async def settled(handler: Handler, **more: str) -> Settlement:
    async with paying(handler, **more) as watched:
        return await watched.service.x402.settle(PAYMENT)


# --- step 1: what it takes


@pytest.mark.parametrize("status", [402, 200])
async def test_r_wal_01_a_402_with_terms_is_the_answer_and_no_error(status: int) -> None:
    async with paying(always(status, TERMS)) as watched:
        terms = await watched.service.x402.top_up_requirements()
        assert (watched.exchange.outcome, watched.exchange.status, watched.exchange.error) == ("ok", status, "")
    assert (terms.version, len(terms.options)) == (2, 2)


async def test_r_wal_02_both_rails_are_handed_on_unchanged() -> None:
    terms = await terms_of(always(402, TERMS))
    assert list(terms.options) == [OPTION, OTHER_RAIL]


async def test_r_wal_05_the_first_call_carries_no_credentials_and_no_body() -> None:
    async with paying(always(402, TERMS)) as watched:
        await watched.service.x402.top_up_requirements()
        (request,) = watched.requests
    assert (request.method, request.url.path, request.content) == ("POST", "/api/v1/x402/top-up", b"")
    own = {each.siwx_header.lower() for each in DIALECTS.values()} | {
        each.payment_header.lower() for each in DIALECTS.values()
    }
    assert not {"authorization", *own} & set(request.headers)


async def test_terms_may_stand_in_the_header_alone() -> None:
    terms = await terms_of(always(402, {"error": "Payment required"}, PAYMENT_REQUIRED=packed(TERMS)))
    assert list(terms.options) == [OPTION, OTHER_RAIL]
    terms = await terms_of(always(402, b"", PAYMENT_REQUIRED=packed(TERMS)))
    assert terms.version == 2


async def test_the_body_counts_where_header_and_body_name_terms() -> None:
    other = {"x402Version": 2, "accepts": [OTHER_RAIL]}
    assert (await terms_of(always(402, TERMS, PAYMENT_REQUIRED=packed(other)))).options[0] == OPTION


async def test_terms_of_the_first_protocol_version_are_read() -> None:
    terms = await terms_of(
        always(402, {"x402Version": 1, "error": "X-PAYMENT header is required", "accepts": [OLD_OPTION]})
    )
    assert (terms.version, terms.options) == (1, (OLD_OPTION,))
    assert (await terms_of(always(402, {"accepts": [OLD_OPTION]}))).version == 1
    assert (await terms_of(always(402, {"accepts": [OPTION]}))).version == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        None,
        b"<html>402</html>",
        {"accepts": []},
        {"accepts": {"0": OPTION}},
        {"x402Version": 3, "accepts": [OPTION]},
        {"x402Version": True, "accepts": [OPTION]},
        {"x402Version": "2", "accepts": [OPTION]},
    ],
)
async def test_terms_that_cannot_be_read_are_a_bad_answer(body: object) -> None:
    with pytest.raises(BadResponse) as caught:
        await terms_of(always(402, body))
    assert caught.value.status == 402


async def test_entries_that_are_no_objects_are_left_out() -> None:
    assert (await terms_of(always(402, {"accepts": [None, 1, OPTION]}))).options == (OPTION,)


async def test_the_moment_of_the_terms_is_the_services_own() -> None:
    terms = await terms_of(always(402, TERMS, Date="Fri, 20 Nov 2026 12:00:00 GMT"))
    assert terms.named_at == datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize("location", ["https://elsewhere.test/x402/top-up", "/api/v1/x402/other"])
@pytest.mark.parametrize("status", [302, 307, 308])
async def test_terms_and_payments_follow_no_redirect_not_even_at_home(location: str, status: int) -> None:
    async with paying(always(status, b"", location=location)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.x402.top_up_requirements()
        with pytest.raises(OutcomeUnknown):
            await watched.service.x402.settle(PAYMENT)
        assert [request.url.path for request in watched.requests] == ["/api/v1/x402/top-up"] * 2


async def test_terms_over_an_open_line_are_not_even_asked_for() -> None:
    async with paying(always(402, TERMS), base_url="http://service.test/api/v1") as watched:
        for work in (watched.service.x402.top_up_requirements(), watched.service.x402.settle(PAYMENT)):
            with pytest.raises(LimitExceeded) as caught:
                await work
            assert caught.value.field == "base_url"
        assert watched.requests == []


async def test_asking_for_terms_is_repeated_like_a_read() -> None:
    answers = iter([httpx.Response(503), httpx.Response(402, json=TERMS)])
    async with paying(lambda _: next(answers)) as watched:
        assert (await watched.service.x402.top_up_requirements()).options
        assert len(watched.slept) == 1


async def test_terms_of_absurd_size_are_refused() -> None:
    with pytest.raises(BadResponse):
        await terms_of(always(402, {"accepts": [OPTION], "padding": "x" * 100_000}))


# --- step 2: pay


@pytest.mark.parametrize("dialect", ["service", "venice"])
async def test_r_wal_03_r_wal_07_the_payment_goes_to_the_same_address_under_the_dialects_name(dialect: str) -> None:
    async with paying(always(200, CREDITED), dialect=dialect) as watched:
        await watched.service.x402.settle(PAYMENT)
        (request,) = watched.requests
    assert (request.method, request.url.path, request.content) == ("POST", "/api/v1/x402/top-up", b"")
    names = {each.payment_header.lower() for each in DIALECTS.values()} | {"x-payment"}
    assert [(name, request.headers[name]) for name in request.headers if name in names] == [
        (DIALECTS[dialect].payment_header.lower(), PAYMENT)
    ]
    assert "authorization" not in request.headers


async def test_what_was_credited_is_read_to_the_last_decimal() -> None:
    settlement = await settled(always(200, CREDITED, PAYMENT_RESPONSE=packed(RECEIPT)))
    assert (settlement.wallet, settlement.payment_id) == (WALLET, "pay-1")
    assert (settlement.credited_usd, settlement.balance_usd) == (Decimal("5.1"), Decimal("9.370001"))
    assert settlement.receipt is not None
    assert (settlement.receipt.success, settlement.receipt.transaction) == (True, RECEIPT["transaction"])


@pytest.mark.parametrize("name", ["PAYMENT_RESPONSE", "X_PAYMENT_RESPONSE"])
async def test_both_names_of_the_receipt_are_read(name: str) -> None:
    settlement = await settled(always(200, b"", **{name: packed(RECEIPT)}))
    assert settlement.receipt is not None
    assert (settlement.receipt.payer, settlement.credited_usd) == (WALLET, None)


async def test_a_receipt_of_the_first_version_and_one_of_a_failure_are_read() -> None:
    info = ResponseInfo(
        402, datetime.now(UTC), payment_response=packed({"success": True, "txHash": "0xab", "networkId": "8453"})
    )
    receipt = read_receipt(info)
    assert receipt is not None
    assert (receipt.transaction, receipt.network) == ("0xab", "8453")
    failed = {"success": False, "errorReason": "insufficient\u202e funds<br>"}
    receipt = read_receipt(ResponseInfo(402, datetime.now(UTC), payment_response=packed(failed)))
    assert receipt is not None
    assert (receipt.success, receipt.reason) == (False, "insufficient funds")


@pytest.mark.parametrize("value", [None, "", "???", "bm90IGpzb24=", packed([1]), packed("text"), "schön"])
def test_a_receipt_that_cannot_be_read_is_none(value: str | None) -> None:
    assert read_receipt(ResponseInfo(200, datetime.now(UTC), payment_response=value)) is None
    assert read_receipt(None) is None


async def test_e9_codes_stand_in_error_with_or_without_a_sentence() -> None:
    with pytest.raises(BadRequest) as caught:
        await settled(always(400, {"error": "AMOUNT_TOO_LOW", "message": "At least 5 USD.", "details": {"minimum": 5}}))
    assert (caught.value.code, caught.value.message) == ("AMOUNT_TOO_LOW", "At least 5 USD.")
    with pytest.raises(BadRequest) as caught:
        await settled(always(400, {"error": "INVALID_PAYMENT_FORMAT"}))
    assert caught.value.code == "INVALID_PAYMENT_FORMAT"


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (400, {"error": "PAYMENT_VERIFICATION_FAILED", "message": "m"}, BadRequest, "PAYMENT_VERIFICATION_FAILED"),
        (402, {"error": "SETTLEMENT_FAILED", "message": "m"}, PaymentRequired, "SETTLEMENT_FAILED"),
        (409, {"error": "PAYMENT_IN_PROGRESS", "message": "m"}, Conflict, "PAYMENT_IN_PROGRESS"),
        (429, {"error": "Too many requests"}, RateLimited, None),
        (503, {"error": "X402_NOT_CONFIGURED", "message": "m"}, ServerFailed, "X402_NOT_CONFIGURED"),
    ],
)
async def test_a_refused_payment_is_an_error_of_its_own_kind(
    status: int, body: object, kind: type[ServiceError], code: str | None
) -> None:
    async with paying(always(status, body)) as watched:
        with pytest.raises(kind) as caught:
            await watched.service.x402.settle(PAYMENT)
        assert (watched.exchange.outcome, len(watched.requests)) == ("error", 1)
    assert caught.value.code == code


async def test_terms_that_come_back_with_a_refusal_are_kept_from_body_or_header() -> None:
    with pytest.raises(PaymentRequired) as caught:
        await settled(always(402, {**TERMS, "error": "insufficient_funds"}))
    assert caught.value.options == (OPTION, OTHER_RAIL)
    with pytest.raises(PaymentRequired) as caught:
        await settled(always(402, {"error": "x"}, PAYMENT_REQUIRED=packed(TERMS)))
    assert caught.value.options == (OPTION, OTHER_RAIL)


@pytest.mark.parametrize(
    "handler",
    [
        always(504, {"error": "SETTLEMENT_TIMEOUT", "message": "It may still land."}),
        always(500, {"error": "Internal error"}),
        always(502, b"<html>bad gateway</html>"),
        always(503, {"error": "Service unavailable"}),
        always(200, b""),
        always(200, b"<html>welcome</html>"),
        always(200, [1, 2]),
        always(200, {"success": False, "error": "?"}),
        always(200, CREDITED, PAYMENT_RESPONSE=packed({"success": False, "errorReason": "reverted"})),
        always(200, {"success": True, "padding": "x" * 100_000}),
        always(302, b""),
        failing(httpx.ReadTimeout),
        failing(httpx.ReadError),
        failing(httpx.RemoteProtocolError),
        failing(httpx.WriteError),
    ],
)
async def test_what_may_have_been_paid_is_unknown_and_never_sent_again_by_itself(handler: Handler) -> None:
    async with paying(handler) as watched:
        with pytest.raises(OutcomeUnknown) as caught:
            await watched.service.x402.settle(PAYMENT)
        assert (watched.exchange.outcome, len(watched.requests), watched.slept) == ("unknown", 1, [])
        assert caught.value.exchange == watched.exchange
    assert not caught.value.surely_not_sent


async def test_a_timeout_of_the_service_keeps_its_code_and_request_id() -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        await settled(always(504, {"error": "SETTLEMENT_TIMEOUT", "message": "It may still land."}, CF_RAY="ray-1"))
    assert (caught.value.status, caught.value.code, caught.value.request_id) == (504, "SETTLEMENT_TIMEOUT", "ray-1")


@pytest.mark.parametrize("error", [httpx.ConnectTimeout, httpx.ConnectError, httpx.PoolTimeout])
async def test_what_never_left_was_surely_not_paid(error: type[httpx.TransportError]) -> None:
    async with paying(failing(error)) as watched:
        with pytest.raises((ConnectionFailed, TimedOut)) as caught:
            await watched.service.x402.settle(PAYMENT)
        assert watched.exchange.outcome == "unsent"
        assert len(watched.requests) == 1
    assert caught.value.surely_not_sent


async def test_a_payment_sent_again_is_the_same_to_the_last_byte() -> None:
    async with paying(always(504)) as watched:
        for _ in range(3):
            with pytest.raises(OutcomeUnknown):
                await watched.service.x402.settle(PAYMENT)
        assert {request.headers["x-402-payment"] for request in watched.requests} == {PAYMENT}


@pytest.mark.parametrize("payment", ["", "line\nbreak", "a b", "ünicode", "x" * 20_000, "-_-_", "=aaa"])
async def test_a_payment_that_no_header_can_carry_is_refused_here(payment: str) -> None:
    async with paying(always(200, CREDITED)) as watched:
        with pytest.raises(LimitExceeded) as caught:
            await watched.service.x402.settle(payment)
        assert watched.requests == []
    assert not payment or payment not in str(caught.value)


async def test_r_auth_10_the_payment_is_in_no_record_error_command_or_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with paying(failing(httpx.ReadError)) as watched:
        with pytest.raises(OutcomeUnknown) as caught:
            await watched.service.x402.settle(PAYMENT)
        exchange = watched.exchange
    assert PAYMENT not in repr([exchange, caught.value, caught.value.__context__]) + caplog.text
    assert PAYMENT not in curl_command(exchange.request)
    assert ("X-402-Payment", "[hidden]") in exchange.request.headers


async def test_over_a_real_socket_a_service_that_dies_after_the_payment_leaves_it_unknown() -> None:
    async def die(received: object, writer: object) -> None:
        writer.transport.abort()  # type: ignore[attr-defined] # a StreamWriter

    async with serving(http(402, TERMS), die) as loopback, Watched(loopback.base_url) as watched:
        assert (await watched.service.x402.top_up_requirements()).options
        with pytest.raises(OutcomeUnknown):
            await watched.service.x402.settle(PAYMENT)
    assert [each.headers.get("x-402-payment") for each in loopback.received] == [None, PAYMENT]


@pytest.mark.parametrize("kind", list(CallKind))
def test_only_where_money_moves_does_a_failed_service_leave_the_outcome_open(kind: CallKind) -> None:
    harmless = kind in (CallKind.READ, CallKind.IDEMPOTENT)
    assert is_outcome_unknown(kind, TimedOut("x")) is not harmless
    assert not is_outcome_unknown(kind, TimedOut("x", surely_not_sent=True))
    assert not is_outcome_unknown(kind, CallsPaused("x"))
    assert not is_outcome_unknown(kind, BadRequest("x", status=400))
    for error in (ServerFailed("x", status=500), StreamCut("x"), BadResponse("x")):
        assert is_outcome_unknown(kind, error) is (kind is CallKind.ONCE)
    assert not is_outcome_unknown(kind, ServerFailed("x", status=503, code="X402_NOT_CONFIGURED"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("accepts", "x402Version", "data", "success", "transactions", "pagination", "id", "amount"),
                    *("walletAddress", "balanceUsd", "newBalance", "amountCredited", "maxAmountRequired", "error"),
                ]
            ),
            below,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(
    status=st.sampled_from([200, 402, 400, 409, 504]),
    body=json_values.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60),
    header=st.none()
    | json_values.map(packed)
    | st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), max_size=30),
)
async def test_any_answer_ends_in_a_value_or_a_service_error(status: int, body: bytes, header: str | None) -> None:
    headers = {} if header is None else {"PAYMENT_REQUIRED": header, "PAYMENT_RESPONSE": header}
    async with paying(always(status, body, **headers)) as watched:
        x402 = watched.service.x402
        for work in (x402.top_up_requirements(), x402.settle(PAYMENT), x402.balance(WALLET), x402.transactions(WALLET)):
            watched.budget._failures.clear()
            try:
                assert await work is not None
            except ServiceError as error:
                assert error.message
