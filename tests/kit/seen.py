"""What stands on screen, letter by letter: what is no pseudo language, and what has less room than it needs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QAbstractTableModel, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QStyle,
    QStyleOptionComboBox,
    QTabBar,
    QTextBrowser,
    QTextEdit,
    QToolButton,
    QWidget,
)

from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.receipt_line import ReceiptLine
from app.ui.settings.fact_card import FactCard

RESOURCES = Path(__file__).resolve().parents[2] / "resources"
ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
# The same in every language: names of this program and of others, keys, units, formats, and words of the wire.
NAMES = (
    *("Rialto", "Sandbox", "Venice", "USDC", "USD", "ETH", "EVM", "Base", "Solana", "JSON", "CSV", "SRT", "WebVTT"),
    *("MP3", "Opus", "AAC", "FLAC", "WAV", "PCM", "OGG", "PNG", "JPEG", "WebP", "cURL", "id"),
    *("Ctrl", "Shift", "Alt", "Enter", "Return", "Space", "Esc", "PgUp", "PgDown", "Del", "Up", "Down", "Home", "End"),
    *("Inter", "JetBrains Mono", "mainnet", "Ethereum", "zkSync Era", "BNB Chain", "Word hashing", "Ono Anna"),
    *("bytes", "KB", "MB", "GB", "ms", "dB", "kHz", "min", "px", "OK", "GET", "POST", "XS"),
    *(
        "curl",
        "json",
        "true",
        "timestamps",
        "duration",
        "resolution",
        "latest",
        "paid",
        "Sandbox key",
        "Starknet",
        "GMT",
    ),
    *("{name}", "{title}", "{number}", "{model}", "{seed}", "{date}", "{time}", "{id}", "{{name}}"),
)
# What the walk typed or made: the content of a person.
CONTENT = ("How do I stop an answer?", "One short line.", "A harbor at dawn", "tone", "Mm.")
WIRE = re.compile(
    r"\w{3}, \d\d \w{3} \d{4}|\b[1-9A-HJ-NP-Za-km-z]{4,}…[1-9A-HJ-NP-Za-km-z]{4}\b"  # a day; a shortened address
    r"|(?<!\S)[\w-]{8}…[\w-]{4}(?!\S)"  # the id of a call, shortened, which may have no digit
    r"|\S*[/_@:\\]\S*|\b0x\S+|\S*\d\S*|\b\w+(-\w+)+\b|\b\w+(\.\w+)+\b|\{[^}]*\}|\w+\([\w,]*\)"
    r"|\b\w*[a-z][A-Z]\w*\b",  # such as the end of an id that happens to have no digit
    re.DOTALL,
)
HANDBOOK = re.compile("(Chat|Console|Speech|Images|Video|Wallet|Transcribe|Settings): ")
BARE = re.compile(r"[A-Za-z]{2,}")
NUMBER = re.compile(r"\$\d|\b\d{1,3}(,\d{3})+\b")  # as only US English writes it


class Painted(NamedTuple):
    text: str
    on: object
    room: float | None
    needed: float


class Seen:
    """`look` at a window in each of its states; `found` says what is wrong, each thing once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], str] = {}
        self._painted: list[Painted] = []
        self._known: set[str] = set()
        self._whole: set[str] = set()
        self._read_before = {""}
        self.allow((*NAMES, *CONTENT, *_names_of_voices()))
        self._listen()

    def allow(self, texts: Iterable[str]) -> None:
        """Take these for names and contents, which nobody translates."""
        self._known.update(text.strip() for text in texts if len(text.strip()) > 1)
        self._longest_first = sorted(self._known, key=len, reverse=True)
        self._long = "\0".join(text for text in self._known if len(text) > 12)

    def found(self) -> list[str]:
        return [f"{where}: {what} {text!r}" for (what, text), where in self._found.items()]

    def look(self, where: str, root: QWidget, whole: Iterable[str] = ()) -> None:
        """`whole` are painted texts that end in an ellipsis by themselves, here and later."""
        self._whole.update(whole)
        self._painted.clear()
        root.grab()
        texts = set(self._whole)
        for widget in [root, *root.findChildren(QWidget)]:
            if not widget.isVisible() or _is_not_ours(widget):
                continue
            for text in texts_of(widget):
                texts.add(text)
                self._read(where, widget, text)
            problem = cut(widget) or beyond(widget)
            if problem:
                self._note(f"{name_of(widget)} {problem}", _text(widget) or widget.accessibleName(), where)
        for each in self._painted:
            on = each.on if isinstance(each.on, QWidget) else root
            if _is_not_ours(on):
                continue
            self._read(where, on, each.text)
            if each.room is not None and each.needed > each.room + 1.5:
                self._note(f"{name_of(on)} paints beyond {each.room:.0f} of {each.needed:.0f} px", each.text, where)
            if each.text.endswith("…") and not any(each.text.removesuffix("…").strip() in text for text in texts):
                self._note(f"{name_of(on)} cuts what no tooltip has", each.text, where)

    def _read(self, where: str, widget: QWidget, text: str) -> None:
        if text in self._read_before or isinstance(widget, QTextBrowser):
            return
        self._read_before.add(text)
        if text.endswith("…") or HANDBOOK.match(text) or type(widget.parentWidget()).__name__ == "_HeaderLine":
            return  # cut (the whole text is read, too), a chapter that an answer names, or a header of HTTP
        if text.strip("…") in self._long:
            return
        left = WIRE.sub(" ", self._without_known(text))
        if BARE.search(left):
            self._note(f"{name_of(widget)} says in English", text[:160], where)
        if NUMBER.search(text) and text.isascii() and not isinstance(widget, QAbstractSpinBox):
            self._note(f"{name_of(widget)} has a US number", text[:160], where)

    def _without_known(self, text: str) -> str:
        known = "|".join(re.escape(each) for each in self._longest_first if each in text)
        return re.sub(rf"(?<!\w)(?:{known})(?!\w)", " ", text) if known else text

    def _note(self, what: str, text: str, where: str) -> None:
        self._found.setdefault((what, text), where)

    def _listen(self) -> None:
        """Hear every text that the program paints itself, and how much room it gives it."""
        draw, painted = QPainter.drawText, self._painted

        def heard(painter: QPainter, *arguments: object) -> object:
            text = next((each for each in arguments if isinstance(each, str)), "")
            rect = arguments[0] if arguments and isinstance(arguments[0], QRect | QRectF) else None
            if text:
                needed = 0.0 if "\n" in text else QFontMetricsF(painter.font()).horizontalAdvance(text)
                wraps = any(_flags(each) & int(Qt.TextFlag.TextWordWrap) for each in arguments[1:])
                room = None if rect is None or wraps else float(rect.width())
                painted.append(Painted(text, painter.device(), room, needed))
            return draw(painter, *arguments)  # type: ignore[call-overload]

        QPainter.drawText = heard  # type: ignore[assignment, method-assign]


def _flags(value: object) -> int:
    if isinstance(value, int):
        return value
    found = getattr(value, "value", 0)
    return found if isinstance(found, int) else 0


def _names_of_voices() -> Iterator[str]:
    for model, voices in json.loads((RESOURCES / "data" / "voices.json").read_text(encoding="utf-8")).items():
        yield " ".join(word.capitalize() for word in model.removeprefix("tts-").split("-"))
        for voice in voices:
            yield from (voice, voice.partition("_")[2].capitalize())


def _is_not_ours(widget: QWidget | None) -> bool:
    """Qt's own file dialog, in Qt's own words, and licenses."""
    while widget is not None:
        if isinstance(widget, QFileDialog | FactCard):
            return True
        widget = widget.parentWidget()
    return False


def name_of(widget: QWidget) -> str:
    return f"{type(widget).__name__} in {type(widget.parentWidget()).__name__}"


def _text(widget: QWidget) -> str:
    return widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""


def texts_of(widget: QWidget) -> Iterator[str]:
    """Everything that a widget shows and says, but for what a person or a service wrote."""
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), _text(widget))
    if widget.isWindow():
        yield widget.windowTitle()
    if isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
        yield widget.placeholderText()
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(place) for place in range(widget.count()))
    if isinstance(widget, QAbstractSpinBox):
        yield widget.text()
    if isinstance(widget, QTabBar):
        yield from (widget.tabText(place) for place in range(widget.count()))
    if isinstance(widget, QMenu):
        yield from (action.text() for action in widget.actions())
    if isinstance(widget, QHeaderView):
        yield from headings(widget)
    elif isinstance(widget, QAbstractItemView):
        yield from cells(widget)


def headings(header: QHeaderView) -> Iterator[str]:
    model = header.model()
    for place in range(header.count() if model is not None else 0):
        found = model.headerData(place, header.orientation(), Qt.ItemDataRole.DisplayRole)
        yield found if isinstance(found, str) else ""


def cells(view: QAbstractItemView) -> Iterator[str]:
    model = view.model()
    for row in range(min(model.rowCount(), 60) if model is not None else 0):
        for column in range(model.columnCount() if isinstance(model, QAbstractTableModel) else 1):
            for role in ROLES:
                found = model.index(row, column).data(role)
                yield found if isinstance(found, str) else ""


def cut(widget: QWidget) -> str:
    """Why a widget has too little room for its own words; "" where it has enough, or its tooltip says them."""
    if widget.toolTip() and not isinstance(widget, QToolButton):
        return ""
    metrics, text = widget.fontMetrics(), _text(widget)
    if isinstance(widget, Badge | ReceiptLine):
        return "" if widget.width() >= widget.minimumSizeHint().width() else "is narrower than its words"
    if isinstance(widget, QLabel) and text and widget.pixmap().isNull():
        if not widget.wordWrap():
            needed, room = metrics.horizontalAdvance(text), widget.contentsRect().width()
            return f"has {room} of {needed} px" if needed > room + 1 else ""
        needed = widget.heightForWidth(widget.width())
        return f"is {widget.height()} of {needed} px high" if needed > widget.height() + 1 else ""
    if isinstance(widget, QPushButton | QCheckBox | QRadioButton) and text:
        needed = widget.minimumSizeHint().width()
        return f"has {widget.width()} of {needed} px" if needed > widget.width() + 1 else ""
    if isinstance(widget, QTabBar):
        shown = [place for place in range(widget.count()) if widget.isTabVisible(place)]
        rooms = ((widget.tabText(place), widget.tabRect(place).width(), widget.tabToolTip(place)) for place in shown)
        return ", ".join(
            f"cuts {text}" for text, room, tip in rooms if metrics.horizontalAdvance(text) > room and not tip
        )
    if isinstance(widget, QComboBox):
        option = QStyleOptionComboBox()
        widget.initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = widget.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, widget).width()
        needed = metrics.horizontalAdvance(widget.currentText())
        return f"has {room} of {needed} px for {widget.currentText()}" if needed > room + 1 else ""
    if isinstance(widget, QHeaderView) and widget.orientation() == Qt.Orientation.Horizontal:
        sizes = (
            (place, widget.sectionSize(place)) for place in range(widget.count()) if not widget.isSectionHidden(place)
        )
        names = list(headings(widget))
        return ", ".join(f"cuts {names[place]}" for place, size in sizes if widget.sectionSizeHint(place) > size + 1)
    if isinstance(widget, QLineEdit) and not widget.text() and not widget.visibleRegion().isEmpty():
        margins = widget.textMargins()
        room = widget.contentsRect().width() - margins.left() - margins.right() - 4
        needed = metrics.horizontalAdvance(widget.placeholderText())
        return f"has {room} of {needed} px for its placeholder" if needed > room + 1 else ""
    if isinstance(widget, QAbstractSpinBox):
        needed = widget.minimumSizeHint().width()
        return f"has {widget.width()} of {needed} px" if needed > widget.width() + 1 else ""
    return ""


def beyond(widget: QWidget) -> str:
    """What a label or button sticks out of; what scrolls may."""
    holder = widget.parentWidget()
    while isinstance(widget, QAbstractButton | QLabel) and holder is not None and not widget.isWindow():
        if isinstance(holder.parentWidget(), QAbstractScrollArea):
            return ""
        place = QRect(widget.mapTo(holder, QPoint(0, 0)), widget.size())
        if not holder.rect().adjusted(-1, -1, 1, 1).contains(place):
            return f"reaches beyond {type(holder).__name__}"
        if holder.isWindow():
            return ""
        holder = holder.parentWidget()
    return ""
