"""Every service error has words: what happened, what it means, what to do. None of them holds a secret."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from app.core import problems
from app.core.problem_words import has_own_words
from app.core.problems import Problem, describe, for_account, hide_secrets_with
from app.core.time_format import LONGEST_COUNTDOWN_S
from app.credentials.accounts import new_account
from app.credentials.redaction import Redactor
from app.service import errors
from app.service.exchange import Exchange, RequestRecord
from app.service.response_info import MAX_WAIT_S, ResponseInfo

NOW = datetime(2026, 11, 18, 14, 5, 12, tzinfo=UTC)
SECRET = "vk-live-0123456789abcdef0123456789abcdef"


def every_error() -> list[type[errors.ServiceError]]:
    """Every class of the tree, also those not yet written."""
    found = [errors.ServiceError]
    for kind in found:
        found += kind.__subclasses__()
    return [kind for kind in found if kind.__module__ == errors.__name__]


@pytest.fixture
def registry() -> Iterator[Redactor]:
    registry = Redactor()
    registry.add(SECRET)
    hide_secrets_with(registry.redact)
    yield registry
    problems._hider[0] = None


def shown(problem: Problem) -> str:
    """Everything of a problem that anybody can see or copy."""
    pieces = [problem.what, problem.meaning, problem.details_text(), problem.request_id]
    pieces += [action.text for action in problem.actions]
    pieces += [text for pair in (*problem.facts, *problem.fields) for text in pair]
    return "\n".join(pieces)


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_every_error_says_what_happened_what_it_means_and_what_to_do(kind: type[errors.ServiceError]) -> None:
    problem = describe(kind("Something about it"), now=NOW)
    assert problem.what
    assert problem.meaning
    assert problem.primary is not None
    assert problem.details


@pytest.mark.parametrize(
    "kind", [kind for kind in every_error() if not kind.__subclasses__()], ids=lambda kind: kind.__name__
)
def test_every_leaf_has_words_of_its_own(kind: type[errors.ServiceError]) -> None:
    assert has_own_words(kind)


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_words_keep_to_the_house_style(kind: type[errors.ServiceError]) -> None:
    for error in (kind(), kind("It failed")):
        problem = describe(error, now=NOW)
        text = f"{problem.what} {problem.meaning} {' '.join(action.text for action in problem.actions)}"
        assert not re.search(r"\b(please|oops|sorry|successfully|invalid)\b|!", text, re.IGNORECASE), text
        assert not problem.what.endswith(".")
        assert problem.meaning.endswith((".", "?", "…"))
        assert "  " not in text
        assert problem.what[0].isupper() or (problem.what[0].islower() and isinstance(error, errors.LimitExceeded))


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_no_error_shows_a_secret_that_the_service_echoed(kind, registry: Redactor) -> None:
    error = kind(f"The key {SECRET} is unknown")
    error.fields = (errors.FieldError("headers.authorization", f"Bearer {SECRET} was refused"),)
    error.code = f"bad_key_{SECRET}"
    error.request_id = SECRET
    assert SECRET not in shown(describe(error, now=NOW))


def test_a_key_that_nobody_registered_is_known_by_its_surroundings() -> None:
    error = errors.AuthenticationFailed("Authorization: Bearer abc123def456ghi789 was refused", status=401)
    assert "abc123def456ghi789" not in shown(describe(error, now=NOW))


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("proxy_auth", "The proxy could not be used"),
        ("proxy", "The proxy could not be used"),
        ("certificate", "No secure connection to the service"),
        ("ca_file", "No secure connection to the service"),
    ],
)
def test_what_stands_between_us_and_the_service_leads_to_the_connection(code: str, what: str) -> None:
    problem = describe(errors.ConnectionFailed("Said so.", code=code, surely_not_sent=True))
    assert problem.what == what
    assert problem.meaning.startswith("Said so. ")
    assert problem.primary is not None
    assert problem.primary.id == "connection"


def test_a_refused_key_offers_to_replace_it() -> None:
    problem = describe(errors.AuthenticationFailed("Authentication failed", status=401), now=NOW)
    assert problem.what == "The service did not accept your API key"
    assert [action.id for action in problem.actions] == ["replace-key", "retry"]


def test_a_low_balance_says_what_is_needed_and_offers_the_right_amount() -> None:
    error = errors.PaymentRequired("Insufficient balance", status=402)
    error.need, error.have, error.minimum = Decimal("0.0186"), Decimal("0.0011"), Decimal("5.0")
    problem = describe(error, now=NOW, subject="clip")
    assert problem.what == "Not enough credits for this clip"
    assert "short by $0.0175" in problem.meaning
    assert problem.facts == (("Needs up to", "$0.0186"), ("You have", "$0.0011"), ("Minimum top-up", "$5.00"))
    assert problem.primary is not None
    assert (problem.primary.text, problem.primary.id) == ("Top up $5…", "top-up:5"), (
        "as the field of the amount shows it"
    )


def test_a_reached_limit_counts_down_and_can_be_called_off() -> None:
    info = ResponseInfo(status=429, received_at=NOW, limit_type="api_key")
    error = errors.RateLimited("Slow down", status=429, retry_after_s=23, info=info)
    problem = describe(error, now=NOW, sends_again=True)
    assert problem.countdown_until == NOW + timedelta(seconds=23)
    assert problem.primary is not None
    assert problem.primary.text == "Do not send"
    assert "Your API key sets this limit." in problem.meaning


def test_a_limit_is_told_as_a_time_of_day_where_nothing_is_sent_again_by_itself() -> None:
    now = datetime(2026, 3, 2, 14, 6, 41).astimezone()
    soon = describe(errors.RateLimited("Slow down", status=429, retry_after_s=23), now=now)
    assert str(soon) == "Limit reached. Resets at 14:08. Your message is saved. Nothing was charged."
    assert soon.countdown_until is None
    assert soon.primary is not None
    assert soon.primary.id == "retry"


@pytest.mark.parametrize("kind", [errors.RateLimited, errors.CallsPaused, errors.AbuseBlocked])
def test_a_wait_of_more_than_five_minutes_is_never_counted_down(kind: type[errors.ServiceError]) -> None:
    now = datetime(2026, 3, 2, 14, 6, 41).astimezone()
    error = kind("Slow down")
    error.retry_after_s = (datetime(2026, 3, 3, 9).astimezone() - now).total_seconds()
    problem = describe(error, now=now, sends_again=True)
    assert problem.countdown_until is None
    assert "tomorrow at 09:00" in problem.meaning
    assert problem.actions[0].id == "retry"
    error.retry_after_s = LONGEST_COUNTDOWN_S
    assert describe(error, now=now, sends_again=True).countdown_until is not None


def test_without_a_time_there_is_no_countdown_but_a_button() -> None:
    problem = describe(errors.RateLimited("Slow down", status=429), now=NOW)
    assert problem.countdown_until is None
    assert problem.primary is not None
    assert problem.primary.id == "retry"


def test_nothing_was_charged_is_said_only_where_it_is_known() -> None:
    unsure = describe(errors.TimedOut("No answer"), now=NOW)
    sure = describe(errors.TimedOut("No answer", surely_not_sent=True), now=NOW)
    assert "nothing was charged" not in unsure.meaning.lower()
    assert "may have reached" in unsure.meaning
    assert "nothing was charged" in sure.meaning.lower()


def test_a_cut_stream_keeps_what_came_and_offers_the_rest() -> None:
    problem = describe(errors.StreamCut("cut"), now=NOW, charged="418 tokens kept, $0.0019.")
    assert problem.what == "The reply stopped early"
    assert "418 tokens kept, $0.0019." in problem.meaning
    assert [action.text for action in problem.actions] == ["Continue", "Start over"]


def test_a_refused_value_is_named_and_given_to_the_form() -> None:
    error = errors.BadRequest("Bad Request", status=400, fields=(errors.FieldError("temperature", "At most 2"),))
    problem = describe(error, now=NOW)
    assert problem.fields == (("temperature", "At most 2"),)
    assert "temperature: At most 2." in problem.meaning


def test_refused_content_offers_the_model_that_would_do() -> None:
    error = errors.ContentRefused("Not with this model", status=422)
    error.recommended_model = "Halyard 70B"
    problem = describe(error, now=NOW)
    assert problem.alternative is not None
    assert problem.alternative.text == "Use Halyard 70B"


def test_details_are_what_support_asks_for() -> None:
    info = ResponseInfo(status=401, received_at=NOW, service_version="20261118.091455")
    error = errors.AuthenticationFailed(
        "Authentication failed", status=401, code="AUTH", info=info, request_id="8c1f02be-AMS"
    )
    error.exchange = Exchange(
        "x",
        NOW,
        RequestRecord("POST", "/chat/completions", "https://api.example.com/v1/chat/completions"),
        duration_s=0.212,
        model="halyard-70b",
    )
    rows = dict(describe(error, now=NOW).details)
    assert rows["Status"] == "401 Unauthorized"
    assert rows["Service said"] == "Authentication failed"
    assert rows["Request ID"] == "8c1f02be-AMS"
    assert rows["Version"] == "20261118.091455"
    assert rows["Request"] == "POST /chat/completions"
    assert rows["Time"].endswith("after 212 ms")


def test_details_copy_as_one_line_each() -> None:
    problem = describe(errors.NotFound("No such model", status=404), now=NOW)
    assert "Status: 404 Not Found\nService said: No such model" in problem.details_text()


def test_a_problem_reads_aloud_as_two_sentences() -> None:
    assert str(Problem("It failed", "Nothing was charged.")) == "It failed. Nothing was charged."


def test_the_tree_was_found() -> None:
    assert len(every_error()) >= 20
    assert all(inspect.isclass(kind) for kind in every_error())


@pytest.mark.parametrize(
    ("code", "what", "first"),
    [
        ("context_length_exceeded", "This is too long for the model", "choose-model"),
        ("provider_content_policy", "The service’s content rules do not allow this", "edit"),
    ],
)
def test_a_refused_request_whose_code_is_known_is_told_for_what_it_is(code: str, what: str, first: str) -> None:
    error = errors.BadRequest("The service's own words")
    error.code = code
    problem = describe(error, now=NOW)
    assert (problem.what, problem.primary.id if problem.primary else "") == (what, first)
    assert problem.meaning == "The service's own words. Nothing was charged."


def answered(method: str, path: str) -> Exchange:
    return Exchange("x", NOW, RequestRecord(method, path, f"https://api.example.com{path}"))


def failed(kind: type[errors.ServiceError], method: str, message: str = "", **facts: Any) -> errors.ServiceError:
    error = kind(message, **facts)
    error.exchange = answered(method, "/characters")
    return error


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("subject", ["", "search"])
def test_what_only_reads_is_never_said_to_be_kept_sent_or_charged(
    kind: type[errors.ServiceError], subject: str
) -> None:
    error = failed(kind, "GET" if subject else "POST")
    problem = describe(error, subject=subject, now=NOW)
    words = f"{problem.what}. {problem.meaning}"
    assert "search" not in words and "whether it was charged" not in words
    assert "Your  " not in words and "your  " not in words and "this  " not in words and "  " not in words
    paid = describe(failed(errors.TimedOut, "POST"), subject="image", now=NOW)
    assert paid.meaning.startswith("Your image may have reached the service.")


def test_a_check_is_not_too_large_to_send() -> None:
    problem = describe(failed(errors.TooLarge, "GET", "Payload too large"), subject="check", now=NOW)
    assert problem.what == "The request is too large for the service"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("needs_consent", "The service’s reason: “needs_consent”."),
        ("always", "The service’s reason: “always”."),
        ("E_NO_FUNDS", "The service’s reason: “E_NO_FUNDS”."),
        ("Unauthorized", "Unauthorized."),
        ("No such model", "No such model."),
    ],
)
def test_a_bare_word_is_told_as_the_service_s_reason(message: str, said: str) -> None:
    problem = describe(errors.Conflict(message, status=409), now=NOW)
    assert problem.what == "The service cannot do this right now"
    assert problem.meaning == f"{said} Nothing was charged."
    busy = describe(errors.Conflict("A payment is already in progress", status=409), now=NOW)
    assert busy.what == "Something else is in progress"


def test_a_complaint_without_the_name_of_its_field_is_quoted() -> None:
    bare = errors.BadRequest("Invalid", status=400, fields=(errors.FieldError("", "always"),))
    assert describe(bare, now=NOW).meaning == "The service said “always”. Nothing was charged."
    named = errors.BadRequest("Invalid", status=400, fields=(errors.FieldError("speed", "too fast"),))
    assert describe(named, now=NOW).meaning == "speed: too fast. Nothing was charged."


def test_a_reply_of_which_nothing_arrived_is_not_said_to_be_kept() -> None:
    cut = errors.StreamCut("The answer ended before it was complete.")
    assert "saved" in describe(cut, now=NOW).meaning
    cut.arrived = False
    problem = describe(cut, now=NOW)
    assert (problem.what, problem.meaning) == ("The reply stopped before it began", "Nothing was received.")
    assert problem.primary is not None and problem.primary.id == "retry"


@pytest.mark.parametrize(
    ("kind", "pays", "elsewhere"),
    [
        ("sandbox", "sandbox-money", "sandbox-settings"),
        ("api_key", "switch-account", "sandbox"),
        ("wallet", "top-up:5", "sandbox"),
    ],
)
def test_an_account_is_offered_the_ways_out_that_it_has(kind: Any, pays: str, elsewhere: str) -> None:
    account = new_account("Mine", "https://api.example.com/v1", kind=kind)
    short = errors.PaymentRequired("Too little")
    short.minimum = Decimal(5)
    assert [action.id for action in for_account(describe(short), account).actions] == [pays, "choose-model"]
    lost = for_account(describe(errors.ConnectionFailed("No way")), account)
    assert [action.id for action in lost.actions][1:] == [elsewhere]


def tried(error: errors.ServiceError, times: int) -> errors.ServiceError:
    error.exchange = Exchange("1", NOW, RequestRecord("POST", "/x", "http://service.test/x"), attempts=times)
    return error


@pytest.mark.parametrize(("times", "said"), [(1, ""), (4, "Rialto tried 4 times.")])
def test_a_failed_service_says_how_often_it_was_tried(times: int, said: str) -> None:
    problem = describe(tried(errors.ServerFailed("", status=502), times), now=NOW)
    assert ("tried" in problem.meaning) is bool(said)
    assert problem.meaning.startswith(said)


def test_a_network_that_asks_for_a_sign_in_is_not_taken_for_the_service() -> None:
    problem = describe(errors.ServerFailed("", status=511), now=NOW)
    assert problem.what == "This network asks you to sign in"
    assert "Nothing was sent" in problem.meaning
    assert "receipt" not in problem.meaning


@pytest.mark.parametrize("wait_s", [0.0, None])
def test_a_limit_whose_reset_is_over_promises_nothing_and_can_be_tried_again(wait_s: float | None) -> None:
    problem = describe(errors.RateLimited("Slow down", status=429, retry_after_s=wait_s), now=NOW, sends_again=True)
    assert problem.countdown_until is None
    assert "automatically" not in problem.meaning
    assert "retry" in [action.id for action in problem.actions]


def test_half_an_answer_is_not_blamed_on_the_address() -> None:
    problem = describe(errors.BadResponse("not JSON"), now=NOW, charged="418 tokens kept, $0.0019.")
    assert "address" not in problem.meaning
    assert "418 tokens kept" in problem.meaning


def test_a_missing_engine_is_named_and_not_called_busy() -> None:
    said = "The Sandbox’s recognizer is not installed here. It is not released for Python 3.14 yet."
    problem = describe(errors.ServerFailed(said, status=501), subject="recording")
    assert problem.what == "The service cannot do this here"
    assert problem.meaning == f"{said} Your recording is saved. Nothing was charged."
    assert problem.primary is not None and problem.primary.id != "retry"


@pytest.mark.parametrize("kind", [errors.RateLimited, errors.AbuseBlocked])
def test_a_wait_that_was_cut_to_a_day_names_no_time(kind: type[errors.ServiceError]) -> None:
    problem = describe(kind("Too many", retry_after_s=MAX_WAIT_S), now=NOW)
    assert "in a day or later" in problem.meaning
    assert "14:05" not in problem.meaning
