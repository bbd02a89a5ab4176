"""A data folder of an earlier version opens unchanged: what was kept, what waited and what was set is there.

`data/earlier.zip` was made by that version itself, with something of every kind; no later version may rewrite it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import console, images, speech, transcription, video
from tests.kit.waiting import until

EARLIER = Path(__file__).parent / "data" / "earlier.zip"
Start = Callable[..., Any]


@pytest.fixture
def earlier(tmp_path: Path) -> None:
    with zipfile.ZipFile(EARLIER) as kept:
        kept.extractall(tmp_path / "home")


@pytest.mark.usefixtures("earlier")
async def test_what_an_earlier_version_kept_is_there(start: Start) -> None:
    async with start() as rialto:
        value = rialto.settings.value
        assert (value.theme, value.text_percent, value.welcome_done) == ("dark", 120, True)
        assert dict(value.budgets) == {"day": "7.50"}
        assert list(value.favourite_models) == ["rialto-handbook"]
        (account,) = rialto.account_services.accounts.list()
        assert (account.id, account.kind) == ("87b02e9a2610a66d", "sandbox")

        # Chat: the draft is in the box, the other chat has its turns, options, sources and receipt
        await until(lambda: rialto.chat_page.main.composer.text() == "a draft of yesterday")
        other = rialto.chat.library.get("fe4cf18cf9f9fc35b7cb706f92b254cd")
        assert (other.title, other.cost_usd) == ("How do I stop an answer?", Decimal("0.0100985"))
        rialto.chat_page.open_chat(other.id)
        await until(lambda: [row.role for row in rialto.chat_page.rows()] == ["user", "assistant"])
        assert rialto.chat_page.rows()[1].text.startswith("Press **Esc** or the Stop button.")
        options = rialto.chat.opened.options
        assert (options.web_search, options.temperature, options.system_prompt) == ("auto", 0.3, "Be calm.")
        await until(lambda: rialto.chat.presets is not None and rialto.chat.presets.rows())
        preset = rialto.chat.presets.one(rialto.chat.presets.rows()[0].id)
        assert (preset.name, preset.body["options"]) == ("Calm", {"web_search": "auto"})

        rialto.window.show_tab("speech")
        presenter = speech(rialto).presenter
        await until(lambda: presenter.text == "A text that waits to be spoken.")
        assert (presenter.choice.model, presenter.choice.voice) == ("tts-kokoro", "af_sky")
        assert (presenter.speech_options.speed, presenter.speech_options.format) == (1.25, "wav")
        assert not presenter.speech_options.stream
        await until(lambda: presenter.clip_library is not None and presenter.clip_library.rows)
        (clip,) = presenter.clip_library.rows
        assert (clip.text, clip.voice_name, clip.state, clip.duration_s) == (
            "One short line.",
            "Alloy",
            "complete",
            1.344,
        )

        rialto.window.show_tab("transcription")
        transcripts = transcription(rialto).presenter
        await until(lambda: transcripts.transcripts is not None)
        (row,) = await transcripts.transcripts.list()
        assert (row.title, row.state, row.preview, row.cost_usd) == ("tone", "done", "Mm.", Decimal("0.00010"))

        rialto.window.show_tab("images")
        await until(lambda: images(rialto).form.prompt.toPlainText() == "A prompt that waits")
        form = images(rialto).presenter.form
        assert (form.count, form.negative_prompt, form.seed) == (3, "rain", 7)
        await until(lambda: images(rialto).gallery_state.tiles)
        (image,) = images(rialto).presenter.library.rows.values()
        assert (image.prompt, image.options["width"], image.state) == ("A harbour at dawn", 1024, "saved")

        rialto.window.show_tab("video")
        filled = video(rialto).presenter.form
        await until(lambda: filled.form.prompt == "A film that waits")
        assert (filled.form.negative, filled.form.duration) == ("fog", "3s")
        assert list(filled.form.along.scenes) == ["https://example.com/scene.png"]
        await until(lambda: video(rialto).presenter.job_store.all())
        (job,) = video(rialto).presenter.job_store.all()
        assert (job.prompt, job.model_name) == ("A harbour at dawn", "Reel")

        rialto.window.show_tab("crypto_rpc")
        history = console(rialto).presenter
        history.open_call("e1ef7d9b2efb36ed93701e37163f8874")
        await until(lambda: history.run is not None)
        assert (history.run.results, history.draft.rows[0].method) == (1, "eth_blockNumber")

        rialto.window.show_tab("wallet")
        await settled(rialto)
        receipts = await rialto.database.fetch("SELECT count(*) FROM receipts")
        assert receipts[0][0] >= 24
