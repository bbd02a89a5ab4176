"""What is pressed while it cannot be done says why, by key as much as by button."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.ui.kit.tab import TabAction
from tests.kit.speech import SpeechHarness
from tests.kit.waiting import until

LINE = "The tide turns at noon."
SKY = ("tts-kokoro", "af_sky")


def action(speech: SpeechHarness, name: str) -> TabAction:
    return next(one for one in speech.page.actions() if one.id == name)


async def test_speaking_nothing_or_too_much_says_why(speech: SpeechHarness) -> None:
    speech.presenter.use_voice(*SKY)
    for name in ("speech.speak", "speech.file"):
        action(speech, name).run()
        assert speech.toasts.pop()[0] == "Type something to speak."
    speech.presenter.replace_text(LINE * 30_000)
    await until(lambda: not speech.editor.is_filling)
    action(speech, "speech.speak").run()
    assert speech.toasts.pop()[0] == f"Up to 500,000 characters. This text has {len(LINE) * 30_000:,}."
    assert not speech.presenter.is_speaking and speech.paid_calls == 0


WITHOUT_ACCOUNT: dict[str, Callable[[SpeechHarness], object]] = {
    "speak": lambda speech: speech.page.speak(),
    "the rest": lambda speech: speech.press_go_on(),
    "audition": lambda speech: speech.clip_actions.audition(LINE, (SKY, ("tts-kokoro", "bf_emma"))),
    "sample": lambda speech: speech.clones.sample(("tts-kokoro", "bf_emma")),
}


@pytest.mark.parametrize("what", WITHOUT_ACCOUNT)
async def test_without_an_account_everything_that_asks_for_sound_says_so(speech: SpeechHarness, what: str) -> None:
    speech.presenter.use_voice(*SKY)
    speech.write(LINE)
    if what == "the rest":
        await speech.spoken()
        assert speech.sound.view.clip_id
    speech.current_account.use(None, None)
    WITHOUT_ACCOUNT[what](speech)
    await until(speech.error_card.isVisible)
    assert speech.error_card.what.text() == "No account"


async def test_stop_rests_while_there_is_nothing_for_it(speech: SpeechHarness) -> None:
    assert not action(speech, "speech.stop").enabled()
