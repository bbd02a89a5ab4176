"""A segmentation fault in the middle of work: the next start offers its report, and the work is there."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.storage.paths import HOME_VARIABLE, Paths
from app.ui.shell.crash_dialog import CrashDialog
from tests.journeys.killed_crash import DRAFT, QUESTION
from tests.journeys.paying_tabs import video
from tests.journeys.secrets_journey import places_of
from tests.kit.memory_dumps import dumps_allowed
from tests.kit.waiting import until

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="ends by a signal")
async def test_the_start_after_a_segmentation_fault_offers_its_report_and_brings_the_work_back(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    home = tmp_path / "home"
    here = tmp_path / "here"  # where a memory dump would be written
    here.mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.journeys.killed_crash", str(tmp_path)),
        env={**os.environ, HOME_VARIABLE: str(home), "PYTHONPATH": str(ROOT)},
        cwd=here,
        preexec_fn=dumps_allowed(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    told, _ = await asyncio.wait_for(process.communicate(), 300)
    assert process.returncode == -signal.SIGSEGV, told
    key = told.decode().strip()
    assert key
    assert list(here.iterdir()) == []
    assert places_of(key, tmp_path) == []

    async with start() as rialto:
        await until(lambda: isinstance(QApplication.activeModalWidget(), CrashDialog))
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, CrashDialog)
        report = dialog.text.toPlainText()
        assert dialog.windowTitle() == "Rialto quit unexpectedly last time"
        assert "Segmentation fault" in report
        assert "while: Wallet; last action wallet.refresh; under way: WalletPresenter." in report
        assert "killed_crash.py" in report and "work_and_die" in report
        dialog.accept()
        written = b"".join(path.read_bytes() for path in Paths.below(home).crashes.iterdir())
        for secret in (key, QUESTION, DRAFT):
            assert secret not in report
            assert secret.encode() not in written

        await until(lambda: len(rialto.chat_page.rows()) == 2)
        question, answer = rialto.chat_page.rows()
        assert (question.text, answer.state) == (QUESTION, "interrupted")
        assert answer.text
        assert rialto.chat_page.main.composer.box.toPlainText() == DRAFT
        rialto.window.show_tab("video")
        await until(lambda: video(rialto).presenter.job_store.all())
        (job,) = video(rialto).presenter.job_store.all()
        assert job.queue_id and job.prompt == "A harbor at dawn"
