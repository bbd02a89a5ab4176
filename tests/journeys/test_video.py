"""The whole program: a video is ordered, the program is killed, and the next start brings it home by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.credentials import keyring_store
from app.sandbox.server import Options, start_sandbox
from app.storage.paths import Paths, resources
from app.storage.video_check import check_video
from tests.journeys.killed_video_window import PROMPT, FileKeyring, video_of
from tests.kit.sandbox import Controls
from tests.kit.video import NO_DEVICES
from tests.kit.waiting import until
from tests.ui.killing import killed_programs

pytestmark = NO_DEVICES


async def test_killed_while_a_video_is_made_the_next_start_fetches_it_before_its_tab_is_looked_at(
    start: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(tokens_per_second=0, local_ports={})
    with (
        start_sandbox(tmp_path / "elsewhere", resources(), options=options) as service,
        killed_programs("tests.journeys.killed_video_window") as programs,
    ):
        controls = Controls(service.base_url, service.api_key)
        told = await programs.kill(str(tmp_path), service.base_url, service.api_key)
        assert told == "it is being made"
        assert await controls.paid("/video/queue") == 1
        await controls.turn_clock(60)
        keys = FileKeyring(tmp_path / "keyring.json")
        defaults = {"time_limit_s": 5.0, "find": lambda: keys}
        monkeypatch.setattr(keyring_store.KeyringStore.__init__, "__kwdefaults__", defaults)
        videos = Paths.below(tmp_path / "home").data / "videos"
        async with start() as rialto:
            await until(lambda: any(videos.glob("*.mp4")))
            assert rialto.window.current_tab == "chat"
            page = video_of(rialto)
            await until(lambda: page.presenter.job_store.jobs() and page.presenter.job_store.jobs()[0].state == "saved")
            (job,) = page.presenter.job_store.jobs()
            assert (job.prompt, check_video(page.presenter.job_store.film(job)).duration_s) == (PROMPT, 3.0)
            await until(
                lambda: any("is ready" in toast.accessibleName() for toast in rialto.window.overlays.toasts.toasts)
            )
            rialto.window.show_tab("video")
            assert not rialto.window.overlays.toasts.toasts  # somebody has come to look
            assert page.detail.id == job.id and page.badge() == 0
        assert await controls.paid("/video/queue") == 1
        assert len(await controls.calls("/video/queue")) == 1
