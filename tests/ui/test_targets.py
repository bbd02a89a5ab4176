"""Whatever a person presses in the window is at least 24 px high and wide."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.ui.kit.tab_order import tab_stops
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import CheckBox
from app.ui.settings.sections import SECTIONS
from tests.kit.shell import make_shell
from tests.ui.test_shell_window import show

LEAST = 24  # px


def too_small(root: QWidget) -> list[str]:
    stops = [stop for stop in tab_stops(root) if isinstance(stop, QAbstractButton)]
    assert stops
    return [
        f"{type(stop).__name__} {stop.accessibleName() or stop.text()}: {stop.width()} × {stop.height()}"
        for stop in stops
        if min(stop.width(), stop.height()) < LEAST
    ]


def test_a_check_box_takes_a_click_on_all_of_it(qtbot, theme: Theme, qapp: QApplication) -> None:
    theme.apply(qapp)
    box = CheckBox("Web access")
    qtbot.addWidget(box)
    box.show()
    assert box.height() >= LEAST
    for y in (1, box.height() - 2):
        before = box.isChecked()
        QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(5, y))
        assert box.isChecked() != before, y


async def test_of_the_status_bar_and_the_rail(theme: Theme, tasks, tmp_path: Path) -> None:
    harness = make_shell(tmp_path, tasks, theme, second_tab=True)
    harness.window.resize(1440, 900)
    show(harness)
    harness.window.show_tab("chat")
    assert too_small(harness.window.status) == [] and too_small(harness.window.rail) == []
    harness.window.close()


@pytest.mark.parametrize("key", [section.key for section in SECTIONS])
async def test_of_every_section_of_settings(harness, settings, tasks, key: str) -> None:
    settings.show_section(key)
    await tasks.idle()
    assert too_small(harness.window) == []
