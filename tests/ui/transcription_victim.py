"""A transcribe tab in a process of its own, which is killed: while it records, or while its upload is on its way.

`python -m tests.ui.transcription_victim recording|uploading|parts HOME BASE_URL API_KEY`
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from tests.audio.recorded import tone
from tests.ui.transcription_desk import Desk, open_desk


class Running:
    """What `open_desk` needs to know of a Sandbox that runs elsewhere."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        self.api_key = api_key


async def record(desk: Desk) -> None:
    """Says how much is in the file, and goes on."""
    desk.presenter.record()
    await desk.until(lambda: desk.presenter.is_recording)
    desk.blocks[-1].say(tone(440, 2.0))
    await desk.until(lambda: desk.presenter.recording.seconds >= 2.0)
    desk.presenter.mark("Here")
    while not (await desk.presenter.store.one(desk.head.id or "")).marks:
        await asyncio.sleep(0.01)
    print(desk.presenter.recording.seconds, flush=True)
    while True:
        desk.blocks[-1].say(tone(440, 0.1))
        await asyncio.sleep(0.05)


async def upload(desk: Desk, path: Path) -> None:
    """Says when the answer is awaited; the Sandbox takes its time."""
    await desk.add(path)
    desk.presenter.transcribe()
    await desk.until(lambda: desk.head.work is not None and desk.head.work.phase == "listening")
    print("listening", flush=True)
    await asyncio.sleep(60)


async def parts(desk: Desk, path: Path) -> None:
    """Says when the first part has been paid for and the second is on its way."""
    desk.presenter.sending.longest_part_s = 3.0
    await desk.add(path)
    row_id = desk.head.id or ""
    desk.presenter.set_treatment(row_id, "split")
    await desk.done()
    desk.presenter.transcribe()
    await desk.until(lambda: desk.head.work is not None and desk.head.work.part == 2)
    print((await desk.presenter.store.parts(row_id))[0].received["text"], flush=True)
    await asyncio.sleep(60)


async def live(what: str, home: Path, running: Running) -> None:
    async with open_desk(home, running) as desk:  # type: ignore[arg-type]  # two fields of it
        if what == "recording":
            await record(desk)
        elif what == "uploading":
            await upload(desk, home / "note.wav")
        else:
            await parts(desk, home / "talk.wav")


def main() -> None:
    what, home, base_url, api_key = sys.argv[1:]
    qt_app = QApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        loop.run_until_complete(live(what, Path(home), Running(base_url, api_key)))


if __name__ == "__main__":
    main()
