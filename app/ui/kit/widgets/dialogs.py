"""Modal dialogs to be awaited: never a nested event loop.

The default button is never the one that pays, signs or deletes. The window behind is dimmed while one is open.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.core.tasks import TaskScope
from app.core.typed_text import DialogDrafts, TypedInDialog
from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.layer import Layer
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, QuietButton
from app.ui.kit.widgets.fields import bind_label
from app.ui.kit.widgets.focus_ring import FocusRing
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.surfaces import SCROLL_BAR_PX, keep_scroll_bar, zone

WIDTH = 440
_SHOWN = QLineEdit.EchoMode.Normal
MAX_SHARE = 0.85  # of the height of the window behind


class Scrim(Layer):
    """Dims the window behind a dialog and takes its clicks and keys."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme = theme
        self._window = window
        window.installEventFilter(self)
        self.setGeometry(window.rect())
        self.raise_()
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and alive(self._window):
            self.setGeometry(self._window.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._theme.color("scrim"))


class Dialog(QDialog):
    """A dialog with a scrolling `body` between a title and a fixed footer. Add buttons with `add_button`.

    Use `await answer()`: it opens the dialog, dims the window behind, and returns True when it was accepted. What the
    dialog itself starts belongs to its `tasks`, which are canceled before its widgets are gone.

    What a person typed and left with Esc is there again when the same dialog opens about the same `subject` (an id),
    as long as the window is open. Secrets are not kept.
    """

    keeps_typed = True  # False where a dialog keeps its text itself, or must not

    def __init__(self, theme: Theme, parent: QWidget, title: str, *, width: int = WIDTH, subject: str = "") -> None:
        super().__init__(parent)
        self._primary: Button | None = None
        self._is_careful = False  # another button than the primary one is pressed by Enter
        self._subject = f"{type(self).__name__} {title} {subject}"
        self._first_texts: dict[str, str] = {}
        self._theme = theme
        self._width = width
        self.tasks = TaskScope(self._crashed)
        self._crash: Exception | None = None
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        inner = QWidget()
        zone(inner, "surface")
        self.body = QVBoxLayout(inner)
        self.body.setContentsMargins(theme.px(24), theme.px(24), theme.px(24) - SCROLL_BAR_PX, theme.px(16))
        self.body.setSpacing(theme.px(12))
        self.title = Label(theme, title, "heading", wrap=True)
        self.body.addWidget(self.title)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        keep_scroll_bar(self._scroll)
        self._scroll.setWidget(inner)
        outer.addWidget(self._scroll, 1)
        self._footer = QFrame()
        self._footer.setProperty("part", "footer")
        self._buttons = QHBoxLayout(self._footer)
        self._buttons.setContentsMargins(theme.px(16), theme.px(12), theme.px(16), theme.px(12))
        self._buttons.setSpacing(theme.px(8))
        self._buttons.addStretch(1)
        outer.addWidget(self._footer)
        self._ring = FocusRing(theme, self)

    def add_button(self, text: str, *, kind: str = "", accepts: bool | None = None, default: bool = False) -> Button:
        """Add a button to the footer, from left to right; `accepts` True or False ends the dialog with it.

        Ctrl+Enter presses the primary button, unless another one is the `default`: then the dialog asks to be careful.
        """
        button = Button(self._theme, text, kind=kind)
        if default:
            button.setDefault(True)
        if kind == "primary":
            self._primary = button
        elif default:
            self._is_careful = True
        if accepts is not None:
            button.clicked.connect(self.accept if accepts else self.reject)
        self._buttons.addWidget(button)
        return button

    def add_beside_buttons(self, widget: QWidget) -> None:
        """Put a widget into the footer, before the buttons: it never scrolls out of sight."""
        self._buttons.insertWidget(0, widget, 1)
        self._buttons.setStretch(1, 0)  # the room at the left is this widget's alone

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by page with the keyboard on a button of the footer, too."""
        primary = None if self._is_careful else self._primary
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self._scroll.keyPressEvent(event)
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier and primary is not None:
            primary.click()  # nothing happens while it is off
        else:
            super().keyPressEvent(event)

    def show_in_view(self, widget: QWidget) -> None:
        """Scroll the body to a widget in it."""
        self._scroll.ensureWidgetVisible(widget)

    async def answer(self) -> bool:
        """Open, wait, and return whether the person agreed. Closed with the task that waits.

        Raises what one of the dialog's own tasks crashed with.
        """
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def done(result: int) -> None:
            if not future.done():
                future.set_result(result == int(QDialog.DialogCode.Accepted))

        parent = self.parentWidget()
        scrim = Scrim(self._theme, parent.window()) if parent is not None else None
        self._bring_back_typed()
        self.finished.connect(done)
        self._fit()
        self._theme.changed.connect(self._fit)  # the size of the text may change while it is open
        self.open()
        try:
            return await future
        finally:
            if scrim is not None:
                discard(scrim)
            self.close()
            await self.tasks.aclose()
            discard(self)
            if self._crash is not None:
                raise self._crash

    # What was typed

    def _text_fields(self) -> dict[str, QLineEdit | TextArea]:
        """Return the fields that people write in, by name."""
        found: dict[str, QLineEdit | TextArea] = {}
        names = Counter[str]()
        fields: list[QLineEdit | TextArea] = [*self.findChildren(QLineEdit), *self.findChildren(TextArea)]
        for field in fields:
            if field.isReadOnly() or isinstance(field, SearchField) or isinstance(field.parent(), QAbstractSpinBox):
                continue
            if isinstance(field, QLineEdit) and (field.property("secret") or field.echoMode() != _SHOWN):
                continue
            name = field.accessibleName()
            names[name] += 1
            found[f"{name} {names[name]}"] = field
        return found

    def _drafts(self) -> DialogDrafts | None:
        window = self.parentWidget()
        while window is not None and isinstance(window.window(), Dialog):
            window = window.window().parentWidget()
        return DialogDrafts.of(window.window()) if window is not None and self.keeps_typed else None

    def _bring_back_typed(self) -> None:
        """Put in what was typed here last time, where the fields begin as they did then."""
        drafts = self._drafts()
        if drafts is None:
            return
        fields = self._text_fields()
        self._first_texts = {name: _text_of(field) for name, field in fields.items()}
        kept = drafts.take(self._subject)
        back = [name for name in kept if self._first_texts.get(name) == kept[name].before]
        for name in back:
            _write(fields[name], kept[name].text)
        if back:
            self._offer_start_over(back)

    def _offer_start_over(self, names: list[str]) -> None:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(Label(self._theme, tr("This is what you typed here last time."), "small", "text2"), 1)
        again = QuietButton(self._theme, tr("Start over"), size="small")
        row.addWidget(again)
        self.body.insertWidget(1, line)

        def start_over() -> None:
            fields = self._text_fields()
            for name in names:
                if name in fields:
                    _write(fields[name], self._first_texts[name])
            line.hide()
            fields[names[0]].setFocus(Qt.FocusReason.OtherFocusReason)

        again.clicked.connect(start_over)

    def done(self, result: int) -> None:
        """End the dialog; what was typed is kept unless it was accepted."""
        drafts = self._drafts()
        is_left = self.isVisible() and result != int(QDialog.DialogCode.Accepted)
        if drafts is not None and is_left and self._first_texts:
            now = {name: _text_of(field) for name, field in self._text_fields().items()}
            drafts.keep(
                self._subject,
                {
                    name: TypedInDialog(before, now[name])
                    for name, before in self._first_texts.items()
                    if name in now and now[name] != before and now[name].strip()
                },
            )
        super().done(result)

    def _crashed(self, error: Exception) -> None:
        self._crash = error
        self.reject()

    def _fit(self) -> None:
        """Take the room that title, body and buttons need in the text's size, within the window behind."""
        if not alive(self):
            return
        width = self._theme.type_px(self._width)
        parent = self.parentWidget()
        window = parent.window() if parent is not None else None
        while isinstance(window, Dialog) and (parent := window.parentWidget()) is not None:  # a dialog over a dialog
            window = parent.window()
        if window is not None:
            width = min(width, max(320, window.width() - 2 * self._theme.px(24)))
        inner = self._scroll.widget()
        layout = inner.layout() if inner is not None else None
        body = 0
        if layout is not None:  # where nothing wraps, a layout tells no height for a width
            layout.activate()
            wraps = layout.hasHeightForWidth()
            body = layout.heightForWidth(width - SCROLL_BAR_PX) if wraps else layout.sizeHint().height()
        if inner is not None:
            inner.setMinimumHeight(body)  # what has too little room scrolls; it is never squeezed
        height = body + self._footer.sizeHint().height()
        if window is not None:
            height = min(height, round(window.height() * MAX_SHARE))
        self.resize(width, height)


def _text_of(field: QLineEdit | TextArea) -> str:
    return field.text() if isinstance(field, QLineEdit) else field.toPlainText()


def _write(field: QLineEdit | TextArea, text: str) -> None:
    """Replace a text as a person does, so that whatever depends on it follows; Ctrl+Z brings the former one back."""
    field.selectAll()
    if isinstance(field, QLineEdit):
        field.insert(text)
    else:
        field.insertPlainText(text)


async def confirm(
    theme: Theme,
    parent: QWidget,
    title: str,
    text: str,
    *,
    action: str,
    danger: bool = False,
    cancel: str = tr("Cancel"),
) -> bool:
    """Ask before something that cannot be taken back. With `danger` the default button is the one that does nothing."""
    dialog = Dialog(theme, parent, title)
    dialog.body.addWidget(Label(theme, text, role="text2", wrap=True))
    stay = dialog.add_button(cancel, accepts=False, default=danger)
    go = dialog.add_button(action, kind="danger-fill" if danger else "primary", accepts=True, default=not danger)
    (stay if danger else go).setFocus()
    return await dialog.answer()


async def ask_text(
    theme: Theme,
    parent: QWidget,
    title: str,
    label: str,
    *,
    value: str = "",
    action: str = tr("Save"),
    max_chars: int = 200,
) -> str | None:
    """Ask for one line; None when the person leaves. An empty line cannot be saved."""
    dialog = Dialog(theme, parent, title)
    words = Label(theme, label, "small", "text2", weight=500)
    field = QLineEdit(value)
    field.setMaxLength(max_chars)
    field.selectAll()
    bind_label(words, field)
    dialog.body.addWidget(words)
    dialog.body.addWidget(field)
    dialog.add_button(tr("Cancel"), accepts=False)
    save = dialog.add_button(action, kind="primary", accepts=True, default=True)

    def check(text: str) -> None:
        save.setEnabled(bool(text.strip()))

    field.textChanged.connect(check)
    check(value)
    field.setFocus()
    return field.text().strip() if await dialog.answer() else None
