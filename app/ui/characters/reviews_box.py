"""Reviews of a character below its details: loaded page by page on request, arrow keys move between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule

if TYPE_CHECKING:
    from app.ui.characters.state import ReviewRow, Reviews
    from app.ui.kit.theme import Theme


class ReviewsBox(QWidget):
    """Shows `Reviews`; `more_requested` asks for the first page or the next.

    All reviews are one stop of the Tab key: Up, Down, Home and End walk them, and `reached` tells which one (a widget)
    has to be brought into sight. Who asked for more by key is on the first of the new ones when they come.
    """

    more_requested = Signal()
    reached = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: Reviews | None = None
        self.reviews: list[Review] = []
        self._title = Label(theme, tr("Reviews"), "small", "text2", weight=600)
        self._title.hide()
        self._rows = QVBoxLayout()
        self._note = Label(theme, "", "small", "text3", wrap=True)
        self.more = Button(theme, tr("Show reviews"), "quote", size="small")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._title)
        self._column.addLayout(self._rows)
        self._column.addWidget(self._note)
        self._column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.more.clicked.connect(self.more_requested)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        self._column.setSpacing(self._theme.px(8))
        self._rows.setSpacing(self._theme.px(8))

    def show_reviews(self, reviews: Reviews, slug: str) -> None:
        """Show what is known of the character `slug`; of another one nothing."""
        own = reviews if reviews.slug == slug else None
        was_on_more = self.more.hasFocus()
        first_new = self._fill(own)
        self._shown = own
        self._title.setVisible(bool(self.reviews))
        note = "" if own is None else tr("Loading…") if own.loading else own.note
        self._note.set_text(note)
        self._note.setVisible(bool(note))
        if was_on_more and first_new is not None:
            first_new.show()  # its layout would do so later, and what is hidden cannot have the keyboard
            first_new.setFocus(Qt.FocusReason.OtherFocusReason)  # before the button goes: Qt would choose another pane
        elif was_on_more and own is not None and own.pages_read and not own.has_more and note:
            self._note.setFocus(Qt.FocusReason.OtherFocusReason)
        # The button stays usable while a page comes: disabled, it would throw the keyboard out of the pane.
        self.more.setVisible(own is None or own.loading or own.has_more or bool(own.note and own.pages_read == 0))
        self.more.setText(tr("More reviews") if own is not None and own.rows else tr("Show reviews"))

    def _fill(self, own: Reviews | None) -> Review | None:
        """Show the rows of `own`, keeping those that stand already; returns the first new one."""
        before = self._shown.rows if self._shown is not None else ()
        rows = own.rows if own is not None else ()
        if rows[: len(before)] != before or self._other_character(own):
            discard(*self.reviews)
            self.reviews, before = [], ()
        made = [Review(self._theme, each) for each in rows[len(before) :]]
        for review in made:
            review.reached.connect(self._stop_at)
            self._rows.addWidget(review)
        self.reviews += made
        if made and len(made) == len(self.reviews):
            made[0].setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return made[0] if made else None

    def _other_character(self, own: Reviews | None) -> bool:
        return own is None or self._shown is None or own.slug != self._shown.slug

    def _stop_at(self, reached: Review) -> None:
        """Tab comes back to the review that the keyboard was on last."""
        for review in self.reviews:
            review.setFocusPolicy(Qt.FocusPolicy.TabFocus if review is reached else Qt.FocusPolicy.NoFocus)
        self.reached.emit(reached)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk the reviews."""
        at = next((place for place, review in enumerate(self.reviews) if review.hasFocus()), None)
        last = len(self.reviews) - 1
        if at is None:
            super().keyPressEvent(event)
            return
        match event.key():
            case Qt.Key.Key_Up:
                at = max(0, at - 1)
            case Qt.Key.Key_Down:
                at = min(last, at + 1)
            case Qt.Key.Key_Home:
                at = 0
            case Qt.Key.Key_End:
                at = last
            case _:
                super().keyPressEvent(event)
                return
        self.reviews[at].setFocus(Qt.FocusReason.OtherFocusReason)


class Review(QWidget):
    """One of them. `reached` tells that the keyboard is on it."""

    reached = Signal(object)

    def __init__(self, theme: Theme, shown: ReviewRow) -> None:
        super().__init__()
        self._theme = theme
        who, rating, when, text = shown.who, shown.rating, shown.when, shown.text
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(3))
        column.addWidget(rule())
        first = QHBoxLayout()
        first.setSpacing(theme.px(5))
        first.addWidget(Label(theme, who, "small", weight=500, elide=True), 1)
        if rating:
            first.addWidget(IconLabel(theme, "star-filled", "warn", px=12))
            first.addWidget(Label(theme, str(rating), "small", "text2", tabular=True))
        first.addSpacing(theme.px(6))
        first.addWidget(Label(theme, when, "small", "text3", tabular=True))
        column.addLayout(first)
        if text:
            column.addWidget(Label(theme, text, "small", "text2", wrap=True))
        stars = tr("{rating} of 5", rating=rating) if rating else ""
        self.setAccessibleName(f"{', '.join(filter(None, (who, stars, when)))}. {text}")

    def ring_rect(self) -> QRect:
        """Around the words with some air, below the line over them."""
        air = self._theme.px(6)
        return self.rect().adjusted(-air, self._theme.px(3), air, self._theme.px(3))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.reached.emit(self)
