"""The attachment chips above the message box, each with the reason if it cannot be sent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.service.http.sanitize import sanitize_line
from app.translation import tr
from app.ui.conversation.attachment_kinds import ICONS, kind_word
from app.ui.kit import icons
from app.ui.kit.discard import discard
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.qt_workarounds.claimed_shortcuts import DELETE_KEYS, claim_shortcut
from app.ui.kit.thumbnails import Thumbnails
from app.ui.kit.widgets.buttons import IconButton, LinkButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.frames import dashed_frame, solid_frame
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.chat.state import AttachmentView
    from app.ui.kit.theme import Theme

SIDE = 36  # of the thumbnail at 100 %
WORDS_PX, REFUSAL_PX = 170, 300


class AttachmentStrip(QWidget):
    """Shows the attachments of the draft. Signals with a string carry the key of a chip."""

    remove_requested = Signal(str)
    shrink_requested = Signal(str)
    open_requested = Signal(str)
    other_requested = Signal(str)  # the text instead of the file, the file instead of the text, or another encoding
    model_requested = Signal(str)  # the id of a model that takes what this one refuses

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._thumbnails = Thumbnails(self)
        self._thumbnails.loaded.connect(self._loaded)
        theme.changed.connect(self._fit)
        self.chips: dict[str, AttachmentChip] = {}
        self._flow = FlowLayout(theme, gap=6, line_gap=6, parent=self)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(tr("Attachments"))
        self.hide()

    def show_attachments(self, views: Sequence[AttachmentView]) -> None:
        """Show these chips; those that were there before stay the same widgets."""
        wanted = {view.key: view for view in views}
        had_focus = next((key for key, chip in self.chips.items() if chip.is_inside()), "")
        place = list(self.chips).index(had_focus) if had_focus else -1
        for key in [key for key in self.chips if key not in wanted]:
            discard(self.chips.pop(key))
        for key, view in wanted.items():
            if key not in self.chips:
                chip = AttachmentChip(self._theme, view, self._thumbnails)
                chip.remove_requested.connect(lambda key=key: self.remove_requested.emit(key))
                chip.shrink_requested.connect(lambda key=key: self.shrink_requested.emit(key))
                chip.model_requested.connect(self.model_requested)
                chip.other_requested.connect(lambda key=key: self.other_requested.emit(key))
                chip.open_requested.connect(lambda key=key: self.open_requested.emit(key))
                self.chips[key] = chip
                self._flow.addWidget(chip)
            self.chips[key].show_view(view)
        self.setVisible(bool(wanted))
        if had_focus and had_focus not in self.chips and self.chips:
            list(self.chips.values())[min(place, len(self.chips) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)
        self._fit()

    def _fit(self) -> None:
        """As high as its lines: a layout above would give it one."""
        if self.chips and self.width() > 0:
            high = self._flow.heightForWidth(self.width())
            if high != self.height() or self.minimumHeight() != high:
                self.setFixedHeight(high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _loaded(self, path: str) -> None:
        for chip in self.chips.values():
            if chip.view.path == path:
                chip.update()


class AttachmentChip(QFrame):
    """One attachment: thumbnail or icon, name, size or reason, and a way to take it away. Del takes it away, too.

    A click or Enter on a passage of a document opens that.
    """

    remove_requested = Signal()
    shrink_requested = Signal()
    open_requested = Signal()
    other_requested = Signal()
    model_requested = Signal(str)

    def __init__(self, theme: Theme, view: AttachmentView, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._theme = theme
        self._thumbnails = thumbnails
        self.view = view
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.name = Label(theme, "", "small", weight=500, elide=True)
        self.detail = Label(theme, "", "caption", "text3", wrap=True)
        self.smaller = LinkButton(theme, tr("Reduce size"))
        self.smaller.clicked.connect(self.shrink_requested)
        self.other = LinkButton(theme, "")
        self.other.clicked.connect(self.other_requested)
        self.better = LinkButton(theme, "")
        self.better.clicked.connect(lambda: self.model_requested.emit(self.view.model_id))
        self.close_button = IconButton(theme, "close", tr("Remove"), size="small", icon_size=14)
        self.close_button.clicked.connect(self.remove_requested)
        self._column = QVBoxLayout()
        self._column.addWidget(self.name)
        self._column.addWidget(self.detail)
        self._column.addWidget(self.smaller, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self.other, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self.better, 0, Qt.AlignmentFlag.AlignLeft)
        self._row = QHBoxLayout(self)
        self._row.addLayout(self._column, 1)
        self._row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        theme.changed.connect(self._apply_theme)
        self.show_view(view)

    def show_view(self, view: AttachmentView) -> None:
        """Say what stands there now."""
        self.view = view
        self.name.set_text(view.name)
        self.name.setToolTip(plain_tip(view.name))
        self.setCursor(Qt.CursorShape.PointingHandCursor if view.can_open else Qt.CursorShape.ArrowCursor)
        self.setAccessibleDescription(tr("Enter opens the document.") if view.can_open else "")
        words = tr("Reading…") if view.busy else view.refusal or view.detail
        self.detail.set_text(words)
        self.detail.set_role("warn" if view.refusal else "text3")
        can_shrink = view.can_shrink and not view.busy
        if self.smaller.hasFocus() and not can_shrink:  # else Qt moves on to what takes the image away
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.smaller.setVisible(can_shrink)
        self.smaller.setAccessibleName(sanitize_line(tr("Reduce the size of {name}", name=view.name)))
        self.other.setText(view.other)
        self.other.setToolTip(plain_tip(view.other_tip))
        self.other.setVisible(bool(view.other) and not view.busy)
        self.other.setAccessibleName(sanitize_line(f"{view.other}: {view.name}"))
        if self.better.hasFocus() and not view.model_id:
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.better.setText(tr("Use {model}", model=view.model_name))
        self.better.setVisible(bool(view.model_id) and not view.busy)
        self.close_button.rename(tr("Remove {name}", name=view.name), "Del")
        what = kind_word(view.kind) if not view.refusal else tr("Cannot be sent")
        self.setAccessibleName(sanitize_line(f"{what}: {view.name}, {words}"))
        self._apply_theme()

    def is_inside(self) -> bool:
        """Whether the keyboard is on the chip or on a button in it."""
        return any(each.hasFocus() for each in (self, self.close_button, self.smaller, self.other, self.better))

    def ring_radius(self) -> float:
        return float(self._theme.px(8))

    def _apply_theme(self) -> None:
        theme = self._theme
        side = theme.icon_px(SIDE)
        self._row.setContentsMargins(theme.px(6) + side + theme.px(8), theme.px(5), theme.px(4), theme.px(5))
        self._row.setSpacing(theme.px(4))
        self._column.setSpacing(0)
        wide = theme.type_px(REFUSAL_PX if self.view.refusal else WORDS_PX)
        metrics = self.name.fontMetrics()
        words = max(metrics.horizontalAdvance(self.name.text()), metrics.horizontalAdvance(self.detail.text())) + 8
        self.name.setFixedWidth(min(wide, max(theme.type_px(60), words)))
        self.detail.setFixedWidth(min(wide, max(theme.type_px(60), words)))
        self.setMinimumHeight(side + 2 * theme.px(5))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width(), max(hint.height(), self.minimumHeight()))

    def event(self, event: QEvent) -> bool:
        """Del means this attachment, not the chat that is open."""
        return claim_shortcut(event, *DELETE_KEYS) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_requested.emit()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.view.can_open:
            self.open_requested.emit()
            return
        super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if self.view.can_open and inside and event.button() == Qt.MouseButton.LeftButton:
            self.open_requested.emit()
        super().mouseReleaseEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme, area = self._theme, QRectF(self.rect())
        if self.view.refusal:
            dashed_frame(painter, theme, area, theme.px(8), fill="warn_tint", border="warn")
        else:
            solid_frame(painter, theme, area, theme.px(8), "sunken", "line")
        side = theme.icon_px(SIDE)
        square = QRectF(theme.px(6), (self.height() - side) / 2, side, side)
        image = self._picture(side)
        if image is not None and not image.isNull():
            path = QPainterPath()
            path.addRoundedRect(square, 4, 4)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.setClipPath(path)
            shown = image.size() / image.devicePixelRatio()
            scale = max(side / max(1, shown.width()), side / max(1, shown.height()))
            at = QRectF(0, 0, shown.width() * scale, shown.height() * scale)
            at.moveCenter(square.center())
            painter.drawImage(at, image)
            return
        icon_px = theme.icon_px(18)
        middle = QRectF(0, 0, icon_px, icon_px)
        middle.moveCenter(square.center())
        name = "warning" if self.view.refusal and not self.view.path else ICONS.get(self.view.kind, "document")  # type: ignore[call-overload]  # an unknown kind has the default
        icons.paint(painter, theme, name, middle, "warn" if self.view.refusal else "text2")

    def _picture(self, side: int) -> QImage | None:
        path = self.view.path
        if not path:
            return None
        px = round(side * 2 * self.devicePixelRatioF())
        return self._thumbnails.get(path, px, px, Path(path).read_bytes)
