"""Tells screen readers what is being written, one sentence at a time."""

from __future__ import annotations

import re

from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.widgets.announce import announce

_END = re.compile(r"[.!?…:](?=[\s\"'”’)\[*_^])|[。！？]|\n")
_MARKUP = re.compile(r"\[REF\][\d,\s]*\[/REF\]|\^\d+(?:,\d+)*\^|[*_`#>|~]+|^\s*[-+]\s+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_LONGEST = 400  # characters announced at once when no sentence ends


class Announcer:
    """Collects streamed text and announces every finished sentence once. Code is announced as "Code." only."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._text = ""
        self._in_code = False

    def add(self, text: str) -> list[str]:
        """Take more text; announce and return the sentences that it finished."""
        self._text += text
        said = []
        while True:
            found = _END.search(self._text)
            if found is None and len(self._text) < _LONGEST:
                break
            end = found.end() if found else _LONGEST
            sentence, self._text = self._text[:end], self._text[end:]
            words = self._words(sentence)
            if words:
                said.append(words)
        for sentence in said:
            self.say(sentence)
        return said

    def finish(self) -> list[str]:
        """Announce what is left."""
        rest, self._text = self._text, ""
        words = self._words(rest)
        self._in_code = False
        if words:
            self.say(words)
        return [words] if words else []

    def _words(self, sentence: str) -> str:
        if sentence.lstrip().startswith(("```", "~~~")):
            self._in_code = not self._in_code
            return tr("Code.") if self._in_code else ""
        if self._in_code:
            return ""
        return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", sentence)).split())

    def say(self, sentence: str) -> None:
        """Announce politely, when anybody listens."""
        announce(self._widget, sentence)
