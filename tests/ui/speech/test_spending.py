"""Limits on spending hold for all that one press asks for: every part of a long text, every voice of an audition."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import pytest

from app.core.money import money
from app.core.spending_limits import Question, SpendingLimits
from app.core.tabs import tab_of
from app.sandbox.server import RunningSandbox
from app.storage.paid_call_intents import Intents
from app.ui.kit.theme import Theme
from app.ui.speech.clone_dialog import CloneDialog
from tests.kit.speech import SpeechHarness, open_speech
from tests.kit.waiting import until
from tests.sandbox.test_voices import sample

LONG = "The harbour lies still in the morning. " * 220  # three parts


class Limits:
    """The limits and the person who is asked."""

    def __init__(self) -> None:
        self.limits: dict[str, str] = {}
        self.questions: list[Question] = []
        self.answer = False
        self.spending_limits = SpendingLimits(lambda: self.limits, lambda: (), self._ask, tab_of)

    async def _ask(self, question: Question) -> bool:
        self.questions.append(question)
        return self.answer


@pytest.fixture
def limits() -> Limits:
    return Limits()


@pytest.fixture
async def guarded(
    tmp_path: Path, sandbox: RunningSandbox, theme: Theme, limits: Limits
) -> AsyncIterator[SpeechHarness]:
    async with open_speech(tmp_path, sandbox, theme, spending_limits=limits.spending_limits) as speech:
        speech.presenter.use_voice("tts-kokoro", "af_sky")
        speech.presenter.set_speech_option("speed", 4.0)
        yield speech


async def write_long(speech: SpeechHarness, text: str = LONG, parts: int = 3) -> Decimal:
    """Write a long text and return what the meter says all of it costs."""
    speech.write(text)
    await until(lambda: len(speech.presenter.meter.parts) == parts)
    price = speech.presenter.meter.price
    assert price is not None
    return price


@pytest.mark.parametrize("limit", ["hard call", "hard day", "hard tab speech", "soft day"])
async def test_a_long_reading_is_held_against_a_limit_in_whole_before_its_first_part(
    guarded: SpeechHarness, limits: Limits, limit: str
) -> None:
    """Each part alone would fit; together they do not."""
    price = await write_long(guarded)
    limits.limits = {limit: f"{price * 3 / 4:f}"}
    await guarded.spoken()
    problem = guarded.problem.sentence
    asked = limits.questions[0].text if limit.startswith("soft") else problem
    assert f"All 3 parts together may cost {money(price)}" in asked
    assert len(limits.questions) == limit.startswith("soft")
    clip = guarded.clips[0]
    assert [part.state for part in clip.parts] == ["failed", "planned", "planned"]
    assert not any(part.cost_usd for part in clip.parts)
    assert guarded.error_card.isVisible()
    assert "Nothing was sent" in guarded.problem.sentence
    (intent,) = await Intents(guarded.database).recent("speech")
    assert intent.state == "failed"


async def test_a_reading_that_was_let_past_a_limit_is_not_asked_about_at_every_part(
    guarded: SpeechHarness, limits: Limits
) -> None:
    price = await write_long(guarded, LONG[: len(LONG) // 2], 2)
    limits.limits = {"soft call": f"{price / 5:f}"}
    limits.answer = True
    await guarded.spoken()
    assert [part.state for part in guarded.clips[0].parts] == ["complete", "complete"]
    assert len(limits.questions) == 1
    limits.answer = False
    await guarded.spoken()
    assert guarded.clips[0].state == "failed"
    assert len(limits.questions) == 2, "the next reading is asked about anew"


async def test_going_on_is_held_against_a_limit_with_what_is_still_missing(
    guarded: SpeechHarness, limits: Limits
) -> None:
    price = await write_long(guarded)

    async def refuse_the_second(number: int) -> None:
        if number == 2:
            await guarded.fault("answer", path="/audio/speech", status=400, times=1)

    guarded.before_call = refuse_the_second
    await guarded.spoken()
    assert [part.state for part in guarded.clips[0].parts] == ["complete", "failed", "planned"]
    limits.limits = {"hard day": f"{price / 2:f}"}
    guarded.act_on_problem("go-on")
    await until(lambda: "All 2 parts together" in str(guarded.problem))


async def test_an_audition_is_held_against_a_limit_with_all_its_voices(guarded: SpeechHarness, limits: Limits) -> None:
    line = "The tide turns at noon."
    voices = (("tts-kokoro", "af_sky"), ("tts-kokoro", "bf_emma"), ("tts-kokoro", "am_adam"))
    price = guarded.clip_actions.audition_price(line, voices)
    assert price is not None
    limits.limits = {"soft call": f"{price / 2:f}"}
    limits.answer = True
    guarded.clip_actions.audition(line, voices)
    await until(lambda: [row.state for row in guarded.clips] == ["complete"] * 3)
    await until(lambda: not guarded.tasks.running("speech audition"))
    assert [("All 3 voices together" in question.text) for question in limits.questions] == [True]
    assert await limits.spending_limits.spent("day", guarded.current_account.account) == 0, "nothing stays held"


async def test_cloning_a_voice_is_held_against_a_limit(guarded: SpeechHarness, limits: Limits, tmp_path: Path) -> None:
    """Its price is the service's, and the sample stays for when there is room again."""
    limits.limits = {"hard day": "0.04"}
    path = tmp_path / "me.wav"
    path.write_bytes(sample())
    guarded.clones.clone("Mine", "tts-chatterbox-hd", path)
    await until(lambda: guarded.problem)
    problem = guarded.problem
    assert problem.what == "This would exceed your daily limit of $0.04"
    assert problem.meaning == "This request may cost $0.05. Nothing was sent."
    assert problem.primary.text == "Change the limit…"
    (voice,) = guarded.voices.cloned
    assert voice.handle == ""
    limits.limits = {"hard day": "0.05"}
    guarded.clones.clone_again(voice.id)
    await until(lambda: guarded.voice.startswith("vv_"))


async def test_a_clone_of_unknown_price_says_so_and_passes_no_limit_that_is_reached(
    guarded: SpeechHarness, limits: Limits, tmp_path: Path
) -> None:
    shelf = guarded.voices
    (model,) = guarded.clones.cloning_models()
    prices = {name: price for name, price in (model.model_spec.pricing or {}).items() if name != "voice_clone"}
    spec = model.model_spec.model_copy(update={"pricing": prices})
    shelf.set_models((model.model_copy(update={"model_spec": spec}),))
    dialog = CloneDialog(guarded.theme, guarded.page.main, guarded.clones, guarded.clones.cloning_models())
    assert dialog.go.text() == "Clone, price unknown"
    dialog.record.setText("Record again")
    assert dialog.record.sizeHint().width() <= dialog.record.minimumWidth(), "nothing moves beside it"
    assert dialog.price.text().startswith("Price unknown. ")
    dialog.deleteLater()
    limits.limits = {"hard day": "0"}
    path = tmp_path / "me.wav"
    path.write_bytes(sample())
    guarded.clones.clone("Mine", model.id, path)
    await until(lambda: guarded.problem)
    assert "daily limit" in guarded.problem.what
    (card,) = guarded.own_cards
    assert card.again.text() == "Clone again, price unknown"
    limits.limits = {"hard day": "0.01"}
    card.again.click()
    await until(lambda: guarded.voice.startswith("vv_"))
