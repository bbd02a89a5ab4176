"""A transcribe tab in a process of its own, which is killed: while it records, or while its upload is on its way.

`python -m tests.ui.killed_transcription recording|uploading|parts HOME BASE_URL API_KEY`
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from tests.audio.recorded import tone
from tests.kit.transcription import TranscriptionPresenterHarness, open_transcription_presenter
from tests.kit.waiting import until


class Running:
    """What `open_transcription_presenter` needs to know of a Sandbox that runs elsewhere."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        self.api_key = api_key


async def record(tab: TranscriptionPresenterHarness) -> None:
    """Says how much is in the file, and goes on."""
    tab.presenter.recorder.record()
    await until(lambda: tab.presenter.recorder.is_recording)
    tab.blocks[-1].say(tone(440, 2.0))
    await until(lambda: tab.presenter.recording.seconds >= 2.0)
    tab.presenter.mark("Here")
    while not (await tab.presenter.store.one(tab.head.id or "")).marks:
        await asyncio.sleep(0.01)
    print(tab.presenter.recording.seconds, flush=True)
    while True:
        tab.blocks[-1].say(tone(440, 0.1))
        await asyncio.sleep(0.05)


async def upload(tab: TranscriptionPresenterHarness, path: Path) -> None:
    """Says when the answer is awaited; the Sandbox takes its time."""
    await tab.add(path)
    tab.presenter.transcribe()
    await until(lambda: tab.head.work is not None and tab.head.work.phase == "listening")
    print("listening", flush=True)
    await asyncio.sleep(60)


async def parts(tab: TranscriptionPresenterHarness, path: Path) -> None:
    """Says when the first part has been paid for and the second is on its way."""
    tab.presenter.sending.longest_part_s = 3.0
    await tab.add(path)
    row_id = tab.head.id or ""
    tab.presenter.set_treatment(row_id, "split")
    await tab.done()
    tab.presenter.transcribe()
    await until(lambda: tab.head.work is not None and tab.head.work.part == 2)
    print((await tab.presenter.store.parts(row_id))[0].received["text"], flush=True)
    await asyncio.sleep(60)


async def live(what: str, home: Path, running: Running) -> None:
    async with open_transcription_presenter(home, running) as tab:  # type: ignore[arg-type]  # two fields of it
        if what == "recording":
            await record(tab)
        elif what == "uploading":
            await upload(tab, home / "note.wav")
        else:
            await parts(tab, home / "talk.wav")


def main() -> None:
    what, home, base_url, api_key = sys.argv[1:]
    qt_app = QApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        loop.run_until_complete(live(what, Path(home), Running(base_url, api_key)))


if __name__ == "__main__":
    main()
