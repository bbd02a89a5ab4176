"""Gives finished code blocks their colors: the language is loaded in a thread, the text read in short steps."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.ui.kit.markdown.code import CodeHighlighter, can_be_highlighted, lexer_for
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool

if TYPE_CHECKING:
    from app.ui.conversation.code_box import CodeGroup

STEP_S = 0.001  # of the window's thread at a time
PAUSE_MS = 10  # between two steps, so that scrolling and typing come first


class Highlighter(QObject):
    """Ask with `color`; `colored` tells which group has its colors now."""

    colored = Signal(object)  # CodeGroup

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lexers: dict[str, Any] = {}
        self._waiting: list[tuple[CodeGroup, str]] = []
        self._loading: set[str] = set()
        self._asked: set[int] = set()
        self._work: tuple[CodeGroup, CodeHighlighter] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE_MS)
        self._timer.timeout.connect(self._step)

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits, loads or is being read."""
        return self._work is None and not self._waiting

    def color(self, group: CodeGroup, text: str) -> None:
        """Color a block soon; asking twice is free."""
        if group.colors is not None or id(group) in self._asked:
            return

        if not can_be_highlighted(text, group.language):
            group.colors = []
            return
        self._asked.add(id(group))
        self._waiting.append((group, text))
        language = group.language
        if language in self._lexers:
            self._timer.start()
        elif language not in self._loading:
            self._loading.add(language)
            run_in_pool(self, partial(lexer_for, language), partial(self._set_lexer, language))

    def _set_lexer(self, language: str, lexer: Any) -> None:
        self._lexers[language] = lexer
        self._loading.discard(language)
        self._timer.start()

    def _step(self) -> None:
        if self._work is None:
            for index, (group, text) in enumerate(self._waiting):
                if group.language not in self._lexers:
                    continue
                del self._waiting[index]
                lexer = self._lexers[group.language]
                if lexer is None:
                    self._finish(group, [])
                else:
                    self._work = (group, CodeHighlighter(lexer, text))
                break
            else:
                return
        if self._work is not None:
            group, colouring = self._work
            if colouring.step(STEP_S):
                self._work = None
                self._finish(group, colouring.lines)
        if self._work is not None or self._waiting:
            self._timer.start()

    def _finish(self, group: CodeGroup, lines: list[list[tuple[int, int, str]]]) -> None:
        group.colors = lines
        self._asked.discard(id(group))
        self.colored.emit(group)
