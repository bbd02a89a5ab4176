"""Every error body that the service's public description names, and what stands in the error card: words and buttons.

Sources: the public table of error codes and the wire reference, "Body shapes" (E1 to E19).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from app.core.problems import Problem, describe
from app.service.dialect import DIALECTS
from app.service.exchange import Exchange, RequestRecord
from app.service.http.error_bodies import decode_in_band, decode_refusal
from app.service.response_info import read_response_info

NOW = datetime(2026, 11, 18, 14, 5, 12, tzinfo=UTC)
FREE = "Nothing was charged."
SAVED = "Your message is saved."
UNSURE = "Your message may have reached the service. Its receipt shows whether it was charged."
REJECTED = "The service did not accept the request"
RULES = "The service’s content rules do not allow this"
CANNOT_USE = "The service cannot use this"
NOT_HERE = "The service does not have this"
NO_MODEL = "The service does not have this model"
BUSY = "The service is busy"
RENAMED = "It may have been renamed or removed."
KEY_CAP = (
    "API key {} spend limit exceeded. Your account may still have {} balance, but this API key has reached its"
    " configured {} spending limit."
)
NO_SOUND = (
    "The audio could not be processed for transcription. Common causes: zero-length, silent, corrupt, or"
    " unsupported-language audio. Please verify the file and retry."
)
INACTIVE = (
    "Authentication failed - Pro subscription is inactive. Please upgrade your subscription to continue using the API"
)


def shown(status: int, body: Any, *, wallet: bool = False, **headers: str) -> Problem:
    """The error card of a refusal with this body."""
    content = (
        body if isinstance(body, bytes) else json.dumps({"error": body} if isinstance(body, str) else body).encode()
    )
    pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
    error = decode_refusal(read_response_info(status, pairs, DIALECTS["service"], NOW), content)
    if wallet:
        record = RequestRecord("POST", "/x", "https://api.example.com/v1/x", sign_in_header="SIGN-IN-WITH-X")
        error.exchange = Exchange("x", NOW, record)
    return describe(error, now=NOW)


def buttons(problem: Problem) -> list[str]:
    return [action.id for action in problem.actions]


TABLE: list[tuple[int, Any, str, str, list[str]]] = [
    # 401
    (
        401,
        "Authentication failed",
        "The service did not accept your API key",
        f"{FREE} {SAVED} The key may have been deleted or replaced.",
        ["replace-key", "retry"],
    ),
    (401, INACTIVE, "This account has no active plan", f"{INACTIVE}. {FREE} {SAVED}", ["switch-account", "retry"]),
    (
        401,
        "This model is only available to Pro users",
        "This model is not part of this account’s plan",
        f"This model is only available to Pro users. Your API key works. {FREE} {SAVED}",
        ["choose-model", "switch-account"],
    ),
    (
        401,
        "This model is only available to staff",
        "This model is not part of this account’s plan",
        f"This model is only available to staff. Your API key works. {FREE} {SAVED}",
        ["choose-model", "switch-account"],
    ),
    (
        401,
        "Admin API key required",
        "This needs an admin key",
        f"Your API key works, but it may only make requests. {FREE} {SAVED}",
        ["replace-key", "switch-account"],
    ),
    # 402
    (
        402,
        "Insufficient USD or Diem balance to complete request. Visit https://example.com/settings to add credits.",
        "Not enough credits for this message",
        f"The balance is too low. {FREE}",
        ["top-up", "choose-model"],
    ),
    *(
        (
            402,
            KEY_CAP.format(coin, coin, coin),
            "This API key has reached its own spending limit",
            f"The account may still have credits: topping up does not help. {FREE} {SAVED}",
            ["key-limit", "replace-key"],
        )
        for coin in ("USD", "DIEM")
    ),
    (
        402,
        {"error": "Payment required", "code": "PAYMENT_REQUIRED", "currentBalanceUsd": 0.01, "minimumBalanceUsd": 0.1},
        "Not enough credits for this message",
        f"The balance is short by $0.09. {FREE}",
        ["top-up", "choose-model"],
    ),  # E7
    (
        402,
        {"x402Version": 2, "error": "Authentication required", "accepts": []},
        "The service did not receive a key",
        f"It asks for a key or a wallet’s sign-in. {FREE} {SAVED}",
        ["replace-key", "switch-account"],
    ),  # E8
    # 403
    (
        403,
        "Unauthorized access",
        "This account is not allowed to do this",
        f"Unauthorized access. {FREE}",
        ["switch-account", "retry"],
    ),
    (
        403,
        "API access has been disabled for this account. Please contact support@example.com",
        "The service has closed its API for this account",
        f"API access has been disabled for this account. Please contact support@example.com. {FREE} {SAVED}",
        ["switch-account", "retry"],
    ),
    (
        403,
        "You can only access resources for your own wallet",
        "This belongs to another wallet",
        f"You can only access resources for your own wallet. {FREE}",
        ["switch-account"],
    ),
    (
        403,
        "This API key can only use private models",
        "This key may not use this model",
        f"This API key can only use private models. {FREE} {SAVED}",
        ["choose-model", "replace-key"],
    ),
    (
        403,
        "This model is not available in your country",
        "This model is not offered in your region",
        f"This model is not available in your country. {FREE} {SAVED}",
        ["choose-model"],
    ),
    # 400
    (400, "Invalid request parameters", REJECTED, f"Invalid request parameters. {FREE}", ["edit", "retry"]),
    (400, "Invalid model specified", NO_MODEL, f"Invalid model specified. {RENAMED} {FREE}", ["choose-model", "retry"]),
    (400, "Request ID is invalid.", REJECTED, f"Request ID is invalid. {FREE}", ["edit", "retry"]),
    (
        400,
        "The image file is corrupted or unreadable",
        REJECTED,
        f"The image file is corrupted or unreadable. {FREE}",
        ["edit", "retry"],
    ),
    (
        400,
        "'Content-Type' must be 'application/json'",
        "The service does not accept requests of this kind",
        f"'Content-Type' must be 'application/json'. {FREE}",
        ["about", "retry"],
    ),
    (
        400,
        {"error": "Invalid request parameters", "details": {"_errors": [], "speed": {"_errors": ["At most 4"]}}},
        "The service rejected a value",
        f"speed: At most 4. {FREE}",
        ["edit", "retry"],
    ),  # E2
    (
        400,
        {"error": "Bad", "issues": [{"code": "too_small", "path": ["n"], "message": "At least 1"}]},
        "The service rejected a value",
        f"n: At least 1. {FREE}",
        ["edit", "retry"],
    ),  # E4
    (
        400,
        {"error": {"message": "Too long", "type": "x", "param": "messages", "code": "context_length_exceeded"}},
        "This is too long for the model",
        f"Too long. {FREE}",
        ["choose-model", "edit"],
    ),  # E10
    (
        400,
        {"error": "The provider refuses", "request_id": "r-9"},
        REJECTED,
        f"The provider refuses. {FREE}",
        ["edit", "retry"],
    ),  # E14
    (
        400,
        {"error": "Bad picture", "details": "Width under 64"},
        "The service rejected a value",
        f"The service said “Width under 64”. {FREE}",
        ["edit", "retry"],
    ),  # E16
    (
        400,
        {"error": "Only POST /x402/top-up accepts payments", "code": "PAYMENT_HEADER_NOT_ACCEPTED"},
        REJECTED,
        f"Only POST /x402/top-up accepts payments. {FREE}",
        ["edit", "retry"],
    ),  # E6
    (
        400,
        {"error": "AMOUNT_TOO_LOW", "message": "At least 5 USD"},
        REJECTED,
        f"At least 5 USD. {FREE}",
        ["edit", "retry"],
    ),  # E9
    # 404, 409, 410, 413, 415
    (
        404,
        "Specified model not found",
        NO_MODEL,
        f"Specified model not found. {RENAMED} {FREE}",
        ["choose-model", "retry"],
    ),
    (
        404,
        "Specified model not found: old-1 has been deprecated. Please use new-2.5.",
        NO_MODEL,
        f"Specified model not found: old-1 has been deprecated. Please use new-2.5. {FREE}",
        ["use-model:new-2.5", "choose-model"],
    ),
    (
        404,
        "No character could be found from the provided character_slug",
        NOT_HERE,
        f"No character could be found from the provided character_slug. {FREE}",
        ["edit", "retry"],
    ),
    (
        404,
        "Media could not be found. Request may be invalid, expired, or deleted.",
        NOT_HERE,
        f"Media could not be found. Request may be invalid, expired, or deleted. {FREE}",
        ["edit", "retry"],
    ),
    (
        409,
        {"error": {"code": "needs_consent", "message": "Consent first"}, "consent_flow": "face"},
        "The service needs your consent",
        f"Consent first. {FREE}",
        ["consent"],
    ),  # E13
    (
        409,
        {"error": "PAYMENT_IN_PROGRESS", "message": "A payment is in progress"},
        "Something else is in progress",
        f"A payment is in progress. {FREE}",
        ["retry"],
    ),
    (
        410,
        "GET /billing/usage has been retired. Use GET /billing/usage-history.",
        "The service no longer has this",
        f"GET /billing/usage has been retired. Use GET /billing/usage-history. {FREE}",
        ["about"],
    ),
    (
        410,
        "This model has been retired",
        "The service no longer has this",
        f"This model has been retired. {FREE}",
        ["choose-model"],
    ),
    (
        413,
        {"code": "PAYLOAD_TOO_LARGE", "error": "File exceeds the maximum allowed size of 25 MB."},
        "This message is too large to send",
        f"File exceeds the maximum allowed size of 25 MB. The original is not changed. {FREE}",
        ["shorten"],
    ),  # E3
    (
        415,
        "Invalid request content-type",
        "The service does not accept requests of this kind",
        f"Invalid request content-type. {FREE}",
        ["about", "retry"],
    ),
    # 422
    *(
        (422, said, CANNOT_USE, f"{said} {FREE}", ["choose-file", "choose-model"])
        for said in (
            "Video duration exceeds the maximum allowed.",
            "Video duration is too short.",
            "Image dimensions exceed the maximum allowed.",
            NO_SOUND,
        )
    ),
    *(
        (422, f"{said}.", RULES, f"{said}.", ["edit", "choose-model"])
        for said in (
            "Your prompt violates the content policy of the service or the model provider",
            "Your input was blocked by content moderation",
        )
    ),
    (
        422,
        {"error": {"message": "Rejected.", "type": "provider_content_policy", "credits_refunded": True}},
        RULES,
        "Rejected. The credits were refunded.",
        ["edit", "choose-model"],
    ),  # E11
    (
        422,
        {"error": "No.", "suggested_prompt": "A cat"},
        RULES,
        "No. The service suggests different wording.",
        ["use-suggestion", "edit"],
    ),  # E12
    (
        422,
        {"error": "No.", "credits_refunded": False},
        RULES,
        "No.",
        ["edit", "choose-model"],
    ),  # E15
    # 429
    (
        429,
        "Rate limit exceeded",
        "Too many requests",
        f"Rate limit exceeded. {SAVED} {FREE}",
        ["retry", "choose-model"],
    ),
    (
        429,
        {"error": "Too many requests", "customMessage": "100 calls a minute"},
        "Too many requests",
        f"100 calls a minute. {SAVED} {FREE}",
        ["retry", "choose-model"],
    ),  # E5
    (
        429,
        {"error": "At most 5 requests at once", "code": "X402_CONCURRENCY_LIMIT"},
        "Too many requests",
        f"At most 5 requests at once. {SAVED} {FREE}",
        ["retry", "choose-model"],
    ),  # E6
    # 5xx
    *(
        (status, f"{said}.", what, f"{said}. {UNSURE}", ["retry", "choose-model"])
        for status, said, what in (
            (500, "Inference processing failed", "The service failed"),
            (500, "Image upscaling failed", "The service failed"),
            (500, "An unknown error occurred", "The service failed"),
            (502, "TEE attestation request failed", BUSY),
            (503, "The model is temporarily offline", BUSY),
            (503, "The model is at capacity", BUSY),
            (504, "The request took too long to complete and was timed-out", BUSY),
        )
    ),
    (502, b"<html><h1>Bad gateway</h1></html>", BUSY, f"Bad gateway. {UNSURE}", ["retry", "choose-model"]),  # E19
    (503, b"", BUSY, UNSURE, ["retry", "choose-model"]),  # E19
    # what nobody has described
    (418, "The kettle is on", "The service could not do this", "The kettle is on.", ["retry"]),
    (
        402,
        {"error": {"message": "Pay in shells", "code": "SHELLS"}},
        "Not enough credits for this message",
        f"The balance is too low. {FREE}",
        ["top-up", "choose-model"],
    ),
    (
        403,
        "The moon is wrong",
        "This account is not allowed to do this",
        f"The moon is wrong. {FREE}",
        ["switch-account", "retry"],
    ),
    (422, "Too blue", CANNOT_USE, f"Too blue. {FREE}", ["choose-file", "choose-model"]),
    (507, "Full", "The service failed", f"Full. {UNSURE}", ["retry", "choose-model"]),
]


@pytest.mark.parametrize(("status", "body", "what", "meaning", "ids"), TABLE)
def test_every_error_body_has_its_true_sentence_and_buttons(
    status: int, body: Any, what: str, meaning: str, ids: list[str]
) -> None:
    """R-ERR-01 R-ERR-02 R-ERR-03 R-ERR-05."""
    problem = shown(status, body)
    assert (problem.what, problem.meaning, buttons(problem)) == (what, meaning, ids)


def test_unknown_words_of_the_service_are_in_the_card_itself() -> None:
    for status in (400, 401, 403, 404, 405, 409, 410, 415, 418, 422, 429, 500, 503):
        problem = shown(status, {"error": "The kettle is on"})
        everything = f"{problem.meaning} {problem.details_text()}"
        assert "The kettle is on" in everything, status
        assert status in (401, 402) or "The kettle is on" in problem.meaning, status


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("user", "Your account sets this limit."),
        ("api_key", "Your API key sets this limit."),
        ("global", "The service sets this limit for everyone."),
        ("planet", ""),
    ],
)
@pytest.mark.parametrize("wait", ["", "40"])
def test_a_limit_says_whose_it_is(kind: str, said: str, wait: str) -> None:
    """R-HDR-10."""
    waits = {"retry_after": wait} if wait else {}
    problem = shown(429, "Rate limit exceeded", x_ratelimit_type=kind, **waits)
    assert said in problem.meaning
    assert problem.meaning.count("sets this limit") == bool(said)
    assert dict(problem.details)["Limit type"] == kind


def test_a_limit_with_a_reset_still_says_which_one_it_is() -> None:
    problem = shown(429, {"error": "Too many requests", "customMessage": "100 calls a minute"}, retry_after="40")
    assert problem.meaning.startswith("100 calls a minute. Resets")


def test_an_overloaded_model_is_no_limit() -> None:
    said = "The model is currently overloaded. Please try again later."
    problem = shown(429, said, retry_after="30")
    assert problem.what == "The model is overloaded"
    assert problem.meaning.startswith("Try again ")
    assert "sets this limit" not in problem.meaning


@pytest.mark.parametrize(("bound", "words"), [(" (> 50)", "More than 50 requests"), ("", "More than 20 requests")])
def test_a_block_names_the_number_that_the_service_allows(bound: str, words: str) -> None:
    """R-ERR-14."""
    assert shown(429, f"Too many failed attempts{bound} resulting in …").meaning.startswith(words)


@pytest.mark.parametrize(
    ("body", "reason", "ids"),
    [
        ("Invalid Sign-in-with-x signature", "The service refused the sign-in.", ["retry", "switch-account"]),
        (
            {"error": "Expired", "code": "X402_SIGN_IN_EXPIRED"},
            "The service refused the sign-in.",
            ["retry", "switch-account"],
        ),
        ("Authentication failed", "This feature needs an API key.", ["switch-account", "retry"]),
    ],
)
def test_a_refused_sign_in_is_not_taken_for_a_missing_key(body: Any, reason: str, ids: list[str]) -> None:
    problem = shown(401, body, wallet=True)
    assert problem.what == "The service did not accept the wallet’s sign-in"
    assert problem.meaning.startswith(reason)
    assert buttons(problem) == ids


@pytest.mark.parametrize(
    ("error", "what", "ids"),
    [
        (
            {"type": "content_filter_error", "code": "content_blocked_by_provider", "message": "Stopped"},
            RULES,
            ["edit", "choose-model"],
        ),
        ({"type": "content_filter_error", "message": "Stopped"}, RULES, ["edit", "choose-model"]),
        (
            {"type": "server_error", "code": "model_overloaded", "message": "Stopped"},
            "The model is overloaded",
            ["retry"],
        ),
        (
            {"type": "api_error", "code": "upstream_error", "message": "Stopped"},
            "The service stopped with an error",
            ["retry"],
        ),
    ],
)
def test_an_error_inside_a_stream_offers_to_try_again_only_where_that_can_help(
    error: dict[str, str], what: str, ids: list[str]
) -> None:
    """E17."""
    problem = describe(decode_in_band({"error": error}), now=NOW)
    assert (problem.what, problem.meaning, buttons(problem)) == (what, "Stopped.", ids)


def test_details_say_which_part_of_the_service_answered_and_what_it_did_before() -> None:
    """R-HDR-17 R-HDR-18 R-HDR-28 R-HDR-29."""
    problem = shown(
        500,
        "Inference processing failed",
        x_service_host_name="node-7",
        x_service_model_router="west",
        x_service_version="20261118.091455",
        x_retry_count="2",
        x_auth_refreshed="true",
    )
    rows = dict(problem.details)
    assert (rows["Host"], rows["Model router"], rows["Version"]) == ("node-7", "west", "20261118.091455")
    assert (rows["Retries by the service"], rows["Sign-in"]) == ("2", "Refreshed by the service")
    plain = dict(shown(500, "Inference processing failed", x_auth_refreshed="false").details)
    assert not {"Host", "Model router", "Retries by the service", "Sign-in"} & set(plain)
