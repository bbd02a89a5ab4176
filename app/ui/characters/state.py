"""What the character browser shows, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from app.core import number_format
from app.service.characters import CharactersQuery
from app.translation import tr, tr_n

if TYPE_CHECKING:
    from app.core.problems import Problem
    from app.service.characters import Character

PAGE_ROWS = 50
MAX_CATEGORY_CHARS = 100
MAX_TAGS = 20  # the service takes no more in one question
MAX_MODELS = 20  # likewise
MAX_SEARCH_CHARS = 200
REVIEWS_AT_ONCE = 20

# The service's orders, by the words of the menu.
SORTS: Mapping[str, str] = {
    "highlyRatedAndRecent": tr("Highly rated and recent"),
    "highlyRated": tr("Highly rated"),
    "highestRating": tr("Highest rating"),
    "ratingCount": tr("Most ratings"),
    "imports": tr("Most used"),
    "mostRecent": tr("Most recent"),
    "featured": tr("Featured"),
}
DEFAULT_SORT = "imports"
Adult = Literal["hide", "show", "only"]


@dataclass(frozen=True, slots=True)
class Filters:
    """What is asked for. `adult` is "hide" unless the person switched adult characters on and chose otherwise."""

    search: str = ""
    sort: str = DEFAULT_SORT
    ascending: bool = False
    model_ids: tuple[str, ...] = ()
    adult: Adult = "hide"
    web_only: bool = False
    pro_only: bool = False
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    @property
    def narrowing(self) -> int:
        """How many filters besides the search leave characters out."""
        own = (self.model_ids, self.adult == "only", self.web_only, self.pro_only, self.tags, self.categories)
        return sum(bool(each) for each in own)

    def cleared(self) -> Filters:
        """The same search and order, with nothing left out."""
        return Filters(search=self.search, sort=self.sort, ascending=self.ascending)

    def query(self, offset: int, *, is_adult: bool = False) -> CharactersQuery:
        """One page of 50 from row `offset`: adult characters or the others, said by name whatever the default is."""
        return CharactersQuery(
            search=self.search.strip()[:MAX_SEARCH_CHARS],
            tags=self.tags[:MAX_TAGS],
            categories=self.categories[:MAX_TAGS],
            model_ids=self.model_ids[:MAX_MODELS],
            is_adult=is_adult,
            is_pro=True if self.pro_only else None,
            is_web_enabled=True if self.web_only else None,
            sort_by=self.sort,
            ascending=self.ascending,
            limit=PAGE_ROWS,
            offset=offset,
        )

    def key(self) -> str:
        """A text that is the same for the same question, for the saved first page."""
        return repr(replace(self, tags=tuple(sorted(self.tags))))


def categories_of(text: str) -> tuple[str, ...]:
    """Names of categories as typed, with commas between them: at most 20, each at most 100 characters."""
    names = (" ".join(each.split())[:MAX_CATEGORY_CHARS] for each in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))[:MAX_TAGS]


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """What somebody wrote about a character. All of it is a stranger's text."""

    who: str
    rating: int  # 1 to 5, 0 when it is not stated
    when: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Reviews:
    """The reviews of one character. `note` stands in their place while there are none to show."""

    slug: str = ""
    rows: tuple[ReviewRow, ...] = ()
    total: int = 0
    pages_read: int = 0
    has_more: bool = False
    loading: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class CharactersState:
    """`rows` are those that came; `is_complete`: the service has no more; `saved_note` is set while they are old."""

    rows: tuple[Character, ...] = ()
    filters: Filters = field(default_factory=Filters)
    selected: str = ""  # slug
    loading: bool = False
    loading_more: bool = False
    is_complete: bool = False
    problem: Problem | None = None  # of the first page, or of the next one when there are rows
    saved_note: str = ""
    tags: tuple[str, ...] = ()  # offered as filters: those of the rows, the chosen ones first
    models: tuple[tuple[str, str], ...] = ()  # (id, name) offered as a filter
    reviews: Reviews = field(default_factory=Reviews)
    adult_allowed: bool = False
    images_allowed: bool = False

    @property
    def character(self) -> Character | None:
        """The one whose details are shown."""
        return next((row for row in self.rows if row.slug == self.selected), None)

    @property
    def title(self) -> str:
        return (
            tr("Results for “{search}”", search=self.filters.search.strip())
            if self.filters.search.strip()
            else SORTS[self.filters.sort]
        )


def uses_text(count: int) -> str:
    """`12.4K uses`."""
    return tr_n("{n} use", "{n} uses", count, n=number_format.short_count(count))


def spoken(character: Character) -> str:
    """A card as a screen reader says it."""
    stats = character.stats
    parts = [character.name or character.slug]
    parts += ["adult"] if character.adult else []
    if stats.rating_count:
        parts.append(
            tr(
                "rated {rating} by {rating_count}",
                rating=number_format.rating(stats.average_rating),
                rating_count=number_format.count(stats.rating_count),
            )
        )
    parts.append(uses_text(stats.imports))
    parts += [character.description] if character.description else []
    parts += [tr("web access")] if character.web_enabled else []
    return ", ".join(parts)
