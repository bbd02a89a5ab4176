"""The inspector of a transcript: six formats, how subtitles are cut, and what comes out of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QRadioButton, QSizePolicy, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.plain_tooltip import tip_while_cut
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.buttons import Button, PrimaryButton
from app.ui.kit.widgets.fields import NumberField
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.transcription.field_row import FieldRow
from app.ui.transcription.session.exporting import FORMATS, TITLES
from app.ui.transcription.state import ExportChoice, Preview

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

PREVIEW_LINES = 9
RULE_WIDTH = 92  # px at 100 % text, so that the three stand in line


class FormatCard(QRadioButton):
    """A radio button in the shape of a card: the format's name and what it is for."""

    def __init__(self, theme: Theme, title: str, words: str) -> None:
        super().__init__(title)
        self._theme = theme
        self._words = words
        self.setAccessibleName(f"{title}, {words}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        self.toggled.connect(self.update)

    def sizeHint(self) -> QSize:
        theme = self._theme
        return QSize(theme.type_px(120), theme.line_px("body") + theme.line_px("caption") + theme.px(8))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.type_px(100), self.sizeHint().height())

    def hitButton(self, pos: object) -> bool:
        return True

    def ring_radius(self) -> float:
        return float(self._theme.px(6))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, on = self._theme, self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill = "accent_tint" if on else "hover" if self.underMouse() else "surface"
        solid_frame(painter, theme, QRectF(self.rect()), theme.px(6), fill, "accent" if on else "line2")
        side = theme.icon_px(16)
        left, middle = theme.px(10), self.height() / 2
        ring = QRectF(left, middle - side / 2, side, side).adjusted(1, 1, -1, -1)
        painter.setPen(theme.color("accent" if on else "control"))
        painter.setBrush(theme.color("surface"))
        painter.drawEllipse(ring)
        if on:
            painter.setBrush(theme.color("accent"))
            painter.drawEllipse(ring.adjusted(3.5, 3.5, -3.5, -3.5))
        x = left + side + theme.px(10)
        top = theme.px(4)
        line = theme.line_px("body")
        painter.setPen(theme.color("text"))
        painter.setFont(theme.font("body", 500))
        room = self.width() - x - theme.px(6)
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.drawText(QRectF(x, top, room, line), flags, self.text())
        painter.setPen(theme.color("text2"))
        painter.setFont(theme.font("caption", 400))
        words = painter.fontMetrics().elidedText(self._words, Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(QRectF(x, top + line - 1, room, theme.line_px("caption")), flags, words)
        tip_while_cut(self, self._words, words != self._words)


class ExportPage(ScrollPane):
    """`changed` carries another `ExportChoice`."""

    changed = Signal(object)
    save_requested = Signal()
    copy_requested = Signal()
    chat_requested = Signal()
    speech_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(tr("Export"), parent)
        self._theme = theme
        self._choice = ExportChoice()
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the fields and put them into their places, some at each step."""
        theme = self._theme
        self._column = self.fill(theme, "pane", (16, 14, 16, 16), 10)
        self.cards = {kind: FormatCard(theme, *TITLES[kind]) for kind in FORMATS}
        yield
        self.line_chars = NumberField(theme, tr("Maximum characters per line"), low=10, high=120, value=42, small=False)
        self.lines = NumberField(theme, tr("Lines per cue"), low=1, high=4, value=2, small=False)
        self.longest = NumberField(
            theme, tr("Maximum cue length in seconds"), low=1, high=30, step=0.5, decimals=1, value=6, small=False
        )
        yield
        self.place = Label(theme, "", "small", "text2", tabular=True)
        self.preview = TextArea()
        self.preview.setReadOnly(True)
        self.preview.setProperty("part", "preview")
        self.preview.setProperty("mono", True)
        self.preview.setLineWrapMode(TextArea.LineWrapMode.NoWrap)  # its lines are those of the file
        self.preview.setAccessibleName(tr("Export preview"))
        self.preview.setTabChangesFocus(True)
        self.save = PrimaryButton(theme, tr("Save as…"), "download")
        self.copy = Button(theme, tr("Copy"), "copy")
        self.chat = Button(theme, tr("Ask about it in Chat"), "chat", size="small")
        self.speech = Button(theme, tr("Speak transcript"), "speech", size="small")
        yield
        yield from self._arrange()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_choice(self._choice)

    def _arrange(self) -> BuildSteps[None]:
        theme, column = self._theme, self._column
        column.addWidget(Label(theme, tr("Format"), "small", "text2"))
        grid = self._grid = QGridLayout()
        group = QButtonGroup(self)
        for number, kind in enumerate(FORMATS):
            group.addButton(self.cards[kind])
            grid.addWidget(self.cards[kind], number // 2, number % 2)
        column.addLayout(grid)
        yield
        self.rules = QWidget()
        rows = QVBoxLayout(self.rules)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        self.line_chars.setSuffix(f" {tr('chars')}")
        self.longest.setSuffix(" s")
        for text, field in (
            (tr("Line length"), self.line_chars),
            (tr("Lines per cue"), self.lines),
            (tr("Cue length"), self.longest),
        ):
            rows.addWidget(FieldRow(theme, text, field, beside=True))
        column.addWidget(self.rules)
        yield
        head = QHBoxLayout()
        head.addWidget(Label(theme, tr("Preview"), "small", "text2"), 1)
        head.addWidget(self.place)
        column.addLayout(head)
        column.addWidget(self.preview)
        holder = QWidget()
        flow = FlowLayout(theme, parent=holder)
        flow.addWidget(self.save)
        flow.addWidget(self.copy)
        column.addWidget(holder)
        hint = QHBoxLayout()
        hint.setSpacing(theme.px(6))
        hint.addWidget(IconLabel(theme, "pencil", "text3", px=14), 0, Qt.AlignmentFlag.AlignTop)
        words = tr("Edits keep their timing. Double-click a segment, or press F2.")
        hint.addWidget(Label(theme, words, "small", "text2", wrap=True), 1)
        column.addLayout(hint)
        send = QWidget()
        send_flow = FlowLayout(theme, parent=send)
        send_flow.addWidget(self.chat)
        send_flow.addWidget(self.speech)
        column.addWidget(send)
        column.addStretch(1)

    def _connect(self) -> None:
        for kind, card in self.cards.items():
            card.clicked.connect(lambda _on=False, kind=kind: self._change(replace(self._choice, kind=kind)))
        self.line_chars.value_edited.connect(lambda value: self._rule(line_chars=int(value)))
        self.lines.value_edited.connect(lambda value: self._rule(lines=int(value)))
        self.longest.value_edited.connect(lambda value: self._rule(longest_s=float(value)))
        self.save.clicked.connect(self.save_requested)
        self.copy.clicked.connect(self.copy_requested)
        self.chat.clicked.connect(self.chat_requested)
        self.speech.clicked.connect(self.speech_requested)

    def _rule(self, **changes: float) -> None:
        rules = replace(self._choice.rules, **changes)  # type: ignore[arg-type]  # the callers give each its kind
        self._change(replace(self._choice, rules=rules))

    def _change(self, choice: ExportChoice) -> None:
        self.show_choice(choice)
        self.changed.emit(choice)

    def _apply_theme(self) -> None:
        theme = self._theme
        px = theme.px
        self._grid.setSpacing(px(8))
        self.preview.setFont(theme.font("code", mono=True))
        self.preview.setFixedHeight(theme.line_px("code") * PREVIEW_LINES + px(20))
        for field in (self.line_chars, self.lines, self.longest):
            field.setFixedWidth(max(theme.type_px(RULE_WIDTH), field.sizeHint().width()))

    def show_choice(self, choice: ExportChoice) -> None:
        self._choice = choice
        self.cards[choice.kind].setChecked(True)
        self.line_chars.set_value(choice.rules.line_chars)
        self.lines.set_value(choice.rules.lines)
        self.longest.set_value(choice.rules.longest_s)
        self.rules.setEnabled(choice.kind in ("srt", "vtt"))

    def show_preview(self, preview: Preview) -> None:
        self.place.set_text(preview.place)
        if self.preview.toPlainText() != preview.text:
            self.preview.setPlainText(preview.text)
