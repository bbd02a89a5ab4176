"""The banner under the header of the window: one at a time, the most serious first."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from app.core.problems import ActionSpec
from app.service.http.sanitize import sanitize_line
from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label

# tone → (seriousness, background, icon color)
_TONES = {
    "bad": (3, "bad_tint", "bad"),
    "warn": (2, "warn_tint", "warn"),
    "info": (1, "accent_tint", "accent"),
    "sandbox": (0, "sandbox_tint", "sandbox"),
}


@dataclass(frozen=True, slots=True)
class BannerSpec:
    """`tone` is bad, warn, info or sandbox; `lead` the semibold first sentence; `closable` shows a close button."""

    tone: str
    lead: str
    text: str
    icon: str
    actions: tuple[ActionSpec, ...] = ()
    closable: bool = False


class Banner(QFrame):
    """One sentence over the whole width, with its buttons. `action` tells an id, "close" among them."""

    action = Signal(str)

    def __init__(self, theme: Theme, spec: BannerSpec, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.spec = spec
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._row = QHBoxLayout(self)
        self._icon = IconLabel(theme, spec.icon, _TONES[spec.tone][2])
        self._row.addWidget(self._icon)
        self.label = Label(theme, spec.text, wrap=True, lead=spec.lead, tabular=True)
        self._row.addWidget(self.label, 1)
        holder = QWidget()
        flow = FlowLayout(theme, parent=holder)
        for item in spec.actions:
            button = Button(theme, item.text, size="small")
            button.setObjectName(item.id)
            button.clicked.connect(self._pressed)
            flow.addWidget(button)
        if spec.actions:
            self._row.addWidget(holder, 0, Qt.AlignmentFlag.AlignVCenter)
        if spec.closable:
            close = IconButton(theme, "close", tr("Dismiss"), size="small", icon_size=14)
            close.setObjectName("close")
            close.clicked.connect(self._pressed)
            self._row.addWidget(close)
        self.setAccessibleName(sanitize_line(f"{spec.lead} {spec.text}"))
        self._apply_theme()
        theme.changed.connect(self._apply_theme)

    def set_words(self, lead: str, text: str) -> None:
        """Change the sentence in place, as a countdown does, without saying it aloud again."""
        self.label.set_text(text, lead)
        self.setAccessibleName(sanitize_line(f"{lead} {text}"))

    def _pressed(self) -> None:
        sender = self.sender()
        if sender is not None:
            self.action.emit(sender.objectName())

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(14), px(6), px(12), px(6))
        self._row.setSpacing(px(10))
        self.setMinimumHeight(self._theme.height_px(40))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        area = QRectF(self.rect())
        painter.fillRect(area, self._theme.color(_TONES[self.spec.tone][1]))
        painter.fillRect(QRectF(0, area.bottom() - 1, area.width(), 1), self._theme.color("line"))


class BannerHost(QWidget):
    """Keeps every banner that is true and shows the most serious; among equals, the newest.

    `action` tells (key, action id). The widget takes no room while there is nothing to say.
    """

    action = Signal(str, str)

    def __init__(self, theme: Theme, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._specs: dict[str, BannerSpec] = {}
        self._shown: tuple[str, Banner] | None = None
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.hide()

    @property
    def current_key(self) -> str:
        """The key of the banner on show, "" for none."""
        return self._shown[0] if self._shown is not None else ""

    @property
    def banner(self) -> Banner | None:
        return self._shown[1] if self._shown is not None else None

    def show_banner(self, key: str, spec: BannerSpec) -> None:
        """Say something, or say it in other words. Words that change in place are not announced again."""
        before = self._specs.pop(key, None)
        self._specs[key] = spec
        shown = self._shown
        if shown is not None and shown[0] == key and before is not None and _same_frame(before, spec):
            shown[1].set_words(spec.lead, spec.text)
            return
        self._choose()

    def clear(self, key: str) -> None:
        """It is no longer true."""
        if self._specs.pop(key, None) is not None:
            self._choose()

    def _choose(self) -> None:
        best = max(
            self._specs, key=lambda key: (_TONES[self._specs[key].tone][0], _place(self._specs, key)), default=""
        )
        if self._shown is not None:
            if self._shown[0] == best and self._shown[1].spec == self._specs.get(best):
                return
            discard(self._shown[1])
            self._shown = None
        if not best:
            self.hide()
            return
        banner = Banner(self._theme, self._specs[best])
        banner.action.connect(self._acted)
        self._layout.addWidget(banner)
        self._shown = (best, banner)
        self.show()
        announce(banner, banner.accessibleName(), urgent=self._specs[best].tone == "bad")

    def _acted(self, action: str) -> None:
        key = self.current_key
        self.action.emit(key, action)
        if action == "close":
            self.clear(key)


def _same_frame(one: BannerSpec, other: BannerSpec) -> bool:
    return (one.tone, one.icon, one.actions, one.closable) == (other.tone, other.icon, other.actions, other.closable)


def _place(specs: dict[str, BannerSpec], key: str) -> int:
    return list(specs).index(key)
