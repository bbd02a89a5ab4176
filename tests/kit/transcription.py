"""A transcribe tab without its window: real storage, real sound files, a real Sandbox; only the plugs are fakes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import numpy as np
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QWidget

from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable, SystemDevice
from app.audio.microphone import MicrophoneChoice
from app.core.current_account import CurrentAccount
from app.core.spending_limits import SpendingLimits
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import RunningSandbox
from app.service.auth import ApiKeyAuth
from app.service.exchange import Exchange
from app.service.service import Service, open_service
from app.storage.database import Database
from app.storage.paid_call_intents import Intents
from app.storage.service_cache import ServiceCache
from app.storage.settings import SettingsStore
from app.ui.kit.sound.device_watch import DeviceWatch
from app.ui.kit.tab import Zones
from app.ui.kit.theme import Theme
from app.ui.transcription.page import TranscriptionPage
from app.ui.transcription.presenter import TranscriptionPresenter
from app.ui.transcription.session.document import document_from
from app.ui.transcription.session.upload_preparation import Folders
from app.ui.transcription.state import Head
from tests.audio.recorded import FakeBlocks, tone, write_wav
from tests.kit.sandbox import OnSandbox
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until
from tests.kit.windows import deleted_last, styled_at_the_end

Kind = TypeVar("Kind", bound="TranscriptionPresenterHarness")
SAID = (
    *(("I", 0.2, 0.3), ("would", 0.3, 0.6), ("like", 0.6, 0.9), ("a", 0.9, 1.0), ("cup", 1.0, 1.3)),
    *(("of", 1.3, 1.4), ("coffee.", 1.4, 1.9), ("The", 2.6, 2.8), ("train", 2.8, 3.1), ("leaves.", 3.1, 3.6)),
)


class FakeHost(AudioHost):
    """Lists what a test plugs in. Opening goes through `TranscriptionPresenterHarness.open_blocks`."""

    def __init__(self) -> None:
        super().__init__(lambda: (_ for _ in ()).throw(OSError("no PortAudio in this test")))
        self.inputs: list[SystemDevice] = []
        self.problem: AudioUnavailable | None = None

    def devices(self, direction: str) -> tuple[Any, ...]:  # type: ignore[override]  # the rows of a fake
        from app.audio.devices import Device

        if self.problem is not None:
            raise self.problem
        return tuple(
            Device(each.id, each.name, "input", each.channels, each.is_default)
            for each in self.inputs
            if direction == "input"
        )


class FakeWatch(DeviceWatch):
    """Plugging by hand."""

    def start(self) -> None:
        """Nothing to watch."""


class FakeSpeaker:
    """Plays into nowhere, ten times as fast as sound."""

    def __init__(self, rate_hz: int, device_id: str) -> None:
        self.rate_hz = rate_hz
        self.is_alive = True
        self.heard = 0
        self.queued = 0

    def write(self, samples: np.ndarray, place: int) -> None:
        self.heard = place + len(samples)

    def clear(self) -> None:
        self.queued = 0

    def close(self) -> None:
        self.is_alive = False


@dataclass
class TranscriptionPresenterHarness(OnSandbox):
    """Everything under one transcribe tab."""

    presenter: TranscriptionPresenter
    tasks: TaskScope
    current_account: CurrentAccount
    service: Service
    database: Database
    settings: SettingsStore
    host: FakeHost
    watch: FakeWatch
    home: Path
    sandbox: RunningSandbox | None
    undo_stack: UndoStack
    blocks: list[FakeBlocks] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    notices: list[tuple[str, ...]] = field(default_factory=list)
    entries: tuple[Any, ...] = ()
    refuses: AudioUnavailable | None = None

    @property
    def head(self) -> Head:
        return self.presenter.head()

    @property
    def document(self) -> Any:
        """The transcript that is open."""
        return self.presenter.reading.document

    def open_blocks(self, choice: MicrophoneChoice) -> FakeBlocks:
        if self.refuses is not None:
            raise self.refuses
        if not self.host.inputs:
            raise AudioUnavailable(AudioProblem.DEVICE, "input")
        self.blocks.append(FakeBlocks(channels=2 if choice.channel > 0 else 1))
        return self.blocks[-1]

    async def done(self) -> None:
        await self.tasks.idle()

    async def plug(self, *names: str) -> None:
        """These microphones are plugged in now, and no others; the first is the default."""
        self.host.inputs = [
            SystemDevice(f"id-{name}", name, "input", 2, place == 0) for place, name in enumerate(names)
        ]
        self.watch.changed.emit()
        await self.done()

    async def record(self, samples: np.ndarray, *, transcribe: bool = False, stop: bool = True) -> str:
        """Record what is said; return the row's id."""
        self.presenter.recorder.record()
        await until(lambda: self.head.view == "recording")
        row_id = self.head.id
        assert row_id is not None
        self.blocks[-1].say(samples)
        wanted = len(samples) / self.blocks[-1].rate_hz
        await until(lambda: self.presenter.recording.seconds >= wanted - 0.001)
        if stop:
            self.presenter.recorder.stop_recording(transcribe=transcribe)
            await self.done()
        return row_id

    async def seed(self, name: str = "note") -> str:
        """Put a finished transcript with its sound on the list and open it, as if it had been paid for."""
        path = write_wav(self.home / f"{name}.wav", tone(440, 4.0))
        store = self.presenter.store
        row = await store.add(title=name, origin="file", sound_path=str(path), state="sending", duration_s=4.0)
        document = document_from(" ".join(word for word, _, _ in SAID), 4.0, SAID, [])
        receipt = {"cost_usd": "0.0004", "cost_source": "estimated", "took_s": 1.2, "charged": False}
        await store.save_text(
            row.id, document.to_json(), document.text, received={"text": document.text}, state="done", receipt=receipt
        )
        await self.presenter.reload()
        self.presenter.open(row.id)
        await self.done()
        return row.id

    async def add(self, *paths: Path) -> None:
        self.presenter.add_files(paths)
        await self.done()

    async def send(self, row_id: str | None = None) -> None:
        self.presenter.transcribe(row_id)
        await self.done()


@asynccontextmanager
async def open_transcription_presenter(
    home: Path,
    sandbox: RunningSandbox | None = None,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    microphones: tuple[str, ...] = ("Built-in", "USB microphone"),
    spending_limits: SpendingLimits | None = None,
    kind: type[Kind] = TranscriptionPresenterHarness,  # type: ignore[assignment]  # until told otherwise
) -> AsyncIterator[Kind]:
    """A started presenter on the data folder `home`. Fails when any of its tasks crashed. `spending_limits` holds every
    call against its limits."""
    tasks = CheckedTasks()
    current_account = CurrentAccount()
    exchanges: list[Exchange] = []

    async def read_key() -> str:
        return sandbox.api_key if sandbox is not None else "sk-test-0123456789abcdef"

    if sandbox is None and transport is None:
        transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"object": "list", "data": []}))
    address = sandbox.base_url if sandbox is not None else "http://service.test/v1"
    served_by = "sandbox" if sandbox is not None else "service"
    account = Account(id="box", name="Sandbox", base_url=address, kind=served_by)
    gate = spending_limits.gate(account) if spending_limits is not None else None
    service = open_service(address, "service", ApiKeyAuth(read_key), exchanges.append, transport=transport, gate=gate)
    database = await Database.open(home / "rialto.db")
    settings = SettingsStore(home / "settings.json")
    host, watch = FakeHost(), FakeWatch()
    host.inputs = [SystemDevice(f"id-{name}", name, "input", 2, place == 0) for place, name in enumerate(microphones)]
    folders = Folders(home / "recordings", home / "cache")
    made: list[Kind] = []
    presenter = TranscriptionPresenter(
        current_account,
        settings,
        tasks,
        folders,
        host,
        watch,
        undo_stack := UndoStack(tasks),
        open_blocks=lambda choice: made[0].open_blocks(choice),
        make_speaker=FakeSpeaker,  # type: ignore[arg-type]  # enough of one
    )
    tab = kind(
        presenter,
        tasks,
        current_account,
        service,
        database,
        settings,
        host,
        watch,
        home,
        sandbox,
        undo_stack,
        exchanges=exchanges,
    )
    made.append(tab)
    presenter.notice.connect(lambda *words: tab.notices.append(words))
    presenter.row_notice.connect(lambda *words: tab.notices.append(words))
    presenter.entries_changed.connect(lambda entries: setattr(tab, "entries", tuple(entries)))
    try:
        current_account.use(account, service)
        intents = Intents(database)
        await intents.settle_after_start()
        await presenter.start(database, ServiceCache(database), intents)
        await tasks.idle()
        yield tab
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        settings.save()
        await database.close()
    tasks.check()


@dataclass
class TranscriptionHarness(TranscriptionPresenterHarness):
    """A transcribe tab in a window, with hands."""

    toasts: list[str] = field(default_factory=list)

    def show(self, theme: Theme) -> QWidget:
        """Put the page into a window and return that."""
        with styled_at_the_end():
            self.page = TranscriptionPage(theme, self.presenter, self.tasks)
            self.page.toast_requested.connect(self.toasts.append)
            self.window = QWidget()
            row = QHBoxLayout(self.window)
            for pane in (self.page.list_pane(), self.page.canvas(), self.page.inspector()):
                row.addWidget(pane, 3 if pane is self.page.canvas() else 1)
            self.window.resize(1440, 900)
        self.window.show()
        self.window.activateWindow()
        self.page.set_zones(Zones())
        return self.window

    # -- the canvas -----------------------------------------------------------------------------------------------

    @property
    def shown(self) -> str:
        """What the canvas shows: "empty", "recording", "sound", "result" or "batch"."""
        return self.page.main.view

    @property
    def shown_head(self) -> Head:
        """What the page was told last of the open row."""
        return self.page.head

    @property
    def header(self) -> Any:
        return self.page.main.header

    @property
    def start_pane(self) -> Any:
        return self.page.main.start

    @property
    def recording_pane(self) -> Any:
        return self.page.main.recording

    @property
    def sound_pane(self) -> Any:
        return self.page.main.sound

    @property
    def result_pane(self) -> Any:
        return self.page.main.result

    @property
    def transcript_view(self) -> Any:
        return self.result_pane.view

    @property
    def batch_pane(self) -> Any:
        return self.page.main.batch

    @property
    def batch_rows(self) -> Any:
        return self.batch_pane.model

    @property
    def batch_table(self) -> Any:
        return self.batch_pane.table

    def plain_text(self) -> str:
        return self.page.plain_text()

    def drop(self, *paths: Path) -> None:
        """Let files go over the canvas."""
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        at, copy = QPointF(50, 50), Qt.DropAction.CopyAction
        held = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(self.page.main, QDragEnterEvent(at.toPoint(), copy, mime, *held))
        QApplication.sendEvent(self.page.main, QDropEvent(at, copy, mime, *held))

    # -- list and inspector ---------------------------------------------------------------------------------------

    @property
    def list_pane(self) -> Any:
        return self.page.list

    @property
    def table_button(self) -> QPushButton:
        return self.list_pane.table

    @property
    def options(self) -> Any:
        return self.page.side.options

    @property
    def extra_fold(self) -> Any:
        """The part of the options that unfolds."""
        return self.options.more

    @property
    def extra(self) -> Any:
        """The field for extra JSON."""
        return self.extra_fold.extra

    @property
    def request_pane(self) -> Any:
        return self.page.side.request

    @property
    def export(self) -> Any:
        return self.page.side.export

    def row_of(self, row_id: str) -> Any:
        return self.list_pane.view.rows.row_of(row_id)

    @property
    def offers_microphones(self) -> bool:
        return not self.page.side.options.microphone.isHidden()

    def usage_text(self) -> str:
        return self.list_pane.foot.words.text()

    def inspector_tab(self) -> int:
        return self.page.side.tabs.bar.currentIndex()

    def show_side(self, page: int) -> None:
        self.page.side.show_page(page)

    # -- what a person does ---------------------------------------------------------------------------------------

    def press(self, button: QWidget) -> None:
        assert button.isVisible(), button.accessibleName()
        assert button.isEnabled(), button.accessibleName()
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def run(self, action_id: str) -> None:
        action = next(each for each in self.page.actions() if each.id == action_id)
        assert action.enabled(), action_id
        action.run()


@asynccontextmanager
async def open_transcription(
    home: Path, theme: Theme, sandbox: RunningSandbox | None = None
) -> AsyncIterator[TranscriptionHarness]:
    with deleted_last() as windows:
        async with open_transcription_presenter(home, sandbox, kind=TranscriptionHarness) as tab:
            windows.append(tab.show(theme))
            yield tab


def words_heard(said: str, heard: str) -> float:
    """How many of the words that were said occur in what was heard, in order: 0 to 1."""
    from difflib import SequenceMatcher

    one = ["".join(sign for sign in word if sign.isalnum()) for word in said.casefold().split()]
    two = ["".join(sign for sign in word if sign.isalnum()) for word in heard.casefold().split()]
    blocks = SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(one)
