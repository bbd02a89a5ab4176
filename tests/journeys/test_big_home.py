"""The data folder that speed is measured on is one the program itself would have made: every tab shows its rows."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from app.bootstrap import rialto as rialto_module
from app.bootstrap.rialto import Rialto
from app.storage.chat_rows import Chat
from app.storage.chat_store import ChatStore
from app.storage.clips import Clip
from app.storage.images import StoredImage
from app.storage.receipt_book import ReceiptBook, ReceiptFilter
from app.storage.rpc_calls import RpcCalls
from app.storage.schema import integrity_fault
from app.storage.transcripts import TranscriptRow
from app.storage.video_jobs import VideoJob
from tests.big_home import NEEDLE, TRASHED, Amounts, make
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import images, speech, transcription, video
from tests.kit.waiting import until

SCALE = 0.003
Start = Callable[..., Any]


def outside_trash(count: int) -> int:
    return count - count // TRASHED


async def test_every_tab_shows_what_a_big_data_folder_holds(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    amounts = await make(home, SCALE)
    assert amounts == Amounts().scaled(SCALE)
    async with start() as rialto:
        await until(lambda: len(rialto.chat.library) == outside_trash(amounts.chats))
        (hit,) = await ChatStore(rialto.database).search(f'"{NEEDLE}"')
        rialto.chat_page.open_chat(hit.chat_id)
        await until(lambda: any(NEEDLE in row.text for row in rialto.chat_page.rows()))
        totals = await ReceiptBook(rialto.database).totals(ReceiptFilter(), UTC)
        assert totals.count == amounts.receipts

        for name in ("speech", "transcription", "images", "video", "crypto_rpc", "wallet"):
            rialto.window.show_tab(name)
        await until(lambda: len(images(rialto).presenter.library.rows) == outside_trash(amounts.images))
        await until(lambda: len(video(rialto).presenter.job_store.jobs()) == outside_trash(amounts.videos))
        clips, transcripts = speech(rialto).presenter, transcription(rialto).presenter
        await until(lambda: clips.clip_library and len(clips.clip_library.rows) == outside_trash(amounts.clips))
        await until(lambda: transcripts.transcripts is not None)
        assert len(await transcripts.transcripts.list()) == outside_trash(amounts.transcripts)
        assert len(await RpcCalls(rialto.database).recent(limit=1000)) == outside_trash(amounts.calls)
        await settled(rialto)
        looked_through = Counter(type(each) for each in gc.get_objects())
        assert looked_through[Chat] < amounts.chats // 2, "a collection would hold the window"
        assert not looked_through.keys() & {StoredImage, Clip, TranscriptRow, VideoJob}
    assert integrity_fault(home / "data" / "rialto.db") == ""


async def test_the_status_bar_says_how_far_a_long_backup_is(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rialto_module, "BACKUP_SHOWN_AFTER_S", -1.0)
    shown: list[tuple[str, ...]] = []

    def watch(rialto: Rialto) -> None:
        status = rialto.window.status
        set_work = status.set_work
        monkeypatch.setattr(status, "set_work", lambda work: (shown.append(tuple(work)), set_work(work)))

    async with start(painted=watch) as rialto:
        await until(lambda: any(rialto.paths.backups.glob("*-daily.db")))
        await settled(rialto)
        assert shown[-1] == ()
    assert ("Backing up, 100 %",) in shown
    assert ("Checking the backup",) in shown
