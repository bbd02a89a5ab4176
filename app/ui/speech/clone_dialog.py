"""Asks for a sample of a voice, a name and the consent of whose voice it is; nothing is sent before that."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.money import priced
from app.formats import format_number
from app.service.models import Model
from app.translation import tr
from app.ui.kit.file_dialogs import ask_for_file
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import CheckBox, ChoiceField, TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.spinner import Progress

if TYPE_CHECKING:
    from app.ui.speech.session.voice_cloning import VoiceCloning
    from app.ui.speech.state import SampleView

CONSENT = tr("This is my own voice, or its owner has agreed to let me clone it.")
READ_THIS = tr(
    "Read this aloud: The tide turns at noon, and the ferry leaves on time, whether or not anyone is on it. "
    "Nobody waves, and the gulls follow it out to sea."
)
LEVEL_FLOOR_DB = 60.0


class CloneDialog(Dialog):
    """`voice_name`, `model_id` and `sample` are what was chosen; it can be accepted only when all is there."""

    def __init__(self, theme: Theme, parent: QWidget, cloning: VoiceCloning, models: Sequence[Model]) -> None:
        super().__init__(theme, parent, tr("Clone a voice"), width=500)
        self._cloning = cloning
        self._path: Path | None = None
        self._is_good = False
        self.name = TextField(theme, tr("Voice name"), placeholder=tr("For example: my reading voice"))
        self.model = ChoiceField(theme, tr("Model"))
        for model in models:
            self.model.addItem(model.name, model.id)
        self.words = Label(theme, READ_THIS, role="text2", wrap=True)
        self.record = Button(theme, tr("Record"), "record", icon_role="bad")
        self.choose = Button(theme, tr("Choose a file…"), "folder")
        self.preview = Button(theme, tr("Hear it"), "play", kind="quiet")
        self.level = Progress(theme, tr("Microphone level"))
        self.report = Label(theme, tr("5 to 10 seconds is best."), "small", "text2", wrap=True, tabular=True)
        self.consent = CheckBox(CONSENT)
        self.price = Label(theme, "", role="text2", wrap=True, tabular=True)
        self._build(theme, models)
        self.add_button(tr("Cancel"), accepts=False)
        self.go = self.add_button(tr("Clone"), kind="primary", accepts=True)
        self._connect()
        self._show_price()
        self._agree()

    def _build(self, theme: Theme, models: Sequence[Model]) -> None:
        for title, field in ((tr("Name"), self.name), (tr("Model"), self.model)):
            label = Label(theme, title, "small", "text2", weight=500)
            bind_label(label, field)
            self.body.addWidget(label)
            self.body.addWidget(field)
        if not models:
            self.report.set_text(tr("No model on this account can clone voices."))
        self.body.addWidget(self.words)
        row = QHBoxLayout()
        longest = Button(theme, tr("Record again"), "record")
        self.record.setMinimumWidth(longest.sizeHint().width())  # the buttons beside it stay where they are
        for button in (self.record, self.choose, self.preview):
            row.addWidget(button)
        row.addStretch(1)
        self.body.addLayout(row)
        self.body.addWidget(self.level)
        self.body.addWidget(self.report)
        self.body.addWidget(self.consent)
        self.body.addWidget(self.price)
        self.preview.setEnabled(False)

    def _connect(self) -> None:
        cloning = self._cloning
        self.record.clicked.connect(self._toggle_recording)
        self.choose.clicked.connect(self._choose_file)
        self.preview.clicked.connect(self._hear)
        self.model.currentIndexChanged.connect(lambda _index: self._show_price())
        self.name.textChanged.connect(lambda _text: self._agree())
        self.consent.toggled.connect(lambda _on: self._agree())
        cloning.recording_changed.connect(self._show_level)
        cloning.recorded.connect(self.set_sample)
        cloning.microphone_problem.connect(self._show_problem)

    def _show_price(self) -> None:
        """What one clone costs, before it is sent; each clone is charged, also of the same sample."""
        price = self._cloning.price(self.model_id)
        self.go.setText(priced(tr("Clone"), price))
        if price is None:
            words = tr("Price unknown. The receipt shows what cloning cost.")
            self.price.set_text(words)
        else:
            self.price.set_text(tr("Cloning costs {cost_words}.", cost_words=self._cloning.cost_words(price)))

    @property
    def voice_name(self) -> str:
        return self.name.text().strip()

    @property
    def model_id(self) -> str:
        return str(self.model.currentData() or "")

    @property
    def sample(self) -> Path:
        assert self._path is not None
        return self._path

    def _toggle_recording(self) -> None:
        if self._cloning.is_recording:
            self._cloning.end_recording(self.model_id)
            self.record.setText(tr("Record again"))
        else:
            self._path, self._is_good = None, False
            self._cloning.record()
            self.record.setText(tr("Stop"))
            self.report.set_text(tr("Waiting for the microphone"))
        self._agree()

    def _choose_file(self) -> None:
        check = partial(self._cloning.check, model_id=self.model_id)
        ask_for_file(self, tr("Choose a sample"), check, f"{tr('Audio')} (*.wav *.mp3 *.flac *.m4a *.mp4)")

    def _hear(self) -> None:
        if self._path is not None:
            self._cloning.preview(self._path)

    def _show_level(self, seconds: float, level_db: float, warning: str) -> None:
        self.level.set_share(max(0.0, min(1.0, 1 + level_db / LEVEL_FLOOR_DB)))
        words = {"silent": tr("No sound."), "muted": tr("The microphone is muted."), "clipping": tr("Too loud.")}
        self.report.set_text(
            tr(
                "Recording {seconds} s. {warning}", seconds=format_number(seconds, 1), warning=words.get(warning, "")
            ).strip()
        )

    def _show_problem(self, sentence: str) -> None:
        self.record.setText(tr("Record"))
        if sentence:
            self.report.set_text(sentence)
        if self._cloning.is_recording:
            self._cloning.end_recording(self.model_id)

    def set_sample(self, path: Path, report: SampleView) -> None:
        """A sample was recorded or chosen, and measured."""
        self._path, self._is_good = path, report.can_be_used
        found = f"{format_number(report.seconds, 1)} s, {format_number(report.level_db, 0)} dB."
        self.report.set_text(f"{found} {report.problem or report.advice or tr('This is a good sample.')}")
        self.report.set_role("bad" if report.problem else "text2")
        self.level.set_share(0.0)
        self._agree()

    def _agree(self) -> None:
        recording = self._cloning.is_recording
        self.preview.setEnabled(self._path is not None and not recording)
        ready = bool(self.voice_name and self.model_id and self._path is not None and self._is_good)
        self.go.setEnabled(ready and self.consent.isChecked() and not recording)
