"""The whole window in a language that nobody speaks, in a process of its own. Prints what stayed English or is cut.

python -m tests.journeys.pseudo_window FOLDER WIDTH HEIGHT

The language is there before anything else is loaded, as that of a person is: constants of modules are translated too.
"""

from __future__ import annotations

import sys
from pathlib import Path

from app import formats, translation
from tests.kit.pseudo import FORMATS, Catalog

FOLDER = Path(sys.argv[1])
translation.use(Catalog())
formats.use(FORMATS)

from app.ui.kit.qt_workarounds.layout_items import forget_layout_items  # noqa: E402
from app.ui.kit.qt_workarounds.pyside_features import read_no_sources  # noqa: E402
from app.ui.kit.qt_workarounds.qt_exception_guard import install_exception_guard  # noqa: E402

read_no_sources()
install_exception_guard()
forget_layout_items()

import asyncio  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
from collections.abc import Iterator  # noqa: E402

import httpx  # noqa: E402
import qasync  # noqa: E402
from PySide6.QtCore import QEvent, QModelIndex, Qt  # noqa: E402
from PySide6.QtGui import QContextMenuEvent, QDesktopServices, QKeyEvent  # noqa: E402
from PySide6.QtWidgets import (  # noqa: E402
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QFileDialog,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.bootstrap import prebuild_tabs  # noqa: E402
from app.bootstrap.rialto import Rialto  # noqa: E402
from app.credentials.accounts import new_account  # noqa: E402
from app.ui.settings.page import SettingsPage  # noqa: E402
from app.ui.settings.sections import SECTIONS  # noqa: E402
from tests.journeys.conftest import opened  # noqa: E402
from tests.journeys.killed_video_window import use_keyring  # noqa: E402
from tests.journeys.paying_tabs import PAID_ACTIONS, problem_of  # noqa: E402
from tests.journeys.talk import in_the_sandbox  # noqa: E402
from tests.journeys.test_wallet import control  # noqa: E402
from tests.kit.seen import Seen  # noqa: E402
from tests.kit.waiting import until  # noqa: E402

# Commands that open something say so with "…"; these do as well. Help and licenses are documents, in English.
OPENS = (".menu", ".palette", ".shortcuts", ".model", ".network", ".method", ".prompts", ".request", ".characters")
DOCUMENTS = ("window.help", "window.about", "window.licenses")
# Refused for lack of credits, and as if the network was gone.
FAULTS: dict[str, dict[str, object]] = {"answer": {"status": 402, "body": {"error": "€"}}, "drop": {}}
HEADERS = ("server", "date", "nosniff", "DENY", "rialto-sandbox", "x-service-model-name", "x-service-model-router")
SERVICE = ("/models?type=all", "/characters?limit=100", "/image/styles", "/crypto/rpc/networks")


def windows(main: QWidget) -> list[QWidget]:
    """Dialogs, popovers and menus that are open over the window; Qt's own file dialog is Qt's to translate."""
    shown = [each for each in QApplication.topLevelWidgets() if each.isVisible() and each is not main]
    return [each for each in shown if each.isWindow() and not isinstance(each, QFileDialog)]


def close(main: QWidget) -> None:
    for window in [each for each in QApplication.topLevelWidgets() if each.isVisible() and each is not main]:
        if isinstance(window, QDialog):
            window.reject()
        else:
            window.close()
    QApplication.sendEvent(main, QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier))


async def quiet(rialto: Rialto, turns: int = 6) -> None:
    """Let the loop turn until what was asked for is here; what polls or watches never ends."""
    for _ in range(60):  # a dialog that is open is work that does not end
        scopes = (rialto.tasks, rialto.account_services.bookkeeping)
        left = {
            name for scope in scopes for name in scope.names if not name.startswith(("make tabs", "video", "watch"))
        }
        if not left:
            break
        await asyncio.sleep(0.01)
    for _ in range(turns):
        await asyncio.sleep(0.01)


async def said_by_the_service(rialto: Rialto) -> Iterator[str]:
    """Every text of the answers that the tabs show: names of models, characters, styles, networks and engines."""
    base = await rialto.account_services.sandbox.start_and_tell()
    headers = {"Authorization": f"Bearer {rialto.account_services.sandbox.key}"}
    async with httpx.AsyncClient(timeout=60, headers=headers) as http:
        networks = (await http.get(f"{base}/crypto/rpc/networks")).json()
        parts = {part for slug in _strings(networks) for part in slug.split("-")}  # "base-sepolia" reads "Base sepolia"
        urls = [*(f"{base}{path}" for path in SERVICE), f"{base.rpartition('/api')[0]}/sandbox/engines"]
        return iter((*parts, *map(str.capitalize, parts), *_strings([(await http.get(url)).json() for url in urls])))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value


async def look_at_menus(rialto: Rialto, seen: Seen, tab: str) -> None:
    """Open the menu of the first row of each list, and of what is shown beside it, as the menu key does."""
    window = rialto.window
    for view in window.findChildren(QAbstractScrollArea):
        if isinstance(view, QPlainTextEdit | QTextEdit) or not view.isVisible():
            continue  # Qt translates the menus that are its own
        if type(view).contextMenuEvent is QAbstractScrollArea.contextMenuEvent:
            continue
        model = view.model() if isinstance(view, QAbstractItemView) else None
        if isinstance(view, QAbstractItemView) and model is not None:
            rows = (model.index(row, 0) for row in range(model.rowCount()))
            view.setCurrentIndex(
                next((row for row in rows if row.flags() & Qt.ItemFlag.ItemIsSelectable), QModelIndex())
            )
        middle = view.viewport().rect().center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, view.mapToGlobal(middle))
        QApplication.sendEvent(view, event)
        await quiet(rialto, 3)
        for shown in windows(window):
            seen.look(f"{tab}, menu of {type(view).__name__}", shown)
        close(window)
        await quiet(rialto, 3)


async def walk(rialto: Rialto, seen: Seen) -> None:
    window = rialto.window
    await quiet(rialto)
    seen.look("welcome", window)
    await in_the_sandbox(rialto)
    seen.allow((*HEADERS, *await said_by_the_service(rialto)))
    for tab in window.tab_names():
        window.show_tab(tab)
        await quiet(rialto)
        seen.look(f"{tab}, empty", window)
    settings = window.tab("settings")
    assert isinstance(settings, SettingsPage)
    for section in SECTIONS:
        settings.show_section(section.key)
        await quiet(rialto)
        seen.look(f"settings, {section.key}", window)
    for tab, deed in PAID_ACTIONS.items():
        window.show_tab(tab)
        await quiet(rialto)
        await deed.prepare(rialto, FOLDER)
        await quiet(rialto)
        seen.look(f"{tab}, ready", window)
        deed.begin(rialto)
        await quiet(rialto, 2)
        seen.look(f"{tab}, running", window)
        await until(lambda deed=deed: deed.done(rialto))
        await quiet(rialto)
        seen.look(f"{tab}, done", window)
        await look_at_menus(rialto, seen, tab)
        for name, fault in FAULTS.items():
            await deed.prepare(rialto, FOLDER)
            await control(rialto, f"/faults/{name}", "PUT", **fault)
            deed.begin(rialto)
            await until(lambda tab=tab: problem_of(rialto, tab) is not None)
            problems = [problem_of(rialto, tab)]
            await quiet(rialto)
            problems.append(problem_of(rialto, tab))
            buttons = [action.text for each in problems if each is not None for action in each.actions]
            seen.look(f"{tab}, {name}", window, buttons)
            await control(rialto, "/faults", "DELETE")
    for entry in window.registry.entries():
        if entry.id in DOCUMENTS or (not entry.action.text.endswith("…") and not entry.id.endswith(OPENS)):
            continue
        if entry.scope in window.tab_names():
            window.show_tab(entry.scope)
        window.registry.run(entry.id)
        await quiet(rialto)
        for shown in (window, *windows(window)):
            seen.look(entry.id, shown)
        close(window)
        await quiet(rialto, 3)

    rialto.current_account.use(new_account("Venice", "https://api.example.com/v1"), None)
    for reach in ("dns", "refused"):
        rialto.current_account.set_reach(reach)
        await quiet(rialto)
        seen.look(f"cannot be reached: {reach}", window)


async def live(qt_app: QApplication, seen: Seen, width: int, height: int) -> None:
    async with opened(qt_app, FOLDER / "home") as rialto:
        rialto.window.resize(width, height)
        rialto.theme.set_reduced_motion(True)  # what slides has arrived
        await walk(rialto, seen)


def main() -> None:
    gc.disable()
    prebuild_tabs.SETTLE_S = 3600.0
    use_keyring(FOLDER / "keyring.json")
    QDesktopServices.openUrl = staticmethod(lambda *_: True)  # type: ignore[assignment]
    qt_app = QApplication([])
    seen = Seen()
    with qasync.QEventLoop(qt_app) as loop:
        loop.run_until_complete(live(qt_app, seen, int(sys.argv[2]), int(sys.argv[3])))
    print(json.dumps(seen.found(), ensure_ascii=False))
    sys.stdout.flush()
    os._exit(0)  # Qt's objects may go in any order


if __name__ == "__main__":
    main()
