"""SIGKILL while it records and while it sends: nothing that was said or paid for is lost, and nothing is sent twice."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.paid_call_intents import Intents
from app.storage.paths import resources
from tests.audio.recorded import pitch_hz, write_wav
from tests.kit.portable import KILL
from tests.kit.sandbox import controls_of
from tests.kit.transcription import open_transcription_presenter
from tests.sandbox.test_transcription import samples

TEXT = "I would like a cup of coffee."


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


async def kill_while(what: str, home: Path, sandbox: RunningSandbox) -> str:
    """Run the victim until it has said its line, and kill it there; return the line."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.ui.killed_transcription", what, str(home), sandbox.base_url, sandbox.api_key),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stdout is not None
    async with asyncio.timeout(100):
        told = (await process.stdout.readline()).decode().strip()
    os.kill(process.pid, KILL)
    await process.wait()
    return told


async def slow(sandbox: RunningSandbox, times: int = 1) -> None:
    await controls_of(sandbox).fault("slow", seconds=20, times=times, path="/audio/transcriptions")


def spoken() -> np.ndarray:
    return np.asarray(samples(TEXT), np.float32) / 32768


async def test_killed_mid_recording_it_is_on_the_list_whole_and_can_be_transcribed(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    seconds = float(await kill_while("recording", tmp_home, sandbox))
    assert seconds >= 2.0
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        (entry,) = tab.entries
        assert entry.state == "recorded"
        tab.presenter.open(entry.id)
        await tab.done()
        head = tab.head
        assert head.note == "Rialto quit during this recording. Everything up to that point is saved."
        assert head.sound.duration_s is not None
        assert head.sound.duration_s >= seconds
        assert [mark.text for mark in head.marks] == ["Here"]
        found, rate = soundfile.read(head.sound.path)
        assert pitch_hz(found, rate) == pytest.approx(440, abs=0.5)
        assert head.price.startswith("$0.0")
        assert all(each.resource != "transcription" for each in tab.exchanges)


async def test_killed_mid_upload_the_sound_is_there_and_nothing_is_sent_by_itself(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    write_wav(tmp_home / "note.wav", spoken())
    await slow(sandbox)
    assert await kill_while("uploading", tmp_home, sandbox) == "listening"
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        (entry,) = tab.entries
        assert entry.state == "unknown"
        tab.presenter.open(entry.id)
        await tab.done()
        problem = tab.head.problem
        assert problem is not None
        assert "may have been transcribed and charged" in problem.meaning
        assert await Intents(tab.database).pending("transcription") == ()
        assert all(each.resource != "transcription" for each in tab.exchanges)
        tab.presenter.act("retry")
        await tab.done()
        assert tab.head.view == "result"


async def test_killed_between_parts_the_first_is_kept_and_not_paid_for_again(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    write_wav(tmp_home / "talk.wav", np.concatenate((spoken(), np.zeros(16_000, np.float32), spoken())))
    first = await kill_while("parts", tmp_home, sandbox)
    assert first
    async with open_transcription_presenter(tmp_home, sandbox) as tab:
        tab.presenter.sending.longest_part_s = 3.0
        tab.presenter.open(tab.entries[0].id)
        await tab.done()
        parts = await tab.presenter.store.parts(tab.entries[0].id)
        left = sum(not part.received for part in parts)
        assert left < len(parts)
        tab.presenter.retry()
        await tab.done()
        assert tab.head.view == "result", tab.head.problem
        sent = [each for each in tab.exchanges if each.resource == "transcription"]
        assert len(sent) == left
        assert tab.document.text.replace("\n", " ").startswith(first.split()[0])
