"""No list says that it is empty before somebody has looked: until then it shows nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QWidget

from app.core.trash import Trash, TrashKind
from app.core.undo import UndoStack
from app.ui.chat.sidebar.chat_list import ChatListPane
from app.ui.crypto_rpc.call_list import CallListPane
from app.ui.images.gallery import Gallery
from app.ui.images.state import GalleryState
from app.ui.kit.lists.list_pane import ListPane
from app.ui.kit.lists.trash_pane import TrashPane
from app.ui.speech.clip_list import ClipListPane
from app.ui.transcription.list_pane import TranscriptListPane
from app.ui.video.jobs_pane import JobsPane
from app.ui.video.state import Jobs
from app.ui.wallet.bookings_and_signatures import SignaturesPage
from app.ui.wallet.receipts_page import ReceiptsPage
from app.ui.wallet.state import Totals
from app.ui.wallet.usage_chart import UsageChart
from tests.kit.tasks import CheckedTasks

if TYPE_CHECKING:
    from app.core.trash import TrashEntry
    from app.ui.kit.theme import Theme


def _says(pane: QWidget, part: QWidget) -> bool:
    return part.isVisibleTo(pane)


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (ChatListPane, lambda pane: pane.show_entries(())),
        (ClipListPane, lambda pane: pane.show_rows((), {}, 0, 0)),
        (TranscriptListPane, lambda pane: pane.show_entries(())),
        (CallListPane, lambda pane: pane.show_entries(())),
    ],
)
def test_a_list_calls_itself_empty_once_it_is_read(
    theme: Theme, make: Callable[[Theme], ListPane], read: Callable[[ListPane], None]
) -> None:
    pane = make(theme)
    pane.filter.setText("tide")
    assert not _says(pane, pane.nothing)
    if isinstance(pane, ClipListPane):
        assert not pane.foot.words.text()

    read(pane)

    assert _says(pane, pane.nothing)


@pytest.mark.parametrize(("search", "which"), [("tide", "all"), ("", "trash"), ("", "all")])
def test_videos_are_looked_for_before_they_are_missed(theme: Theme, search: str, which: str) -> None:
    pane = JobsPane(theme)
    for loaded in (False, True):
        pane.show_jobs(Jobs(search=search, which=which, loaded=loaded))
        assert (pane.places.currentWidget() is pane.view) is not loaded


@pytest.mark.parametrize(("search", "scope"), [("tide", ""), ("", "trash"), ("", "")])
def test_images_are_looked_for_before_they_are_missed(theme: Theme, tmp_path: Path, search: str, scope: str) -> None:
    gallery = Gallery(theme, lambda _id: None, str, tmp_path)
    for loaded in (False, True):
        gallery.show_state(GalleryState(search=search, scope=scope, loaded=loaded))
        assert (gallery.places.currentIndex() == 0) is not loaded


async def test_a_trash_calls_itself_empty_once_it_is_read(theme: Theme, tasks: CheckedTasks) -> None:
    async def none() -> tuple[TrashEntry, ...]:
        return ()

    async def never(_ids: tuple[str, ...]) -> None:
        raise AssertionError

    trash = Trash("speech", tasks, UndoStack(tasks))
    trash.add_kind(TrashKind(none, never, never))
    pane = TrashPane(theme, trash, tasks, "Back to clips")
    assert not _says(pane, pane.nothing)

    await trash.read()

    assert _says(pane, pane.nothing)


def test_receipts_and_signatures_are_missed_once_they_are_read(theme: Theme) -> None:
    receipts, signed = ReceiptsPage(theme, lambda _place: None), SignaturesPage(theme)
    receipts.show_totals(Totals())
    assert not receipts.sums.text()
    assert receipts.pages.currentWidget() is receipts.table
    assert not _says(signed, signed.empty)

    chart = UsageChart(theme)
    chart.show_totals(Totals())
    assert chart.accessibleDescription() != "Nothing was spent."
    picture = chart.grab().toImage()
    assert len({picture.pixel(x, y) for x in range(0, 200, 3) for y in range(picture.height())}) == 1  # no amounts yet

    signed.show_rows(())

    assert _says(signed, signed.empty)
