"""What the window's tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import shiboken6
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.tabs import TabInfo
from app.core.tasks import TaskScope
from app.ui.kit.accessible_interfaces import install_interfaces
from app.ui.kit.theme import Theme
from app.ui.settings.page import SettingsPage
from tests.kit.shell import SettingsHarness, ShellHarness, make_settings, make_shell
from tests.kit.tasks import CheckedTasks

if TYPE_CHECKING:
    from app.sandbox.server import RunningSandbox


@pytest.fixture(autouse=True, scope="session")
def _interfaces() -> None:
    install_interfaces()


@pytest.fixture(autouse=True)
def _delete_windows_left_open() -> Iterator[None]:
    with windows_deleted():
        yield


@contextmanager
def windows_deleted() -> Iterator[None]:
    """Delete what is left on the screen behind the block: whoever sets a style sheet later styles it again."""
    before = _windows().keys()
    yield
    left = [window for address, window in _windows().items() if address not in before]
    for window in left:
        window.deleteLater()
    if left:
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def _windows() -> dict[int, QWidget]:
    """The widgets without a parent, by where Qt has them."""
    if QApplication.instance() is None:
        return {}
    found = (widget for widget in QApplication.topLevelWidgets() if widget.parent() is None)
    return {shiboken6.getCppPointer(widget)[0]: widget for widget in found}


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The light theme without motion: what slides has arrived."""
    theme = Theme()
    theme.configure(mode="light", text_percent=100, reduced_motion=True)
    theme.apply(qapp)
    qapp.setQuitOnLastWindowClosed(False)
    yield theme
    qapp.setStyleSheet("")


@pytest.fixture
def window(qtbot: QtBot, theme: Theme) -> QWidget:
    """An empty window of 800 × 600 that has the keyboard."""
    window = QWidget()
    window.resize(800, 600)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=60_000)
    return window


@pytest.fixture
async def tasks() -> AsyncIterator[TaskScope]:
    """Work of the window; a crash in it fails the test."""
    scope = CheckedTasks()
    yield scope
    await scope.aclose()
    scope.check()


@pytest.fixture
async def harness(theme: Theme, tasks: TaskScope, tmp_path: Path) -> AsyncIterator[ShellHarness]:
    """A window with a Chat tab, shown at 1440 × 900."""
    harness = make_shell(tmp_path, tasks, theme)
    harness.window.resize(1440, 900)
    harness.window.show()
    harness.window.activateWindow()
    harness.window.show_tab("chat")
    harness.window.after_first_paint()
    QApplication.processEvents()
    yield harness
    harness.window.hide()
    harness.window.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
async def settings_harness(tasks: TaskScope, tmp_path: Path, qapp: QApplication) -> SettingsHarness:
    """Accounts, secrets and settings; the service accepts every key."""
    return make_settings(tmp_path / "rialto", tasks)


@pytest.fixture(scope="session")
def running_swift_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    """One Sandbox that answers as fast as it can."""
    from app.sandbox.server import Options, start_sandbox
    from app.storage.paths import resources

    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path_factory.mktemp("sandbox"), resources(), options=options) as running:
        yield running


@pytest.fixture
def swift_sandbox(running_swift_sandbox: RunningSandbox) -> RunningSandbox:
    from tests.sandbox.support import as_new

    return as_new(running_swift_sandbox)


@pytest.fixture
async def settings(harness: ShellHarness, settings_harness: SettingsHarness, tasks: TaskScope) -> SettingsPage:
    """The Settings tab of `harness`, on show."""
    page = SettingsPage(
        harness.theme,
        settings_harness.settings,
        settings_harness.accounts,
        settings_harness.secrets,
        harness.window.registry,
        tasks,
        version="1.2.3",
        undo_stack=harness.window.undo_stack,
        open_help=harness.window.overlays.open_help,
        connection=lambda: settings_harness.connection,
        about=lambda: settings_harness.about,
    )
    harness.window.add_tab(
        TabInfo("settings", "Settings", "settings", at_bottom=True, list_width=232, inspector_width=328), lambda: page
    )
    harness.window.show_tab("settings")
    await tasks.idle()
    return page
