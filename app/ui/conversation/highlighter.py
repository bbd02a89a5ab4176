"""Gives finished code blocks their colors: they are read in a thread, one after the other.

A module of its own: a view need not know where and in which order code is read.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.ui.kit.markdown.code import Stretch, can_be_highlighted, color_lines
from app.ui.kit.qt_workarounds.thread_pool import run_in_pool

if TYPE_CHECKING:
    from app.ui.conversation.code_box import CodeGroup


class Highlighter(QObject):
    """Ask with `color`; `colored` tells which group has its colors now."""

    colored = Signal(object)  # CodeGroup

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[tuple[CodeGroup, str]] = deque()
        self._asked: set[int] = set()  # those that wait, and the one that is being read

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or is being read."""
        return not self._asked

    def color(self, group: CodeGroup, text: str) -> None:
        """Color a block soon; asking twice is free."""
        if group.colors is not None or id(group) in self._asked:
            return

        if not can_be_highlighted(text, group.language):
            group.colors = []
            return
        self._waiting.append((group, text))
        self._asked.add(id(group))
        if len(self._asked) == 1:
            self._read_next()

    def _read_next(self) -> None:
        if self._waiting:
            group, text = self._waiting.popleft()
            run_in_pool(self, partial(color_lines, text, group.language), partial(self._finish, group))

    def _finish(self, group: CodeGroup, lines: list[list[Stretch]]) -> None:
        group.colors = lines
        self._asked.discard(id(group))
        self.colored.emit(group)
        self._read_next()
