"""The scroll bar of the message view: a measure of text, not of pixels, because most rows have no height yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractSlider, QScrollBar

from app.ui.conversation.keyboard import PAGE_KEEPS_PX
from app.ui.conversation.scroll_estimate import STEPS

if TYPE_CHECKING:
    from app.ui.conversation.view import MessageView
    from app.ui.kit.theme import Theme

NOTCH_PX = 66  # of one notch of a mouse wheel, and of the bar's arrows: three lines
SMALLEST_PAGE_PX = 40


class OpaqueBar(QScrollBar):
    """Paints its own ground: it moves with every piece of an answer, and nothing behind it is painted for that."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._theme.color("canvas"))
        painter.end()
        super().paintEvent(event)


class Bar:
    """Keeps the bar where the view is, and takes the view where the bar is dragged."""

    def __init__(self, view: MessageView) -> None:
        self._view = view
        self._bar = view.verticalScrollBar()
        self._measures = (-1, -1)  # of the bar: its range and its page
        self._bar.actionTriggered.connect(self._moved)

    def sync(self, *, at_end: bool) -> None:
        """Show where the view is; `at_end` says whether the end of the conversation is on screen."""
        view, bar = self._view, self._bar
        stack = view.stack
        fits = not stack.rows or (at_end and stack.anchor.row == 0 and stack.is_at_start())
        total = stack.weights.total
        lines = max(1, view.viewport().height() // max(1, view.line_px))
        page = max(1, min(lines * STEPS, total - 1))
        measures = (0 if fits else max(1, total - page), page)
        if measures == self._measures and at_end and bar.value() == bar.maximum():
            return
        bar.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # a style sheet takes it away when it polishes
        if measures != self._measures:
            self._measures = measures
            bar.setRange(0, measures[0])
            bar.setPageStep(page)
            bar.setSingleStep(3 * STEPS)
        bar.setValue(bar.maximum() if at_end else min(bar.maximum(), stack.bar_value()))

    def _moved(self, action: int) -> None:
        """Follow the bar: steps in px, drags by its own measure."""
        view, bar = self._view, self._bar
        page = max(SMALLEST_PAGE_PX, view.viewport().height() - PAGE_KEEPS_PX)
        steps = {
            QAbstractSlider.SliderAction.SliderSingleStepAdd.value: NOTCH_PX,
            QAbstractSlider.SliderAction.SliderSingleStepSub.value: -NOTCH_PX,
            QAbstractSlider.SliderAction.SliderPageStepAdd.value: page,
            QAbstractSlider.SliderAction.SliderPageStepSub.value: -page,
        }
        if action in steps:
            bar.setSliderPosition(bar.value())
            view.scroll_px(steps[action])
        elif bar.sliderPosition() >= bar.maximum():
            view.scroll_to_end()
        else:
            view.stack.go_to_bar(bar.sliderPosition())
            view.refresh(in_steps=True)
