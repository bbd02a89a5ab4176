"""Tooltips of untrusted text: Qt takes whatever looks like HTML in a tooltip for HTML."""

from __future__ import annotations

import re

from app.service.http.harmless_text import harmless

MOST_TIP_CHARS = 1_000
WRAPPED_FROM = 200  # characters: Qt breaks the lines of a tooltip only where it takes it for HTML
_ENDLESS = re.compile(r"\S{60}(?=\S)")  # a word that would be wider than the tooltip


def plain_tip(text: str) -> str:
    """Return tooltip text that Qt shows letter by letter, without what could deceive, wrapped where it is long."""
    text = harmless(text)
    if len(text) > MOST_TIP_CHARS:
        text = text[:MOST_TIP_CHARS] + "…"
    if len(text) < WRAPPED_FROM and "<" not in text and "&lt;" not in text:  # what Qt looks for
        return text
    from html import escape  # its table of entities would be 1 ms of every start

    text = _ENDLESS.sub("\\g<0>\u200b", text)
    return f"<p style='white-space:pre-wrap'>{escape(text)}</p>"
