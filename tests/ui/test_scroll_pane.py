"""What scrolls: its bar comes and goes without moving anything, and can be seen and pulled when it is there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from app.ui.crypto_rpc.param_form import ParamForm
from app.ui.crypto_rpc.session.parameter_fields import read_field
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.surfaces import SCROLL_BAR_PX


def pane_with(theme: Theme) -> tuple[QScrollArea, QVBoxLayout]:
    pane = ScrollPane()
    column = pane.fill(theme, "pane", (16, 16, 16, 16), 8)
    return pane, column


def dialog_with(theme: Theme) -> tuple[QScrollArea, QVBoxLayout]:
    dialog = Dialog(theme, None, "Question")  # type: ignore[arg-type]  # shown by itself
    (area,) = dialog.findChildren(QScrollArea)
    area.setParent(None)
    dialog.deleteLater()
    return area, dialog.body


def form_with(theme: Theme) -> tuple[QScrollArea, QVBoxLayout]:
    form = ParamForm(theme, read_field)
    column = form.widget().layout()
    assert isinstance(column, QVBoxLayout)
    return form, column


@pytest.mark.parametrize("make", [pane_with, dialog_with, form_with])
def test_the_scroll_bar_moves_nothing_and_lies_over_the_margin_where_it_can_be_pulled(
    theme: Theme, window: QWidget, make: Callable[[Theme], tuple[QScrollArea, QVBoxLayout]]
) -> None:
    area, column = make(theme)
    area.setParent(window)
    area.resize(300, 200)
    button = Button(theme, "Press")
    column.addWidget(button)
    area.show()
    QApplication.processEvents()
    before = button.geometry()
    bar = area.verticalScrollBar()
    assert (bar.maximum(), bar.isEnabled(), bar.width()) == (0, False, SCROLL_BAR_PX)
    rows = [Button(theme, f"Row {number}") for number in range(20)]
    for row in rows:
        column.addWidget(row)
        row.show()
    QApplication.processEvents()
    assert bar.maximum() > 0 and bar.isEnabled()
    assert (button.geometry().left(), button.width()) == (before.left(), before.width())
    right = button.mapTo(area, QPoint(button.width(), 0)).x()
    assert right <= bar.mapTo(area, QPoint(0, 0)).x(), "no control is under the bar"
    end = bar.mapTo(area, QPoint(SCROLL_BAR_PX // 2, area.height() - 4))
    assert area.childAt(end) is bar
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=QPoint(SCROLL_BAR_PX // 2, area.height() - 4))
    assert bar.value() > 0
