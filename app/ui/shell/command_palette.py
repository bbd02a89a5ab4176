"""The command palette: everything by name, over the whole window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEasingCurve, QEvent, QModelIndex, QObject, QPoint, QPropertyAnimation, QRect, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QListView, QVBoxLayout, QWidget

from app.ui.shared import icons
from app.ui.shared.kbd import KeyHint
from app.ui.shared.label import Label
from app.ui.shared.surfaces import rule
from app.ui.shared.theme import Theme
from app.ui.shell.palette_list import ROW_ROLE, PaletteDelegate, PaletteModel, spoken
from app.ui.shell.palette_rows import PREFIX_WORDS, PREFIXES, Candidate, Row, listing

_WIDTH = 640
_TOP = 104
_RISE = 4
_RISE_MS = 120

CandidateSource = Callable[[str], Sequence[Candidate]]  # the typed text without its prefix


class CommandPalette(QWidget):
    """Lies over the window while it is open. `ran` follows every choice with the key to remember."""

    ran = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, window: QWidget, source: CandidateSource) -> None:
        super().__init__(window)
        self._theme = theme
        self._source = source
        self._recent: tuple[str, ...] = ()
        self._kinds: frozenset[str] = frozenset()
        self._return_to: QWidget | None = None
        self.setAccessibleName("Commands")
        self._panel = _Panel(theme, self)
        self.field = QLineEdit(self._panel)
        self.field.setProperty("bare", True)
        self.field.setPlaceholderText("Type a command, a chat, a model or a setting")
        self.field.setAccessibleName("Find a command")
        self.field.textChanged.connect(self._refresh)
        self.field.installEventFilter(self)
        self._model = PaletteModel()
        self.list_view = QListView(self._panel)
        self.list_view.setModel(self._model)
        self._delegate = PaletteDelegate(theme)
        self.list_view.setItemDelegate(self._delegate)
        self.list_view.setFrameShape(QFrame.Shape.NoFrame)
        self.list_view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list_view.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field keeps the focus and moves the choice
        self.list_view.setMouseTracking(True)
        self.list_view.setAccessibleName("What fits")
        self.list_view.entered.connect(self._hover)
        self.list_view.clicked.connect(self._run)
        self._nothing = Label(theme, "", "body", "text2", parent=self._panel)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._count = Label(theme, "", "small", "text2", tabular=True, parent=self._panel)
        self._hints: list[tuple[str, QWidget]] = []
        self._rise = QPropertyAnimation(self._panel, b"pos", self)
        self._rise.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._build()
        theme.changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def _build(self) -> None:
        self._head = QHBoxLayout()
        self._glass = QLabel()
        self._head.addWidget(self._glass)
        self._head.addWidget(self.field, 1)
        self._head.addWidget(KeyHint(self._theme, "Esc"))
        self._foot_frame = _Foot(self._theme)
        self._foot = QHBoxLayout(self._foot_frame)
        for prefix, words in PREFIX_WORDS.items():
            hint = QWidget()
            row = QHBoxLayout(hint)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(4)
            row.addWidget(KeyHint(self._theme, prefix))
            row.addWidget(Label(self._theme, words, "small", "text2"))
            self._hints.append((prefix, hint))
            self._foot.addWidget(hint)
        self._foot.addStretch(1)
        self._foot.addWidget(self._count)
        layout = QVBoxLayout(self._panel)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addLayout(self._head)
        layout.addWidget(rule())
        layout.addWidget(self.list_view)
        layout.addWidget(self._nothing)
        layout.addWidget(self._foot_frame)

    # Open and close

    def open(self, *, recent: Sequence[str] = (), text: str = "") -> None:
        """Show with `recent` keys on top; the focus returns to where it was on closing."""
        window = self.parentWidget()
        self._return_to = window.focusWidget()
        self._recent = tuple(recent)
        self.setGeometry(window.rect())
        self.field.blockSignals(True)
        self.field.setText(text)
        self.field.blockSignals(False)
        self._refresh()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        duration = self._theme.motion_ms(_RISE_MS)
        if duration:
            end = self._panel.pos()
            self._rise.setDuration(duration)
            self._rise.setStartValue(end + QPoint(0, _RISE))
            self._rise.setEndValue(end)
            self._rise.start()

    def close_palette(self) -> bool:
        """Close and give the focus back; False when it was not open."""
        if not self.isVisible():
            return False
        self._rise.stop()
        self.hide()
        if self._return_to is not None and self._return_to.isVisible():
            self._return_to.setFocus(Qt.FocusReason.PopupFocusReason)
        self._return_to = None
        self.closed.emit()
        return True

    def fit(self) -> None:
        """Follow the window's size."""
        self.setGeometry(self.parentWidget().rect())
        self._arrange()

    # What is listed

    def _refresh(self) -> None:
        text = self.field.text()
        candidates = self._source(text.lstrip()[1:].strip() if text.lstrip()[:1] in PREFIXES else text.strip())
        found = listing(candidates, text, self._recent)
        kinds = {candidate.kind for candidate in candidates}
        if not text:
            self._kinds = frozenset(kinds)
        for prefix, hint in self._hints:
            hint.setVisible(PREFIXES[prefix] in self._kinds)
        self._model.set_listing(found)
        self._count.setText(f"{found.shown} of {found.fitting}" if found.fitting else "")
        self._nothing.setText("" if found.shown else f"Nothing is called “{text.strip()}”.")
        self._nothing.setVisible(not found.shown)
        self.list_view.setVisible(bool(found.shown))
        self._choose(self._next_from(-1, 1))
        self._arrange()

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
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.list_view, spoken(self._row(index))))

    def _hover(self, index: QModelIndex) -> None:
        if self._row(index).candidate is not None:
            self.list_view.setCurrentIndex(index)

    def _run(self, index: QModelIndex) -> None:
        candidate = self._row(index).candidate if index.isValid() else None
        if candidate is None:
            return
        self.close_palette()
        self.ran.emit(candidate.key)
        candidate.run()

    # Keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        now = self.list_view.currentIndex().row()
        match event.key():
            case Qt.Key.Key_Escape:
                self.close_palette()
            case Qt.Key.Key_Down | Qt.Key.Key_Tab:
                self._choose(self._next_from(now, 1))
            case Qt.Key.Key_Up | Qt.Key.Key_Backtab:
                self._choose(self._next_from(now, -1))
            case Qt.Key.Key_PageDown:
                self._choose(self._next_from(min(now + 7, self._model.rowCount() - 1) - 1, 1))
            case Qt.Key.Key_PageUp:
                self._choose(self._next_from(max(now - 7, 0) + 1, -1))
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._run(self.list_view.currentIndex())
            case _:
                return False
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self._panel.geometry().contains(event.position().toPoint()):
            self.close_palette()

    # Look

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), self._theme.color("scrim"))
        panel = self._panel.geometry()
        painter.setPen(Qt.PenStyle.NoPen)
        for spread in range(24, 0, -4):  # one soft shadow, 8 px down
            painter.setBrush(QColor(0, 0, 0, 14 if self._theme.is_dark else 4))
            painter.drawRoundedRect(panel.adjusted(-spread, 8 - spread, spread, 8 + spread), 12 + spread, 12 + spread)

    def _restyle(self) -> None:
        theme = self._theme
        self._head.setContentsMargins(theme.px(18), 0, theme.px(18), 0)
        self._head.setSpacing(theme.px(12))
        size = theme.icon_px(18)
        self._glass.setPixmap(icons.pixmap(theme, "search", size, "text2", self.devicePixelRatioF()))
        font = theme.font("heading", 400)
        font.setLetterSpacing(font.letterSpacingType(), 0)
        self.field.setFont(font)
        self.field.setFixedHeight(theme.height_px(54))
        self._foot.setContentsMargins(theme.px(18), 0, theme.px(18), 0)
        self._foot.setSpacing(theme.px(12))
        self._foot_frame.setFixedHeight(theme.height_px(36))
        self._nothing.setContentsMargins(theme.px(18), theme.px(24), theme.px(18), theme.px(24))
        self._arrange()
        self.update()

    def _arrange(self) -> None:
        theme = self._theme
        top = min(theme.px(_TOP), max(theme.px(8), self.height() // 8))
        side = theme.px(16)
        width = min(theme.type_px(_WIDTH), self.width() - 2 * side)
        self._panel.resize(width, self._panel.height())
        rows = self._model.rowCount()
        wanted = sum(self.list_view.sizeHintForRow(row) for row in range(rows)) + theme.px(8)
        around = self.field.height() + self._foot_frame.height() + 3
        most = self.height() - top - theme.px(40) - around
        self.list_view.setFixedHeight(max(theme.height_px(38), min(wanted, most)))
        body = self.list_view.height() if not self.list_view.isHidden() else self._nothing.sizeHint().height()
        self._panel.setGeometry(QRect((self.width() - width) // 2, top, width, around + body))
        self.update()


class _Panel(QFrame):
    """The palette's own surface, rounded 12 with a line."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self._theme.color("line2"))
        painter.setBrush(self._theme.color("surface"))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 12, 12)


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

