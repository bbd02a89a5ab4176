"""Fields of a form for several files: a list that grows, an image with a moment, a thing seen from several sides."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.service.http.sanitize import sanitize_line
from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.file_dialogs import ask_for_files
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.fields import NumberField
from app.ui.kit.widgets.file_drop import FileDrop
from app.ui.kit.widgets.label import Label
from app.ui.video.form_parts import MediaSlot
from app.ui.video.reference_media import MAX_VIEWS, Element, Keyframe

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

LONGEST_S = 60.0  # of a video; a keyframe stands before it
STEP_S = 0.5


class FileList(QWidget):
    """Files of one kind, chosen or dropped. `changed` carries all of their paths."""

    changed = Signal(object)  # tuple[str, ...]

    def __init__(self, theme: Theme, title: str, suffixes: str) -> None:
        super().__init__()
        self._theme = theme
        self._title = title
        self._suffixes = suffixes
        self._paths: tuple[str, ...] = ()
        self._most = 0
        self.rows: list[FileRow] = []
        FileDrop(theme, self).dropped.connect(lambda paths: self.take([str(path) for path in paths]))
        self.label = Label(theme, title, "small", "text2", weight=500)
        self.count = Label(theme, "", "small", "text3", tabular=True)
        self.add = Button(theme, tr("Add…"), "plus", size="small")
        self.add.setAccessibleName(tr("{title}: add files", title=title))
        head = QHBoxLayout()
        head.addWidget(self.label, 1)
        head.addWidget(self.count)
        head.addWidget(self.add)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.px(4))
        self._column.addLayout(head)
        self.add.clicked.connect(self.choose)

    def show_files(self, paths: Sequence[str], most: int) -> None:
        """Show these, of which there may be `most`."""
        self._most = most
        self.count.set_text(tr("{count} of {most}", count=len(paths), most=most))
        self.count.set_role("bad" if len(paths) > most else "text3")
        self.add.setEnabled(len(paths) < most)
        if tuple(paths) == self._paths:
            return
        self._paths = tuple(paths)
        discard(*self.rows)
        self.rows.clear()
        for place, path in enumerate(self._paths):
            row = FileRow(self._theme, path, f"{self._title} {place + 1}")
            row.removed.connect(lambda place=place: self._remove(place))
            self._column.addWidget(row)
            self.rows.append(row)

    def take(self, paths: Sequence[str]) -> None:
        """Add files, as many as there is room for."""
        room = max(0, self._most - len(self._paths))
        if room:
            self.changed.emit((*self._paths, *paths[:room]))

    def _remove(self, place: int) -> None:
        self.add.setFocus()
        self.changed.emit(self._paths[:place] + self._paths[place + 1 :])

    def choose(self) -> None:
        """Ask for files."""
        kinds = tr("{title} ({suffixes});;All files (*)", title=self._title, suffixes=self._suffixes)
        ask_for_files(self, self._title, lambda paths: self.take([str(path) for path in paths]), kinds)


class FileRow(QWidget):
    """The name of one file, and what takes it away again."""

    removed = Signal()

    def __init__(self, theme: Theme, path: str, spoken: str) -> None:
        super().__init__()
        self.name = Label(theme, Path(path).name, elide=True)
        self.name.setAccessibleName(sanitize_line(f"{spoken}: {Path(path).name}"))
        self.remove = IconButton(theme, "close", tr("{name}: remove", name=spoken), size="small")
        self.remove.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.name, 1)
        row.addWidget(self.remove)


class KeyframeRow(QWidget):
    """An image and the second at which the video shows it."""

    edited = Signal(str, object)  # the field of `Keyframe` and its value
    removed = Signal()

    def __init__(self, theme: Theme, place: int, suffixes: str) -> None:
        super().__init__()
        name = tr("Keyframe {place}", place=place + 1)
        self.slot = MediaSlot(theme, name, suffixes)
        self.at = NumberField(
            theme, tr("{name}: time in seconds", name=name), low=0, high=LONGEST_S, step=STEP_S, decimals=1
        )
        self.at.setSuffix(" s")
        self.drop = IconButton(theme, "trash", tr("Remove {name}", name=name.lower()), size="small")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(8))
        row.addWidget(self.slot, 1)
        row.addWidget(self.at, 0, Qt.AlignmentFlag.AlignBottom)
        row.addWidget(self.drop, 0, Qt.AlignmentFlag.AlignBottom)
        self.slot.chosen.connect(lambda path: self.edited.emit("picture", path))
        self.at.value_edited.connect(lambda value: self.edited.emit("at_s", value))
        self.drop.clicked.connect(self.removed)

    def show_keyframe(self, keyframe: Keyframe) -> None:
        self.slot.show_file(keyframe.picture)
        self.at.set_value(keyframe.at_s)


class ElementCard(Card):
    """A person or a thing: its front, more views of it, a video."""

    edited = Signal(str, object)  # the field of `Element` and its value
    removed = Signal()

    def __init__(self, theme: Theme, place: int, pictures: str, films: str) -> None:
        super().__init__(theme, padding=(12, 10), spacing=8)
        name = f"@Element{place + 1}"
        self.front = MediaSlot(theme, tr("{name}, front", name=name), pictures)
        self.views = FileList(theme, tr("{name}, more views", name=name), pictures)
        self.film = MediaSlot(theme, tr("{name}, video", name=name), films)
        self.drop = IconButton(theme, "trash", tr("Remove {name}", name=name), size="small")
        head = QHBoxLayout()
        head.addWidget(Label(theme, tr("{name} in the prompt", name=name), weight=500), 1)
        head.addWidget(self.drop)
        self.body.addLayout(head)
        for widget in (self.front, self.views, self.film):
            self.body.addWidget(widget)
        self.front.chosen.connect(lambda path: self.edited.emit("front", path))
        self.views.changed.connect(lambda paths: self.edited.emit("views", paths))
        self.film.chosen.connect(lambda path: self.edited.emit("film", path))
        self.drop.clicked.connect(self.removed)

    def show_element(self, element: Element) -> None:
        self.front.show_file(element.front)
        self.views.show_files(element.views, MAX_VIEWS)
        self.film.show_file(element.film)
