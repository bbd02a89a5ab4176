"""What pressing something in a message does: fold, wrap, copy here; everything else is a signal of the view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.ui.conversation.json_actions import JsonActions
from app.ui.conversation.selection import selected_text
from app.ui.conversation.units import BODY, HEAD, SOURCES, STATE, THOUGHT
from app.ui.kit.discard import discard
from app.ui.kit.markdown.code import file_name
from app.ui.kit.markdown.inline import FOOTNOTE_LINK

if TYPE_CHECKING:
    from app.ui.conversation.boxes import Control
    from app.ui.conversation.units import ControlReference, Key
    from app.ui.conversation.view import MessageView


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
        self._put(self._view.row(spot.row_id).text.strip(), spot)

    def copy_selection(self, *, as_source: bool = False) -> bool:
        view = self._view
        text = selected_text(view.stack, view.selection, as_source=as_source)
        if text:
            self._put(text, None)
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
        model.memory.thoughts_open = not model.thoughts_open
        self._rebuild(spot, HEAD)
        view.thoughts_folded.emit(spot.row_id, not model.memory.thoughts_open)

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
        menu = QMenu(view)
        found = view.pointer.control_at(QPointF(at))
        over = view.pointer.box_at(QPointF(at))
        selected = view.selection.range is not None
        if selected:
            menu.addAction(view.tr("Copy"), view.copy)
            menu.addAction(view.tr("Copy as Markdown"), lambda: self.copy_selection(as_source=True))
        if found is not None and found[1].action[0] == "link":
            url = found[1].action[1]
            menu.addAction(view.tr("Copy link"), lambda: self._put(url, None))
        if found is not None and found[1].action[0] == "json" and len(found[1].action) == 4:
            JsonActions(view).add_to_menu(menu, found[0], found[1].action)
        if over is not None:
            row = view.stack.rows[over[0].row]
            menu.addAction(view.tr("Copy message"), lambda: self._put(row.text.strip(), None))
        if view.stack.rows:
            menu.addSeparator()
            menu.addAction(view.tr("Select all"), view.select_all)
        if menu.isEmpty():
            discard(menu)
            return
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(global_at)
