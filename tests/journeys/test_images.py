"""The whole program: an image is made, found after a restart, taken to Chat and to Video. Nothing more is paid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.bootstrap.rialto import Rialto
from app.ui.images.page import ImagesPage
from app.ui.video.page import VideoPage
from tests.kit.settings import change_settings
from tests.kit.waiting import until


def images_of(rialto: Rialto) -> ImagesPage:
    page = rialto.window.tab("images")
    assert isinstance(page, ImagesPage)
    return page


async def test_an_image_is_made_found_again_and_taken_to_chat_and_video(start: Callable[..., Any]) -> None:
    async with start() as rialto:
        change_settings(rialto.settings, welcome_done=True)
        rialto.accounts.use(rialto.account_services.sandbox_account().id)
        await until(lambda: rialto.current_account.service is not None and rialto.chat.head().model_id)
        rialto.window.show_tab("images")
        page = images_of(rialto)
        await until(lambda: page.presenter.styles)
        page.form.prompt.setPlainText("A harbor at dawn")
        page.make()
        await until(lambda: any(tile.is_whole for tile in page.gallery_state.tiles))
    async with start() as rialto:
        names = rialto.window.tab_names()
        assert names[names.index("transcription") + 1] == "images"
        rialto.window.show_tab("images")
        page = images_of(rialto)
        await until(lambda: page.gallery_state.tiles)
        path = page.presenter.library.path(page.gallery.current())
        assert path is not None and path.is_file()
        page.image_actions.to_video()
        video = rialto.window.tab("video")
        assert isinstance(video, VideoPage)
        await until(lambda: video.presenter.form.form.start == str(path))
        assert video.presenter.form.form.kind == "image"
        page.image_actions.to_chat()
        await until(lambda: rialto.chat.attaching.views())
        assert page.presenter.calls == 0
