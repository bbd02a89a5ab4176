"""A speech tab with everything under it: real storage, the real Sandbox at the other end, real sound if wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QLineEdit, QPushButton

from app.audio.devices import AudioHost
from app.audio.microphone import MicrophoneChoice, open_microphone
from app.audio.player import MakeSpeaker
from app.core.current_account import CurrentAccount
from app.core.spending_limits import SpendingLimits
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import RunningSandbox
from app.service.auth import ApiKeyAuth
from app.service.calls import Call
from app.service.service import open_service
from app.storage.database import Database
from app.storage.form_drafts import FormDraftStore as DraftTable
from app.storage.paths import resources
from app.storage.service_cache import ServiceCache
from app.ui.kit.theme import Theme
from app.ui.speech.page import SpeechPage
from app.ui.speech.presenter import SpeechPresenter
from app.ui.speech.session.clip_actions import ClipActions
from app.ui.speech.session.read_aloud import ReadAloud
from app.ui.speech.session.speech_player import SpeechPlayer
from app.ui.speech.session.voice_cloning import VoiceCloning
from app.ui.speech.voice_catalog import VoiceTable
from tests.kit.sandbox import OnSandbox
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until

SANDBOX = Account(id="box", name="Sandbox", base_url="http://127.0.0.1", kind="sandbox")


class QuickSpeaker:
    """A loudspeaker that plays in no time and remembers what it was given."""

    def __init__(self, rate_hz: int, device_id: str) -> None:
        self.rate_hz = rate_hz
        self.device_id = device_id
        self.queued = 0
        self.heard = -1
        self.is_alive = True
        self.frames = 0

    def write(self, samples: Any, place: int) -> None:
        self.frames += len(samples)
        self.heard = place

    def clear(self) -> None:
        self.heard = -1

    def close(self) -> None:
        self.is_alive = False


@dataclass
class SpeechHarness(OnSandbox):
    page: SpeechPage
    presenter: SpeechPresenter
    clip_actions: ClipActions
    clones: VoiceCloning
    aloud: ReadAloud
    tasks: TaskScope
    current_account: CurrentAccount
    database: Database
    sandbox: RunningSandbox
    home: Path
    undo_stack: UndoStack
    theme: Theme
    toasts: list[tuple[str]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    paid_calls: int = 0
    open_blocks: Callable[[], Any] | None = None  # instead of the microphone
    before_call: Callable[[int], Awaitable[None]] | None = None  # awaited before the 1st, 2nd, … paid call leaves

    # -- what the presenter knows ---------------------------------------------------------------------------------

    @property
    def voice(self) -> str:
        return self.presenter.choice.voice

    @property
    def model(self) -> str:
        return self.presenter.choice.model

    @property
    def voices(self) -> Any:
        """All that can speak, of every model."""
        return self.presenter.voice_list

    @property
    def clips(self) -> Any:
        """What was spoken, newest first."""
        return self.presenter.clip_library.rows

    def clip(self, clip_id: str) -> Any:
        return self.presenter.clip_library.one(clip_id)

    @property
    def files(self) -> Any:
        return self.presenter.clip_library.files

    @property
    def sound(self) -> Any:
        """What plays."""
        return self.presenter.sound

    @property
    def known_s(self) -> float:
        """How much of the sound is there."""
        return self.sound.view.known_s

    @property
    def status_text(self) -> str:
        return self.sound.view.status

    @property
    def problem(self) -> Any:
        return self.presenter.problem

    async def saved_draft(self) -> dict[str, Any]:
        """What a restart would find of what is typed and chosen."""
        await self.presenter._autosave.save()
        return dict(await DraftTable(self.database, "speech").read())

    # -- the canvas -----------------------------------------------------------------------------------------------

    @property
    def editor(self) -> Any:
        return self.page.main.editor

    @property
    def speak_bar(self) -> Any:
        return self.page.main.speak_bar

    @property
    def player_bar(self) -> Any:
        return self.page.main.player

    @property
    def waveform_s(self) -> float:
        return self.player_bar.waveform.duration_s

    @property
    def comparison(self) -> Any:
        """Takes of one text beside each other."""
        return self.page.main.audition_view

    @property
    def error_card(self) -> Any:
        return self.page.main.problem

    @property
    def go_on_button(self) -> QPushButton:
        return self.page.main.go_on

    @property
    def transcribe_button(self) -> QPushButton:
        return self.page.main.transcribe

    @property
    def receipt(self) -> Any:
        return self.page.main.receipt

    @property
    def title_field(self) -> QLineEdit:
        found = [field for field in self.page.main.findChildren(QLineEdit) if field.accessibleName() == "Title"]
        return found[0]

    def text(self) -> str:
        return self.editor.toPlainText()

    def title_text(self) -> str:
        return self.page.main.header.title.text()

    def price_text(self) -> str:
        return self.speak_bar.price.text()

    def voice_button_text(self) -> str:
        return self.page.main.model.text()

    def model_text(self) -> str:
        """The model that the button in the header names, after the voice."""
        return self.page.main.model.text().rpartition(" · ")[2]

    def main_page(self) -> int:
        return self.page.main.pages.currentIndex()

    def press_speak(self) -> None:
        self.speak_bar.speak.click()

    def press_go_on(self) -> None:
        """Have the rest spoken."""
        self.page.main.continue_requested.emit()

    def act_on_problem(self, action: str) -> None:
        """Press a button of the error card."""
        self.page.main.problem_action.emit(action)

    def choose_volume(self, volume: float) -> None:
        self.player_bar.volume_chosen.emit(volume)

    # -- the list -------------------------------------------------------------------------------------------------

    @property
    def list_view(self) -> Any:
        return self.page.list.view

    @property
    def filter_field(self) -> QLineEdit:
        return self.page.list.filter

    def open_clip(self, clip_id: str) -> None:
        self.page.list.open_requested.emit(clip_id)

    def make_again(self, clip_id: str) -> None:
        self.page.list.again_requested.emit(clip_id)

    def usage_text(self) -> str:
        return self.page.list.foot.words.text()

    def nothing_text(self) -> str:
        return self.page.list.nothing.text()

    # -- the inspector --------------------------------------------------------------------------------------------

    @property
    def picker(self) -> Any:
        """The voices to choose from."""
        return self.page.side.picker

    @property
    def voice_view(self) -> Any:
        return self.picker.view

    @property
    def voice_rows(self) -> Any:
        return self.voice_view.rows

    @property
    def own_cards(self) -> Any:
        """One for each voice of one's own."""
        return self.page.side.cloned_voices.cards

    @property
    def delivery(self) -> Any:
        return self.page.side.delivery

    @property
    def extra_fold(self) -> Any:
        """The part of the delivery that unfolds."""
        return self.delivery.more

    @property
    def extra(self) -> Any:
        """The field for extra JSON."""
        return self.extra_fold.extra

    @property
    def request_pane(self) -> Any:
        return self.page.side.request

    @property
    def shown_voice(self) -> tuple[str, str, str]:
        """The voice that is marked in the picker, as `model id, voice id`, and its model as the header calls it."""
        key = self.picker.delegate.marked
        assert self.voice_rows.index_of(key).isValid()
        return (*self.picker.key_of(key), self.model_text())

    def shown_voices(self) -> list[Any]:
        return self.voice_rows.shown_keys()

    def voice_count_text(self) -> str:
        return self.picker.count.text()

    def choose_voice(self, key: tuple[str, str]) -> None:
        self.picker.voice_chosen.emit(key)

    def press_clone(self) -> None:
        self.picker.clone.click()

    def show_side(self, page: int) -> None:
        self.page.side.show_page(page)

    # -- what a person does ---------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Type a text."""
        self.editor.setPlainText(text)
        self.editor.flush()

    async def spoken(self) -> None:
        """Press Speak to file and wait for the end of it."""
        self.speak_bar.to_file.click()
        await until(lambda: not self.presenter.is_speaking and not self.tasks.running("speech speak"))

    @property
    def rows(self) -> list[Any]:
        return [self.list_view.rows.row(self.list_view.rows.index_of(key)) for key in self.keys]

    @property
    def keys(self) -> list[str]:
        return [str(key) for key in self.list_view.rows.shown_keys()]


@asynccontextmanager
async def open_speech(
    home: Path,
    sandbox: RunningSandbox,
    theme: Theme,
    *,
    host: AudioHost | None = None,
    make: MakeSpeaker | None = QuickSpeaker,
    clones_with: Any = None,
    spending_limits: SpendingLimits | None = None,
) -> AsyncIterator[SpeechHarness]:
    """A started tab on the data folder `home`. Fails when any of its tasks crashed. `make=None`: real sound.

    `spending_limits` holds every call against its limits.
    """
    tasks = CheckedTasks()
    current_account = CurrentAccount()

    async def read_key() -> str:
        return sandbox.api_key

    async def gate(call: Call, exchange_id: str) -> None:
        speech.paid_calls += 1
        if speech.before_call is not None:
            await speech.before_call(speech.paid_calls)
        if spending_limits is not None:
            await spending_limits.gate(SANDBOX)(call, exchange_id)

    def blocks() -> Any:
        opened = speech.open_blocks or clones_with or (lambda: open_microphone(host, MicrophoneChoice()))
        return opened()

    service = open_service(
        sandbox.base_url,
        "service",
        ApiKeyAuth(read_key),
        lambda exchange: spending_limits.settled(exchange.id) if spending_limits is not None else None,
        gate=gate,
    )
    database = await Database.open(home / "rialto.sqlite3")
    host = host or AudioHost()
    sound = SpeechPlayer(host, tasks, home / "cache" / "speech", make_speaker=make)
    table, undo_stack = VoiceTable(resources() / "data" / "voices.json"), UndoStack(tasks)
    presenter = SpeechPresenter(current_account, tasks, sound, table, home / "data", undo_stack)
    actions = ClipActions(presenter, tasks)
    clones = VoiceCloning(presenter, host, tasks, home / "cache" / "voices", make_speaker=make, open_blocks=blocks)
    page = SpeechPage(theme, presenter, actions, clones, tasks)
    page.aloud = ReadAloud(presenter, tasks)
    speech = SpeechHarness(
        page, presenter, actions, clones, page.aloud, tasks, current_account, database, sandbox, home, undo_stack, theme
    )
    page.toast_requested.connect(lambda *words: speech.toasts.append(words))
    sound.sentence_changed.connect(
        lambda span: speech.sentences.append(span.of(sound.reading.clip.text)) if span is not None else None
    )
    try:
        current_account.use(SANDBOX, service)
        await presenter.start(database, ServiceCache(database))
        page.voices.show_all()
        await until(lambda: not presenter.voice_list.is_offline)
        for pane, size in ((page.list, (264, 800)), (page.main, (760, 800)), (page.side, (352, 800))):
            pane.resize(*size)
            pane.show()
        yield speech
    finally:
        await presenter.aclose()
        await clones.aclose()
        await tasks.aclose()
        await service.aclose()
        await database.close()
        sound.blockSignals(True)  # the player's thread may have said something last
        presenter.blockSignals(True)
        for pane in (page.list, page.main, page.side):
            pane.close()
            pane.deleteLater()
    tasks.check()
