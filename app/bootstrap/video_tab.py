"""Puts the video tab together; built at the start when an earlier run left a video to come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.video.page import VideoPage
from app.ui.video.presenter import VideoPresenter

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.storage.database import Database
    from app.ui.kit.tab import TabPieces
    from app.ui.kit.widgets.toast import Toast


def make_video_tab(rialto: Rialto) -> TabPieces:
    """Build the tab and let it begin as soon as the database is open."""
    presenter = VideoPresenter(
        rialto.current_account, rialto.tasks, rialto.paths.data / "videos", rialto.window.undo_stack
    )
    page = VideoPage(rialto.theme, presenter, rialto.tasks, whole=False)
    yield page
    yield from page.build()
    page.help_requested.connect(rialto.help)
    news: list[Toast] = []  # about videos, until somebody looks at the tab
    page.toast_requested.connect(rialto.toast)
    presenter.job_notice.connect(lambda *about: _tell(rialto, page, news, *about))
    rialto.window.tab_shown.connect(lambda name: _forget(news) if name == "video" else None)
    rialto.window.silencers.append(page.silence)

    async def begin(database: Database) -> None:
        await presenter.start(database, rialto.service_cache)

    rialto.when_open("video", begin)
    rialto.on_end(presenter.aclose)
    return page


def _tell(rialto: Rialto, page: VideoPage, news: list[Toast], sentence: str, job_id: str) -> None:
    toast = rialto.toast(sentence, tr("Show"), lambda: _show(rialto, page, job_id))
    news.append(toast)
    toast.closed.connect(lambda: news.remove(toast))


def _forget(news: list[Toast]) -> None:
    for toast in list(news):
        toast.close_toast()


def _show(rialto: Rialto, page: VideoPage, job_id: str) -> None:
    rialto.window.show_tab("video")
    page.open_job(job_id)
