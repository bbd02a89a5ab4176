"""Reviews, categories and tags of characters, and images that are kept on the disk."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core.call_log import CallLog
from app.core.tasks import TaskScope
from app.service.http.network import Network, NetworkSettings
from app.ui.characters.character_images import MAX_BYTES, CharacterImages
from app.ui.characters.state import MAX_TAGS, Filters, categories_of
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.label import Label
from tests.kit.characters import open_characters
from tests.ui.test_characters_page import open_panes


def reviews(page: int, pages: int, *texts: str) -> httpx.Response:
    rows = [
        {
            "id": f"r{page}-{number}",
            "rating": 5,
            "username": "k3x9q",
            "message": text,
            "createdAt": "2026-01-01T00:00:00Z",
        }
        for number, text in enumerate(texts)
    ]
    pagination = {"page": page, "pageSize": 20, "total": 3, "totalPages": pages}
    return httpx.Response(200, json={"object": "list", "data": rows, "pagination": pagination})


async def test_reviews_are_read_by_a_press_and_page_by_page(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _window):
        asked = len(browser.fake.asked)
        box = page.details.reviews
        assert box.more.text() == "Show reviews"
        assert len(browser.fake.asked) == asked, "nothing is asked before somebody wants to read them"
        browser.fake.refuse = [reviews(1, 2, "Kind and <b>patient</b>"), reviews(2, 2, "Good")]
        QTest.keyClick(box.more, Qt.Key.Key_Space)
        await browser.idle()
        QApplication.processEvents()
        texts = [label.text() for label in box.findChildren(Label)]
        assert "Kind and <b>patient</b>" in texts
        assert box.more.text() == "More reviews"
        box.more.click()
        await browser.idle()
        assert [row.text for row in browser.state.reviews.rows] == ["Kind and <b>patient</b>", "Good"]
        assert not box.more.isVisible()
        browser.presenter.select("slug-2")
        assert box.more.text() == "Show reviews"
        assert box.more.isVisible()


async def test_who_asks_for_reviews_by_key_stays_below_the_character(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, window):
        window.activateWindow()
        box = page.details.reviews
        box.more.setFocus()
        browser.fake.refuse = [reviews(1, 2, "Kind", "Slow"), reviews(2, 2, "Good")]
        for first in ("Kind", "Good"):
            box.more.setFocus()
            QTest.keyClick(box.more, Qt.Key.Key_Space)
            await browser.idle()
            reached = QApplication.focusWidget()
            assert reached is not None
            assert reached.accessibleName().endswith(first)
        QTest.keyClick(box.reviews[2], Qt.Key.Key_Up)
        assert box.reviews[1].hasFocus()
        browser.presenter.select("slug-2")
        box.more.setFocus()
        browser.fake.refuse = [reviews(1, 1)]
        QTest.keyClick(box.more, Qt.Key.Key_Space)
        await browser.idle()
        assert box.isAncestorOf(QApplication.focusWidget()), "on the words that nobody has written"
        assert not box.more.isVisible()


async def test_a_service_without_reviews_says_so(tmp_home: Path) -> None:
    async with open_characters(tmp_home) as browser:
        browser.presenter.open()
        await browser.idle()
        browser.fake.refuse = [httpx.Response(404, json={"error": "Not found"})]
        browser.presenter.load_reviews()
        await browser.idle()
        assert browser.state.reviews.note == "This service keeps no reviews."
        browser.fake.refuse = [reviews(1, 1)]
        browser.presenter.load_reviews()
        await browser.idle()
        assert browser.state.reviews.note == "No reviews yet."


async def test_categories_reach_the_wire_one_by_one_r_char_22(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _window):
        field = page.filters.categories
        QTest.keyClicks(field, "Sea life,  Advice , sea life,")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await browser.idle()
        assert browser.fake.asked[-1].get_list("categories") == ["Sea life", "Advice", "sea life"]
        assert browser.state.filters.narrowing == 1
        browser.presenter.clear_filters()
        await browser.idle()
        assert field.text() == ""


def test_categories_keep_to_the_limits_of_the_service_r_char_23_r_char_24() -> None:
    made = categories_of(",".join([f"{number} " + "x" * 200 for number in range(30)]))
    assert len(made) == MAX_TAGS
    assert max(map(len, made)) == 100
    assert Filters(categories=made).query(0).categories == made


async def test_a_tag_among_the_details_narrows_the_list_r_char_17(theme: Theme, tmp_home: Path) -> None:
    async with open_panes(theme, tmp_home) as (browser, page, _window):
        page.details.tag_chosen.emit("tag-1")
        await browser.idle()
        assert browser.fake.asked[-1].get_list("tags") == ["tag-1"]


# -- images on the disk ---------------------------------------------------------------------------------------------


def png() -> bytes:
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs want bytes for the name of the format
    return bytes(content.data())


@pytest.fixture
def site(qapp: QApplication) -> Iterator[tuple[str, list[str]]]:
    """A server with one image, and the paths that it was asked for."""
    asked: list[str] = []
    image = png()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(image)))
            self.send_header("Cache-Control", "max-age=3600")
            self.end_headers()
            self.wfile.write(image)

        def log_message(self, *_: object) -> None:
            """Say nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/p.png", asked
    server.shutdown()
    server.server_close()


STRAIGHT = Network(NetworkSettings("none"))


async def shown(images: CharacterImages, url: str) -> None:
    images.get(url)
    async with asyncio.timeout(60):
        while images.get(url) is None:
            await asyncio.sleep(0.005)


async def test_an_image_is_fetched_once_and_deleted_with_the_consent(
    site: tuple[str, list[str]], tmp_path: Path, tasks: TaskScope
) -> None:
    url, asked = site
    for _ in range(2):  # two runs of the program
        images = CharacterImages(STRAIGHT, tasks, cache=tmp_path / "pictures")
        await shown(images, url)
        await images.aclose()
    assert len(asked) == 1
    images = CharacterImages(STRAIGHT, tasks, cache=tmp_path / "pictures")
    images.forget_all()
    await tasks.idle()
    assert list((tmp_path / "pictures").iterdir()) == []
    await shown(images, url)
    assert len(asked) == 2
    await images.aclose()


async def test_an_image_comes_through_the_proxy_and_its_host_is_on_the_list(tasks: TaskScope) -> None:
    """The author of a character must not learn the address of a reader behind a proxy."""
    seen: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        body = png()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as proxy:
        port = proxy.sockets[0].getsockname()[1]
        settings = NetworkSettings("manual", proxy_host="127.0.0.1", proxy_port=port)
        log = CallLog(lambda _account: "")
        images = CharacterImages(Network(settings), tasks, asked=lambda host: log.note_host(host, "images"))
        await shown(images, "http://pictures.example/p.png")
        await images.aclose()
    assert seen[0].startswith(b"GET http://pictures.example/p.png HTTP/1.1\r\n")
    assert b"cookie" not in seen[0].lower() and b"authorization" not in seen[0].lower()
    (host,) = log.hosts
    assert (host.host, host.calls, host.purpose) == ("pictures.example", 1, "images")


async def test_what_is_too_large_or_elsewhere_stays_drawn(tasks: TaskScope) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readuntil(b"\r\n\r\n")
        if b"/far" in line:
            writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/p.png\r\nContent-Length: 0\r\n\r\n")
        else:
            body = png() + bytes(MAX_BYTES)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        hosts: list[str] = []
        images = CharacterImages(STRAIGHT, tasks, asked=hosts.append)
        for path in ("/large.png", "/far.png"):
            images.get(base + path)
        await tasks.idle()
        assert images.get(base + "/large.png") is None and images.get(base + "/far.png") is None
        assert set(hosts) == {"127.0.0.1"}
        await images.aclose()
