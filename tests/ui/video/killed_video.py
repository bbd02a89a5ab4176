"""A video tab in a process of its own that stops at one step of a job, says so, and waits to be killed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import qasync
from PySide6.QtWidgets import QApplication

from app.service.video import VideoResource
from app.storage.paid_call_intents import Intents
from app.ui.video.session.job_poller import JobPoller
from app.ui.video.session.job_store import VideoJobStore
from app.ui.video.session.sender import Sender
from tests.kit.sandbox import Controls
from tests.kit.video import PRIVATE_MODEL, TEXT_MODEL, open_video_presenter
from tests.kit.waiting import until
from tests.ui.killing import serve

# step: the call it stops at, and whether the call is still made
STEPS: dict[str, tuple[type, str, bool]] = {
    "ordered": (Sender, "_send", False),
    "intended": (Intents, "sent", False),
    "leaving": (VideoResource, "queue", False),
    "queued": (VideoResource, "queue", True),
    "kept": (Intents, "answered", False),
    "rendering": (JobPoller, "ask", True),
    "fetched": (JobPoller, "_verify", False),
    "saved": (JobPoller, "finish", False),
    "removed": (VideoResource, "complete", True),
}
BEFORE_READY = ("ordered", "intended", "leaving", "queued", "kept", "rendering")


def say() -> None:
    print("here", flush=True)


def stop_at(step: str) -> None:
    """Replace the one method at which this process is to be killed."""
    if step == "fetching":  # in the middle of the file, with some of it on the disk

        def block(*_: object) -> None:
            say()
            time.sleep(60)

        JobPoller._publish = block  # type: ignore[method-assign,assignment]  # for this process alone
        return
    if step == "sending":  # the row says so, the intent does not yet
        _stop_after_state("sending")
        return
    owner, name, is_made = STEPS[step]
    original: Callable[..., Any] = getattr(owner, name)

    async def stopped(*args: Any, **values: Any) -> Any:
        if is_made:
            await original(*args, **values)
        say()
        await asyncio.sleep(60)

    setattr(owner, name, stopped)


def _stop_after_state(state: str) -> None:
    original = VideoJobStore.change

    async def change(self: VideoJobStore, job_id: str, **values: object) -> Any:
        job = await original(self, job_id, **values)
        if values.get("state") == state:
            say()
            await asyncio.sleep(60)
        return job

    VideoJobStore.change = change  # type: ignore[method-assign]  # for this process alone


async def live(step: str, home: Path, controls: Controls) -> None:
    step, _, private = step.partition(" ")
    stop_at(step)
    async with open_video_presenter(home, controls) as video:
        await video.fill(model=PRIVATE_MODEL if private else TEXT_MODEL, clean_after=True)
        assert video.presenter.queue()
        if step not in BEFORE_READY:
            await until(lambda: video.jobs and video.job.state == "running")
            await controls.turn_clock(10)
        await asyncio.sleep(60)


def main(step: str, home: str, base_url: str, api_key: str) -> None:
    qt_app = QApplication([])
    loop = qasync.QEventLoop(qt_app)
    with loop:
        loop.run_until_complete(live(step, Path(home), Controls(base_url, api_key)))


if __name__ == "__main__":
    serve(main)
