"""Who wrote an answer and when; an answer that the person puts in other words is saved, not sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core import time_format
from app.storage.chat_rows import Message
from app.ui.chat.session.message_rows import byline_of, moment_of
from app.ui.conversation.rows import receipt_text
from app.ui.kit.theme import Theme
from tests.kit.chat import DONE, FakeService, open_chat, open_chat_presenter, sse, text_chunk, whole
from tests.kit.message_view import answer, control, shown

NOON = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)


def said(message: Message, before: Message | None = None, now: datetime = NOON) -> str:
    return receipt_text(byline_of(message, before, str.capitalize, now))


def at(moment: datetime, model: str = "plain", **more: object) -> Message:
    return Message("m", "c", None, "assistant", content="Hi", model=model, created_at=moment, **more)  # type: ignore[arg-type]  # any field


def test_an_answer_names_its_model_and_time_where_they_differ_from_the_one_before() -> None:
    first = at(NOON)
    clock = f"{NOON.astimezone():%H:%M}"
    assert said(first) == f"Plain · {clock}"
    assert said(first, first) == ""
    later = at(NOON + timedelta(minutes=2))
    assert said(later, first) == f"{later.created_at.astimezone():%H:%M}"
    assert said(at(NOON, "other"), first) == "Other"
    assert said(first, now=NOON + timedelta(days=2)) == f"Plain · {time_format.day(NOON)} {clock}"
    assert said(at(NOON, extra={"edited": True}), at(NOON, "other")) == "Edited by you"
    assert said(at(datetime.fromtimestamp(0, UTC))) == "Plain", "an imported turn may have no time"
    assert moment_of(first) == f"{NOON.astimezone():%A}, {time_format.day(NOON)} {time_format.clock(NOON)}"


async def other_model() -> AsyncIterator[bytes]:
    yield sse({**text_chunk("3"), "model": "other"}) + DONE


async def test_a_change_of_the_model_is_told_beside_the_next_answer(tmp_home: Path) -> None:
    async with open_chat_presenter(tmp_home, fake=FakeService(answers=[whole("1"), whole("2"), other_model])) as chat:
        await chat.say("One")
        await chat.say("Two")
        chat.presenter.use_model("other")
        await chat.say("Three")
        told = [receipt_text(row.byline) for row in chat.rows if row.role == "assistant"]
        assert told[0].startswith("Plain · ")
        assert "Plain" not in told[1]
        assert told[2].startswith("Other")


async def test_an_old_answer_takes_the_name_of_its_model_once_the_list_has_loaded(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("1")])) as chat:
        await chat.say("One")
    async with open_chat(theme, tmp_home, with_models=False) as chat:
        chat.presenter.account_models.forget()
        chat.presenter.account_models._saved = ()
        chat.presenter.open_chat(chat.presenter.library.newest().id)
        await chat.settle()
        assert chat.presenter.conversation is not None
        chat.presenter.conversation.show()
        assert receipt_text(chat.page.rows()[-1].byline).startswith("plain")
        chat.presenter.refresh_models()
        await chat.settle()
        assert receipt_text(chat.page.rows()[-1].byline).startswith("Plain")


def test_the_full_date_is_the_tooltip_of_the_line(theme: Theme) -> None:
    byline = byline_of(at(NOON), None, str.capitalize, NOON)
    view = shown(theme, [answer("Hi", byline=byline, moment="Tuesday, Mar 3, 2026 12:00")])
    spot, found, placed = control(view, "Tuesday")
    assert found.tooltip == "Tuesday, Mar 3, 2026 12:00"
    middle = view.control_rect(placed, spot, found).center()
    assert view.pointer.control_at(middle) is not None


async def test_an_edited_answer_is_saved_without_a_price_and_says_so(theme: Theme, tmp_home: Path) -> None:
    async with open_chat(theme, tmp_home, fake=FakeService(answers=[whole("As given")])) as chat:
        await chat.say("Which?")
        chat.act_on_row(chat.rows[-1].id, "edit-answer")
        assert chat.composer.send.text() == "Save"
        assert chat.composer.cost.text() == ""
        assert chat.editing_bar.isVisible()
        chat.current_account.use(None, None)
        assert chat.composer.send.isEnabled(), "nobody is asked, so no account is needed"
        chat.message_box.selectAll()
        QTest.keyClicks(chat.message_box, "As I want it")
        QTest.mouseClick(chat.composer.send, Qt.MouseButton.LeftButton)
        await chat.settle()
        assert [row.text for row in chat.rows] == ["Which?", "As I want it"]
        assert receipt_text(chat.rows[-1].byline).startswith("Edited by you")
        assert len(chat.fake.requests) == 1
        assert chat.composer.send.text() == "Send"
