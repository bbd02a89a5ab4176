"""Settings › Sandbox against a real Sandbox: what it is, what was asked of it, how it fails, how others use it."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core.current_account import CurrentAccount
from app.sandbox.http.faults import KINDS
from app.sandbox.server import Options, RunningSandbox, start_sandbox
from app.ui.settings.sandbox.controls import ControlsPage
from app.ui.settings.sandbox.overview import OverviewPage
from app.ui.settings.sandbox.own_code import OwnCodePage, pieces_of, variables
from app.ui.settings.sandbox.page import SandboxPage
from app.ui.settings.sandbox.presenter import SandboxPresenter
from app.ui.settings.sandbox.request_list import ROW, RequestModel
from app.ui.settings.sandbox.requests import RequestsPage
from app.ui.settings.sandbox.state import FAULTS, SEALED_LIES, RequestRow, SandboxState, ahead, words_of
from tests.kit.waiting import until
from tests.kit.widgets import words
from tests.sandbox.support import RESOURCES, Client
from tests.ui.test_shell_window import nameless


class RealRunner:
    """The Sandbox of this test as Settings may handle it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.running: RunningSandbox | None = None

    def address(self) -> tuple[str, str] | None:
        return (self.running.base_url, self.running.api_key) if self.running is not None else None

    async def start(self) -> None:
        options = Options(tokens_per_second=0.0, local_ports={})
        self.running = await asyncio.to_thread(start_sandbox, self._folder, RESOURCES, options=options)

    async def stop(self) -> None:
        running, self.running = self.running, None
        if running is not None:
            await asyncio.to_thread(running.stop)


def can_clear(page: Any) -> bool:
    """Whether the reminder offers to turn all test controls off."""
    reminder = page.reminder
    return bool(reminder.clear.isEnabled())


@pytest.fixture
async def box(tmp_path: Path) -> AsyncIterator[RealRunner]:
    harness = RealRunner(tmp_path)
    await harness.start()
    yield harness
    await harness.stop()


@pytest.fixture
def program(box: RealRunner) -> Iterator[Client]:
    """Another program that calls the same Sandbox."""
    assert box.running is not None
    headers = {"Authorization": f"Bearer {box.running.api_key}"}
    with httpx.Client(headers=headers, timeout=60, verify=False, trust_env=False) as http:
        yield Client(box.running, http)


@pytest.fixture
async def page(theme, tasks, box: RealRunner) -> AsyncIterator[SandboxPage]:
    """Not given to qtbot: it would be closed, and its work cancelled, while asyncio's loop stands still."""
    presenter = SandboxPresenter(box, CurrentAccount(), tasks)
    page = SandboxPage(theme, presenter)
    page.resize(760, 900)
    page.show()
    await until(lambda: presenter.state.balance_usd is not None)
    yield page
    page.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def leaving(test):
    """Leave the page at the end of the test: pytest-qt turns Qt's loop behind it, while asyncio's stands still."""

    @functools.wraps(test)
    async def and_leave(page, tasks, **others):
        named = {**others, **({"tasks": tasks} if "tasks" in inspect.signature(test).parameters else {})}
        try:
            await test(page, **named)
        finally:
            page.hide()
            await page.presenter.aclose()
            await tasks.idle()

    parameters = {"page", "tasks", *inspect.signature(test).parameters}
    and_leave.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in sorted(parameters)]
    )
    return and_leave


async def asks(program: Client, path: str = "/models") -> int:
    with suppress(httpx.HTTPError):
        return (await asyncio.to_thread(program.get, path)).status_code
    return 0


def overview(page: SandboxPage) -> OverviewPage:
    page.open_page("overview")
    assert isinstance(page.current, OverviewPage)
    return page.current


def controls(page: SandboxPage) -> ControlsPage:
    page.open_page("controls")
    assert isinstance(page.current, ControlsPage)
    return page.current


def requests(page: SandboxPage) -> RequestsPage:
    page.open_page("requests")
    assert isinstance(page.current, RequestsPage)
    return page.current


@leaving
async def test_it_says_where_it_is_and_what_does_its_work(page: SandboxPage, box: RealRunner) -> None:
    assert box.running is not None
    await until(lambda: "espeak" in words(page).lower())
    text = words(page)
    assert box.running.base_url in text and "$100.00" in text
    assert "GPL-3.0" in text and "Not an image model" in text and "Running" in text


@leaving
async def test_the_key_is_shown_on_request_and_copied_without(page: SandboxPage, box: RealRunner) -> None:
    assert box.running is not None
    key, part = box.running.api_key, overview(page)
    assert key not in words(page)
    part.show_key.click()
    assert key in words(page) and part.show_key.accessibleName() == "Hide key"
    part.show_key.click()
    assert key not in words(page)
    part.copy_key.click()
    assert QGuiApplication.clipboard().text() == key


@leaving
async def test_an_engine_is_loaded_once_it_was_needed(page: SandboxPage, program: Client) -> None:
    await until(lambda: bool(page.presenter.state.engines))
    await asyncio.to_thread(program.chat_raw)
    await until(lambda: any(one.name == "chat" and one.state == "loaded" for one in page.presenter.state.engines))


@leaving
async def test_money_goes_down_and_is_filled_up_again(page: SandboxPage, program: Client) -> None:
    await asyncio.to_thread(program.chat_raw)
    await until(lambda: (page.presenter.state.balance_usd or 100) < 100)
    overview(page).refill.click()
    await until(lambda: "was reset" in words(page))
    assert page.presenter.state.balance_usd == 100


@leaving
async def test_the_faucet_gives_a_wallet_play_dollars(page: SandboxPage, program: Client) -> None:
    part = overview(page)
    assert not part.give.isEnabled()
    part.wallet.setText("0x" + "ab" * 20)
    part.amount.setValue(25)
    part.give.click()
    await until(lambda: "25" in page.presenter.state.done)
    part.wallet.setText("not a wallet")
    part.give.click()
    await until(lambda: "address" in page.presenter.state.problem)
    assert page.presenter.state.problem in words(page)


@leaving
async def test_every_control_says_what_it_does_works_and_can_be_switched_off(
    page: SandboxPage, program: Client
) -> None:
    part = controls(page)
    for fault in FAULTS:
        row = part.faults[fault.name]
        assert fault.does in words(row)
        row.switch.click()
        await until(lambda name=fault.name: name in page.presenter.state.faults and not page.presenter.state.busy)
        assert row.switch.text() == "Turn off" and "On" in words(row)
        assert page.reminder.isVisible() and fault.title in page.reminder.words.text()
        row.switch.click()
        await until(lambda: not page.presenter.state.active and not page.presenter.state.busy)
        assert not can_clear(page)


def test_every_lie_about_sealed_chats_can_be_chosen() -> None:
    assert tuple(kind for kind, _ in SEALED_LIES) == KINDS["sealed"]
    assert len({words for _, words in SEALED_LIES}) == len(SEALED_LIES)


@leaving
async def test_turning_a_control_on_moves_no_control(page: SandboxPage) -> None:
    row = controls(page).faults["drop"]
    await until(lambda: row.switch.isEnabled() and row.switch.height() > 0)
    page.repaint()
    before = row.switch.mapTo(page, QPoint(0, 0))
    row.switch.click()
    await until(lambda: bool(page.presenter.state.active) and not page.presenter.state.busy)
    QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    assert can_clear(page)
    assert row.switch.mapTo(page, QPoint(0, 0)).y() == before.y()


@leaving
async def test_the_keyboard_waits_for_the_control_that_it_pressed(page: SandboxPage, qapp: QApplication) -> None:
    part, presenter = controls(page), page.presenter
    page.activateWindow()
    passed: list[QWidget | None] = []
    qapp.focusChanged.connect(lambda _old, new: passed.append(new))
    pressed = (part.faults["answer"].switch, part.faults["answer"].switch, part.clock_steps[1], part.clock_right)
    for button in pressed:
        await until(lambda button=button: button.isEnabled() and button.isVisible())
        button.setFocus()
        await until(button.hasFocus)
        passed.clear()
        active = presenter.state.active
        QTest.keyClick(button, Qt.Key.Key_Space)
        await until(lambda active=active: presenter.state.active != active and not presenter.state.busy)
        back = button if button is not part.clock_right else part.clock_steps[0]
        await until(back.hasFocus)
        assert passed == [None, back]


@leaving
async def test_an_error_hits_so_many_calls_and_the_page_counts_along(page: SandboxPage, program: Client) -> None:
    row = controls(page).faults["answer"]
    status, times = row.fields["status"], row.times
    status.setCurrentIndex(status.findData(503))
    times.setCurrentIndex(times.findData(2))
    row.switch.click()
    await until(lambda: bool(page.presenter.state.active))
    assert "503 Overloaded, 2 more requests" in page.reminder.words.text()
    assert await asks(program) == 503
    await until(lambda: "1 more request" in page.reminder.words.text())
    assert await asks(program) == 503
    await until(lambda: not can_clear(page))
    assert await asks(program) == 200


@leaving
async def test_it_can_hit_one_kind_of_call_only(page: SandboxPage, program: Client) -> None:
    part = controls(page)
    part.place.setCurrentIndex(part.place.findData("/chat/completions"))
    part.faults["drop"].switch.click()
    await until(lambda: bool(page.presenter.state.active))
    assert await asks(program) == 200
    assert "chats" in page.reminder.words.text()


@leaving
async def test_the_clock_is_turned_forwards_and_put_right(page: SandboxPage, program: Client) -> None:
    part = controls(page)
    assert not part.clock_right.isEnabled()
    part.clock_steps[1].click()
    await until(lambda: page.presenter.state.clock_offset_s == 3600 and not page.presenter.state.busy)
    part.clock_steps[0].click()
    await until(lambda: page.presenter.state.clock_offset_s == 3660 and not page.presenter.state.busy)
    assert "1 h 1 min ahead" in page.reminder.words.text()
    part.clock_right.click()
    await until(lambda: page.presenter.state.clock_offset_s == 0)
    assert not can_clear(page)


@leaving
async def test_what_another_program_switched_on_is_seen_and_cleared(page: SandboxPage, program: Client) -> None:
    await asyncio.to_thread(program.fault, "slow", seconds=0.01)
    await asyncio.to_thread(program.turn_clock, 60)
    await until(lambda: len(page.presenter.state.active) == 2)
    assert "2 test controls are on." in page.reminder.words.accessibleName() + words(page.reminder)
    page.reminder.clear.click()
    await until(lambda: not page.presenter.state.active)
    assert await asks(program) == 200


@leaving
async def test_settings_and_reset(page: SandboxPage, program: Client) -> None:
    part = controls(page)
    part.partner.click()
    await until(lambda: page.presenter.state.partner and not page.presenter.state.busy)
    part.speed.setValue(50)
    await until(lambda: page.presenter.state.tokens_per_second == 50 and not page.presenter.state.busy)
    overview(page).any_key.click()
    await until(lambda: page.presenter.state.any_key and not page.presenter.state.busy)
    await asks(program)
    await until(lambda: bool(page.presenter.state.rows))
    controls(page).reset.click()
    await until(lambda: not page.presenter.state.any_key and not page.presenter.state.busy)
    state = page.presenter.state
    assert (state.partner, state.tokens_per_second, state.rows, state.balance_usd) == (False, 0, (), 100)


@leaving
async def test_requests_appear_as_they_come_and_open_on_a_press(page: SandboxPage, program: Client) -> None:
    part = requests(page)
    assert "No requests yet" in words(part)
    await asyncio.to_thread(program.chat_raw, "Where are my chats kept?")
    await asks(program, "/nothing")
    await until(lambda: part.view.rows.rowCount() == 2)
    newest = part.view.rows.index(0)
    assert "404" in newest.data() and "GET /nothing" in newest.data(Qt.ItemDataRole.AccessibleTextRole)
    part.view.setFocus()
    part.view.setCurrentIndex(part.view.rows.index(1))
    QTest.keyClick(part.view, Qt.Key.Key_Return)
    await until(lambda: "chat.completion" in part.details.answered.edit.toPlainText())
    asked = part.details.asked.edit.toPlainText()
    assert "Where are my chats kept?" in asked and "authorization: [hidden]" in asked
    assert program.running.api_key not in asked + part.details.answered.edit.toPlainText()
    assert "in play money" in words(part.details) and not part.view.isVisible()
    part.details.back.click()
    assert part.view.isVisible() and part.view.currentIndex().row() == 1


@leaving
async def test_requests_are_filtered_by_words_and_by_failure(page: SandboxPage, program: Client) -> None:
    part = requests(page)
    for path in ("/models", "/characters", "/nothing"):
        await asks(program, path)
    await until(lambda: part.view.rows.rowCount() == 3)
    assert "The newest 3 requests." in words(part)
    part.filter.setText("get char")
    await until(lambda: part.view.rows.rowCount() == 1)
    assert "1 of the newest 3 requests." in words(part)
    part.filter.setText("zebra")
    await until(lambda: part.view.rows.rowCount() == 0)
    assert "None of the 3 requests match" in words(part)
    part.filter.clear()
    part.which.findChildren(QWidget)[-1].click()
    await until(lambda: part.view.rows.rowCount() == 1)
    assert part.view.rows.index(0).data(ROW).path == "/nothing"


@leaving
async def test_stopping_and_starting_again_is_followed(page: SandboxPage, box: RealRunner) -> None:
    part = overview(page)
    first = page.presenter.state.address
    part.start_stop.click()
    await until(lambda: not page.presenter.state.running and not page.presenter.state.busy)
    assert "Stopped" in words(page) and page.presenter.state.rows == () and part.start_stop.text() == "Start"
    part.start_stop.click()
    await until(lambda: page.presenter.state.running and page.presenter.state.balance_usd is not None)
    assert page.presenter.state.address != first


@leaving
async def test_a_sandbox_that_dies_is_said_to_be_silent(page: SandboxPage, box: RealRunner) -> None:
    assert box.running is not None
    await asyncio.to_thread(box.running.stop)  # behind the back of the page
    await until(lambda: bool(page.presenter.state.silent))
    assert "is not responding" in words(page)


@leaving
async def test_nothing_is_followed_while_nobody_looks(page: SandboxPage, tasks) -> None:
    assert tasks.running("watch sandbox")
    page.hide()
    await until(lambda: not tasks.running("watch sandbox"))
    page.show()
    await until(lambda: tasks.running("watch sandbox"))


@leaving
async def test_what_is_on_is_followed_although_nobody_looks(page: SandboxPage, program: Client, tasks) -> None:
    await asyncio.to_thread(program.fault, "slow", seconds=0.01, times=1)
    await until(lambda: bool(page.presenter.state.active))
    page.hide()
    assert tasks.running("watch sandbox")
    await asks(program)
    await until(lambda: not page.presenter.state.active)
    await until(lambda: not tasks.running("watch sandbox"))


@leaving
async def test_code_for_ones_own_programs_is_copied_with_address_and_key(page: SandboxPage) -> None:
    page.open_page("code")
    part = page.current
    assert isinstance(part, OwnCodePage)
    await until(lambda: bool(part.pieces))
    state = page.presenter.state
    assert state.key not in part.setup.edit.toPlainText() and state.address in part.setup.edit.toPlainText()
    part.setup.copy.click()
    assert QGuiApplication.clipboard().text() == variables(state.address, state.key)
    titles = [piece.title for piece in part.pieces]
    assert {"curl", "Chat, streamed", "Chains with web3", "Make it fail"} <= set(titles)
    for number, piece in enumerate(part.pieces):
        part.which.setCurrentIndex(number)
        assert part.code.edit.toPlainText() == piece.code
    part.code.copy.click()
    assert QGuiApplication.clipboard().text() == part.pieces[-1].code


@leaving
async def test_everything_has_a_name_and_a_place_in_the_tab_order(page: SandboxPage, program: Client) -> None:
    await asyncio.to_thread(program.chat_raw)
    for key in ("overview", "requests", "controls", "code"):
        page.open_page(key)
        await asyncio.sleep(0)
        assert nameless(page) == [], key
    page.presenter.open_request((await _rows(page))[0])
    page.open_page("requests")
    await until(lambda: bool(page.presenter.state.opened and page.presenter.state.opened.asked))
    assert nameless(page) == []


async def _rows(page: SandboxPage) -> tuple[RequestRow, ...]:
    await until(lambda: bool(page.presenter.state.rows))
    return page.presenter.state.rows


def test_words_for_what_is_on() -> None:
    assert words_of("answer", {"status": 429, "times": 1, "path": ""}) == (
        "Answer with an error: 429 Rate limit, 1 more request"
    )
    assert words_of("slow", {"seconds": 2.5, "times": None}) == "Slow down: 2.5 s, until turned off"
    assert words_of("terms_v1", {"times": 3}) == "terms_v1: 3 more requests"
    assert ahead(90_061) == "1 day 1 h 1 min 1 s ahead" and ahead(-120) == "2 min behind" and ahead(0) == ""


def test_pieces_are_read_from_the_page() -> None:
    start = "# Title\n\n## Start it and name it\n\n```sh\nx\n```\n\n"
    page = f"{start}## One\n\nWords.\n\n```python\na = 1\n```\n\n## Two\n\nNone."
    assert [(piece.title, piece.words, piece.language, piece.code) for piece in pieces_of(page)] == [
        ("One", "Words.", "python", "a = 1")
    ]


def row(number: int) -> RequestRow:
    from datetime import UTC, datetime

    return RequestRow(number, f"r{number}", datetime.now(UTC), "GET", "/", 200, 0.1, "", Decimal(0))


def test_new_rows_are_inserted_so_that_the_place_is_kept(qtmodeltester) -> None:
    model = RequestModel()
    qtmodeltester.check(model)
    inserted, resets = [], []
    rows = tuple(row(number) for number in (3, 2, 1))
    model.set_rows(rows)
    model.rowsInserted.connect(lambda *_: inserted.append(1))
    model.modelReset.connect(lambda: resets.append(1))
    model.set_rows((row(4), *rows[:2]))
    assert (model.rowCount(), inserted, resets) == (3, [1], [])
    model.set_rows((row(4), *rows[:2]))
    model.set_rows(())
    assert model.rowCount() == 0


def test_a_state_without_a_sandbox_is_quiet() -> None:
    assert SandboxState().active == ()
