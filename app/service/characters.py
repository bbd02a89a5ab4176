"""Public characters: `GET /characters` (a preview; the shape may change), one of them, and what people say of one.

Source: service specification, characters (R-CHAR-01..40).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote

from pydantic import Field

from app.service.calls import Call, limit, query
from app.service.client import ServiceClient
from app.service.retry import CallKind
from app.service.wire import ListEnvelope, Name, WireModel, read_model
from app.translation import tr

MAX_SEARCH_CHARS = 200
MAX_ITEMS = 20
MAX_ITEM_CHARS = 100
MAX_MODEL_ID_CHARS = 200
MAX_PAGE_ROWS = 100
DEFAULT_PAGE_ROWS = 50
SORTS = (
    "featured",
    "highestRating",
    "highlyRated",
    "highlyRatedAndRecent",
    "imports",
    "mostRecent",
    "ratingCount",
)


class CharacterStats(WireModel):
    average_rating: float = Field(default=0, alias="averageRating")
    imports: int = 0
    rating_count: int = Field(default=0, alias="ratingCount")
    rating_sum: float = Field(default=0, alias="ratingSum")
    user_rating: float | None = Field(default=None, alias="userRating")


class Character(WireModel):
    """Somebody to talk to. All text is its author's."""

    slug: str = Field(min_length=1)  # what a chat request sends as `character_slug`
    id: str = ""
    name: Name = ""
    description: str | None = None
    author: str = ""  # an anonymised id
    adult: bool = False
    featured: bool = False
    web_enabled: bool = Field(default=False, alias="webEnabled")
    model_id: str = Field(default="", alias="modelId")  # a suggestion; may be missing from the model list
    tags: tuple[str, ...] = ()
    photo_url: str | None = Field(default=None, alias="photoUrl")
    share_url: str | None = Field(default=None, alias="shareUrl")
    created_at: datetime | None = Field(default=None, alias="createdAt")
    updated_at: datetime | None = Field(default=None, alias="updatedAt")
    stats: CharacterStats = Field(default_factory=CharacterStats)


class Review(WireModel):
    id: str = ""
    rating: int = 0  # 1 to 5
    message: str | None = None
    username: Name = ""
    locale: str | None = None
    is_owner: bool = Field(default=False, alias="isOwner")
    created_at: datetime | None = Field(default=None, alias="createdAt")


@dataclass(frozen=True, slots=True)
class ReviewPage:
    reviews: tuple[Review, ...]
    page: int  # counted from 1
    page_count: int
    total: int


@dataclass(frozen=True, slots=True)
class CharactersQuery:
    """Which characters, in which order, from which row. Everything left at its default is not sent.

    `is_adult`: None leaves adult characters out, True shows only them. `search` also takes `#tag`.
    """

    search: str = ""
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    model_ids: tuple[str, ...] = ()
    is_adult: bool | None = None
    is_pro: bool | None = None
    is_web_enabled: bool | None = None
    sort_by: str | None = None  # one of SORTS
    ascending: bool = False
    limit: int = DEFAULT_PAGE_ROWS  # rows of a page, 1 to 100
    offset: int = field(default=0)

    def to_params(self) -> dict[str, object]:
        """The query as the wire names it. Raises `LimitExceeded`."""
        self._check()
        return {
            "search": self.search,
            "categories": self.categories,
            "tags": self.tags,
            "modelId": self.model_ids,
            "isAdult": self.is_adult,
            "isPro": self.is_pro,
            "isWebEnabled": self.is_web_enabled,
            "sortBy": self.sort_by,
            "sortOrder": "asc" if self.ascending else None,
            "limit": self.limit,
            "offset": self.offset or None,
        }

    def _check(self) -> None:
        limit(
            len(self.search) <= MAX_SEARCH_CHARS,
            "search",
            str(MAX_SEARCH_CHARS),
            tr(
                "Up to {max_search_chars} characters. This search has {count}.",
                max_search_chars=MAX_SEARCH_CHARS,
                count=len(self.search),
            ),
        )
        for name, items, max_chars in (
            ("categories", self.categories, MAX_ITEM_CHARS),
            ("tags", self.tags, MAX_ITEM_CHARS),
            ("modelId", self.model_ids, MAX_MODEL_ID_CHARS),
        ):
            # The service cuts at commas before it counts.
            count = sum(len(item.split(",")) for item in items)
            limit(
                count <= MAX_ITEMS,
                name,
                str(MAX_ITEMS),
                tr("Up to {max_items} at once. This is {count}.", max_items=MAX_ITEMS, count=count),
            )
            longest = max((len(item) for item in items), default=0)
            limit(
                longest <= max_chars,
                name,
                str(max_chars),
                tr("Up to {max_chars} characters each.", max_chars=max_chars),
            )
        limit(
            self.sort_by is None or self.sort_by in SORTS,
            "sortBy",
            ", ".join(SORTS),
            tr("Unknown sort order “{sort_by}”.", sort_by=self.sort_by),
        )
        limit(
            1 <= self.limit <= MAX_PAGE_ROWS,
            "limit",
            tr("1 to {max_page_rows}", max_page_rows=MAX_PAGE_ROWS),
            tr("1 to {max_page_rows} rows per page.", max_page_rows=MAX_PAGE_ROWS),
        )
        limit(self.offset >= 0, "offset", "0", tr("The offset must be 0 or more."))


class CharactersResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def search(self, wanted: CharactersQuery | None = None, *, background: bool = False) -> tuple[Character, ...]:
        """Return one page in the service's order; a page shorter than `limit` is the last. Raises `ServiceError`."""
        return (await self.page(wanted, background=background)).data

    async def page(self, wanted: CharactersQuery | None = None, *, background: bool = False) -> ListEnvelope[Character]:
        """Like `search`, with the number of rows that could not be read: a page is full when both together are."""
        params = (wanted or CharactersQuery()).to_params()
        content = await self._client.get("/characters", params, resource="characters", background=background)
        return ListEnvelope.read(Character, content)

    async def one(self, slug: str) -> Character:
        """Return one character by slug or id. Raises `NotFound` and other `ServiceError`s."""
        content = await self._client.get(f"/characters/{_segment(slug)}", resource="characters")
        inner = content.get("data") if isinstance(content, Mapping) else None
        return read_model(Character, inner if isinstance(inner, Mapping) else content)

    async def reviews(self, slug: str, *, page: int = 1, page_size: int = 20) -> ReviewPage:
        """Return one page of reviews. Raises `NotFound` where the service has none, and other `ServiceError`s."""
        limit(page >= 1, "page", "1", tr("Page numbers start at 1."))
        limit(
            1 <= page_size <= MAX_PAGE_ROWS,
            "pageSize",
            tr("1 to {max_page_rows}", max_page_rows=MAX_PAGE_ROWS),
            tr("1 to 100 reviews per page."),
        )
        params = query({"page": page, "pageSize": page_size})
        call = Call("GET", f"/characters/{_segment(slug)}/reviews", CallKind.READ, "characters", params)
        async with self._client.fetch(call) as answer:
            envelope = ListEnvelope.read(Review, answer.json())
            info = answer.info
        told = envelope.content.get("pagination")
        pagination = told if isinstance(told, Mapping) else {}
        return ReviewPage(
            reviews=envelope.data,
            page=info.page or _count(pagination.get("page")) or page,
            page_count=info.page_count or _count(pagination.get("totalPages")) or 1,
            total=info.page_total or _count(pagination.get("total")) or len(envelope.data),
        )


def _segment(slug: str) -> str:
    limit(bool(slug.strip()) and slug not in (".", ".."), "slug", "1", tr("A character needs its slug."))
    return quote(slug, safe="")


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
