"""Every shape in which a refusal's text, code and fields can come (E1 to E19), to one error."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service import errors
from app.service.dialect import DIALECTS
from app.service.errors import (
    AbuseBlocked,
    AuthenticationFailed,
    BadRequest,
    Conflict,
    ContentRefused,
    FieldError,
    Gone,
    NotFound,
    PaymentRequired,
    RateLimited,
    RefusedCall,
    ServerFailed,
    ServiceError,
    TooLarge,
    UnsupportedType,
)
from app.service.http.error_bodies import MAX_MESSAGE_CHARS, decode_in_band, decode_refusal, flatten_details, plain_text
from app.service.response_info import ResponseInfo, read_response_info

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def refusal(status: int, body: object, **headers: str) -> RefusedCall:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return decode_refusal(read_response_info(status, pairs, DIALECTS["service"], NOW), content)


TREE = {
    "error": "Invalid request parameters",
    "details": {
        "_errors": ["The body as a whole"],
        "speed": {"_errors": ["Number must be less than or equal to 4"]},
        "messages": {"_errors": [], "0": {"_errors": [], "content": {"_errors": ["Required", "Expected string"]}}},
    },
}
TREE_FIELDS = (
    FieldError("", "The body as a whole"),
    FieldError("speed", "Number must be less than or equal to 4"),
    FieldError("messages[0].content", "Required"),
    FieldError("messages[0].content", "Expected string"),
)

SHAPES = [
    pytest.param(401, {"error": "Authentication failed"}, "Authentication failed", None, (), id="E1 text"),
    pytest.param(400, TREE, "Invalid request parameters", None, TREE_FIELDS, id="E2 tree"),
    pytest.param(
        413,
        {"code": "PAYLOAD_TOO_LARGE", "error": "File exceeds the 25 MB limit"},
        "File exceeds the 25 MB limit",
        "PAYLOAD_TOO_LARGE",
        (),
        id="E3 code",
    ),
    pytest.param(
        400,
        {"error": "Bad", "issues": [{"code": "too_small", "path": ["messages", 0, "content"], "message": "Empty"}]},
        "Bad",
        None,
        (FieldError("messages[0].content", "Empty"),),
        id="E4 issues without a tree",
    ),
    pytest.param(400, {**TREE, "issues": [{"path": ["x"], "message": "y"}]}, TREE["error"], None, TREE_FIELDS, id="E4"),
    pytest.param(
        429,
        {"error": "Too many requests", "customMessage": "100 calls a minute"},
        "100 calls a minute",
        None,
        (),
        id="E5 customMessage",
    ),
    pytest.param(
        429,
        {"error": "Slow down", "code": "X402_CONCURRENCY_LIMIT"},
        "Slow down",
        "X402_CONCURRENCY_LIMIT",
        (),
        id="E6 wallet code",
    ),
    pytest.param(
        402,
        {"error": "Payment required", "code": "PAYMENT_REQUIRED", "message": "Top up to go on"},
        "Top up to go on",
        "PAYMENT_REQUIRED",
        (),
        id="E7 balance document",
    ),
    pytest.param(
        402, {"x402Version": 2, "error": "No payment", "accepts": []}, "No payment", None, (), id="E8 discovery"
    ),
    pytest.param(
        400,
        {"error": "AMOUNT_TOO_LOW", "message": "At least 5 USD", "details": {"minimum": 5}},
        "At least 5 USD",
        "AMOUNT_TOO_LOW",
        (),
        id="E9 code in error",
    ),
    pytest.param(
        400,
        {"error": {"message": "Too long", "type": "invalid_request", "code": "context_length_exceeded"}},
        "Too long",
        "context_length_exceeded",
        (),
        id="E10 object",
    ),
    pytest.param(
        400,
        {"error": {"message": "Too long", "type": "invalid_request", "param": "messages"}},
        "Too long",
        "invalid_request",
        (FieldError("messages", "Too long"),),
        id="E10 object with a param",
    ),
    pytest.param(
        422,
        {"error": {"message": "Refused", "type": "provider_content_policy", "credits_refunded": True}},
        "Refused",
        "provider_content_policy",
        (),
        id="E11 content policy",
    ),
    pytest.param(422, {"error": "Refused", "suggested_prompt": "a cat"}, "Refused", None, (), id="E12 suggestion"),
    pytest.param(
        409,
        {"error": {"code": "needs_consent", "message": "Ask first"}, "consent_flow": "face", "docs_url": "https://x"},
        "Ask first",
        "needs_consent",
        (),
        id="E13 consent",
    ),
    pytest.param(400, {"error": "Provider said no", "request_id": "r-9"}, "Provider said no", None, (), id="E14"),
    pytest.param(422, {"error": "Moderated", "credits_refunded": False}, "Moderated", None, (), id="E15 refund"),
    pytest.param(
        400,
        {"error": "Bad picture", "details": "Width under 64"},
        "Bad picture",
        None,
        (FieldError("", "Width under 64"),),
        id="E16 details as text",
    ),
    pytest.param(
        502,
        b"<html><head><title>x</title></head><body><h1>Bad  gateway</h1></body></html>",
        "Bad gateway",
        None,
        (),
        id="E19 HTML",
    ),
    pytest.param(503, b"", "The service answered 503 Service Unavailable.", None, (), id="E19 empty"),
    pytest.param(599, b"", "The service answered 599.", None, (), id="E19 empty, odd status"),
    pytest.param(
        500,
        ["nothing", "we", "know"],
        "The service answered 500 Internal Server Error.",
        None,
        (),
        id="E19 JSON, but no object",
    ),
    pytest.param(400, {"message": "Only a message"}, "Only a message", None, (), id="message alone"),
]


@pytest.mark.parametrize(("status", "body", "message", "code", "fields"), SHAPES)
def test_every_body_shape_gives_message_code_and_fields(
    status: int, body: object, message: str, code: str | None, fields: tuple[FieldError, ...]
) -> None:
    error = refusal(status, body)
    assert (error.status, error.message, error.code, error.fields) == (status, message, code, fields)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequest),
        (401, AuthenticationFailed),
        (402, PaymentRequired),
        (403, errors.Forbidden),
        (404, NotFound),
        (405, RefusedCall),
        (409, Conflict),
        (410, Gone),
        (413, TooLarge),
        (415, UnsupportedType),
        (422, ContentRefused),
        (429, RateLimited),
        (500, ServerFailed),
        (503, ServerFailed),
        (504, ServerFailed),
    ],
)
def test_every_status_has_its_class(status: int, kind: type[RefusedCall]) -> None:
    assert type(refusal(status, {"error": "x"})) is kind


def test_r_err_03_every_field_path_of_the_tree_is_kept() -> None:
    tree = {"a": {"_errors": ["1"], "b": {"2": {"c": {"_errors": ["deep"]}}}}, "0": {"_errors": ["first"]}}
    assert flatten_details(tree) == (FieldError("a", "1"), FieldError("a.b[2].c", "deep"), FieldError("[0]", "first"))


def test_a_tree_without_end_is_read_up_to_a_bound() -> None:
    endless: dict[str, object] = {}
    endless["again"] = endless
    endless["_errors"] = ["x"]
    assert 0 < len(flatten_details(endless)) < 200
    assert len(flatten_details({str(n): {"_errors": ["x"]} for n in range(5000)})) == 100


@pytest.mark.parametrize("text", ["Too many failed attempts, wait 30s", "too MANY failed attempts"])
def test_r_err_14_the_block_is_recognised_by_its_words(text: str) -> None:
    error = refusal(429, {"error": text})
    assert type(error) is AbuseBlocked
    assert error.retry_after_s == 30.0


def test_the_block_is_recognised_in_a_body_of_any_shape() -> None:
    assert type(refusal(429, {"detail": {"why": "Too many failed attempts"}})) is AbuseBlocked
    assert type(refusal(403, {"error": "Too many failed attempts"})) is errors.Forbidden


def test_r_err_11_a_429_waits_for_the_reset_header_unless_told_otherwise() -> None:
    reset = str(int((NOW + timedelta(seconds=12)).timestamp()))
    assert refusal(429, {"error": "x"}, x_ratelimit_reset_requests=reset).retry_after_s == 12.0
    assert refusal(429, {"error": "x"}, x_ratelimit_reset_requests=reset, retry_after="3").retry_after_s == 3.0
    assert refusal(429, {"error": {"message": "x", "retry_after": 4}}).retry_after_s == 4.0
    assert refusal(429, {"error": "x"}).retry_after_s is None
    assert refusal(500, {"error": "x"}, x_ratelimit_reset_requests=reset).retry_after_s is None


def test_r_wal_12_the_402_carries_amounts_options_and_the_challenge() -> None:
    error = refusal(
        402,
        {
            "error": "Payment required",
            "code": "PAYMENT_REQUIRED",
            "currentBalanceUsd": 0.04,
            "minimumBalanceUsd": 0.1,
            "minimumTopUpUsd": 5,
            "suggestedTopUpUsd": 10,
            "siwxChallenge": {"info": {"domain": "x"}},
        },
    )
    assert isinstance(error, PaymentRequired)
    assert (error.have, error.need, error.minimum, error.suggested) == (
        Decimal("0.04"),
        Decimal("0.1"),
        Decimal(5),
        Decimal(10),
    )
    assert error.challenge == {"info": {"domain": "x"}}


def test_a_discovery_402_keeps_its_payment_options() -> None:
    error = refusal(402, {"x402Version": 2, "accepts": [{"network": "eip155:8453"}, "odd"]})
    assert isinstance(error, PaymentRequired)
    assert error.options == ({"network": "eip155:8453"},)


def test_a_refused_content_keeps_what_would_pass() -> None:
    error = refusal(
        422,
        {
            "error": {"message": "x", "recommended_model": "other", "credits_refunded": True},
            "suggested_prompt": "a cat",
        },
    )
    assert isinstance(error, ContentRefused)
    assert (error.suggested_prompt, error.recommended_model, error.credits_refunded) == ("a cat", "other", True)
    top = refusal(422, {"error": "x", "credits_refunded": False})
    assert isinstance(top, ContentRefused)
    assert top.credits_refunded is False


def test_a_consent_question_is_kept_whole() -> None:
    error = refusal(409, {"error": {"code": "needs_consent", "message": "x"}, "consent_flow": "face", "docs_url": "u"})
    assert isinstance(error, Conflict)
    assert error.consent == {"consent_flow": "face", "docs_url": "u"}
    other = refusal(409, {"error": "busy"})
    assert isinstance(other, Conflict)
    assert other.consent is None


def test_the_request_id_is_the_body_s_then_x_request_id_then_cf_ray() -> None:
    assert refusal(400, {"error": "x", "request_id": "body"}, x_request_id="head", cf_ray="ray").request_id == "body"
    assert refusal(400, {"error": "x"}, x_request_id="head", cf_ray="ray").request_id == "head"
    assert refusal(400, {"error": "x"}, cf_ray="ray-1").request_id == "ray-1"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("<script>alert(1)</script>Hi <b>there</b>", "Hi there"),
        ("a < b and c > d", "a < b and c > d"),
        ("x\x00\x1b[31m\u202ered\nline", "x [31m red line"),
        ("&lt;b&gt; &amp; more", "<b> & more"),
        ("<style>p{}", ""),
        ("<!-- hidden -->seen", "seen"),
    ],
)
def test_foreign_text_is_shown_without_markup_or_control_characters(raw: str, shown: str) -> None:
    assert plain_text(raw) == shown


def test_foreign_text_is_bounded() -> None:
    assert len(refusal(500, {"error": "long " * 100_000}).message) <= MAX_MESSAGE_CHARS
    assert len(refusal(500, b"x" * 100_000).message) <= 200


def test_e17_an_error_in_the_stream_keeps_code_and_wait() -> None:
    error = decode_in_band(
        {"error": {"message": "Busy", "type": "server_error", "code": "model_overloaded", "retry_after": 7}}
    )
    assert (error.message, error.code, error.retry_after_s) == ("Busy", "model_overloaded", 7.0)
    assert decode_in_band({"error": {}}).message
    assert decode_in_band({"error": "plain"}).message == "plain"


def every_error(kind: type[ServiceError] = ServiceError) -> list[type[ServiceError]]:
    return [kind, *(below for each in kind.__subclasses__() for below in every_error(each))]


@pytest.mark.parametrize("kind", every_error())
def test_every_error_can_be_made_from_a_sentence_and_is_drawn_in_the_tree(kind: type[ServiceError]) -> None:
    error = kind("What happened.")
    assert (str(error), error.message, error.exchange) == ("What happened.", "What happened.", None)
    assert kind.__name__ in (errors.__doc__ or "")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda below: (
        st.lists(below, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "code", "details", "_errors", "issues", "path", "accepts", "0", "type"]
            )
            | st.text(max_size=5),
            below,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(status=st.integers(400, 599), body=json_values.map(json.dumps).map(str.encode) | st.binary(max_size=300))
def test_no_body_makes_the_decoder_raise(status: int, body: bytes) -> None:
    error = refusal(status, body)
    assert isinstance(error, RefusedCall)
    assert error.message
    assert len(error.message) <= MAX_MESSAGE_CHARS


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'[{"error": "No such voice"}]', "No such voice"),
        (b'[1, {"error": {"message": "No such voice"}}]', "No such voice"),
        (b'"No such voice"', "No such voice"),
        (b"[1, 2]", "The service answered 400 Bad Request."),
        (b"{}", "The service answered 400 Bad Request."),
        (b"17", "The service answered 400 Bad Request."),
        (b"No such voice", "No such voice"),
    ],
)
def test_data_is_never_told_as_a_sentence(body: bytes, message: str) -> None:
    assert decode_refusal(ResponseInfo(status=400, received_at=datetime.now(UTC)), body).message == message
