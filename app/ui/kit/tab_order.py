"""The tab order. Qt's own focus chain is never walked for it.

PySide 6.11 makes the widget that `nextInFocusChain`, `previousInFocusChain` or `focusProxy` returns a part of the one
that was asked, and takes it away from Python when that one is deleted: a walk along the chain breaks the window later.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QWidget


def tab_stops(part: QWidget) -> list[QWidget]:
    """Return what Tab reaches inside `part`, which can be seen and used now, in the order in which it was built."""
    return [
        widget
        for widget in part.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
        and widget.isEnabled()
        and widget.isVisible()
        and not isinstance(widget.parentWidget(), (QAbstractSpinBox, QComboBox))  # whose line of text has their focus
    ]


def as_seen(part: QWidget) -> list[QWidget]:
    """Return what Tab reaches inside `part` line by line as a person sees it, whenever it was made."""
    rows: list[tuple[int, list[tuple[int, QWidget]]]] = []  # the middle of the first one, and where each begins
    sign = -1 if part.isRightToLeft() else 1
    places = [(widget.mapTo(part, QPoint(0, 0)), widget) for widget in tab_stops(part)]
    for at, widget in sorted(places, key=lambda place: (place[0].y(), sign * place[0].x())):
        if not rows or at.y() > rows[-1][0]:
            rows.append((at.y() + widget.height() // 2, []))
        rows[-1][1].append((sign * at.x(), widget))
    return [widget for _, row in rows for _, widget in sorted(row, key=lambda place: place[0])]


def put_in_order(stops: Sequence[QWidget]) -> None:
    """Have Tab reach these one after another, from where the first of them is: what is made late comes last of all."""
    for before, after in pairwise(stops):
        QWidget.setTabOrder(before, after)


def leave_pane(pane: QWidget) -> bool:
    """Go on behind the panes of a tab, where a holder of `pane` knows that place by `leave_panes`."""
    holder = pane.parentWidget()
    while holder is not None:
        leave = getattr(holder, "leave_panes", None)
        if leave is not None:
            return bool(leave())
        holder = holder.parentWidget()
    return False
