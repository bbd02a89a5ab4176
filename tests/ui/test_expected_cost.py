"""What a call may cost at most, read from the call before it leaves."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.expected_cost import (
    MESSAGE_TOKENS,
    SERVICE_PROMPT_TOKENS,
    USUAL_ANSWER_TOKENS,
    expected_cost,
    most_tokens,
)
from app.sandbox.chat import tokens
from app.service.calls import Call, CallKind, JsonContent
from app.service.models import Model

MODEL = Model.model_validate(
    {"id": "m", "model_spec": {"pricing": {"input": {"usd": 1}, "output": {"usd": 2}}}, "type": "text"}
)
QUESTION_TOKENS = 2 + MESSAGE_TOKENS + SERVICE_PROMPT_TOKENS  # of three letters
TOKENS_ALONE = (Decimal(QUESTION_TOKENS) + USUAL_ANSWER_TOKENS * 2) / 1_000_000  # an answer of the usual length


def cost(**body: object) -> Decimal | None:
    content = JsonContent({"model": "m", "messages": [{"content": "abc"}], **body})
    return expected_cost(Call("POST", "/chat/completions", CallKind.PAID, "chat", content=content), (MODEL,))


@pytest.mark.parametrize(
    ("body", "extra"),
    [
        ({}, "0"),
        ({"service_parameters": {"enable_web_search": "off", "enable_web_scraping": False}}, "0"),
        ({"service_parameters": {"enable_web_search": "on"}}, "0.014"),
        ({"venice_parameters": {"enable_web_search": "auto", "enable_x_search": True}}, "0.028"),
        ({"service_parameters": {"enable_web_scraping": True}}, "0.07"),
        ({"model": "m:enable_web_search=auto"}, "0.014"),
    ],
)
def test_searching_and_reading_links_is_counted_however_it_is_asked_for(body: dict[str, object], extra: str) -> None:
    assert cost(**body) == TOKENS_ALONE + Decimal(extra)


@given(st.text(st.sampled_from("aZ9 \n.,(){}_-’“éß中🦜") | st.characters(codec="ascii"), max_size=200))
def test_a_text_is_never_expected_to_have_fewer_tokens_than_it_is_billed_for(text: str) -> None:
    assert most_tokens(text) >= tokens.count(text)


def test_nobody_can_say_what_an_unknown_model_costs() -> None:
    assert cost(model="another") is None
