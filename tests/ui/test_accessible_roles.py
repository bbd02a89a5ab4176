"""What painted widgets are for screen readers: role, value, place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from app.core.tabs import TabInfo
from app.ui.images.mask_editor import MaskEditor
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.video.video_player import VideoScreen
from app.ui.wallet.gauge_list import GaugeBar
from app.ui.wallet.steps import Steps
from app.ui.wallet.usage_chart import UsageChart
from tests.kit.shell import ShellHarness, make_shell
from tests.ui.test_shell_window import show

ROLE = QAccessible.Role


def role_of(widget: QWidget) -> QAccessible.Role:
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    return interface.role()


@pytest.mark.parametrize(
    ("make", "role"),
    [
        (lambda theme: GaugeBar(theme, "Images"), ROLE.ProgressBar),
        (Steps, ROLE.StaticText),
        (UsageChart, ROLE.Chart),
        (VideoScreen, ROLE.Graphic),
        (MaskEditor, ROLE.Graphic),
    ],
)
def test_what_is_painted_has_the_role_of_what_it_looks_like(qtbot, theme: Theme, make, role) -> None:
    widget = make(theme)
    qtbot.addWidget(widget)
    assert role_of(widget) == role


def test_a_gauge_says_how_much_is_left(qtbot, theme: Theme) -> None:
    gauge = GaugeBar(theme, "Images")
    qtbot.addWidget(gauge)
    gauge.set_share(0.25, "5 of 20 left")
    assert QAccessible.queryAccessibleInterface(gauge).valueInterface().currentValue() == 25


def test_a_slider_says_the_number_that_it_shows_and_takes_it_from_a_screen_reader(qtbot, theme: Theme) -> None:
    field = SliderField(theme, "Temperature", low=0, high=2, step=0.05, decimals=2, default=0.7)
    qtbot.addWidget(field)
    told: list[float] = []
    field.value_edited.connect(told.append)
    value = QAccessible.queryAccessibleInterface(field.slider).valueInterface()
    assert (value.currentValue(), value.minimumValue(), value.maximumValue()) == (0.7, 0, 2)
    value.setCurrentValue(1.2)
    assert (field.value, told) == (1.2, [1.2])
    names = {part.accessibleName() for part in (field.slider, field.number)}
    assert names == {"Temperature", "Temperature, number"}, "two stops that can be told apart"


def test_a_choice_says_what_it_is_for_and_what_is_chosen(qtbot, theme: Theme) -> None:
    around = QWidget()
    qtbot.addWidget(around)
    field, label = ChoiceField(theme, "Voice language", parent=around), QLabel("Voice language", around)
    field.addItems(["Any language", "English"])
    field.setCurrentIndex(1)
    interface = QAccessible.queryAccessibleInterface(field)
    assert (interface.text(QAccessible.Text.Name), interface.role()) == ("Voice language: English", ROLE.ComboBox)
    label.setBuddy(field)
    assert interface.relations() == [], "its label would be said once more"


@pytest.fixture
def shell(theme: Theme, tasks, tmp_path: Path):
    harness = make_shell(tmp_path, tasks, theme, second_tab=True)
    harness.window.resize(1440, 900)
    show(harness)
    harness.window.show_tab("chat")
    yield harness
    harness.window.close()


async def test_the_rail_has_radio_buttons_and_its_stop_is_the_tab_on_show(shell: ShellHarness) -> None:
    window, rail = shell.window, shell.window.rail
    chat, notes = rail.button("chat"), rail.button("notes")
    assert role_of(chat) == ROLE.RadioButton
    chat.setFocus()
    for key, tab in ((Qt.Key.Key_Down, "notes"), (Qt.Key.Key_Down, "notes"), (Qt.Key.Key_Up, "chat")):
        QTest.keyClick(window.focusWidget(), key)
        assert (window.current_tab, window.focusWidget()) == (tab, rail.button(tab))
    window.show_tab("notes")
    assert [b.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus for b in (chat, notes)] == [
        False,
        True,
    ]
    chat.setFocus()  # whichever had the keyboard last, the keys go on from there
    QTest.keyClick(chat, Qt.Key.Key_Down)
    assert window.current_tab == "notes"


async def test_panes_are_made_wider_and_narrower_by_keys_and_say_so(shell: ShellHarness, heard: list[str]) -> None:
    frame = shell.window.tab_frames.by_name["chat"]
    control_alt = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    for zone, key, name in ((frame.list_zone, Qt.Key.Key_B, "List"), (frame.inspector_zone, Qt.Key.Key_I, "Inspector")):
        before = zone.width()
        QTest.keyClick(shell.window, key, control_alt)
        assert zone.width() == before + 20
        assert heard[-1] == f"{name} width {before + 20}"
        QTest.keyClick(shell.window, key, control_alt | Qt.KeyboardModifier.ShiftModifier)
        assert zone.width() == before
    assert shell.window.settings_store.value.panes["chat"]["list"] == frame.list_zone.width()
    assert role_of(frame.splitter.handle(1)) == ROLE.Splitter


async def test_a_tab_that_is_being_built_says_nothing(tmp_path: Path, tasks, theme: Theme) -> None:
    """Qt tells of the first page of an inspector as of a choice, on screen or not."""
    harness = make_shell(tmp_path, tasks, theme)
    active: list[bool] = []

    def make() -> Iterator[None]:
        for _ in range(2):
            active.append(QAccessible.isActive())
            yield None

    frames = harness.window.tab_frames
    frames.add(TabInfo("late", "Late", "chat"), make)
    QAccessible.setActive(True)
    try:
        assert frames.build_some("late")
        assert frames.build_some("late")
        assert (active, QAccessible.isActive()) == ([False, False], True)
    finally:
        QAccessible.setActive(False)
        harness.window.close()


def test_a_reader_may_ask_a_painted_widget_for_every_kind_of_interface(qtbot, theme: Theme) -> None:
    chart = UsageChart(theme)
    qtbot.addWidget(chart)
    interface = QAccessible.queryAccessibleInterface(chart)
    assert interface.valueInterface() is None
    assert interface.textInterface() is None
    assert interface.attributesInterface() is None
    assert interface.tableCellInterface() is None
    assert interface.actionInterface() is not None


BEFORE_THE_FIRST_PAINT = """
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget
from app.ui.kit.accessible_interfaces import install_interfaces
qt_app = QApplication([])
QAccessible.setActive(True)
pages = QStackedWidget()
pages.addWidget(QWidget())
found = [QAccessible.queryAccessibleInterface(pages).role().name]
install_interfaces()
print(*found, QAccessible.queryAccessibleInterface(pages).role().name)
"""


def test_a_stack_that_a_reader_saw_before_its_interface_was_loaded_is_seen_anew() -> None:
    asked = subprocess.run([sys.executable, "-c", BEFORE_THE_FIRST_PAINT], capture_output=True, text=True, check=True)
    assert asked.stdout.split() == ["LayeredPane", "Client"]


CONNECTED_LATER = """
from PySide6.QtCore import QEvent, QRect, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget
from app.ui.kit.accessible_document import ListInterface, interface_of, show_document
from app.ui.kit.markdown.spoken import SpokenBlock

class Rows:
    place = None
    count = lambda self: 1
    row_id = lambda self, number: "only"
    number_of = lambda self, row_id: 0
    block = lambda self, place: SpokenBlock("paragraph", "said")
    rect = lambda self, place: QRect()

class View(QAbstractScrollArea):
    wanted = Signal(str)

    def __init__(self, parent):
        super().__init__(parent)
        QAccessible.queryAccessibleInterface(self)
        show_document(self, lambda: ListInterface(self, Rows()))
        self.seen = [interface_of(self).child(0)]

    def set_mode(self, mode):
        pass

qt_app = QApplication([])
QAccessible.setActive(True)
window = QWidget()
view = View(window)
other = View(window)
other.wanted.connect(view.set_mode)  # from here on it has another class for Qt
view.seen.append(interface_of(view).child(0))
assert [each.text(QAccessible.Text.Name) for each in view.seen] == ["said", "said"]
del view, other
window.deleteLater()
QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
print("closed")
"""


def test_a_document_that_a_reader_has_seen_goes_with_its_window() -> None:
    asked = subprocess.run([sys.executable, "-c", CONNECTED_LATER], capture_output=True, text=True, check=False)
    assert (asked.stdout.split(), asked.returncode) == (["closed"], 0), asked.stderr
