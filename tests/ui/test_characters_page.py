"""The panes of the character browser, by mouse and by key."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.service.http.network import Network, NetworkSettings
from app.ui.characters.card_delegate import CardDelegate
from app.ui.characters.list_model import CHARACTER_ROLE
from app.ui.characters.page import CharactersPage
from app.ui.kit.tab import Zones
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from tests.kit.characters import SANDBOX, CharactersHarness, FakeServiceCache, open_characters
from tests.kit.waiting import until


@asynccontextmanager
async def open_panes(
    theme: Theme, home: Path, **options: Any
) -> AsyncIterator[tuple[CharactersHarness, CharactersPage, QWidget]]:
    async with open_characters(home, **options) as browser:
        page = CharactersPage(theme, browser.presenter, browser.tasks, network=Network(NetworkSettings("none")))
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
        assert badge.toolTip() == "Beta: this part of the service may change."


async def test_typing_filters_and_enter_starts_a_chat(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _):
        chosen: list[tuple[str, bool]] = []
        page.character_chosen.connect(lambda character, new: chosen.append((character.slug, new)))
        QTest.keyClicks(page.search, "Person 77")
        QTest.keyClick(page.search, Qt.Key.Key_Return)
        await browser.idle()
        assert browser.slugs == ["slug-77"]
        assert page.details.name.text() == "Person 77"
        await until(lambda: chosen)
        page.details.use.click()
        assert chosen == [("slug-77", True), ("slug-77", False)]


async def test_who_looks_while_the_account_changes_sees_the_characters_of_the_new_one(
    theme: Theme, tmp_home: Path
) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, window):
        browser.current_account.use(SANDBOX, browser.current_account.service)
        await browser.idle()
        assert len(browser.slugs) == 50
        assert page.grid.view.model().rowCount() == 50
        asked = len(browser.fake.asked)
        window.hide()
        browser.current_account.use(SANDBOX, browser.current_account.service)
        await browser.idle()
        assert len(browser.fake.asked) == asked, "nobody looks"


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


async def test_a_page_that_cannot_be_read_is_a_refusal_and_not_an_empty_list(theme: Theme, tmp_home: Path) -> None:
    for rows in ([None, 7, "x"], "none", {"slug": "a"}):
        fake = FakeServiceCache(refuse=[httpx.Response(200, json={"object": "list", "data": rows})])
        async with open_panes(theme, tmp_home, fake=fake) as (browser, page, _):
            assert not page.grid._nothing.isVisible()
            assert page.grid._problem.isVisible()
            assert browser.state.problem is not None
            assert "whether it was charged" not in browser.state.problem.sentence


async def test_tags_are_offered_and_toggle(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _):
        pill = next(pill for pill in page.filters._pills if pill.text() == "tag-1")
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
        assert spoken == ("Person 2, rated 4.7 by 24, 998 uses, Knows everything about 2., web access")
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
