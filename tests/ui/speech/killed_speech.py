"""Speaks a long text into a data folder until it is killed: `python -m tests.ui.speech.killed_speech FOLDER BASE_URL
KEY`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication

from app.audio.devices import AudioHost
from app.core.current_account import CurrentAccount
from app.core.undo import UndoStack
from app.service.auth import ApiKeyAuth
from app.service.service import open_service
from app.storage.database import Database
from app.storage.paths import resources
from app.ui.speech.presenter import SpeechPresenter
from app.ui.speech.session.speech_player import SpeechPlayer
from app.ui.speech.voice_catalog import VoiceTable
from tests.kit.speech import SANDBOX, QuickSpeaker
from tests.kit.tasks import CheckedTasks

TEXT = "The harbour lies still in the morning, and the boats go out one after the other. " * 120


async def main(home: Path, base_url: str, key: str) -> None:
    tasks = CheckedTasks()
    current_account = CurrentAccount()

    async def read_key() -> str:
        return key

    service = open_service(base_url, "service", ApiKeyAuth(read_key), lambda exchange: None)
    database = await Database.open(home / "rialto.sqlite3")
    sound = SpeechPlayer(AudioHost(), tasks, home / "cache" / "speech", make_speaker=QuickSpeaker)
    table = VoiceTable(resources() / "data" / "voices.json")
    presenter = SpeechPresenter(current_account, tasks, sound, table, home / "data", UndoStack(tasks))
    current_account.use(SANDBOX, service)
    await presenter.start(database)
    while presenter.voice_list.is_offline:  # what a model writes is in the service's own list
        await asyncio.sleep(0.01)
    presenter.use_voice("tts-kokoro", "af_sky")
    presenter.set_speech_option("format", "wav")
    presenter.set_speech_option("speed", 4.0)
    presenter.set_text(TEXT)

    def tell() -> None:
        """Every step is told as it is taken: however slow the computer, none is missed."""
        if sound.reading is not None:
            print(",".join(f"{part.state}:{part.size_bytes}" for part in sound.reading.clip.parts), flush=True)

    sound.changed.connect(tell)
    presenter.speak(aloud=False)
    while True:
        await asyncio.sleep(0.01)
        QCoreApplication.processEvents()
        tell()
        tasks.check()


if __name__ == "__main__":
    application = QCoreApplication([])
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
