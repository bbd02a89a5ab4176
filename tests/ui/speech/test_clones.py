"""Voices of one's own: a sample recorded or chosen, checked, consented to, uploaded; a handle bound to its model."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.audio.devices import AudioProblem, AudioUnavailable
from app.audio.sample_check import check_sample
from app.sandbox.server import RunningSandbox
from app.service.speech import SpeechRequest
from app.storage.voices import ClonedVoice
from app.ui.kit.theme import Theme
from app.ui.speech.clone_dialog import CloneDialog
from app.ui.speech.inspector import OWN
from app.ui.speech.session.voice_cloning import _expiry
from tests.audio.pulse import Pulse
from tests.audio.recorded import FakeBlocks
from tests.audio.sounds import tone
from tests.kit.speech import SANDBOX, SpeechHarness, open_speech
from tests.kit.waiting import until
from tests.read_only import small_disk, vanished

LONG = "The ferry left at six whether or not anyone was on it. Nadia liked that about the ferry. It kept its promises."


async def sample_of(speech: SpeechHarness, folder: Path) -> Path:
    """A voice that really speaks, for seven seconds."""
    service = speech.current_account.service
    assert service is not None
    sound = await service.speech.synthesize(SpeechRequest(LONG, "tts-kokoro", "bf_emma", "wav"))
    path = folder / "me.wav"
    path.write_bytes(sound.data)
    return path


def dialog() -> CloneDialog | None:
    return next(
        (one for one in QApplication.topLevelWidgets() if isinstance(one, CloneDialog) and one.isVisible()), None
    )


def test_a_sample_is_measured_before_it_is_sent(tmp_path: Path) -> None:
    def judged(samples: np.ndarray) -> str:
        soundfile.write(tmp_path / "x.wav", samples, 24_000)
        report = check_sample(tmp_path / "x.wav")
        return report.problem or report.advice

    assert judged(tone(6.0, level=0.3)) == ""
    assert judged(tone(2.0)) == "The sample is 2.0 s long. It needs at least 5 s."
    assert judged(np.zeros(24_000 * 6, np.int16)) == "The sample contains no voice."
    assert "quiet" in judged(tone(6.0, level=0.012))
    assert "too loud" in judged(np.clip(tone(6.0, level=0.9).astype(int) * 2, -32768, 32767).astype(np.int16))
    assert "silence" in judged(np.concatenate((tone(2.0, level=0.4), np.zeros(24_000 * 6, np.int16))))
    (tmp_path / "page.wav").write_bytes(b"<html>")
    assert check_sample(tmp_path / "page.wav").problem


async def test_r_voi_01_r_voi_05_a_voice_is_cloned_in_the_dialog_and_speaks(
    speech: SpeechHarness, tmp_path: Path
) -> None:
    sample = await sample_of(speech, tmp_path)
    assert [model.id for model in speech.clones.cloning_models()] == ["tts-chatterbox-hd"]
    speech.press_clone()
    await until(dialog)
    asked = dialog()
    assert asked is not None and not asked.go.isEnabled()
    asked.name.setText("Mine")
    speech.clones.check(sample, "tts-chatterbox-hd")
    await until(asked.preview.isEnabled)
    assert "This is a good sample." in asked.report.text()
    assert not asked.go.isEnabled(), "nothing is sent without consent"
    assert asked.go.text() == "Clone for $0.05"
    assert asked.price.text().startswith("Cloning costs about $0.05, play money")
    asked.consent.click()
    asked.go.click()
    await until(lambda: speech.voice.startswith("vv_"))
    assert (speech.model, speech.presenter.choice.voice_name) == ("tts-chatterbox-hd", "Mine")
    (card,) = speech.own_cards
    assert "expires in 7 days" in card.second.text() and card.state.text() == "in use"
    assert not card.use.isEnabled()
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    await until(card.use.isEnabled)
    speech.show_side(OWN)
    speech.own_cards[0].window().activateWindow()
    card.use.setFocus()
    await until(card.use.hasFocus)
    QTest.keyClick(card.use, Qt.Key.Key_Space)
    await until(lambda: card.state.text() == "in use")
    assert not card.use.isEnabled() and not card.again.hasFocus(), "a second press must not clone it once more"
    speech.write("Hello again.")
    await speech.spoken()
    assert speech.clips[0].state == "complete"
    assert speech.rows[0].second_line == "Cloned: Mine · Chatterbox HD"


async def test_r_voi_04_a_lapsed_voice_is_made_anew_in_one_press(speech: SpeechHarness, tmp_path: Path) -> None:
    sample = await sample_of(speech, tmp_path)
    speech.clones.clone("Mine", "tts-chatterbox-hd", sample)
    await until(lambda: speech.voice.startswith("vv_"))
    before = speech.voice
    voice = speech.voices.cloned[0]
    lapsed = await speech.presenter.voices.took(voice.id, "box", before, speech.database.now() - timedelta(days=1))
    speech.voices.set_cloned((lapsed,))
    speech.clones.publish()
    (card,) = speech.own_cards
    assert card.state.text() == "expired" and not card.use.isEnabled()
    assert card.again.text() == "Clone again for $0.05", "what a press costs stands on its button"
    assert all(one.id != before for one in speech.voices.all())
    card.again.click()
    await until(lambda: speech.voice not in ("", before) and not card.again.isHidden())
    await until(lambda: card.state.text() == "in use")
    assert speech.voice.startswith("vv_")


async def test_r_voi_04_a_handle_that_the_service_forgot_is_explained_and_made_anew(
    speech: SpeechHarness, tmp_path: Path
) -> None:
    sample = await sample_of(speech, tmp_path)
    speech.clones.clone("Mine", "tts-chatterbox-hd", sample)
    await until(lambda: speech.voice.startswith("vv_"))
    voice = speech.voices.cloned[0]
    gone = await speech.presenter.voices.took(voice.id, "box", "vv_forgotten", voice.expires_at)
    speech.voices.set_cloned((gone,))
    speech.presenter.use_voice("tts-chatterbox-hd", "vv_forgotten")
    speech.write("Hello again.")
    await speech.spoken()
    problem = speech.problem
    assert problem.what == "The service no longer has the cloned voice Mine"
    assert problem.primary.text == "Clone it again" and "Nothing was charged" in problem.meaning
    speech.act_on_problem(problem.primary.id)
    await until(lambda: speech.voice not in ("", "vv_forgotten"))
    await speech.spoken()
    assert speech.clips[0].state == "complete"


async def test_a_refused_sample_is_kept_and_the_reason_said(speech: SpeechHarness, tmp_path: Path) -> None:
    path = tmp_path / "quiet.wav"
    soundfile.write(path, np.zeros(24_000 * 6, np.int16), 24_000)
    speech.clones.clone("Nobody", "tts-chatterbox-hd", path)
    await until(lambda: speech.problem)
    (voice,) = speech.voices.cloned
    assert voice.handle == "" and (speech.home / "data" / "voices" / voice.sample).exists()
    (card,) = speech.own_cards
    assert card.state.text() == "not created"


async def test_without_the_cloned_voice_one_speaks_as_before_it_also_after_a_restart(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme
) -> None:
    """Not with another voice of the clone's model, which costs many times more."""
    before = ("tts-kokoro", "af_sky")
    async with open_speech(tmp_path, sandbox, theme) as speech:
        speech.presenter.use_voice(*before)
        speech.clones.clone("Mine", "tts-chatterbox-hd", await sample_of(speech, tmp_path))
        await until(lambda: speech.voice.startswith("vv_"))
        (voice,) = speech.voices.own()
        speech.clones.move_to_trash(voice.id)
        await until(lambda: speech.voice == before[1])
        assert speech.model == before[0]
        speech.presenter.trash.restore((voice.id,))
        await until(lambda: speech.voices.own())
        speech.clones.use(voice.id)
        assert speech.presenter.voices is not None
        await speech.presenter.voices.trash(voice.id)  # by a Rialto that ended there
    async with open_speech(tmp_path, sandbox, theme) as speech:
        assert (speech.model, speech.voice) == before


async def test_a_cloned_voice_is_neither_offered_nor_used_under_another_account(
    speech: SpeechHarness, tmp_path: Path
) -> None:
    before = ("tts-kokoro", "af_sky")
    speech.presenter.use_voice(*before)
    speech.clones.clone("Mine", "tts-chatterbox-hd", await sample_of(speech, tmp_path))
    await until(lambda: speech.voice.startswith("vv_"))
    key, service = speech.presenter.choice, speech.current_account.service
    speech.current_account.use(SANDBOX._replace(id="other", name="Other"), service)
    await until(lambda: not speech.voices.is_offline)
    await until(lambda: speech.voice == before[1])
    assert speech.own_cards == []
    assert speech.voices.find(key.model, key.voice) is None
    assert not speech.clones.clone_anew(key.voice)
    speech.current_account.use(SANDBOX, service)
    await until(lambda: len(speech.own_cards) == 1)


async def test_the_moment_after_a_switch_no_cloned_voice_of_the_account_before_speaks(
    speech: SpeechHarness, tmp_path: Path
) -> None:
    speech.presenter.use_voice("tts-orpheus", "leo")
    speech.clones.clone("Mine", "tts-chatterbox-hd", await sample_of(speech, tmp_path))
    await until(lambda: speech.voice.startswith("vv_"))
    speech.write("Hello.")
    speech.current_account.use(SANDBOX._replace(id="other", name="Other"), speech.current_account.service)
    assert speech.voices.is_offline, "its voices are still on their way"
    await speech.spoken()
    await until(lambda: not speech.voices.is_offline)
    clip = speech.clips[0]
    assert (clip.account_id, clip.model, clip.voice) == ("other", "tts-orpheus", "leo")
    assert speech.shown_voice == ("tts-orpheus", "leo", "Orpheus")


async def test_a_voice_of_a_removed_account_can_be_cloned_anew_for_the_one_in_use(
    speech: SpeechHarness, tmp_path: Path
) -> None:
    """Its sample is still the person's; also when it was in the trash as the account was removed."""
    speech.clones.clone("Mine", "tts-chatterbox-hd", await sample_of(speech, tmp_path))
    await until(lambda: speech.voice.startswith("vv_"))
    (voice,) = speech.voices.own()
    speech.own_cards[0].trash.click()
    await until(lambda: speech.presenter.trash.entries)
    speech.voices.has_account = lambda account_id: account_id == "other"
    speech.current_account.use(SANDBOX._replace(id="other", name="Other"), speech.current_account.service)
    await until(lambda: not speech.voices.is_offline)
    speech.presenter.trash.restore((voice.id,))
    await until(lambda: speech.own_cards)
    (card,) = speech.own_cards
    assert card.state.text() == "not created" and not card.use.isEnabled()
    assert "its account was removed" in card.second.text()
    assert speech.voices.find(voice.model, voice.handle) is None
    card.again.click()
    await until(lambda: speech.voice.startswith("vv_"))
    (cloned,) = speech.voices.own()
    assert (cloned.id, cloned.account_id) == (voice.id, "other")
    assert cloned.handle not in ("", voice.handle)


async def test_a_cloned_voice_comes_back_from_the_trash(speech: SpeechHarness, tmp_path: Path) -> None:
    sample = await sample_of(speech, tmp_path)
    speech.clones.clone("Mine", "tts-chatterbox-hd", sample)
    await until(lambda: speech.voice.startswith("vv_"))
    speech.own_cards[0].trash.click()
    await until(lambda: not speech.own_cards)
    await until(lambda: speech.undo_stack.can_undo("speech"))
    speech.undo_stack.undo_last("speech")
    await until(lambda: len(speech.own_cards) == 1)


async def test_a_sample_is_recorded_from_a_real_microphone_in_the_dialog_and_cloned(
    speech: SpeechHarness, pulse: Pulse, tmp_path: Path
) -> None:
    """Record, its level and length, stop, hear it, consent, clone: by the buttons of the dialog alone."""
    sample = await sample_of(speech, tmp_path)
    speech.press_clone()
    await until(dialog)
    asked = dialog()
    assert asked is not None
    asked.name.setText("Mine")
    asked.record.click()
    assert asked.record.text() == "Stop" and not asked.go.isEnabled()
    await until(lambda: asked.report.text().startswith("Recording"))
    player = pulse.play(sample)
    levels: list[float] = []
    speech.clones.recording_changed.connect(lambda seconds, level, warning: levels.append(asked.level._share or 0))
    await until(lambda: player.poll() is not None)
    assert max(levels) > 0.3, "the level is seen while somebody speaks"
    asked.record.click()
    await until(asked.preview.isEnabled)
    assert "This is a good sample." in asked.report.text() and asked.record.text() == "Record again"
    with pulse.listening() as recording:
        asked.preview.click()
        await until(lambda: recording.stat().st_size > pulse.rate_hz * 4)
    assert not asked.go.isEnabled(), "nothing is sent without consent"
    assert asked.go.text() == "Clone for $0.05"
    assert asked.price.text().startswith("Cloning costs about $0.05, play money")
    asked.consent.click()
    asked.go.click()
    await until(lambda: speech.voice.startswith("vv_"))
    (voice,) = speech.voices.cloned
    kept = speech.home / "data" / "voices" / voice.sample
    assert voice.name == "Mine" and soundfile.info(kept).duration > 5
    await until(lambda: speech.own_cards)
    (card,) = speech.own_cards
    assert "expires in 7 days" in card.second.text()


async def test_a_recorded_sample_that_is_not_used_stays_until_the_end(speech: SpeechHarness, pulse: Pulse) -> None:
    speech.press_clone()
    await until(dialog)
    asked = dialog()
    assert asked is not None
    asked.record.click()
    await until(lambda: asked.report.text().startswith("Recording 1"))
    asked.record.click()
    await until(asked.preview.isEnabled)
    assert "It needs at least 5 s" in asked.report.text() or "No voice" in asked.report.text()
    asked.consent.click()
    assert not asked.go.isEnabled()
    assert list((speech.home / "cache" / "voices").glob("sample-*"))
    said = asked.report.text()
    asked.reject()
    await until(lambda: dialog() is None)
    speech.press_clone()
    await until(dialog)
    again = dialog()
    assert again is not None
    assert (again.report.text(), again.preview.isEnabled(), again.consent.isChecked()) == (said, True, False)
    again.reject()
    await until(lambda: dialog() is None)
    await speech.clones.aclose()
    assert not list((speech.home / "cache" / "voices").glob("sample-*"))


async def test_a_recorded_sample_that_cannot_be_deleted_is_told(speech: SpeechHarness) -> None:
    stays = speech.home / "cache" / "voices" / "sample-1.wav"
    stays.mkdir(parents=True)  # which `unlink` refuses, whoever asks
    said: list[str] = []
    speech.clones.notice.connect(said.append)
    speech.clones.record()
    await until(lambda: said)
    assert said[0].startswith("Deleting the recording failed. ") and said[0].endswith(str(stays))


async def test_a_sample_that_a_full_disk_does_not_take_is_told_and_leaves_no_part_of_it(
    speech: SpeechHarness, tmp_path: Path
) -> None:
    sample, kept = await sample_of(speech, tmp_path), speech.presenter.folder / "voices"
    kept.mkdir(parents=True)
    with small_disk(kept, 1) as disk:
        if disk is None:
            pytest.skip("no file system can be mounted here")
        (room := kept / "room").write_bytes(bytes(100_000))
        disk.fill()
        room.unlink()
        before = set(kept.iterdir())
        speech.clones.clone("Mine", "tts-chatterbox-hd", sample)
        await speech.tasks.idle()
        assert speech.problem.what.startswith("Saving the sample failed. The disk is full: ")
        assert set(kept.iterdir()) == before
        assert not speech.voices.own()


async def test_a_sample_that_the_disk_gives_no_room_to_play_is_told(speech: SpeechHarness, tmp_path: Path) -> None:
    sample = await sample_of(speech, tmp_path)
    said: list[str] = []
    speech.clones.notice.connect(said.append)
    with vanished(speech.home / "cache"):
        speech.clones.preview(sample)
        await until(lambda: said)
    assert said[0].startswith("Preparing audio failed. The folder does not exist: ")
    assert speech.clones.sounding is None


async def test_without_a_microphone_one_sentence_says_so(speech: SpeechHarness) -> None:
    def none() -> object:
        raise AudioUnavailable(AudioProblem.DEVICE, "input")

    said: list[str] = []
    speech.open_blocks = none  # type: ignore[assignment]  # it never returns
    speech.clones.microphone_problem.connect(said.append)
    speech.clones.record()
    await until(lambda: said)
    assert said == ["No microphone found."]


@pytest.mark.parametrize("how", ["stop", "close"])
async def test_a_microphone_that_opens_after_one_thought_better_of_it_is_closed_again(
    speech: SpeechHarness, how: str
) -> None:
    may_open, blocks = threading.Event(), FakeBlocks()

    def open_late() -> FakeBlocks:
        may_open.wait(60)
        return blocks

    speech.open_blocks = open_late
    speech.press_clone()
    await until(dialog)
    asked = dialog()
    assert asked is not None
    asked.record.click()
    assert asked.report.text() == "Waiting for the microphone"
    if how == "stop":
        asked.record.click()
        await until(lambda: asked.report.text() == "Nothing was recorded." and asked.record.text() == "Record")
    else:
        asked.reject()
        await speech.tasks.idle()
    may_open.set()
    await until(lambda: blocks.is_closed)
    await until(lambda: not list((speech.home / "cache" / "voices").glob("sample-*")))
    assert not speech.clones.is_recording
    if how == "stop":
        asked.reject()


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (timedelta(days=7, seconds=-1), "expires in 7 days"),
        (timedelta(hours=36), "expires in 1 day"),
        (timedelta(hours=13), "expires today"),
        (timedelta(), "expired"),
    ],
)
def test_an_expiry_is_never_said_to_be_later_than_it_is(left: timedelta, words: str) -> None:
    now = datetime(2026, 5, 4, 12, tzinfo=UTC)
    born = now - timedelta(days=1)
    voice = ClonedVoice("1", "box", "tts", "vv_1", "Mine", "1.wav", 8.0, born, born, expires_at=now + left)
    assert _expiry(voice, now) == words
