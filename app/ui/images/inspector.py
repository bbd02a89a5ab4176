"""The right pane: the chosen image with its facts and what can be made of it, and the request as it was sent."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app.service.http.sanitize import sanitize_line
from app.translation import tr
from app.ui.images.image_processing import read_thumbnail, tile
from app.ui.images.state import Details
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.call_pane import CallPane
from app.ui.kit.theme import Theme
from app.ui.kit.thumbnails import Thumbnails
from app.ui.kit.widgets.buttons import Button, IconButton, PrimaryButton
from app.ui.kit.widgets.empty_state import EmptyState
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.frames import solid_frame
from app.ui.kit.widgets.header import PaneTabs
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.surfaces import zone

IMAGE, REQUEST = range(2)
MOST_TEXT = 400  # characters of one text in the request; images travel as long ones
MONO = frozenset({tr("Seed"), tr("Request ID")})
POLICY = tr("Policy")
FACTS = (
    tr("Model"),
    tr("Size"),
    tr("Seed"),
    tr("Style"),
    tr("Negative prompt"),
    tr("Cost"),
    tr("Time"),
    POLICY,
    tr("File"),
    tr("Created"),
    tr("Request ID"),
)


class Preview(QWidget):
    """The whole image, never cut, as large as the pane allows."""

    activated = Signal()

    def __init__(self, theme: Theme, cache: Path) -> None:
        super().__init__()
        self._theme = theme
        self._cache = cache
        self._path: Path | None = None
        self._shape = (16, 9)
        self._thumbnails = Thumbnails(self)
        self._thumbnails.loaded.connect(lambda _key: self.update())
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(tr("Selected image"))

    def show_image(self, path: Path | None, description: str) -> None:
        self._path = path
        self.setAccessibleDescription(sanitize_line(description))
        self.setVisible(path is not None)
        self.update()

    def set_shape(self, width: int, height: int) -> None:
        self._shape = (max(1, width), max(1, height))
        self.updateGeometry()

    def heightForWidth(self, width: int) -> int:
        wide, high = self._shape
        return min(round(width * high / wide), round(width * 1.3))

    def sizeHint(self) -> QSize:
        return QSize(self._theme.type_px(240), self.heightForWidth(self._theme.type_px(240)))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._path is None:
            return
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        ratio = self.devicePixelRatioF()
        load = partial(read_thumbnail, self._path, self._cache)
        image: QImage | None = self._thumbnails.get(
            self._path.stem, round(self.width() * ratio), round(self.height() * ratio), load, _rounded
        )
        if image is None or image.isNull():
            solid_frame(painter, self._theme, self.rect().toRectF(), self._theme.px(8), "sunken", "")
            return
        size = image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        painter.drawImage(self.rect().adjusted(0, 0, size.width() - self.width(), size.height() - self.height()), image)


def _rounded(image: QImage) -> QImage:
    """Runs in a thread."""
    return tile(image, image.size(), 8.0)


class ImagePage(ScrollPane):
    """Everything about one image."""

    save_requested = Signal()
    copy_requested = Signal()
    rerun_requested = Signal()
    video_requested = Signal()
    star_requested = Signal()
    more_requested = Signal(QWidget)
    back_requested = Signal()

    def __init__(self, theme: Theme, cache: Path) -> None:
        super().__init__(tr("Image"))
        self._theme = theme
        self._column = self.fill(theme, "pane", (16, 16, 16, 16), 12)
        self.preview = Preview(theme, cache)
        self.save = PrimaryButton(theme, tr("Save as…"), "download")
        self.copy = Button(theme, tr("Copy"), "copy")
        self.rerun = IconButton(theme, "refresh", tr("Reuse settings"), shortcut="Ctrl+R", framed=True)
        self.video = IconButton(theme, "video", tr("Use as first frame of a video"), framed=True)
        self.star = IconButton(
            theme, "star", tr("Star"), shortcut="Ctrl+D", framed=True, checkable=True, on_role="warn"
        )
        self.more = IconButton(theme, "more", tr("More actions"), framed=True)
        self.back = Button(theme, tr("Restore"), "undo")
        self.title = Label(theme, "", "heading", wrap=True)
        self.note = Label(theme, "", "body", "text2", wrap=True)
        self.policy = QWidget()
        self._policy_icon = IconLabel(theme, "check", "ok", px=16)
        self._policy_words = Label(theme, "")
        self.prompt = Label(theme, "", "small", "text2", wrap=True)
        self.enhanced = Label(theme, "", "small", "text2", wrap=True)
        self._grid = QGridLayout()
        self._policy_name = Label(theme, POLICY, role="text2")
        self._build()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _build(self) -> None:
        policy = QHBoxLayout(self.policy)
        policy.setContentsMargins(0, 0, 0, 0)
        policy.addWidget(self._policy_icon)
        policy.addWidget(self._policy_words, 1)
        for label in (self.prompt, self.enhanced, self.note):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._buttons = QWidget()
        flow = FlowLayout(self._theme, parent=self._buttons)
        for widget in (self.save, self.copy, self.rerun, self.video, self.back):
            flow.addWidget(widget)
        named = QHBoxLayout()
        named.addWidget(self.title, 1)
        named.addWidget(self.star)
        named.addWidget(self.more)
        self._column.addWidget(self.preview)
        self._column.addWidget(self._buttons)
        self._column.addLayout(named)
        self._column.addWidget(self.note)
        self._column.addLayout(self._grid)
        self._grid.setColumnStretch(1, 1)
        self._grid.addWidget(self._policy_name, FACTS.index(POLICY), 0)
        self._grid.addWidget(self.policy, FACTS.index(POLICY), 1)
        self._rows = {name: self._fact(row, name) for row, name in enumerate(FACTS) if name != POLICY}
        for below in (self.prompt, self.enhanced):
            self._column.addWidget(below)
        self._column.addStretch(1)
        self.save.clicked.connect(self.save_requested)
        self.copy.clicked.connect(self.copy_requested)
        self.rerun.clicked.connect(self.rerun_requested)
        self.video.clicked.connect(self.video_requested)
        self.star.clicked.connect(self.star_requested)
        self.more.clicked.connect(lambda: self.more_requested.emit(self.more))
        self.back.clicked.connect(self.back_requested)

    def _fact(self, row: int, name: str) -> tuple[Label, Label]:
        title = Label(self._theme, name, role="text2")
        words = Label(self._theme, "", "code" if name in MONO else "body", mono=name in MONO, tabular=True, wrap=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._grid.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(words, row, 1)
        return title, words

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._grid.setHorizontalSpacing(px(12))
        self._grid.setVerticalSpacing(px(8))
        self._grid.setColumnMinimumWidth(0, self._theme.type_px(76))

    def show_details(self, details: Details) -> None:
        self.preview.show_image(details.path, details.title)
        if details.width:
            self.preview.set_shape(details.width, details.height)
        has_file, is_free = details.path is not None, not details.trashed
        for button in (self.save, self.copy):
            button.setVisible(has_file and is_free)
        self.video.setVisible(has_file and is_free)
        self.more.setVisible(is_free)
        self.star.setVisible(is_free)
        self.rerun.setVisible(details.can_rerun and is_free)
        self.back.setVisible(details.trashed)
        self.star.setChecked(details.starred)
        self.star.set_icon("star-filled" if details.starred else "star", "warn" if details.starred else "text")
        self.title.set_text(details.title)
        self.note.set_text(details.note)
        self.note.set_role("text2" if details.state in ("saved", "sending") else "bad")
        self.note.setVisible(bool(details.note))
        self.prompt.set_text(details.prompt)
        self.prompt.setVisible(bool(details.prompt))
        self.enhanced.set_text(
            tr("Improved by the service: {enhanced_prompt}", enhanced_prompt=details.enhanced_prompt)
        )
        self.enhanced.setVisible(bool(details.enhanced_prompt))
        self._show_facts(details)

    def _show_facts(self, details: Details) -> None:
        for name, value in details.facts:
            self._rows[name][1].set_text(value)
            self._rows[name][1].setAccessibleName(f"{name}: {value}")
        told = {name for name, _ in details.facts}
        for name, (title, words) in self._rows.items():
            title.setVisible(name in told)
            words.setVisible(name in told)
        self._policy_name.setVisible(bool(details.policy))
        self.policy.setVisible(bool(details.policy))
        self._policy_icon.set_icon("check" if details.policy_ok else "eye-off", "ok" if details.policy_ok else "warn")
        self._policy_words.set_text(details.policy)


class ImagesInspector(QWidget):
    def __init__(self, theme: Theme, cache: Path, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._cache = cache
        zone(self, "pane")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the pages, one at each step."""
        theme = self._theme
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.tabs = PaneTabs(theme, tr("Inspector"), (tr("Image"), tr("Request")))
        column.addWidget(self.tabs)
        self.pages = QStackedWidget()
        column.addWidget(self.pages, 1)
        self._first = QStackedWidget()
        self.pages.addWidget(self._first)
        self.nothing = EmptyState(
            theme, tr("No image selected"), tr("Details and actions appear here."), icon_name="images"
        )
        self._first.addWidget(self.nothing)
        yield
        self.image = ImagePage(theme, self._cache)
        self._first.addWidget(self.image)
        yield
        self.request = CallPane(theme)
        self.pages.addWidget(self.request)
        self.tabs.bar.currentChanged.connect(self.pages.setCurrentIndex)

    def show_page(self, page: int) -> None:
        """Bring IMAGE or REQUEST to the front."""
        self.tabs.bar.setCurrentIndex(page)

    def show_details(self, details: Details | None) -> None:
        self._first.setCurrentIndex(0 if details is None else 1)
        if details is not None:
            self.image.show_details(details)
