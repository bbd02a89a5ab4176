"""The loudspeaker for real: what a player plays is what the monitor of a sound server hears."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.audio.devices import AudioHost, AudioProblem, AudioUnavailable
from app.audio.player import Player
from app.audio.spool import Spool
from tests.audio.pulse import Pulse
from tests.audio.sounds import block, heard, loud_s, steadiest
from tests.kit.waiting import block_until


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = Spool(tmp_path / "sound.pcm")
    yield spool
    spool.close()


@pytest.fixture
def player(host: AudioHost) -> Iterator[Player]:
    player = Player(host)
    yield player
    player.close()


def test_a_tone_that_is_played_is_the_tone_that_is_heard(player: Player, spool: Spool, pulse: Pulse) -> None:
    spool.add(block(1.0, 440.0))
    spool.finish()
    player.load(spool)
    with pulse.listening() as recording:
        player.play()
        block_until(lambda: player.state == "ended")
    sound = heard(recording)
    assert steadiest(sound, 440.0) == (pytest.approx(440.0, abs=1.0), pytest.approx(0.354, abs=0.01))
    assert loud_s(sound) == pytest.approx(1.0, abs=0.06)
    assert player.position_s == pytest.approx(1.0)


def test_it_goes_to_the_loudspeaker_that_was_chosen(player: Player, spool: Spool, pulse: Pulse) -> None:
    spool.add(block(0.4))
    spool.finish()
    player.load(spool)
    player.set_device(f"server:{pulse.feed}")
    with pulse.listening() as default, pulse.listening(device=f"{pulse.feed}.monitor") as chosen:
        player.play()
        block_until(lambda: player.state == "ended")
    assert len(heard(default)) == 0
    assert steadiest(heard(chosen), 440.0, piece_s=0.2)[0] == pytest.approx(440.0, abs=3.0)


def test_half_the_volume_is_half_the_level(player: Player, spool: Spool, pulse: Pulse) -> None:
    spool.add(block(0.4))
    spool.finish()
    player.load(spool)
    player.set_volume(0.5)
    with pulse.listening() as recording:
        player.play()
        block_until(lambda: player.state == "ended")
    assert steadiest(heard(recording), 440.0, piece_s=0.2)[1] == pytest.approx(0.177, abs=0.01)


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_another_speed_keeps_the_pitch(player: Player, spool: Spool, pulse: Pulse, speed: float) -> None:
    spool.add(block(1.0))
    spool.finish()
    player.load(spool)
    player.set_speed(speed)
    with pulse.listening() as recording:
        player.play()
        block_until(lambda: player.state == "ended")
    sound = heard(recording)
    assert steadiest(sound, 440.0)[0] == pytest.approx(440.0, rel=0.01)
    assert loud_s(sound) == pytest.approx(1.0 / speed, rel=0.12)


def test_it_plays_what_is_there_waits_for_more_and_goes_on(player: Player, spool: Spool, pulse: Pulse) -> None:
    player.load(spool)
    player.play()
    block_until(lambda: player.state == "waiting")
    with pulse.listening() as recording:
        spool.add(block(0.3))
        block_until(lambda: player.state == "playing")
        block_until(lambda: player.state == "waiting")
        spool.add(block(0.3))
        spool.finish()
        block_until(lambda: player.state == "ended")
    assert loud_s(np.fromfile(recording, np.float32)) == pytest.approx(0.6, rel=0.1)


def test_pausing_silences_within_a_tenth_of_a_second(player: Player, spool: Spool, pulse: Pulse) -> None:
    """The issue's limit is 100 ms after the key; what is measured includes the recorder's own delay of 20 ms, and more
    of it on a busy machine: the best of a few tries counts."""
    spool.add(block(20.0))
    spool.finish()
    player.load(spool)
    took: list[float] = []
    while len(took) < 4 and min(took, default=1.0) >= 0.1:
        before = player.position_s
        with pulse.listening() as recording:
            player.play()
            block_until(lambda: player.position_s > before + 0.3)  # noqa: B023 - it is over before the next try
            player.pause()
            pressed = recording.stat().st_size // 4
            block_until(lambda: recording.stat().st_size // 4 > pressed + pulse.rate_hz // 2)  # noqa: B023 - as above
        last = np.flatnonzero(np.abs(np.fromfile(recording, np.float32)) > 0.02)[-1]
        took.append((last - pressed) / pulse.rate_hz)
        assert player.state == "paused"
        assert before + 0.25 < player.position_s
    assert min(took) < 0.1, took


def test_seeking_plays_from_there(player: Player, spool: Spool, pulse: Pulse) -> None:
    spool.add(block(2.0, 440.0))
    spool.add(block(0.5, 880.0))
    spool.finish()
    player.load(spool)
    player.seek(2.1)
    with pulse.listening() as recording:
        player.play()
        block_until(lambda: player.state == "ended")
    sound = heard(recording)
    assert steadiest(sound, 880.0)[0] == pytest.approx(880.0, abs=3.0)
    assert loud_s(sound) == pytest.approx(0.4, abs=0.04)


def test_a_loudspeaker_that_is_pulled_out_is_no_end_and_the_place_is_kept(
    player: Player, spool: Spool, pulse: Pulse
) -> None:
    module = pulse.plug("headphones_2")
    spool.add(block(5.0))
    spool.finish()
    player.load(spool)
    player.set_device("server:headphones_2")
    player.play()
    block_until(lambda: player.position_s > 0.2)
    pulse.unplug(module)
    block_until(lambda: player.problem is not None or player.position_s > 0.8)
    if player.problem is not None:
        assert player.problem.missing is AudioProblem.LOST
        player.set_device("")
        player.play()
    block_until(lambda: player.position_s > 1.0)


@pytest.mark.parametrize("missing", [AudioProblem.LIBRARY, AudioProblem.DEVICE, AudioProblem.BUSY])
def test_without_sound_it_says_why_and_stays_where_it_was(missing: AudioProblem, spool: Spool, host: AudioHost) -> None:
    def make(rate_hz: int, device_id: str) -> object:
        raise AudioUnavailable(missing, "output")

    player = Player(host, make=make)  # type: ignore[arg-type]  # it never returns
    spool.add(block(0.5))
    spool.finish()
    player.load(spool, at_s=0.2)
    player.play()
    block_until(lambda: player.problem is not None)
    assert player.problem is not None and player.problem.missing is missing
    assert (player.state, player.position_s) == ("paused", pytest.approx(0.2))
    player.close()


def test_with_no_sound_server_it_says_so_and_does_not_hang(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, pulse: Pulse
) -> None:
    monkeypatch.setenv("PULSE_SERVER", "unix:/nonexistent/pulse")
    player = Player(AudioHost())
    spool.add(block(0.5))
    player.load(spool)
    player.play()
    block_until(lambda: player.problem is not None)
    player.close()
