"""The left pane: the parameters of an image, the price, and the Generate button.

What the chosen model does not use stays in its place, dashed, with one line that says why.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core import money
from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.images.form import FormView, ImageForm
from app.ui.images.form_more import MoreOptions
from app.ui.images.form_rows import FormRows
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.forms.model_field import ModelField
from app.ui.kit.leaving_strip import LeavingStrip
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import PrimaryButton, QuietButton
from app.ui.kit.widgets.fields import ChoiceField, NumberField, TextField
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.surfaces import STAY_ABOVE, rule, zone
from app.ui.kit.widgets.switch import Switch

TYPED_AFTER_MS = 150
COUNTS = (("1", "1"), ("2", "2"), ("3", "3"), ("4", "4"))


class FormPane(QWidget):
    """`edited` tells the field of `ImageForm` and its new value."""

    edited = Signal(str, object)
    generate_requested = Signal()
    stop_requested = Signal()
    clear_requested = Signal()
    prompts_requested = Signal()

    def __init__(self, theme: Theme, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._view: FormView | None = None
        zone(self, "pane")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the fields and put them into their rows, some at each step."""
        theme = self._theme
        self._make_frame()
        yield
        self.model = ModelField(theme)
        self.prompt = TextArea(name=tr("Prompt"), placeholder=tr("Describe the subject, the style and the light."))
        self.prompts = QuietButton(theme, tr("Saved"), "list", size="small")
        self.prompts.setAccessibleName(tr("Saved prompts"))
        self.negative = TextField(theme, tr("Negative prompt"), placeholder=tr("Text, logos"))
        yield
        self.style_choice = ChoiceField(theme, tr("Style"))
        self.shape = ChoiceField(theme, tr("Aspect ratio"))
        self.shape.setPlaceholderText(tr("None"))
        self.width_field = NumberField(theme, tr("Width"), low=8, high=9999, step=8, small=False)
        self.height_field = NumberField(theme, tr("Height"), low=8, high=9999, step=8, small=False)
        yield
        self.count = SegmentedChoice(theme, tr("Number of images"), COUNTS, stretch=True)
        yield
        self.guidance = SliderField(theme, tr("Guidance"), low=0, high=20, step=0.5, decimals=1, default=0)
        yield
        self.steps = SliderField(theme, tr("Steps"), low=0, high=50, step=1, decimals=0, default=0)
        self.safe = Switch(theme, tr("Blur adult images"), checked=True)
        yield
        for field in (self.guidance, self.steps):
            field.number.setSpecialValueText(tr("auto"))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(TYPED_AFTER_MS)
        self._timer.timeout.connect(self.flush)
        yield from self._arrange()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _make_frame(self) -> None:
        """Make the header, the foot, and between them the rows that the fields go into."""
        theme = self._theme
        self.header = PaneHeader(theme, tr("New image"))
        self.clear = QuietButton(theme, tr("Clear"), "refresh", size="small")
        self.header.add(self.clear)
        self.rows = FormRows(theme)
        scroll = ScrollPane()
        scroll.setWidget(self.rows)
        self.estimate = Label(theme, tr("Estimate"), "body", "text2")
        self.price = Label(theme, "", "title", tabular=True)
        self.sum = Label(theme, "", "small", "text2", tabular=True, wrap=True)
        self.make = PrimaryButton(theme, tr("Generate"), hint="Ctrl+Enter")
        self.stop = QuietButton(theme, tr("Stop waiting"), "stop", size="small")
        self.footer = QFrame()
        self.footer.setObjectName(STAY_ABOVE)
        self._foot = QVBoxLayout(self.footer)
        line = QHBoxLayout()
        line.addWidget(self.estimate, 1)
        line.addWidget(self.price)
        self._foot.addLayout(line)
        self._foot.addWidget(self.sum)
        self._foot.addWidget(self.stop)  # above: what is at the bottom stays there when this comes
        self._foot.addWidget(self.make)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        self.leaving = LeavingStrip(theme)
        column.addWidget(scroll, 1)
        column.addWidget(self.leaving)
        column.addWidget(rule())
        column.addWidget(self.footer)
        self.stop.hide()

    def _arrange(self) -> BuildSteps[None]:
        rows = self.rows
        self.prompt.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        rows.add("model", tr("Model"), self.model)
        self.counter = rows.add("prompt", tr("Prompt"), self.prompt, counter=True, beside=self.prompts)
        yield
        rows.add("negative_prompt", tr("Negative prompt"), self.negative)
        rows.add("style", tr("Style"), self.style_choice)
        rows.add_pair(("aspect_ratio", tr("Aspect ratio"), self.shape), ("count", tr("Number of images"), self.count))
        yield
        rows.add_pair(("width", tr("Width"), self.width_field), ("height", tr("Height"), self.height_field))
        rows.add_beside("cfg_scale", tr("Guidance"), self.guidance)
        yield
        rows.add_beside("steps", tr("Steps"), self.steps)
        rows.add_switch("safe_mode", tr("Blur adult images"), self.safe)
        yield
        self.more = MoreOptions(self._theme, whole=False)
        rows.add_whole(self.more)
        yield from self.more.build()
        yield

    def _connect(self) -> None:
        tell = self.edited.emit
        self.clear.clicked.connect(self.clear_requested)
        self.prompts.clicked.connect(self.prompts_requested)
        self.model.chosen.connect(lambda model_id: tell("model", model_id))
        self.prompt.edited.connect(self._typed)
        self.negative.textEdited.connect(lambda _: self._timer.start())
        self.style_choice.activated.connect(lambda _: tell("style", str(self.style_choice.currentData() or "")))
        self.shape.activated.connect(lambda _: tell("aspect_ratio", str(self.shape.currentData() or "")))
        self.width_field.value_edited.connect(lambda value: tell("width", int(value)))
        self.height_field.value_edited.connect(lambda value: tell("height", int(value)))
        self.count.changed.connect(lambda key: tell("count", int(key)))
        self.guidance.value_edited.connect(lambda value: tell("cfg_scale", value or None))
        self.steps.value_edited.connect(lambda value: tell("steps", int(value) or None))
        self.safe.toggled.connect(lambda on: tell("safe_mode", on))
        self.more.edited.connect(self.edited)
        self.more.seed_checked.connect(self._show_button)
        self.make.clicked.connect(self.generate_requested)
        self.stop.clicked.connect(self.stop_requested)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self.prompt.setFont(self._theme.font("body"))
        self.prompt.setFixedHeight(px(20) + 6 * self._theme.line_px("body"))
        self._foot.setContentsMargins(px(16), px(12), px(16), px(14))
        self._foot.setSpacing(px(8))

    # -- what the presenter tells ---------------------------------------------------------------------------------

    def show_models(self, models: Sequence[tuple[str, str, str]], styles: Sequence[str]) -> None:
        """(id, name, price) of every model, and the styles of the service."""
        with QSignalBlocker(self.model):
            self.model.clear()
            for model_id, name, price in models:
                self.model.addItem(f"{name}  ·  {price}" if price else name, model_id)
            self.model.offer_other()
        with QSignalBlocker(self.style_choice):
            self.style_choice.clear()
            self.style_choice.addItem(tr("None"), "")
            for style in styles:
                self.style_choice.addItem(style, style)
        if self._view is not None:
            self._show_choices(self._view)

    def fill(self, form: ImageForm) -> None:
        """Put a form into the fields of the person's own words."""
        self._timer.stop()
        self.prompt.set_text(form.prompt)
        self._show_count()
        self.negative.setText(form.negative_prompt)
        self.more.fill(form)

    def show_view(self, view: FormView, left: str = "") -> None:
        """Make every field agree with what the model takes, and say what it costs."""
        form, limits = view.form, view.limits
        self._view = view
        self._show_choices(view)
        self.count.set_current(str(form.count))
        self.guidance.set_value(form.cfg_scale or 0)
        self.steps.number.setMaximum(max(1, limits.max_steps))
        self.steps.slider.setMaximum(max(1, limits.max_steps))
        self.steps.set_value(min(form.steps or 0, limits.max_steps))
        for field, value in ((self.width_field, form.width), (self.height_field, form.height)):
            field.setSingleStep(limits.divisor)
            field.set_value(value)
        with QSignalBlocker(self.safe):
            self.safe.setChecked(form.safe_mode)
        self.more.show_view(view)
        refusals = dict(view.refusals)
        pixels, notes = limits.takes_pixels, view.notes
        self.rows.set_used("aspect_ratio", not notes.get("aspect_ratio"), notes.get("aspect_ratio", ""))
        self.rows.set_used("steps", not notes.get("steps"), notes.get("steps", ""))
        self.rows.set_shown("width", pixels)
        self.rows.set_shown("height", pixels)
        for name in ("prompt", "negative_prompt", "style", "width", "height"):
            self.rows.set_problem(name, refusals.get(name, ""))
        self._show_count()
        self.show_price(view, left)

    def _show_choices(self, view: FormView) -> None:
        form = view.form
        with QSignalBlocker(self.model):
            self.model.setCurrentIndex(max(0, self.model.findData(form.model)))
        with QSignalBlocker(self.style_choice):
            place = self.style_choice.findData(form.style)
            if place < 0 and form.style:
                self.style_choice.addItem(form.style, form.style)
                place = self.style_choice.count() - 1
            self.style_choice.setCurrentIndex(max(0, place))
        with QSignalBlocker(self.shape):
            shown = [self.shape.itemData(place) for place in range(self.shape.count())]
            if shown != list(view.limits.ratios):
                self.shape.clear()
                for ratio in view.limits.ratios:
                    self.shape.addItem(ratio, ratio)
            self.shape.setCurrentIndex(self.shape.findData(view.ratio))

    def _show_count(self) -> None:
        if self._view is not None:
            length, allowed = len(self.prompt.toPlainText()), self._view.limits.prompt_chars
            self.counter.set_text(f"{format_number(length)} / {format_number(allowed)}")
            self.counter.set_role("bad" if length > allowed else "text3")

    def show_price(self, view: FormView, left: str) -> None:
        """`left` says what the price leaves of the balance, "" where nobody knows."""
        count, each, price = view.form.count, view.price_each, view.price
        self.price.set_text(money.money(price) if price is not None else tr("unknown") if view.has_model else "–")
        words = (
            f"{count} × {money.money(each)}" if each is not None else tr("The service gives no price for this model")
        )
        words = ", ".join(filter(None, (words, left))) if view.has_model else view.why_not
        self.sum.set_text(view.refusals[0][1] if view.refusals else words)
        self.sum.set_role("bad" if view.refusals else "text2")
        words = tr_n("Generate an image", "Generate {n} images", count)
        self.make.setText(money.priced(words, price) if price is not None else words)
        self._show_button()

    def _show_button(self) -> None:
        view = self._view
        if view is None:
            return
        why_not = view.why_not or (view.refusals[0][1] if view.refusals else "")
        if not why_not and not self.more.seed_is_good:
            why_not = tr("The seed must be a whole number within the service’s range.")
        self.make.setToolTip(plain_tip(why_not))
        self.make.setEnabled(not why_not)

    def show_calls(self, calls: int) -> None:
        self.stop.setVisible(calls > 0)
        self.stop.setText(tr("Stop waiting") if calls < 2 else tr("Stop waiting for {calls} requests", calls=calls))

    # -- what the person types ------------------------------------------------------------------------------------

    def _typed(self) -> None:
        self._show_count()
        self._timer.start()

    def flush(self) -> None:
        """Tell what was typed as it stands."""
        self._timer.stop()
        if self._view is None:
            return
        for name, text in (("prompt", self.prompt.toPlainText()), ("negative_prompt", self.negative.text())):
            if getattr(self._view.form, name) != text:
                self.edited.emit(name, text)
        self.more.flush()
