"""The transcribe tab on a real sound server: record what is said, lose the microphone, hear the test again."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import soundfile

from app.audio.devices import AudioHost
from app.core.current_account import CurrentAccount
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.service.auth import ApiKeyAuth
from app.service.service import open_service
from app.storage.database import Database
from app.storage.paid_call_intents import Intents
from app.storage.service_cache import ServiceCache
from app.storage.settings import SettingsStore
from app.ui.kit.sound.device_watch import DeviceWatch
from app.ui.transcription.presenter import TranscriptionPresenter
from app.ui.transcription.session.upload_preparation import Folders
from tests.audio.pulse import Pulse
from tests.audio.recorded import tone
from tests.audio.sounds import steadiest
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until


@asynccontextmanager
async def real_tab(home: Path) -> AsyncIterator[TranscriptionPresenter]:
    """A presenter with PortAudio and QtMultimedia as they are; only the service is a stub."""
    tasks, current_account = CheckedTasks(), CurrentAccount()

    async def read_key() -> str:
        return "sk-test-0123456789abcdef"

    nothing = httpx.MockTransport(lambda _: httpx.Response(200, json={"object": "list", "data": []}))
    service = open_service("http://service.test/v1", "service", ApiKeyAuth(read_key), lambda _: None, transport=nothing)
    database = await Database.open(home / "rialto.db")
    watch = DeviceWatch()
    presenter = TranscriptionPresenter(
        current_account,
        SettingsStore(home / "settings.json"),
        tasks,
        Folders(home / "recordings", home / "cache"),
        AudioHost(),
        watch,
        UndoStack(tasks),
    )
    try:
        current_account.use(Account(id="a", name="A", base_url="http://service.test/v1"), service)
        await presenter.start(database, ServiceCache(database), Intents(database))
        yield presenter
    finally:
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        await database.close()
        watch.deleteLater()
    tasks.check()


async def test_a_microphone_pulled_out_while_it_records_keeps_the_file_and_says_so(
    pulse: Pulse, tmp_home: Path
) -> None:
    module = pulse.plug_microphone("pulled", "Pulled microphone")
    before = pulse.pactl("get-default-source")
    pulse.pactl("set-default-source", "pulled")
    plugged = True
    try:
        async with real_tab(tmp_home) as presenter:
            recording = presenter.recording
            await until(lambda: any(one.name == "Pulled microphone" for one in recording.inputs().microphones))
            presenter.recorder.choose_microphone(
                next(one.id for one in recording.inputs().microphones if one.name == "Pulled microphone")
            )
            presenter.recorder.record()
            await until(lambda: recording.seconds > 0.2)
            path = tmp_home / "tone.wav"
            soundfile.write(path, tone(440, 1.0, 0.5, 48_000), 48_000)
            await asyncio.to_thread(pulse.play(path, "pulled_feed").wait, 60)
            pulse.unplug(module)
            plugged = False
            await until(lambda: not presenter.recorder.is_recording)
            row = presenter.open_row
            assert row is not None
            await until(lambda: presenter.row(row.id).state == "recorded")  # type: ignore[union-attr]  # it is on the list
            row = presenter.row(row.id)
            assert row is not None
            assert row.note == "The microphone was disconnected. Everything up to that point is saved."
            found, rate = soundfile.read(tmp_home / "recordings" / row.sound_path)
            assert len(found) / rate > 1.0
            assert steadiest(found, 440, rate)[0] == pytest.approx(440, abs=3)
    finally:
        pulse.pactl("set-default-source", before)
        if plugged:
            pulse.unplug(module)


def test_the_list_follows_real_plugging(pulse: Pulse, tmp_home: Path) -> None:
    """In a process of its own: Qt hears only of the first sound server that a process has met."""
    command = [sys.executable, "-m", "tests.ui.plugged_microphone", str(tmp_home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **pulse.environ}, text=True) as program:
        assert program.stdout is not None
        known = map(json.loads, program.stdout)
        try:
            assert any(pulse.source_name in each for each in known)
            module = pulse.plug_microphone("late", "Late microphone")
            try:
                late = next(each for each in known if "Late microphone" in each)
            finally:
                pulse.unplug(module)
        finally:
            program.kill()
    assert late["Late microphone"] == 1, "it is mono, whatever the server could make of it"


async def test_three_seconds_are_recorded_and_heard_from_the_loudspeaker(pulse: Pulse, tmp_home: Path) -> None:
    path = tmp_home / "tone.wav"
    soundfile.write(path, tone(660, 6.0, 0.4, 48_000), 48_000)
    async with real_tab(tmp_home) as presenter:
        states: list[str] = []
        presenter.recording.inputs_changed.connect(lambda inputs: states.append(inputs.test))
        await until(lambda: presenter.recording.inputs().microphones)
        presenter.recorder.choose_microphone(
            next(one.id for one in presenter.recording.inputs().microphones if one.name == pulse.source_name)
        )
        said = pulse.play(path)
        with pulse.listening() as heard:
            presenter.recorder.test_microphone()
            await until(lambda: "playing" in states)
            await until(lambda: states[-1] == "")
        await asyncio.to_thread(said.wait, 60)
        import numpy as np

        found = np.fromfile(heard, np.float32)
        loud = np.flatnonzero(np.abs(found) > 0.1)
        assert len(loud) / pulse.rate_hz > 0.8
        assert steadiest(found, 660, pulse.rate_hz)[0] == pytest.approx(660, abs=3)
