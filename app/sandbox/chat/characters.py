"""`GET /characters` with every filter and order, one character, and its reviews."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from app.sandbox.chat.character_catalog import PRO_MODELS, Character
from app.sandbox.chat.word_stems import fold
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.validation import Checker
from app.sandbox.world import iso

MAX_ITEMS = 20
MAX_NAME_CHARS = 100
MAX_MODEL_CHARS = 200
MAX_SEARCH_CHARS = 200
DEFAULT_LIMIT, MAX_LIMIT = 50, 100
LEAST_RATINGS = 2

Key = Callable[[Character], Any]
_AVERAGE: Key = lambda one: (sum(one.ratings) / len(one.ratings) if one.ratings else 0, len(one.ratings))  # noqa: E731
ORDERS: dict[str, Key] = {
    "featured": lambda one: (one.featured, one.imports),
    "highestRating": _AVERAGE,
    "highlyRated": _AVERAGE,
    "highlyRatedAndRecent": lambda one: (round(_AVERAGE(one)[0], 1), one.updated_at),
    "imports": lambda one: one.imports,
    "mostRecent": lambda one: one.created_at,
    "ratingCount": lambda one: len(one.ratings),
}
WORDS_OF_REVIEWS = (
    "Kind and to the point.",
    "Made me laugh before breakfast.",
    "Knows the subject and says so briefly.",
    "Good company for a long evening.",
    None,
    "Finally got me started.",
    "A little slow to warm up, then excellent.",
    "Not for me, but well made.",
)
REVIEWERS = (
    "Night Editor",
    "Early Bird",
    "Quiet Reader",
    "Weekend Cook",
    "Tram Driver",
    "Lighthouse Fan",
    "Patient Gardener",
)


async def search(call: Call) -> Response:
    check = Checker(flat_list=call.names.issues_in_errors)
    categories = _list(check, call, "categories", MAX_NAME_CHARS)
    tags = _list(check, call, "tags", MAX_NAME_CHARS)
    models = _list(check, call, "modelId", MAX_MODEL_CHARS)
    adult, pro, web = (_flag(check, call, name) for name in ("isAdult", "isPro", "isWebEnabled"))
    limit = _whole(check, call, "limit", 1, MAX_LIMIT, DEFAULT_LIMIT)
    offset = _whole(check, call, "offset", 0, None, 0)
    text = check.text(("search",), call.value("search"), longest=MAX_SEARCH_CHARS) or ""
    sort_by = check.choice(("sortBy",), call.value("sortBy"), ORDERS)
    sort_order = check.choice(("sortOrder",), call.value("sortOrder"), ("asc", "desc"))
    check.finish()
    found = [
        one
        for one in call.site.characters.all
        if one.adult == (adult is True)  # left out means the same as false
        and (not categories or fold(one.category) in categories)
        and (not tags or any(fold(tag) in tags for tag in one.tags))
        and (pro is True or not models or fold(one.model_id) in models)
        and (pro is not True or one.model_id in PRO_MODELS)
        and (web is not True or one.web_enabled)
        and _matches(one, text)
    ]
    found = _ordered(found, sort_by, sort_order)
    data = [one.as_json() for one in found[offset : offset + limit]]
    return json_answer({"data": data, "object": "list"})


async def one(call: Call) -> Response:
    return json_answer({"data": _known(call).as_json(), "object": "character"})


async def reviews(call: Call) -> Response:
    character = _known(call)
    check = Checker(flat_list=call.names.issues_in_errors)
    page = _whole(check, call, "page", 1, None, 1)
    size = _whole(check, call, "pageSize", 1, 100, 20)
    check.finish()
    total = len(character.ratings)
    pages = -(-total // size)
    chosen = range((page - 1) * size, min(page * size, total))
    call.headers |= {
        "x-pagination-limit": str(size),
        "x-pagination-page": str(page),
        "x-pagination-total": str(total),
        "x-pagination-total-pages": str(pages),
    }
    return json_answer(
        {
            "object": "list",
            "data": [_review(character, number) for number in chosen],
            "pagination": {"page": page, "pageSize": size, "total": total, "totalPages": pages},
            "summary": {
                "averageRating": round(sum(character.ratings) / total, 2) if total else 0,
                "totalReviews": total,
            },
        }
    )


def _known(call: Call) -> Character:
    character = call.site.characters.find(call.path_values["slug"])
    if character is None:
        raise HttpError(404, "The character was not found")
    return character


def _review(character: Character, number: int) -> Json:
    return {
        "id": f"{character.id[:8]}-{number:04d}",
        "characterId": character.id,
        "createdAt": iso(character.created_at.timestamp() + (number + 1) * 90_000),
        "rating": character.ratings[number],
        "message": WORDS_OF_REVIEWS[(number + len(character.slug)) % len(WORDS_OF_REVIEWS)],
        "locale": "en",
        "username": REVIEWERS[(number * 3 + len(character.name)) % len(REVIEWERS)],
        "userAvatarUrl": None,
        "isOwner": False,
    }


def _matches(one: Character, text: str) -> bool:
    """Plain words are looked for anywhere in name, description and tags; `#word` is a whole tag."""
    where = fold(" ".join((one.name, one.description or "", *one.tags)))
    tags = {fold(tag) for tag in one.tags}
    hashtags = [fold(word[1:]) for word in text.split() if word.startswith("#") and len(word) > 1]
    rest = fold(" ".join(word for word in text.split() if not word.startswith("#")))
    return all(tag in tags or tag.replace("_", " ") in tags for tag in hashtags) and rest in where


def _ordered(found: list[Character], sort_by: str | None, sort_order: str | None) -> list[Character]:
    if sort_by is None:
        return sorted(found, key=lambda one: (-one.imports, one.slug))  # most imported first; an order needs `sortBy`
    if sort_by == "featured":
        found = [one for one in found if one.featured]
    elif sort_by.startswith("highlyRated"):
        found = [one for one in found if len(one.ratings) >= LEAST_RATINGS]
    found = sorted(found, key=lambda one: one.slug)
    return sorted(found, key=ORDERS[sort_by], reverse=sort_order != "asc")


def _list(check: Checker, call: Call, name: str, longest: int) -> frozenset[str]:
    values = call.values(name)
    if len(values) > MAX_ITEMS:
        check.complain((name,), f"Array must contain at most {MAX_ITEMS} element(s)")
    for number, value in enumerate(values):
        check.text((name, number), value, longest=longest)
    return _folded(values)


def _folded(values: Iterable[str]) -> frozenset[str]:
    return frozenset(fold(value.lstrip("#")) for value in values)


def _flag(check: Checker, call: Call, name: str) -> bool | None:
    value = check.choice((name,), call.value(name), ("true", "false"))
    return None if value is None else value == "true"


def _whole(check: Checker, call: Call, name: str, low: int, high: int | None, otherwise: int) -> int:
    raw = call.value(name)
    if raw is None or (name == "offset" and raw == "null"):
        return otherwise
    try:
        number = int(raw)
    except ValueError:
        check.complain((name,), "Expected integer, received string")
        return otherwise
    checked = check.integer((name,), number, low, high)
    return otherwise if checked is None else checked
