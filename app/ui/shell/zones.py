"""The three zones of one tab: list, canvas, inspector. Side panes are docked next to the canvas or slide over it.

What decides is the effective width, the window's width divided by the text scale: large text in a wide window leaves
as little room as small text in a narrow one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.tabs import TabInfo
from app.translation import tr
from app.ui.kit.tab import TabPage, Zones
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.splitter import QWIDGETSIZE_MAX, Splitter

if TYPE_CHECKING:
    from app.ui.shell.overlay_pane import OverlayPane

ALL_ZONES_FROM = 1240  # effective width
LIST_BESIDE_FROM = 1000
WIDER_PANES_FROM = 1800

LIST_MIN, LIST_MAX, LIST_WIDE = 220, 380, 320
INSPECTOR_MIN, INSPECTOR_MAX, INSPECTOR_WIDE = 280, 420, 360
CANVAS_MIN = 420
WIDTH_STEP = 20  # px at 100 % text, by keyboard


class PaneChoice(NamedTuple):
    """What a person left behind in one tab: widths in px at 100 % text (0: never moved), and what was open."""

    list_width: int = 0
    inspector_width: int = 0
    list_open: bool = True
    inspector_open: bool = True

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> PaneChoice:
        """Take what the settings file holds; anything strange becomes the usual."""

        def width(name: str, most: int) -> int:
            value = kept.get(name, 0)
            return min(value, most) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

        return cls(
            list_width=width("list", LIST_MAX),
            inspector_width=width("inspector", INSPECTOR_MAX),
            list_open=kept.get("list_open") is not False,
            inspector_open=kept.get("inspector_open") is not False,
        )

    def write(self) -> dict[str, int | bool]:
        return {
            "list": self.list_width,
            "inspector": self.inspector_width,
            "list_open": self.list_open,
            "inspector_open": self.inspector_open,
        }


class ZoneFrame(QWidget):
    """One tab's zones. `zones_changed` follows every change of place; `choice_changed` what is worth remembering."""

    zones_changed = Signal(object)  # Zones
    choice_changed = Signal(str, object)  # tab name, PaneChoice

    def __init__(
        self,
        theme: Theme,
        info: TabInfo,
        tab: TabPage,
        choice: PaneChoice,
        effective_width: float = ALL_ZONES_FROM,
        parent: QWidget | None = None,
    ) -> None:
        """`effective_width` is that of the window which the frame is for.

        From the outside in: `parent` first, then the splitter, then the zones. A widget that gets another parent is
        styled anew with all it holds.
        """
        super().__init__(parent)
        self._theme = theme
        theme.restyle_when_shown(self)
        self._info = info
        self.tab = tab
        self._choice = choice
        self._zones: Zones | None = None
        self.splitter = Splitter(theme, tr("Pane width"), self)
        self.splitter.setChildrenCollapsible(False)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.splitter)
        self._effective_at_first = effective_width
        self.list_zone: _Zone | None = None
        self.canvas_zone: _Zone | None = None
        self.inspector_zone: _Zone | None = None
        self._is_full = False
        self.splitter.splitterMoved.connect(self._remember_widths)

    def fill(self) -> Iterator[None]:
        """Put the panes of the tab into their zones, one at each step; they may be empty still. `begin` comes after."""
        tab, title = self.tab, self._info.title
        self.list_zone = self._put(tab.list_pane(), tr("{title}: list", title=title), "pane", LIST_BESIDE_FROM)
        yield
        self.canvas_zone = self._put(tab.canvas(), tr("{title}: work area", title=title), "canvas", 0)
        assert self.canvas_zone is not None
        self.splitter.setStretchFactor(self.splitter.indexOf(self.canvas_zone), 1)
        yield
        self.inspector_zone = self._put(tab.inspector(), tr("{title}: details", title=title), "pane", ALL_ZONES_FROM)

    def begin(self) -> None:
        """Follow the window and the theme from now on: the tab is whole."""
        self.tab.connect_zones(self.toggle_list, self.toggle_inspector)
        self._theme.changed.connect(self._arrange)
        self._is_full = True
        self._put_in_order()

    def _put(self, content: QWidget | None, name: str, role: str, beside_from: float) -> _Zone | None:
        """Make the zone of a pane. One that begins as an overlay is never put beside: moving it later costs."""
        if content is None:
            return None
        beside = self._effective_at_first >= beside_from
        zone = _Zone(self._theme, name, role, self.splitter if beside else self)
        zone.take(content)
        if not beside:
            zone.hide()
        return zone

    def parts(self) -> tuple[QWidget, ...]:
        """The zones from left to right, for F6."""
        zones = (self.list_zone, self.canvas_zone, self.inspector_zone)
        return tuple(zone for zone in zones if zone is not None)

    @cached_property
    def overlay(self) -> OverlayPane:
        """What slides a pane over the canvas; made when that happens for the first time."""
        from app.ui.shell.overlay_pane import OverlayPane

        overlay = OverlayPane(self._theme, self)
        overlay.closed.connect(self._announce)
        return overlay

    @property
    def _pane_over(self) -> QWidget | None:
        """The pane that lies over the canvas now."""
        return self.overlay.pane if "overlay" in self.__dict__ else None

    # Opening and closing

    @property
    def zones(self) -> Zones:
        return self._zones or Zones()

    def toggle_list(self) -> None:
        self._toggle(self.list_zone, overlay=self.zones.list_overlay, from_left=True)

    def toggle_inspector(self) -> None:
        self._toggle(self.inspector_zone, overlay=self.zones.inspector_overlay, from_left=False)

    def open_inspector(self) -> None:
        """Make sure the inspector can be seen."""
        if not self.zones.inspector_open:
            self.toggle_inspector()

    def open_list(self) -> None:
        """Make sure the list can be seen."""
        if not self.zones.list_open:
            self.toggle_list()

    def reveal_widget(self, widget: QWidget) -> None:
        """Make sure the pane that holds `widget` can be seen."""
        if self.list_zone is not None and self.list_zone.isAncestorOf(widget):
            self.open_list()

    def close_overlay(self) -> bool:
        """Close the pane that lies over the canvas; True when there was one."""
        return self._pane_over is not None and self.overlay.close_pane()

    def _toggle(self, zone: QWidget | None, *, overlay: bool, from_left: bool) -> None:
        if zone is None:
            return
        if overlay:
            if self.overlay.pane is zone:
                self.overlay.close_pane()
            else:
                main = self.tab.main_input()
                self.overlay.open_pane(zone, self._overlay_width(from_left), from_left=from_left, main=main)
                self._announce()
            return
        focused = self.window().focusWidget()
        had_focus = focused is not None and zone.isAncestorOf(focused)
        if from_left:
            self._choice = self._choice._replace(list_open=not self._choice.list_open)
        else:
            self._choice = self._choice._replace(inspector_open=not self._choice.inspector_open)
        self._arrange()
        if had_focus:
            target = self.tab.main_input() or self.canvas_zone
            if target is not None:
                target.setFocus(Qt.FocusReason.OtherFocusReason)
        self.choice_changed.emit(self._info.name, self._choice)

    def widen(self, pane: Literal["list", "inspector"], steps: int) -> None:
        """Make a pane beside the canvas wider or, with a negative number, narrower, as dragging its edge does."""
        effective, info = self.effective_width(), self._info
        if pane == "list" and self.zones.list_beside:
            wanted = self._list_width(effective) + steps * WIDTH_STEP
            width = min(max(wanted, LIST_MIN), max(LIST_MAX, info.list_width))
            self._choice = self._choice._replace(list_width=width)
            words = tr("List width {width}", width=width)
        elif pane == "inspector" and self.zones.inspector_beside:
            wanted = self._inspector_width(effective) + steps * WIDTH_STEP
            width = min(max(wanted, INSPECTOR_MIN), max(INSPECTOR_MAX, info.inspector_width))
            self._choice = self._choice._replace(inspector_width=width)
            words = tr("Inspector width {width}", width=width)
        else:
            return
        self._arrange()
        announce(self, words)
        self.choice_changed.emit(info.name, self._choice)

    # Where everything is

    def effective_width(self) -> float:
        return self.window().width() / self._theme.scale

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        self._theme.catch_up(self)
        self._arrange()

    def _arrange(self) -> None:
        """Put every pane where the effective width and the person's choice want it.

        A frame that is still being filled is left alone: taking an image of the window resizes it all the same.
        """
        if not self._is_full:
            return
        width = self.effective_width()
        list_overlay = self.list_zone is not None and width < LIST_BESIDE_FROM
        inspector_overlay = self.inspector_zone is not None and width < ALL_ZONES_FROM
        self._place(self.list_zone, 0, overlay=list_overlay, shown=self._choice.list_open)
        at_end = self.splitter.count()
        self._place(self.inspector_zone, at_end, overlay=inspector_overlay, shown=self._choice.inspector_open)
        self._put_in_order()
        self._set_widths(width)
        if self._pane_over is not None:
            self.overlay.fit(self._overlay_width(True), self._overlay_width(False))
        self._announce()

    def _place(self, zone: QWidget | None, index: int, *, overlay: bool, shown: bool) -> None:
        if zone is None:
            return
        if overlay:
            if self.splitter.indexOf(zone) >= 0:
                zone.hide()
                zone.setParent(self)
                zone.setMinimumWidth(0)  # over the canvas it is as wide as the text wants it, whatever it was beside it
                zone.setMaximumWidth(QWIDGETSIZE_MAX)
            return
        if self._pane_over is zone:
            self.overlay.drop_pane()
        if self.splitter.indexOf(zone) < 0:
            self.splitter.insertWidget(index, zone)
        zone.setVisible(shown)

    def _put_in_order(self) -> None:
        """Have screen readers list the panes as they are seen, which is how they lie over each other; a splitter puts
        the pane that comes last below the others.
        """
        zones = [zone for zone in self.parts() if self.splitter.indexOf(zone) >= 0]
        if [child for child in self.splitter.children() if child in zones] != zones:
            for zone in reversed(zones):
                zone.lower()

    def _set_widths(self, effective: float) -> None:
        theme = self._theme
        assert self.canvas_zone is not None
        self.canvas_zone.setMinimumWidth(0 if effective < LIST_BESIDE_FROM else theme.type_px(CANVAS_MIN))
        sizes: list[int] = []
        room = self.splitter.width()
        for index in range(self.splitter.count()):
            zone = self.splitter.widget(index)
            if self.list_zone is not None and zone is self.list_zone:
                zone.setMinimumWidth(theme.type_px(LIST_MIN))
                zone.setMaximumWidth(theme.type_px(max(LIST_MAX, self._info.list_width)))
                sizes.append(theme.type_px(self._list_width(effective)) if self._choice.list_open else 0)
            elif self.inspector_zone is not None and zone is self.inspector_zone:
                zone.setMinimumWidth(theme.type_px(INSPECTOR_MIN))
                zone.setMaximumWidth(theme.type_px(max(INSPECTOR_MAX, self._info.inspector_width)))
                sizes.append(theme.type_px(self._inspector_width(effective)) if self._choice.inspector_open else 0)
            else:
                sizes.append(-1)
        if room > 0:
            rest = room - sum(size for size in sizes if size > 0)
            self.splitter.setSizes([rest if size < 0 else size for size in sizes])

    def _list_width(self, effective: float) -> int:
        usual = LIST_WIDE if effective >= WIDER_PANES_FROM else self._info.list_width
        return self._choice.list_width or max(usual, self._info.list_width)

    def _inspector_width(self, effective: float) -> int:
        usual = INSPECTOR_WIDE if effective >= WIDER_PANES_FROM else self._info.inspector_width
        return self._choice.inspector_width or max(usual, self._info.inspector_width)

    def _overlay_width(self, from_left: bool) -> int:
        effective = self.effective_width()
        wanted = self._list_width(effective) if from_left else self._inspector_width(effective)
        return min(self._theme.type_px(wanted), max(self.width() - self._theme.px(48), self.width() * 3 // 4))

    def _remember_widths(self) -> None:
        scale = self._theme.scale
        choice = self._choice
        if self.list_zone is not None and self.zones.list_beside:
            choice = choice._replace(list_width=round(self.list_zone.width() / scale))
        if self.inspector_zone is not None and self.zones.inspector_beside:
            choice = choice._replace(inspector_width=round(self.inspector_zone.width() / scale))
        if choice != self._choice:
            self._choice = choice
            self.choice_changed.emit(self._info.name, choice)

    def _announce(self) -> None:
        width = self.effective_width()
        list_overlay, inspector_overlay = width < LIST_BESIDE_FROM, width < ALL_ZONES_FROM
        over = self._pane_over
        choice = self._choice
        zones = Zones(
            list_overlay=list_overlay,
            inspector_overlay=inspector_overlay,
            list_open=over is not None and over is self.list_zone if list_overlay else choice.list_open,
            inspector_open=(
                over is not None and over is self.inspector_zone if inspector_overlay else choice.inspector_open
            ),
        )
        if zones != self._zones:
            self._zones = zones
            self.tab.set_zones(zones)
            self.zones_changed.emit(zones)


class _Zone(QWidget):
    """A pane's ground color and its name for screen readers and F6."""

    def __init__(self, theme: Theme, name: str, role: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._role = role
        self.setAccessibleName(name)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        theme.changed.connect(self.update)

    def take(self, content: QWidget) -> None:
        """Hold the pane itself."""
        self.content = content
        self._layout.addWidget(content)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(QRect(event.rect()), self._theme.color(self._role))
