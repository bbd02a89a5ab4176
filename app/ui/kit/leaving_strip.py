"""The notice of every tab about a model that leaves: which, when, what uses it, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance

    from app.core.current_account import CurrentAccount
    from app.core.leaving_models import LeavingNotice
    from app.ui.kit.theme import Theme


class LeavingStrip(QWidget):
    """Says nothing more of a model once `Later` was pressed."""

    changes_requested = Signal()
    everywhere_requested = Signal(str, str)  # the ids of the model and of its replacement
    choose_requested = Signal()

    def __init__(self, theme: Theme, *, has_changes: bool = False) -> None:
        """`has_changes`: what the replacement changes can be shown first."""
        super().__init__()
        self._has_changes = has_changes
        self._read: set[str] = set()
        self._notice: LeavingNotice | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.px(4), theme.px(2), theme.px(4), theme.px(2))
        row.setSpacing(theme.px(8))
        row.addWidget(IconLabel(theme, "clock", "warn", px=14), 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(theme.px(2))
        row.addLayout(column, 1)
        self.words = Label(theme, "", "small", "text2", wrap=True)
        column.addWidget(self.words)
        links = QWidget()
        flow = FlowLayout(theme, gap=8, line_gap=2, parent=links)
        self.changes = LinkButton(theme, tr("Show changes…"))
        self.everywhere = LinkButton(theme, tr("Use the replacement everywhere"))
        self.choose = LinkButton(theme, tr("Choose…"))
        self.close_button = LinkButton(theme, tr("Later"))
        self.close_button.setAccessibleName(tr("Do not show this again for this model"))
        for button in (self.changes, self.everywhere, self.choose, self.close_button):
            flow.addWidget(button)
        column.addWidget(links)
        self.changes.clicked.connect(self.changes_requested)
        self.everywhere.clicked.connect(self._ask_everywhere)
        self.choose.clicked.connect(self.choose_requested)
        self.close_button.clicked.connect(self._put_away)
        self.hide()

    def show_notice(self, notice: LeavingNotice | None) -> None:
        """Say which model goes and when; nothing for one that stays, or that was put away."""
        self._notice = notice
        if notice is not None:
            words = [tr("{name} {retires}.", name=notice.name, retires=notice.retires)]
            if notice.replacement_name:
                words.append(tr("{name} will replace it.", name=notice.replacement_name))
            if notice.uses:
                words.append(tr("In use: {uses}.", uses=notice.uses))
            self.words.set_text(" ".join(words))
            self.everywhere.setText(tr("Use {name} everywhere", name=notice.replacement_name))
            self.everywhere.setVisible(notice.can_replace)
            self.changes.setVisible(notice.can_replace and self._has_changes)
            self.choose.setVisible(not notice.can_replace)
        self.setVisible(notice is not None and notice.model_id not in self._read)

    def _ask_everywhere(self) -> None:
        if self._notice is not None:
            self.everywhere_requested.emit(self._notice.model_id, self._notice.replacement_id)

    def _put_away(self) -> None:
        if self._notice is not None:
            self._read.add(self._notice.model_id)
        self.hide()


class LeavingWatch(QObject):
    """Keeps the strip of a tab in step with the model that the tab uses."""

    def __init__(
        self,
        strip: LeavingStrip,
        tab: str,
        current_account: CurrentAccount,
        model_id: Callable[[], str],
        has_model: Callable[[str], bool],
        *changed: SignalInstance,
    ) -> None:
        """`has_model` tells whether the tab has a model; `changed` are the tab's signals that its own may be new."""
        super().__init__(strip)
        self._strip = strip
        self._current_account = current_account
        self._model_id = model_id
        self._has_model = has_model
        for signal in (current_account.leaving.changed, current_account.account_changed, *changed):
            signal.connect(self._refresh)
        strip.everywhere_requested.connect(
            lambda old, new: current_account.leaving.replace_requested.emit(tab, old, new)
        )
        self._refresh()

    def _refresh(self, *_: object) -> None:
        self._strip.show_notice(self._current_account.leaving_notice(self._model_id(), self._has_model))
