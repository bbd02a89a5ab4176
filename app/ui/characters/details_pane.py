"""The right pane: one character in full, and the ways into a chat with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.core import number_format, time_format
from app.translation import tr, tr_n
from app.ui.characters.reviews_box import ReviewsBox
from app.ui.kit.discard import WidgetList
from app.ui.kit.widgets.avatar import Avatar
from app.ui.kit.widgets.buttons import Button, IconButton, PrimaryButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.pill import PillButton
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.surfaces import rule, zone
from app.ui.kit.widgets.switch import Switch

if TYPE_CHECKING:
    from datetime import datetime

    from app.service.characters import Character
    from app.ui.characters.character_images import CharacterImages
    from app.ui.characters.presenter import CharactersPresenter
    from app.ui.characters.state import CharactersState
    from app.ui.kit.theme import Theme

SHOWN_TAGS = 8


class DetailsPane(QWidget):
    """`start_requested` and `use_requested` tell the slug; `link_requested` the address of the share page."""

    start_requested = Signal(str)
    use_requested = Signal(str)
    link_requested = Signal(str)
    images_requested = Signal(bool)
    close_requested = Signal()
    reviews_requested = Signal()
    tag_chosen = Signal(str)

    def __init__(
        self, theme: Theme, presenter: CharactersPresenter, pictures: CharacterImages, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._presenter = presenter
        self._pictures = pictures
        self._character: Character | None = None
        zone(self, "pane")
        self.header = PaneHeader(theme)
        self.header.add_before_title(Label(theme, tr("Details"), weight=600))
        close = IconButton(theme, "close", tr("Close details"), size="small")
        close.clicked.connect(self.close_requested)
        self.header.add(close)
        self.picture = Avatar(theme, "", px=72)
        self.name = Label(theme, "", "title", wrap=True)
        self._author = Label(theme, "", "small", "text2", elide=True)
        self._tags = QWidget()
        self._tag_pills: WidgetList[PillButton] = WidgetList(FlowLayout(theme, gap=4, line_gap=4, parent=self._tags))
        self._about = Label(theme, "", role="text2", wrap=True)
        self.start = PrimaryButton(theme, tr("Start a chat"), "chat")
        self.use = Button(theme, tr("Use in this chat"))
        self._stats = StatsCard(theme)
        self._facts = QGridLayout()
        self._values: dict[str, Label] = {}
        self.copy_slug = IconButton(theme, "copy", tr("Copy slug"), size="small", icon_size=14)
        self.photos = Switch(theme, tr("Load images from the web"))
        self._photos_note = Label(theme, "", "small", "text3", wrap=True)
        self.reviews = ReviewsBox(theme)
        self.share = Button(theme, tr("Open share page"), "external-link", size="small")
        self._build()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        self._scroll = ScrollPane()
        self._column = self._scroll.fill(self._theme, "pane", (16, 16, 16, 16), 16)
        head = QHBoxLayout()
        head.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        for widget in (self.name, self._author, self._tags):
            words.addWidget(widget)
        words.addStretch(1)
        head.addLayout(words, 1)
        self._head, self._words = head, words
        self._column.addLayout(head)
        self._column.addWidget(self._about)
        buttons = QWidget()
        flow = FlowLayout(self._theme, gap=8, line_gap=8, parent=buttons)
        flow.addWidget(self.start)
        flow.addWidget(self.use)
        self._column.addWidget(buttons)
        self._column.addWidget(self._stats)
        self._build_facts()
        self._column.addLayout(self._facts)
        self._column.addWidget(rule())
        photos = QHBoxLayout()
        label = Label(self._theme, tr("Load images from the web"), wrap=True)
        label.setBuddy(self.photos)
        photos.addWidget(label, 1)
        photos.addWidget(self.photos)
        why = QHBoxLayout()
        why.addWidget(IconLabel(self._theme, "shield", "text3", px=14), 0, Qt.AlignmentFlag.AlignTop)
        why.addWidget(self._photos_note, 1)
        together = QVBoxLayout()
        together.addLayout(photos)
        together.addLayout(why)
        self._why, self._together = why, together
        self._column.addLayout(together)
        self._column.addWidget(self.share, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self.reviews)
        self._column.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self._scroll, 1)

    def _build_facts(self) -> None:
        rows = (
            ("model", tr("Model")),
            ("web", tr("Web")),
            ("rating", tr("Audience")),
            ("slug", tr("Slug")),
            ("created", tr("Created")),
            ("updated", tr("Updated")),
        )
        for place, (key, title) in enumerate(rows):
            mono = key == "slug"
            beside = Qt.AlignmentFlag.AlignVCenter if mono else Qt.AlignmentFlag.AlignTop  # its button is higher
            self._facts.addWidget(Label(self._theme, title, role="text2"), place, 0, beside)
            size = "small" if mono else "body"
            value = Label(self._theme, "", size, mono=mono, elide=mono, wrap=not mono, tabular=not mono)
            self._values[key] = value
            if key == "slug":
                line = QHBoxLayout()
                line.setSpacing(4)
                line.addWidget(value, 1)
                line.addWidget(self.copy_slug)
                self._facts.addLayout(line, place, 1)
            else:
                self._facts.addWidget(value, place, 1)
        self._facts.setColumnStretch(1, 1)

    def _connect(self) -> None:
        self.start.clicked.connect(lambda: self.start_requested.emit(self._slug))
        self.use.clicked.connect(lambda: self.use_requested.emit(self._slug))
        self.copy_slug.clicked.connect(self._copy)
        self.photos.clicked.connect(self.images_requested)
        self.share.clicked.connect(self._share)
        self.reviews.more_requested.connect(self.reviews_requested)
        self.reviews.reached.connect(self._bring_into_sight)
        self._pictures.arrived.connect(self._image_arrived)

    def _apply_theme(self) -> None:
        theme = self._theme
        self._head.setSpacing(theme.px(12))
        self._words.setSpacing(theme.px(3))
        self._facts.setHorizontalSpacing(theme.px(8))
        self._facts.setVerticalSpacing(theme.px(9))
        self._facts.setColumnMinimumWidth(0, theme.type_px(92))
        self._together.setSpacing(theme.px(4))
        self._why.setSpacing(theme.px(5))

    # Showing

    def show_state(self, state: CharactersState) -> None:
        """Show the one that is selected, or nobody."""
        character = state.character
        self._scroll.inside.setVisible(character is not None)
        sandbox = self._presenter.current_account.is_sandbox
        self.photos.setEnabled(not sandbox)
        self.photos.setChecked(state.images_allowed)
        self._photos_note.set_text(
            tr("Sandbox images are stored on this computer.")
            if sandbox
            else tr("Off by default. Rialto draws an avatar from the name instead.")
        )
        if character is None:
            self._character = None
            return
        if character is not self._character:
            self._character = character
            self._fill(character)
        self._show_image()
        self.reviews.show_reviews(state.reviews, character.slug)
        self._values["model"].set_text(self._presenter.model_name(character))

    def _fill(self, character: Character) -> None:
        self.name.set_text(character.name or character.slug)
        self._author.set_text(tr("by {author}", author=character.author) if character.author else "")
        self._tag_pills.clear()
        for tag in character.tags[:SHOWN_TAGS]:
            pill = PillButton(self._theme, tag)
            pill.setCheckable(False)
            pill.setToolTip(tr("Show characters with this tag"))
            pill.clicked.connect(lambda _on=False, tag=tag: self.tag_chosen.emit(tag))
            self._tag_pills.add(pill)
        self._tags.setVisible(bool(character.tags))
        self._about.set_text(character.description or tr("No description."))
        self._stats.show_character(character)
        self._values["web"].set_text(tr("Allowed") if character.web_enabled else tr("Not used"))
        self._values["rating"].set_text(tr("Adults") if character.adult else tr("General audience"))
        self._values["slug"].set_text(character.slug)
        self._values["created"].set_text(_day(character.created_at))
        self._values["updated"].set_text(_day(character.updated_at))
        self.share.setVisible(bool(character.share_url))
        name = character.name or character.slug
        self.start.setAccessibleName(tr("Start a chat with {name}", name=name))
        self.use.setAccessibleName(tr("Use {name} in this chat", name=name))

    def _show_image(self) -> None:
        character = self._character
        if character is not None:
            self.picture.set_name(character.name or character.slug)
            self.picture.set_image(self._pictures.get(self._presenter.picture_url(character)))

    def _image_arrived(self, url: str) -> None:
        if self._character is not None and self._presenter.picture_url(self._character) == url:
            self._show_image()

    def _bring_into_sight(self, review: QWidget) -> None:
        """Scroll to a review, as soon as one that has just come has its place."""
        QTimer.singleShot(0, review, lambda: self._scroll.ensureWidgetVisible(review, 0, self._theme.px(16)))

    @property
    def _slug(self) -> str:
        return self._character.slug if self._character is not None else ""

    def _share(self) -> None:
        if self._character is not None and self._character.share_url:
            self.link_requested.emit(self._character.share_url)

    def _copy(self) -> None:
        if self._character is not None:
            QGuiApplication.clipboard().setText(self._character.slug)


class StatsCard(Card):
    """Rating, uses and one's own rating, side by side."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, padding=(0, 10), spacing=0)
        row = QHBoxLayout()
        row.setSpacing(0)
        self.body.addLayout(row)
        self._cells: list[tuple[Label, Label, QWidget]] = []
        for place in range(3):
            if place:
                row.addWidget(rule(vertical=True))
            cell = QWidget()
            column = QVBoxLayout(cell)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            number = Label(theme, "", "heading", tabular=True)
            words = Label(theme, "", "small", "text3", tabular=True)
            for label in (number, words):
                label.setAlignment(Qt.AlignmentFlag.AlignCenter)
                column.addWidget(label)
            row.addWidget(cell, 1)
            self._cells.append((number, words, cell))

    def show_character(self, character: Character) -> None:
        stats = character.stats
        rated = stats.rating_count > 0
        own = number_format.rating(stats.user_rating).removesuffix(".0")
        values = (
            (
                number_format.rating(stats.average_rating) if rated else "–",
                tr_n(
                    "{count} rating",
                    "{count} ratings",
                    stats.rating_count,
                    count=number_format.count(stats.rating_count),
                )
                if rated
                else tr("not rated"),
            ),
            (number_format.short_count(stats.imports), tr_n("use", "uses", stats.imports)),
            (own, tr("your rating")),
        )
        for (number, words, cell), (value, text) in zip(self._cells, values, strict=True):
            number.set_text(value)
            words.set_text(text)
            cell.setAccessibleName(f"{value} {text}")


def _day(at: datetime | None) -> str:
    return tr("not stated") if at is None else time_format.day(at)
