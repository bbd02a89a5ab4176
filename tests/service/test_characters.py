"""The character list: every filter and limit of R-CHAR."""

from datetime import UTC, datetime

import pytest

from app.service.characters import Character, CharactersQuery
from app.service.errors import BadResponse, LimitExceeded
from app.service.wire import read_model
from tests.service.loopback import Watched, answering

PILOT = {
    "id": "6d9b0c1e",
    "slug": "harbour-pilot",
    "name": "Harbour Pilot",
    "description": None,
    "author": "k3x9q",
    "adult": False,
    "featured": True,
    "webEnabled": True,
    "modelId": "uncensored",
    "tags": ["sea", "advice"],
    "photoUrl": None,
    "shareUrl": "https://example.org/c/harbour-pilot",
    "createdAt": "2025-12-20T21:28:08.934Z",
    "updatedAt": "2026-01-09T03:23:53.708Z",
    "stats": {"averageRating": 4.7, "imports": 112, "ratingCount": 24, "ratingSum": 113, "userRating": None},
}
LIST = {"object": "list", "data": [PILOT]}


async def sent(query: CharactersQuery) -> list[tuple[str, str]]:
    async with Watched(handler=answering(LIST)) as watched:
        await watched.service.characters.search(query)
        return watched.requests[0].url.params.multi_items()


MOMENT = datetime(2025, 12, 20, 21, 28, 8, 934000, tzinfo=UTC)
ODD = object()  # a value of a type that no field has


@pytest.mark.parametrize(
    ("rule", "wire", "value", "read", "missing"),
    [
        ("R-CHAR-03", "adult", True, "adult", False),
        ("R-CHAR-04", "author", "k3x9q", "author", ""),
        ("R-CHAR-05", "createdAt", "2025-12-20T21:28:08.934Z", "created_at", None),
        ("R-CHAR-06", "description", "A <b>pilot</b>", "description", None),
        ("R-CHAR-07", "featured", True, "featured", False),
        ("R-CHAR-08", "id", "6d9b0c1e", "id", ""),
        ("R-CHAR-09", "name", "Harbour Pilot", "name", ""),
        ("R-CHAR-10", "shareUrl", "https://example.org/c/x", "share_url", None),
        ("R-CHAR-11", "photoUrl", "https://example.org/c/x.png", "photo_url", None),
        ("R-CHAR-17", "tags", ["sea", "advice"], "tags", ()),
        ("R-CHAR-18", "updatedAt", "2025-12-20T21:28:08.934Z", "updated_at", None),
        ("R-CHAR-19", "webEnabled", True, "web_enabled", False),
        ("R-CHAR-20", "modelId", "uncensored", "model_id", ""),
    ],
)
def test_a_field_is_read_and_may_be_missing_or_odd(
    rule: str, wire: str, value: object, read: str, missing: object
) -> None:
    wanted = {"created_at": MOMENT, "updated_at": MOMENT, "tags": ("sea", "advice")}.get(read, value)
    assert getattr(read_model(Character, {"slug": "x", wire: value}), read) == wanted, rule
    for odd in ({"slug": "x"}, {"slug": "x", wire: {"an": ["object"]}}):
        assert getattr(read_model(Character, odd), read) == missing, rule


@pytest.mark.parametrize(
    ("rule", "wire", "value", "read", "missing"),
    [
        ("R-CHAR-14", "averageRating", 4.7, "average_rating", 0),
        ("R-CHAR-14", "imports", 112, "imports", 0),
        ("R-CHAR-14", "ratingCount", 24, "rating_count", 0),
        ("R-CHAR-14", "ratingSum", 113, "rating_sum", 0),
        ("R-CHAR-16", "userRating", 4, "user_rating", None),
        ("R-CHAR-16", "userRating", None, "user_rating", None),
    ],
)
def test_a_figure_is_read_and_may_be_missing(rule: str, wire: str, value: object, read: str, missing: object) -> None:
    assert getattr(read_model(Character, {"slug": "x", "stats": {wire: value}}).stats, read) == value, rule
    assert getattr(read_model(Character, {"slug": "x", "stats": {}}).stats, read) == missing, rule


@pytest.mark.parametrize("stats", [{}, None, [], {"imports": "many"}])
def test_r_char_13_figures_that_are_missing_count_as_nothing(stats: object) -> None:
    read = read_model(Character, {"slug": "x", "stats": stats}).stats
    assert (read.average_rating, read.imports, read.rating_count, read.rating_sum) == (0, 0, 0, 0)


@pytest.mark.parametrize("slug", [None, "", 7, ODD])
def test_r_char_12_a_record_without_a_slug_is_none(slug: object) -> None:
    with pytest.raises(BadResponse):
        read_model(Character, {"slug": slug, "name": "x"})


@pytest.mark.parametrize("envelope", [{}, {"object": "page"}, {"object": 7}])
async def test_r_char_01_r_char_02_the_list_is_read_whatever_its_envelope_calls_itself(envelope: object) -> None:
    async with Watched(handler=answering({**envelope, "data": [PILOT]})) as watched:  # type: ignore[dict-item] # a dict above
        assert [each.slug for each in await watched.service.characters.search()] == ["harbour-pilot"]
    async with Watched(handler=answering([PILOT])) as watched:
        with pytest.raises(BadResponse):
            await watched.service.characters.search()


async def test_r_char_21_r_char_36_nothing_but_the_page_size_is_sent_by_default() -> None:
    assert await sent(CharactersQuery()) == [("limit", "50")]


@pytest.mark.parametrize(
    ("rule", "query", "pairs"),
    [
        ("R-CHAR-22", {"categories": ("a", "b")}, [("categories", "a"), ("categories", "b")]),
        ("R-CHAR-25", {"tags": ("a", "b,c")}, [("tags", "a"), ("tags", "b,c")]),
        ("R-CHAR-26", {"is_adult": True}, [("isAdult", "true")]),
        ("R-CHAR-26", {"is_adult": False}, [("isAdult", "false")]),
        ("R-CHAR-27", {"is_pro": True}, [("isPro", "true")]),
        ("R-CHAR-28", {"is_web_enabled": True}, [("isWebEnabled", "true")]),
        ("R-CHAR-30", {"model_ids": ("m/1", "n")}, [("modelId", "m/1"), ("modelId", "n")]),
        ("R-CHAR-31", {"offset": 50}, [("offset", "50")]),
        ("R-CHAR-32", {"search": "sea"}, [("search", "sea")]),
        ("R-CHAR-34", {"search": "#sea"}, [("search", "#sea")]),
        ("R-CHAR-35", {"sort_by": "highestRating"}, [("sortBy", "highestRating")]),
        ("R-CHAR-36", {"sort_by": "imports", "ascending": True}, [("sortBy", "imports"), ("sortOrder", "asc")]),
    ],
)
async def test_a_filter_is_sent_as_the_wire_writes_it(
    rule: str, query: dict[str, object], pairs: list[tuple[str, str]]
) -> None:
    found = await sent(CharactersQuery(**query))  # type: ignore[arg-type] # names of real fields
    assert sorted(found) == sorted([*pairs, ("limit", "50")]), rule


@pytest.mark.parametrize(("rule", "rows"), [("R-CHAR-29, R-LIM-25", 1), ("R-LIM-25", 100)])
async def test_pages_of_the_smallest_and_the_largest_size_are_asked_for(rule: str, rows: int) -> None:
    assert await sent(CharactersQuery(limit=rows)) == [("limit", str(rows))], rule


async def test_r_char_34_a_hashtag_is_encoded() -> None:
    async with Watched(handler=answering(LIST)) as watched:
        await watched.service.characters.search(CharactersQuery(search="#sea"))
        assert b"search=%23sea" in watched.requests[0].url.query


async def refused(query: CharactersQuery) -> LimitExceeded:
    async with Watched(handler=answering(LIST)) as watched:
        with pytest.raises(LimitExceeded) as caught:
            await watched.service.characters.search(query)
        assert watched.requests == []
        assert watched.exchanges == []
    return caught.value


@pytest.mark.parametrize("name", ["categories", "tags"])
async def test_r_char_23_a_longer_entry_is_refused_before_sending(name: str) -> None:
    error = await refused(CharactersQuery(**{name: ("x" * 101,)}))
    assert (error.field, error.limit) == (name, "100")
    await sent(CharactersQuery(**{name: ("x" * 100,)}))


async def test_r_char_24_r_lim_26_more_than_twenty_tags_is_refused_before_sending() -> None:
    for query in (
        CharactersQuery(tags=("x",) * 21),
        CharactersQuery(tags=(",".join("x" * 21),)),
        CharactersQuery(categories=("x",) * 21),
        CharactersQuery(model_ids=("x",) * 21),
    ):
        assert (await refused(query)).limit == "20"
    await sent(CharactersQuery(tags=("x",) * 20))


@pytest.mark.parametrize("rows", [0, 101, -1])
async def test_r_char_29_r_lim_25_a_page_has_1_to_100_rows(rows: int) -> None:
    assert (await refused(CharactersQuery(limit=rows))).field == "limit"


async def test_r_char_30_a_longer_model_id_is_refused() -> None:
    assert (await refused(CharactersQuery(model_ids=("x" * 201,)))).limit == "200"


async def test_r_char_31_a_negative_offset_is_refused() -> None:
    assert (await refused(CharactersQuery(offset=-1))).field == "offset"


async def test_r_char_32_r_lim_27_a_longer_search_is_refused() -> None:
    assert (await refused(CharactersQuery(search="x" * 201))).field == "search"
    await sent(CharactersQuery(search="x" * 200))


async def test_r_char_35_an_unknown_order_is_refused() -> None:
    assert (await refused(CharactersQuery(sort_by="name"))).field == "sortBy"


async def test_r_char_40_one_broken_element_never_hides_the_list() -> None:
    odd = {"slug": "odd", "tags": "sea", "stats": [], "createdAt": "yesterday", "adult": "perhaps", "new": 1}
    body = {"data": [PILOT, None, {"name": "no slug"}, odd]}
    async with Watched(handler=answering(body)) as watched:
        page = await watched.service.characters.page()
    assert [character.slug for character in page.data] == ["harbour-pilot", "odd"]
    assert page.broken == 2
    assert (page.data[1].tags, page.data[1].stats.imports, page.data[1].created_at) == ((), 0, None)


async def test_one_character_in_its_envelope_or_bare() -> None:
    for body in ({"data": PILOT, "object": "character"}, PILOT):
        async with Watched(handler=answering(body)) as watched:
            assert (await watched.service.characters.one("harbour pilot/1")).name == "Harbour Pilot"
            assert watched.requests[0].url.raw_path == b"/api/v1/characters/harbour%20pilot%2F1"
    async with Watched(handler=answering({"data": []})) as watched:
        with pytest.raises(BadResponse):
            await watched.service.characters.one("x")


@pytest.mark.parametrize("slug", ["", " ", ".", ".."])
async def test_a_slug_that_would_change_the_path_is_refused(slug: str) -> None:
    async with Watched(handler=answering(PILOT)) as watched:
        with pytest.raises(LimitExceeded):
            await watched.service.characters.one(slug)
        assert watched.requests == []


async def test_r_hdr_21_reviews_are_paged_by_headers_then_body() -> None:
    review = {"id": "1", "rating": 5, "message": None, "username": "k", "isOwner": False}
    body = {"data": [review], "pagination": {"page": 2, "pageSize": 20, "total": 41, "totalPages": 3}}
    async with Watched(handler=answering(body)) as watched:
        page = await watched.service.characters.reviews("harbour-pilot", page=2)
        assert (page.page, page.page_count, page.total, page.reviews[0].rating) == (2, 3, 41, 5)
        assert watched.requests[0].url.query == b"page=2&pageSize=20"
    async with Watched(handler=answering({"data": []}, x_pagination_page="4", x_pagination_total="9")) as watched:
        page = await watched.service.characters.reviews("x")
        assert (page.page, page.page_count, page.total) == (4, 1, 9)
        for wrong in ({"page": 0}, {"page_size": 101}):
            with pytest.raises(LimitExceeded):
                await watched.service.characters.reviews("x", **wrong)


def test_a_character_needs_nothing_but_its_slug() -> None:
    character = read_model(Character, {"slug": "x"})
    assert (character.name, character.tags, character.stats.rating_sum) == ("", (), 0)
