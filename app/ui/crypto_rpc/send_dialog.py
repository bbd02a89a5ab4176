"""The question before a signed transaction goes out: every field in full, what does not fit, and who keeps what.

A module of its own: dialogs are loaded when they are opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.translation import tr
from app.ui.crypto_rpc.state import SendQuestion
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

WIDTH = 620
MONO = frozenset({tr("From"), tr("To"), tr("Hash")})


async def ask_to_send(theme: Theme, parent: QWidget, question: SendQuestion) -> bool:
    """Show the question and wait. The button that stays is the default one."""
    dialog = Dialog(theme, parent, question.title, width=WIDTH)
    for warning in question.warnings:
        line = QWidget()
        grid = QGridLayout(line)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(8))
        grid.addWidget(IconLabel(theme, "warning", "warn"), 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(Label(theme, warning, wrap=True, weight=500), 0, 1)
        grid.setColumnStretch(1, 1)
        dialog.body.addWidget(line)
    facts = QWidget()
    grid = QGridLayout(facts)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.px(16))
    grid.setVerticalSpacing(theme.px(6))
    grid.setColumnStretch(1, 1)
    for row, (label, value) in enumerate(question.facts):
        words = Label(theme, value, "code" if label in MONO else "body", mono=label in MONO, wrap=True, tabular=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(Label(theme, label, role="text2"), row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(words, row, 1)
    dialog.body.addWidget(facts)
    stay = dialog.add_button(tr("Do not send"), accepts=False, default=True)
    dialog.add_button(question.action, kind="danger" if question.warnings else "primary", accepts=True)
    stay.setFocus()
    return await dialog.answer()
