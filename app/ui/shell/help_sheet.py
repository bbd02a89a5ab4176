"""Help (F1): the user handbook, opened at the page about the place where the person is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QRect, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)
from PySide6.QtWidgets import QHBoxLayout, QTextBrowser, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.nav_list import NavList, Place
from app.ui.kit.widgets.surfaces import rule
from app.ui.shell.modal_layer import ModalLayer

_WIDTH, _HEIGHT = 920, 640
_LIST_WIDTH = 264  # for the longest title


_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_TITLE = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    file_name: str  # "02-chat.md"
    title: str
    markdown: str

    @property
    def topic(self) -> str:
        """ "02-chat.md" → "chat"."""
        return self.file_name.removesuffix(".md").partition("-")[2]


def read_pages(folder: Path) -> tuple[Page, ...]:
    """Every page in the order of its number; comments for the search are left out."""
    pages = []
    for path in sorted(folder.glob("*.md")):
        text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
        found = _TITLE.search(text)
        pages.append(Page(path.name, found[1] if found else path.stem, text))
    return tuple(pages)


# A tab's name or a section's, and the page about it where the two words differ.
_ABOUT = {
    "settings": "accounts",
    "welcome": "first-steps",
    "": "first-steps",
    "about": "privacy",
}


def page_for(pages: Sequence[Page], place: str) -> Page | None:
    """The page about a place, the first one for a place that has none, None for an empty handbook."""
    wanted = _ABOUT.get(place, place)
    return next((page for page in pages if page.topic == wanted), pages[0] if pages else None)


class HelpSheet(ModalLayer):
    """Pages at the left, the page at the right. Links to other pages work; those to the web ask the system."""

    def __init__(self, theme: Theme, window: QWidget, folder: Path) -> None:
        super().__init__(theme, window, tr("Handbook"))
        self.pages = read_pages(folder)
        self.places = NavList(theme, tr("Handbook pages"))
        self.places.set_places([Place(page.file_name, page.title) for page in self.pages])
        self.places.chosen.connect(self._show)
        self.browser = QTextBrowser()
        self.browser.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.browser.setAccessibleName(tr("Handbook page"))
        self.browser.setOpenLinks(False)
        self.browser.anchorClicked.connect(self._follow)
        self._head = QHBoxLayout()
        self._head.addWidget(Label(theme, tr("Handbook"), "heading"))
        self._head.addStretch(1)
        close = IconButton(theme, "close", tr("Close"), shortcut="Esc")
        close.clicked.connect(self.close_layer)
        self._head.addWidget(close)
        self._row = QHBoxLayout()
        self._row.addWidget(self.places)
        self._row.addWidget(rule(vertical=True))
        self._row.addWidget(self.browser, 1)
        layout = QVBoxLayout(self.panel)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addLayout(self._head)
        layout.addWidget(rule())
        layout.addLayout(self._row, 1)
        self.restyle()

    def open(self, place: str) -> None:
        """Show the page about `place` (a tab's name, "" for the first page)."""
        page = page_for(self.pages, place)
        if page is not None:
            self._go_to(page.file_name)
        self.open_layer()

    def show_heading(self, topic: str, heading: str) -> None:
        """Show a page from one of its headings on, "" for its start. `heading` is written as links write it."""
        page = page_for(self.pages, topic)
        if page is None:
            return
        self._go_to(page.file_name)
        block = self.browser.document().begin()
        while block.isValid() and not (block.blockFormat().headingLevel() and _anchor_of(block.text()) == heading):
            block = block.next()
        if block.isValid():
            top = self.browser.document().documentLayout().blockBoundingRect(block).top()
            self.browser.verticalScrollBar().setValue(round(top))

    def first_focus(self) -> QWidget:
        return self.places

    def _go_to(self, file_name: str) -> None:
        self.places.set_current(file_name)
        self._show(file_name)

    def _show(self, file_name: str) -> None:
        page = next((page for page in self.pages if page.file_name == file_name), None)
        if page is None:
            return
        document = QTextDocument(self.browser)
        document.setDefaultFont(self.theme.font("reading"))
        document.setDocumentMargin(0)
        document.setMarkdown(page.markdown, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        _space(document, self.theme)
        self.browser.setDocument(document)
        self.browser.verticalScrollBar().setValue(0)

    def _follow(self, url: QUrl) -> None:
        if url.isRelative():
            self._go_to(url.path())
        elif url.scheme() in ("https", "http"):
            QDesktopServices.openUrl(url)

    def restyle(self) -> None:
        theme = self.theme
        self._head.setContentsMargins(theme.px(20), theme.px(10), theme.px(12), theme.px(10))
        margin = theme.px(8)
        self.places.setViewportMargins(0, margin, 0, margin)
        self.browser.setViewportMargins(theme.px(24), theme.px(16), theme.px(24), theme.px(16))
        self._show(self.places.current)

    def arrange(self) -> None:
        width = self.panel_rect().width()
        self.places.setFixedWidth(min(self.theme.type_px(_LIST_WIDTH), width * 2 // 5))
        super().arrange()

    def panel_rect(self) -> QRect:
        theme = self.theme
        side = theme.px(24)
        width = min(theme.type_px(_WIDTH), self.width() - 2 * side)
        height = min(theme.type_px(_HEIGHT), self.height() - 2 * side)
        return QRect((self.width() - width) // 2, (self.height() - height) // 2, width, height)


def _anchor_of(heading: str) -> str:
    """A heading as the fragment of a link: letters without accents and digits, hyphens for the rest."""
    plain = unicodedata.normalize("NFKD", heading.casefold())
    return re.sub(r"[^a-z0-9]+", "-", "".join(each for each in plain if not unicodedata.combining(each))).strip("-")


def _space(document: QTextDocument, theme: Theme) -> None:
    """Give blocks the designed sizes and air; Qt's Markdown reader knows neither."""
    block = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        form = block.blockFormat()
        heading = form.headingLevel()
        if heading:
            cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
            letters = QTextCharFormat()
            letters.setFont(theme.font({1: "title", 2: "heading"}.get(heading, "body"), 600))
            cursor.setCharFormat(letters)
        table = _table_around(QTextCursor(block))
        if table is None:
            form.setTopMargin(theme.px(16 if heading == 2 else 4))
            form.setBottomMargin(theme.px(6))
        else:
            _fit_table(table, theme)
        form.setLineHeight(135.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        QTextCursor(block).setBlockFormat(form)
        _set_bold(block)
        block = block.next()


def _set_bold(block: QTextBlock) -> None:
    """Take the heaviest face there is: a font without the weight that Markdown means is smeared."""
    parts, place = [], block.begin()
    while not place.atEnd():
        parts.append(place.fragment())
        place += 1
    for part in parts:
        if part.charFormat().fontWeight() > QFont.Weight.DemiBold.value:
            cursor = QTextCursor(block)
            cursor.setPosition(part.position())
            cursor.setPosition(part.position() + part.length(), QTextCursor.MoveMode.KeepAnchor)
            letters = QTextCharFormat()
            letters.setFontWeight(QFont.Weight.DemiBold.value)
            cursor.mergeCharFormat(letters)


def _table_around(cursor: QTextCursor) -> QTextTable | None:
    return cursor.currentTable()  # None outside a table, whatever the stubs say


def _fit_table(table: QTextTable, theme: Theme) -> None:
    form = table.format()
    form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    form.setCellPadding(theme.px(4))
    form.setCellSpacing(0)
    form.setBorder(0)
    form.setTopMargin(theme.px(4))
    form.setBottomMargin(theme.px(10))
    table.setFormat(form)
    for row in range(table.rows()):
        for column in range(table.columns()):
            cell = table.cellAt(row, column)
            ruled = cell.format().toTableCellFormat()
            ruled.setBottomBorder(1)
            ruled.setBottomBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            ruled.setBottomBorderBrush(theme.color("line"))
            cell.setFormat(ruled)
