"""A transcribe tab without its window: real storage, real sound files, a real Sandbox; only the plugs are fakes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from app.audio.devices import AudioHost, AudioUnavailable, Missing, SystemDevice
from app.audio.microphone import MicrophoneChoice
from app.core.budget import Budget
from app.core.caller import Caller
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import RunningSandbox
from app.service.auth import ApiKeyAuth
from app.service.exchange import Exchange
from app.service.service import Service, open_service
from app.storage.catalogue import Catalogue
from app.storage.database import Database
from app.storage.intents import Intents
from app.storage.settings import SettingsStore
from app.ui.kit.sound.device_watch import DeviceWatch
from app.ui.transcription.presenter import TranscriptionPresenter
from app.ui.transcription.session.document import document_from
from app.ui.transcription.session.presenter_preparing import Folders
from app.ui.transcription.state import Head
from tests.audio.recorded import FakeBlocks, tone, write_wav

PAUSE_S = 0.005
SAID = (
    *(("I", 0.2, 0.3), ("would", 0.3, 0.6), ("like", 0.6, 0.9), ("a", 0.9, 1.0), ("cup", 1.0, 1.3)),
    *(("of", 1.3, 1.4), ("coffee.", 1.4, 1.9), ("The", 2.6, 2.8), ("train", 2.8, 3.1), ("leaves.", 3.1, 3.6)),
)


class FakeHost(AudioHost):
    """Lists what a test plugs in. Opening goes through `Desk.open_blocks`."""

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
class Desk:
    """Everything under one transcribe tab."""

    presenter: TranscriptionPresenter
    tasks: TaskScope
    caller: Caller
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
    notices: list[tuple[str, str, str]] = field(default_factory=list)
    entries: tuple[Any, ...] = ()
    refuses: AudioUnavailable | None = None

    @property
    def head(self) -> Head:
        return self.presenter.head()

    def open_blocks(self, choice: MicrophoneChoice) -> FakeBlocks:
        if self.refuses is not None:
            raise self.refuses
        if not self.host.inputs:
            raise AudioUnavailable(Missing.DEVICE, "input")
        self.blocks.append(FakeBlocks(channels=2 if choice.channel > 0 else 1))
        return self.blocks[-1]

    async def until(self, fact: Callable[[], object], seconds: float = 100.0) -> None:
        async with asyncio.timeout(seconds):
            while not fact():
                await asyncio.sleep(PAUSE_S)

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
        self.presenter.record()
        await self.until(lambda: self.head.view == "recording")
        row_id = self.head.id
        assert row_id is not None
        self.blocks[-1].say(samples)
        wanted = len(samples) / self.blocks[-1].rate_hz
        await self.until(lambda: self.presenter.recording.seconds >= wanted - 0.001)
        if stop:
            self.presenter.stop_recording(transcribe=transcribe)
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
        await self.presenter._reload()
        self.presenter.open(row.id)
        await self.done()
        return row.id

    async def add(self, *paths: Path) -> None:
        self.presenter.add_files(paths)
        await self.done()

    async def send(self, row_id: str | None = None) -> None:
        self.presenter.transcribe(row_id)
        await self.done()

    async def fault(self, name: str, **values: object) -> None:
        """Arm one of the Sandbox's faults."""
        assert self.sandbox is not None
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.sandbox.api_key}"}, timeout=60) as http:
            answer = await http.put(f"{self.sandbox.origin}/sandbox/faults/{name}", json=values)
            assert answer.status_code == 200, answer.text


@asynccontextmanager
async def open_desk(
    home: Path,
    sandbox: RunningSandbox | None = None,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    microphones: tuple[str, ...] = ("Built-in", "USB microphone"),
    budget: Budget | None = None,
) -> AsyncIterator[Desk]:
    """A started presenter on the data folder `home`. Fails when any of its tasks crashed. `budget` holds every call
    against its limits."""
    crashes: list[Exception] = []
    tasks = TaskScope(crashes.append)
    caller = Caller()
    exchanges: list[Exchange] = []

    async def read_key() -> str:
        return sandbox.api_key if sandbox is not None else "sk-test-0123456789abcdef"

    if sandbox is None and transport is None:
        transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"object": "list", "data": []}))
    address = sandbox.base_url if sandbox is not None else "http://service.test/v1"
    kind = "sandbox" if sandbox is not None else "service"
    account = Account(id="box", name="Sandbox", base_url=address, kind=kind)
    gate = budget.gate(account) if budget is not None else None
    service = open_service(address, "service", ApiKeyAuth(read_key), exchanges.append, transport=transport, gate=gate)
    database = await Database.open(home / "rialto.db")
    settings = SettingsStore(home / "settings.json")
    host, watch = FakeHost(), FakeWatch()
    host.inputs = [SystemDevice(f"id-{name}", name, "input", 2, place == 0) for place, name in enumerate(microphones)]
    folders = Folders(home / "recordings", home / "cache")
    made: list[Desk] = []
    presenter = TranscriptionPresenter(
        caller,
        settings,
        tasks,
        folders,
        host,
        watch,
        undo_stack := UndoStack(),
        open_blocks=lambda choice: made[0].open_blocks(choice),
        make_speaker=FakeSpeaker,  # type: ignore[arg-type]  # enough of one
    )
    desk = Desk(
        presenter,
        tasks,
        caller,
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
    made.append(desk)
    presenter.notice.connect(lambda *words: desk.notices.append(words))
    presenter.entries_changed.connect(lambda entries: setattr(desk, "entries", entries))
    try:
        caller.use(account, service)
        intents = Intents(database)
        await intents.settle_after_start()
        await presenter.start(database, Catalogue(database), intents)
        await tasks.idle()
        yield desk
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        settings.save()
        await database.close()
    assert crashes == []


def words_heard(said: str, heard: str) -> float:
    """How many of the words that were said occur in what was heard, in order: 0 to 1."""
    from difflib import SequenceMatcher

    one = ["".join(sign for sign in word if sign.isalnum()) for word in said.casefold().split()]
    two = ["".join(sign for sign in word if sign.isalnum()) for word in heard.casefold().split()]
    blocks = SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks()
    return sum(block.size for block in blocks) / len(one)
