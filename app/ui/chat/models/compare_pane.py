"""Answers of several models to one question side by side, each with time, tokens and cost, to stop or to keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.conversation.view import MessageView
from app.ui.kit.discard import WidgetList
from app.ui.kit.focus import leave_focus
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, QuietButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule, zone

if TYPE_CHECKING:
    from app.ui.conversation.rows import MessageRow
    from app.ui.kit.theme import Theme

MIN_COLUMN = 240  # px at 100 %; where fewer fit, the columns are moved sideways
COLUMN_ACTIONS = ("copy",)


class Column(QWidget):
    """One answer. `action` tells row id and what is wanted: "keep", "stop-row", or what a button in it says."""

    action = Signal(str, str)

    def __init__(self, theme: Theme, row_id: str, name: str) -> None:
        super().__init__()
        self._theme = theme
        self.row_id = row_id
        self.name = name
        zone(self, "canvas")
        self.title = Label(theme, name, "reading", weight=600, elide=True)
        self.kept = Badge(theme, tr("Continuing with this one"), "accent")
        self.keep = Button(theme, tr("Keep"), "check", size="small")
        self.stop = Button(theme, tr("Stop"), "stop", size="small")
        self.view = MessageView(theme)
        self.view.setAccessibleName(tr("Answer from {name}", name=name))
        self.keep.setAccessibleName(tr("Keep the answer from {name}", name=name))
        self.stop.setAccessibleName(tr("Stop the answer from {name}", name=name))
        head = self._bar = QWidget()
        self._head = QHBoxLayout(head)
        self._head.addWidget(self.title, 1)
        for widget in (self.kept, self.stop, self.keep):
            self._head.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(self.view, 1)
        self.keep.clicked.connect(lambda: self.action.emit(self.row_id, "keep"))
        self.stop.clicked.connect(lambda: self.action.emit(self.row_id, "stop-row"))
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        theme = self._theme
        self._head.setContentsMargins(theme.px(24), theme.px(8), theme.px(16), theme.px(8))
        self._head.setSpacing(theme.px(6))
        self._bar.setFixedHeight(theme.height_px(44, 26))
        self.setMinimumWidth(theme.type_px(MIN_COLUMN))

    def show_row(self, row: MessageRow, *, is_head: bool) -> None:
        """Show the answer as it is now. Text of one that streams comes piece by piece."""
        row = replace(
            row, places=1, place=1, actions=COLUMN_ACTIONS if row.shown_actions and row.state != "streaming" else ()
        )
        known = self.view.stack.rows[0] if self.view.stack.rows else None
        if known is None:
            self.view.set_messages([row])
            self.view.scroll_to_start()  # columns are read from their first words, side by side
        else:
            streamed = "streaming" in (known.state, row.state)
            changes = {
                field.name: getattr(row, field.name)
                for field in fields(row)
                if field.init
                and getattr(row, field.name) != getattr(known, field.name)
                and not (streamed and field.name in ("text", "reasoning"))
            }
            if changes:
                self.view.update_row(row.id, **changes)
        streaming = row.state == "streaming"
        self.stop.setVisible(streaming)
        self.keep.setVisible(not streaming and not is_head and row.state != "failed")
        self.kept.setVisible(not streaming and is_head)


class ComparePane(QWidget):
    """Shown in place of the conversation. `left` brings that back."""

    action = Signal(str, str)
    stop_all_requested = Signal()
    left = Signal()
    typed = Signal(object)  # QKeyEvent, typed while an answer has the focus

    def __init__(self, theme: Theme, name_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        """`name_of` gives the name over a column for its row id."""
        super().__init__(parent)
        self._theme = theme
        self._name_of = name_of
        self.columns: list[Column] = []
        self._head_id = ""
        zone(self, "canvas")
        self.question = Label(theme, "", "body", "text2", elide=True)
        self.stop_all = Button(theme, tr("Stop all"), "stop", size="small")
        self.back = QuietButton(theme, tr("Back to conversation"), "chat", size="small")
        top = QWidget()
        buttons = QWidget()
        flow = FlowLayout(theme, gap=6, line_gap=4, parent=buttons)
        flow.addWidget(self.stop_all)
        flow.addWidget(self.back)
        self._top = QHBoxLayout(top)
        self._top.addWidget(self.question, 1)
        self._top.addWidget(buttons)
        self._holder = QWidget()
        across = QHBoxLayout(self._holder)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(0)
        self._across: WidgetList[QWidget] = WidgetList(across)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self._holder)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(top)
        column.addWidget(rule())
        column.addWidget(self._scroll, 1)
        self.stop_all.clicked.connect(self.stop_all_requested)
        leave_focus(self.stop_all, self.back)
        self.back.clicked.connect(self.left)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        theme = self._theme
        self._top.setContentsMargins(theme.px(24), theme.px(6), theme.px(16), theme.px(6))
        self._top.setSpacing(theme.px(12))

    def show_rows(self, question: str, rows: Sequence[MessageRow], head_id: str) -> None:
        """Show these answers; `head_id` is the one that the chat goes on from."""
        self.question.set_text(" ".join(question.split()))
        self._head_id = head_id
        if [each.row_id for each in self.columns] != [row.id for row in rows]:
            self._rebuild(rows)
        for each, row in zip(self.columns, rows, strict=True):
            each.show_row(row, is_head=row.id == head_id)
        self._agree()

    def _rebuild(self, rows: Sequence[MessageRow]) -> None:
        self._across.clear()
        self.columns = []
        for row in rows:
            if self.columns:
                self._across.add(rule(vertical=True))
            made = Column(self._theme, row.id, self._name_of(row.id))
            made.action.connect(self.action)
            made.view.action.connect(self.action)
            made.view.typed.connect(self.typed)
            leave_focus(made.stop, made.keep)
            self._across.add(made, 1)
            self.columns.append(made)

    def column(self, row_id: str) -> Column | None:
        return next((each for each in self.columns if each.row_id == row_id), None)

    def update_row(self, row: MessageRow) -> None:
        """Receipt, state or problem of one answer changed."""
        column = self.column(row.id)
        if column is not None:
            column.show_row(row, is_head=row.id == self._head_id)
            self._agree()

    def append(self, row_id: str, text: str, thoughts: str) -> None:
        """Text of one answer came."""
        column = self.column(row_id)
        if column is None:
            return
        if thoughts:
            column.view.append_reasoning(row_id, thoughts)
        if text:
            column.view.append_text(row_id, text)

    def replace_texts(self, row_id: str, text: str, thoughts: str) -> None:
        """What was shown as text of one answer is thoughts."""
        column = self.column(row_id)
        if column is not None:
            column.view.replace_texts(row_id, text, thoughts)

    def end(self, row_id: str) -> None:
        column = self.column(row_id)
        if column is not None:
            column.view.end_stream(row_id)

    def _agree(self) -> None:
        self.stop_all.setVisible(any(each.stop.isVisibleTo(each) for each in self.columns))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._holder.setMinimumWidth(0)
