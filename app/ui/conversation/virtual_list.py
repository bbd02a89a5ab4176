"""Which units are on screen, and where. The truth is one place, (row, unit, offset); heights are never summed up.

Rows far away are a line of text in a list: they are taken apart when they come near and forgotten when they are far.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.ui.conversation.scroll_estimate import ScrollEstimate
from app.ui.conversation.units import Key, RowViewState, Styles, Unit
from app.ui.kit.qt_workarounds.garbage_collector import release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.ui.conversation.layout import MessageLayout
    from app.ui.conversation.rows import MessageRow

KEPT_ROWS = 24  # rows that stay taken apart though they are not on screen
KEPT_UNITS = 90  # units that stay laid out
BOTTOM_PX = 20  # air below the last message


@dataclass(slots=True)
class Anchor:
    """The unit at the upper edge and how many px of it are above the edge."""

    row: int = 0
    key: Key = (0, 0)
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class PlacedUnit:
    """A unit on screen; `y` is in the viewport."""

    row: int
    key: Key
    unit: Unit
    y: int

    @property
    def bottom(self) -> int:
        return self.y + self.unit.height


class _NotYet(Exception):
    """There is more to lay out than may be done at once."""


class VirtualList:
    """All rows, the place that is looked at, and what is to be seen from there."""

    def __init__(self, styles: Styles) -> None:
        self.styles = styles
        self.rows: list[MessageRow] = []
        self.anchor = Anchor()
        self.following = True  # stay at the end while text comes
        self.placed: list[PlacedUnit] = []
        self.weights = ScrollEstimate()
        self._index: dict[str, int] = {}
        self._models: OrderedDict[str, MessageLayout] = OrderedDict()
        self._memories: dict[str, RowViewState] = {}
        self._built: OrderedDict[Unit, None] = OrderedDict()
        self.width = 0
        self.height = 0
        self._until: float | None = None  # when to stop laying out for now
        self._laid_out = 0  # units since `place` was called

    # -- rows ---------------------------------------------------------------------------------------------------------

    def set_rows(self, rows: list[MessageRow]) -> bool:
        """Show other rows; True when they are of the same conversation, whole, shortened or with more above.

        Then what the person chose in them is kept, and rows that are the same as before stay taken apart.
        """
        old_rows, old_index = self.rows, self._index
        self.rows = rows
        self._index = {row.id: number for number, row in enumerate(rows)}
        same = bool(rows and old_rows) and (rows[0].id in old_index or old_rows[0].id in self._index)
        if not same:
            self._memories = {}
            self._models.clear()
            self._built.clear()
            self.placed = []
        for row_id, model in list(self._models.items()):
            number = self._index.get(row_id)
            if number is None:
                del self._models[row_id]
                continue
            if rows[number] != old_rows[old_index[row_id]]:
                model.change(rows[number])
            model.set_first(number == 0)
        self.weights.set_rows(rows)
        release([*old_rows, old_index])
        return same

    def add(self, row: MessageRow) -> None:
        self._index[row.id] = len(self.rows)
        self.rows.append(row)
        self.weights.add(row)

    def change(self, row_id: str, changes: dict[str, Any]) -> MessageRow:
        """Replace fields of a row; raises `KeyError` for a row that is not there."""
        number = self._index[row_id]
        row = self.rows[number] = replace(self.rows[number], **changes)
        model = self._models.get(row_id)
        if model is not None:
            model.change(row)
        if "text" in changes or "reasoning" in changes:
            self.weights.change(number, row)
        return row

    def number_of(self, row_id: str) -> int | None:
        return self._index.get(row_id)

    def memory(self, row_id: str) -> RowViewState:
        return self._memories.setdefault(row_id, RowViewState())

    def model(self, number: int) -> MessageLayout:
        """Return a row taken apart."""
        row = self.rows[number]
        model = self._models.get(row.id)
        if model is None:
            from app.ui.conversation.layout import MessageLayout  # with the first message, not with the window

            model = MessageLayout(row, self.styles, self.memory(row.id), first=number == 0)
            self._models[row.id] = model
        else:
            self._models.move_to_end(row.id)
        return model

    def known_model(self, row_id: str) -> MessageLayout | None:
        """Return a row's model if it is taken apart now."""
        return self._models.get(row_id)

    def known_models(self) -> list[MessageLayout]:
        return list(self._models.values())

    def restyle(self, styles: Styles) -> None:
        """Take other fonts and colors; everything laid out is forgotten."""
        self.styles = styles
        for model in self._models.values():
            model.restyle(styles)
        self._built.clear()

    # -- walking ------------------------------------------------------------------------------------------------------

    def _measure(self, unit: Unit, model: MessageLayout) -> int:
        """Return the height of a unit, laying it out unless that is done. Raises `_NotYet` beyond the budget."""
        if not unit.fits(self.width):
            if self._until is not None and self._laid_out and time.perf_counter() > self._until:
                raise _NotYet
            self._laid_out += 1
            unit.layout(self.width, model.style_of(unit))
        self._built[unit] = None
        self._built.move_to_end(unit)
        return unit.height

    def _down(self, number: int, key: Key) -> Iterator[tuple[int, Key, Unit, MessageLayout]]:
        """Walk down over the units from `key` of row `number`, or from where it would be."""
        for row in range(number, len(self.rows)):
            model = self.model(row)
            first, at = key if row == number else (0, 0)
            for section in range(first, len(model.sections)):
                units = model.sections[section]
                for index in range(at if section == first else 0, len(units)):
                    yield row, (section, index), units[index], model

    def _up(self, number: int, key: Key | None = None) -> Iterator[tuple[int, Key, Unit, MessageLayout]]:
        """Walk up over the units from the one above `key` of row `number`, or from the last one of that row."""
        for row in range(number, -1, -1):
            model = self.model(row)
            last, at = key if key is not None and row == number else (len(model.sections) - 1, None)
            for section in range(last, -1, -1):
                units = model.sections[section]
                end = len(units) if at is None or section != last else min(at, len(units))
                for index in range(end - 1, -1, -1):
                    yield row, (section, index), units[index], model

    def is_last(self, number: int, key: Key) -> bool:
        """Tell whether there is no unit below."""
        section, index = key
        return next(self._down(number, (section, index + 1)), None) is None

    # -- placing ------------------------------------------------------------------------------------------------------

    def place(self, width: int, height: int, bottom_px: int = BOTTOM_PX, budget_s: float | None = None) -> bool:
        """Find out what is on screen in a column of `width` px and a viewport of `height` px: see `placed`.

        With a budget, False says that laying it out takes longer; what was done is kept, so call again soon.
        """
        self.width, self.height = width, height
        if not self.rows:
            self.placed = []
            return True
        before = Anchor(self.anchor.row, self.anchor.key, self.anchor.offset)
        self._until = None if budget_s is None else time.perf_counter() + budget_s
        self._laid_out = 0
        try:
            self.placed = self._find(bottom_px)
        except _NotYet:
            self.anchor = before
            return False
        finally:
            self._until = None
        self._forget()
        return True

    def _find(self, bottom_px: int) -> list[PlacedUnit]:
        if self.following:
            return self._from_end(bottom_px)
        self._settle()
        placed, end = self._from_anchor()
        if placed and end is not None and end + bottom_px < self.height and not self.is_at_start():
            return self._from_end(bottom_px)
        return placed

    def _from_anchor(self) -> tuple[list[PlacedUnit], int | None]:
        """Return what is placed from the anchor down, and where the content ends if that is on screen."""
        anchor = self.anchor
        found: list[PlacedUnit] = []
        y = -round(anchor.offset)
        for number, key, unit, model in self._down(anchor.row, anchor.key):
            high = self._measure(unit, model)
            found.append(PlacedUnit(number, key, unit, y))
            y += high
            if y >= self.height:
                return found, None
        return found, y

    def _from_end(self, bottom_px: int) -> list[PlacedUnit]:
        """Return what is placed when the end of the last message is on screen, and put the anchor there."""
        room = self.height - bottom_px
        above: list[tuple[int, Key, Unit]] = []
        for number, key, unit, model in self._up(len(self.rows) - 1):
            room -= self._measure(unit, model)
            above.append((number, key, unit))
            if room <= 0:
                break
        if not above:
            return []
        y = min(0, room)
        self.anchor = Anchor(above[-1][0], above[-1][1], float(-y))
        found = []
        for number, key, unit in reversed(above):
            found.append(PlacedUnit(number, key, unit, y))
            y += unit.height
        return found

    def _settle(self) -> None:
        """Bring the anchor onto the unit that really is at the upper edge."""
        anchor = self.anchor
        anchor.row = max(0, min(anchor.row, len(self.rows) - 1))
        unit = self.model(anchor.row).unit(anchor.key)
        if unit is None:  # what was there is gone
            model = self.model(anchor.row)
            key = model.previous_key(anchor.key) or model.first_key()
            if key is None:
                near = next(self._down(anchor.row, anchor.key), None) or next(self._up(anchor.row, anchor.key), None)
                if near is None:
                    return
                anchor.row, key = near[:2]
            anchor.key = key
            anchor.offset = 0.0
        if anchor.offset < 0:
            for number, key, unit, model in self._up(anchor.row, anchor.key):
                anchor.row, anchor.key = number, key
                anchor.offset += self._measure(unit, model)
                if anchor.offset >= 0:
                    return
            anchor.offset = 0.0
            return
        high = 0
        for number, key, unit, model in self._down(anchor.row, anchor.key):
            anchor.offset -= high
            anchor.row, anchor.key = number, key
            high = self._measure(unit, model)
            if anchor.offset < high:
                return
        anchor.offset = max(0.0, high - 1.0)

    def is_at_start(self) -> bool:
        """Tell whether the beginning of the first message is at the upper edge."""
        anchor = self.anchor
        return anchor.offset <= 0 and next(self._up(anchor.row, anchor.key), None) is None

    def scroll_by(self, px: float) -> None:
        """Move the place that is looked at by `px`, downwards when positive. Call `place` afterwards."""
        self.anchor.offset += px
        if px < 0:
            self.following = False

    def at_end(self, bottom_px: int = BOTTOM_PX) -> bool:
        """Tell whether the end of the last message is on screen now."""
        if not self.rows or not self.placed:
            return True
        last = self.placed[-1]
        return last.bottom + bottom_px <= self.height + 2 and self.is_last(last.row, last.key)

    def show(self, number: int, key: Key | None = None, offset: float = 0.0) -> None:
        """Put a row (or a unit of it) at the upper edge."""
        first = key or self.model(number).first_key()
        self.following = False
        self.anchor = Anchor(number, first or (0, 0), offset)

    def _forget(self) -> None:
        """Drop what is far away: layouts first, then rows."""
        shown = {placed.unit for placed in self.placed}
        if len(self._built) > KEPT_UNITS + len(shown):
            for unit in list(self._built)[: len(self._built) - KEPT_UNITS]:
                if unit not in shown:
                    unit.drop()
                    del self._built[unit]
        if len(self._models) > KEPT_ROWS * 2:
            rows = {self.rows[placed.row].id for placed in self.placed}
            for row_id in list(self._models)[: len(self._models) - KEPT_ROWS]:
                model = self._models[row_id]
                if row_id not in rows and not model.streaming and not model.backlog:
                    for _, unit in model.units():
                        self._built.pop(unit, None)
                    del self._models[row_id]

    # -- the scroll bar -----------------------------------------------------------------------------------------------

    def bar_value(self) -> int:
        """Return where the scroll bar belongs: a measure of length, not of px."""
        if not self.rows:
            return 0
        anchor = self.anchor
        number = min(anchor.row, len(self.rows) - 1)
        before = whole = 0.0
        for key, unit in self.model(number).units():
            weight = unit.weight
            if key < anchor.key:
                before += weight
            elif key == anchor.key:
                before += weight * min(1.0, anchor.offset / max(1, unit.height))
            whole += weight
        return self.weights.value(number, before / whole if whole else 0.0)

    def go_to_bar(self, value: int) -> None:
        """Look at the place that a value of the scroll bar stands for."""
        if not self.rows:
            return
        number, share = self.weights.place(value)
        model = self.model(number)
        units = [(key, unit, unit.weight) for key, unit in model.units()]
        wanted = share * sum(weight for _, _, weight in units)
        self.following = False
        for key, unit, weight in units:
            if wanted < weight:
                high = self._measure(unit, model) if self.width else 0
                self.anchor = Anchor(number, key, high * wanted / weight)
                return
            wanted -= weight
        if units:
            self.anchor = Anchor(number, units[-1][0], 0.0)
