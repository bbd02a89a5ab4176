"""`GET /characters`, one character, reviews, images: rules R-CHAR."""

import re
from datetime import datetime
from typing import Any

import httpx
import pytest

from tests.sandbox.support import Client


def found(sandbox: Client, *pairs: tuple[str, str], **query: Any) -> list[dict[str, Any]]:
    answer = sandbox.get("/characters", params=[*pairs, *query.items()])
    assert answer.status_code == 200, answer.text
    rows: list[dict[str, Any]] = answer.json()["data"]
    return rows


def everybody(sandbox: Client) -> list[dict[str, Any]]:
    pages = [found(sandbox, limit=100, offset=offset) for offset in (0, 100, 200)]
    return [row for page in pages for row in page] + found(sandbox, isAdult="true")


def refused(sandbox: Client, *pairs: tuple[str, str], **query: Any) -> dict[str, Any]:
    answer = sandbox.get("/characters", params=[*pairs, *query.items()])
    assert answer.status_code == 400, answer.text
    return dict(answer.json()["details"])


def test_R_CHAR_01_R_CHAR_02_R_CHAR_37_the_list_envelope(sandbox: Client) -> None:
    body = sandbox.get("/characters").json()
    assert set(body) == {"data", "object"}
    assert body["object"] == "list"
    assert len(body["data"]) == 50


def is_moment(value: Any) -> bool:
    return isinstance(value, str) and value.endswith("Z") and datetime.fromisoformat(value).tzinfo is not None


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def is_text_or_none(value: Any) -> bool:
    return value is None or is_text(value)


@pytest.mark.parametrize(
    ("rule", "field", "fits"),
    [
        ("R-CHAR-03", "adult", is_flag),
        ("R-CHAR-04", "author", lambda value: re.fullmatch(r"[a-z0-9]{5}", value)),
        ("R-CHAR-05", "createdAt", is_moment),
        ("R-CHAR-06", "description", is_text_or_none),
        ("R-CHAR-07", "featured", is_flag),
        ("R-CHAR-08", "id", lambda value: re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value)),
        ("R-CHAR-09", "name", is_text),
        ("R-CHAR-10", "shareUrl", is_text_or_none),
        ("R-CHAR-11", "photoUrl", is_text_or_none),
        ("R-CHAR-12", "slug", is_text),
        ("R-CHAR-17", "tags", lambda value: isinstance(value, list) and all(map(is_text, value))),
        ("R-CHAR-18", "updatedAt", is_moment),
        ("R-CHAR-19", "webEnabled", is_flag),
        ("R-CHAR-20", "modelId", is_text),
    ],
)
def test_a_field_of_every_record_has_its_type(sandbox: Client, rule: str, field: str, fits: Any) -> None:
    rows = everybody(sandbox)
    assert len(rows) >= 120
    assert all(fits(row[field]) for row in rows), rule
    if isinstance(rows[0][field], bool):
        assert {row[field] for row in rows} == {True, False}
    if field == "updatedAt":
        assert all(row["createdAt"] <= row["updatedAt"] for row in rows)


def test_R_CHAR_08_R_CHAR_12_ids_and_slugs_are_unique(sandbox: Client) -> None:
    rows = everybody(sandbox)
    assert len({row["id"] for row in rows}) == len({row["slug"] for row in rows}) == len(rows)


def test_R_CHAR_06_R_CHAR_10_R_CHAR_11_R_CHAR_20_the_awkward_cases_occur(sandbox: Client, bare: httpx.Client) -> None:
    rows = everybody(sandbox)
    for name in ("description", "photoUrl", "shareUrl"):
        assert 1 <= sum(row[name] is None for row in rows) < len(rows) / 2, name
    listed = {model["id"] for model in sandbox.get("/models?type=all").json()["data"]}
    assert 1 <= sum(row["modelId"] not in listed for row in rows) < len(rows) / 2
    assert any(not tag.isascii() for row in rows for tag in row["tags"])
    statuses = [bare.get(row["photoUrl"]).status_code for row in rows[:50] if row["photoUrl"]]
    assert set(statuses) == {200, 404}


def test_R_CHAR_13_R_CHAR_14_R_CHAR_15_R_CHAR_16_the_figures_agree_with_each_other(sandbox: Client) -> None:
    for row in everybody(sandbox):
        stats = row["stats"]
        assert set(stats) == {"averageRating", "imports", "ratingCount", "ratingSum", "userRating"}
        assert stats["userRating"] is None
        assert stats["averageRating"] * stats["ratingCount"] == pytest.approx(stats["ratingSum"], abs=0.5)


def test_R_CHAR_21_empty_parameters_mean_the_defaults(sandbox: Client) -> None:
    assert found(sandbox, search="", offset="", sortBy="", tags="") == found(sandbox)


def test_R_CHAR_22_categories_filter_by_any_of_their_names(sandbox: Client) -> None:
    music = found(sandbox, ("categories", "music"))
    both = found(sandbox, ("categories", "Music"), ("categories", "nature"))
    assert 0 < len(music) < len(both)
    assert found(sandbox, categories="nothing-like-it") == []


@pytest.mark.parametrize("name", ["categories", "tags"])
def test_R_CHAR_23_an_entry_has_at_most_100_characters(sandbox: Client, name: str) -> None:
    assert found(sandbox, **{name: "x" * 100}) == []
    assert refused(sandbox, **{name: "x" * 101})[name]["0"]["_errors"]


@pytest.mark.parametrize("name", ["categories", "tags", "modelId"])
def test_R_CHAR_24_R_LIM_26_at_most_20_items_also_after_splitting_commas(sandbox: Client, name: str) -> None:
    assert found(sandbox, **{name: ",".join("x" * 20)}) == []
    assert refused(sandbox, **{name: ",".join("x" * 21)})[name]["_errors"]
    assert refused(sandbox, *[(name, "x")] * 21)[name]["_errors"]


def test_R_CHAR_25_arrays_may_be_repeated_and_comma_separated_at_once(sandbox: Client) -> None:
    mixed = found(sandbox, ("tags", "sea,rail"), ("tags", "stars"))
    assert {"sea", "rail", "stars"} <= {tag for row in mixed for tag in row["tags"]}
    assert all({"sea", "rail", "stars"} & set(row["tags"]) for row in mixed)


def test_R_CHAR_26_adult_ones_are_shown_when_asked_for_only(sandbox: Client) -> None:
    assert not any(row["adult"] for row in found(sandbox, limit=100))
    assert not any(row["adult"] for row in found(sandbox, isAdult="false", limit=100))
    adult = found(sandbox, isAdult="true")
    assert adult and all(row["adult"] for row in adult)
    assert refused(sandbox, isAdult="True")["isAdult"]["_errors"]


def test_R_CHAR_27_pro_characters_use_pro_models(sandbox: Client) -> None:
    pro = found(sandbox, isPro="true", limit=100)
    assert pro and {row["modelId"] for row in pro} <= {"rialto-reasoning", "rialto-search", "quayside-large-2"}
    assert found(sandbox, isPro="true", modelId="rialto-handbook", limit=100) == pro


def test_R_CHAR_28_web_enabled_ones(sandbox: Client) -> None:
    web = found(sandbox, isWebEnabled="true", limit=100)
    assert web and all(row["webEnabled"] for row in web)
    assert found(sandbox, isWebEnabled="false") == found(sandbox)


def test_R_CHAR_29_R_LIM_25_the_limit_is_1_to_100(sandbox: Client) -> None:
    assert len(found(sandbox, limit=1)) == 1
    assert len(found(sandbox, limit=100)) == 100
    for wrong in (0, 101, -5, "many", "1.5"):
        assert refused(sandbox, limit=wrong)["limit"]["_errors"]


def test_R_CHAR_30_model_ids_filter_and_have_at_most_200_characters(sandbox: Client) -> None:
    rows = found(sandbox, modelId="rialto-think-tags", limit=100)
    assert rows and {row["modelId"] for row in rows} == {"rialto-think-tags"}
    assert found(sandbox, modelId="x" * 200) == []
    assert refused(sandbox, modelId="x" * 201)["modelId"]["0"]["_errors"]


def test_R_CHAR_31_the_offset_skips_and_the_last_page_is_short(sandbox: Client) -> None:
    assert found(sandbox, offset=1)[0] == found(sandbox)[1]
    assert found(sandbox, offset="null") == found(sandbox)
    assert 0 < len(found(sandbox, limit=100, offset=100)) < 100
    assert found(sandbox, offset=10_000) == []
    assert refused(sandbox, offset=-1)["offset"]["_errors"]


def test_R_CHAR_32_R_LIM_27_a_search_has_at_most_200_characters(sandbox: Client) -> None:
    assert found(sandbox, search="x" * 200) == []
    assert refused(sandbox, search="x" * 201)["search"]["_errors"]


def test_R_CHAR_33_the_search_looks_in_name_description_and_tags(sandbox: Client) -> None:
    assert found(sandbox, search="HARBOUR PIL")[0]["slug"] == "harbour-pilot"
    assert found(sandbox, search="under the keel")[0]["slug"] == "harbour-pilot"
    assert "tide-table-reader" in [row["slug"] for row in found(sandbox, search="潮汐")]
    assert "border-cafe-owner" in [row["slug"] for row in found(sandbox, search="cafe owner")]


def test_R_CHAR_34_a_hashtag_is_a_whole_tag(sandbox: Client) -> None:
    sea = found(sandbox, search="#sea")
    assert sea and all("sea" in row["tags"] for row in sea)
    assert len(sea) < len(found(sandbox, search="sea", limit=100))
    assert found(sandbox, search="#se") == []
    assert [row["slug"] for row in found(sandbox, search="#sea keeper")] == ["lighthouse-keeper"]


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("highestRating", lambda row: row["stats"]["averageRating"]),
        ("highlyRated", lambda row: row["stats"]["averageRating"]),
        ("imports", lambda row: row["stats"]["imports"]),
        ("mostRecent", lambda row: row["createdAt"]),
        ("ratingCount", lambda row: row["stats"]["ratingCount"]),
    ],
)
def test_R_CHAR_35_R_CHAR_36_orders_fall_unless_asked_to_rise(sandbox: Client, order: str, key: Any) -> None:
    falling = [key(row) for row in found(sandbox, sortBy=order, limit=100)]
    assert falling == sorted(falling, reverse=True)
    assert falling == [key(row) for row in found(sandbox, sortBy=order, sortOrder="desc", limit=100)]
    rising = [key(row) for row in found(sandbox, sortBy=order, sortOrder="asc", limit=100)]
    assert rising == sorted(rising)


def test_R_CHAR_35_some_orders_filter_too_and_others_are_refused(sandbox: Client) -> None:
    assert all(row["featured"] for row in found(sandbox, sortBy="featured"))
    assert all(row["stats"]["ratingCount"] >= 2 for row in found(sandbox, sortBy="highlyRatedAndRecent"))
    assert refused(sandbox, sortBy="loudest")["sortBy"]["_errors"]
    assert refused(sandbox, sortBy="imports", sortOrder="up")["sortOrder"]["_errors"]


def test_without_an_order_the_most_imported_come_first(sandbox: Client) -> None:
    imports = [row["stats"]["imports"] for row in found(sandbox, sortOrder="asc")]
    assert imports == sorted(imports, reverse=True)


def test_all_wrong_parameters_are_named_in_one_answer(sandbox: Client) -> None:
    details = refused(sandbox, limit=0, offset=-1, isPro="yes", sortBy="x", search="x" * 300)
    assert set(details) == {"_errors", "limit", "offset", "isPro", "sortBy", "search"}


def test_R_CHAR_38_without_a_key_401(sandbox: Client, bare: httpx.Client) -> None:
    answer = bare.get(f"{sandbox.running.base_url}/characters")
    assert (answer.status_code, set(answer.json())) == (401, {"error"})


def test_R_CHAR_39_a_500_has_the_standard_body(sandbox: Client) -> None:
    sandbox.fault("answer", status=500, path="/characters", times=1)
    answer = sandbox.get("/characters")
    assert (answer.status_code, answer.json()) == (500, {"error": "Unknown error"})
    assert sandbox.get("/characters").status_code == 200


def test_one_character_by_slug_and_by_id(sandbox: Client) -> None:
    row = found(sandbox, search="night editor")[0]
    for name in (row["slug"], row["id"]):
        assert sandbox.get(f"/characters/{name}").json() == {"data": row, "object": "character"}
    assert sandbox.get("/characters/nobody").status_code == 404


def test_R_HDR_21_reviews_are_paged_in_headers_and_body(sandbox: Client) -> None:
    row = max(found(sandbox, limit=100), key=lambda one: one["stats"]["ratingCount"])
    answer = sandbox.get(f"/characters/{row['slug']}/reviews", params={"page": 2, "pageSize": 5})
    body, total = answer.json(), row["stats"]["ratingCount"]
    pages = -(-total // 5)
    assert body["pagination"] == {"page": 2, "pageSize": 5, "total": total, "totalPages": pages}
    assert body["summary"]["totalReviews"] == total
    wanted = {"limit": "5", "page": "2", "total": str(total), "total-pages": str(pages)}
    assert {name: answer.headers[f"x-pagination-{name}"] for name in wanted} == wanted
    everything = sandbox.get(f"/characters/{row['slug']}/reviews", params={"pageSize": 100}).json()["data"]
    assert sum(review["rating"] for review in everything) == row["stats"]["ratingSum"]
    assert all(1 <= review["rating"] <= 5 for review in everything)
    assert sandbox.get(f"/characters/{row['slug']}/reviews", params={"pageSize": 101}).status_code == 400


def test_an_image_is_a_png_that_only_depends_on_the_slug(sandbox: Client, bare: httpx.Client) -> None:
    images = [bare.get(row["photoUrl"]) for row in found(sandbox, limit=30) if row["photoUrl"]]
    drawn = [image for image in images if image.status_code == 200]
    assert all(image.content.startswith(b"\x89PNG\r\n\x1a\n") for image in drawn)
    assert len({image.content for image in drawn}) == len(drawn)
    again = bare.get(str(drawn[0].url))
    assert again.content == drawn[0].content


def test_a_shared_page_is_plain_text(sandbox: Client, bare: httpx.Client) -> None:
    address = next(row["shareUrl"] for row in found(sandbox) if row["shareUrl"] and row["description"])
    answer = bare.get(address)
    assert answer.headers["content-type"].startswith("text/plain")
    assert bare.get(f"{sandbox.running.origin}/c/nobody").status_code == 404
