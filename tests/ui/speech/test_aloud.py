"""Reading a chat's answer aloud: what is said of it, and when it stops."""

from __future__ import annotations

import pytest

from app.ui.speech.session.read_aloud import spoken
from tests.kit.speech import SpeechHarness
from tests.kit.waiting import until


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("**Bold** and *italic* and ~~gone~~.", "Bold and italic and gone."),
        ("# Title\n\nText.", "Title.\n\nText."),
        ("Look:\n\n```python\nprint('x')\n```\n\nDone.", "Look:\n\nDone."),
        ("Open\n```\nnever closed", "Open"),
        ("See [the page](https://example.org/a) and ![a cat](x.png).", "See the page and a cat."),
        ("A fact[REF]1[/REF] and another [2].", "A fact and another ."),
        ("- one\n- [x] two\n> said", "one\ntwo\nsaid"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a, b.\n\n1, 2."),
        ("`code` and <b>tag</b>", "code and tag"),
        ("5 * 3 * 2 and snake_case_name", "5 * 3 * 2 and snake_case_name"),
    ],
)
def test_signs_are_not_read(markdown: str, words: str) -> None:
    assert spoken(markdown) == words


async def test_pressing_again_falls_silent_and_asks_for_nothing_more(speech: SpeechHarness) -> None:
    speech.aloud.toggle("row", "One sentence here. Another one there. And a third.", is_whole=False)
    await until(lambda: speech.presenter.is_speaking)
    speech.aloud.toggle("row", "One sentence here.", is_whole=False)
    await until(lambda: not speech.tasks.running("speech speak"))
    assert speech.aloud.source == ""
    assert len(speech.clips[0].parts) <= 2


async def test_an_answer_of_code_alone_says_that_there_is_nothing_to_read(speech: SpeechHarness) -> None:
    said: list[str] = []
    speech.aloud.notice.connect(said.append)
    speech.aloud.begin("row", "```\ncode\n```", is_whole=True)
    await until(lambda: said)
    assert said == ["This answer has no text to read aloud."]


async def test_a_long_answer_is_asked_for_in_few_parts(speech: SpeechHarness) -> None:
    speech.presenter.set_speech_option("speed", 4.0)
    speech.aloud.begin("row", "A sentence of the answer. " * 80, is_whole=True)
    await until(lambda: speech.clips and not speech.tasks.running("speech speak"))
    clip = speech.clips[0]
    assert len(clip.parts) == 3
    assert clip.parts[0].finish == len("A sentence of the answer.")
    assert clip.text == ("A sentence of the answer. " * 80).strip()
