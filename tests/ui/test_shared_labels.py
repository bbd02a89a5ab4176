"""Labels, headers and receipts: line heights, tooltips, wrapping, plain text."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, IconButton, LinkButton
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import LONGEST_PX, Label
from app.ui.kit.widgets.pill import PillButton
from app.ui.kit.widgets.receipt_line import ReceiptLine, Run, lay_out_runs

LEFT = Qt.MouseButton.LeftButton


def test_a_label_wraps_at_the_designed_line_height(qtbot, theme: Theme) -> None:
    label = Label(theme, "one two three four five six seven eight nine ten", wrap=True)
    qtbot.addWidget(label)
    narrow = label.heightForWidth(90)
    assert narrow % 19 == 0
    assert narrow >= 3 * 19
    assert label.heightForWidth(2000) == 19


def test_a_label_that_is_cut_shows_the_whole_in_its_tooltip(qtbot, theme: Theme) -> None:
    label = Label(theme, "Sign-in message fields explained", elide=True)
    qtbot.addWidget(label)
    label.resize(60, 19)
    label.show()
    assert label.toolTip() == "Sign-in message fields explained"
    label.resize(600, 19)
    assert label.toolTip() == ""


def test_a_lead_sentence_is_read_with_the_rest(qtbot, theme: Theme) -> None:
    label = Label(theme, "History still works.", lead="You are offline.", wrap=True)
    qtbot.addWidget(label)
    assert label.text() == "You are offline. History still works."
    label.set_text("Drafts too.", "Still offline.")
    assert label.text() == "Still offline. Drafts too."


def test_markup_in_a_label_is_text(qtbot, theme: Theme) -> None:
    label = Label(theme, "<b>not bold</b>")
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText


def test_labels_follow_the_theme(qtbot, theme: Theme) -> None:
    label = Label(theme, "Chats", "heading", "text2")
    qtbot.addWidget(label)
    theme.set_mode("dark")
    assert label.palette().windowText().color() == theme.color("text2")
    theme.set_text_percent(150)
    assert label.font().pixelSize() == 24


def test_headers_of_all_panes_are_52_px(qtbot, theme: Theme) -> None:
    header = PaneHeader(theme, "Chats")
    header.add(IconButton(theme, "plus", "New chat", framed=True))
    header.add_before_title(IconButton(theme, "chevron-left", "Back"))
    header.add_after_title(Badge(theme, "Preview", "outline"))
    holder = QWidget()
    QVBoxLayout(holder).addWidget(header)
    qtbot.addWidget(holder)
    holder.resize(400, 300)
    holder.show()
    assert header.height() == 52
    assert header.title.text() == "Chats"


def test_a_receipt_wraps_at_its_separators(qtbot, theme: Theme) -> None:
    runs = (Run("$0.0019", strong=True), Run("in 1,284"), Run("out 418"), Run("6.9 s"))
    _, one_line = lay_out_runs(theme, runs, 1000)
    placed, height = lay_out_runs(theme, runs, 150)
    assert one_line == 17
    assert height > 17
    assert all(item.rect.right() <= 151 for item in placed)
    assert all(item.dot is None for item in placed if item.rect.left() == 0)


def test_a_receipt_is_copied_as_plain_text(qtbot, theme: Theme) -> None:
    line = ReceiptLine(theme, (Run("$0.0019", strong=True), Run("6.9 s")))
    qtbot.addWidget(line)
    line.copy()
    assert QGuiApplication.clipboard().text() == "$0.0019 · 6.9 s" == line.accessibleName()


def test_clicking_a_receipt_asks_for_the_request_page(qtbot, theme: Theme) -> None:
    line = ReceiptLine(theme, (Run("$0.0019"),))
    qtbot.addWidget(line)
    line.resize(line.sizeHint())
    with qtbot.waitSignal(line.activated, timeout=60_000):
        qtbot.mouseClick(line, LEFT)


def test_a_label_gives_back_the_room_of_a_smaller_minimum(qtbot, theme: Theme) -> None:
    label = Label(theme, "Top-p")
    qtbot.addWidget(label)
    for width in (101, 84):
        label.setMinimumWidth(width)
        assert label.sizeHint().width() == width


def test_a_colour_that_was_chosen_before_anybody_looked_is_the_one_that_is_shown(window: QWidget, theme: Theme) -> None:
    """The style sheet gives a widget the usual colors when it comes below another parent and is shown."""
    pages = QStackedWidget(window)
    pages.show()
    page, scroll = QWidget(), QScrollArea()
    label = Label(theme, "Top-p")
    QVBoxLayout(page).addWidget(label)
    scroll.setWidget(page)
    label.set_role("text3")
    pages.addWidget(scroll)
    QApplication.processEvents()
    assert label.isVisible()
    assert label.palette().color(QPalette.ColorRole.WindowText) == theme.color("text3")


@pytest.mark.parametrize("make", [Label, Badge, PillButton, Button, LinkButton], ids=lambda kind: kind.__name__)
def test_an_endless_word_widens_nothing(theme: Theme, qtbot, make: type[QWidget]) -> None:
    pane = QWidget()
    qtbot.addWidget(pane)
    column = QVBoxLayout(pane)
    column.addWidget(make(theme, "W" * 10_000))
    assert pane.minimumSizeHint().width() < theme.type_px(260)
    assert pane.sizeHint().width() < theme.type_px(LONGEST_PX + 60)  # what opens at the size that its content asks for
    short = make(theme, "Short")
    assert short.minimumSizeHint().width() == short.sizeHint().width()


def test_a_label_shows_an_override_as_a_sign(theme: Theme, qtbot) -> None:
    label = Label(theme, "ev\u202egpj.exe")
    qtbot.addWidget(label)
    assert label.text() == "ev\ufffdgpj.exe"
    label.set_text("שלום")
    assert label.text() == "שלום"
    label.set_text("exe", lead="ev\u202egpj.")
    assert label.text() == "ev\ufffdgpj. exe"
