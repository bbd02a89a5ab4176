"""What the real service refuses, met in every tab of the whole program: the sentence is true and its buttons help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.bootstrap.rialto import Rialto
from app.core.problems import Problem
from tests.journeys.paying_tabs import PAID_ACTIONS, problem_of, transcription
from tests.journeys.test_wallet import control, in_the_sandbox, wallet_page
from tests.kit.waiting import until

KEY_CAP = (
    "API key USD spend limit exceeded. Your account may still have USD balance, but this API key has reached its"
    " configured USD spending limit."
)
TABS = tuple(PAID_ACTIONS)


async def refused(rialto: Rialto, tab: str, folder: Path, status: int, said: str) -> Problem:
    """Do the paid work of a tab while the service refuses it with these words."""
    action = PAID_ACTIONS[tab]
    rialto.window.show_tab(tab)
    await action.prepare(rialto, folder)
    path = {"crypto_rpc": "/crypto/rpc", "video": "/video/queue"}.get(tab, "/v1/")
    await control(rialto, "/faults/answer", "PUT", status=status, body={"error": said}, path=path)
    action.begin(rialto)
    await until(lambda: problem_of(rialto, tab) is not None, f"a problem in {tab}")
    await control(rialto, "/faults/answer", "DELETE")
    problem = problem_of(rialto, tab)
    assert problem is not None
    return problem


@pytest.mark.qt_log_ignore("pa_context_connect")  # there may be no sound server; nothing is heard here
async def test_a_key_at_its_own_limit_is_never_told_to_top_up(start: Callable[..., Any], tmp_path: Path) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        for tab in TABS:
            problem = await refused(rialto, tab, tmp_path, 402, KEY_CAP)
            assert "This API key has reached its own spending limit" in problem.sentence, (tab, problem.sentence)
            assert "balance is too low" not in problem.sentence, tab
            assert not [action.id for action in problem.actions if action.id.startswith(("top-up", "sandbox-money"))]
            assert problem.sentence.count("Nothing was charged") <= 1, (tab, problem.sentence)
        rialto.help("key-limit")
        assert (rialto.window.current_tab, wallet_page(rialto).main.page) == ("wallet", "key")


@pytest.mark.qt_log_ignore("pa_context_connect")
async def test_a_model_outside_the_plan_does_not_blame_the_key(start: Callable[..., Any], tmp_path: Path) -> None:
    async with start() as rialto:
        await in_the_sandbox(rialto)
        for tab in TABS:
            problem = await refused(rialto, tab, tmp_path, 401, "This model is only available to Pro users")
            assert "not part of this account’s plan" in problem.sentence, (tab, problem.sentence)
            assert "deleted or replaced" not in problem.sentence, tab
            assert not [action.id for action in problem.actions if action.id == "replace-key"], tab
            if tab == "transcription":
                assert problem.primary is not None and problem.primary.id == "choose-model"
                transcription(rialto).presenter.act("choose-model")  # the tab leaves it to the window
                await until(lambda: QApplication.activePopupWidget() is not None, "the models of the tab")
                popup = QApplication.activePopupWidget()
                assert popup is not None
                popup.close()
