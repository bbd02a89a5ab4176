"""The character browser without its panes: what it asks for, and what it does with the answers."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from app.ui.characters.character_images import square_image
from app.ui.characters.presenter import CACHE_KIND
from app.ui.characters.state import MAX_TAGS, Filters
from tests.kit.characters import SANDBOX, FakeServiceCache, open_characters
from tests.kit.settings import change_settings


async def test_nothing_is_asked_before_the_browser_is_opened(tmp_home: Path) -> None:
    async with open_characters(tmp_home) as browser:
        await browser.idle()
        assert browser.fake.asked == []
        browser.presenter.open()
        await browser.idle()
        browser.presenter.open()
        await browser.idle()
        assert len(browser.fake.asked) == 1


async def test_pages_of_fifty_until_a_short_one(tmp_home: Path) -> None:
    """R-CHAR-29, R-CHAR-31."""
    async with open_characters(tmp_home) as browser:
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
    fake = FakeServiceCache()
    fake.rows[3] = {"name": "no slug"}
    async with open_characters(tmp_home, fake=fake) as browser:
        browser.presenter.open()
        await browser.idle()
        assert len(browser.slugs) == 49
        assert not browser.state.is_complete
        browser.presenter.load_more()
        await browser.idle()
        assert browser.fake.asked[-1]["offset"] == "50"


async def test_adult_characters_are_left_out_by_name_until_switched_on(tmp_home: Path) -> None:
    """R-CHAR-26."""
    async with open_characters(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        assert browser.fake.asked[-1]["isAdult"] == "false"
        browser.presenter.set_filter("adult", "only")
        await browser.idle()
        assert len(browser.fake.asked) == 1, "a filter that is not allowed asks nothing"
        change_settings(browser.settings, show_adult=True)
        browser.presenter.set_filter("adult", "only")
        await browser.idle()
        assert browser.fake.asked[-1]["isAdult"] == "true"
        change_settings(browser.settings, show_adult=False)
        await browser.idle()
        assert browser.state.filters.adult == "hide"
        assert browser.fake.asked[-1]["isAdult"] == "false"


async def test_filters_reach_the_wire(tmp_home: Path) -> None:
    """R-CHAR-21, R-CHAR-25, R-CHAR-35, R-CHAR-36."""
    async with open_characters(tmp_home) as browser:
        for name, value in {
            "sort": "highestRating",
            "ascending": True,
            "model_ids": ("plain", "other"),
            "web_only": True,
            "pro_only": True,
            "tags": ("sea", "tag-1"),
        }.items():
            browser.presenter.set_filter(name, value)
        await browser.idle()
        asked = browser.fake.asked[-1]
        assert asked["sortBy"] == "highestRating"
        assert asked["sortOrder"] == "asc"
        assert asked.get_list("modelId") == ["plain", "other"]
        assert (asked["isWebEnabled"], asked["isPro"]) == ("true", "true")
        assert asked.get_list("tags") == ["sea", "tag-1"]
        assert browser.state.filters.narrowing == 4
        browser.presenter.clear_filters()
        await browser.idle()
        assert browser.state.filters.narrowing == 0


async def test_an_older_answer_is_never_shown(tmp_home: Path) -> None:
    async with open_characters(tmp_home) as browser:
        shown: list[list[str]] = []
        browser.presenter.state_changed.connect(lambda state: shown.append([row.slug for row in state.rows]))
        browser.presenter.search("Person 11")
        browser.presenter.search("Person 77")
        await browser.idle()
        assert next(rows for rows in shown if rows) == ["slug-77"]


async def test_at_most_twenty_tags_go_into_one_question(tmp_home: Path) -> None:
    """R-CHAR-24."""
    async with open_characters(tmp_home) as browser:
        for number in range(MAX_TAGS + 5):
            browser.presenter.toggle_tag(f"t{number}")
        await browser.idle()
        assert len(browser.state.filters.tags) == MAX_TAGS
        browser.presenter.toggle_tag("t0")
        await browser.idle()
        assert "t0" not in browser.state.filters.tags


async def test_a_refusal_is_explained_and_the_rows_stay(tmp_home: Path) -> None:
    """R-CHAR-38."""
    async with open_characters(tmp_home) as browser:
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
    async with open_characters(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
    async with open_characters(tmp_home, connected=False) as offline:
        offline.presenter.open()
        await offline.idle()
        assert len(offline.slugs) == 50
        assert offline.state.saved_note.startswith("Saved")
        assert offline.state.character is not None


async def test_a_page_that_was_never_read_is_not_called_empty(tmp_home: Path) -> None:
    async with open_characters(tmp_home, connected=False) as offline:
        for saved in (None, "x", [{"name": "no slug"}]):
            if saved is not None:
                await offline.presenter.service_cache.save("acc", CACHE_KIND, offline.state.filters.key(), saved)
            offline.presenter.try_again()
            await offline.idle()
            assert offline.slugs == []
            assert offline.state.problem is not None


async def test_images_need_consent_and_https(tmp_home: Path) -> None:
    async with open_characters(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        character = browser.state.rows[0]
        assert browser.presenter.picture_url(character) == ""
        browser.presenter.allow_images(True)
        assert browser.presenter.picture_url(character) == "https://pictures.test/0.png"
        plain_http = character.model_copy(update={"photo_url": "http://pictures.test/0.png"})
        assert browser.presenter.picture_url(plain_http) == ""
        local_file = character.model_copy(update={"photo_url": "file:///etc/passwd"})
        assert browser.presenter.picture_url(local_file) == ""


async def test_the_sandbox_shows_its_own_images_and_no_others(tmp_home: Path) -> None:
    async with open_characters(tmp_home, account=SANDBOX) as browser:
        browser.presenter.open()
        await browser.idle()
        character = browser.state.rows[0]
        assert browser.presenter.picture_url(character) == ""
        own = character.model_copy(update={"photo_url": "http://service.test/pictures/0.png"})
        assert browser.presenter.picture_url(own) == "http://service.test/pictures/0.png"
        other_port = character.model_copy(update={"photo_url": "http://service.test:81/pictures/0.png"})
        assert browser.presenter.picture_url(other_port) == ""


async def test_another_account_has_other_characters(tmp_home: Path) -> None:
    async with open_characters(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        browser.current_account.use(SANDBOX, browser.current_account.service)
        assert browser.slugs == []
        browser.presenter.open()
        await browser.idle()
        assert len(browser.slugs) == 50


def test_the_same_question_has_the_same_key() -> None:
    assert Filters(tags=("a", "b")).key() == Filters(tags=("b", "a")).key()
    assert Filters(search="a").key() != Filters(search="b").key()


def test_what_is_no_image_stays_drawn(qapp: QApplication) -> None:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image = QImage(900, 600, QImage.Format.Format_RGB32)
    image.fill(QColor("#0B666B"))
    image.save(buffer, "PNG")
    picture = square_image(bytes(buffer.data().data()))
    assert picture.width() == picture.height() == 288
    assert square_image(b"<html>").isNull()


@pytest.mark.parametrize("form", ["svg", "bmp", "tiff"])
def test_only_formats_that_sites_use_are_decoded(form: str, qapp: QApplication) -> None:
    data = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>'
    if form != "svg":
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image = QImage(40, 40, QImage.Format.Format_RGB32)
        image.fill(QColor("#0B666B"))
        assert image.save(buffer, form)
        data = bytes(buffer.data().data())
    assert not QImage.fromData(data).isNull()  # Qt itself would
    assert square_image(data).isNull()
