"""The quiet line of a try that comes by itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.service.chat_types import RetryWait
from app.ui.chat.session.answer_queue import wait_problem
from app.ui.conversation.cards import ErrorCard
from app.ui.conversation.wait_line import QuietWait, is_quiet_wait
from app.ui.kit.theme import Theme


@pytest.mark.parametrize(
    ("reason", "what"), [("server", "The service is busy"), ("connection", "The service could not be reached")]
)
def test_a_busy_service_is_one_quiet_line_with_stop(theme: Theme, reason: str, what: str) -> None:
    now = datetime.now(UTC)
    problem = wait_problem(RetryWait(reason, 600.0, 1), now)
    assert is_quiet_wait(problem)
    line = QuietWait(theme, problem)
    assert line.words(4) == f"{what}. Trying again, attempt 2, in 4 s."
    assert line.words(0) == f"{what}. Trying again, attempt 2."
    assert line.layout(700) == theme.height_px(36), "one line"
    assert line.layout(300) > theme.height_px(36), "nothing is cut where there is little room"
    (stop,) = line.controls()
    assert (stop.action, stop.name) == (("action", "stop"), "Stop")
    assert stop.rect.right() <= 300
    assert line.counts_down
    assert not QuietWait(theme, wait_problem(RetryWait(reason, 0.0, 1), now - timedelta(1))).counts_down


def test_a_limit_keeps_its_card_and_leads_nobody_into_calling_the_message_off(theme: Theme) -> None:
    problem = wait_problem(RetryWait("rate_limit", 23.0, 1), datetime.now(UTC))
    assert not is_quiet_wait(problem)
    card = ErrorCard(theme, problem, details_open=False)
    card.layout(700)
    looks = {control.action[-1]: control.look for control in card.controls()}
    assert looks["dismiss"] == "plain"
