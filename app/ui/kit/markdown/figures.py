"""Inline objects of running text: formulas, and small images embedded in the message.

Each is one character of the document. Its size is known when the text is laid out, its image may still be on its way.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPyTextObject, QTextCharFormat, QTextDocument, QTextFormat

from app.ui.kit.image_decoding import image_size
from app.ui.kit.markdown.formulas import MATH_SCALE, Formula, Formulas
from app.ui.kit.thumbnails import Thumbnails

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

OBJECT_TYPE = int(QTextFormat.ObjectTypes.UserObject) + 1
INDEX = int(QTextFormat.Property.UserProperty) + 2
OBJECT = "\ufffc"
JOINER = "\u2060"  # keeps a comma on the line of the formula before it
MAX_IMAGE_BYTES = 256 * 1024  # of an image inside a message, after decoding
MAX_IMAGE_SIDE = 4_096
SHOWN_WIDTH, SHOWN_HEIGHT = 480, 320  # px at 100 %
_DATA = re.compile(r"data:image/(png|jpeg|jpg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})")


class Figure(Protocol):
    """Something drawn in a line of text. `ascent` and `descent` are px from the baseline."""

    @property
    def ascent(self) -> float: ...

    @property
    def descent(self) -> float: ...

    @property
    def shrinks(self) -> bool:
        """Whether its size depends on the room that there is."""

    def size(self, room: float) -> QSizeF:
        """How large it is where `room` px are free."""

    def paint(self, painter: QPainter, rect: QRectF) -> None: ...


@dataclass(slots=True)
class FormulaFigure:
    """A formula in the color `role`, a quiet bar until it is set. On a line of its own it shrinks to its room."""

    formulas: Formulas
    formula: Formula
    em: float
    theme: Theme
    role: str
    alone: bool = False

    @property
    def shrinks(self) -> bool:
        return self.alone

    @property
    def ascent(self) -> float:
        return self.formula.ascent * self.em

    @property
    def descent(self) -> float:
        return self.formula.descent * self.em

    def size(self, room: float) -> QSizeF:
        wide = (self.formula.width + max(0.0, -self.formula.left)) * self.em
        high = self.ascent + self.descent
        scale = min(1.0, room / wide) if self.alone and room > 0 else 1.0
        return QSizeF(wide * scale, high * scale)

    def paint(self, painter: QPainter, rect: QRectF) -> None:
        if self.formula.is_waiting:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.theme.color("sunken"))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), 4, 4)
            return
        device = painter.device()
        dpr = device.devicePixelRatioF() if device is not None else 1.0
        whole = self.formula.height * self.em
        scale = rect.height() / whole if self.alone and whole else 1.0
        wide, high = self.formula.width * self.em * scale, whole * scale
        color = self.theme.color(self.role)
        image = self.formulas.picture(self.formula, max(1, round(wide)), max(1, round(high)), color, dpr)
        top = rect.top() + (0.0 if self.alone else self.ascent + self.formula.top * self.em)
        painter.drawPixmap(QRectF(rect.left(), top, wide, high), image, QRectF(image.rect()))


@dataclass(slots=True)
class ImageFigure:
    """An image from a `data:` address. Until it is decoded its place is a quiet frame."""

    thumbnails: Thumbnails
    key: str
    data: bytes
    width: float
    height: float
    theme: Theme
    descent: float = 0.0
    shrinks: bool = True

    @property
    def ascent(self) -> float:
        return self.height

    def size(self, room: float) -> QSizeF:
        scale = min(1.0, room / self.width) if room > 0 else 1.0
        return QSizeF(self.width * scale, self.height * scale)

    def paint(self, painter: QPainter, rect: QRectF) -> None:
        device = painter.device()
        dpr = device.devicePixelRatioF() if device is not None else 1.0
        data = self.data
        wide, high = round(self.width * dpr), round(self.height * dpr)
        image = self.thumbnails.get(self.key, max(1, wide), max(1, high), lambda: data)
        if image is None or image.isNull():
            painter.fillRect(rect, self.theme.color("sunken"))
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(rect, image)


class FigureHandler(QPyTextObject):
    """Tells a document's layout about its figures."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.figures: list[Figure] = []

    def intrinsicSize(self, document: QTextDocument, position: int, format_: QTextFormat) -> QSizeF:
        figure = self.figures[int(format_.property(INDEX))]
        if not figure.shrinks:  # Qt asks again and again, also while it paints
            return figure.size(0.0)
        indent = document.findBlock(position).blockFormat().indent() * document.indentWidth()
        return figure.size(document.textWidth() - indent if document.textWidth() > 0 else 0.0)

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, document: QTextDocument, position: int, format_: QTextFormat
    ) -> None:
        self.figures[int(format_.property(INDEX))].paint(painter, QRectF(rect))


class FigureDocument(QTextDocument):
    """A document that may hold figures; the handler comes with the first."""

    handler: FigureHandler | None = None

    def format_of(self, figure: Figure, font: QFont, *, alone: bool = False) -> QTextCharFormat:
        """Take a figure in and return the format of the character that stands for it."""
        if self.handler is None:
            self.handler = FigureHandler(self)
            self.documentLayout().registerHandler(OBJECT_TYPE, self.handler)
        self.handler.figures.append(figure)
        made = QTextCharFormat()
        made.setObjectType(OBJECT_TYPE)
        made.setProperty(INDEX, len(self.handler.figures) - 1)
        made.setFont(font_with_descent(font, figure.descent))
        if figure.descent > 0 and not alone:
            made.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignBaseline)
        return made


def font_with_descent(font: QFont, descent: float) -> QFont:
    """Return the font whose descent comes nearest: Qt puts the baseline of an inline object there."""
    own = QFontMetricsF(font).descent() / max(1, font.pixelSize())
    made = QFont(font)
    made.setPixelSize(max(1, min(400, round(descent / own)))) if own > 0 and descent > 0 else None
    return made


class Figures(QObject):
    """Where figures come from, one for each view. `formulas.typeset`, `thumbnails.loaded` tell when to look again."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.formulas = Formulas(self)
        self.thumbnails = Thumbnails(self)

    @property
    def is_idle(self) -> bool:
        return self.formulas.is_idle and self.thumbnails.is_idle

    def formula(self, source: str, display: bool, font: QFont, theme: Theme, role: str) -> FormulaFigure | None:
        """Return a formula in the size of `font`, or its place; None when only its source can be shown."""
        found = self.formulas.get(source, display)
        if not (found.is_set or found.is_waiting):
            return None
        return FormulaFigure(self.formulas, found, font.pixelSize() * MATH_SCALE, theme, role, display)

    def picture(self, address: str, theme: Theme) -> ImageFigure | None:
        """Return the image in a `data:` address when it is small and really one; None for everything else."""
        known = _looked_at(address)
        if known is None:
            return None
        key, data, width, height = known
        scale = min(1.0, SHOWN_WIDTH * theme.scale / width, SHOWN_HEIGHT * theme.scale / height)
        return ImageFigure(self.thumbnails, key, data, max(1.0, width * scale), max(1.0, height * scale), theme)


@lru_cache(maxsize=16)  # an answer that is being written is read again and again
def _looked_at(address: str) -> tuple[str, bytes, int, int] | None:
    """Return key, bytes, width and height of the image in `address`; None when it is not to be drawn."""
    data = image_data(address)
    if data is None:
        return None
    size = image_size(data)
    if not size.isValid() or size.isEmpty() or max(size.width(), size.height()) > MAX_IMAGE_SIDE:
        return None
    return hashlib.sha256(data).hexdigest(), data, size.width(), size.height()


def image_data(address: str) -> bytes | None:
    """Return the bytes in a `data:` address of a raster image, None for any other address and for too many bytes."""
    if len(address) > MAX_IMAGE_BYTES * 4 // 3 + 100:
        return None
    found = _DATA.fullmatch(address)
    if found is None:
        return None
    try:
        data = base64.b64decode(found[2], validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if len(data) <= MAX_IMAGE_BYTES else None
