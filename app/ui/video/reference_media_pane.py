"""Reference media of a video, collapsed until it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.widgets.buttons import Button, QuietButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.video.form_parts import ValueChoice
from app.ui.video.reference_media import TITLES, Element, Keyframe, Limits, ReferenceMedia, with_element, with_keyframe
from app.ui.video.reference_media_parts import ElementCard, FileList, KeyframeRow

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

NOT_TOLD = tr(
    "The model list does not say which models support these. A model that does not will refuse them at no charge."
)
NOTES = {
    "scenes": tr("Use @Image1, @Image2, … in the prompt."),
    "keyframes": tr("Images the video shows at a set time."),
}


class ReferenceMediaPane(QWidget):
    """`edited` carries the new `ReferenceMedia`."""

    edited = Signal(object)
    task_chosen = Signal(str)

    def __init__(self, theme: Theme, pictures: str, films: str, sounds: str, documents: str) -> None:
        """`pictures`, `films`, …: patterns of file names."""
        super().__init__()
        self._theme = theme
        self._pictures, self._films = pictures, films
        self._along = ReferenceMedia()
        self._limits = Limits()
        self.head = QuietButton(theme, tr("More references"), "chevron-right", size="small")
        self.inside = QWidget()
        self.lists = {
            "references": FileList(theme, TITLES["references"], pictures),
            "films": FileList(theme, TITLES["films"], films),
            "sounds": FileList(theme, TITLES["sounds"], sounds),
            "documents": FileList(theme, TITLES["documents"], documents),
            "scenes": FileList(theme, TITLES["scenes"], pictures),
        }
        self.task_label = Label(theme, tr("Reference type"), "small", "text2", weight=500)
        self.task = ValueChoice(theme, tr("Reference type"))
        self.add_element = Button(theme, tr("Add an element"), "plus", size="small")
        self.add_keyframe = Button(theme, tr("Add a keyframe"), "plus", size="small")
        self.elements: list[ElementCard] = []
        self.keyframes: list[KeyframeRow] = []
        self._problems = {name: ProblemLabel(theme) for name in TITLES}
        self._notes = {name: Label(theme, words, "small", "text3", wrap=True) for name, words in NOTES.items()}
        self._not_told = Label(theme, NOT_TOLD, "small", "text3", wrap=True)
        self._build()
        for name, files in self.lists.items():
            files.changed.connect(lambda paths, name=name: self._publish(replace(self._along, **{name: paths})))
        self.add_element.clicked.connect(
            lambda: self._publish(replace(self._along, elements=(*self._along.elements, Element())))
        )
        self.add_keyframe.clicked.connect(self._another_keyframe)
        self.task.chosen.connect(self.task_chosen)
        self.head.clicked.connect(lambda: self.unfold(not self.inside.isVisibleTo(self)))
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        line = QHBoxLayout()
        line.addWidget(self.head)
        line.addStretch(1)
        self._column = QVBoxLayout(self.inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._element_column, self._keyframe_column = QVBoxLayout(), QVBoxLayout()
        for name in TITLES:
            if name in self.lists:
                self._column.addWidget(self.lists[name])
            else:
                growing = self._element_column if name == "elements" else self._keyframe_column
                self._column.addLayout(growing)
                adds = self.add_element if name == "elements" else self.add_keyframe
                self._column.addWidget(adds, 0, Qt.AlignmentFlag.AlignLeading)
            if name in self._notes:
                self._column.addWidget(self._notes[name])
            self._column.addWidget(self._problems[name])
            if name == "documents":
                self._column.addWidget(self.task_label)
                self._column.addWidget(self.task)
        self._column.addWidget(self._not_told)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addLayout(line)
        whole.addWidget(self.inside)
        self.inside.hide()

    def _apply_theme(self) -> None:
        for column in (self._column, self._element_column, self._keyframe_column):
            column.setSpacing(self._theme.px(8))

    def unfold(self, on: bool) -> None:
        self.inside.setVisible(on)
        self.head.set_icon("chevron-down" if on else "chevron-right")
        self.head.setAccessibleDescription(tr("Open") if on else tr("Collapsed"))

    # Showing

    def show_reference_media(self, along: ReferenceMedia, limits: Limits, refusals: dict[str, str]) -> None:
        """Show what is chosen, and of what the model takes how many."""
        is_new = along.count > self._along.count
        self._along, self._limits = along, limits
        for name, files in self.lists.items():
            files.setVisible(limits.of(name) > 0)
            files.show_files(getattr(along, name), limits.of(name))
        for name, problem in self._problems.items():
            problem.set_text(refusals.get(name, ""))
            problem.setVisible(bool(refusals.get(name)))
        for name, label in self._notes.items():
            label.setVisible(limits.of(name) > 0)
        self._not_told.setVisible(not limits.told)
        self._show_elements()
        self._show_keyframes()
        count = along.count
        self.head.setText(tr("More references ·  {count}", count=count) if count else tr("More references"))
        if is_new and not self.inside.isVisibleTo(self):
            self.unfold(True)

    def show_task(self, tasks: Sequence[tuple[str, str]], current: str) -> None:
        """Offer (value, words) pairs of what the references are for; none where the model does not ask."""
        self.task.show_values(tasks, current)
        for widget in (self.task_label, self.task):
            widget.setVisible(bool(tasks))

    def _show_elements(self) -> None:
        elements = self._along.elements if self._limits.of("elements") else ()
        while len(self.elements) > len(elements):
            discard(self.elements.pop())
        while len(self.elements) < len(elements):
            place = len(self.elements)
            card = ElementCard(self._theme, place, self._pictures, self._films)
            card.edited.connect(
                lambda name, value, place=place: self._publish(with_element(self._along, place, **{name: value}))
            )
            card.removed.connect(lambda place=place: self._remove("elements", place, self.add_element))
            self._element_column.addWidget(card)
            self.elements.append(card)
        for card, element in zip(self.elements, elements, strict=True):
            card.show_element(element)
        self.add_element.setVisible(self._limits.of("elements") > 0)
        self.add_element.setEnabled(len(elements) < self._limits.of("elements"))

    def _show_keyframes(self) -> None:
        keyframes = self._along.keyframes if self._limits.of("keyframes") else ()
        while len(self.keyframes) > len(keyframes):
            discard(self.keyframes.pop())
        while len(self.keyframes) < len(keyframes):
            place = len(self.keyframes)
            row = KeyframeRow(self._theme, place, self._pictures)
            row.edited.connect(
                lambda name, value, place=place: self._publish(with_keyframe(self._along, place, **{name: value}))
            )
            row.removed.connect(lambda place=place: self._remove("keyframes", place, self.add_keyframe))
            self._keyframe_column.addWidget(row)
            self.keyframes.append(row)
        for row, keyframe in zip(self.keyframes, keyframes, strict=True):
            row.show_keyframe(keyframe)
        self.add_keyframe.setVisible(self._limits.of("keyframes") > 0)
        self.add_keyframe.setEnabled(len(keyframes) < self._limits.of("keyframes"))

    # Hands

    def _another_keyframe(self) -> None:
        """One second after the last, so that no two stand at the same moment."""
        last = max((one.at_s for one in self._along.keyframes), default=-1.0)
        self._publish(replace(self._along, keyframes=(*self._along.keyframes, Keyframe(at_s=last + 1.0))))

    def _remove(self, name: str, place: int, then: QWidget) -> None:
        then.setFocus()
        rows = getattr(self._along, name)
        self._publish(replace(self._along, **{name: rows[:place] + rows[place + 1 :]}))

    def _publish(self, along: ReferenceMedia) -> None:
        self.edited.emit(along)
