"""The inspector before and while something is recorded or sent: microphone, how it is sent, and the marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.time_format import position
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.discard import WidgetList
from app.ui.kit.forms.extra_json_field import ExtraJsonFold
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.card import Section
from app.ui.kit.widgets.fields import ChoiceField, TextField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.switch import Switch
from app.ui.transcription.field_row import FieldRow
from app.ui.transcription.state import (
    FORMAT_NOTES,
    LANGUAGES,
    OWN_FIELDS,
    Head,
    Mark,
    Microphones,
    ModelChoice,
    Options,
)

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

MAX_GAIN_DB = 20


class OptionsPage(ScrollPane):
    """`option_changed` names a field of `Options` and its value."""

    microphone_chosen = Signal(str)
    channel_chosen = Signal(int)
    gain_changed = Signal(float)
    test_requested = Signal()
    option_changed = Signal(str, object)
    mark_renamed = Signal(int, str)
    mark_removed = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(tr("Options"), parent)
        self._theme = theme
        self._marks: tuple[Mark, ...] = ()
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the fields and put them into their groups, some at each step."""
        theme = self._theme
        self.input = ChoiceField(theme, tr("Input"))
        self.channel = ChoiceField(theme, tr("Channel"))
        self.gain = SliderField(
            theme, tr("Gain in dB"), low=-MAX_GAIN_DB, high=MAX_GAIN_DB, step=1, decimals=0, default=0
        )
        self.test = Button(theme, tr("Test microphone"), "microphone", size="small")
        yield
        self.record_as = SegmentedChoice(
            theme, tr("Send recordings as"), (("flac", "FLAC"), ("wav", "WAV"), ("ogg", "OGG")), stretch=True
        )
        self.language = ChoiceField(theme, tr("Spoken language"))
        for code, name in LANGUAGES:
            self.language.addItem(name, code)
        yield
        self.times = Switch(theme, tr("Word timestamps"))
        self.answer = SegmentedChoice(
            theme,
            tr("Result"),
            (("json", tr("Structured")), ("text", tr("Plain text"))),
            stretch=True,
        )
        yield
        column = self.fill(theme, "pane", (0, 0, 0, 0), 0)
        group = self.microphone = Section(theme)
        column.addWidget(group)
        self.input_row = FieldRow(theme, tr("Input"), self.input)
        self.channel_row = FieldRow(theme, tr("Channel"), self.channel)
        self.gain_row = FieldRow(theme, tr("Gain"), self.gain)
        self.record_row = FieldRow(theme, tr("Send recordings as"), self.record_as)
        for row in (self.input_row, self.channel_row, self.gain_row):
            group.add(row)
        group.body.addWidget(self.test, 0, Qt.AlignmentFlag.AlignLeft)
        group.add(self.record_row)
        kept = Label(
            theme,
            tr("Recordings are kept until you delete them, even if the upload fails."),
            "small",
            "text2",
            wrap=True,
        )
        group.add(kept)
        yield
        sending = Section(theme, tr("Transcription"))
        column.addWidget(sending)
        self.language_row = FieldRow(theme, tr("Spoken language"), self.language)
        self.times_row = FieldRow(theme, tr("Word timestamps"), self.times, beside=True)
        self.answer_row = FieldRow(theme, tr("Result"), self.answer)
        self.more = ExtraJsonFold(theme, OWN_FIELDS)
        for row in (self.language_row, self.times_row, self.answer_row):
            sending.add(row)
        sending.add(self.more)
        yield
        self.marks_group = Section(theme, tr("Notes"), last=True)
        self._mark_count = Label(theme, "", "small", "text3", tabular=True)
        self.marks_group.top.addWidget(self._mark_count)
        mark_rows = QVBoxLayout()
        mark_rows.setSpacing(theme.px(2))
        self.marks_group.body.addLayout(mark_rows)
        self._mark_rows: WidgetList[QWidget] = WidgetList(mark_rows)
        column.addWidget(self.marks_group)
        column.addStretch(1)
        self._connect()
        yield

    def _connect(self) -> None:
        self.input.activated.connect(lambda place: self.microphone_chosen.emit(str(self.input.itemData(place) or "")))
        self.channel.activated.connect(lambda place: self.channel_chosen.emit(int(self.channel.itemData(place))))
        self.gain.value_edited.connect(self.gain_changed)
        self.test.clicked.connect(self.test_requested)
        self.record_as.changed.connect(lambda key: self.option_changed.emit("record_as", key))
        self.language.activated.connect(
            lambda place: self.option_changed.emit("language", str(self.language.itemData(place) or ""))
        )
        self.times.clicked.connect(lambda on: self.option_changed.emit("timestamps", on))
        self.answer.changed.connect(lambda key: self.option_changed.emit("response_format", key))
        self.more.extra.settled.connect(lambda text: self.option_changed.emit("extra_json", text))

    # What the page tells

    def show_inputs(self, inputs: Microphones) -> None:
        """The microphones there are, and the one that is used."""
        with QSignalBlocker(self.input), QSignalBlocker(self.channel):
            self.input.clear()
            default = tr("System default") if inputs.microphones or not inputs.is_known else tr("No microphone")
            self.input.addItem(default, "")
            for each in inputs.microphones:
                self.input.addItem(self._name_of(each.name, each.channels), each.id)
            if inputs.missing:
                self.input.addItem(tr("Previous microphone, not connected"), inputs.chosen)
            self.input.setCurrentIndex(max(0, self.input.findData(inputs.chosen)))
            self.channel.clear()
            self.channel.addItem(tr("All, mixed to mono"), -1)
            device = inputs.device or (inputs.microphones[0] if inputs.microphones else None)
            for number in range(device.channels if device is not None and device.channels > 1 else 0):
                name = (tr("Left"), tr("Right"))[number] if device and device.channels == 2 else ""
                self.channel.addItem(name or tr("Channel {n}", n=number + 1), number)
            self.channel.setCurrentIndex(max(0, self.channel.findData(inputs.channel)))
        several = self.channel.count() > 1
        self.channel_row.setVisible(several)
        if inputs.missing:
            self.input_row.set_note(tr("Not connected. The system default is used until it returns."))
        else:
            self.input_row.set_note(inputs.problem)
        self.gain.set_value(inputs.gain_db)
        self.gain_row.value.set_text(f"{inputs.gain_db:+.0f} dB".replace("-", "−").replace("+0 ", "0 "))
        self.test.setEnabled(not inputs.test and bool(inputs.microphones))

    @staticmethod
    def _name_of(name: str, channels: int) -> str:
        """A microphone in the list: its name, and its channels where the system knows them."""
        if channels < 1:
            return name
        return tr("{name}, mono", name=name) if channels == 1 else tr("{name}, {n} channels", name=name, n=channels)

    def show_options(self, options: Options, model: ModelChoice) -> None:
        """What is sent, and what of it the model uses."""
        self.record_as.set_current(options.record_as)
        self.record_row.set_note(FORMAT_NOTES[options.record_as])
        with QSignalBlocker(self.language):
            self.language.setCurrentIndex(max(0, self.language.findData(options.language)))
        self.times.setChecked(options.timestamps)
        self.answer.set_current(options.response_format)
        self.more.show_text(options.extra_json)
        name = model.name or tr("This model")
        if model.takes_hints is False:
            self.language_row.set_note(tr("Not used: {name} detects the language itself.", name=name), used=False)
        elif model.takes_hints:
            self.language_row.set_note(tr("{name} uses this as a hint.", name=name))
        else:
            self.language_row.set_note(tr("{name} may not use hints.", name=name))
        if options.response_format == "text":
            self.times_row.set_note(tr("Plain text has no timestamps, so they are estimated."), used=False)
        else:
            self.times_row.set_note(self._times_note(model, options))

    def _times_note(self, model: ModelChoice, options: Options) -> str:
        if not options.timestamps:
            return tr("Without timestamps, positions in the audio are estimated.")
        if model.kinds is None:
            return tr("{name} may leave them out.", name=model.name)
        if "segment" not in model.kinds:
            return tr("{name} returns word timestamps.", name=model.name)
        if "word" not in model.kinds:
            return tr("{name} returns segment timestamps.", name=model.name)
        return tr("{name} returns word and segment timestamps.", name=model.name)

    def show_head(self, head: Head) -> None:
        self.microphone.setVisible(head.origin != "file" or head.view not in ("sound", "result"))
        self._show_marks(head.marks, shown=head.id is not None and (bool(head.marks) or head.view == "recording"))

    def _show_marks(self, marks: Sequence[Mark], *, shown: bool) -> None:
        self.marks_group.setVisible(shown)
        self._mark_count.set_text(str(len(marks)) if marks else "")
        if tuple(marks) == self._marks:
            return
        self._marks = tuple(marks)
        self._mark_rows.clear()
        for number, mark in enumerate(marks):
            self._mark_rows.add(self._mark_row(number, mark))

    def _mark_row(self, number: int, mark: Mark) -> QWidget:
        theme = self._theme
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.px(6))
        at = Label(theme, position(mark.at), "small", "text2", mono=True)
        at.setMinimumWidth(theme.type_px(40))
        name = tr("Note at {time}", time=position(mark.at))
        field = TextField(theme, name, text=mark.text, placeholder=tr("Add a note"), small=True)
        field.editingFinished.connect(lambda: self._rename(number, mark, field.text()))
        remove = IconButton(theme, "close", tr("Remove note at {time}", time=position(mark.at)), size="small")
        remove.clicked.connect(lambda: self.mark_removed.emit(number))
        layout.addWidget(at)
        layout.addWidget(field, 1)
        layout.addWidget(remove)
        return row

    def _rename(self, number: int, mark: Mark, text: str) -> None:
        if text.strip() and text.strip() != mark.text:
            self.mark_renamed.emit(number, text)
