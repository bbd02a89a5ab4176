"""Titles and groups of chats. Made here from what was typed: a title never costs a call."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, datetime

from app.translation import tr

NEW_CHAT = tr("New chat")
MAX_TITLE_CHARS = 60
_MARKS = re.compile(r"^(?:\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+)+|[*_`~]{1,3}")
_MONTHS = (
    tr("January"), tr("February"), tr("March"), tr("April"), tr("May"), tr("June"),
    tr("July"), tr("August"), tr("September"), tr("October"), tr("November"), tr("December"),
)  # fmt: skip


def title_from(text: str) -> str:
    """The first line that says something, without Markdown marks, cut at a word; "New chat" when there is none."""
    for line in text.splitlines():
        plain = _MARKS.sub("", line)
        visible = "".join(" " if character.isspace() else character for character in plain if _is_visible(character))
        words = " ".join(visible.split())
        if any(character.isalnum() for character in words):
            return _cut(words)
    return NEW_CHAT


def _is_visible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cs")


def _cut(words: str) -> str:
    if len(words) <= MAX_TITLE_CHARS:
        return words
    head = words[:MAX_TITLE_CHARS]
    at_word = head.rpartition(" ")[0]
    return (at_word if len(at_word) > MAX_TITLE_CHARS // 2 else head).rstrip(" ,;:.") + "…"


def group_of(updated_at: datetime, pinned: bool, today: date) -> str:
    """The heading a chat stands under. `updated_at` is aware; days are the person's own."""
    if pinned:
        return tr("Pinned")
    day = updated_at.astimezone().date()
    age = (today - day).days
    if age <= 0:
        return tr("Today")
    if age == 1:
        return tr("Yesterday")
    month = _MONTHS[day.month - 1]
    if (day.year, day.month) == (today.year, today.month):
        return tr("Earlier in {month}", month=month)
    return month if day.year == today.year else f"{month} {day.year}"
