"""What the Request page of a chat shows besides the call: the messages of a sealed one, as they were written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from app.translation import tr, tr_n
from app.ui.kit.discard import WidgetList
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.chat.session.inspector_state import SealedTurn
    from app.ui.kit.theme import Theme

MOST_SEALED_TURNS = 6  # shown one by one
LONGEST_WRITTEN = 240  # characters of a message beside its envelope
ROLES = {"system": tr("System prompt"), "user": tr("You"), "assistant": tr("Answer")}


class SealedTurns(QWidget):
    """The latest messages: what was written beside what the service saw of it. Hidden for an open chat."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._turns: WidgetList[QWidget] = WidgetList(self._column)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self._column.setSpacing(self._theme.px(10))

    def show_turns(self, turns: tuple[SealedTurn, ...]) -> None:
        theme = self._theme
        self._turns.clear()
        self.setVisible(bool(turns))
        if not turns:
            return
        left = len(turns) - MOST_SEALED_TURNS
        if left > 0:
            words = tr_n("{n} earlier message is sealed as well.", "{n} earlier messages are sealed as well.", left)
            self._turns.add(Label(theme, words, "small", "text2", wrap=True))
        for turn in turns[-MOST_SEALED_TURNS:]:
            self._turns.add(_SealedPair(theme, turn))
        words = tr("Below is the whole request, as the service saw it.")
        self._turns.add(Label(theme, words, "small", "text2", wrap=True))


class _SealedPair(QWidget):
    """One message: what was written at the left, what the service saw of it at the right."""

    def __init__(self, theme: Theme, turn: SealedTurn) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(12))
        grid.setVerticalSpacing(theme.px(2))
        role = ROLES.get(turn.role, turn.role)
        text = turn.written if len(turn.written) <= LONGEST_WRITTEN else f"{turn.written[:LONGEST_WRITTEN]}…"
        written, seen = tr("{role}, as written", role=role), tr("The service saw")
        for column, (title, heard, words, is_mono) in enumerate(
            ((role, written, text, False), (seen, seen, turn.seen, True))  # a narrow pane shows less than is heard
        ):
            grid.setColumnStretch(column, 1)
            grid.addWidget(Label(theme, title, "small", "text2", weight=600, elide=True), 0, column)
            shown = Label(theme, words, "small", "text2" if is_mono else "text", mono=is_mono, wrap=True)
            shown.setAccessibleName(heard)
            policy = shown.sizePolicy()
            policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)  # both have the same width, whatever is in them
            shown.setSizePolicy(policy)
            grid.addWidget(shown, 1, column, Qt.AlignmentFlag.AlignTop)
