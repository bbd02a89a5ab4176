"""A lazy tree model of JSON: children are created on first expansion, long lists in slices."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.formats import format_number
from app.service.http.json_large import CONTAINERS, JSON_LIST, JSON_OBJECT, Large
from app.service.http.sanitize import sanitize_text
from app.translation import tr, tr_n
from app.ui.kit.json.node import JsonNode, Path, TreeRoot

Index = QModelIndex | QPersistentModelIndex

NODE = Qt.ItemDataRole.UserRole
MAX_SHOWN_CHARS = 4_096  # of one text; copies are whole


def summary(value: object) -> str:
    """A container in words, any other value as JSON writes it; long texts are cut."""
    if isinstance(value, JSON_OBJECT):
        return tr_n("Object, {n} key", "Object, {n} keys", len(value))
    if isinstance(value, JSON_LIST):
        return tr_n("Array, {n} item", "Array, {n} items", len(value))
    if isinstance(value, str):
        text = value[:MAX_SHOWN_CHARS]
        return sanitize_text(json.dumps(text, ensure_ascii=False)) + ("…" if len(value) > MAX_SHOWN_CHARS else "")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


def path_text(path: Path) -> str:
    """The path as programs write it, without the first-level row: `logs[3].topics[0]`."""
    text = ""
    for step in path[1:]:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


class JsonTreeModel(QAbstractItemModel):
    """One column. `NODE` gives the `JsonNode`; the display text is what a screen reader says."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._top = JsonNode(None, 0, "", None, None)
        self._top.kids = []

    def set_roots(self, roots: Sequence[TreeRoot]) -> None:
        """Show other values. Nothing of them is looked at but the first level.

        Rows go and come, the model is not reset: that would make the column anew, and its width, and paint twice.
        """
        if self._top.kids:
            self.beginRemoveRows(QModelIndex(), 0, len(self._top.kids) - 1)
            self._top.kids = []
            self.endRemoveRows()
        if roots:
            self.beginInsertRows(QModelIndex(), 0, len(roots) - 1)
            self._top.kids = [JsonNode(self._top, row, root.key, root.value, root) for row, root in enumerate(roots)]
            self.endInsertRows()

    def node(self, index: Index) -> JsonNode:
        """The node of an index; the top for an invalid one."""
        return index.internalPointer() or self._top  # asked for some twenty times for each row that is painted

    def index_of(self, path: Path) -> QModelIndex:
        """The index of a place, its row made if it was not; an invalid one for a place that is not there."""
        index = QModelIndex()
        for step in path:
            place = self._place_of(self.node(index), step)
            if place is None:
                return QModelIndex()
            index = self._index_below(index, place)
        return index

    def _index_below(self, index: QModelIndex, place: int) -> QModelIndex:
        """The index of the member at `place`, through the parts in which it stands."""
        while True:
            node = self.node(index)
            self.fetchMore(index)
            kids, row = node.kids or [], place if node.parent is None else place - node.places.start
            if not kids or kids[0].span is None:
                return self.index(row, 0, index)
            index = self.index(row // len(kids[0].span), 0, index)

    def _place_of(self, node: JsonNode, step: str | int) -> int | None:
        if node.parent is None:
            return step if isinstance(step, int) and node.kids is not None and step < len(node.kids) else None
        if isinstance(node.value, JSON_OBJECT):
            return next((place for place, key in enumerate(node.value) if key == step), None)
        return step if isinstance(step, int) and 0 <= step < len(node.places) else None

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008  # Qt's own
        node = self.node(parent)
        if column != 0 or node.kids is None or not 0 <= row < len(node.kids):
            return QModelIndex()
        return self.createIndex(row, 0, node.kids[row])

    def parent(self, index: Index = QModelIndex()) -> Any:  # noqa: B008  # Qt has two methods of this name
        if not index.isValid():
            return QModelIndex()
        parent = self.node(index).parent
        if parent is None or parent.parent is None:
            return QModelIndex()
        return self.createIndex(parent.row, 0, parent)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own
        return len(self.node(parent).kids or ())

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  # Qt's own
        return 1

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008  # Qt's own
        node = self.node(parent)
        return bool(node.kids) or node.may_unfold

    def canFetchMore(self, parent: Index) -> bool:
        node = self.node(parent)
        return node.kids is None and node.may_unfold

    def fetchMore(self, parent: Index) -> None:
        if not self.canFetchMore(parent):
            return
        node = self.node(parent)
        new = node.made()
        if not new:  # an empty one that was not read before
            node.kids = new
            return
        self.beginInsertRows(self._index_of(node), 0, len(new) - 1)
        node.kids = new
        self.endInsertRows()

    def _index_of(self, node: JsonNode) -> QModelIndex:
        return self.createIndex(node.row, 0, node)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        node = self.node(index)
        if role == NODE:
            return node
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            root = node.root
            if node.span is not None:
                return tr(
                    "Entries {start} to {stop}",
                    start=format_number(node.span.start),
                    stop=format_number(node.span.stop - 1),
                )
            if root is None:
                return sanitize_text(f"{node.key}: {summary(node.value)}")
            words = (root.label, f"{node.key}: {root.words or summary(node.value)}", root.note, root.detail)
            return sanitize_text(" ".join(part for part in words if part))
        return None


def copied(value: object) -> str:
    """What Ctrl+C puts on the clipboard: a text bare, everything else as JSON, large JSON as it came."""
    if isinstance(value, Large):
        return value.text
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def find(roots: Sequence[TreeRoot], text: str, limit: int) -> list[Path]:
    """The places whose name or value holds `text`, in any case, in order; at most `limit`. Call it in a thread."""
    wanted = text.casefold()
    found: list[Path] = []
    if not wanted:
        return found
    waiting: list[Iterator[tuple[Path, str | int, object]]] = [
        iter([((row,), root.key, root.value) for row, root in enumerate(roots)])
    ]
    while waiting and len(found) < limit:
        place = next(waiting[-1], None)
        if place is None:
            waiting.pop()
            continue
        path, key, value = place
        is_container = isinstance(value, CONTAINERS)
        if (isinstance(key, str) and wanted in key.casefold()) or (not is_container and wanted in _searched(value)):
            found.append(path)
        if is_container:
            waiting.append(_members(path, value))
    return found


def _members(path: Path, value: object) -> Iterator[tuple[Path, str | int, object]]:
    pairs: Any = value.items() if isinstance(value, JSON_OBJECT) else enumerate(value)  # type: ignore[arg-type]  # a list
    return (((*path, key), key, each) for key, each in pairs)


def _searched(value: object) -> str:
    return value.casefold() if isinstance(value, str) else summary(value).casefold()
