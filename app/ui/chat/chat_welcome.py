"""What a chat looks like before its first message: who will answer, at what price, and in the Sandbox what to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QSpacerItem,
    QVBoxLayout,
    QWidget,
)

from app.translation import tr
from app.ui.kit.discard import WidgetList
from app.ui.kit.icons import paint
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.avatar import Avatar
from app.ui.kit.widgets.buttons import Button, LinkButton
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.surfaces import zone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.core.preset_library import PresetRow
    from app.ui.chat.state import ChatHead
    from app.ui.kit.theme import Theme

MOST_PRESETS = 4
COLUMN = 560  # px at 100 %
# Real questions that the Sandbox answers from the handbook, with its pages as sources.
EXAMPLES = (
    tr("What can I try in the Sandbox?"),
    tr("Where does Rialto keep my API key?"),
    tr("What happens when an answer is cut off?"),
)


class ExampleButton(QPushButton):
    """One question, or a prompt or preset by its name. Pressing it asks it, or takes it."""

    def __init__(self, theme: Theme, question: str, icon_name: str = "arrow-up", *, key: str = "") -> None:
        super().__init__()
        self._theme = theme
        self._icon = icon_name
        self.key = key
        self.question = question
        self.setAccessibleName(question)
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self.setFixedHeight(self._theme.height_px(40))

    def ring_radius(self) -> float:
        return float(self._theme.px(8))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        lit = self.underMouse() or self.isDown()
        fill = "hover" if lit else "surface"
        solid_frame(painter, theme, QRectF(self.rect()), theme.px(8), fill, "line2" if lit else "line")
        side = theme.icon_px(16)
        pad = theme.px(14)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        sign = QRectF(pad if mirrored else self.width() - pad - side, (self.height() - side) / 2, side, side)
        paint(painter, theme, self._icon, sign, "accent")
        words = self.rect().adjusted(
            pad + (side + pad if mirrored else 0), 0, -pad - (0 if mirrored else side + pad), 0
        )
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        text = self.fontMetrics().elidedText(self.question, Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading), text)


class ChatWelcome(ScrollPane):
    """`example_chosen` carries a question to be asked at once."""

    example_chosen = Signal(str)
    preset_chosen = Signal(str)
    character_requested = Signal()
    account_requested = Signal(str)  # the id of an action: somebody went past the first page
    handbook_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._theme = theme
        self._logo = IconLabel(theme, "logo", "accent", px=40)
        self._picture = Avatar(theme, "", px=56)
        self.title = Label(theme, "", "heading", wrap=True)
        self._line = Label(theme, "", role="text2", wrap=True, tabular=True)
        self._more = Label(theme, "", "small", "text2", wrap=True)
        self.character = Button(theme, tr("Choose a character"), "mask")
        self.character.clicked.connect(self.character_requested)
        self.sandbox = Button(theme, tr("Work in the Sandbox"), "cube", kind="primary")
        self.account = Button(theme, tr("Add an account…"), "key")
        self.sandbox.clicked.connect(lambda: self.account_requested.emit("sandbox"))
        self.account.clicked.connect(lambda: self.account_requested.emit("accounts"))
        self._examples_title = Label(theme, tr("Ask the Sandbox about Rialto"), "small", "text2", weight=600)
        self.examples = [ExampleButton(theme, question) for question in EXAMPLES]
        self.handbook = LinkButton(theme, tr("Or try documents in a sample project with Rialto’s handbook"))
        self.handbook.clicked.connect(self.handbook_requested)
        self._examples = QWidget()
        self._presets_title = Label(theme, tr("Your prompts and presets"), "small", "text2", weight=600)
        self._presets = QWidget()
        self._preset_lines = QVBoxLayout(self._presets)
        self._preset_lines.setContentsMargins(0, 0, 0, 0)
        self._preset_lines.addWidget(self._presets_title)
        self.presets: WidgetList[ExampleButton] = WidgetList(self._preset_lines)
        self._is_sandbox = False
        self._build()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        centre = Qt.AlignmentFlag.AlignHCenter
        self._column_box = QWidget()
        column = QVBoxLayout(self._column_box)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._logo, 0, centre)
        column.addWidget(self._picture, 0, centre)
        for label in (self.title, self._line, self._more):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        self._gap = QSpacerItem(0, 0)
        column.addItem(self._gap)
        for way in (self.character, self.sandbox, self.account):
            column.addWidget(way, 0, centre)
        inner = QVBoxLayout(self._examples)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self._examples_title)
        for button in self.examples:
            button.clicked.connect(self._chosen)
            inner.addWidget(button)
        inner.addWidget(self.handbook, 0, Qt.AlignmentFlag.AlignLeft)
        self._inner = inner
        column.addWidget(self._examples)
        column.addWidget(self._presets)
        self._column = column
        body = QWidget()
        zone(body, "canvas")
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._column_box, 100)
        row.addStretch(1)
        outer = QVBoxLayout(body)
        outer.addStretch(1)
        outer.addLayout(row)
        outer.addStretch(1)
        self._outer = outer
        self.setWidget(body)

    def _apply_theme(self) -> None:
        theme = self._theme
        self._column_box.setMaximumWidth(theme.type_px(COLUMN))
        self._column.setSpacing(theme.px(4))
        self._gap.changeSize(0, theme.px(8))
        self._inner.setSpacing(theme.px(8))
        self._preset_lines.setSpacing(theme.px(8))
        self._presets.setContentsMargins(0, theme.px(20), 0, 0)
        self._examples.setContentsMargins(0, theme.px(20), 0, 0)
        self._outer.setContentsMargins(theme.px(24), theme.px(16), theme.px(24), theme.px(16))

    def show_head(self, head: ChatHead) -> None:
        """Say who answers and what it costs."""
        character = head.character
        self._logo.setVisible(character is None)
        self._picture.setVisible(character is not None)
        if character is not None:
            self._picture.set_name(character.name)
        partner = head.partner
        self.title.set_text(tr("New chat with {partner}", partner=partner) if partner else tr("New chat"))
        self._line.set_text(head.price_line or head.why_not)
        self._line.setVisible(bool(self._line.text()))
        about = " ".join(character.description.split()) if character is not None else ""
        self._more.set_text(about)
        self._more.setVisible(bool(about))
        self.character.setVisible(character is None and not head.lock.is_on and head.has_account)
        for way in (self.sandbox, self.account):
            way.setVisible(not head.has_account)
        self._examples.setVisible(head.is_sandbox)
        self.handbook.setVisible(not head.has_documents)  # in a project that has some, there is no need of a sample
        self._is_sandbox = head.is_sandbox
        self._presets.setVisible(len(self.presets) > 0 and not head.is_sandbox)
        for button in self.examples:
            button.setEnabled(head.can_send)

    def show_presets(self, rows: Sequence[PresetRow]) -> None:
        """Offer the first few prompts and presets of the person's own; the Sandbox has its questions instead."""
        self.presets.clear()
        own = [row for row in rows if row.kind in ("prompt", "preset")]
        for row in own[:MOST_PRESETS]:
            button = ExampleButton(self._theme, row.name, "layers" if row.kind == "preset" else "list", key=row.id)
            button.setToolTip(plain_tip(row.detail))
            button.clicked.connect(lambda _checked=False, key=row.id: self.preset_chosen.emit(key))
            self.presets.add(button)
        self._presets.setVisible(len(self.presets) > 0 and not self._is_sandbox)

    def _chosen(self) -> None:
        sender = self.sender()
        if isinstance(sender, ExampleButton):
            self.example_chosen.emit(sender.question)
