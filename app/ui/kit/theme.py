"""Colors, type, sizes and motion of the whole window, in one object that signals their changes.

Everything that paints asks `Theme`; nothing else holds a color. `apply` sets the palette, then one application style
sheet, then emits `changed`, upon which painted widgets and delegates repaint.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.resources import resources_folder
from app.ui.kit.typography import STYLES, FontCache

if TYPE_CHECKING:
    from PySide6.QtWidgets import QStyle

Mode = Literal["system", "light", "dark"]
_SCHEMES: dict[Mode, Qt.ColorScheme] = {
    "system": Qt.ColorScheme.Unknown,
    "light": Qt.ColorScheme.Light,
    "dark": Qt.ColorScheme.Dark,
}

MIN_PERCENT, MAX_PERCENT = 80, 200
ICON_CAP = 1.6
LINE_OF_A_CONTROL = 19  # px of the body line inside every one-line control
CELL_MARGIN = 3  # px between the padding and the words of a cell: Qt adds them, whatever the style sheet says

# Palette role → color role; what Qt's own painting and the input method use where the style sheet has no say.
_PALETTE = {
    QPalette.ColorRole.Window: "pane",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "sunken",
    QPalette.ColorRole.Button: "surface",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "bad",
    QPalette.ColorRole.PlaceholderText: "text3",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.HighlightedText: "on_accent",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "accent",
    QPalette.ColorRole.ToolTipBase: "text",
    QPalette.ColorRole.ToolTipText: "canvas",
    QPalette.ColorRole.Light: "surface",
    QPalette.ColorRole.Midlight: "line",
    QPalette.ColorRole.Mid: "line2",
    QPalette.ColorRole.Dark: "control",
    QPalette.ColorRole.Shadow: "control",
}
_DISABLED = {
    QPalette.ColorRole.Text: "text3",
    QPalette.ColorRole.WindowText: "text3",
    QPalette.ColorRole.ButtonText: "text3",
    QPalette.ColorRole.Base: "sunken",
    QPalette.ColorRole.Button: "sunken",
    QPalette.ColorRole.Highlight: "line2",
    QPalette.ColorRole.Accent: "line2",
    QPalette.ColorRole.HighlightedText: "text3",
}


def _style_each(style: QStyle, widgets: Iterable[QWidget]) -> None:
    for widget in widgets:
        style.polish(widget)
        QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))


class Theme(QObject):
    """Holds the tokens in force. Create one, `apply` it once, change it as often as the person likes."""

    changed = Signal()

    def __init__(self, resources: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = resources or resources_folder()
        self._tokens: dict[str, dict[str, str]] = {}
        self._colors: dict[str, QColor] = {}
        self._fonts = FontCache(self._folder / "fonts")
        self._template: str | None = None
        self._qt_app: QApplication | None = None
        self._mode: Mode = "system"
        self._requested_scheme = Qt.ColorScheme.Unknown
        self._percent = 100
        self._root_of_scale = 1.0
        self._system_font = False
        self._reduced_motion = False
        self._system_is_still = False
        self._wants_contrast = False
        self._high_contrast = False
        self._dark = False
        self._sheet_held = False
        self._pages: list[QWidget] = []
        self._outdated: set[QWidget] = set()
        self._collecting = QTimer(self, singleShot=True, interval=0)
        self._collecting.timeout.connect(self._refresh)

    # -- what the person chose ------------------------------------------------------------------------------------

    @property
    def mode(self) -> Mode:
        return self._mode

    @property
    def text_percent(self) -> int:
        return self._percent

    @property
    def reduced_motion(self) -> bool:
        """True when the person or the system asks for less motion."""
        return self._reduced_motion or self._system_is_still

    @property
    def wants_contrast(self) -> bool:
        """Whether the person chose more contrast, whatever the system asks for."""
        return self._wants_contrast

    @property
    def high_contrast(self) -> bool:
        """True when the person or the system asks for more contrast: quiet text and lines are strong, borders 2 px."""
        return self._high_contrast

    @property
    def is_dark(self) -> bool:
        return self._dark

    @property
    def scale(self) -> float:
        """Text scale, 0.8 to 2.0; window width divided by it is the effective width."""
        return self._percent / 100

    def set_mode(self, mode: Mode) -> None:
        self._mode = mode
        self._refresh_soon()

    def set_text_percent(self, percent: int) -> None:
        """Take a text size in per cent, held between 80 and 200."""
        self._take_percent(percent)
        self._refresh_soon()

    def _take_percent(self, percent: int) -> None:
        self._percent = max(MIN_PERCENT, min(MAX_PERCENT, percent))
        self._root_of_scale = math.sqrt(self.scale)  # once: each layout asks for dozens of measures

    def set_reduced_motion(self, on: bool) -> None:
        """Take what the person chose."""
        if on != self._reduced_motion:
            self._reduced_motion = on
            self.changed.emit()

    def set_system_motion(self, *, less: bool) -> None:
        """Take what the system asks for."""
        if less != self._system_is_still:
            self._system_is_still = less
            self.changed.emit()

    def configure(
        self,
        *,
        mode: Mode,
        text_percent: int,
        system_font: bool = False,
        reduced_motion: bool = False,
        high_contrast: bool = False,
    ) -> None:
        """Take every choice at once, so that a start or an import of settings costs one refresh, not four."""
        self._mode = mode
        self._take_percent(text_percent)
        self._system_font = system_font
        self._reduced_motion = reduced_motion
        self._wants_contrast = high_contrast
        self._refresh()

    # -- what everybody asks --------------------------------------------------------------------------------------

    def color(self, role: str) -> QColor:
        """Return a color by its role (`text2`, `accent_tint`, `syntax_string`, …). Raises `KeyError`."""
        found = self._colors.get(role)
        if found is None:
            found = self._colors[role] = QColor(self.tokens()[role])
        return QColor(found)

    def tokens(self) -> dict[str, str]:
        """Return role → `#RRGGBB` (or `#AARRGGBB`) of the theme in force."""
        name = "dark" if self._dark else "light"
        if self._high_contrast:
            return self._colors_of(name) | self._colors_of(f"{name}-contrast")
        return self._colors_of(name)

    def _colors_of(self, name: str) -> dict[str, str]:
        """Return the colors of a file in `resources/themes`. A `-contrast` file has only those that differ."""
        found = self._tokens.get(name)
        if found is None:
            found = json.loads((self._folder / "themes" / f"{name}.json").read_text(encoding="utf-8"))
            self._tokens[name] = found
        return found

    def font(
        self, style: str = "body", weight: int | None = None, *, mono: bool = False, tabular: bool = False
    ) -> QFont:
        """Return the font of a style (`display` … `code`); `tabular` gives digits one width."""
        return self._fonts.font(style, weight, mono, tabular)

    def line_px(self, style: str = "body") -> int:
        """Return the line height of a style in px at the present scale."""
        return self.type_px(STYLES[style].line)

    def px(self, n: float) -> int:
        """Return a spacing or radius: it grows by the square root of the text scale."""
        return round(n * self._root_of_scale)

    def type_px(self, n: float) -> int:
        """Return a text size or line height: it grows fully."""
        return round(n * self.scale)

    def icon_px(self, n: float) -> int:
        """Return an icon size: it grows with the text, at most 1.6 times."""
        return round(n * min(self.scale, ICON_CAP))

    def height_px(self, n: float, line: int = LINE_OF_A_CONTROL) -> int:
        """Return the height of a control or row of `n` px at 100 %: its text line grows fully, its air by the root."""
        if n <= line:
            return self.type_px(n)
        return self.type_px(line) + self.px(n - line)

    def motion_ms(self, n: int) -> int:
        """Return a duration; 0 when motion is reduced."""
        return 0 if self.reduced_motion else n

    # -- the application ------------------------------------------------------------------------------------------

    def apply(
        self, qt_app: QApplication, *, hold_sheet: bool = False, has_fusion: bool = False, collect_ms: int = 0
    ) -> None:
        """Dress the application and keep it dressed: follow the system's scheme while the mode is `system`.

        With `hold_sheet` the style sheet waits for `release_sheet`: under a style sheet, every widget that gets a
        parent is styled anew with all its children, which is most of the cost of building a window. `has_fusion` says
        that the application was made with that style: to set it here, PySide must load all of QStyle, 5 ms of a start.
        Changes that follow each other within `collect_ms` are drawn once, after the last of them; 0: each at once.
        """
        self._qt_app = qt_app
        self._collecting.setInterval(collect_ms)
        self._sheet_held = hold_sheet
        self._fonts.load()
        if not has_fusion:
            qt_app.setStyle("Fusion")
        # styleHints() hands out a short-lived wrapper: hold it for the life of the theme.
        self._hints = QGuiApplication.styleHints()
        self._hints.colorSchemeChanged.connect(self._system_changed)
        if hasattr(self._hints, "accessibility"):
            self._accessibility = self._hints.accessibility()
            self._accessibility.contrastPreferenceChanged.connect(self._refresh)
        self._refresh()

    def release_sheet(self) -> None:
        """Style everything that was built meanwhile, once. Call it right before the window is shown."""
        if self._sheet_held and self._qt_app is not None:
            self._sheet_held = False
            self._qt_app.setStyleSheet(self.style_sheet())

    def _system_changed(self) -> None:
        if self._mode == "system":
            self._refresh()

    def _system_is_dark(self) -> bool:
        return self._qt_app is not None and self._hints.colorScheme() == Qt.ColorScheme.Dark

    def _system_wants_contrast(self) -> bool:
        if self._qt_app is None or not hasattr(self._hints, "accessibility"):
            return False
        accessibility = self._hints.accessibility()
        preference = getattr(accessibility, "contrastPreference", None)
        return preference is not None and preference() == Qt.ContrastPreference.HighContrast

    def _refresh_soon(self) -> None:
        """Somebody who holds the key for larger text waits for one restyling, not for one a step."""
        if self._collecting.interval() and not self._sheet_held:
            self._collecting.start()
        else:
            self._refresh()

    def _request_scheme(self) -> None:
        """Let the system draw title bars and its own dialogs in the chosen theme (Windows, macOS, GNOME)."""
        wanted = _SCHEMES[self._mode]
        if self._qt_app is not None and wanted != self._requested_scheme:
            self._requested_scheme = wanted
            self._hints.setColorScheme(wanted)

    def _refresh(self) -> None:
        self._request_scheme()
        self._dark = self._mode == "dark" or (self._mode == "system" and self._system_is_dark())
        self._high_contrast = self._wants_contrast or self._system_wants_contrast()
        self._colors.clear()
        self._fonts.configure(scale=self.scale, system_font=self._system_font)
        if self._qt_app is None:
            self.changed.emit()
            return
        self._qt_app.setPalette(self.palette())
        base = self.font("body")
        # The sheet gives some fields the mono font and cannot turn its ligatures off; they inherit that from here.
        base.setFeature(QFont.Tag("calt"), 0)
        self._qt_app.setFont(base)
        if not self._sheet_held:
            self._restyle(self._qt_app)
        self.changed.emit()
        for window in self._qt_app.topLevelWidgets():
            window.update()

    def _restyle(self, qt_app: QApplication) -> None:
        """Put the style sheet in force, styling each widget once.

        Qt would style a widget again for every ancestor that has style rules, 14 times on average in this window. So it
        forgets all rules before it gets the new sheet, and the widgets are styled one by one afterwards, those of
        hidden pages when they are shown.
        """
        if not qt_app.styleSheet():  # the first sheet brings a style of its own, which styles each once
            qt_app.setStyleSheet(self.style_sheet())
            return
        style = qt_app.style()
        style.unpolish(qt_app)
        qt_app.setStyleSheet(self.style_sheet())
        style.polish(qt_app)
        self._outdated = {page for page in self._pages if alive(page) and page.isHidden()}
        hidden = {widget for page in self._outdated for widget in (page, *page.findChildren(QWidget))}
        _style_each(style, [widget for widget in qt_app.allWidgets() if widget not in hidden])

    def forget_rules(self) -> None:
        """Free the rules that Qt keeps for each part of each widget, 7 KB apiece; what is painted asks for them anew.

        For widgets that were built and are not shown: 20 MB when those of every tab are.
        """
        if self._qt_app is not None and self._qt_app.styleSheet():
            style = self._qt_app.style()
            style.unpolish(self._qt_app)
            style.polish(self._qt_app)

    def restyle_when_shown(self, page: QWidget) -> None:
        """Spare a page and all in it a change while it is hidden. Its `showEvent` is to call `catch_up`."""
        self._pages.append(page)

    def catch_up(self, page: QWidget) -> None:
        """Style a page that was hidden while the theme changed."""
        if page in self._outdated and self._qt_app is not None:
            self._outdated.discard(page)
            _style_each(self._qt_app.style(), [page, *page.findChildren(QWidget)])
            self.changed.emit()  # what measured a font of the page did so before it was styled

    def palette(self) -> QPalette:
        """Return the palette of the theme in force, disabled group included."""
        palette = QPalette()
        for role, name in _PALETTE.items():
            palette.setColor(role, self.color(name))
        for role, name in _DISABLED.items():
            palette.setColor(QPalette.ColorGroup.Disabled, role, self.color(name))
        return palette

    def style_sheet(self) -> str:
        """Return the application style sheet at the present colors and scale."""
        if self._template is None:
            self._template = (self._folder / "themes" / "style.qss").read_text(encoding="utf-8")
        images = (self._folder / "themes" / ("dark" if self._dark else "light")).as_posix()
        words = {
            **self.tokens(),
            "pictures": images,
            "sans": self._fonts.sans_family(),
            "mono": "JetBrains Mono",
            "border": "2px" if self._high_contrast else "1px",
        }
        measures = {
            "s": self.px,
            "h": self.height_px,
            "t": self.type_px,
            "r": self.px,
            "i": self.icon_px,
            "p": lambda n: self.height_px(n - 2) // 2 + 1,
            "c": lambda n: (self.icon_px(n - 2) + 2) // 2,
            "k": lambda n: (self.px(n - 4) + 4) // 2,
            "m": lambda n: (self.px(16 - 4) + 4 - self.px(n)) // 2,
            "o": lambda n: self.px(n) - CELL_MARGIN,
        }
        return fill(self._template, words, measures)


_ROLE = re.compile(r"@([a-z][a-z0-9-]*)")
_MEASURE = re.compile(r"\{([shtripckmo])(\d+(?:\.\d+)?)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def fill(template: str, words: Mapping[str, str], measures: Mapping[str, Callable[[float], int]]) -> str:
    """Fill the template of the style sheet. Raises `KeyError` for a role or measure that nobody defined.

    In the template `@text2` is a color role (dashes for underscores), `{s12}` a spacing, `{h32}` a height of one text
    line plus its air, `{t13}` a text size, `{r6}` a radius, `{i16}` an icon size, `{p28}` and `{c16}` the radius of a
    pill that high and of a circle that wide, `{k16}` the radius of a slider knob that wide and `{m4}` how far it stands
    out of a groove that high, `{o12}` the padding of a cell whose words stand `{s12}` from its edge, all in px at
    100 %.
    """

    def measure(match: re.Match[str]) -> str:
        return f"{measures[match[1]](float(match[2]))}px"

    def word(match: re.Match[str]) -> str:
        return words[match[1].replace("-", "_")]

    return _ROLE.sub(word, _MEASURE.sub(measure, _COMMENT.sub("", template)))
