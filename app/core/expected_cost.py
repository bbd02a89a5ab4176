"""What a chat may cost at most, read from the call itself and the price list, before it is sent.

Counted high on purpose: limits are held against it, and it counts where an answer is lost and nobody knows its cost.

None where the price list says too little: then only what has been spent counts. What other calls cost, they say
themselves (`Call.expected_usd`).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from app.service.chat_types import Usage
from app.service.dialect import EXTENSION_OBJECTS
from app.service.pricing import SCRAPED_URL_USD, SCRAPED_URLS, WEB_SEARCH_USD

if TYPE_CHECKING:
    from app.service.calls import Call
    from app.service.models import Model

CHARS_PER_TOKEN = 3  # few: an estimate that is too high asks once too often, one too low never
LONG_WORD_CHARS = 8
USUAL_ANSWER_TOKENS = 4_096
MESSAGE_TOKENS = 4  # the role and the separators around each message
ATTACHMENT_TOKENS = 2_000
SERVICE_PROMPT_TOKENS = 1_700  # public figure for the service's own prompt
FOUND_TOKENS = 4_000  # what a search, or a page that is read, adds to the prompt
OWN_PROMPT = "include_venice_system_prompt"  # named so in every dialect
_LETTERS = bytes(code for code in range(128) if chr(code).isalnum())


def expected_cost(call: Call, models: tuple[Model, ...]) -> Decimal | None:
    """Return USD, or None when nobody can say."""
    body = getattr(call.content, "record", None)
    if call.resource != "chat" or not isinstance(body, Mapping):
        return None
    wanted = str(body.get("model") or call.model).partition(":")[0]
    model = next((each for each in models if each.id == wanted), None)
    if model is None:
        return None
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    answer = most if isinstance(most, int) else USUAL_ANSWER_TOKENS
    choices = body.get("n")
    answer *= choices if isinstance(choices, int) else 1
    searches, links, has_prompt = _asked_for(body)
    asked = sum(_tokens(body.get(name)) for name in ("messages", "tools", "response_format"))
    asked += SERVICE_PROMPT_TOKENS * has_prompt + FOUND_TOKENS * (searches + links)
    plain = model.chat_cost(Usage(prompt=asked, completion=answer))
    filling = model.chat_cost(Usage(prompt=asked, completion=answer, cache_created=asked))
    if plain is None or filling is None:
        return None
    return max(plain, filling) + searches * WEB_SEARCH_USD + links * SCRAPED_URL_USD


def _asked_for(body: Mapping[str, object]) -> tuple[int, int, bool]:
    """How many searches and pages are asked for, whichever way, and whether the service adds a prompt of its own."""
    suffix = dict(parse_qsl(str(body.get("model", "")).partition(":")[2]))
    asked = [suffix, *(part for name in EXTENSION_OBJECTS if isinstance(part := body.get(name), Mapping))]

    def wanted(name: str) -> bool:
        return any(part.get(name) not in (None, False, "off", "false") for part in asked)

    searches = sum(map(wanted, ("enable_web_search", "enable_x_search")))
    links = SCRAPED_URLS if wanted("enable_web_scraping") else 0
    is_bare = any(part.get(OWN_PROMPT) in (False, "false") for part in asked)
    return searches, links, not is_bare


def _tokens(value: object) -> int:
    """Return the tokens of all texts in `value`, attachments included."""
    if isinstance(value, str):
        return ATTACHMENT_TOKENS if value.startswith("data:") else most_tokens(value)
    if isinstance(value, Mapping):
        return MESSAGE_TOKENS + sum(map(_tokens, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(_tokens, value))
    return 0


def most_tokens(text: str) -> int:
    """Return more tokens than any usual tokenizer makes of `text`. Reads a megabyte in a few milliseconds.

    Words are cut after eight letters, each mark is a token and may end a word, and so may a letter that is not ASCII.
    """
    plain = text.encode("ascii", "ignore")
    others = plain.translate(None, _LETTERS)
    spaces = others.count(b" ")
    foreign = len(text) - len(plain)
    few = foreign * 4 < len(text)  # quotes and dashes rather than a script of its own
    pieces = (len(plain) - len(others)) // LONG_WORD_CHARS + spaces + 2 * (len(others) - spaces)
    return max(len(text) // CHARS_PER_TOKEN, pieces + foreign * (2 if few else 1)) + 1
