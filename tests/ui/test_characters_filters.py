"""The filters of the character browser that take more than one question: adult among the others, several models."""

from __future__ import annotations

from pathlib import Path

import httpx
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.service.models import Model
from app.ui.kit.theme import Theme
from tests.kit.characters import FakeServiceCache, character_body, open_characters
from tests.kit.chat import model_body
from tests.kit.settings import change_settings
from tests.ui.test_characters_page import open_panes


def mixed() -> FakeServiceCache:
    """200 characters by uses, every third of them adult."""
    return FakeServiceCache(rows=[character_body(number, adult=number % 3 == 0) for number in range(200)])


def _focused() -> QWidget:
    focused = QApplication.focusWidget()
    assert focused is not None
    return focused


async def test_adult_characters_are_shown_among_the_others_in_one_order(tmp_home: Path) -> None:
    """R-CHAR-26: the service has no word for both, so both are asked for and put in the order of the question."""
    async with open_characters(tmp_home, fake=mixed()) as browser:
        change_settings(browser.settings, show_adult=True)
        browser.presenter.set_filter("adult", "show")
        await browser.idle()
        assert {params["isAdult"] for params in browser.fake.asked} == {"false", "true"}
        while not browser.state.is_complete:
            browser.presenter.load_more()
            await browser.idle()
        assert browser.slugs == [f"slug-{number}" for number in range(200)]
        offsets = [(params["isAdult"], params.get("offset", "0")) for params in browser.fake.asked]
        assert len(offsets) == len(set(offsets)), "no page is asked for twice"


async def test_a_list_that_fails_in_the_middle_goes_on_where_it_was(tmp_home: Path) -> None:
    async with open_characters(tmp_home, fake=mixed()) as browser:
        change_settings(browser.settings, show_adult=True)
        browser.presenter.set_filter("adult", "show")
        await browser.idle()
        browser.fake.refuse = [httpx.Response(401, json={"error": "Authentication failed"})]
        browser.presenter.load_more()
        await browser.idle()
        assert browser.state.problem is not None
        while not browser.state.is_complete:
            browser.presenter.try_again()
            await browser.idle()
        assert browser.slugs == [f"slug-{number}" for number in range(200)]


async def test_all_three_states_are_reached_with_the_arrow_keys_once_allowed(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home, fake=mixed()) as (browser, page, window):
        change_settings(browser.settings, show_adult=True)
        await browser.idle()
        window.activateWindow()
        page.filters.search.setFocus()
        while not page.filters.adult.isAncestorOf(_focused()):
            QTest.keyClick(_focused(), Qt.Key.Key_Tab)
        seen = []
        for _ in range(2):
            QTest.keyClick(_focused(), Qt.Key.Key_Right)
            await browser.idle()
            seen.append((browser.state.filters.adult, any(row.adult for row in browser.state.rows)))
        assert seen == [("show", True), ("only", True)]
        assert all(row.adult for row in browser.state.rows)
        change_settings(browser.settings, show_adult=False)
        await browser.idle()
        assert browser.state.filters.adult == "hide"
        assert not any(row.adult for row in browser.state.rows)


async def test_several_models_are_ticked_by_the_keyboard_alone_r_char_24_r_char_25(
    theme: Theme, tmp_home: Path
) -> None:
    fake = FakeServiceCache(
        rows=[character_body(number, modelId=("plain", "other", "third")[number % 3]) for number in range(30)]
    )
    names = (("plain", "Plain"), ("other", "Other"), ("third", "Third"))
    async with open_panes(theme, tmp_home, fake=fake) as (browser, page, window):
        browser.current_account.set_numbers(models=tuple(Model.model_validate(model_body(*each)) for each in names))
        window.activateWindow()
        field = page.filters.model
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_Return)
        ticks = field.list
        assert ticks is not None and ticks.isVisible()
        QTest.keyClick(ticks.search, Qt.Key.Key_Return)  # the first
        QTest.keyClick(ticks.search, Qt.Key.Key_Down)
        QTest.keyClick(ticks.search, Qt.Key.Key_Space)
        await browser.idle()
        assert browser.state.filters.model_ids == ("plain", "other")
        assert field.currentText() == "2 models"
        assert browser.fake.asked[-1].get_list("modelId") == ["plain", "other"]
        assert {row.model_id for row in browser.state.rows} == {"plain", "other"}
        QTest.keyClicks(ticks.search, "thi")
        QTest.keyClick(ticks.search, Qt.Key.Key_Return)
        await browser.idle()
        assert browser.state.filters.model_ids == ("plain", "other", "third")
        QTest.keyClick(ticks.search, Qt.Key.Key_Escape)
        QTest.keyClick(ticks.search, Qt.Key.Key_Escape)
        assert not ticks.isVisible()
        browser.presenter.clear_filters()
        await browser.idle()
        assert field.currentText() == "Any model"
        assert "modelId" not in browser.fake.asked[-1]


async def test_no_more_models_are_taken_than_the_service_takes(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _window):
        models = tuple(Model.model_validate(model_body(f"m{number}", f"Model {number}")) for number in range(25))
        browser.current_account.set_numbers(models=models)
        field = page.filters.model
        field.showPopup()
        assert field.list is not None
        for _ in models:
            QTest.keyClick(field.list.search, Qt.Key.Key_Return)
            QTest.keyClick(field.list.search, Qt.Key.Key_Down)
        await browser.idle()
        assert len(browser.state.filters.model_ids) == 20
        field.list.close()
