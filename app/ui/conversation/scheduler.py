"""Makes the screen agree with the rows, in as many turns of the window's loop as that takes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer

if TYPE_CHECKING:
    from app.ui.conversation.view import MessageView
    from app.ui.kit.theme import Theme

COLUMN_PX, PADDING_PX = 760, 24
STEP_BUDGET_S = 0.002  # of laying out before other events have their turn
LONG_PLACE_S = 0.0015  # of laying out, after which the paint comes in a turn of its own


class ViewScheduler:
    """Lays out what is looked at and asks for its paint. Says what has changed through the view's own signals."""

    def __init__(self, view: MessageView, theme: Theme) -> None:
        self._view = view
        self._theme = theme
        self._new_below = False
        self._was_at_end = True
        self._full = False  # the next image shares nothing with the last one, which stands until it is there
        self._late = False  # all is laid out, but that took so long that other events went before the paint
        self._scrolled = False  # by the person, since the last time that something was shown
        self._again = QTimer(view)
        self._again.setSingleShot(True)
        self._again.setInterval(0)
        self._again.timeout.connect(lambda: self.refresh(in_steps=True))

    def refresh(self, *, full: bool = False, in_steps: bool = False) -> None:
        """Make the screen agree with the rows. `full` paints all of it; `in_steps` may take a few turns of the loop."""
        self._full = self._full or full
        if self._view.isVisible():
            self._show(STEP_BUDGET_S if in_steps else None)

    @property
    def is_settled(self) -> bool:
        """Whether the screen shows what it is to show, as far as that has come."""
        return not self._again.isActive()

    def _show(self, budget_s: float | None) -> None:
        view = self._view
        viewport, stack, image = view.viewport(), view.stack, view.picture
        room = view.width()  # with the scroll bar, which stands in the padding: its coming moves nothing
        wide = max(80, min(self._theme.type_px(COLUMN_PX), room - 2 * self._theme.px(PADDING_PX)))
        began = time.perf_counter()
        done = stack.place(wide, viewport.height(), view.bottom_px, budget_s)
        long = budget_s is not None and not self._late and time.perf_counter() - began > LONG_PLACE_S
        if not done or long:  # the paint comes in a turn of its own
            self._late = done
            self._again.start()
            return
        self._late = False
        self._again.stop()
        left = max(0, (room - wide) // 2)
        if view.layoutDirection() == Qt.LayoutDirection.RightToLeft:  # the bar is before the text
            left = max(0, left - (room - viewport.width()))
        if self._full or left != image.left:
            self._full = False
            image.left = left
            image.forget()
        image.present(view.stream.caret())
        at_end = view.at_end
        if self._scrolled:
            self._scrolled = False
            stack.following = at_end
        view.bar.sync(at_end=at_end)
        view.stream.update_timers()
        if at_end:
            self.set_new_below(False)
        if at_end != self._was_at_end:
            self._was_at_end = at_end
            view.at_end_changed.emit(at_end)

    def scroll(self, px: float) -> None:
        """Scroll by `px`, downwards when positive, as the person wants it."""
        stack = self._view.stack
        if not stack.rows or (px > 0 and stack.following):
            return
        stack.scroll_by(px)
        self._scrolled = True
        self.refresh(in_steps=True)

    def jumped(self) -> None:
        """The person went somewhere: from now on the view moves along if the end of all is on screen there."""
        self._scrolled = True

    def text_came(self) -> None:
        """Show that rows have grown, or say that they did below."""
        self.note_below()
        self.refresh(in_steps=True)

    def note_below(self) -> None:
        """Something has come below: say so unless the view moves along."""
        view = self._view
        moves_along = view.at_end if self._scrolled else view.stack.following  # scrolled, and not shown yet
        self.set_new_below(self._new_below or not moves_along)

    def set_new_below(self, new: bool) -> None:
        if new != self._new_below:
            self._new_below = new
            self._view.new_text_below.emit(new)
