"""Help (F1): the user handbook, opened at the page about the place where the person is."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRect, QUrl
from PySide6.QtGui import QDesktopServices, QTextBlockFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QVBoxLayout, QWidget

from app.ui.shared.buttons import IconButton
from app.ui.shared.label import Label
from app.ui.shared.surfaces import rule
from app.ui.shared.theme import Theme
from app.ui.shell.handbook import page_for, read_pages
from app.ui.shell.modal_layer import ModalLayer

_WIDTH, _HEIGHT = 860, 640
_LIST_WIDTH = 200


class HelpSheet(ModalLayer):
    """Pages at the left, the page at the right. Links to other pages work; those to the web ask the system."""

    def __init__(self, theme: Theme, window: QWidget, folder: Path) -> None:
        super().__init__(theme, window, "Handbook")
        self._pages = read_pages(folder)
        self._list = QListWidget()
        self._list.setAccessibleName("Pages of the handbook")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        for page in self._pages:
            self._list.addItem(QListWidgetItem(page.title))
        self._list.currentRowChanged.connect(self._show)
        self._browser = QTextBrowser()
        self._browser.setAccessibleName("Handbook page")
        self._browser.setOpenLinks(False)
        self._browser.anchorClicked.connect(self._follow)
        self._head = QHBoxLayout()
        self._head.addWidget(Label(theme, "Handbook", "heading"))
        self._head.addStretch(1)
        close = IconButton(theme, "close", "Close", shortcut="Esc")
        close.clicked.connect(self.close_layer)
        self._head.addWidget(close)
        self._row = QHBoxLayout()
        self._row.addWidget(self._list)
        self._row.addWidget(rule(vertical=True))
        self._row.addWidget(self._browser, 1)
        layout = QVBoxLayout(self.panel)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addLayout(self._head)
        layout.addWidget(rule())
        layout.addLayout(self._row, 1)
        self.restyle()

    def open(self, place: str) -> None:
        """Show the page about `place` (a tab's name, "" for the first page)."""
        page = page_for(self._pages, place)
        if page is not None:
            self._list.setCurrentRow(self._pages.index(page))
        self.open_layer()

    def first_focus(self) -> QWidget:
        return self._list

    def _show(self, row: int) -> None:
        if not 0 <= row < len(self._pages):
            return
        page = self._pages[row]
        document = QTextDocument(self._browser)
        document.setDefaultFont(self.theme.font("reading"))
        document.setDocumentMargin(0)
        document.setMarkdown(page.markdown, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        _space(document, self.theme)
        self._browser.setDocument(document)
        self._browser.verticalScrollBar().setValue(0)

    def _follow(self, url: QUrl) -> None:
        if url.isRelative():
            page = next((page for page in self._pages if page.file_name == url.path()), None)
            if page is not None:
                self._list.setCurrentRow(self._pages.index(page))
        elif url.scheme() in ("https", "http"):
            QDesktopServices.openUrl(url)

    def restyle(self) -> None:
        theme = self.theme
        self._head.setContentsMargins(theme.px(20), theme.px(10), theme.px(12), theme.px(10))
        self._list.setFixedWidth(theme.type_px(_LIST_WIDTH))
        self._list.setFont(theme.font("body"))
        self._list.setSpacing(theme.px(2))
        margin = theme.px(16)
        self._list.setContentsMargins(0, margin, 0, margin)
        self._browser.setViewportMargins(theme.px(24), theme.px(16), theme.px(24), theme.px(16))
        self._show(self._list.currentRow())

    def panel_rect(self) -> QRect:
        theme = self.theme
        side = theme.px(24)
        width = min(theme.type_px(_WIDTH), self.width() - 2 * side)
        height = min(theme.type_px(_HEIGHT), self.height() - 2 * side)
        return QRect((self.width() - width) // 2, (self.height() - height) // 2, width, height)


def _space(document: QTextDocument, theme: Theme) -> None:
    """Give blocks the designed line height and air; Qt's Markdown reader knows neither."""
    block = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        form = block.blockFormat()
        heading = form.headingLevel()
        if heading:
            style = {1: "title", 2: "heading"}.get(heading, "body")
            cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
            letters = cursor.charFormat()
            letters.setFont(theme.font(style, 600))
            cursor.mergeCharFormat(letters)
        if not cursor.currentTable():
            form.setTopMargin(theme.px(18 if heading == 2 else 4))
            form.setBottomMargin(theme.px(6))
        form.setLineHeight(140.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        QTextCursor(block).setBlockFormat(form)
        block = block.next()
