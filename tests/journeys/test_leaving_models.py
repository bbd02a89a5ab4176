"""A model that leaves, in every tab of the whole program: said once, shown while it is in use, and replaced at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.bootstrap.rialto import Rialto
from app.ui.kit.leaving_strip import LeavingStrip
from tests.journeys.paying_tabs import PAID_ACTIONS, images, speech, transcription, video
from tests.journeys.test_wallet import control, in_the_sandbox
from tests.kit.waiting import until

WAYS: dict[str, tuple[Callable[[Rialto], LeavingStrip], Callable[[Rialto], str], Callable[[Rialto], object], str]] = {
    "images": (
        lambda rialto: images(rialto).form.leaving,
        lambda rialto: images(rialto).presenter.model_id,
        lambda rialto: images(rialto).presenter.refresh_models(),
        "Images",
    ),
    "speech": (
        lambda rialto: speech(rialto).main.leaving,
        lambda rialto: speech(rialto).presenter.choice.model,
        lambda rialto: speech(rialto).presenter.refresh_models(),
        "Speech",
    ),
    "video": (
        lambda rialto: video(rialto).form.leaving,
        lambda rialto: video(rialto).presenter.form.form.model,
        lambda rialto: video(rialto).presenter.form.refresh_models(),
        "Video",
    ),
}


@pytest.mark.qt_log_ignore("pa_context_connect")  # there may be no sound server; nothing is heard here
async def test_every_tab_warns_of_its_model_and_moves_it_everywhere_with_undo(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)  # the forms are beside the canvas
        for tab, (strip_of, model_of, reread, words) in WAYS.items():
            rialto.window.show_tab(tab)
            await PAID_ACTIONS[tab].prepare(rialto, tmp_path)
            strip, before = strip_of(rialto), model_of(rialto)
            assert not strip.isVisible(), tab
            await control(rialto, "/settings", "PUT", leaving_model=before)
            reread(rialto)
            await until(strip.isVisible, f"the strip in {tab}")
            said = strip.words.text()
            assert " retires " in said and f"In use: {words}." in said, said
            if not strip.everywhere.isVisible():
                assert strip.choose.isVisible(), tab
                continue
            strip.everywhere.click()
            await until(lambda: model_of(rialto) != before, f"another model in {tab}")  # noqa: B023
            assert not strip.isVisible(), tab
            assert rialto.window.undo_stack.undo_last(tab)
            await until(lambda: model_of(rialto) == before, f"the model again in {tab}")  # noqa: B023
            assert strip.isVisible(), tab


@pytest.mark.qt_log_ignore("pa_context_connect")
async def test_a_tab_without_another_model_offers_to_choose_and_can_put_it_off(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.show_tab("transcription")
        await PAID_ACTIONS["transcription"].prepare(rialto, tmp_path)
        page = transcription(rialto)
        strip = page.main.leaving
        await control(rialto, "/settings", "PUT", leaving_model=page.presenter.options.model)
        page.presenter.refresh_models()
        await until(strip.isVisible, "the strip")
        assert "In use: Transcribe." in strip.words.text()
        strip.close_button.click()
        page.presenter.publish_all()
        assert not strip.isVisible()


@pytest.mark.qt_log_ignore("pa_context_connect")
async def test_a_response_alone_is_enough_and_it_is_announced_once(start: Callable[..., Any], tmp_path: Path) -> None:
    """R-HDR-19 R-HDR-20 R-VER-05."""
    async with start() as rialto:
        await in_the_sandbox(rialto)
        heard: list[str] = []
        rialto.current_account.leaving.announced.connect(heard.append)
        rialto.window.show_tab("speech")
        await PAID_ACTIONS["speech"].prepare(rialto, tmp_path)
        strip = speech(rialto).main.leaving
        await control(rialto, "/settings", "PUT", leaving_model=speech(rialto).presenter.choice.model)
        PAID_ACTIONS["speech"].begin(rialto)
        await until(strip.isVisible, "the strip, from the headers of the response")
        assert "In use: Speech." in strip.words.text()
        assert len([each for each in heard if "In use: Speech" in each]) == 1
        await until(lambda: PAID_ACTIONS["speech"].done(rialto), "the clip")
        speech(rialto).presenter.refresh_models()
        await until(lambda: strip.everywhere.isVisible() or strip.choose.isVisible())
        assert len([each for each in heard if "In use: Speech" in each]) == 1
