"""The character list: every filter and limit of R-CHAR."""

import pytest

from app.service.characters import Character, CharactersQuery
from app.service.errors import BadAnswer, LimitExceeded
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


async def test_r_char_01_to_20_the_fields_are_read() -> None:
    async with Watched(handler=answering(LIST)) as watched:
        (pilot,) = await watched.service.characters.search()
    assert (pilot.id, pilot.slug, pilot.name, pilot.description) == ("6d9b0c1e", "harbour-pilot", "Harbour Pilot", None)
    assert (pilot.adult, pilot.featured, pilot.web_enabled, pilot.model_id) == (False, True, True, "uncensored")
    assert (pilot.tags, pilot.photo_url, pilot.author) == (("sea", "advice"), None, "k3x9q")
    assert pilot.created_at is not None
    assert pilot.created_at.utcoffset() is not None
    assert (pilot.stats.average_rating, pilot.stats.imports, pilot.stats.user_rating) == (4.7, 112, None)


async def test_r_char_21_r_char_36_nothing_but_the_page_size_is_sent_by_default() -> None:
    assert await sent(CharactersQuery()) == [("limit", "50")]


async def test_r_char_22_to_36_every_filter_is_sent() -> None:
    query = CharactersQuery(
        search="#sea",
        categories=("a", "b"),
        tags=("with,comma",),
        model_ids=("m/1",),
        is_adult=False,
        is_pro=True,
        is_web_enabled=True,
        sort_by="highestRating",
        ascending=True,
        limit=100,
        offset=200,
    )
    assert await sent(query) == [
        ("search", "#sea"),
        ("categories", "a"),
        ("categories", "b"),
        ("tags", "with,comma"),
        ("modelId", "m/1"),
        ("isAdult", "false"),
        ("isPro", "true"),
        ("isWebEnabled", "true"),
        ("sortBy", "highestRating"),
        ("sortOrder", "asc"),
        ("limit", "100"),
        ("offset", "200"),
    ]


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


async def test_r_char_24_more_than_twenty_tags_is_refused_before_sending() -> None:
    for query in (
        CharactersQuery(tags=("x",) * 21),
        CharactersQuery(tags=(",".join("x" * 21),)),
        CharactersQuery(categories=("x",) * 21),
        CharactersQuery(model_ids=("x",) * 21),
    ):
        assert (await refused(query)).limit == "20"
    await sent(CharactersQuery(tags=("x",) * 20))


@pytest.mark.parametrize("rows", [0, 101, -1])
async def test_r_char_29_a_page_has_1_to_100_rows(rows: int) -> None:
    assert (await refused(CharactersQuery(limit=rows))).field == "limit"


async def test_r_char_30_a_longer_model_id_is_refused() -> None:
    assert (await refused(CharactersQuery(model_ids=("x" * 201,)))).limit == "200"


async def test_r_char_31_a_negative_offset_is_refused() -> None:
    assert (await refused(CharactersQuery(offset=-1))).field == "offset"


async def test_r_char_32_a_longer_search_is_refused() -> None:
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
        with pytest.raises(BadAnswer):
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
