"""Nothing that the keyboard can reach is without a name, a role and a reachable size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.avatar import Avatar
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.fields import ChoiceField, NumberField, TextField
from app.ui.kit.widgets.header import PaneHeader, PaneTabs
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.pill import CyclePill, PillButton
from app.ui.kit.widgets.receipt_line import ReceiptLine, Run
from app.ui.kit.widgets.search_field import SearchField
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.spinner import CountdownRing, Progress, Spinner
from app.ui.kit.widgets.switch import Switch
from tests.kit.shell import make_shell
from tests.ui import gallery


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme()
    theme.set_mode("light")
    theme.apply(qapp)
    yield theme
    qapp.setStyleSheet("")


def one_of_each(theme: Theme) -> dict[str, QWidget]:
    """Every shared widget with a name of its own, in its plainest form."""
    return {
        "Button": Button(theme, "Copy"),
        "IconButton": IconButton(theme, "plus", "New chat"),
        "Switch": Switch(theme, "Cite sources"),
        "PillButton": PillButton(theme, "Citations", "quote"),
        "CyclePill": CyclePill(theme, (("off", "Web"), ("auto", "Web: auto"))),
        "SegmentedChoice": SegmentedChoice(theme, "Web search", (("off", "Off"), ("on", "On"))),
        "NumberField": NumberField(theme, "Seed", low=0, high=9),
        "TextField": TextField(theme, "Address"),
        "ChoiceField": ChoiceField(theme, "Model"),
        "SliderField": SliderField(theme, "Temperature", low=0, high=2, step=0.01, decimals=2, default=0.7),
        "SearchField": SearchField(theme, "Filter chats", results=None),
        "PaneHeader": PaneHeader(theme, "Chats"),
        "PaneTabs": PaneTabs(theme, "Inspector", ("Parameters", "Request")),
        "Progress": Progress(theme, "Upload"),
        "Spinner": Spinner(theme),
        "CountdownRing": CountdownRing(theme),
        "Badge": Badge(theme, "Preview"),
        "KeyHint": KeyHint(theme, "Ctrl+K"),
        "Avatar": Avatar(theme, "Marlow"),
        "ReceiptLine": ReceiptLine(theme, (Run("$0.0019"), Run("6.9 s"))),
    }


def focusable(root: QWidget) -> list[QWidget]:
    """Everything inside that the Tab key can reach."""
    widgets = [root, *root.findChildren(QWidget)]
    return [widget for widget in widgets if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isEnabled()]


def spoken(widget: QWidget) -> str:
    """What a screen reader says the widget is called."""
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    return interface.text(QAccessible.Text.Name)


@pytest.mark.parametrize("name", list(gallery.PAGES))
def test_everything_that_takes_the_keyboard_has_a_name(qtbot, theme: Theme, name: str) -> None:
    page = gallery.build(theme, name)
    qtbot.addWidget(page)
    # two stock fields and the tab bar of the gallery stand under a label of their own
    ours = [widget for widget in focusable(page) if type(widget).__module__.startswith("app.")]
    assert ours
    assert [type(widget).__name__ for widget in ours if not spoken(widget).strip()] == []


def twice(widget: QWidget) -> bool:
    """Whether a screen reader says the name again with the description."""
    interface = QAccessible.queryAccessibleInterface(widget)
    name, more = (interface.text(kind) for kind in (QAccessible.Text.Name, QAccessible.Text.Description))
    return bool(name) and name in more and name != more  # readers leave out what is the same


@pytest.mark.parametrize("name", list(gallery.PAGES))
def test_nothing_is_said_twice_because_its_tooltip_repeats_it(qtbot, theme: Theme, name: str) -> None:
    page = gallery.build(theme, name)
    qtbot.addWidget(page)
    assert [spoken(widget) for widget in focusable(page) if twice(widget)] == []


async def test_nothing_of_the_frame_around_the_tabs_is_said_twice(theme: Theme, tasks, tmp_path: Path) -> None:
    window = make_shell(tmp_path, tasks, theme, second_tab=True).window
    window.show_tab("chat")
    assert [spoken(widget) for widget in focusable(window) if twice(widget)] == []
    window.close()


def test_one_of_each_shared_widget_has_names_throughout(qtbot, theme: Theme) -> None:
    for name, widget in one_of_each(theme).items():
        qtbot.addWidget(widget)
        assert [type(part).__name__ for part in focusable(widget) if not spoken(part).strip()] == [], name


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("Button", QAccessible.Role.Button),
        ("IconButton", QAccessible.Role.Button),
        ("Switch", QAccessible.Role.CheckBox),
        ("PillButton", QAccessible.Role.CheckBox),
        ("NumberField", QAccessible.Role.SpinBox),
        ("ChoiceField", QAccessible.Role.ComboBox),
        ("SearchField", QAccessible.Role.EditableText),
        ("Progress", QAccessible.Role.ProgressBar),
        ("ReceiptLine", QAccessible.Role.StaticText),
    ],
)
def test_painted_widgets_have_the_role_of_the_real_control(qtbot, theme: Theme, name: str, role) -> None:
    widget = one_of_each(theme)[name]
    qtbot.addWidget(widget)
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface is not None
    assert interface.role() == role


def test_segments_are_radio_buttons(qtbot, theme: Theme) -> None:
    choice = SegmentedChoice(theme, "Web search", (("off", "Off"), ("auto", "Auto"), ("on", "On")), current="auto")
    qtbot.addWidget(choice)
    parts = [QAccessible.queryAccessibleInterface(part) for part in choice.findChildren(QAbstractButton)]
    assert [part.role() for part in parts if part] == [QAccessible.Role.RadioButton] * 3
    assert [bool(part.state().checked) for part in parts if part] == [False, True, False]


@pytest.mark.parametrize("percent", [80, 100, 200])
def test_every_target_is_at_least_24_px(qtbot, theme: Theme, percent: int) -> None:
    theme.set_text_percent(percent)
    for name, widget in one_of_each(theme).items():
        qtbot.addWidget(widget)
        widget.resize(widget.sizeHint())
        widget.show()
        for part in focusable(widget):
            if percent >= 100 or isinstance(part, (Switch, IconButton)):
                assert min(part.width(), part.height()) >= (24 if percent >= 100 else 20), f"{name}: {part.size()}"


@pytest.mark.parametrize(
    "make",
    [
        lambda theme: IconButton(theme, "plus", " "),
        lambda theme: Switch(theme, ""),
        lambda theme: SegmentedChoice(theme, "", (("a", "A"),)),
        lambda theme: NumberField(theme, "", low=0, high=1),
        lambda theme: TextField(theme, ""),
        lambda theme: ChoiceField(theme, ""),
        lambda theme: Progress(theme, ""),
    ],
)
def test_a_control_without_a_name_cannot_be_made(qapp: QApplication, theme: Theme, make) -> None:
    with pytest.raises(ValueError, match="name"):
        make(theme)


def test_the_reason_why_a_pill_is_off_limits_is_heard(qtbot, theme: Theme) -> None:
    pill = PillButton(theme, "Thinking", "bulb")
    qtbot.addWidget(pill)
    pill.set_usable(False, "This model does not show its reasoning.")
    interface = QAccessible.queryAccessibleInterface(pill)
    assert interface is not None
    assert interface.text(QAccessible.Text.Description) == "This model does not show its reasoning."
