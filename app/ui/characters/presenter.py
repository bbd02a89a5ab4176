"""What the character browser shows and what its controls mean. QtCore only, no widgets."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.core import time_format
from app.core.problems import Problem, describe
from app.service.characters import Character
from app.service.errors import BadResponse, NotFound, ServiceError
from app.service.wire import ListEnvelope
from app.storage.errors import StorageError
from app.translation import tr
from app.ui.characters.presenter_pages import Pages
from app.ui.characters.state import MAX_TAGS, REVIEWS_AT_ONCE, CharactersState, Filters, ReviewRow, Reviews

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.storage.service_cache import ServiceCache
    from app.storage.settings import SettingsStore

DEBOUNCE_S = 0.3
SHOWN_TAGS = 12
CACHE_KIND = "characters"


class CharactersPresenter(QObject):
    """`state_changed` carries a `CharactersState`. Nothing is asked before `open` is called."""

    state_changed = Signal(object)

    def __init__(
        self,
        current_account: CurrentAccount,
        settings: SettingsStore,
        tasks: TaskScope,
        *,
        debounce_s: float = DEBOUNCE_S,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.current_account = current_account
        self._settings = settings
        self._tasks = tasks
        self._debounce_s = debounce_s
        self._now = now
        self.service_cache: ServiceCache | None = None
        self.state = CharactersState()
        self._asked_as: object = None  # the account whose characters are shown
        self._pages = Pages(self.state.filters)
        self._tag_counts: Counter[str] = Counter()
        current_account.account_changed.connect(self._account_changed)
        current_account.numbers_changed.connect(self._refresh_choices)
        settings.subscribe(lambda _value: self._refresh_choices())
        self._refresh_choices()

    # What the page asks for

    def open(self) -> None:
        """The browser is on screen: ask for the first page unless it is there already."""
        self._refresh_choices()
        if self._asked_as is not self.current_account.service or (not self.state.rows and not self.state.loading):
            self._load_first(wait=False)

    def search(self, text: str) -> None:
        """Search soon; a newer text replaces an older one, waiting or in flight."""
        if text != self.state.filters.search:
            self._filter(replace(self.state.filters, search=text), wait=True)

    def set_filter(self, name: str, value: object) -> None:
        """Change one of `Filters` by name."""
        self._filter(replace(self.state.filters, **{name: value}), wait=False)  # type: ignore[arg-type]  # by name

    def toggle_tag(self, tag: str) -> None:
        """Ask for a tag, or no longer; at most 20 go into one question."""
        tags = self.state.filters.tags
        if tag in tags:
            tags = tuple(each for each in tags if each != tag)
        elif len(tags) < MAX_TAGS:
            tags = (*tags, tag)
        self.set_filter("tags", tags)

    def clear_filters(self) -> None:
        self._filter(self.state.filters.cleared(), wait=False)

    def clear_search(self) -> None:
        self._filter(replace(self.state.filters, search=""), wait=False)

    def load_more(self) -> None:
        """The end of the list is near: ask for the next 50."""
        state = self.state
        if state.rows and not (state.is_complete or state.loading or state.loading_more or state.problem):
            self._tasks.start_unless_running("characters-more", self._more)

    def try_again(self) -> None:
        """After a failure: the page that did not come."""
        if self.state.rows and not self.state.saved_note:
            self._change(problem=None)
            self.load_more()
        else:
            self._load_first(wait=False)

    def select(self, slug: str) -> None:
        """Show the details of one."""
        self._change(selected=slug)

    def load_reviews(self) -> None:
        """What people wrote about the selected one: the first page, then the next. Asked for by the person only."""
        if self.state.selected and not self.state.reviews.loading:
            self._tasks.replace("character-reviews", self._load_reviews, self.state.selected)

    async def _load_reviews(self, slug: str) -> None:
        service = self.current_account.service
        before = self.state.reviews if self.state.reviews.slug == slug else Reviews(slug)
        if service is None:
            self._change(reviews=replace(before, note="The service cannot be asked now."))
            return
        self._change(reviews=replace(before, loading=True, note=""))
        try:
            page = await service.characters.reviews(slug, page=before.pages_read + 1, page_size=REVIEWS_AT_ONCE)
        except NotFound:
            self._change(reviews=replace(before, note="This service keeps no reviews."))
        except ServiceError as error:
            self._change(reviews=replace(before, note=describe(error, subject="").sentence))
        except asyncio.CancelledError:
            self._change(reviews=before)
            raise
        else:
            now = self._now()
            rows = tuple(
                ReviewRow(
                    who=each.username or tr("Someone"),
                    rating=min(5, max(0, each.rating)),
                    when=time_format.when(each.created_at, now) if each.created_at is not None else "",
                    text=" ".join((each.message or "").split()),
                )
                for each in page.reviews
            )
            self._change(
                reviews=Reviews(
                    slug,
                    before.rows + rows,
                    page.total,
                    page.page,
                    has_more=page.page < page.page_count,
                    note="" if before.rows or rows else tr("No reviews yet."),
                )
            )

    def allow_images(self, on: bool) -> None:
        """Whether images are loaded from where their authors put them."""
        self._settings.remember(load_remote_pictures=on)
        self._refresh_choices()

    def picture_url(self, character: Character) -> str:
        """Where to load an image from, "" to draw one.

        The Sandbox's own lie on this computer and need no consent; everybody else's do, and only over https.
        """
        url = character.photo_url or ""
        if not url:
            return ""
        try:
            parts = urlsplit(url)
        except ValueError:
            return ""
        service = self.current_account.service
        if self.current_account.is_sandbox and service is not None:
            own = urlsplit(service.client.base_url)
            return url if (parts.scheme, parts.netloc) == (own.scheme, own.netloc) else ""
        return url if self._settings.value.load_remote_pictures and parts.scheme == "https" else ""

    def model_name(self, character: Character) -> str:
        """The name of the model a character suggests; says so when the account does not have it."""
        model = next((model for model in self.current_account.models if model.id == character.model_id), None)
        if model is not None:
            return model.name
        return (
            tr("{model_id} (not available here)", model_id=character.model_id)
            if character.model_id
            else tr("Your default model")
        )

    # Asking

    def _filter(self, filters: Filters, *, wait: bool) -> None:
        if filters.adult != "hide" and not self._settings.value.show_adult:
            filters = replace(filters, adult="hide")
        if filters == self.state.filters:
            return
        self._change(filters=filters, tags=self._offered_tags(filters))
        self._load_first(wait=wait)

    def _load_first(self, *, wait: bool) -> None:
        self._tasks.cancel("characters-more")
        self._tasks.replace("characters", self._first, self._debounce_s if wait else 0.0)

    async def _first(self, wait_s: float) -> None:
        if wait_s:
            await asyncio.sleep(wait_s)

        filters, service = self.state.filters, self.current_account.service
        self._asked_as = service
        if service is None:
            await self._show_saved(filters)
            if not self.state.rows:  # whether there are any is not known
                self._change(problem=Problem(tr("No account"), tr("Choose the Sandbox or add a key in Settings.")))
            return
        self._change(loading=True, problem=None)
        pages = Pages(filters)
        try:
            rows = await pages.next(service.characters)
        except ServiceError as error:
            await self._show_saved(filters)
            self._change(problem=describe(error, subject=""), loading=False)
            return
        except asyncio.CancelledError:
            self._change(loading=False)
            raise
        self._pages = pages
        self._show(rows, is_complete=pages.is_complete)
        await self._save(filters, rows)

    async def _more(self) -> None:
        pages, service = self._pages, self.current_account.service
        if service is None:
            return
        self._change(loading_more=True, problem=None)
        try:
            rows = await pages.next(service.characters)
        except ServiceError as error:
            self._change(problem=describe(error, subject=""))  # the rows on screen stay: they are still true
        else:
            known = {row.slug for row in self.state.rows}  # the list may have moved between two pages
            fresh = tuple(row for row in rows if row.slug not in known)
            self._count_tags(fresh)
            self._change(
                rows=self.state.rows + fresh,
                is_complete=pages.is_complete,
                tags=self._offered_tags(self.state.filters),
            )
        finally:
            self._change(loading_more=False)

    def _show(self, rows: tuple[Character, ...], *, is_complete: bool, saved_note: str = "") -> None:
        self._count_tags(rows)
        selected = self.state.selected
        if not any(row.slug == selected for row in rows):
            selected = rows[0].slug if rows else ""
        self._change(
            rows=rows,
            selected=selected,
            loading=False,
            is_complete=is_complete,
            saved_note=saved_note,
            tags=self._offered_tags(self.state.filters),
        )

    # The saved first page

    async def _show_saved(self, filters: Filters) -> None:
        """What this account was given last for the same question, so that the browser works with no network."""
        saved = None
        if self.service_cache is not None:
            saved = await self.service_cache.load(self._account_id, CACHE_KIND, filters.key())
        try:
            rows = ListEnvelope.read(Character, {"data": saved.value}).data if saved is not None else ()
        except BadResponse:  # of another version, perhaps
            rows = ()
        if saved is None or not rows:
            self._show((), is_complete=True)
            return
        self._show(
            rows,
            is_complete=True,
            saved_note=tr("Saved {saved_at}", saved_at=time_format.when(saved.saved_at, self._now())),
        )

    async def _save(self, filters: Filters, rows: tuple[Character, ...]) -> None:
        if self.service_cache is None:
            return
        body = [row.model_dump(mode="json", by_alias=True) for row in rows]
        try:
            await self.service_cache.save(self._account_id, CACHE_KIND, filters.key(), body)
        except StorageError:
            return  # a list that is asked for again next time; what matters has its own words for a full disk

    @property
    def _account_id(self) -> str:
        return self.current_account.account.id if self.current_account.account is not None else ""

    # Choices

    def _count_tags(self, rows: Iterable[Character]) -> None:
        for row in rows:
            self._tag_counts.update(tag for tag in row.tags if tag.strip())

    def _offered_tags(self, filters: Filters) -> tuple[str, ...]:
        """The chosen ones, then the commonest seen so far."""
        common = [tag for tag, _ in self._tag_counts.most_common(SHOWN_TAGS) if tag not in filters.tags]
        return (*filters.tags, *common)[: max(SHOWN_TAGS, len(filters.tags))]

    def _account_changed(self) -> None:
        self._tasks.cancel("characters")
        self._tasks.cancel("characters-more")
        self._tag_counts.clear()
        self._asked_as = None
        self._change(rows=(), selected="", is_complete=False, problem=None, saved_note="", tags=(), loading=False)
        self._refresh_choices()

    def _refresh_choices(self) -> None:
        value = self._settings.value
        models = tuple((model.id, model.name) for model in self.current_account.models)
        filters = self.state.filters
        if not value.show_adult and filters.adult != "hide":
            filters = replace(filters, adult="hide")
        changed = filters != self.state.filters
        self._change(
            models=models,
            filters=filters,
            adult_allowed=value.show_adult,
            images_allowed=value.load_remote_pictures or self.current_account.is_sandbox,
        )
        if changed:
            self._load_first(wait=False)

    def _change(self, **changes: Any) -> None:
        state = replace(self.state, **changes)
        if state != self.state:
            self.state = state
            self.state_changed.emit(state)
