"""Response headers, each by its rule."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.dialect import DIALECTS
from app.service.response_info import ResponseInfo, read_response_info, reset_moment

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def read(dialect: str = "service", **headers: str) -> ResponseInfo:
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return read_response_info(200, pairs, DIALECTS[dialect], NOW)


def test_r_hdr_01_names_are_compared_without_case() -> None:
    info = read_response_info(200, [("X-SERVICE-Version", "1"), ("cF-rAy", "r")], DIALECTS["service"], NOW)
    assert (info.service_version, info.cf_ray) == ("1", "r")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("False", False), ("1", None), ("yes", None), ("", None)])
def test_r_hdr_02_booleans_are_true_and_false_only(text: str, value: bool | None) -> None:
    assert read(x_service_is_blurred=text).is_blurred is value


def test_r_hdr_03_big_numbers_and_balances_are_exact() -> None:
    info = read(x_service_balance_usd="123456789.123456789123", x_ratelimit_limit_tokens="9007199254740993")
    assert info.balance_usd == Decimal("123456789.123456789123")
    assert info.limit_tokens == 9007199254740993


def test_r_hdr_04_r_hdr_05_r_hdr_07_r_hdr_08_r_hdr_10_limits_are_read() -> None:
    info = read(
        x_ratelimit_limit_requests="20",
        x_ratelimit_remaining_requests="19",
        x_ratelimit_limit_tokens="500000",
        x_ratelimit_remaining_tokens="499000",
        x_ratelimit_type="api_key",
    )
    assert (
        info.limit_requests,
        info.remaining_requests,
        info.limit_tokens,
        info.remaining_tokens,
        info.limit_type,
    ) == (
        20,
        19,
        500000,
        499000,
        "api_key",
    )


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        (str(int(NOW.timestamp()) + 42), 42),  # Unix seconds
        (str(int(NOW.timestamp() * 1000) + 42_500), 42.5),  # Unix milliseconds
        ("42", 42),  # seconds from now
        ("0.5", 0.5),
        ("-5", 0),
        (str(int(NOW.timestamp()) - 100), 0),
        (str(int(NOW.timestamp()) + 10 * 86400), 86400),
    ],
)
def test_r_hdr_06_r_hdr_09_a_reset_is_a_moment_whatever_its_unit(value: str, wait_s: float) -> None:
    info = read(x_ratelimit_reset_requests=value, x_ratelimit_reset_tokens=value)
    assert info.reset_requests_at == info.reset_tokens_at == NOW + timedelta(seconds=wait_s)


@pytest.mark.parametrize("value", ["", "soon", "NaN", "Infinity", "1e999", "0x10"])
def test_an_unreadable_reset_is_left_out(value: str) -> None:
    assert reset_moment(value, NOW) is None


def test_a_clock_that_differs_from_ours_does_not_move_the_reset() -> None:
    theirs = NOW + timedelta(minutes=10)
    info = read(
        date=format_datetime(theirs, usegmt=True),
        x_ratelimit_reset_requests=str(int(theirs.timestamp()) + 30),
        x_ratelimit_reset_tokens="30",
    )
    assert info.reset_requests_at == info.reset_tokens_at == NOW + timedelta(seconds=30)
    assert info.clock_skew_s == 600


def test_r_hdr_11_the_date_s_grain_is_no_skew() -> None:
    assert read(date=format_datetime(NOW - timedelta(seconds=2), usegmt=True)).clock_skew_s == 0
    assert read(date="not a date").date is None
    assert read(content_type="Text/Event-Stream; charset=utf-8").content_type == "text/event-stream"


def test_r_hdr_14_cf_ray_is_the_request_id_unless_there_is_another() -> None:
    assert read(cf_ray="ray").request_id == "ray"
    assert read(cf_ray="ray", x_request_id="id").request_id == "id"


BRANDED = {
    "version": "20260821.193530",
    "timestamp": "2026-03-01T12:00:00Z",
    "host-name": "h1",
    "model-id": "m",
    "model-name": "M",
    "model-router": "r",
    "model-deprecation-warning": "goes soon",
    "model-deprecation-date": "2026-06-01",
    "deprecated": "true",
    "deprecated-replacement": "n",
    "enhanced-prompt": "a%20cat",
    "balance-usd": "4.5",
    "balance-diem": "0",
    "is-blurred": "true",
    "is-content-violation": "false",
    "is-adult-model-content-violation": "true",
    "contains-minor": "false",
    "rpc-credits": "20",
    "rpc-cost-usd": "0.00001400",
}


@pytest.mark.parametrize("prefix", ["x-service-", "X-Venice-"])
@pytest.mark.parametrize("dialect", ["service", "venice"])
@pytest.mark.parametrize(
    ("rule", "name", "read", "value"),
    [
        ("R-HDR-15", "version", "service_version", "20260821.193530"),
        ("R-HDR-16", "timestamp", "service_timestamp", "2026-03-01T12:00:00Z"),
        ("R-HDR-17", "host-name", "host_name", "h1"),
        ("R-HDR-18", "model-id", "model_id", "m"),
        ("R-HDR-18", "model-name", "model_name", "M"),
        ("R-HDR-18", "model-router", "model_router", "r"),
        ("R-HDR-19", "model-deprecation-warning", "deprecation_warning", "goes soon"),
        ("R-HDR-20", "model-deprecation-date", "deprecation_date", "2026-06-01"),
        ("public", "deprecated", "deprecated", True),
        ("public", "deprecated-replacement", "deprecated_replacement", "n"),
        ("public", "enhanced-prompt", "enhanced_prompt", "a cat"),
        ("R-HDR-22", "balance-usd", "balance_usd", Decimal("4.5")),
        ("R-HDR-22", "balance-diem", "balance_diem", Decimal(0)),
        ("R-HDR-23", "is-blurred", "is_blurred", True),
        ("R-HDR-24", "is-content-violation", "is_content_violation", False),
        ("R-HDR-25", "is-adult-model-content-violation", "is_adult_content_violation", True),
        ("R-HDR-26", "contains-minor", "contains_minor", False),
        ("R-HDR-30", "rpc-credits", "rpc_credits", 20),
        ("R-HDR-30", "rpc-cost-usd", "rpc_cost_usd", Decimal("0.000014")),
    ],
)
def test_a_branded_header_is_read_under_both_prefixes(
    dialect: str, prefix: str, rule: str, name: str, read: str, value: object
) -> None:
    info = read_response_info(200, [(prefix + name, BRANDED[name])], DIALECTS[dialect], NOW)
    assert getattr(info, read) == value, rule


@pytest.mark.parametrize("name", ["middleface-version", "mobile-version", "request-timestamp-ms", "control-instance"])
def test_r_hdr_27_what_others_debug_with_changes_nothing(name: str) -> None:
    for value in ("", "true", "7", "x" * 9000):
        info = read_response_info(200, [("x-service-" + name, value)], DIALECTS["service"], NOW)
        assert replace(info, headers=()) == read_response_info(200, [], DIALECTS["service"], NOW)


def test_our_own_prefix_comes_first() -> None:
    pairs = [("x-venice-version", "theirs"), ("x-service-version", "ours")]
    assert read_response_info(200, pairs, DIALECTS["service"], NOW).service_version == "ours"


def test_r_hdr_21_pagination_is_read() -> None:
    info = read(x_pagination_limit="20", x_pagination_page="2", x_pagination_total="45", x_pagination_total_pages="3")
    assert (info.page_size, info.page, info.page_total, info.page_count) == (20, 2, 45, 3)


def test_r_hdr_28_r_hdr_29_r_hdr_31_r_hdr_32_the_rest_is_read() -> None:
    info = read(
        x_auth_refreshed="yes",
        x_retry_count="2",
        idempotent_replayed="true",
        x_balance_remaining="0.75",
        x_payment_response="cA==",
        payment_required="cQ==",
        x_next_cursor="c",
        deprecation="d",
        sunset="s",
        link="l",
        content_length="12",
    )
    assert (info.auth_refreshed, info.retry_count, info.replayed, info.balance_remaining) == (
        "yes",
        2,
        True,
        Decimal("0.75"),
    )
    assert (info.payment_response, info.payment_required, info.next_cursor) == ("cA==", "cQ==", "c")
    assert (info.endpoint_deprecation, info.endpoint_sunset, info.endpoint_link, info.content_length) == (
        "d",
        "s",
        "l",
        12,
    )


def test_r_rpc_46_the_two_families_without_suffix_are_told_apart() -> None:
    cap = read(x_ratelimit_limit="100", x_ratelimit_remaining="99", x_ratelimit_reset="30")
    assert (cap.cap_limit, cap.cap_remaining, cap.failures_remaining) == (100, 99, None)
    assert cap.reset_at == NOW + timedelta(seconds=30)
    failures = read(x_ratelimit_remaining="7", x_ratelimit_resets=str(int(NOW.timestamp() * 1000) + 5000))
    assert (failures.cap_remaining, failures.failures_remaining) == (None, 7)
    assert failures.failures_reset_at == NOW + timedelta(seconds=5)


def test_retry_after_is_seconds_or_a_date() -> None:
    assert read(retry_after="7").retry_after_s == 7
    assert read(retry_after=format_datetime(NOW + timedelta(seconds=9), usegmt=True)).retry_after_s == 9
    assert read(retry_after="later").retry_after_s is None


def test_cookies_and_credentials_are_not_kept() -> None:
    info = read(set_cookie="session=1", authorization="Bearer x", x_service_version="1")
    assert info.headers == (("x-service-version", "1"),)


header_text = st.text(st.characters(codec="latin-1"), max_size=40)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    *(f"x-service-{name}" for name in BRANDED),
                    "date",
                    "retry-after",
                    "x-ratelimit-reset",
                    "x-ratelimit-reset-requests",
                    "content-disposition",
                    "content-length",
                ]
            ),
            header_text,
        )
    )
)
def test_no_header_makes_the_reader_raise(pairs: list[tuple[str, str]]) -> None:
    info = read_response_info(200, pairs, DIALECTS["service"], NOW)
    assert {field.name for field in fields(info)}
