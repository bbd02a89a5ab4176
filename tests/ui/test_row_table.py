"""Tables whose rows are read with the keyboard show which row has the focus."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.ui.kit.lists.row_table import RowTable


def test_tab_into_a_table_selects_its_current_row(qtbot: QtBot) -> None:
    page, field, table = QWidget(), QLineEdit(), RowTable("Receipts")
    model = QStandardItemModel(table)
    for number in range(3):
        model.appendRow([QStandardItem(f"{number}, {column}") for column in "ab"])
    table.setModel(model)
    layout = QVBoxLayout(page)
    layout.addWidget(field)
    layout.addWidget(table)
    qtbot.addWidget(page)
    page.show()
    page.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)

    qtbot.keyClick(field, Qt.Key.Key_Tab)

    assert table.hasFocus()
    assert [index.row() for index in table.selectionModel().selectedRows()] == [0]
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert [index.row() for index in table.selectionModel().selectedRows()] == [1]
    qtbot.keyClick(table, Qt.Key.Key_Tab)
    assert field.hasFocus()
