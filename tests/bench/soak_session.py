"""One program under soak: the real window, driven by chance through every tab until its time is over.

Runs in a process of its own, which `tests.bench.soak` starts, watches and counts: `python -m tests.bench.soak_session
SERVICE_URL SECONDS SEED`. Prints one JSON line per act, so that the last line before a crash names what was going on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QApplication, QDialog, QMenu, QWidget
from shiboken6 import isValid

from app.bootstrap import start
from app.bootstrap.rialto import Rialto
from app.ui.kit.qt_workarounds.pyside_features import read_no_sources
from app.ui.settings.accounts.presenter import AccountDraft
from app.ui.settings.sections import SECTIONS
from app.ui.shell import tour_tabs
from app.ui.shell.tour_guide import StepFailed, TourGuide
from tests.kit.settings import change_settings

KEY = "soak-key-0123456789abcdef"
PAUSE_S = 0.3  # between two acts, in which what one began may meet the next
ACT_WITHIN_S = 45.0
TABS = ("chat", "speech", "transcription", "images", "video", "crypto_rpc", "wallet", "settings")
QUESTIONS = (
    "What can I try in the Sandbox?",
    "Show me a table of the keyboard shortcuts.",
    "Where are my keys kept? Answer with code and a formula.",
    "العربية \u202eevil.exe\u202c " + "x" * 3000,
)  # fmt: skip
SIZES = (QSize(1440, 900), QSize(1024, 640), QSize(700, 500), QSize(1900, 1060))
FAULTS: tuple[tuple[str, dict[str, object]], ...] = (
    *(("lie", {"kind": kind, "times": 6}) for kind in ("length", "json", "html", "empty", "type")),
    *(("answer", {"status": status, "times": 8}) for status in (400, 401, 402, 403, 404, 409, 413, 415, 429, 500, 503)),
    ("answer", {"status": 400, "body": {"error": {"details": {"a": {"b": [{"c": None}]}}}}, "times": 6}),
    ("answer", {"status": 429, "headers": {"X-RateLimit-Reset-Requests": "99999999999999"}, "times": 3}),
    ("drop", {"times": 5}),
    ("slow", {"seconds": 3, "times": 5}),
    ("cut", {"after": 40, "times": 4}),
    ("no_done", {"times": 4}),
    ("in_band_error", {"after": 60, "times": 4}),
    ("split_think", {"times": 4}),
    ("shuffle_batch", {"times": 4}),
)


class Session:
    """The acts. Each uses the window as a person would; none minds being refused."""

    def __init__(self, rialto: Rialto, service: str, dice: random.Random, folder: Path) -> None:
        self._rialto = rialto
        self._service = service
        self._dice = dice
        self._guide = TourGuide(rialto.window, rialto.chat_page, folder)
        self._clip: Path | None = None

    async def begin(self) -> None:
        """Sign in to the Sandbox and to a second service, with its key kept for the session."""
        rialto = self._rialto
        await self._guide.until("the history", lambda: rialto.chat.library is not None)
        change_settings(rialto.settings, welcome_done=True)
        rialto.accounts.use(rialto.account_services.sandbox_account().id)
        await self._guide.until("the Sandbox", lambda: rialto.current_account.service is not None)
        await self._guide.until("a place for keys", lambda: rialto.places.state.kind or rialto.places.state.sentence)
        rialto.places.keep_for_session()
        await self._guide.until("the place for keys", lambda: rialto.places.state.is_ready)
        rialto.accounts.add(AccountDraft(self._service, KEY, name="Elsewhere"))
        await self._guide.until("two accounts", lambda: len(rialto.account_services.accounts.list()) > 1)

    @property
    def acts(self) -> tuple[tuple[int, Callable[[], Awaitable[None]]], ...]:
        """How often each act comes beside the others."""
        return (
            (8, self.ask),
            (3, self.new_chat),
            (3, self.open_chat),
            (2, self.trash_chat),
            (3, self.speak),
            (2, self.transcribe),
            (2, self.draw),
            (2, self.order_video),
            (3, self.call_chain),
            (10, self.update_timers),
            (5, self.switch_account),
            (3, self.change_theme),
            (3, self.change_text_size),
            (4, self.resize),
            (4, self.settings_page),
            (3, self.palette),
            (3, self.characters),
            (6, self.tab_through),
            (6, self.click_rows),
            (4, self.menu),
            (6, self.arm_fault),
            (3, self.disarm_faults),
            (1, self.go_offline),
            (3, self.refresh),
        )

    async def ask(self) -> None:
        chat = self._rialto.chat_page
        self._rialto.window.show_tab("chat")
        box = chat.main.composer.box
        box.setFocus()
        question = self._dice.choice(QUESTIONS)
        if question.isascii():
            QTest.keyClicks(box, question)
        else:  # QTest ends the process upon a key that no keyboard of its has
            box.insertPlainText(question)
        QTest.keyClick(box, Qt.Key.Key_Return)
        if self._dice.random() < 0.6:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(15):
                    while self._rialto.chat.head().writing:
                        await asyncio.sleep(0.05)
        else:
            await asyncio.sleep(self._dice.random())
            QTest.keyClick(box, Qt.Key.Key_Escape)

    async def new_chat(self) -> None:
        self._rialto.window.show_tab("chat")
        self._rialto.chat_page.new_chat()
        QTest.keyClicks(self._rialto.chat_page.main.composer.box, "typed at once")

    async def open_chat(self) -> None:
        self._rialto.window.show_tab("chat")
        self._rialto.chat_page.step(self._dice.choice((-1, 1)))

    async def trash_chat(self) -> None:
        self._rialto.window.show_tab("chat")
        self._rialto.chat_page.trash()
        if self._dice.random() < 0.5:
            QTest.keyClick(self._rialto.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)

    async def speak(self) -> None:
        self._empty("speech")
        _take, self._clip = await tour_tabs.speak(self._guide)

    async def transcribe(self) -> None:
        if self._clip is not None and self._clip.exists():
            await tour_tabs.transcribe(self._guide, self._clip)

    async def draw(self) -> None:
        self._empty("images")
        await tour_tabs.draw(self._guide)

    async def order_video(self) -> None:
        self._empty("video")
        await tour_tabs.order_video(self._guide)

    async def call_chain(self) -> None:
        await tour_tabs.call_chain(self._guide)

    async def update_timers(self) -> None:
        for name in self._dice.sample(TABS, 3):
            self._rialto.window.show_tab(name)
            await asyncio.sleep(self._dice.random() / 2)

    async def switch_account(self) -> None:
        accounts = self._rialto.account_services.accounts.list()
        self._rialto.accounts.use(self._dice.choice(accounts).id)
        if self._dice.random() < 0.3:  # to and fro
            self._rialto.accounts.use(self._dice.choice(accounts).id)
        self._rialto.window.show_tab(self._dice.choice(TABS))

    async def change_theme(self) -> None:
        self._rialto.window.next_theme()

    async def change_text_size(self) -> None:
        if self._rialto.theme.text_percent > 150:
            self._rialto.window.change_text_size(0)
        else:
            self._rialto.window.change_text_size(self._dice.choice((-1, 1, 1)))

    async def resize(self) -> None:
        self._rialto.window.resize(self._dice.choice(SIZES))

    async def settings_page(self) -> None:
        self._rialto.window.open_settings(self._dice.choice(SECTIONS).key)

    async def palette(self) -> None:
        self._rialto.window.open_palette()
        await asyncio.sleep(0.1)
        field = QApplication.focusWidget()
        if field is not None:
            QTest.keyClicks(field, self._dice.choice(("theme", "trash", "wal", "zzzz", "new")))
            await asyncio.sleep(0.2)
            QTest.keyClick(field, Qt.Key.Key_Escape)

    async def characters(self) -> None:
        self._rialto.window.show_tab("chat")
        if self._rialto.chat_page.list.characters.isEnabled():
            self._guide.click(self._rialto.chat_page.list.characters)
            await asyncio.sleep(1)
        self._rialto.chat_page.show_chat()

    async def tab_through(self) -> None:
        """Travel with Tab; presses nothing that could remove, quit or leave the program."""
        for _ in range(self._dice.randrange(5, 40)):
            widget = QApplication.focusWidget()
            if widget is None:
                return
            QTest.keyClick(widget, self._dice.choice((Qt.Key.Key_Tab, Qt.Key.Key_Tab, Qt.Key.Key_Down, Qt.Key.Key_Up)))
            await asyncio.sleep(0.01)

    async def click_rows(self) -> None:
        """Click rows of a list on the screen, and scroll it."""
        views = [one for one in self._rialto.window.findChildren(QAbstractItemView) if one.isVisible()]
        if not views:
            return
        view = self._dice.choice(views)
        for _ in range(3):
            if not (isValid(view) and view.isVisible()):
                return
            at = QPoint(self._dice.randrange(max(1, view.width())), self._dice.randrange(max(1, view.height())))
            if view.indexAt(at).isValid():
                QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=at)
            await asyncio.sleep(0.05)
        areas = [one for one in self._rialto.window.findChildren(QAbstractScrollArea) if one.isVisible()]
        if areas:
            bar = self._dice.choice(areas).verticalScrollBar()
            bar.setValue(self._dice.randint(bar.minimum(), bar.maximum()))

    async def menu(self) -> None:
        self._rialto.window.open_menu()
        await asyncio.sleep(0.1)
        self._close_popups()

    async def arm_fault(self) -> None:
        name, values = self._dice.choice(FAULTS)
        await self._control("PUT", f"faults/{name}", values)

    async def disarm_faults(self) -> None:
        await self._control("DELETE", "faults", {})

    async def go_offline(self) -> None:
        """The service of the account in use answers nothing for some seconds."""
        await self._control("PUT", "faults/drop", {})
        await asyncio.sleep(5)
        await self._control("DELETE", "faults", {})

    async def refresh(self) -> None:
        self._rialto.window.refresh()

    async def _control(self, method: str, path: str, body: dict[str, object]) -> None:
        """Set a fault in the service that the account in use calls."""
        import httpx

        account = self._rialto.current_account.account
        sandbox = self._rialto.account_services.sandbox.address()
        url, key = sandbox if account is not None and account.is_sandbox and sandbox else (self._service, KEY)
        root = url.removesuffix("/api/v1")
        with contextlib.suppress(httpx.HTTPError):
            async with httpx.AsyncClient(trust_env=False, timeout=10) as http:
                await http.request(
                    method, f"{root}/sandbox/{path}", json=body, headers={"Authorization": f"Bearer {key}"}
                )

    def _empty(self, tab: str) -> None:
        """Take out what an earlier act wrote into the main field of a tab."""
        self._rialto.window.show_tab(tab)
        field = self._rialto.window.tab(tab).main_input()
        if field is not None:
            field.setFocus()
            QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
            QTest.keyClick(field, Qt.Key.Key_Delete)

    def _close_popups(self) -> None:
        """Press Esc in whatever lies over the window."""
        for _ in range(4):
            popup: QWidget | None = QApplication.activePopupWidget() or QApplication.activeModalWidget()
            if popup is None:
                break
            QTest.keyClick(popup, Qt.Key.Key_Escape)
            if isValid(popup) and isinstance(popup, QMenu | QDialog) and popup.isVisible():
                popup.close()

    async def live(self, seconds: float) -> None:
        """Do one act after another; what an act waits for in vain is no failure, a crash report is."""
        await self.begin()
        weights = [weight for weight, _act in self.acts]
        acts = [act for _weight, act in self.acts]
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            (act,) = self._dice.choices(acts, weights)
            said = "ok"
            _say(act=act.__name__)
            try:
                async with asyncio.timeout(ACT_WITHIN_S):
                    await act()
            except (TimeoutError, StepFailed) as reason:
                said = str(reason) or "in vain"
            _say(done=act.__name__, said=said)
            await asyncio.sleep(PAUSE_S * 2 * self._dice.random())
            self._close_popups()


def _say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)


def main(service: str, seconds: float, seed: int) -> int:
    """Run the program with a session in it; return its exit code."""
    read_no_sources()
    show = start._show

    def show_and_drive(rialto: Rialto) -> None:
        async def drive() -> None:
            with tempfile.TemporaryDirectory() as folder:
                await Session(rialto, service, random.Random(seed), Path(folder)).live(seconds)
            QApplication.clipboard().clear()  # without a display Qt deletes it when Python is gone, and dies of it
            rialto.window.closed.emit()

        rialto.crashes.crashed.connect(lambda report: _say(crash=report.title, path=str(report.path)))
        rialto.tasks.start_unless_running("soak", drive)
        show(rialto)

    start._show = show_and_drive
    return start.run([])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))
