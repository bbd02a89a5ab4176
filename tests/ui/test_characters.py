"""The character browser: the real service layer, its presenter and its panes, with a stub socket at the far end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from PySide6.QtCore import QBuffer, QEvent, QIODevice, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.credentials.accounts import Account
from app.service.service import open_service
from app.storage.catalogue import Catalogue
from app.storage.database import Database
from app.storage.settings import SettingsStore
from app.ui.characters.card_delegate import CardDelegate
from app.ui.characters.list_model import CHARACTER_ROLE
from app.ui.characters.page import CharactersPage
from app.ui.characters.pictures import picture_from
from app.ui.characters.presenter import CharactersPresenter
from app.ui.characters.state import MAX_TAGS, Filters
from app.ui.shared.badge import Badge
from app.ui.shared.caller import Caller
from app.ui.shared.tab import Zones
from app.ui.shared.tasks import TaskScope
from app.ui.shared.theme import Theme

LIVE = Account(id="acc", name="Main account", base_url="http://service.test/v1")
SANDBOX = Account(id="box", name="Sandbox", base_url="http://127.0.0.1", kind="sandbox")


def character_body(number: int, **changes: Any) -> dict[str, Any]:
    """A record of `GET /characters` as the service writes it."""
    return {
        "id": f"id-{number}",
        "slug": f"slug-{number}",
        "name": f"Person {number}",
        "description": None if number % 7 == 0 else f"Knows everything about {number}.",
        "author": "k3x9q",
        "adult": False,
        "featured": False,
        "webEnabled": number % 2 == 0,
        "modelId": "plain",
        "tags": ["sea", f"tag-{number % 5}"],
        "photoUrl": f"https://pictures.test/{number}.png",
        "shareUrl": f"https://share.test/{number}",
        "createdAt": "2025-12-20T21:28:08.934Z",
        "updatedAt": "2026-01-09T03:23:53.708Z",
        "stats": {
            "averageRating": 4.7,
            "imports": 1000 - number,
            "ratingCount": 24,
            "ratingSum": 113,
            "userRating": None,
        },
        **changes,
    }


@dataclass
class FakeCatalogue:
    """120 characters behind one path; `refuse` answers the next calls with a status instead."""

    rows: list[dict[str, Any]] = field(default_factory=lambda: [character_body(number) for number in range(120)])
    asked: list[httpx.QueryParams] = field(default_factory=list)
    refuse: list[httpx.Response] = field(default_factory=list)

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.params)
        if self.refuse:
            return self.refuse.pop(0)
        params = request.url.params
        rows = self.rows
        if params.get("search"):
            rows = [row for row in rows if params["search"].lower() in row["name"].lower()]
        for tag in params.get_list("tags"):
            rows = [row for row in rows if tag in row["tags"]]
        start, limit = int(params.get("offset", 0)), int(params["limit"])
        return httpx.Response(200, json={"object": "list", "data": rows[start : start + limit]})


@dataclass
class Browser:
    presenter: CharactersPresenter
    fake: FakeCatalogue
    tasks: TaskScope
    settings: SettingsStore
    caller: Caller

    @property
    def state(self) -> Any:
        return self.presenter.state

    @property
    def slugs(self) -> list[str]:
        return [row.slug for row in self.presenter.state.rows]

    async def idle(self) -> None:
        await self.tasks.idle()


@asynccontextmanager
async def open_browser(
    home: Path, *, account: Account = LIVE, fake: FakeCatalogue | None = None, connected: bool = True
) -> AsyncIterator[Browser]:
    fake = fake or FakeCatalogue()
    crashes: list[Exception] = []
    tasks = TaskScope(crashes.append)
    caller = Caller()
    settings = SettingsStore(home / "settings.json")
    service = open_service(
        "http://service.test/v1", "service", None, lambda exchange: None, transport=httpx.MockTransport(fake.handle)
    )
    database = await Database.open(home / "rialto.sqlite3")
    presenter = CharactersPresenter(caller, settings, tasks, debounce_s=0)
    presenter.catalogue = Catalogue(database)
    try:
        caller.use(account, service if connected else None)
        yield Browser(presenter, fake, tasks, settings, caller)
    finally:
        await tasks.aclose()
        await service.aclose()
        await database.close()
    assert crashes == []


async def test_nothing_is_asked_before_the_browser_is_opened(tmp_home: Path) -> None:
    async with open_browser(tmp_home) as browser:
        await browser.idle()
        assert browser.fake.asked == []
        browser.presenter.open()
        await browser.idle()
        browser.presenter.open()
        await browser.idle()
        assert len(browser.fake.asked) == 1


async def test_pages_of_fifty_until_a_short_one(tmp_home: Path) -> None:
    """R-CHAR-29, R-CHAR-31."""
    async with open_browser(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        for expected in (50, 100, 120):
            assert len(browser.slugs) == expected
            browser.presenter.load_more()
            await browser.idle()
        assert browser.state.is_complete
        assert [params.get("offset", "0") for params in browser.fake.asked] == ["0", "50", "100"]


async def test_a_broken_element_neither_hides_the_list_nor_ends_it(tmp_home: Path) -> None:
    """R-CHAR-40: the page is full even though one of its rows cannot be read."""
    fake = FakeCatalogue()
    fake.rows[3] = {"name": "no slug"}
    async with open_browser(tmp_home, fake=fake) as browser:
        browser.presenter.open()
        await browser.idle()
        assert len(browser.slugs) == 49
        assert not browser.state.is_complete
        browser.presenter.load_more()
        await browser.idle()
        assert browser.fake.asked[-1]["offset"] == "50"


async def test_adult_characters_are_left_out_by_name_until_switched_on(tmp_home: Path) -> None:
    """R-CHAR-26."""
    async with open_browser(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        assert browser.fake.asked[-1]["isAdult"] == "false"
        browser.presenter.set_filter("adult", "only")
        await browser.idle()
        assert len(browser.fake.asked) == 1, "a filter that is not allowed asks nothing"
        browser.settings.change(show_adult=True)
        browser.presenter.set_filter("adult", "only")
        await browser.idle()
        assert browser.fake.asked[-1]["isAdult"] == "true"
        browser.settings.change(show_adult=False)
        await browser.idle()
        assert browser.state.filters.adult == "hide"
        assert browser.fake.asked[-1]["isAdult"] == "false"


async def test_filters_reach_the_wire(tmp_home: Path) -> None:
    """R-CHAR-21, R-CHAR-25, R-CHAR-35, R-CHAR-36."""
    async with open_browser(tmp_home) as browser:
        for name, value in {
            "sort": "highestRating",
            "ascending": True,
            "model_id": "plain",
            "web_only": True,
            "pro_only": True,
            "tags": ("sea", "tag-1"),
        }.items():
            browser.presenter.set_filter(name, value)
        await browser.idle()
        asked = browser.fake.asked[-1]
        assert asked["sortBy"] == "highestRating"
        assert asked["sortOrder"] == "asc"
        assert asked["modelId"] == "plain"
        assert (asked["isWebEnabled"], asked["isPro"]) == ("true", "true")
        assert asked.get_list("tags") == ["sea", "tag-1"]
        assert browser.state.filters.narrowing == 4
        browser.presenter.clear_filters()
        await browser.idle()
        assert browser.state.filters.narrowing == 0


async def test_an_older_answer_is_never_shown(tmp_home: Path) -> None:
    async with open_browser(tmp_home) as browser:
        shown: list[list[str]] = []
        browser.presenter.state_changed.connect(lambda state: shown.append([row.slug for row in state.rows]))
        browser.presenter.search("Person 11")
        browser.presenter.search("Person 77")
        await browser.idle()
        assert next(rows for rows in shown if rows) == ["slug-77"]


async def test_at_most_twenty_tags_go_into_one_question(tmp_home: Path) -> None:
    """R-CHAR-24."""
    async with open_browser(tmp_home) as browser:
        for number in range(MAX_TAGS + 5):
            browser.presenter.toggle_tag(f"t{number}")
        await browser.idle()
        assert len(browser.state.filters.tags) == MAX_TAGS
        browser.presenter.toggle_tag("t0")
        await browser.idle()
        assert "t0" not in browser.state.filters.tags


async def test_a_refusal_is_explained_and_the_rows_stay(tmp_home: Path) -> None:
    """R-CHAR-38."""
    async with open_browser(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        browser.fake.refuse = [httpx.Response(401, json={"error": "Authentication failed"})]
        browser.presenter.load_more()
        await browser.idle()
        assert len(browser.slugs) == 50
        assert browser.state.problem is not None
        browser.presenter.try_again()
        await browser.idle()
        assert len(browser.slugs) == 100
        assert browser.state.problem is None


async def test_the_last_list_is_there_without_a_network(tmp_home: Path) -> None:
    async with open_browser(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
    async with open_browser(tmp_home, connected=False) as offline:
        offline.presenter.open()
        await offline.idle()
        assert len(offline.slugs) == 50
        assert offline.state.saved_note.startswith("Saved")
        assert offline.state.character is not None


async def test_pictures_need_consent_and_https(tmp_home: Path) -> None:
    async with open_browser(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        character = browser.state.rows[0]
        assert browser.presenter.picture_url(character) == ""
        browser.presenter.allow_pictures(True)
        assert browser.presenter.picture_url(character) == "https://pictures.test/0.png"
        plain_http = character.model_copy(update={"photo_url": "http://pictures.test/0.png"})
        assert browser.presenter.picture_url(plain_http) == ""
        local_file = character.model_copy(update={"photo_url": "file:///etc/passwd"})
        assert browser.presenter.picture_url(local_file) == ""


async def test_the_sandbox_shows_its_own_pictures_and_no_others(tmp_home: Path) -> None:
    async with open_browser(tmp_home, account=SANDBOX) as browser:
        browser.presenter.open()
        await browser.idle()
        character = browser.state.rows[0]
        assert browser.presenter.picture_url(character) == ""
        own = character.model_copy(update={"photo_url": "http://service.test/pictures/0.png"})
        assert browser.presenter.picture_url(own) == "http://service.test/pictures/0.png"
        other_port = character.model_copy(update={"photo_url": "http://service.test:81/pictures/0.png"})
        assert browser.presenter.picture_url(other_port) == ""


async def test_another_account_has_other_characters(tmp_home: Path) -> None:
    async with open_browser(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        browser.caller.use(SANDBOX, browser.caller.service)
        assert browser.slugs == []
        browser.presenter.open()
        await browser.idle()
        assert len(browser.slugs) == 50


def test_the_same_question_has_the_same_key() -> None:
    assert Filters(tags=("a", "b")).key() == Filters(tags=("b", "a")).key()
    assert Filters(search="a").key() != Filters(search="b").key()


def test_what_is_no_picture_stays_drawn(qapp: QApplication) -> None:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image = QImage(900, 600, QImage.Format.Format_RGB32)
    image.fill(QColor("#0B666B"))
    image.save(buffer, "PNG")
    picture = picture_from(buffer.data())
    assert picture is not None
    assert picture.width() == picture.height() == 288
    from PySide6.QtCore import QByteArray

    assert picture_from(QByteArray(b"<html>")) is None


@asynccontextmanager
async def open_panes(
    theme: Theme, home: Path, **options: Any
) -> AsyncIterator[tuple[Browser, CharactersPage, QWidget]]:
    async with open_browser(home, **options) as browser:
        page = CharactersPage(theme, browser.presenter, browser.tasks)
        window = QWidget()
        for pane, x, width in ((page.list_pane(), 0, 264), (page.canvas(), 264, 790), (page.inspector(), 1054, 312)):
            pane.setParent(window)
            pane.setGeometry(x, 0, width, 800)
        window.resize(1366, 800)
        window.show()
        page.activated()
        await browser.idle()
        QApplication.processEvents()
        await browser.idle()
        try:
            yield browser, page, window
        finally:
            window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


async def test_r_gen_17_the_list_is_marked_as_a_part_that_may_change(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (_, page, _window):
        (badge,) = [each for each in page.list_pane().findChildren(Badge) if each.text() == "Preview"]
        assert badge.isVisibleTo(page.list_pane())
        assert badge.toolTip() == "This part of the service may change."


async def test_typing_filters_and_enter_starts_a_chat(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _):
        chosen: list[tuple[str, bool]] = []
        page.character_chosen.connect(lambda character, new: chosen.append((character.slug, new)))
        QTest.keyClicks(page.search, "Person 77")
        QTest.keyClick(page.search, Qt.Key.Key_Return)
        await browser.idle()
        assert browser.slugs == ["slug-77"]
        assert page.details.name.text() == "Person 77"
        page.grid.view.setFocus()
        QTest.keyClick(page.grid.view, Qt.Key.Key_Return)
        page.details.use.click()
        assert chosen == [("slug-77", True), ("slug-77", False)]


async def test_scrolling_to_the_end_loads_more_and_stays_there(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _):
        before = len(browser.slugs)
        bar = page.grid.view.verticalScrollBar()
        bar.setValue(bar.maximum())
        at = bar.value()
        await browser.idle()
        QApplication.processEvents()
        assert len(browser.slugs) > before
        assert bar.value() == at


async def test_moving_in_the_grid_shows_the_details(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (_, page, __):
        page.grid.view.setFocus()
        QTest.keyClick(page.grid.view, Qt.Key.Key_Right)
        assert page.details.name.text() == "Person 1"
        QTest.keyClick(page.grid.view, Qt.Key.Key_Down)
        assert page.details.name.text() != "Person 1"


async def test_nothing_found_names_the_search_and_clears_it(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _):
        page.filters.search.setText("#gardning")
        QTest.keyClick(page.search, Qt.Key.Key_Return)
        browser.presenter.set_filter("web_only", True)
        await browser.idle()
        nothing = page.grid._nothing
        assert nothing.isVisible()
        assert "#gardning" in nothing._title.text()
        assert "Adult characters are hidden." in nothing._text.text()
        assert nothing.clear_filters.text() == "Clear 1 filter"
        nothing.clear_search.click()
        nothing.clear_filters.click()
        await browser.idle()
        assert page.filters.search.text() == ""
        assert len(browser.slugs) >= 50


async def test_tags_are_offered_and_toggle(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _):
        pill = next(pill for pill in page.filters._pills() if pill.text() == "tag-1")
        pill.click()
        await browser.idle()
        assert browser.state.filters.tags == ("tag-1",)
        assert all("tag-1" in row.tags for row in browser.state.rows)


async def test_cards_and_lines_show_the_same_rows(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (_, page, window):
        view = page.grid.view
        assert isinstance(view.itemDelegate(), CardDelegate)
        first, second = view.visualRect(view.model().index(0, 0)), view.visualRect(view.model().index(1, 0))
        assert first.top() == second.top()
        page.grid.shape.set_current("list")
        page.grid._reshape("list")
        QApplication.processEvents()
        first, second = view.visualRect(view.model().index(0, 0)), view.visualRect(view.model().index(1, 0))
        assert first.left() == second.left()
        assert not window.grab().isNull()


async def test_rows_are_spoken_whole(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (_, page, __):
        index = page.grid.model.index(2, 0)
        spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
        assert spoken == ("Person 2, rated 4.7 by 24, 998 uses, Knows everything about 2., may use the web")
        assert index.data(CHARACTER_ROLE).slug == "slug-2"


async def test_the_panes_are_reached_where_they_slide_over(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (_, page, __):
        toggled: list[str] = []
        page.connect_zones(lambda: toggled.append("list"), lambda: toggled.append("details"))
        page.set_zones(Zones(list_overlay=True, list_open=False, inspector_overlay=True, inspector_open=False))
        assert page.grid.list_button.isVisible()
        page.grid.list_button.click()
        page.grid.details_button.click()
        assert toggled == ["list", "details"]


@pytest.mark.parametrize("percent", [100, 200])
async def test_controls_stay_inside_their_panes(theme: Theme, tmp_home: Path, percent: int) -> None:
    async with open_panes(theme, tmp_home) as (_, page, window):
        theme.set_text_percent(percent)
        factor = percent / 100
        page.list_pane().setFixedWidth(round(264 * factor))
        page.inspector().setFixedWidth(round(312 * factor))
        QApplication.processEvents()
        for widget, pane in (
            (page.filters.sort, page.filters),
            (page.filters.model, page.filters),
            (page.filters.adult, page.filters),
            (page.details.start, page.details),
            (page.details.photos, page.details),
        ):
            right = widget.mapTo(pane, widget.rect().bottomRight()).x()
            assert right < pane.width(), f"{widget} at {percent} %"
        theme.set_text_percent(100)
        assert window
