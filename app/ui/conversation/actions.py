"""What pressing something in a message does: fold, wrap, copy here; everything else is a signal of the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QPoint, QPointF
from PySide6.QtGui import QGuiApplication

from app.translation import tr
from app.ui.conversation.json_actions import JsonActions
from app.ui.conversation.keyboard import stops
from app.ui.conversation.selection import (
    MOST_FORMATTED,
    html_text,
    markdown_text,
    plain_text,
    selected_html,
    selected_text,
)
from app.ui.conversation.units import BODY, HEAD, SOURCES, STATE, THOUGHT
from app.ui.kit.discard import discard
from app.ui.kit.markdown.code import file_name
from app.ui.kit.markdown.inline import FOOTNOTE_LINK
from app.ui.kit.widgets.menu import Menu

if TYPE_CHECKING:
    from app.ui.conversation.boxes import Control
    from app.ui.conversation.rows import MessageRow
    from app.ui.conversation.units import ControlReference, Key
    from app.ui.conversation.view import MessageView


def put_on_clipboard(text: str, html: str = "") -> None:
    """Put text on the clipboard, and with it the same as HTML; "" for text alone."""
    data = QMimeData()
    data.setText(text)
    if html:
        data.setHtml(html)
    QGuiApplication.clipboard().setMimeData(data)


class Actions:
    """Carries out the actions of controls."""

    def __init__(self, view: MessageView) -> None:
        self._view = view

    def run(self, spot: ControlReference, control: Control) -> None:
        view = self._view
        name, *rest = control.action
        match name:
            case "source":
                view.source_activated.emit(spot.row_id, int(rest[0]))
            case "attachment":
                view.attachment_activated.emit(spot.row_id, int(rest[0]))
            case "link":
                view.link_activated.emit(rest[0])
            case "footnote":
                self._go_to_footnote(spot, rest[0])
            case "action":
                if rest[0] == "copy":
                    self._copy_row(spot)
                elif rest[0] == "more":
                    self._open_more(spot)
                view.action.emit(spot.row_id, rest[0])
            case "code-copy" | "code-save" | "code-wrap":
                self._code(spot, name)
            case "json":
                JsonActions(self._view).run(spot, rest)
            case "fold":
                self._fold(spot)
            case "copy-thoughts":
                self._put(self._view.row(spot.row_id).reasoning.strip(), spot)
            case "all-sources":
                view.stack.memory(spot.row_id).all_sources = True
                self._rebuild(spot, SOURCES)
            case "details":
                memory = view.stack.memory(spot.row_id)
                memory.details_open = not memory.details_open
                self._rebuild(spot, STATE)
            case "copy-details":
                problem = view.row(spot.row_id).problem
                if problem is not None:
                    self._put(problem.details_text(), spot)

    # -- copying ------------------------------------------------------------------------------------------------------

    def _put(self, text: str, spot: ControlReference | None) -> None:
        QGuiApplication.clipboard().setText(text)
        if spot is not None:
            self._view.show_done(spot)

    def _copy_row(self, spot: ControlReference) -> None:
        """Copy an answer without its thoughts."""
        self._put_formatted(self._view.row(spot.row_id))
        self._view.show_done(spot)

    def _put_formatted(self, row: MessageRow) -> None:
        """Put a message on the clipboard as text, and as HTML for programs that take it."""
        put_on_clipboard(plain_text(row), html_text(row))

    def copy_row(self, row_id: str) -> None:
        """Copy a message, as its button does."""
        self._put_formatted(self._view.row(row_id))

    def copy_selection(self, *, as_source: bool = False) -> bool:
        view = self._view
        text = selected_text(view.stack, view.selection, as_source=as_source)
        if text:
            plain = as_source or len(text) > MOST_FORMATTED
            put_on_clipboard(text, "" if plain else selected_html(view.stack, view.selection))
        return bool(text)

    def copy_plain(self, text: str) -> bool:
        """Copy a text as it is; False for none."""
        if text:
            put_on_clipboard(text, "")
        return bool(text)

    # -- code ---------------------------------------------------------------------------------------------------------

    def _code(self, spot: ControlReference, name: str) -> None:
        view = self._view
        number = view.stack.number_of(spot.row_id)
        if number is None:
            return
        model = view.stack.model(number)
        unit = model.unit(spot.key)
        box = unit.boxes[spot.box] if unit is not None else None
        if unit is None or box is None or box.group is None or box.sideways is None:
            return
        flow = model.thoughts if spot.key[0] == THOUGHT else model.answer
        whole_block = unit.segment is not None and unit.segment.kind == "code"
        text = flow.code_text(spot.key[1]) if whole_block else box.source
        if name == "code-copy":
            self._put(text, spot)
        elif name == "code-save":
            view.save_requested.emit(text, file_name(box.group.language))
        else:
            box.group.wrap = not box.group.wrap
            box.sideways.offset = 0.0
            for each in flow.code_units(spot.key[1]) if whole_block else [unit]:
                each.stale()
            self.hold(spot.row_id, spot.key)
            view.refresh()

    # -- folding ------------------------------------------------------------------------------------------------------

    def _fold(self, spot: ControlReference) -> None:
        view = self._view
        number = view.stack.number_of(spot.row_id)
        if number is None:
            return
        model = view.stack.model(number)
        model.memory.reasoning_open = not model.reasoning_open
        self._rebuild(spot, HEAD)
        view.reasoning_folded.emit(spot.row_id, not model.memory.reasoning_open)

    def _rebuild(self, spot: ControlReference, section: int) -> None:
        """Show a section anew, with what was pressed staying where it is."""
        view = self._view
        number = view.stack.number_of(spot.row_id)
        if number is None:
            return
        model = view.stack.model(number)
        for unit in model.sections[section]:
            unit.drop()
        model.arrange()
        self.hold(spot.row_id, spot.key)
        view.refresh()

    def hold(self, row_id: str, key: Key) -> None:
        """Keep a unit where it is on screen while things around it change."""
        view = self._view
        number = view.stack.number_of(row_id)
        for placed in view.stack.placed:
            if placed.row == number and placed.key == key:
                view.stack.show(placed.row, key, -float(placed.y))
                return

    def _go_to_footnote(self, spot: ControlReference, target: str) -> None:
        view = self._view
        number = view.stack.number_of(spot.row_id)
        if number is None:
            return
        start = f"[^{target.removeprefix(FOOTNOTE_LINK)}]:"
        for index, unit in enumerate(view.stack.model(number).answer.units):
            if unit.segment is not None and unit.segment.source.lstrip().startswith(start):
                view.show_unit(number, (BODY, index))
                return

    # -- the menu -----------------------------------------------------------------------------------------------------

    def open_menu(self, at: QPoint, global_at: QPoint) -> None:
        """Offer what can be done at `at`; opens without a nested loop."""
        view = self._view
        menu = Menu(view.theme, view)
        found = view.pointer.control_at(QPointF(at))
        over = view.pointer.box_at(QPointF(at))
        if view.selection.range is not None:
            copy = menu.add(tr("Copy the selection"), "copy", shortcut="Ctrl+C")
            copy.triggered.connect(view.copy)
            source = menu.add(tr("Copy the selection as Markdown"), "copy")
            source.triggered.connect(lambda: self.copy_selection(as_source=True))
        if found is not None and found[1].action[0] == "link":
            url = found[1].action[1]
            menu.add(tr("Copy link"), "link").triggered.connect(lambda: self._put(url, None))
        if found is not None and found[1].action[0] == "json" and len(found[1].action) == 4:
            JsonActions(view).add_to_menu(menu, found[0], found[1].action)
        if found is not None and found[1].action[0] == "attachment":
            self._add_attachment(menu, found[0].row_id, int(found[1].action[1]))
        self._show_menu(menu, view.stack.rows[over[0].row].id if over is not None else "", global_at)

    def _add_attachment(self, menu: Menu, row_id: str, index: int) -> None:
        view = self._view
        if view.row(row_id).attachments[index].kind == "image":
            show = menu.add(tr("Open image"), "expand")
            show.triggered.connect(lambda: view.attachment_activated.emit(row_id, index))
            copy = menu.add(tr("Copy image"), "copy")
            copy.triggered.connect(lambda: view.attachment_action.emit(row_id, index, "copy"))
        save = menu.add(tr("Save as…"), "download")
        save.triggered.connect(lambda: view.attachment_action.emit(row_id, index, "save"))

    def _open_more(self, spot: ControlReference) -> None:
        """The same menu, under the button of a message."""
        view = self._view
        for reference, control, placed in stops(view):
            if reference == spot:
                corner = view.control_rect(placed, reference, control).bottomLeft().toPoint()
                self._show_menu(Menu(view.theme, view), spot.row_id, view.viewport().mapToGlobal(corner))
                return

    def _show_menu(self, menu: Menu, row_id: str, global_at: QPoint) -> None:
        """Open a menu with what can be done with a message, and with all of them, below what is in it already."""
        view = self._view
        if row_id:
            row = view.row(row_id)
            menu.addSeparator()
            copy = menu.add(tr("Copy message"), "copy", enabled=bool(row.text.strip()))
            copy.triggered.connect(lambda: self._put_formatted(row))
            source = menu.add(tr("Copy as Markdown"), "copy", enabled=bool(row.text.strip()))
            source.triggered.connect(lambda: self._put(markdown_text(row), None))
            view.menu_opening.emit(menu, row_id)
        if view.stack.rows:
            menu.addSeparator()
            menu.add(tr("Select all"), shortcut="Ctrl+A").triggered.connect(view.select_all)
        if menu.isEmpty():
            discard(menu)
            return
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(global_at)
