"""SIGKILL while it records and while it sends: nothing that was said or paid for is lost, and nothing is sent twice."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
import soundfile

from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.storage.intents import Intents
from app.storage.paths import resources
from tests.audio.recorded import pitch_hz, write_wav
from tests.sandbox.test_transcription import samples
from tests.ui.transcription_desk import open_desk

TEXT = "I would like a cup of coffee."


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


async def kill_while(what: str, home: Path, sandbox: RunningSandbox) -> str:
    """Run the victim until it has said its line, and kill it there; return the line."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.ui.transcription_victim", what, str(home), sandbox.base_url, sandbox.api_key),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert process.stdout is not None
    async with asyncio.timeout(100):
        told = (await process.stdout.readline()).decode().strip()
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    return told


async def slow(sandbox: RunningSandbox, times: int = 1) -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {sandbox.api_key}"}, timeout=60) as http:
        values = {"seconds": 20, "times": times, "path": "/audio/transcriptions"}
        answer = await http.put(f"{sandbox.origin}/sandbox/faults/slow", json=values)
        assert answer.status_code == 200, answer.text


def spoken() -> np.ndarray:
    return np.asarray(samples(TEXT), np.float32) / 32768


async def test_killed_mid_recording_it_is_on_the_list_whole_and_can_be_transcribed(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    seconds = float(await kill_while("recording", tmp_home, sandbox))
    assert seconds >= 2.0
    async with open_desk(tmp_home, sandbox) as desk:
        (entry,) = desk.entries
        assert entry.state == "recorded"
        desk.presenter.open(entry.id)
        await desk.done()
        head = desk.head
        assert head.note == "Rialto ended while this was recorded. Everything up to there is kept."
        assert head.sound.duration_s is not None
        assert head.sound.duration_s >= seconds
        assert [mark.text for mark in head.marks] == ["Here"]
        found, rate = soundfile.read(head.sound.path)
        assert pitch_hz(found, rate) == pytest.approx(440, abs=0.5)
        assert head.price.startswith("about $")
        assert all(each.resource != "transcription" for each in desk.exchanges)


async def test_killed_mid_upload_the_sound_is_there_and_nothing_is_sent_by_itself(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    write_wav(tmp_home / "note.wav", spoken())
    await slow(sandbox)
    assert await kill_while("uploading", tmp_home, sandbox) == "listening"
    async with open_desk(tmp_home, sandbox) as desk:
        (entry,) = desk.entries
        assert entry.state == "unknown"
        desk.presenter.open(entry.id)
        await desk.done()
        problem = desk.head.problem
        assert problem is not None
        assert "may have been transcribed and charged" in problem.meaning
        assert await Intents(desk.database).pending("transcription") == ()
        assert all(each.resource != "transcription" for each in desk.exchanges)
        desk.presenter.act("retry")
        await desk.done()
        assert desk.head.view == "result"


async def test_killed_between_parts_the_first_is_kept_and_not_paid_for_again(
    tmp_home: Path, sandbox: RunningSandbox
) -> None:
    write_wav(tmp_home / "talk.wav", np.concatenate((spoken(), np.zeros(16_000, np.float32), spoken())))
    first = await kill_while("parts", tmp_home, sandbox)
    assert first
    async with open_desk(tmp_home, sandbox) as desk:
        desk.presenter.sending.longest_part_s = 3.0
        desk.presenter.open(desk.entries[0].id)
        await desk.done()
        parts = await desk.presenter.store.parts(desk.entries[0].id)
        left = sum(not part.received for part in parts)
        assert left < len(parts)
        desk.presenter.retry()
        await desk.done()
        assert desk.head.view == "result", desk.head.problem
        sent = [each for each in desk.exchanges if each.resource == "transcription"]
        assert len(sent) == left
        assert desk.presenter.reading.document.text.replace("\n", " ").startswith(first.split()[0])
