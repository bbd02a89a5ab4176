"""The tab order. Qt's own focus chain is never walked for it.

PySide 6.11 makes the widget that `nextInFocusChain`, `previousInFocusChain` or `focusProxy` returns a part of the one
that was asked, and takes it away from Python when that one is deleted: a walk along the chain breaks the window later.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def tab_stops(part: QWidget) -> list[QWidget]:
    """Return what Tab reaches inside `part`, which can be seen and used now, in the order in which it was built."""
    return [
        widget
        for widget in part.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
        and widget.isEnabled()
        and widget.isVisible()
    ]


def put_in_order(stops: Sequence[QWidget]) -> None:
    """Have Tab reach these one after another, from where the first of them is: what is made late comes last of all."""
    for before, after in pairwise(stops):
        QWidget.setTabOrder(before, after)
