"""What the real service refuses, met in every tab of the whole program: the sentence is true and its buttons help."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from app.bootstrap.chat_tab import show_characters
from app.bootstrap.rialto import Rialto
from app.core.problems import Problem
from app.core.time_format import day
from app.sandbox.http.middleware import VERSION
from app.service.exchange import Exchange, RequestRecord
from app.service.response_info import ResponseInfo
from app.ui.kit.call_dialog import CallDialog
from tests.journeys.paying_tabs import PAID_ACTIONS, problem_of, transcription
from tests.journeys.test_wallet import control, in_the_sandbox, question, wallet_page
from tests.kit.waiting import until

KEY_CAP = (
    "API key USD spend limit exceeded. Your account may still have USD balance, but this API key has reached its"
    " configured USD spending limit."
)
TABS = tuple(PAID_ACTIONS)


def visible_texts(rialto: Rialto) -> list[str]:
    return [label.text() for label in rialto.window.findChildren(QLabel) if label.isVisible()]


def answered_by(version: str) -> Exchange:
    info = ResponseInfo(200, datetime.now(UTC), service_version=version)
    return Exchange("x", datetime.now(UTC), RequestRecord("GET", "/models", ""), info=info)


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


async def test_the_account_page_says_which_version_the_service_runs_and_since_when(start: Callable[..., Any]) -> None:
    """R-VER-03 R-VER-04 R-HDR-15."""
    async with start() as rialto:
        await in_the_sandbox(rialto)
        account_id = rialto.current_account.account.id  # type: ignore[union-attr]  # there is one
        await until(lambda: rialto.account_services.versions.of(account_id) is not None, "the first response")
        version = rialto.account_services.versions.of(account_id)
        assert version is not None and not version.changed
        rialto.window.open_settings("accounts")
        words = f"Service version {VERSION}, first seen {day(version.since)}"
        await until(lambda: words in visible_texts(rialto), "the version in the row of the account")
        rialto.account_services.versions.hear(account_id, answered_by("20991231.235959"))
        changed = rialto.account_services.versions.of(account_id)
        assert changed is not None and changed.changed
        words = f"Service version 20991231.235959, changed {day(changed.since)}"
        await until(lambda: words in visible_texts(rialto), "the new version")
        assert rialto.settings.value.service_versions[account_id].endswith("20991231.235959")


async def test_the_request_behind_the_characters_is_shown_with_every_header(start: Callable[..., Any]) -> None:
    """R-HDR-29."""
    async with start() as rialto:
        await in_the_sandbox(rialto)
        await control(rialto, "/settings", "PUT", retry_count_header=3)
        show_characters(rialto)
        await until(lambda: "characters" in rialto.current_account.latest, "the list of characters")
        rialto.characters_page.grid.request_button.click()
        await until(lambda: question() is not None, "the dialog")
        dialog = question()
        assert isinstance(dialog, CallDialog)
        assert dialog.pane.record is not None and dialog.pane.record.path == "/characters"
        headers = dict(dialog.pane.rows)
        assert headers["x-retry-count"] == "3" and "x-service-version" in headers and "cf-ray" in headers
        dialog.reject()


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
