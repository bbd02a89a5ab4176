"""What a chat may cost at most, read from the call itself and the price list, before it is sent.

None where the price list says too little: then only what has been spent counts. What other calls cost, they say
themselves (`Call.expected_usd`).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from app.service.dialect import EXTENSION_OBJECTS
from app.service.pricing import SCRAPED_URL_USD, SCRAPED_URLS, WEB_SEARCH_USD, usd

if TYPE_CHECKING:
    from app.service.calls import Call
    from app.service.models import Model

CHARS_PER_TOKEN = 3  # few: an estimate that is too high asks once too often, one too low never
USUAL_ANSWER_TOKENS = 4_096
MILLION = Decimal(1_000_000)


def expected_cost(call: Call, models: tuple[Model, ...]) -> Decimal | None:
    """Return USD, or None when nobody can say."""
    body = getattr(call.content, "record", None)
    if call.resource != "chat" or not isinstance(body, Mapping):
        return None
    wanted = str(body.get("model") or call.model).partition(":")[0]
    model = next((each for each in models if each.id == wanted), None)
    if model is None:
        return None
    price_in, price_out = _price(model, "input"), _price(model, "output")
    if price_in is None or price_out is None:
        return None
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    answer = most if isinstance(most, int) else USUAL_ANSWER_TOKENS
    choices = body.get("n")
    answer *= choices if isinstance(choices, int) else 1
    asked = _chars(body.get("messages")) // CHARS_PER_TOKEN + 1
    return (asked * price_in + answer * price_out) / MILLION + _extras(body)


def _extras(body: Mapping[str, object]) -> Decimal:
    """What searching and reading links may cost on top, whichever way they are asked for."""
    suffix = dict(parse_qsl(str(body.get("model", "")).partition(":")[2]))
    asked = [suffix, *(part for name in EXTENSION_OBJECTS if isinstance(part := body.get(name), Mapping))]

    def wanted(name: str) -> bool:
        return any(part.get(name) not in (None, False, "off", "false") for part in asked)

    searches = sum(map(wanted, ("enable_web_search", "enable_x_search")))
    links = SCRAPED_URLS if wanted("enable_web_scraping") else 0
    return searches * WEB_SEARCH_USD + links * SCRAPED_URL_USD


def _chars(value: object) -> int:
    """How many characters of text; what is carried as data: counts as nothing, its price is not by the letter."""
    if isinstance(value, str):
        return 0 if value.startswith("data:") else len(value)
    if isinstance(value, Mapping):
        return sum(map(_chars, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(_chars, value))
    return 0


def _price(model: Model, name: str) -> Decimal | None:
    return usd(model.model_spec.pricing, name)
