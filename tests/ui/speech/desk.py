"""A speech tab with everything under it: real storage, the real Sandbox at the other end, real sound if wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from app.audio.devices import AudioHost
from app.audio.player import MakeSpeaker
from app.core.budget import Budget
from app.core.caller import Caller
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import RunningSandbox
from app.service.auth import ApiKeyAuth
from app.service.calls import Call
from app.service.service import open_service
from app.storage.catalogue import Catalogue
from app.storage.database import Database
from app.storage.paths import resources
from app.ui.kit.theme import Theme
from app.ui.speech.page import SpeechPage
from app.ui.speech.presenter import SpeechPresenter
from app.ui.speech.presenter_aloud import ReadAloud
from app.ui.speech.presenter_clones import CloneDesk
from app.ui.speech.presenter_sound import SoundDesk
from app.ui.speech.presenter_takes import TakeDeeds
from app.ui.speech.voice_book import VoiceTable

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
class Desk:
    page: SpeechPage
    presenter: SpeechPresenter
    deeds: TakeDeeds
    clones: CloneDesk
    aloud: ReadAloud
    tasks: TaskScope
    caller: Caller
    database: Database
    sandbox: RunningSandbox
    home: Path
    undo_stack: UndoStack
    toasts: list[tuple[str, str, str]] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)
    paid_calls: int = 0
    before_call: Callable[[int], Awaitable[None]] | None = None  # awaited before the 1st, 2nd, … paid call leaves

    async def until(self, fact: Callable[[], Any], what: str = "") -> None:
        """Wait for a thing; the limit is for tests that would never end."""
        async with asyncio.timeout(100):
            while not fact():
                await asyncio.sleep(0.005)

    def write(self, text: str) -> None:
        """Type a text."""
        self.page.main.editor.setPlainText(text)
        self.page.main.editor.flush()

    async def spoken(self) -> None:
        """Press Speak to file and wait for the end of it."""
        self.page.main.speak_bar.to_file.click()
        await self.until(lambda: not self.presenter.is_speaking and not self.tasks.running("speech speak"))

    @property
    def shown_voice(self) -> tuple[str, str, str]:
        """The voice that is marked in the picker, as `model id, voice id`, and its model as the header calls it."""
        key = self.page.side.picker.delegate.marked
        assert self.page.side.picker.view.rows.index_of(key).isValid()
        return (*self.page.side.picker.key_of(key), self.page.main.model.text())

    @property
    def rows(self) -> list[Any]:
        return [self.page.list.view.rows.row(self.page.list.view.rows.index_of(key)) for key in self.keys]

    @property
    def keys(self) -> list[str]:
        return [str(key) for key in self.page.list.view.rows.shown_keys()]

    async def fault(self, name: str, **values: object) -> None:
        """Arm one of the Sandbox's faults."""
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.sandbox.api_key}"}, timeout=60) as http:
            answer = await http.put(f"{self.sandbox.origin}/sandbox/faults/{name}", json=values)
            assert answer.status_code == 200, answer.text


@asynccontextmanager
async def open_desk(
    home: Path,
    sandbox: RunningSandbox,
    theme: Theme,
    *,
    host: AudioHost | None = None,
    make: MakeSpeaker | None = QuickSpeaker,
    clones_with: Any = None,
    budget: Budget | None = None,
) -> AsyncIterator[Desk]:
    """A started tab on the data folder `home`. Fails when any of its tasks crashed. `make=None`: real sound.

    `budget` holds every call against its limits.
    """
    crashes: list[Exception] = []
    tasks = TaskScope(crashes.append)
    caller = Caller()

    async def read_key() -> str:
        return sandbox.api_key

    async def gate(call: Call, exchange_id: str) -> None:
        desk.paid_calls += 1
        if desk.before_call is not None:
            await desk.before_call(desk.paid_calls)
        if budget is not None:
            await budget.gate(SANDBOX)(call, exchange_id)

    service = open_service(
        sandbox.base_url,
        "service",
        ApiKeyAuth(read_key),
        lambda exchange: budget.settled(exchange.id) if budget is not None else None,
        gate=gate,
    )
    database = await Database.open(home / "rialto.sqlite3")
    host = host or AudioHost()
    sound = SoundDesk(host, tasks, home / "cache" / "speech", make_speaker=make)
    table, undo_stack = VoiceTable(resources() / "data" / "voices.json"), UndoStack()
    presenter = SpeechPresenter(caller, tasks, sound, table, home / "data", undo_stack)
    deeds = TakeDeeds(presenter, tasks)
    clones = CloneDesk(presenter, host, tasks, home / "cache" / "voices", make_speaker=make, open_blocks=clones_with)
    page = SpeechPage(theme, presenter, deeds, clones, tasks)
    page.aloud = ReadAloud(presenter, tasks)
    desk = Desk(page, presenter, deeds, clones, page.aloud, tasks, caller, database, sandbox, home, undo_stack)
    page.toast_wanted.connect(lambda *words: desk.toasts.append(words))
    sound.sentence_changed.connect(
        lambda span: desk.sentences.append(span.of(sound.reading.take.text)) if span is not None else None
    )
    try:
        caller.use(SANDBOX, service)
        await presenter.start(database, Catalogue(database))
        page.voices.show_all()
        await desk.until(lambda: not presenter.shelf.is_offline)
        for pane, size in ((page.list, (264, 800)), (page.main, (760, 800)), (page.side, (352, 800))):
            pane.resize(*size)
            pane.show()
        yield desk
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
    if crashes:
        raise crashes[0]
