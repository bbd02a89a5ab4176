"""Chips and links inside running text: their shapes, what they say, and what pressing them means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt

from app.translation import tr
from app.ui.conversation.boxes import Control
from app.ui.kit.markdown.inline import CHIP_MARGIN, Span
from app.ui.kit.markdown.parser import PASSAGE_LINK
from app.ui.kit.widgets.links import handbook_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPainter, QTextDocument

    from app.ui.conversation.rows import RowSource
    from app.ui.kit.theme import Theme

CITE_PX, CODE_PX = 16, 19  # heights of a citation chip and of inline code at 100 %
Chip = tuple[str, QRectF]  # the role of its color, and its shape
_FILLS = {"cite": "accent_tint", "unbound": "warn_tint"}


def chip_rect(theme: Theme, span: Span, area: QRectF) -> QRectF:
    """Return the visible shape of a chip whose text covers `area`, one line of it."""
    cite = span.kind in _FILLS
    high = (CITE_PX if cite else CODE_PX) * theme.scale
    left = CHIP_MARGIN * theme.scale if cite else 0.0
    top = area.center().y() - high / 2 - (0.5 * theme.scale if cite else 0.0)
    return QRectF(area.left() + left, top, area.width() - left, high)


def chips_of(theme: Theme, spans: Sequence[Span], areas: Sequence[list[QRectF]]) -> list[Chip]:
    """Return what is under the text of citations, inline code and images' stand-ins."""
    return [
        (_FILLS.get(span.kind, "sunken"), chip_rect(theme, span, area))
        for span, places in zip(spans, areas, strict=True)
        if span.kind not in ("link", "drawn")
        for area in places
    ]


def paint_chips(painter: QPainter, theme: Theme, chips: Sequence[Chip], clip: QRectF) -> None:
    """Draw the chips that can be seen."""
    painter.setRenderHint(painter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    filled = ""
    for fill, rect in chips:
        if rect.intersects(clip):
            if fill != filled:
                painter.setBrush(theme.color(fill))
                filled = fill
            painter.drawRoundedRect(rect, 4, 4)


def span_controls(
    theme: Theme,
    spans: Sequence[Span],
    areas: Sequence[list[QRectF]],
    sources: tuple[RowSource, ...],
    document: QTextDocument,
) -> list[Control]:
    """Return the links and chips that can be pressed, in reading order."""
    found = []
    text = document.toRawText()
    for index, (span, places) in enumerate(zip(spans, areas, strict=True)):
        if span.kind in ("code", "drawn") or not places or (span.kind == "image" and not span.target):
            continue
        places = [chip_rect(theme, span, area) for area in places] if span.kind in _FILLS else places
        rect = QRectF(places[0])
        for area in places[1:]:
            rect = rect.united(area)
        shown = text[span.start : span.end].replace("\u00a0", " ").strip()
        name, action, tooltip = _meaning(span, shown, sources)
        found.append(Control(f"span{index}", rect, name, action, role="link", tooltip=tooltip, areas=places))
    return found


def _meaning(span: Span, shown: str, sources: tuple[RowSource, ...]) -> tuple[str, tuple[str, ...], str]:
    """Return accessible name, action and tooltip."""
    if span.kind == "cite":
        number = span.source + 1
        if span.source >= len(sources):
            return tr("Source {number}", number=number), ("none",), tr("Source {number}", number=number)
        return (
            tr(
                "Source {number}: {title}", number=number, title=sources[span.source].title or sources[span.source].host
            ),
            ("source", str(span.source)),
            source_card(sources[span.source]),
        )
    if span.kind == "unbound":
        sentence = tr(
            "The service sent no source {source}. The answer says {raw}.", source=span.source + 1, raw=span.raw
        )
        return tr("Citation {source} without a source", source=span.source + 1), ("none",), sentence
    if span.kind == "image":
        return (
            shown,
            ("link", span.target),
            tr("{raw}\n{target}\nImages in answers are not loaded.", raw=span.raw, target=span.target),
        )
    passage = PASSAGE_LINK.fullmatch(span.target)
    if passage is not None:
        places = [place for place, source in enumerate(sources) if source.passage is not None]
        number = int(passage[1])
        if not 1 <= number <= len(places):
            return shown, ("none",), tr("No passage {number} was sent with the question.", number=number)
        place = places[number - 1]
        name = tr("Source {number}: {title}", number=place + 1, title=sources[place].title)
        return name, ("source", str(place)), source_card(sources[place])
    if span.target.startswith("#"):
        return tr("Footnote {shown}", shown=shown), ("footnote", span.target), ""
    return shown, ("link", span.target), span.target


def site_of(source: RowSource) -> str:
    """Where a source is from: its host, or that it is a document or a page of Rialto's handbook."""
    if source.passage is not None:
        return tr("Document")
    return tr("Handbook") if handbook_place(source.url) else source.host


def source_card(source: RowSource) -> str:
    """Return title, host, date and excerpt of a source as lines of plain text."""
    lines = [
        source.title or source.host,
        site_of(source) if source.title else "",
        source.date,
        shortened(source.snippet),
    ]
    return "\n".join(line for line in lines if line)


def shortened(text: str, limit: int = 240) -> str:
    """Return at most `limit` characters on one line, cut at a word."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + "…"
