"""Asks how an image is to be changed: the words, where, with which model, and for how much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from PySide6.QtCore import Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core import money
from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.images.mask_editor import DEFAULT_BRUSH, MAX_BRUSH, MIN_BRUSH, MaskEditor
from app.ui.images.state import EditModel
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.switch import Switch

WIDTH = 640
FORMATS = (("", tr("Model default")), ("png", "PNG"), ("jpeg", "JPEG"), ("webp", "WebP"))


class EditDialog(Dialog):
    """`price_of` tells the price of (model, resolution, quality, images). Nothing is sent by the dialog itself.

    `edited` follows every change of the words and the mask.
    """

    keeps_typed = False  # it is a draft on the disk
    edited = Signal()

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        image: QImage,
        models: Sequence[EditModel],
        price_of: Callable[[str, str, str, int], Decimal | None],
        *,
        others: int = 0,
    ) -> None:
        super().__init__(theme, parent, tr("Edit image"), width=WIDTH)
        self._models = {model.id: model for model in models}
        self._price_of = price_of
        self.prompt = TextArea(
            name=tr("What should change?"),
            placeholder=tr("Describe the change, for example: make it night, with lit windows."),
        )
        self.counter = Label(theme, "", "small", "text3", tabular=True)
        self.model = ChoiceField(theme, tr("Model"))
        self.ratio = ChoiceField(theme, tr("Aspect ratio"))
        self.resolution = ChoiceField(theme, tr("Resolution"))
        self.format = ChoiceField(theme, tr("Format"))
        self.quality = ChoiceField(theme, tr("Quality"))
        self.safe = Switch(theme, tr("Blur adult images"), checked=True)
        self.enhance = Switch(theme, tr("Let the service improve the prompt"))
        self.combined = Label(theme, "", "small", "text2", wrap=True)
        self.editor = MaskEditor(theme)
        self.editor.show_image(image)
        self.brush = SliderField(
            theme, tr("Brush"), low=MIN_BRUSH, high=MAX_BRUSH, step=4, decimals=0, default=DEFAULT_BRUSH
        )
        self.tool = SegmentedChoice(theme, tr("Brush mode"), (("paint", tr("Paint")), ("rub", tr("Erase"))))
        self.undo = IconButton(theme, "undo", tr("Undo"), shortcut="Ctrl+Z", framed=True)
        self.invert = Button(theme, tr("Invert"), size="small")
        self.clear = Button(theme, tr("Clear"), size="small")
        self.painted = Label(theme, "", "small", "text2", wrap=True)
        self._others = others
        self._build()
        self.cancel = self.add_button(tr("Cancel"), accepts=False)
        self.send = self.add_button(tr("Edit"), kind="primary", accepts=True)
        self._connect()
        self._apply_theme()
        self._choose_model()
        self.prompt.setFocus()

    def _build(self) -> None:
        theme = self._theme
        head = QHBoxLayout()
        head.addWidget(Label(theme, tr("What should change?"), "small", "text2", weight=500), 1)
        head.addWidget(self.counter)
        self.body.addLayout(head)
        self.body.addWidget(self.prompt)
        self.body.addWidget(self.combined)
        self.combined.setVisible(self._others > 0)
        tools = QHBoxLayout()
        tools.setSpacing(theme.px(8))
        tools.addWidget(self.tool)
        tools.addWidget(Label(theme, tr("Brush"), "small", "text2"))
        tools.addWidget(self.brush, 1)
        for widget in (self.undo, self.invert, self.clear):
            tools.addWidget(widget)
        self.body.addWidget(self.editor, 1)
        self.body.addLayout(tools)
        self.body.addWidget(self.painted)
        fields = QHBoxLayout()
        fields.setSpacing(theme.px(8))
        for words, field in (
            (tr("Model"), self.model),
            (tr("Aspect ratio"), self.ratio),
            (tr("Resolution"), self.resolution),
            (tr("Quality"), self.quality),
            (tr("Format"), self.format),
        ):
            box = QWidget()
            column = QVBoxLayout(box)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(theme.px(4))
            label = Label(theme, words, "small", "text2", weight=500)
            label.setBuddy(field)
            if field is self.quality:
                self._quality_box = box
            column.addWidget(label)
            column.addWidget(field)
            fields.addWidget(box, 1)
        self.body.addLayout(fields)
        for words, switch in (
            (tr("Blur adult images"), self.safe),
            (tr("Let the service improve the prompt"), self.enhance),
        ):
            row = QHBoxLayout()
            row.addWidget(Label(theme, words), 1)
            row.addWidget(switch)
            self.body.addLayout(row)
        for model in self._models.values():
            self.model.addItem(model.name, model.id)
        for key, words in FORMATS:
            self.format.addItem(words, key)

    def _connect(self) -> None:
        self.prompt.textChanged.connect(self._look)
        self.prompt.edited.connect(lambda _text: self.edited.emit())
        self.editor.changed.connect(self.edited)
        self.model.currentIndexChanged.connect(lambda _: self._choose_model())
        self.resolution.currentIndexChanged.connect(lambda _: self._look())
        self.quality.currentIndexChanged.connect(lambda _: self._look())
        self._theme.changed.connect(self._apply_theme)
        self.brush.value_edited.connect(lambda value: self.editor.set_brush(int(value)))
        self.editor.brush_changed.connect(self.brush.set_value)
        self.editor.changed.connect(self._look)
        self.tool.changed.connect(self._choose_tool)
        self.undo.clicked.connect(self.editor.undo)
        self.invert.clicked.connect(self.editor.invert)
        self.clear.clicked.connect(self.editor.clear)

    def _apply_theme(self) -> None:
        theme = self._theme
        self.prompt.setFixedHeight(theme.px(16) + 3 * theme.line_px("body"))
        self.editor.setMinimumHeight(theme.type_px(250))

    @property
    def _inputs(self) -> int:
        """How many images go along: as many of the chosen ones as the model combines."""
        return min(1 + self._others, self._models[str(self.model.currentData())].most_inputs)

    def _choose_tool(self, tool: str) -> None:
        self.editor.erases = tool == "rub"

    def _choose_model(self) -> None:
        model = self._models[str(self.model.currentData())]
        several = self._inputs > 1
        ratios = model.ratios if several or model.shapes_one else ()
        qualities = ("", *model.qualities) if several and model.qualities else ()
        for field, names, default in (
            (self.ratio, ratios, ""),
            (self.resolution, model.resolutions, model.default_resolution),
            (self.quality, qualities, ""),
        ):
            field.clear()
            for name in names:
                field.addItem(*_choice(name))
            field.setCurrentIndex(max(0, field.findData(default)) if names else -1)
            field.setEnabled(bool(names))
        self._quality_box.setVisible(bool(qualities))
        left_out = 1 + self._others - self._inputs
        words = [
            tr_n(
                "Combined with one more image you selected.",
                "Combined with {n} more images you selected.",
                self._inputs - 1,
            )
            if several
            else tr("{name} changes one image at a time.", name=model.name)
        ]
        if left_out and several:
            words.append(
                tr(
                    "{name} takes up to {most_inputs}, so {left_out} of the selected images are not used.",
                    name=model.name,
                    most_inputs=model.most_inputs,
                    left_out=left_out,
                )
            )
        self.combined.set_text(" ".join(words))
        self._look()

    def _look(self) -> None:
        """What it costs, and whether it can be sent."""
        model = self._models[str(self.model.currentData())]
        length = len(self.prompt.toPlainText())
        self.counter.set_text(f"{format_number(length)} / {format_number(model.prompt_chars)}")
        self.counter.set_role("bad" if length > model.prompt_chars else "text3")
        quality = str(self.quality.currentData() or model.default_quality if self._inputs > 1 else "")
        price = self._price_of(model.id, str(self.resolution.currentData() or ""), quality, self._inputs)
        self.send.setText(money.priced(tr("Edit"), price))
        self.send.setEnabled(0 < length <= model.prompt_chars and bool(self.prompt.toPlainText().strip()))
        self.undo.setEnabled(self.editor.can_undo)
        share = self.editor.share
        self.painted.set_text(
            tr(
                "{share} painted. The mask is not sent. Rialto keeps everything outside it unchanged.",
                share=f"{share:.0%}",
            )
            if share
            else tr("Nothing is painted, so the whole image may change. Paint an area to protect the rest.")
        )


def _choice(name: str) -> tuple[str, str]:
    """Return the words and the value of a choice; "auto" and "" are not sent."""
    if name in ("auto", ""):
        return (tr("Same as original") if name else tr("Model default"), "")
    return name[:1].upper() + name[1:], name
