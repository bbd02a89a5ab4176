"""The command palette: everything by name, over the whole window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QListView, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit import icons
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule
from app.ui.shell.modal_layer import ModalLayer
from app.ui.shell.palette_list import ROW_ROLE, PaletteDelegate, PaletteModel
from app.ui.shell.palette_rows import PREFIX_WORDS, PREFIXES, Candidate, Row, listing, split_prefix

_WIDTH = 640
_TOP = 104
_PAGE = 7  # rows

CandidateSource = Callable[[str], Sequence[Candidate]]  # gets the typed text without its prefix


class CommandPalette(ModalLayer):
    """Lies over the window while it is open. `ran` follows every choice with the key to remember."""

    ran = Signal(str)

    def __init__(self, theme: Theme, window: QWidget, source: CandidateSource) -> None:
        super().__init__(theme, window, tr("Commands"))
        self._source = source
        self._recent: tuple[str, ...] = ()
        self._kinds: frozenset[str] = frozenset()
        self.field = QLineEdit()
        self.field.setProperty("bare", True)
        self.field.ring_widget = None  # type: ignore[attr-defined]  # the whole panel is the field; a ring would cut it
        self.field.setPlaceholderText(tr("Search commands, chats, models and settings"))
        self.field.setAccessibleName(tr("Find a command"))
        self.field.textChanged.connect(self._refresh)
        self.field.installEventFilter(self)
        self._model = PaletteModel()
        self._delegate = PaletteDelegate(theme)
        self.list_view = QListView()
        self.list_view.setModel(self._model)
        self.list_view.setItemDelegate(self._delegate)
        self.list_view.setFrameShape(QFrame.Shape.NoFrame)
        self.list_view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list_view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list_view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field keeps the focus and moves the choice
        self.list_view.setMouseTracking(True)
        self.list_view.setAccessibleName(tr("Results"))
        self.list_view.entered.connect(self._hover)
        self.list_view.clicked.connect(self._run)
        self._nothing = Label(theme, "", "body", "text2", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        FilterKeys(
            self.list_view,
            self.field,
            walk=self._walk,
            take=lambda _event: self._run(self.list_view.currentIndex()),
            nothing=self._nothing.text,
        )
        self._count = Label(theme, "", "small", "text2", tabular=True)
        self._hints: list[tuple[str, QWidget]] = []
        self._build()
        self.restyle()

    def _build(self) -> None:
        theme = self.theme
        self._head_frame = QWidget()
        self._head = QHBoxLayout(self._head_frame)
        self._glass = QLabel()
        self._head.addWidget(self._glass)
        self._head.addWidget(self.field, 1)
        self._head.addWidget(KeyHint(theme, "Esc"))
        self._foot_frame = _Foot(theme)
        self._foot = QHBoxLayout(self._foot_frame)
        for prefix, words in PREFIX_WORDS.items():
            hint = QWidget()
            row = QHBoxLayout(hint)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(4)
            row.addWidget(KeyHint(theme, prefix))
            row.addWidget(Label(theme, words, "small", "text2"))
            self._hints.append((prefix, hint))
            self._foot.addWidget(hint)
        self._foot.addStretch(1)
        self._foot.addWidget(self._count)
        layout = QVBoxLayout(self.panel)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addWidget(self._head_frame)
        layout.addWidget(rule())
        layout.addWidget(self.list_view)
        layout.addWidget(self._nothing)
        layout.addWidget(self._foot_frame)

    def open(self, *, recent: Sequence[str] = (), text: str = "") -> None:
        """Show with `recent` keys on top; the focus returns to where it was on closing."""
        self._recent = tuple(recent)
        self.field.blockSignals(True)
        self.field.setText(text)
        self.field.blockSignals(False)
        self.cover_window()
        self._refresh()
        self.open_layer()

    def first_focus(self) -> QWidget:
        return self.field

    # What is listed

    def _refresh(self) -> None:
        text = self.field.text()
        candidates = self._source(split_prefix(text)[1])
        found = listing(candidates, text, self._recent)
        if not text:
            self._kinds = frozenset({"action"} | {candidate.kind for candidate in candidates})
        for prefix, hint in self._hints:
            hint.setVisible(PREFIXES[prefix] in self._kinds)
        self._model.set_listing(found)
        self._count.setText(
            tr("{shown} of {fitting}", shown=found.shown, fitting=found.fitting) if found.fitting else ""
        )
        self._nothing.setText(
            "" if found.shown else tr("No results for “{split_prefix}”.", split_prefix=split_prefix(text)[1])
        )
        self._nothing.setVisible(not found.shown)
        self.list_view.setVisible(bool(found.shown))
        self._choose(self._next_from(-1, 1))
        self.arrange()

    def _row(self, index: QModelIndex) -> Row:
        row: Row = index.data(ROW_ROLE)
        return row

    def _next_from(self, at: int, step: int) -> int:
        """The nearest candidate after `at` in direction `step`, going round; -1 when there is none."""
        count = self._model.rowCount()
        for distance in range(1, count + 1):
            index = (at + step * distance) % count
            if self._row(self._model.index(index)).candidate is not None:
                return index
        return -1

    def _choose(self, at: int) -> None:
        if at < 0:
            return
        index = self._model.index(at)
        self.list_view.setCurrentIndex(index)
        first = self._next_from(-1, 1)
        self.list_view.scrollTo(self._model.index(0) if at == first else index)

    def _hover(self, index: QModelIndex) -> None:
        if self._row(index).candidate is not None:
            self.list_view.setCurrentIndex(index)

    def _run(self, index: QModelIndex) -> None:
        candidate = self._row(index).candidate if index.isValid() else None
        if candidate is None:
            return
        self.close_layer()
        self.ran.emit(candidate.key)
        candidate.run()

    # Keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        match event.key():
            case Qt.Key.Key_Escape:
                self.close_layer()
            case Qt.Key.Key_Tab | Qt.Key.Key_Backtab:
                self._walk(event)
            case _:
                return False
        return True

    def _walk(self, event: QKeyEvent) -> None:
        now = self.list_view.currentIndex().row()
        last = self._model.rowCount() - 1
        match event.key():
            case Qt.Key.Key_Down | Qt.Key.Key_Tab:
                self._choose(self._next_from(now, 1))
            case Qt.Key.Key_Up | Qt.Key.Key_Backtab:
                self._choose(self._next_from(now, -1))
            case Qt.Key.Key_PageDown:
                self._choose(self._next_from(min(now + _PAGE, last) - 1, 1))
            case Qt.Key.Key_PageUp:
                self._choose(self._next_from(max(now - _PAGE, 0) + 1, -1))

    # Look

    def restyle(self) -> None:
        theme = self.theme
        self._head.setContentsMargins(theme.px(18), 0, theme.px(18), 0)
        self._head.setSpacing(theme.px(12))
        size = theme.icon_px(18)
        self._glass.setPixmap(icons.pixmap(theme, "search", size, "text2", self.devicePixelRatioF()))
        font = theme.font("heading", 400)
        font.setLetterSpacing(font.letterSpacingType(), 0)
        self.field.setFont(font)
        self._head_frame.setFixedHeight(theme.height_px(54))
        self._foot.setContentsMargins(theme.px(18), 0, theme.px(18), 0)
        self._foot.setSpacing(theme.px(12))
        self._foot_frame.setFixedHeight(theme.height_px(36))
        self._nothing.setContentsMargins(theme.px(18), theme.px(24), theme.px(18), theme.px(24))

    def panel_rect(self) -> QRect:
        theme = self.theme
        top = min(theme.px(_TOP), self.height() // 8)
        width = min(theme.type_px(_WIDTH), self.width() - 2 * theme.px(16))
        around = self._head_frame.height() + self._foot_frame.height() + 3
        if self.list_view.isHidden():
            return QRect((self.width() - width) // 2, top, width, around + self._nothing.heightForWidth(width))
        wanted = sum(self.list_view.sizeHintForRow(row) for row in range(self._model.rowCount())) + theme.px(8)
        most = self.height() - top - theme.px(32) - around
        list_height = max(theme.height_px(38), min(wanted, most))
        self.list_view.setFixedHeight(list_height)
        return QRect((self.width() - width) // 2, top, width, around + list_height)


class _Foot(QWidget):
    """The quiet strip at the foot: pane-coloured, with the panel's round corners."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("pane"))
        painter.drawRoundedRect(self.rect(), 11, 11)
        painter.drawRect(0, 0, self.width(), self.height() - 12)
        painter.fillRect(0, 0, self.width(), 1, self._theme.color("line"))
