"""What people wrote about a character, below its details: asked for by a press, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.ui.shared.buttons import Button
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.label import Label
from app.ui.shared.surfaces import rule

if TYPE_CHECKING:
    from app.ui.characters.state import Reviews
    from app.ui.shared.theme import Theme


class ReviewsBox(QWidget):
    """Shows `Reviews`; `more_wanted` asks for the first page or the next."""

    more_wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: Reviews | None = None
        self._rows = QVBoxLayout()
        self._note = Label(theme, "", "small", "text3", wrap=True)
        self.more = Button(theme, self.tr("Show reviews"), "quote", size="small")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addLayout(self._rows)
        self._column.addWidget(self._note)
        self._column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.more.clicked.connect(self.more_wanted)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self._column.setSpacing(self._theme.px(8))
        self._rows.setSpacing(self._theme.px(8))

    def show_reviews(self, reviews: Reviews, slug: str) -> None:
        """Show what is known of the character `slug`; of another one nothing."""
        own = reviews if reviews.slug == slug else None
        if own != self._shown:
            self._shown = own
            while self._rows.count():
                item = self._rows.takeAt(0)
                widget = item.widget() if item is not None else None
                if widget is not None:
                    widget.hide()
                    widget.deleteLater()
            for review in own.rows if own is not None else ():
                self._rows.addWidget(_Review(self._theme, review.who, review.rating, review.when, review.text))
        note = "" if own is None else self.tr("Loading…") if own.loading else own.note
        self._note.set_text(note)
        self._note.setVisible(bool(note))
        self.more.setVisible(own is None or own.has_more or bool(own.note and not own.rows and own.pages_read == 0))
        self.more.setEnabled(own is None or not own.loading)
        self.more.setText(self.tr("More reviews") if own is not None and own.rows else self.tr("Show reviews"))


class _Review(QWidget):
    def __init__(self, theme: Theme, who: str, rating: int, when: str, text: str) -> None:
        super().__init__()
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
        first.addWidget(Label(theme, when, "small", "text3", tabular=True))
        column.addLayout(first)
        if text:
            column.addWidget(Label(theme, text, "small", "text2", wrap=True))
        self.setAccessibleName(f"{who}, {rating} of 5, {when}. {text}" if rating else f"{who}, {when}. {text}")
