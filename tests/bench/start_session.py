"""The processes that tell `bench_start` where a start goes: `stages`, `tree FILE` and `plain FILE`.

`stages` is the program, with a moment in the ready file after each part of its start. `tree` is the program as well;
it writes down which widgets are in its window at the first paint. `plain` shows those widgets, Qt's own classes with
the same places and texts and nothing else: what PySide and Qt alone take for such a window.
"""

import json
import os
import sys
import time
from functools import partial
from pathlib import Path

NEAREST = {"QSplitterHandle": "QWidget", "QAbstractButton": "QPushButton"}  # of what cannot be made by itself
STAGES = ("Python", "PySide", "modules", "application", "window", "Chat", "ready")  # `ready`: the first paint


def note(moment: str) -> None:
    with Path(os.environ["RIALTO_READY_FILE"]).open("a", encoding="utf-8") as file:
        file.write(f"{moment} {time.monotonic_ns()}\n")


def stages() -> int:
    note("Python")
    from app.ui.kit.qt_workarounds.pyside_features import read_no_sources

    read_no_sources()
    from PySide6 import QtGui, QtWidgets  # noqa: F401 - what it takes to have them

    note("PySide")
    from app.bootstrap import start
    from app.bootstrap.rialto import Rialto
    from app.ui.kit.theme import Theme

    note("modules")
    begin, release_sheet = Rialto.__init__, Theme.release_sheet

    def begin_noted(rialto: Rialto, *arguments: object, **options: bool) -> None:
        note("application")
        begin(rialto, *arguments, **options)  # type: ignore[arg-type]  # passed on
        note("window")

    def release_noted(theme: Theme) -> None:
        note("Chat")
        release_sheet(theme)

    Rialto.__init__ = begin_noted  # type: ignore[method-assign]
    Theme.release_sheet = release_noted  # type: ignore[method-assign]
    return start.run([])


def tree(file: str) -> int:
    from app.ui.kit.qt_workarounds.pyside_features import read_no_sources

    read_no_sources()
    from app.bootstrap import start
    from app.bootstrap.rialto import Rialto

    opened = Rialto.open

    def open_and_write(rialto: Rialto) -> object:
        first_paint = opened(rialto)
        first_paint.over.connect(partial(_write_tree, rialto.window, Path(file)))
        return first_paint

    Rialto.open = open_and_write  # type: ignore[method-assign, assignment]
    return start.run([])


def _write_tree(window: object, file: Path) -> None:
    from PySide6 import QtWidgets

    found: list[QtWidgets.QWidget] = [window, *window.findChildren(QtWidgets.QWidget)]  # type: ignore[attr-defined, list-item]
    places = {id(widget): number for number, widget in enumerate(found)}
    rows = []
    for widget in found:
        kind = next(each.__name__ for each in type(widget).__mro__ if each.__module__ == "PySide6.QtWidgets")
        kind = NEAREST.get(kind, kind)
        parent = places.get(id(widget.parentWidget()), 0)
        text = widget.text() if isinstance(widget, (QtWidgets.QLabel, QtWidgets.QAbstractButton)) else ""
        rows.append((kind, parent, widget.geometry().getRect(), text, widget.isHidden()))
    file.write_text(json.dumps(rows), encoding="utf-8")
    note("tree")


def plain(file: str) -> int:
    from PySide6 import QtWidgets
    from PySide6.QtCore import QTimer

    class Window(QtWidgets.QWidget):
        is_painted = False

        def paintEvent(self, event: object) -> None:
            if not self.is_painted:
                self.is_painted = True
                QTimer.singleShot(0, lambda: note("ready"))

    qt_app = QtWidgets.QApplication(sys.argv)
    made: list[QtWidgets.QWidget] = []
    for kind, parent, place, text, is_hidden in json.loads(Path(file).read_text(encoding="utf-8")):
        maker = getattr(QtWidgets, kind) if made else Window
        widget = maker(made[parent]) if made else maker()
        widget.setGeometry(*place)
        if text:
            widget.setText(text)
        if is_hidden and made:
            widget.hide()
        made.append(widget)
    made[0].show()
    return qt_app.exec()


if __name__ == "__main__":
    raise SystemExit({"stages": stages, "tree": tree, "plain": plain}[sys.argv[1]](*sys.argv[2:]))
