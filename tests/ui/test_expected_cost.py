"""What a call may cost at most, read from the call before it leaves."""

from decimal import Decimal

import pytest

from app.core.expected_cost import USUAL_ANSWER_TOKENS, expected_cost
from app.service.calls import Call, CallKind, JsonContent
from app.service.models import Model

MODEL = Model.model_validate(
    {"id": "m", "model_spec": {"pricing": {"input": {"usd": 1}, "output": {"usd": 2}}}, "type": "text"}
)
TOKENS_ALONE = (Decimal(2) + USUAL_ANSWER_TOKENS * 2) / 1_000_000  # three letters, and an answer of the usual length


def cost(**body: object) -> Decimal | None:
    content = JsonContent({"model": "m", "messages": [{"content": "abc"}], **body})
    return expected_cost(Call("POST", "/chat/completions", CallKind.PAID, "chat", content=content), (MODEL,))


@pytest.mark.parametrize(
    ("body", "extra"),
    [
        ({}, "0"),
        ({"service_parameters": {"enable_web_search": "off", "enable_web_scraping": False}}, "0"),
        ({"service_parameters": {"enable_web_search": "on"}}, "0.01"),
        ({"venice_parameters": {"enable_web_search": "auto", "enable_x_search": True}}, "0.02"),
        ({"service_parameters": {"enable_web_scraping": True}}, "0.05"),
        ({"model": "m:enable_web_search=auto"}, "0.01"),
    ],
)
def test_searching_and_reading_links_is_counted_however_it_is_asked_for(body: dict[str, object], extra: str) -> None:
    assert cost(**body) == TOKENS_ALONE + Decimal(extra)


def test_nobody_can_say_what_an_unknown_model_costs() -> None:
    assert cost(model="another") is None
