"""The voices: filters above, one row for each voice below, with its sample and its star."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit import icons
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.lists.grouped_list import RowLike
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton, QuietButton
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.surfaces import rule
from app.ui.speech.voice_catalog import Key, Voice, VoiceFilter, VoiceGroup

LARGE = 1.5  # text scale
NARROW_PX = 210  # at 100 %: below it a row shows no identifier


class VoicePicker(QWidget):
    """`voice_chosen` and the others carry (model, voice)."""

    filter_changed = Signal(object)  # VoiceFilter
    voice_chosen = Signal(object)
    sample_requested = Signal(object)
    star_requested = Signal(object)
    clone_requested = Signal()
    compare_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.search = SearchField(theme, tr("Search voices"), results=None)
        self.model = ChoiceField(theme, tr("Voice model"), small=True)
        self.language = ChoiceField(theme, tr("Voice language"), small=True)
        self.gender = SegmentedChoice(
            theme, tr("Voice gender"), (("", tr("Any")), ("F", tr("Female")), ("M", tr("Male")))
        )
        self.stars = IconButton(
            theme, "star", tr("Favorites only"), size="small", framed=True, checkable=True, on_role="warn", icon_size=14
        )
        self.used = IconButton(
            theme, "history", tr("Recently used only"), size="small", framed=True, checkable=True, icon_size=14
        )
        self.clone = Button(theme, tr("Clone…"), "plus", size="small")
        self.compare = Button(theme, tr("Compare voices…"), kind="link", size="small")
        self.view = GroupedView(theme, tr("Voices"), has_end_sign=True)
        self.view.follows_open = True  # a voice that was used moves to those used lately
        self.delegate = VoiceDelegate(theme, self.view)
        self.view.setItemDelegate(self.delegate)
        self.view.rows.page = 300  # the voice in use is gone to
        self.count = Label(theme, "", "small", "text3", tabular=True)
        self._nothing = Label(theme, "", role="text2", wrap=True)
        self._clear = QuietButton(theme, tr("Clear filters"), size="small")
        self._clone_is_below: bool | None = None
        self._arrange()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _arrange(self) -> None:
        self._column = QVBoxLayout(self)
        self._filters = QVBoxLayout()
        self._filters.addWidget(self.search)
        self._pair, self._third, self._fourth = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        self._pair.addWidget(self.model, 1)
        self._pair.addWidget(self.language, 1)
        self._third.addWidget(self.gender)
        self._third.addWidget(self.stars)
        self._third.addWidget(self.used)
        self._third.addStretch(1)
        self._filters.addLayout(self._pair)
        self._filters.addLayout(self._third)
        self._filters.addLayout(self._fourth)
        known = QHBoxLayout()
        known.addWidget(self.count, 1)
        known.addWidget(self.compare)
        self._filters.addLayout(known)
        self._column.addLayout(self._filters)
        self._column.addWidget(rule())
        self._column.addWidget(self.view, 1)
        self._none = QVBoxLayout()
        self._none.addWidget(self._nothing)
        self._none.addWidget(self._clear)
        self._column.addLayout(self._none)

    def _connect(self) -> None:
        self.search.search_changed.connect(lambda _text: self._publish())
        self.search.left.connect(self.view.setFocus)
        FilterKeys(self.view, self.search, nothing=self._nothing.text, selects_first=True)
        self.model.currentIndexChanged.connect(lambda _index: self._publish())
        self.language.currentIndexChanged.connect(lambda _index: self._publish())
        self.gender.changed.connect(lambda _key: self._publish())
        self.stars.toggled.connect(lambda _on: self._publish())
        self.used.toggled.connect(lambda _on: self._publish())
        self.clone.clicked.connect(self.clone_requested)
        self.compare.clicked.connect(self.compare_requested)
        self.view.chosen.connect(self.voice_chosen)
        self.view.play_requested.connect(self.sample_requested)
        self.view.sign_requested.connect(self.star_requested)
        self.view.menu_requested.connect(lambda key, place: self.menu_of(key).popup(place))
        self._clear.clicked.connect(self.clear)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_clone()

    def _place_clone(self) -> None:
        """Clone stands at the end of its line, or below where large text or long words leave no room for it."""
        parts = (self.gender, self.stars, self.used, self.clone)
        wanted = sum(part.sizeHint().width() for part in parts) + len(parts) * self._theme.px(6)
        is_below = self._theme.scale >= LARGE or wanted > self.width() - 2 * self._theme.px(12)
        if self._clone_is_below == is_below:
            return
        self._clone_is_below = is_below
        self._third.removeWidget(self.clone)
        self._fourth.removeWidget(self.clone)
        if is_below:
            self._fourth.addWidget(self.clone, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            self._third.addWidget(self.clone)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._filters.setContentsMargins(px(12), px(10), px(12), px(8))
        self._filters.setSpacing(px(8))
        self._pair.setSpacing(px(6))
        is_large = self._theme.scale >= LARGE
        self._pair.setDirection(QBoxLayout.Direction.TopToBottom if is_large else QBoxLayout.Direction.LeftToRight)
        self._third.setSpacing(px(6))
        self._place_clone()
        self.view.setMinimumHeight(2 * self._theme.height_px(31))
        self._none.setContentsMargins(px(16), px(8), px(16), px(8))

    # -- filters --------------------------------------------------------------------------------------------------

    def show_choices(self, models: Sequence[tuple[str, str]], languages: Sequence[str]) -> None:
        """Offer these models (id, name) and languages; what is chosen stays chosen where it is still there."""
        for field, rows in (
            (self.model, [("", tr("All models")), *models]),
            (self.language, [("", tr("Any language")), *((one, one) for one in languages)]),
        ):
            if [field.itemData(row) for row in range(field.count())] == [value for value, _ in rows]:
                continue
            before = field.currentData()
            with QSignalBlocker(field):
                field.clear()
                for value, text in rows:
                    field.addItem(text, value)
                field.setCurrentIndex(max(0, field.findData(before)))

    def chosen_filter(self) -> VoiceFilter:
        return VoiceFilter(
            text=self.search.text().strip(),
            model=self.model.currentData() or "",
            language=self.language.currentData() or "",
            gender=self.gender.current,
            favourites=self.stars.isChecked(),
            used=self.used.isChecked(),
        )

    def clear(self) -> None:
        """Let every voice through."""
        for widget in (self.model, self.language):
            with QSignalBlocker(widget):
                widget.setCurrentIndex(0)
        for button in (self.stars, self.used):
            with QSignalBlocker(button):
                button.setChecked(False)
        with QSignalBlocker(self.search):
            self.search.clear()
        self.gender.set_current("")
        self._publish()

    def _publish(self) -> None:
        self.filter_changed.emit(self.chosen_filter())

    # -- voices ---------------------------------------------------------------------------------------------------

    def show_groups(self, groups: Sequence[VoiceGroup], all_count: int, *, note: str = "") -> None:
        """Show these voices of `all_count`; `note` says why the list is what it is."""
        rows = [(group.title, [(voice.key, _Row(voice)) for voice in group.voices]) for group in groups]
        self.view.show_groups(rows)
        shown = sum(len(group.voices) for group in groups)
        words = tr("{shown} of {all_count} voices", shown=shown, all_count=all_count)
        self.count.set_text(f"{words} · {note}" if note else words)
        self.view.setVisible(shown > 0)
        self._nothing.setVisible(not shown)
        self._clear.setVisible(not shown)
        if not shown:
            self._nothing.set_text(tr("No voices match these filters."))

    def key_of(self, key: object) -> Key:
        """Return a row's key as what it is, model and voice."""
        assert isinstance(key, tuple)
        return (str(key[0]), str(key[1]))

    def menu_of(self, key: Key) -> Menu:
        """Return what can be done with a voice; also by the menu key."""
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        row = self.view.rows.row(self.view.rows.index_of(key))
        is_loved = isinstance(row, _Row) and row.voice.favourite
        star = tr("Remove from favorites") if is_loved else tr("Add to favorites")
        for text, icon_name, signal in (
            (tr("Use this voice"), "check", self.voice_chosen),
            (tr("Hear a sample"), "play", self.sample_requested),
            (star, "star", self.star_requested),
        ):
            menu.add(text, icon_name).triggered.connect(lambda _=False, signal=signal: signal.emit(key))
        return menu

    def show_chosen(self, key: Key) -> None:
        """Mark the voice in use and bring it into view when it has just been chosen."""
        self.view.show_open(key)

    def show_sounding(self, key: Key | None, *, working: bool = False) -> None:
        """Show a pause sign (or that it is on its way) where a sample is heard."""
        self.delegate.sounding, self.delegate.working = key, working
        self.view.viewport().update()


class _Row:
    """A voice as a row: equal when it looks alike."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Row) and other.voice == self.voice

    __hash__ = None  # type: ignore[assignment]  # rows are compared, never looked up

    @property
    def title(self) -> str:
        return self.voice.name

    @property
    def spoken(self) -> str:
        voice = self.voice
        gender = {"F": tr("female"), "M": tr("male")}.get(voice.gender, "")
        words = [
            voice.name,
            voice.id,
            voice.model_name,
            voice.language,
            gender,
            tr("favorite") if voice.favourite else "",
        ]
        return ", ".join(word for word in words if word)


class VoiceDelegate(GroupedDelegate):
    """Sample sign, name, identifier, language, gender, star: one line of 30 px."""

    def __init__(self, theme: Theme, view: GroupedView) -> None:
        super().__init__(theme, view)
        self.sounding: Key | None = None
        self.working = False

    def row_height(self, row: RowLike) -> int:
        return self._theme.height_px(31)

    def key_of(self, row: RowLike) -> Key | None:
        return row.voice.key if isinstance(row, _Row) else None

    def paint_row(self, painter: QPainter, rect: QRect, row: RowLike, is_on: bool) -> None:
        if isinstance(row, _Row):
            self._paint_voice(painter, rect, row.voice, is_on)

    def _paint_voice(self, painter: QPainter, rect: QRect, voice: Voice, is_on: bool) -> None:
        theme = self._theme
        side = theme.icon_px(13)
        inside = rect.adjusted(theme.px(16), 0, -theme.px(16), 0)
        middle = rect.top() + rect.height() / 2
        sounds = voice.key == self.sounding
        sign = "clock" if sounds and self.working else "pause" if sounds else "play"
        icons.paint(painter, theme, sign, QRectF(inside.left(), middle - side / 2, side, side), "accent")
        star = theme.icon_px(14)
        icons.paint(
            painter,
            theme,
            "star-filled" if voice.favourite else "star",
            QRectF(inside.right() - star + 1, middle - star / 2, star, star),
            "warn" if voice.favourite else "text3",
        )
        left = inside.left() + side + theme.px(10)
        room = inside.right() - star - theme.px(8) - left
        small = theme.font("small")
        is_narrow = room < theme.type_px(NARROW_PX) or bool(voice.own_id)  # the handle of an own voice says nothing
        name_wide = round(room * (0.5 if is_narrow else 0.27))
        id_wide = 0 if is_narrow else round(room * 0.30)
        gender_wide = theme.type_px(14)
        place = QRect(left, rect.top(), name_wide, rect.height())
        weight = QFont.Weight.DemiBold if is_on else QFont.Weight.Medium
        self.text(painter, place.adjusted(0, 0, -theme.px(4), 0), voice.name, theme.font("body", weight), "text")
        place = QRect(left + name_wide, rect.top(), id_wide - theme.px(6), rect.height())
        self.text(painter, place, voice.id, theme.font("caption", mono=True), "text3")
        rest = room - name_wide - id_wide - gender_wide
        place = QRect(left + name_wide + id_wide, rect.top(), rest - theme.px(4), rect.height())
        self.text(painter, place, voice.note or voice.language, small, "text2")
        place = QRect(left + room - gender_wide, rect.top(), gender_wide, rect.height())
        self.text(painter, place, voice.gender, small, "text2")
