"""JSON as colored text. Long arrays fold to "[ 4 items ]" and open with a click or with Enter; long texts are cut."""

from __future__ import annotations

import html
import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl
from PySide6.QtGui import QFontMetricsF, QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from app.service.http.base64_text import text_in
from app.service.http.sanitize import sanitize_text
from app.translation import tr_n

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

MAX_TEXT_CHARS = 4_000  # of one string on screen; copies are always whole
BASE64_SHOWN = 60  # of a text that is written out behind it
FOLDED_KEYS = frozenset({"messages", "tools"})
INDENT = "\u00a0\u00a0"


class JsonView(QTextBrowser):
    """Read-only. Nothing in it is ever loaded: links only open and close arrays."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._value: object = None
        self._open: set[str] = set()
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(name)
        self.setLineWrapMode(QTextBrowser.LineWrapMode.WidgetWidth)
        self.anchorClicked.connect(self._toggle)
        theme.changed.connect(self._draw)

    def set_value(self, value: object) -> None:
        """Show another value, arrays folded."""
        if value != self._value:
            self._value = value
            self._open.clear()
        self._draw()

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Load nothing, whatever the text says."""
        return None

    def _toggle(self, link: QUrl) -> None:
        self._open ^= {link.toString().removeprefix("fold:")}
        self._draw()

    def _draw(self) -> None:
        place = self.verticalScrollBar().value()
        self.document().setDefaultFont(self._theme.font("small", mono=True))
        colors = {
            name: self._theme.color(f"syntax_{name}").name()
            for name in ("keyword", "string", "number", "name", "comment")
        }
        lines = JsonWriter(colors, self._theme.color("text").name(), self._open).lines(self._value)
        letter = QFontMetricsF(self.document().defaultFont()).horizontalAdvance("0")
        self.setHtml("".join(_hanging(line, letter) for line in lines))
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        spacing = QTextBlockFormat()
        spacing.setLineHeight(self._theme.type_px(18), QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor.mergeBlockFormat(spacing)
        self.verticalScrollBar().setValue(place)


class JsonWriter:
    """Turns a JSON value into lines of HTML. Every text in it is escaped: it may be a stranger's."""

    def __init__(self, colors: Mapping[str, str], plain: str, unfolded: Collection[str]) -> None:
        self._colors = colors
        self._plain = plain
        self._unfolded = unfolded
        self._lines: list[str] = []

    def lines(self, value: object) -> list[str]:
        self._write(value, "", "", "", "")
        return self._lines

    def _write(self, value: object, path: str, key: str, indent: str, comma: str) -> None:
        head = f"{indent}{self._key(key)}"
        if isinstance(value, Mapping) and value:
            self._lines.append(f"{head}{self._sign('{')}")
            last = len(value) - 1
            for place, (name, inner) in enumerate(value.items()):
                self._write(inner, f"{path}/{name}", str(name), indent + INDENT, "" if place == last else ",")
            self._lines.append(f"{indent}{self._sign('}' + comma)}")
        elif isinstance(value, list | tuple) and value:
            self._write_array(value, path, key, head, indent, comma)
        else:
            self._lines.append(f"{head}{self._scalar(value)}{self._sign(comma)}")

    def _write_array(
        self, value: list[object] | tuple[object, ...], path: str, key: str, head: str, indent: str, comma: str
    ) -> None:
        number = tr_n("{n} item", "{n} items", len(value))
        link = f'<a href="fold:{html.escape(path, quote=True)}" style="color:{self._colors["comment"]}">'
        if key in FOLDED_KEYS and path not in self._unfolded:
            self._lines.append(f"{head}{self._sign('[ ')}{link}{number}</a>{self._sign(' ]' + comma)}")
            return
        fold = f"{link} {number}</a>" if key in FOLDED_KEYS else ""
        self._lines.append(f"{head}{self._sign('[')}{fold}")
        for place, inner in enumerate(value):
            self._write(inner, f"{path}/{place}", "", indent + INDENT, "" if place == len(value) - 1 else ",")
        self._lines.append(f"{indent}{self._sign(']' + comma)}")

    def _key(self, key: str) -> str:
        if not key:
            return ""
        return f"{self._colored('name', json.dumps(key, ensure_ascii=False))}{self._sign(': ')}"

    def _scalar(self, value: object) -> str:
        if isinstance(value, str):
            text = text_in(value)
            if text is not None:
                shown = f"{self._colored('string', json.dumps(value[:BASE64_SHOWN] + '…', ensure_ascii=False))} "
                return f"{shown}{self._sign('=')} {self._scalar(text)}"
            cut = len(value) - MAX_TEXT_CHARS
            shown = json.dumps(value[:MAX_TEXT_CHARS], ensure_ascii=False)
            if cut <= 0:
                return self._colored("string", shown)
            rest = tr_n("… {n} more character", "… {n} more characters", cut)
            return f"{self._colored('string', shown)} {self._colored('comment', rest)}"
        if value is None or isinstance(value, bool):
            return self._colored("keyword", json.dumps(value))
        if isinstance(value, Mapping):
            return self._sign("{}")
        if isinstance(value, list | tuple):
            return self._sign("[]")
        return self._colored("number", str(value))

    def _colored(self, kind: str, text: str) -> str:
        return f'<span style="color:{self._colors[kind]}">{_escaped(text)}</span>'

    def _sign(self, text: str) -> str:
        return f'<span style="color:{self._plain}">{_escaped(text)}</span>'


def _hanging(line: str, letter_px: float) -> str:
    """One line of its own; where it is broken, it goes on one step further in than it begins."""
    begins = len(line) - len(line.lstrip("\u00a0"))
    px = round((begins + len(INDENT)) * letter_px)
    return f'<p style="margin:0; margin-left:{px}px; text-indent:-{px}px">{line}</p>'


def _escaped(text: str) -> str:
    return html.escape(sanitize_text(text), quote=False).replace("  ", "\u00a0 ").replace("\n", "<br>")
