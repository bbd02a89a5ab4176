"""The left pane: what is to be made, and what it will cost."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.formats import format_number
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.forms.extra_json_field import ExtraJsonFold
from app.ui.kit.forms.model_field import ModelField
from app.ui.kit.leaving_strip import LeavingStrip
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import PrimaryButton, QuietButton
from app.ui.kit.widgets.fields import TextField, bind_label
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.spinner import Spinner
from app.ui.kit.widgets.surfaces import STAY_ABOVE, rule, zone
from app.ui.kit.widgets.switch import Switch
from app.ui.video.form_parts import MediaSlot, ShapeChoice, ValueChoice
from app.ui.video.model_constraints import OWN_FIELDS, TASKS, ModelConstraints, length_words
from app.ui.video.reference_media_pane import ReferenceMediaPane
from app.ui.video.state import FormView

IMAGE_FILES = "*.png *.jpg *.jpeg *.webp"
VIDEO_FILES = "*.mp4 *.mov *.webm"
SOUND_FILES = "*.wav *.mp3"
DOCUMENT_FILES = "*.pdf"
DELETE_HELP = tr(
    "Only after the file is checked on this computer. Rialto never uses the service’s own option, "
    "because a failed download would lose the video."
)


class FormPane(QWidget):
    """`edited` tells a field of `Form` and its new value."""

    edited = Signal(str, object)
    clear_requested = Signal()
    queue_requested = Signal()
    prompts_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        zone(self, "pane")
        self._theme = theme
        self._view = FormView()
        self._labels: dict[str, Label] = {}
        if whole:
            at_once(self.build())

    # Building

    def build(self) -> BuildSteps[None]:
        """Make the fields and put them into their places, some at each step."""
        theme = self._theme
        self._make_frame()
        yield
        self.kind = ValueChoice(theme, tr("Start from"), longest=12)
        self.model = ModelField(theme)
        self.model_note = Label(theme, "", "small", "text2", wrap=True)
        self.prompt = TextArea(placeholder=tr("Describe the scene and how the camera moves."))
        self.prompts = QuietButton(theme, tr("Saved"), "list", size="small")
        self.prompts.setAccessibleName(tr("Saved prompts"))
        self.prompt_count = Label(theme, "", "small", "text3", tabular=True)
        self.negative = TextField(theme, tr("Negative prompt"), placeholder=tr("Text, logos"))
        yield
        self.start = MediaSlot(theme, tr("Start image"), IMAGE_FILES)
        self.end = MediaSlot(theme, tr("End image"), IMAGE_FILES)
        self.film = MediaSlot(theme, tr("Source video"), VIDEO_FILES)
        self.sound = MediaSlot(theme, tr("Source audio"), SOUND_FILES)
        yield
        self.along = ReferenceMediaPane(theme, IMAGE_FILES, VIDEO_FILES, SOUND_FILES, DOCUMENT_FILES)
        yield
        self.factor = ValueChoice(theme, tr("Upscale"))
        self.duration = ValueChoice(theme, tr("Length"))
        self.resolution = ValueChoice(theme, tr("Resolution"))
        self.shape = ShapeChoice(theme)
        self.audio = Switch(theme, tr("Audio"))
        self.audio_note = Label(theme, "", "small", "text2", wrap=True)
        self.delete = Switch(theme, tr("Delete the service’s copy once saved"))
        self.delete_note = Label(theme, DELETE_HELP, "small", "text3", wrap=True)
        self.more = ExtraJsonFold(theme, OWN_FIELDS)
        yield
        yield from self._arrange()
        yield
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _make_frame(self) -> None:
        """Make the header, the foot, and between them the column that the fields go into."""
        theme = self._theme
        self.header = PaneHeader(theme, tr("New video"))
        self.clear = QuietButton(theme, tr("Clear"), "refresh", size="small")
        self.header.add(self.clear)
        scroll = ScrollPane(tr("New video"))
        self._column = scroll.fill(theme, "pane", (16, 14, 16, 16), 12)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(scroll, 1)
        layout.addWidget(rule())
        layout.addWidget(self._foot())

    def _arrange(self) -> BuildSteps[None]:
        theme = self._theme
        self._column.addWidget(self.kind)
        self._add("model", tr("Model"), self.model)
        self._column.addWidget(self.model_note)
        self.leaving = LeavingStrip(theme)
        self._column.addWidget(self.leaving)
        self._add("prompt", tr("Prompt"), self.prompt, beside=(self.prompts, self.prompt_count))
        self._add("negative", tr("Negative prompt"), self.negative)
        for slot in (self.start, self.end, self.film, self.sound, self.along):
            self._column.addWidget(slot)
        yield
        self._add("factor", tr("Upscale"), self.factor)
        pair = QHBoxLayout()
        pair.setSpacing(theme.px(12))
        for name, title, field in (
            ("duration", tr("Length"), self.duration),
            ("resolution", tr("Resolution"), self.resolution),
        ):
            box = QVBoxLayout()
            box.setSpacing(theme.px(4))
            self._labels[name] = Label(theme, title, "small", "text2", weight=500)
            box.addWidget(self._labels[name])
            box.addWidget(field)
            pair.addLayout(box, 1)
        self._column.addLayout(pair)
        self._add("shape", tr("Aspect ratio"), self.shape)
        self._switch("audio", tr("Audio"), self.audio)
        self._column.addWidget(self.audio_note)
        self._switch("delete", tr("Delete the service’s copy once saved"), self.delete)
        self._column.addWidget(self.delete_note)
        self._column.addWidget(self.more)
        self._column.addStretch(1)

    def _add(self, name: str, title: str, field: QWidget, beside: Sequence[QWidget] = ()) -> None:
        label = Label(self._theme, title, "small", "text2", weight=500)
        self._labels[name] = label
        bind_label(label, field)
        box = QVBoxLayout()
        box.setSpacing(self._theme.px(4))
        head = QHBoxLayout()
        head.addWidget(label, 1)
        for widget in beside:
            head.addWidget(widget)
        box.addLayout(head)
        box.addWidget(field)
        self._column.addLayout(box)

    def _switch(self, name: str, title: str, switch: Switch) -> None:
        label = Label(self._theme, title, wrap=True)
        self._labels[name] = label
        label.setBuddy(switch)
        row = QHBoxLayout()
        row.addWidget(label, 1)
        row.addWidget(switch, 0, Qt.AlignmentFlag.AlignVCenter)
        self._column.addLayout(row)

    def _foot(self) -> QWidget:
        theme = self._theme
        foot = QWidget()
        foot.setObjectName(STAY_ABOVE)
        zone(foot, "pane")
        self._foot_column = QVBoxLayout(foot)
        head = QHBoxLayout()
        self.asking = Spinner(theme)
        self.price = Label(theme, "", "title", weight=600, tabular=True)
        head.addWidget(Label(theme, tr("Estimate"), role="text2"), 1)
        head.addWidget(self.asking)
        head.addWidget(self.price)
        self.price_note = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self.queue = PrimaryButton(theme, tr("Queue"), size="large", hint="Ctrl+Enter")
        self._foot_column.addLayout(head)
        self._foot_column.addWidget(self.price_note)
        self._foot_column.addWidget(self.queue)
        return foot

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._foot_column.setContentsMargins(px(16), px(12), px(16), px(14))
        self._foot_column.setSpacing(px(6))
        self.prompt.setFixedHeight(self._theme.type_px(19) * 5 + px(14))

    def _connect(self) -> None:
        edit = self.edited.emit
        self.kind.chosen.connect(lambda kind: edit("kind", kind))
        self.model.chosen.connect(lambda model_id: edit("model", model_id))
        self.prompt.edited.connect(lambda text: edit("prompt", text))
        self.negative.textEdited.connect(lambda text: edit("negative", text))
        for name, slot in (("start", self.start), ("end", self.end), ("film", self.film), ("sound", self.sound)):
            slot.chosen.connect(lambda path, name=name: edit(name, path))
        self.along.edited.connect(lambda along: edit("along", along))
        self.along.task_chosen.connect(lambda task: edit("task", task))
        self.factor.chosen.connect(lambda value: edit("factor", value))
        self.duration.chosen.connect(lambda value: edit("duration", value))
        self.resolution.chosen.connect(lambda value: edit("resolution", value))
        self.shape.chosen.connect(lambda value: edit("aspect_ratio", value))
        self.audio.toggled.connect(lambda on: edit("audio", on))
        self.delete.toggled.connect(lambda on: edit("clean_after", on))
        self.more.extra.settled.connect(lambda text: edit("extra_json", text))
        self.clear.clicked.connect(self.clear_requested)
        self.prompts.clicked.connect(self.prompts_requested)
        self.queue.clicked.connect(self.queue_requested)

    # Showing

    def fill(self, view: FormView) -> None:
        """Put the form's own values into the fields."""
        form = view.form
        blockers = [QSignalBlocker(each) for each in (self.model, self.audio, self.delete)]
        self.prompt.set_text(form.prompt)
        if self.negative.text() != form.negative:
            self.negative.setText(form.negative)
        self.model.clear()
        for model in view.models:
            if model.kind == form.kind:
                self.model.addItem(model.name, model.id)
        self.model.offer_other()
        self.model.setCurrentIndex(self.model.findData(form.model))
        self.audio.setChecked(form.audio)
        self.delete.setChecked(form.clean_after)
        self.more.show_text(form.extra_json)
        del blockers
        self.show_view(view)

    def show_view(self, view: FormView) -> None:
        """Make everything beside what is typed agree with `view`."""
        self._view = view
        form, takes = view.form, view.takes or ModelConstraints()
        refusal = view.refusal.fields
        self.kind.show_values(view.kinds, form.kind)
        self.kind.setVisible(len(view.kinds) > 1)
        self.model_note.setVisible(bool(view.note))
        self.model_note.set_text(view.note)
        self.prompt_count.set_text(f"{format_number(len(form.prompt.strip()))} / {format_number(takes.prompt_limit)}")
        self.prompt_count.set_role("bad" if len(form.prompt.strip()) > takes.prompt_limit else "text3")
        self.negative.set_problem(refusal.get("negative", ""))
        self._show_media(view, takes)
        self.duration.show_values([(value, length_words(value)) for value in takes.durations], form.duration)
        self.resolution.show_values([(value, value) for value in takes.resolutions], form.resolution)
        self.factor.show_values([(value, f"{value}×") for value in takes.factors], form.factor)
        self.shape.show_values(takes.aspect_ratios, form.aspect_ratio)
        for name, field, there in (
            ("factor", self.factor, takes.factors),
            ("duration", self.duration, takes.durations if takes.needs_words else ()),
            ("resolution", self.resolution, takes.resolutions),
            ("shape", self.shape, takes.aspect_ratios),
        ):
            self._labels[name].setVisible(bool(there))
            field.setVisible(bool(there))
        name = self.model.currentText() or tr("This model")
        for widget in (self.audio, self._labels["audio"]):
            widget.setVisible(takes.needs_words)  # a video that is made larger keeps its sound
        self.audio.setEnabled(takes.sound == "chosen")
        self._labels["audio"].set_role("text" if takes.sound == "chosen" else "text3")
        notes = {
            "always": tr("{name} always adds audio.", name=name),
            "never": tr("{name} generates silent videos.", name=name),
        }
        self.audio_note.set_text(notes.get(takes.sound, ""))
        self.audio_note.setVisible(takes.sound in notes and takes.needs_words and view.takes is not None)
        self._show_price(view)

    def _show_media(self, view: FormView, takes: ModelConstraints) -> None:
        form = view.form
        self.start.setVisible(takes.kind == "image")
        self.end.setVisible(takes.kind == "image")
        self.film.setVisible(takes.kind == "video")
        self.sound.setVisible(takes.takes_sound)
        self.along.setVisible(any(takes.limits.most.values()))
        for name, slot in (("start", self.start), ("end", self.end), ("film", self.film), ("sound", self.sound)):
            slot.show_problem(view.wrong_files.get(name, ""))
        self.start.show_file(form.start, tr("Required: first frame") if takes.needs_image else "")
        self.end.show_file(form.end)
        self.film.show_file(form.film, tr("Required: up to 25 MB"))
        self.sound.show_file(form.sound)
        self.along.show_reference_media(form.along, takes.limits, dict(view.refusal.fields))
        self.along.show_task([task for task in TASKS if task[0] in takes.tasks], form.task)

    def _show_price(self, view: FormView) -> None:
        quote = view.quote
        self.asking.setVisible(quote.asking)
        self.price.set_text(quote.price or "–")
        refusal = view.refusal.sentence if view.takes is not None else ""
        self.price_note.set_text(refusal or quote.note)
        self.price_note.set_role("warn" if refusal and view.form.prompt else "text2")
        self.queue.setText(
            tr("Queue for {price}", price=quote.price) if quote.price and not quote.asking else tr("Queue")
        )
        self.queue.setEnabled(not view.refusal and bool(quote.price) and not quote.asking and not view.is_looking)
