"""The images whose style is taken: each with how strongly, and what takes it off the list."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.images.form import DEFAULT_STRENGTH, MIN_STRENGTH, Reference
from app.ui.kit.discard import discard
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import IconButton, QuietButton
from app.ui.kit.widgets.fields import NumberField
from app.ui.kit.widgets.label import Label


class ReferenceRow(QWidget):
    strength_edited = Signal(float)
    removed = Signal()

    def __init__(self, theme: Theme, place: int) -> None:
        super().__init__()
        name = tr("Style {place}", place=place + 1)
        self.title = Label(theme, "", "small", elide=True)
        self.strength = NumberField(
            theme,
            tr("{name}: strength", name=name),
            low=MIN_STRENGTH,
            high=1,
            step=0.05,
            decimals=2,
            value=DEFAULT_STRENGTH,
        )
        self.remove = IconButton(theme, "close", tr("{name}: remove from the list", name=name), size="small")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(8))
        row.addWidget(self.title, 1)
        row.addWidget(self.strength)
        row.addWidget(self.remove)
        self.strength.value_edited.connect(self.strength_edited)
        self.remove.clicked.connect(self.removed)

    def show_reference(self, reference: Reference, *, has_strength: bool) -> None:
        self.title.set_text(reference.title)
        self.strength.set_value(reference.strength)
        self.strength.setVisible(has_strength)


class StyleReferences(QWidget):
    """`edited` carries (id, strength) pairs; `wanted` that the chosen images are to be added."""

    edited = Signal(object)
    wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._references: tuple[Reference, ...] = ()
        self.rows: list[ReferenceRow] = []
        self.add = QuietButton(theme, tr("Add selected image"), "layers", size="small")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.px(4))
        line = QHBoxLayout()
        line.addWidget(self.add)
        line.addStretch(1)
        self._column.addLayout(line)
        self.setFocusProxy(self.add)
        self.add.clicked.connect(self.wanted)

    def show_references(self, references: Sequence[Reference], *, has_strength: bool) -> None:
        self._references = tuple(references)
        while len(self.rows) > len(references):
            discard(self.rows.pop())
        while len(self.rows) < len(references):
            place = len(self.rows)
            row = ReferenceRow(self._theme, place)
            row.strength_edited.connect(lambda value, place=place: self._set(place, value))
            row.removed.connect(lambda place=place: self._remove(place))
            self._column.insertWidget(place, row)
            self.rows.append(row)
        for row, reference in zip(self.rows, references, strict=True):
            row.show_reference(reference, has_strength=has_strength)

    def _set(self, place: int, strength: float) -> None:
        self._publish([(one.id, strength if at == place else one.strength) for at, one in enumerate(self._references)])

    def _remove(self, place: int) -> None:
        self.add.setFocus()
        self._publish([(one.id, one.strength) for at, one in enumerate(self._references) if at != place])

    def _publish(self, pairs: list[tuple[str, float]]) -> None:
        self.edited.emit(tuple(pairs))
