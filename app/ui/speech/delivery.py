"""How the voice is to speak: the knobs. One that the model ignores stays in its place, dashed, with its reason."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from app.service.models import Model
from app.service.speech import MAX_STYLE_CHARS
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.forms.extra_json_field import ExtraJsonFold
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import ChoiceField, bind_label
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.surfaces import zone
from app.ui.kit.widgets.switch import Switch
from app.ui.speech.speech_options import FORMAT_TITLES, OWN_FIELDS, SpeechOptionsView, language_choices

STYLE_AFTER_MS = 200
LARGE = 1.5  # text scale


class DeliveryPage(ScrollPane):
    """`speech_option_edited` tells the field of `Knobs` and its new value."""

    speech_option_edited = Signal(str, object)

    def __init__(self, theme: Theme, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(tr("Delivery"))
        self._theme = theme
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the fields from top to bottom, some at each step."""
        theme = self._theme
        inside = QWidget()
        zone(inside, "pane")
        self._grid = QGridLayout(inside)
        self.setWidget(inside)
        self._grid.setColumnStretch(1, 1)
        self._labels: dict[str, Label] = {}
        self._pairs: list[tuple[int, Label, QWidget]] = []
        self._row = 0
        self._formats: tuple[str, ...] = ()
        self._add_note()
        self._make_style()
        yield
        self.speed = SliderField(theme, tr("Speed"), low=0.25, high=4.0, step=0.05, decimals=2, default=1.0)
        self._add("speed", tr("Speed"), self.speed)
        yield
        self.temperature = SliderField(theme, tr("Temperature"), low=0.0, high=2.0, step=0.05, decimals=2, default=0.75)
        self._add("temperature", tr("Temperature"), self.temperature)
        yield
        self.top_p = SliderField(theme, tr("Top-p"), low=0.0, high=1.0, step=0.05, decimals=2, default=0.9)
        self._add("top_p", tr("Top-p"), self.top_p)
        yield
        self.language = ChoiceField(theme, tr("Language hint"), small=True)
        self.format = ChoiceField(theme, tr("Format"), small=True)
        self.stream = Switch(theme, tr("Stream"), checked=True)
        self._add("language", tr("Language"), self.language)
        self._add_format()
        self.more = ExtraJsonFold(theme, OWN_FIELDS)
        self.more.extra.settled.connect(lambda text: self.speech_option_edited.emit("extra_json", text))
        self._grid.addWidget(self.more, self._row, 0, 1, 2)
        self._row += 1
        self._grid.setRowStretch(self._row, 1)
        self.speed.value_edited.connect(lambda value: self.speech_option_edited.emit("speed", value))
        self.temperature.value_edited.connect(lambda value: self.speech_option_edited.emit("temperature", value))
        self.top_p.value_edited.connect(lambda value: self.speech_option_edited.emit("top_p", value))
        self.language.activated.connect(
            lambda _: self.speech_option_edited.emit("language", self.language.currentData())
        )
        self.format.activated.connect(lambda _: self.speech_option_edited.emit("format", self.format.currentData()))
        self.stream.toggled.connect(lambda on: self.speech_option_edited.emit("stream", on))
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _make_style(self) -> None:
        theme = self._theme
        head = QHBoxLayout()
        words = Label(theme, tr("Style prompt"), "small", "text2", weight=500)
        self.style_count = Label(theme, f"0 / {MAX_STYLE_CHARS}", "small", "text3", tabular=True)
        head.addWidget(words, 1)
        head.addWidget(self.style_count)
        self.style_box = TextArea(
            name=tr("Style prompt"), placeholder=tr("Mood and delivery, for example: warm and unhurried.")
        )
        bind_label(words, self.style_box)
        self._style_timer = QTimer(self)
        self._style_timer.setSingleShot(True)
        self._style_timer.setInterval(STYLE_AFTER_MS)
        self._style_timer.timeout.connect(self.flush)
        self.style_box.edited.connect(self._style_typed)
        self._grid.addLayout(head, self._row, 0, 1, 2)
        self._grid.addWidget(self.style_box, self._row + 1, 0, 1, 2)
        self._row += 2

    def _add(self, name: str, title: str, field: QWidget) -> None:
        label = Label(self._theme, title)
        label.setBuddy(field)
        self._labels[name] = label
        self._pairs.append((self._row, label, field))
        self._row += 2

    def _add_format(self) -> None:
        label = Label(self._theme, tr("Format"))
        label.setBuddy(self.format)
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.format)
        row.addStretch(1)
        row.addWidget(Label(self._theme, tr("Stream")))
        row.addWidget(self.stream)
        self._pairs.append((self._row, label, holder))
        self._row += 2

    def _add_note(self) -> None:
        """The line that says which knobs are off for this model."""
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(self._theme.px(5))
        row.addWidget(IconLabel(self._theme, "info", "text3", px=14), 0, Qt.AlignmentFlag.AlignTop)
        self._note = Label(self._theme, "", "small", "text2", wrap=True)
        row.addWidget(self._note, 1)
        self._grid.addWidget(holder, self._row, 0, 1, 2)
        self._note_row = holder
        holder.hide()
        self._row += 1

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._grid.setContentsMargins(px(16), px(10), px(16), px(12))
        self._grid.setHorizontalSpacing(px(16))
        self._grid.setVerticalSpacing(px(8))
        self.style_box.setFont(self._theme.font("small"))
        self.style_box.setFixedHeight(self._theme.px(14) + 2 * self._theme.line_px("small"))
        is_large = self._theme.scale >= LARGE
        self._grid.setColumnMinimumWidth(0, 0 if is_large else self._theme.type_px(84))
        for row, label, field in self._pairs:  # large letters leave no room beside a label: the field goes below it
            for widget in (label, field):
                self._grid.removeWidget(widget)
            if is_large:
                self._grid.addWidget(label, row, 0, 1, 2)
                self._grid.addWidget(field, row + 1, 0, 1, 2)
            else:
                self._grid.addWidget(label, row, 0)
                self._grid.addWidget(field, row, 1)

    # -- what the presenter tells ---------------------------------------------------------------------------------

    def show_speech_options(self, view: SpeechOptionsView, model: Model | None) -> None:
        """Make every knob agree with `view`."""
        speech_options = view.speech_options
        if self.style_box.toPlainText() != speech_options.style and not self._style_timer.isActive():
            self.style_box.set_text(speech_options.style)
            self._count_style()
        self.speed.set_value(speech_options.speed)
        self.temperature.set_value(0.75 if speech_options.temperature is None else speech_options.temperature)
        self.top_p.set_value(0.9 if speech_options.top_p is None else speech_options.top_p)
        with QSignalBlocker(self.stream):
            self.stream.setChecked(speech_options.stream)
        self._show_choices(view, model)
        self.more.show_text(speech_options.extra_json)
        for name, field, reason in (
            ("style", self.style_box, view.no_style),
            ("speed", self.speed, view.no_speed),
            ("temperature", self.temperature, view.no_temperature),
            ("top_p", self.top_p, view.no_top_p),
            ("language", self.language, view.no_language),
        ):
            field.setEnabled(not reason)
            field.setAccessibleDescription(reason)
            field.setToolTip(plain_tip(reason))
            if name in self._labels:
                self._labels[name].set_role("text3" if reason else "text")
        note = " ".join(words for words in (view.ignored, view.speed_note) if words)
        self._note.set_text(note)
        self._note_row.setVisible(bool(note))

    def _show_choices(self, view: SpeechOptionsView, model: Model | None) -> None:
        if not self.language.count():
            self.language.addItem(tr("Detect"), "")
            for code, title in language_choices(model):
                self.language.addItem(title, code)
        self.language.setCurrentIndex(max(0, self.language.findData(view.speech_options.language)))
        if view.formats != self._formats:
            self._formats = view.formats
            self.format.clear()
            for name in view.formats:
                self.format.addItem(FORMAT_TITLES.get(name, name.upper()), name)
        self.format.setCurrentIndex(max(0, self.format.findData(view.format)))

    def _style_typed(self, text: str) -> None:
        if len(text) > MAX_STYLE_CHARS:
            cursor = self.style_box.textCursor()
            place = min(cursor.position(), MAX_STYLE_CHARS)
            self.style_box.set_text(text[:MAX_STYLE_CHARS])
            cursor = self.style_box.textCursor()
            cursor.setPosition(place)
            self.style_box.setTextCursor(cursor)
        self._count_style()
        self._style_timer.start()

    def _count_style(self) -> None:
        self.style_count.set_text(f"{len(self.style_box.toPlainText())} / {MAX_STYLE_CHARS}")

    def flush(self) -> None:
        """Report what was typed a moment ago."""
        self._style_timer.stop()
        self.more.extra.flush()
        self.speech_option_edited.emit("style", self.style_box.toPlainText())
