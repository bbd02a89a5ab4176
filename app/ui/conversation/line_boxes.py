"""The small lines around an answer: its thoughts' header, its sources, its receipt, and notes between turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPen

from app.translation import tr
from app.ui.conversation.boxes import Box, Control, PaintState, paint_focus_ring
from app.ui.conversation.controls import button_height, paint_control, place_right
from app.ui.conversation.links_and_chips import site_of, source_card
from app.ui.conversation.rows import receipt_text
from app.ui.conversation.wrapped_text import WrappedText
from app.ui.kit import icons

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.ui.conversation.rows import MessageRow, ReceiptRun, RowSource
    from app.ui.kit.theme import Theme

FEW_SOURCES = 8  # more are behind a pill that shows them all
NARROW = 260  # px at 100 %: a column beside others, where Copy is an icon
MAX_TITLE = 220  # px of a source's title at 100 %

_LEFT = int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft).value)
_RIGHT = int((Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight).value)
_CENTER = int(Qt.AlignmentFlag.AlignCenter.value)

_ACTIONS = {
    "copy": (tr("Copy message"), "copy"),
    "retry": (tr("Try again"), "retry"),
    "branch": (tr("Branch from here"), "branch"),
    "edit": (tr("Edit message"), "pencil"),
    "speak": (tr("Read aloud"), "speech"),
    "more": (tr("More"), "more"),
}


class ReasoningHeader(Box):
    """ "Thought for 4.2 s", how many tokens that took, and Copy. Pressing it folds or unfolds the thoughts."""

    above = below = "thought"

    def __init__(self, theme: Theme, title: str, note: str, *, is_open: bool) -> None:
        super().__init__(theme)
        self._title = title
        self._note = note
        self._open = is_open
        self._controls: list[Control] = []

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        self.height = theme.height_px(34)
        narrow = width < theme.type_px(NARROW)
        copy_button = Control(
            "copy",
            QRectF(),
            tr("Copy reasoning"),
            ("copy-thoughts",),
            look="icon" if narrow else "quiet",
            label="" if narrow else tr("Copy"),
            icon="copy",
            tooltip=tr("Copy reasoning") if narrow else "",
        )
        left = place_right(theme, [copy_button], width - theme.px(10), self.height / 2)
        fold = Control(
            "fold",
            QRectF(2, 3, left - 6, self.height - 6),
            f"{self._title}, {'shown' if self._open else 'hidden'}",
            ("fold",),
            role="disclosure",
            checked=self._open,
        )
        self._controls = [fold, copy_button]
        return self.height

    def controls(self) -> list[Control]:
        return self._controls

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        if state.focused == "fold":
            paint_focus_ring(painter, theme, self._controls[0].rect.adjusted(3, 3, -3, -3))
        x = float(theme.px(10))
        middle = self.height / 2
        for name, px in (("chevron-down" if self._open else "chevron-right", 14), ("bulb", 16)):
            side = theme.icon_px(px)
            icons.paint(painter, theme, name, QRectF(round(x), round(middle - side / 2), side, side), "text2")
            x += side + theme.px(8)
        font = theme.font("body", 500)
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        metrics = QFontMetricsF(font)
        room = max(0.0, self._controls[1].rect.left() - theme.px(4) - x)
        title = metrics.elidedText(self._title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(x, 0, room, self.height), _LEFT, title)
        x += metrics.horizontalAdvance(title) + theme.px(8)
        font = theme.font("small", tabular=True)
        room = self._controls[1].rect.left() - theme.px(8) - x
        painter.setFont(font)
        painter.setPen(theme.color("text3"))
        note = QFontMetricsF(font).elidedText(self._note, Qt.TextElideMode.ElideRight, max(0.0, room))
        painter.drawText(QRectF(x, 0, max(0.0, room), self.height), _LEFT, note)
        paint_control(painter, theme, self._controls[1], state)


class SourcesBox(Box):
    """The row of sources under an answer."""

    above = below = "sources"

    def __init__(self, theme: Theme, sources: tuple[RowSource, ...], *, show_all: bool) -> None:
        super().__init__(theme)
        self._sources = sources
        self._show_all = show_all or len(sources) <= FEW_SOURCES + 1
        self._controls: list[Control] = []

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        gap = theme.px(6)
        high = button_height(theme)
        x = QFontMetricsF(theme.font("small")).horizontalAdvance(tr("Sources")) + theme.px(8)
        y = 0.0
        self._controls = []
        shown = self._sources if self._show_all else self._sources[:FEW_SOURCES]
        for index, source in enumerate(shown):
            wide = min(float(width), self._pill_width(index, source))
            if x > 0 and x + wide > width:
                x, y = 0.0, y + high + gap
            title = source.title or source.host or source.url
            self._controls.append(
                Control(
                    f"source{index}",
                    QRectF(x, y, wide, high),
                    tr("Source {index}: {title}, {host}", index=index + 1, title=title, host=site_of(source)),
                    ("source", str(index)),
                    role="link",
                    look="pill",
                    label=title,
                    tooltip=source_card(source),
                )
            )
            x += wide + gap
        if not self._show_all:
            label = tr("{count} more", count=len(self._sources) - FEW_SOURCES)
            wide = QFontMetricsF(theme.font("small", 500)).horizontalAdvance(label) + theme.px(20)
            if x + wide > width:
                x, y = 0.0, y + high + gap
            self._controls.append(
                Control(
                    "all",
                    QRectF(x, y, wide, high),
                    tr("Show {label} sources", label=label),
                    ("all-sources",),
                    look="pill",
                    label=label,
                )
            )
        self.height = round(y + high)
        return self.height

    def _pill_width(self, index: int, source: RowSource) -> float:
        theme = self.theme
        title = min(
            QFontMetricsF(theme.font("small", 500)).horizontalAdvance(source.title or source.host or source.url),
            float(theme.type_px(MAX_TITLE)),
        )
        host = QFontMetricsF(theme.font("small")).horizontalAdvance(site_of(source)) if source.title else 0.0
        return (
            theme.px(6)
            + self._chip_width(index)
            + theme.px(6)
            + title
            + (theme.px(6) + host if host else 0)
            + theme.px(11)
        )

    def _chip_width(self, index: int) -> float:
        theme = self.theme
        wide = QFontMetricsF(theme.font("caption", 600)).horizontalAdvance(str(index + 1))
        return max(16 * theme.scale, wide + 8 * theme.scale)

    def controls(self) -> list[Control]:
        return self._controls

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("text3"))
        painter.drawText(QRectF(0, 0, self.width, button_height(theme)), _LEFT, tr("Sources"))
        for index, control in enumerate(self._controls):
            rect = control.rect
            painter.setRenderHint(painter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("line2"), 1))
            painter.setBrush(theme.color("hover" if state.hovered == control.id else "surface"))
            radius = rect.height() / 2 - 0.5
            painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
            if control.id == "all":
                painter.setFont(theme.font("small", 500))
                painter.setPen(theme.color("text2"))
                painter.drawText(rect, _CENTER, control.label)
            else:
                self._paint_source(painter, index, control)
            if state.focused == control.id:
                paint_focus_ring(painter, theme, rect, radius)

    def _paint_source(self, painter: QPainter, index: int, control: Control) -> None:
        theme, rect, source = self.theme, control.rect, self._sources[index]
        high = 16 * theme.scale
        chip = QRectF(rect.left() + theme.px(6), rect.center().y() - high / 2, self._chip_width(index), high)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent_tint"))
        painter.drawRoundedRect(chip, 4, 4)
        painter.setFont(theme.font("caption", 600))
        painter.setPen(theme.color("accent"))
        painter.drawText(chip, _CENTER, str(index + 1))
        x = chip.right() + theme.px(6)
        host = site_of(source) if source.title else ""
        host_font, title_font = theme.font("small"), theme.font("small", 500)
        host_wide = QFontMetricsF(host_font).horizontalAdvance(host)
        room = rect.right() - theme.px(10) - x - (host_wide + theme.px(6) if host else 0)
        if room < theme.type_px(60):  # a long host on a narrow column gives way to the title
            host, room = "", rect.right() - theme.px(10) - x
        title = QFontMetricsF(title_font).elidedText(control.label, Qt.TextElideMode.ElideRight, room + 1)
        painter.setFont(title_font)
        painter.setPen(theme.color("text"))
        painter.drawText(QRectF(x, rect.top(), room + 2, rect.height()), _LEFT, title)
        x += QFontMetricsF(title_font).horizontalAdvance(title) + theme.px(6)
        painter.setFont(host_font)
        painter.setPen(theme.color("text3"))
        painter.drawText(QRectF(x, rect.top(), host_wide + 2, rect.height()), _LEFT, host)


class FooterBox(Box):
    """The receipt at the left, the buttons of the message at the right."""

    above = below = "footer"

    def __init__(self, theme: Theme, row: MessageRow) -> None:
        super().__init__(theme)
        self._runs = row.receipt + row.byline
        self._moment: Control | None = None  # where the tooltip tells the full date
        self._row = row
        self._controls: list[Control] = []
        self._places: list[tuple[ReceiptRun, QPointF, float]] = []  # run, left and middle of its text, its width

    def layout(self, width: int) -> int:
        theme = self.theme
        self.width = width
        high = button_height(theme) if self._row.shown_actions or self._row.places > 1 else theme.line_px("small")
        self._controls = action_controls(self._row)
        left = place_right(theme, self._controls, width + theme.px(4), high / 2, theme.px(2))
        room = left - theme.px(12) if self._controls else float(width)
        fits = not self._runs or not self._controls or self._run_width(self._runs[0]) <= room
        if not fits:  # in a narrow column the buttons stand under the receipt
            high, room = theme.line_px("small"), float(width)
        y = self._place_runs(width, room, high / 2)
        self._moment = self._moment_control() if self._row.moment else None
        self.height = round(y + high / 2)
        if not fits:
            below = button_height(theme)
            place_right(theme, self._controls, width + theme.px(4), self.height + 2 + below / 2, theme.px(2))
            self.height += 2 + below
        return self.height

    def _place_runs(self, width: int, room: float, y: float) -> float:
        """Set the receipt from the left, `room` px of the first line; return the middle of the last line."""
        theme = self.theme
        gap = theme.px(8) * 2 + 3
        x = 0.0
        self._places = []
        shown = list(self._runs)
        widths = {run: self._run_width(run) for run in shown}
        while sum(widths[run] + gap for run in shown) - gap > room and (spare := [r for r in shown if r.spare]):
            shown.remove(spare[-1])
        for run in shown:
            wide = widths[run]
            if x > 0 and x + gap + wide > room:
                x, y, room = 0.0, y + theme.line_px("small") + 2, float(width)
            elif x > 0:
                x += gap
            self._places.append((run, QPointF(x, y), wide))
            x += wide
        return y

    def _moment_control(self) -> Control | None:
        """The stretch from who wrote the answer to the end of the line; a tooltip, nothing to press."""
        theme = self.theme
        lines = [
            QRectF(at.x(), at.y() - theme.line_px("small") / 2, wide, theme.line_px("small"))
            for run, at, wide in self._places
            if run in self._row.byline
        ]
        if not lines:
            return None
        moment = self._row.moment
        return Control("moment", lines[0], moment, ("none",), tooltip=moment, areas=lines)

    def _font_of(self, run: ReceiptRun) -> QFontMetricsF:
        return QFontMetricsF(self.theme.font("small", 500 if run.strong else None, tabular=True))

    def _run_width(self, run: ReceiptRun) -> float:
        wide = self._font_of(run).horizontalAdvance(run.text)
        return wide + (self._icon_px(run) + self.theme.px(8) if run.icon else 0)

    def _icon_px(self, run: ReceiptRun) -> int:
        return round(7 * min(self.theme.scale, 1.6)) if run.icon == "dot" else self.theme.icon_px(14)

    def controls(self) -> list[Control]:
        return [*self._controls, *([self._moment] if self._moment is not None else [])]

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        line_px = theme.line_px("small")
        painter.setRenderHint(painter.RenderHint.Antialiasing)
        for run, at, wide in self._places:
            x, middle = at.x(), at.y()
            if x > 0:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("control"))
                painter.drawEllipse(QPointF(x - theme.px(8) - 1.5, middle), 1.5, 1.5)
            if run.icon:
                side = self._icon_px(run)
                if run.icon == "dot":
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(theme.color("accent"))
                    painter.drawEllipse(QRectF(x, middle - side / 2, side, side))
                else:
                    icons.paint(painter, theme, run.icon, QRectF(x, round(middle - side / 2), side, side), "text3")
                x += side + theme.px(8)
            painter.setFont(theme.font("small", 500 if run.strong else None, tabular=True))
            painter.setPen(theme.color(run.role))
            painter.drawText(QRectF(x, middle - line_px / 2, wide + 4, line_px), _LEFT, run.text)
        for control in self._controls:
            paint_action(painter, theme, control, state)

    def text(self, start: int, end: int) -> str:
        return receipt_text(self._runs)


class NoteBox(Box):
    """A quiet line between turns, such as "The model is now …"."""

    above = below = "note"

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__(theme)
        self._text = text
        self._wrapped: WrappedText | None = None

    def layout(self, width: int) -> int:
        self.width = width
        self._wrapped = WrappedText(self.theme, "small", self._text, width, align=Qt.AlignmentFlag.AlignHCenter)
        self.height = self._wrapped.height
        return self.height

    def paint(self, painter: QPainter, state: PaintState) -> None:
        if self._wrapped is not None:
            painter.setPen(self.theme.color("text3"))
            self._wrapped.paint(painter, QPointF(0, 0))


class CaptionBox(Box):
    """A quiet word over a bubble, at the right: for which function a person answered."""

    above = below = "bubble"

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__(theme)
        self._text = text

    def layout(self, width: int) -> int:
        self.width = width
        self.height = self.theme.line_px("small") + self.theme.px(4)
        return self.height

    def paint(self, painter: QPainter, state: PaintState) -> None:
        theme = self.theme
        font = theme.font("small")
        shown = QFontMetricsF(font).elidedText(self._text, Qt.TextElideMode.ElideMiddle, self.width)
        painter.setFont(font)
        painter.setPen(theme.color("text2"))
        painter.drawText(QRectF(0, 0, self.width, theme.line_px("small")), _RIGHT, shown)


def action_controls(row: MessageRow) -> list[Control]:
    """Return the buttons of a message, the way between its branches nearest to the text; places are still to be given.

    A bubble has its buttons at the left and hides them, an answer has them at the right end of its receipt.
    """
    named = []
    for name in row.shown_actions:
        words, icon = _ACTIONS.get(name, (name.capitalize(), "more"))
        if name == "speak" and row.no_speech:
            why = row.no_speech
            dimmed = Control(name, QRectF(), why, ("none",), look="icon", icon="speech-off", tooltip=why, dimmed=True)
            named.append(dimmed)
            continue
        named.append(Control(name, QRectF(), words, ("action", name), look="icon", icon=icon, tooltip=words))
    if row.places <= 1:
        return named
    place = Control(
        "place",
        QRectF(),
        tr("Branch {place} of {places}", place=row.place, places=row.places),
        ("none",),
        role="label",
        look="quiet",
    )
    place.label = f"{row.place}/{row.places}"
    ways = [
        Control("previous", QRectF(), tr("Previous branch"), ("action", "previous"), look="icon", icon="chevron-left"),
        place,
        Control("next", QRectF(), tr("Next branch"), ("action", "next"), look="icon", icon="chevron-right"),
    ]
    return ways + named if row.role == "assistant" else named + ways


def paint_action(painter: QPainter, theme: Theme, control: Control, state: PaintState) -> None:
    """Draw one of `action_controls`; the branch number is a label, not a button."""
    if control.role == "label":
        painter.setFont(theme.font("small", tabular=True))
        painter.setPen(theme.color("text2"))
        painter.drawText(control.rect, _CENTER, control.label)
    else:
        paint_control(painter, theme, control, state)
