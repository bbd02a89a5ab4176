"""Tells screen readers what is being written, whole sentences at a time."""

from __future__ import annotations

import re

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.markdown.spoken import flat, spoken_blocks, table_cells, table_row
from app.ui.kit.widgets.announce import announce

_END = re.compile(r"[.!?…](?=[\s\"'”’)\[*_^])|[。！？]|\n")
_OPEN_LINK = re.compile(r"\[[^\]\n]*\Z|\]\([^)\n]*\Z")
_LEFT_OVER = re.compile(r"\*\*+|__+|~~|\[REF\][\d,\s]*\[/REF\]")  # whose other half is in another sentence
_LONGEST = 400  # characters announced at once when no sentence ends
PAUSE_MS = 1500  # readers drop announcements that come faster than they speak: those that wait go together


class Announcer:
    """Collects streamed text and announces every finished sentence once. Code is announced as "Code." only."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._text = ""
        self._in_code = False
        self._at_line_start = True
        self._columns: list[str] | None = None  # of the table that is being written
        self._waiting: list[str] = []
        self._pause = QTimer(widget)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._say_waiting)

    def add(self, text: str) -> list[str]:
        """Take more text; announce and return the sentences that it finished."""
        self._text += text
        said = []
        while end := self._next_end():
            sentence, self._text = self._text[:end], self._text[end:]
            if words := self._words(sentence):
                said.append(words)
        self._waiting += said
        if not self._pause.isActive():
            self._say_waiting()
        return said

    def finish(self, ending: str = "") -> list[str]:
        """Announce what is left, and how it ended."""
        rest, self._text = self._text, ""
        words = self._words(rest)
        self._in_code, self._columns, self._at_line_start = False, None, True
        self._waiting += [each for each in (words, ending) if each]
        self._say_waiting()
        self._pause.stop()
        discard(self._pause)
        return [words] if words else []

    def _next_end(self) -> int:
        """Where the first finished sentence ends, 0 for none. A row of a table and a link are never cut."""
        if self._at_line_start and self._text.startswith("|"):
            return self._text.find("\n") + 1
        for found in _END.finditer(self._text):
            if found[0] == "\n" or not _OPEN_LINK.search(self._text, 0, found.end()):
                return found.end()
        return _LONGEST if len(self._text) >= _LONGEST else 0

    def _words(self, sentence: str) -> str:
        starts_line, self._at_line_start = self._at_line_start, sentence.endswith("\n")
        if starts_line and sentence.lstrip().startswith(("```", "~~~")):
            self._in_code = not self._in_code
            return tr("Code.") if self._in_code else ""
        if self._in_code:
            return ""
        if starts_line and sentence.startswith("|"):
            return self._row(table_cells(sentence))
        if starts_line:
            self._columns = None
        text = " ".join(block.text for block in flat(spoken_blocks(sentence.strip(), citations=False)))
        return " ".join(_LEFT_OVER.sub("", text).split())

    def _row(self, cells: list[str]) -> str:
        if all(not cell.strip(":- ") for cell in cells):
            return ""
        if self._columns is None:
            self._columns = cells
            return tr("Table: {columns}", columns=", ".join(cells))
        return table_row(self._columns, cells)

    def _say_waiting(self) -> None:
        if self._waiting:
            words, self._waiting = " ".join(self._waiting), []
            announce(self._widget, words)
            self._pause.start()
