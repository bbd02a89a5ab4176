"""Writing and speaking: the meter, the price, what is sent, what is kept, and what happens when a part fails."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core import time_format
from app.service.service import open_service
from app.storage.paid_call_intents import Intents
from app.ui.speech.session import synthesis
from app.ui.speech.state import Choice
from tests.audio.test_not_sound import wav_head
from tests.kit.speech import SpeechHarness, open_speech
from tests.kit.waiting import entered, until
from tests.service.loopback import http, serving

SENTENCE = "The harbour lies still in the morning. "
WAV_WITHOUT_CHANNELS = wav_head(channels=0)
QUIET_WAV = wav_head(size=24_000) + bytes(24_000)
TEXT = "The ferry left at six. Nadia liked that about the ferry. It made no promises."


async def test_a_text_becomes_a_take_with_its_sound_and_its_receipt(
    speech: SpeechHarness, qtbot: QtBot, heard: list[str]
) -> None:
    speech.presenter.use_voice("tts-kokoro", "bf_emma")
    qtbot.keyClicks(speech.editor, "Hello there. ")
    qtbot.keyClick(speech.editor, Qt.Key.Key_A)
    await until(speech.speak_bar.speak.isEnabled)
    speech.press_speak()
    await until(lambda: not speech.presenter.is_speaking and speech.rows and speech.rows[0].length)
    (row,) = speech.rows
    assert (row.title, row.second_line, row.group) == ("Hello there. a", "Emma · Kokoro", "Today")
    assert row.cost.startswith("about $0.00") and not row.is_partial
    receipt = speech.receipt
    assert "first audio" in receipt.text() and "14 characters" in receipt.text() and "play money" in receipt.text()
    clip = speech.clips[0]
    assert speech.files.part(clip.parts[0]).stat().st_size == clip.size_bytes > 1000
    assert speech.waveform_s == pytest.approx(clip.duration_s, abs=0.05)
    said = [words for words in heard if words.startswith("Speech ready")]
    assert [words.split(". ")[0] for words in said] == [f"Speech ready, {time_format.duration(clip.duration_s)}"]


async def test_the_meter_counts_cuts_and_prices_before_anything_is_sent(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    bar = speech.speak_bar
    assert not bar.speak.isEnabled() and bar.length.text() == "Type something to speak."
    speech.write(SENTENCE * 160)
    assert bar.count.text() == "6,238"
    assert bar.cut.text() == "characters in 2 parts: 4,094 and 2,144 of 4,096"
    assert bar.bars.accessibleDescription() == "6,238 characters in 2 parts"
    bar.bars.show_parts((40,))
    assert bar.bars.accessibleDescription() == "40 characters"
    assert bar.price.text() == "$0.0218"
    assert bar.length.text().startswith("About 7 min")
    assert speech.editor._begins == (4095,)


async def test_r_lim_21_a_long_text_is_spoken_in_parts_and_joined_into_one_clip(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.presenter.set_speech_option("format", "wav")
    speech.presenter.set_speech_option("speed", 4.0)
    speech.write(SENTENCE * 110)
    await speech.spoken()
    clip = speech.clips[0]
    assert [(part.state, part.kind) for part in clip.parts] == [("complete", "wav")] * 2
    assert speech.receipt.text().startswith("2 parts · ")
    assert speech.rows[0].cost in speech.receipt.text()
    assert "Part 1 · " in speech.receipt.toolTip() and "Part 2 · " in speech.receipt.toolTip()
    reading = speech.sound.reading
    assert reading is not None and reading.spool.seams_s == pytest.approx((clip.parts[0].duration_s,), abs=0.01)
    assert speech.waveform_s == pytest.approx(clip.duration_s, abs=0.05)
    places = speech.sound.sentence_places()
    assert len(places) == 110
    assert [start for _, start in places] == sorted(start for _, start in places)


async def test_a_part_that_fails_is_asked_for_alone_and_the_rest_is_kept(speech: SpeechHarness) -> None:
    """The second part is refused; pressing the button of the error asks for it again and for nothing else."""

    async def refuse_the_second(number: int) -> None:
        if number == 2:
            await speech.fault("lie", path="/audio/speech", kind="html", times=1)

    speech.before_call = refuse_the_second
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.presenter.set_speech_option("speed", 4.0)
    speech.write(SENTENCE * 110)
    await speech.spoken()
    clip = speech.clips[0]
    first = clip.parts[0]
    assert [part.state for part in clip.parts] == ["complete", "failed"]
    assert speech.rows[0].is_partial
    assert speech.go_on_button.isVisible()
    assert speech.problem.primary.text == "Request part 2 again"
    speech.act_on_problem(speech.problem.primary.id)
    await until(lambda: speech.clips[0].state == "complete")
    await until(lambda: not speech.presenter.is_speaking)
    assert speech.clips[0].parts[0] == first
    assert not speech.go_on_button.isVisible() and not speech.error_card.isVisible()
    calls = await Intents(speech.database).recent("speech")
    assert sorted(intent.request["part"] for intent in calls) == [1, 2, 2]


async def test_a_clip_without_any_audio_is_tried_again_and_there_is_room_to_say_so(speech: SpeechHarness) -> None:
    await speech.fault("lie", path="/audio/speech", kind="html", times=1)
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.write("A line.")
    await speech.spoken()
    assert speech.go_on_button.isVisible() and speech.go_on_button.accessibleName() == "Try again"
    canvas = speech.page.main
    for width in (620, 680, 760, 900):
        canvas.setFixedWidth(width)
        await until(lambda width=width: canvas.width() == width)
        canvas.player.fit()
        assert canvas.player.minimumSizeHint().width() <= width


async def test_stopped_between_two_parts_the_rest_is_asked_for_by_one_press(speech: SpeechHarness) -> None:
    async def stop_at_the_second(number: int) -> None:
        if number == 2:
            speech.presenter.stop()

    speech.before_call = stop_at_the_second
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.presenter.set_speech_option("speed", 4.0)
    speech.write(SENTENCE * 110)
    await speech.spoken()
    clip = speech.clips[0]
    assert clip.parts[0].state == "complete" and clip.parts[1].state == "cut"
    speech.press_go_on()
    await until(lambda: speech.clips[0].state == "complete")
    assert speech.clips[0].parts[0] == clip.parts[0]
    calls = await Intents(speech.database).recent("speech")
    assert sorted(intent.request["part"] for intent in calls) == [1, 2, 2]


async def speak(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.write(TEXT)
    await until(speech.speak_bar.speak.isEnabled)
    speech.press_speak()


async def test_who_presses_stop_twice_has_a_part_that_is_cut_and_can_go_on(
    speech: SpeechHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = entered(monkeypatch, synthesis._Keeper, "end")

    async def stop(_number: int) -> None:
        speech.presenter.stop()

    speech.before_call = stop
    await speak(speech)
    await ending.wait()
    speech.presenter.stop()
    await until(lambda: not speech.presenter.is_speaking)
    assert [part.state for part in speech.clips[0].parts] == ["cut"]


async def test_stopped_as_its_end_is_kept_a_part_is_whole(
    speech: SpeechHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeping = entered(monkeypatch, synthesis.SpeechSynthesis, "_keep")
    await speak(speech)
    await keeping.wait()
    speech.presenter.stop()
    await until(lambda: not speech.presenter.is_speaking)
    assert [part.state for part in speech.clips[0].parts] == ["complete"]
    assert (await Intents(speech.database).recent("speech"))[0].state == "answered"


async def test_a_stream_that_is_cut_keeps_what_came_and_says_so(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.presenter.set_speech_option("format", "wav")
    await speech.fault("cut", path="/audio/speech", after=60_000, times=1)
    speech.write(TEXT)
    await speech.spoken()
    clip = speech.clips[0]
    assert (clip.state, clip.parts[0].state, clip.parts[0].size_bytes) == ("cut", "cut", 60_000)
    assert clip.duration_s == pytest.approx(60_000 / 48_000, abs=0.05)
    assert speech.error_card.isVisible()
    assert speech.problem.primary.id == "go-on"
    speech.act_on_problem("go-on")
    await until(lambda: speech.clips[0].state == "complete")
    folder = speech.files.of(clip.id)
    assert sorted(path.name for path in folder.iterdir()) == ["part-01-2.wav", "part-01.wav"]
    assert not speech.error_card.isVisible()


@pytest.mark.parametrize("kind", ["mp3", "opus", "aac", "flac", "wav", "pcm"])
async def test_r_tts_12_r_tts_15_r_tts_25_each_format_arrives_streamed_and_is_heard(
    speech: SpeechHarness, kind: str
) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.presenter.set_speech_option("format", kind)
    speech.write(TEXT)
    await speech.spoken()
    clip = speech.clips[0]
    assert (clip.parts[0].kind, clip.state) == (kind, "complete")
    assert 3.0 < clip.duration_s < 9.0
    assert speech.sound.peaks().max() > 20


async def test_r_tts_24_a_voice_of_another_model_that_is_refused_is_explained_with_a_way_on(
    speech: SpeechHarness,
) -> None:
    speech.presenter.choice = Choice("tts-kokoro", "Kokoro", "tara", "Tara")
    speech.write("Hello.")
    await speech.spoken()
    problem = speech.problem
    assert problem.what == "Kokoro has no voice tara"
    assert "af_alloy" in problem.meaning and problem.meaning.endswith("… Nothing was charged.")
    assert len(problem.meaning) < 200, "fifty voices are for the details"
    speech.act_on_problem("model-voice")
    assert speech.voice == "af_sky"
    assert speech.problem is None


async def test_what_was_typed_and_chosen_is_there_after_a_restart(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-orpheus", "leo")
    speech.presenter.set_speech_option("temperature", 1.25)
    speech.write("Half a sentence")
    speech.choose_volume(0.4)
    kept = await speech.saved_draft()
    assert (kept["text"], kept["model"], kept["voice"], kept["volume"]) == (
        "Half a sentence",
        "tts-orpheus",
        "leo",
        0.4,
    )
    assert kept["knobs"]["temperature"] == 1.25
    async with open_speech(speech.home, speech.sandbox, speech.theme) as later:
        assert later.text() == "Half a sentence"
        assert (later.voice, later.sound.player.volume) == ("leo", 0.4)


async def test_a_text_that_is_too_long_says_by_how_much_and_is_kept(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    text = SENTENCE * 13_000
    speech.presenter.replace_text(text)
    await until(lambda: speech.presenter.meter.characters > 500_000)
    bar = speech.speak_bar
    assert bar.length.text() == f"Up to 500,000 characters. This text has {len(text):,}."
    assert not bar.speak.isEnabled()
    speech.presenter.replace_text(text[: 39 * 12_000])
    await until(bar.speak.isEnabled)
    editor = speech.editor
    await until(lambda: not editor.is_filling)
    assert editor.text() == text[: 39 * 12_000]
    assert bar.cut.text().startswith("characters in 115 parts")


async def test_the_bundled_voices_are_there_without_a_service(speech: SpeechHarness) -> None:
    speech.current_account.use(None, None)
    await until(lambda: speech.voices.is_offline)
    picker = speech.picker
    assert picker.count.text() == "207 of 207 voices · not checked yet"
    assert ("tts-kokoro", "bf_emma") in picker.view.rows.shown_keys()


async def test_without_an_account_it_says_so_and_keeps_the_text(speech: SpeechHarness) -> None:
    speech.write("Hello.")
    speech.current_account.use(None, None)
    speech.page.speak()
    assert speech.problem.what == "No account"
    assert speech.presenter.text == "Hello."


async def test_a_part_that_never_left_costs_nothing(speech: SpeechHarness) -> None:
    async with serving() as gone:
        address = gone.base_url
    real = speech.current_account.service
    service = open_service(address, "service", None, lambda exchange: None)
    speech.current_account.service = service
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.write(TEXT)
    await speech.spoken()
    (part, *_) = speech.clips[0].parts
    assert (part.state, part.cost_usd, part.cost_source) == ("failed", None, "none")
    speech.current_account.service = real
    await service.aclose()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (random.Random(14).randbytes(30_000), "audio/mpeg"),
        (WAV_WITHOUT_CHANNELS + bytes(4_000), "audio/wav"),
        (b"ID3\x04\x00" + b"<html>Bad gateway</html>" * 40, "audio/mpeg"),
    ],
    ids=["noise", "a wave without channels", "a page behind a tag"],
)
async def test_what_is_no_sound_is_a_refusal_with_its_receipt_and_no_clip(
    speech: SpeechHarness, body: bytes, told: str
) -> None:
    real = speech.current_account.service
    async with serving(http(200, body, content_type=told), http(200, QUIET_WAV, content_type="audio/wav")) as odd:
        service = open_service(odd.base_url, "service", None, lambda exchange: None)
        speech.current_account.service = service
        speech.presenter.use_voice("tts-kokoro", "af_sky")
        speech.write(TEXT)
        await speech.spoken()
        clip = speech.clips[0]
        part = clip.parts[0]
        assert (clip.state, part.state) == ("failed", "failed")
        assert speech.error_card.isVisible()
        problem = speech.problem
        assert problem.what == "The service’s response is not audio"
        assert (problem.primary.id, problem.primary.text) == ("go-on", "Try again")
        assert part.exchange_id and part.cost_usd  # it may have been charged
        assert part.cost_source == "at most"
        assert part.first_sound_s is None
        assert not speech.transcribe_button.isEnabled()
        assert speech.sound.reading.path_of(part).read_bytes() == body  # to be looked at
        assert len(odd.received) == 1, "nothing paid is asked for again by itself"
        speech.act_on_problem("go-on")
        await until(lambda: speech.clips[0].state == "complete")
        await until(lambda: not speech.presenter.is_speaking)
        assert not speech.error_card.isVisible()
        speech.current_account.service = real
        await service.aclose()


async def test_a_wait_for_a_limit_is_told_while_it_lasts(speech: SpeechHarness) -> None:
    real = speech.current_account.service
    told: list[str] = []
    speech.sound.changed.connect(lambda: told.append(speech.status_text))
    replies = (
        http(429, {"error": "Rate limit"}, retry_after="1"),
        http(200, QUIET_WAV, content_type="audio/wav"),
    )
    async with serving(*replies) as odd:
        service = open_service(odd.base_url, "service", None, lambda exchange: None)
        speech.current_account.service = service
        speech.presenter.use_voice("tts-kokoro", "af_sky")
        speech.write(TEXT)
        await speech.spoken()
        assert "Waiting 0:02" in told
        assert told[-1] == ""
        speech.current_account.service = real
        await service.aclose()


async def test_429_for_ever_is_tried_four_times_and_then_asks(speech: SpeechHarness) -> None:
    real = speech.current_account.service
    async with serving(http(429, {"error": "Rate limit"}, retry_after="0.05")) as odd:
        service = open_service(odd.base_url, "service", None, lambda exchange: None)
        speech.current_account.service = service
        speech.presenter.use_voice("tts-kokoro", "af_sky")
        speech.write(TEXT)
        await speech.spoken()
        problem = speech.problem
        assert (problem.what, problem.countdown_until) == ("Limit reached", None)
        assert problem.meaning.startswith("Resets at ")
        assert problem.primary.text == "Try again"
        assert len(odd.received) == 4
        speech.current_account.service = real
        await service.aclose()
