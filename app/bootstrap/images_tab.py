"""The Images tab: its presenter, its page, and what it hands to Chat and to Video."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.images.page import ImagesPage
from app.ui.images.presenter import ImagesPresenter
from app.ui.images.session.image_edits import ImageEdits

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.storage.database import Database
    from app.ui.kit.tab import TabPieces


def make_images_tab(rialto: Rialto) -> TabPieces:
    """Build the tab and let it begin as soon as the database is open."""
    presenter = ImagesPresenter(rialto.current_account, rialto.tasks, rialto.paths.data, rialto.window.undo_stack)
    page = ImagesPage(
        rialto.theme, presenter, ImageEdits(presenter), rialto.tasks, rialto.paths.cache / "pictures", whole=False
    )
    yield page
    yield from page.build()
    page.help_requested.connect(rialto.help)
    page.toast_requested.connect(rialto.toast)
    page.chat_requested.connect(lambda path: ask_in_chat(rialto, path))
    page.video_requested.connect(lambda path: begin_video(rialto, page, path))

    async def begin(database: Database) -> None:
        await presenter.start(database, rialto.service_cache)

    async def end() -> None:
        page.form.flush()
        await presenter.aclose()

    rialto.when_open("images", begin)
    rialto.on_end(end)
    return page


def ask_in_chat(rialto: Rialto, path: Path) -> None:
    """Open a new chat with the image attached. Nothing is sent."""
    rialto.window.show_tab("chat")
    rialto.chat_page.new_chat()
    rialto.chat.attaching.add_files([path])


def begin_video(rialto: Rialto, page: ImagesPage, path: Path) -> None:
    """Put the image into the form of the Video tab as what the video begins with. Nothing is sent."""
    if not rialto.window.has_tab("video"):
        page.toast_requested.emit(tr("The Video tab is not available here."))
        return
    rialto.window.show_tab("video")
    rialto.tasks.replace("images to video", _fill_video, rialto, path)


async def _fill_video(rialto: Rialto, path: Path) -> None:
    from app.ui.video.page import VideoPage

    video = rialto.window.tab("video")
    assert isinstance(video, VideoPage)
    form, filled = video.presenter.form, asyncio.Event()
    connection = form.replaced.connect(lambda _view: filled.set())
    while not form.has_started:  # what was kept of the form comes first
        await filled.wait()
        filled.clear()
    form.replaced.disconnect(connection)
    form.set(kind="image", start=str(path))
    video.form.prompt.setFocus()
