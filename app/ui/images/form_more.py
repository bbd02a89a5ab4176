"""The further options of an image, folded away until they are wanted."""

from __future__ import annotations

import re

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.formats import format_number, plain
from app.service.images import FORMATS, MAX_SEED
from app.translation import tr
from app.ui.images.form import FORMAT_TITLES, OWN_FIELDS, SWITCHES, FormView, ImageForm
from app.ui.images.form_references import StyleReferences
from app.ui.images.form_rows import FormRows
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.forms.extra_json_field import EXTRA_JSON, ExtraJsonField
from app.ui.kit.forms.options_fold import OptionsFold
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.fields import ChoiceField, TextField
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.switch import Switch


class MoreOptions(OptionsFold):
    """`edited` tells the field of `ImageForm` and its new value."""

    edited = Signal(str, object)
    references_requested = Signal()
    seed_checked = Signal()  # what stands there became a seed, or no longer is one

    def __init__(self, theme: Theme, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(theme)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the fields and put them into their rows, some at each step."""
        theme = self._theme
        self.rows = FormRows(theme, margins=False)
        self.body.addWidget(self.rows)
        yield
        self.resolution = ChoiceField(theme, tr("Resolution"))
        self.quality = ChoiceField(theme, tr("Quality"))
        self.format = ChoiceField(theme, tr("Format"))
        self.seed = TextField(theme, tr("Seed"), placeholder=tr("Random"), mono=True)
        self.forget_seed = IconButton(theme, "refresh", tr("Use a random seed"))
        yield
        self.lora = SliderField(theme, tr("Adapter strength"), low=0, high=100, step=1, decimals=0, default=0)
        self.lora.number.setSpecialValueText(tr("auto"))
        yield
        self.references = StyleReferences(theme)
        self.seed_is_good = True
        self.switches = {name: Switch(theme, title) for name, title, _ in SWITCHES}
        self.extra = ExtraJsonField(theme, fields=OWN_FIELDS)
        yield
        yield from self._arrange()
        self._connect()

    def _arrange(self) -> BuildSteps[None]:
        rows = self.rows
        for field in (self.resolution, self.quality):
            field.setPlaceholderText(tr("None"))
        for form in FORMATS:
            self.format.addItem(FORMAT_TITLES[form], form)
        rows.add_pair(("resolution", tr("Resolution"), self.resolution), ("quality", tr("Quality"), self.quality))
        seed = QWidget()
        line = QHBoxLayout(seed)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.seed, 1)
        line.addWidget(self.forget_seed)
        seed.setFocusProxy(self.seed)
        rows.add_pair(("format", tr("Format"), self.format), ("seed", tr("Seed"), seed))
        yield
        rows.add_beside("lora_strength", tr("Adapter"), self.lora)
        rows.add("references", tr("Style references"), self.references)
        yield
        for name, title, note in SWITCHES:
            rows.add_switch(name, title, self.switches[name])
            rows.set_used(name, True, note)
        rows.add("extra_json", EXTRA_JSON, self.extra)

    def _connect(self) -> None:
        tell = self.edited.emit
        self.resolution.activated.connect(lambda _: tell("resolution", str(self.resolution.currentData() or "")))
        self.quality.activated.connect(lambda _: tell("quality", str(self.quality.currentData() or "")))
        self.format.activated.connect(lambda _: tell("format", str(self.format.currentData())))
        self.seed.textEdited.connect(self._seed_typed)
        self.forget_seed.clicked.connect(self._forget_seed)
        self.lora.value_edited.connect(lambda value: tell("lora_strength", int(value) or None))
        self.references.wanted.connect(self.references_requested)
        self.references.edited.connect(lambda pairs: tell("references", pairs))
        self.extra.settled.connect(lambda text: tell("extra_json", text))
        for name, switch in self.switches.items():
            switch.toggled.connect(lambda on, name=name: tell(name, on))

    def fill(self, form: ImageForm) -> None:
        self.seed.setText("" if form.seed is None else str(form.seed))
        self._check_seed()
        self.extra.show_text(form.extra_json, replace=True)
        if form.extra_json:
            self.unfold(True)

    def show_view(self, view: FormView) -> None:
        form, limits, notes = view.form, view.limits, view.notes
        self._fill(self.resolution, limits.resolutions, view.resolution)
        self._fill(self.quality, limits.qualities, form.quality, auto=_own(limits.default_quality))
        with QSignalBlocker(self.format):
            self.format.setCurrentIndex(max(0, self.format.findData(form.format)))
        self.lora.set_value(form.lora_strength or 0)
        for name, switch in self.switches.items():
            with QSignalBlocker(switch):
                switch.setChecked(getattr(form, name))
                switch.update()
        for name in ("resolution", "quality"):
            self.rows.set_used(name, not notes.get(name), notes.get(name, ""))
        for name in ("enable_web_search", "disable_prompt_optimization_thinking"):
            self.rows.set_used(name, name not in notes, notes.get(name, ""))
        self.references.show_references(view.references, has_strength=limits.has_strength)
        self.rows.set_used("references", not notes.get("references"), notes.get("references", ""))
        wrong = next((sentence for name, sentence in view.refusals if name == "references"), "")
        self.rows.set_problem("references", wrong)

    def _fill(self, field: ChoiceField, offered: tuple[str, ...], chosen: str, auto: str = "") -> None:
        with QSignalBlocker(field):
            items = (*((("", auto),) if auto and offered else ()), *((name, name) for name in offered))
            if [field.itemData(place) for place in range(field.count())] != [key for key, _ in items]:
                field.clear()
                for key, words in items:
                    field.addItem(words[:1].upper() + words[1:], key)
            field.setCurrentIndex(field.findData(chosen))

    def _seed_typed(self) -> None:
        if self._check_seed():
            text = plain(self.seed.text()).replace(" ", "")
            self.edited.emit("seed", int(text) if text else None)

    def _check_seed(self) -> bool:
        text = plain(self.seed.text()).replace(" ", "")
        good = not text or (re.fullmatch(r"-?\d{1,12}", text) is not None and abs(int(text)) <= MAX_SEED)
        self.rows.set_problem(
            "seed", "" if good else tr("Enter a whole number up to ±{max_seed}.", max_seed=format_number(MAX_SEED))
        )
        if good != self.seed_is_good:
            self.seed_is_good = good
            self.seed_checked.emit()
        return good

    def _forget_seed(self) -> None:
        self.seed.clear()
        self._seed_typed()

    def flush(self) -> None:
        """Tell what was typed as it stands; what is no seed is marked, and nothing can be made with it."""
        self._check_seed()
        self.extra.flush()


def _own(quality: str) -> str:
    return tr("Model default: {quality}", quality=quality) if quality else tr("Model default")
