"""Puts the speech tab together, and lets the chat speak through it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.storage.paths import resources
from app.ui.speech.page import SpeechPage
from app.ui.speech.presenter import SpeechPresenter
from app.ui.speech.presenter_clones import CloneDesk
from app.ui.speech.presenter_sound import SoundDesk
from app.ui.speech.presenter_takes import TakeDeeds
from app.ui.speech.voice_book import VoiceTable

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.storage.database import Database


def make_speech_tab(rialto: Rialto) -> SpeechPage:
    """Make the tab and begin as soon as the database is open."""
    cache = rialto.paths.cache / "speech"
    sound = SoundDesk(rialto.audio, rialto.tasks, cache, rialto.device_watch)
    table = VoiceTable(resources() / "data" / "voices.json")
    presenter = SpeechPresenter(rialto.caller, rialto.tasks, sound, table, rialto.paths.data)
    deeds = TakeDeeds(presenter, rialto.tasks)
    clones = CloneDesk(presenter, rialto.audio, rialto.tasks, rialto.paths.cache / "voices")
    page = SpeechPage(rialto.theme, presenter, deeds, clones, rialto.tasks)
    page.help_wanted.connect(rialto.help)
    page.toast_wanted.connect(lambda sentence, action, words: _toast(rialto, page, sentence, action, words))

    async def begin(database: Database) -> None:
        await presenter.start(database, rialto.catalogue)
        page.voices.show_all()

    async def end() -> None:
        page.main.editor.flush()
        await presenter.aclose()
        await clones.aclose()

    rialto.when_open("speech", begin)
    rialto.on_end(end)
    return page


def _toast(rialto: Rialto, page: SpeechPage, sentence: str, action: str, words: str) -> None:
    from app.ui.shared.problems import ActionSpec

    actions = (ActionSpec(action, words),) if action else ()
    toast = rialto.window.overlays.toasts.show_toast(sentence, actions=actions)
    if action == "speech-undo":
        toast.action.connect(lambda _id: page.deeds.undo())
    elif action.startswith("speech-voice-undo:"):
        toast.action.connect(lambda _id: page.clones.bring_back(action.partition(":")[2]))
