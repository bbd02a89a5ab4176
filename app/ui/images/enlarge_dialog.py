"""Asks how an image is enlarged: how many times, how freely details are invented, and for how much."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core import money, number_format
from app.service.images import MAX_CREATIVITY
from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField

SCALES = ((2, "2×"), (4, "4×"))
DEFAULT_CREATIVITY = 0.01
CREATIVITY_HELP = tr(
    "How much detail the service may invent while upscaling. At 0 it adds none. The service default is 0.01."
)


class EnlargeDialog(Dialog):
    """`result_of` tells width and height for a scale, and whether the service makes it smaller than asked for."""

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        price_of: Callable[[int], Decimal | None],
        result_of: Callable[[int], tuple[int, int, bool]],
    ) -> None:
        super().__init__(theme, parent, tr("Upscale image"))
        self._price_of = price_of
        self._result_of = result_of
        self.scale = SegmentedChoice(
            theme, tr("Scale factor"), tuple((str(scale), words) for scale, words in SCALES), current="2"
        )
        self.outcome = Label(theme, "", "small", "text2", wrap=True, tabular=True)
        self.creativity = SliderField(
            theme, tr("Creativity"), low=0, high=MAX_CREATIVITY, step=0.001, decimals=3, default=DEFAULT_CREATIVITY
        )
        row = QHBoxLayout()
        row.addWidget(Label(theme, tr("Scale factor")), 1)
        row.addWidget(self.scale)
        self.body.addLayout(row)
        self.body.addWidget(self.outcome)
        beside = QHBoxLayout()
        label = Label(theme, tr("Creativity"))
        label.setBuddy(self.creativity)
        beside.addWidget(label)
        beside.addWidget(self.creativity, 1)
        self.body.addLayout(beside)
        self.body.addWidget(Label(theme, CREATIVITY_HELP, "small", "text3", wrap=True))
        self.add_button(tr("Cancel"), accepts=False)
        self.send = self.add_button(tr("Upscale"), kind="primary", accepts=True)
        self.scale.changed.connect(lambda _: self._look())
        self.creativity.set_value(DEFAULT_CREATIVITY)
        self._look()
        self.scale.setFocus()

    @property
    def chosen_scale(self) -> int:
        return int(self.scale.current)

    def _look(self) -> None:
        """What comes of it, and for how much."""
        width, height, is_less = self._result_of(self.chosen_scale)
        words = [
            tr(
                "The result is {width} × {height}.",
                width=number_format.count(width),
                height=number_format.count(height),
            )
        ]
        if is_less:
            words.append(tr("This is the service’s maximum, so it uses a smaller factor at the same price."))
        self.outcome.set_text(" ".join(words))
        price = self._price_of(self.chosen_scale)
        self.send.setText(money.priced(tr("Upscale"), price))
