"""Tooltips of untrusted text: Qt takes whatever looks like HTML in a tooltip for HTML."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QLineEdit, QWidget

from app.service.http.sanitize import sanitize_text

MOST_TIP_CHARS = 1_000
WRAPPED_FROM = 200  # characters: Qt breaks the lines of a tooltip only where it takes it for HTML
_OWN = "cutTip"  # the property that keeps which tooltip came from here
_CARET_PX = 4  # what Qt leaves free around the text of a field
_ENDLESS = re.compile(r"\S{60}(?=\S)")  # a word that would be wider than the tooltip


def plain_tip(text: str) -> str:
    """Return tooltip text that Qt shows letter by letter, without what could deceive, wrapped where it is long."""
    text = sanitize_text(text)
    if len(text) > MOST_TIP_CHARS:
        text = text[:MOST_TIP_CHARS] + "…"
    if len(text) < WRAPPED_FROM and "<" not in text and "&lt;" not in text:  # what Qt looks for
        return text
    from html import escape  # its table of entities would be 1 ms of every start

    text = _ENDLESS.sub("\\g<0>\u200b", text)
    return f"<p style='white-space:pre-wrap'>{escape(text)}</p>"


def tip_while_cut(widget: QWidget, text: str, is_cut: bool) -> None:
    """Show `text` as a tooltip while the widget has no room for all of it. A tooltip of another's stays as it is."""
    before, text = widget.toolTip(), text if is_cut else ""
    if before != plain_tip(text) and before == (widget.property(_OWN) or ""):
        widget.setProperty(_OWN, plain_tip(text))
        widget.setToolTip(plain_tip(text))


def tip_of_placeholder(field: QLineEdit) -> None:
    """The same for what stands in an empty field."""
    text, margins = field.placeholderText(), field.textMargins()
    room = field.contentsRect().width() - margins.left() - margins.right() - _CARET_PX
    tip_while_cut(field, text, not field.text() and field.fontMetrics().horizontalAdvance(text) > room)
