"""The Video tab of the whole program, by somebody who has a keyboard and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.bootstrap.rialto import Rialto
from app.service.sandbox_controls import SandboxControls
from app.storage.video_check import check_video
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.video.page import VideoPage
from tests.journeys.keyboard import Keyboard
from tests.journeys.killed_video_window import video_of
from tests.journeys.talk import in_the_sandbox
from tests.kit.video import NO_DEVICES
from tests.kit.waiting import until

pytestmark = NO_DEVICES
PROMPT = "Lanterns over a night market"


async def let_time_pass(rialto: Rialto, seconds: float) -> None:
    """Turn the clock of the built-in Sandbox."""
    running = rialto._context.sandbox.address()
    assert running is not None
    controls = SandboxControls(*running)
    await controls.set_clock(seconds)
    await controls.aclose()


def state_of(page: VideoPage) -> str:
    job = page.presenter.job_store.get(page.detail.id)
    return job.state if job is not None else ""


async def test_a_person_without_a_mouse_orders_waits_plays_saves_cleans_and_throws_away(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        rialto.window.resize(1440, 900)
        hands = Keyboard(rialto.window)
        await hands.begin()
        await hands.command("Video")
        page = video_of(rialto)
        form = page.form
        await until(lambda: page.presenter.form.takes is not None)

        # filled in, priced, kept under a name, ordered
        await hands.tab_to(form.prompt)
        await hands.type(PROMPT)
        await hands.tab_to(form.negative)
        await hands.type("text")
        await until(lambda: page.presenter.form.exact and form.queue.isEnabled())
        assert form.queue.text().startswith("Queue for $")
        await hands.press("Ctrl+Shift+P")
        await until(lambda: page.prompts.popover.isVisible())
        await hands.tab_to(page.prompts.popover.save)
        await hands.press("Space")
        await hands.dialog(Dialog)
        await hands.press("Return")
        await until(lambda: page.presenter.prompts.rows("scene"))
        await hands.begin()
        await hands.press("Ctrl+Return")
        await until(lambda: state_of(page) == "running")
        await let_time_pass(rialto, 60)
        page.presenter.poll_scheduler.soon()
        await until(lambda: state_of(page) == "saved")

        # looked at: played, a frame on, over and over
        player = page.side.player
        await hands.tab_to(page.main.view)
        await hands.press("Space")
        await until(lambda: player.plays)
        await hands.press("Space")
        await until(lambda: not player.plays)
        before = player.position_ms
        await hands.press(".")
        await until(lambda: player.position_ms > before)

        # saved elsewhere, cleaned up at the service, thrown away and brought back
        target = tmp_path / "lanterns.mp4"
        await hands.press("Ctrl+S")
        await hands.choose_file(str(target))
        await until(target.exists)
        await until(lambda: target.stat().st_size and check_video(target).duration_s == 3.0)
        await hands.begin()
        await hands.press("Ctrl+Shift+Del")
        asked = await hands.dialog(Dialog)
        await hands.push(asked, "Delete copy")
        await until(lambda: state_of(page) == "cleaned")
        await hands.begin()
        await hands.tab_to(page.main.view)
        await hands.press("Delete")
        await until(lambda: page.presenter.job_store.trash())
        await hands.undo("video")
        await until(lambda: not page.presenter.job_store.trash())
