"""What Qt calls on our widgets never lets an exception out: PySide would free methods that are still needed."""

import importlib
import pkgutil
import subprocess
import sys
from types import FunctionType

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

import app
from app.ui.kit.qt_workarounds.qt_exception_guard import is_virtual

# What has the name of a method of Qt and is not virtual there: only Python calls it.
PLAIN = frozenset(
    (
        "popup",
        "setAccessibleName",
        "placeholderText",
        "setMinimumWidth",
        "setPlaceholderText",
        "setPlainText",
        "setText",
        "update",
    )
)

DIES = """
import sys
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QWidget
from app.ui.kit.qt_workarounds.qt_exception_guard import install_exception_guard

if "guarded" in sys.argv:
    assert install_exception_guard()

class Pane(QWidget):
    def resizeEvent(self, event):
        {mistake}

class Words(QLabel):
    def resizeEvent(self, event):
        super().resizeEvent(event)

qt = QApplication(["-platform", "offscreen"])
sys.excepthook = lambda _kind, error, _trace: print(type(error).__name__)
pane = Pane()
row = QHBoxLayout(pane)
for _ in range(3):
    row.addWidget(Words("words"))
before = sys.getrefcount(Words.__dict__["resizeEvent"])
pane.grab()
print(sys.getrefcount(Words.__dict__["resizeEvent"]) - before >= 0)
"""


@pytest.mark.parametrize(
    ("mistake", "kind"), [("raise ValueError('wrong')", "ValueError"), ("len(3)", "TypeError"), ("[][0]", "IndexError")]
)
def test_an_image_of_a_pane_that_cannot_be_resized_leaves_its_words_their_methods(mistake: str, kind: str) -> None:
    program = DIES.format(mistake=mistake)
    done = subprocess.run([sys.executable, "-c", program, "guarded"], capture_output=True, text=True, check=False)
    assert (done.returncode, set(done.stdout.split())) == (0, {kind, "True"}), done.stderr


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    words: list[str] = []
    kept: list[BaseException] = []  # as pytest-qt does

    def hook(_kind: type, error: BaseException, _trace: object) -> None:
        words.append(str(error))
        kept.append(error)

    monkeypatch.setattr(sys, "excepthook", hook)
    return words


def test_what_an_override_raises_is_told_and_qt_does_the_rest(qtbot, told: list[str]) -> None:
    class Words(QLabel):
        def paintEvent(self, event: QPaintEvent) -> None:
            painter = QPainter(self)
            painter.fillRect(self.rect(), 0)
            raise ValueError("half painted")

        def sizeHint(self) -> None:
            raise ValueError("no size")

    label = Words("Words")
    qtbot.addWidget(label)
    plain = QLabel("Words")
    qtbot.addWidget(plain)
    assert label.sizeHint() == plain.sizeHint()
    assert told == ["no size"]
    told.clear()
    label.grab()
    assert set(told) == {"half painted", "no size"}


def test_an_inherited_override_that_raises_is_told_of_as_itself(qtbot, told: list[str]) -> None:
    seen: list[str] = []

    class First(QWidget):
        def resizeEvent(self, event: QResizeEvent) -> None:
            raise ValueError("first")

    class Second(First):
        def resizeEvent(self, event: QResizeEvent) -> None:
            super().resizeEvent(event)
            seen.append("second")

    widget = Second()
    qtbot.addWidget(widget)
    widget.grab()
    assert set(told) == {"first"}
    assert len(seen) == len(told)


def test_what_qt_has_no_method_for_is_answered_with_nothing(told: list[str]) -> None:
    class Rows(QAbstractListModel):
        def rowCount(self, parent: QModelIndex | None = None) -> int:
            raise ValueError("not counted")

    assert Rows().rowCount() is None
    assert told == ["not counted"]


def test_a_method_that_takes_nothing_is_still_a_slot_that_takes_nothing(qtbot, told: list[str]) -> None:
    asked: list[bool] = []

    class Popup(QPushButton):
        def sizeHint(self) -> None:
            asked.append(True)

    button = Popup()
    qtbot.addWidget(button)
    button.clicked.connect(button.sizeHint)
    button.click()
    assert asked
    assert told == []


def classes_of_the_program() -> list[type]:
    for module in pkgutil.walk_packages(app.__path__, "app."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: list[type] = []
    waiting = list(QObject.__mro__[1].__subclasses__())  # Shiboken's own root: models of text and styles are no QObject
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith("app."):
            found.append(cls)
    return found


def test_every_override_of_the_program_is_guarded() -> None:
    classes = classes_of_the_program()
    assert len(classes) > 300
    for cls in classes:
        mixins = [base for base in cls.__mro__ if type(base) is type and base is not object]
        assert not [name for mixin in mixins for name in vars(mixin) if is_virtual(name)], f"{cls}: not seen being made"
        for name, method in vars(cls).items():
            of_qt = [base for base in cls.__mro__ if base.__module__.startswith("PySide6.") and name in vars(base)]
            if isinstance(method, FunctionType) and of_qt and not name.startswith("__") and name not in PLAIN:
                assert hasattr(method, "__wrapped__"), f"{cls.__module__}.{cls.__name__}.{name}: add it to VIRTUAL"
