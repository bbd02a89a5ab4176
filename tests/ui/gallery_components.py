"""Every shared widget in every state."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QRadioButton,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from app.ui.kit.typography import STYLES
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, LinkButton
from app.ui.kit.widgets.fields import TextField
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.pill import PillButton
from app.ui.kit.widgets.receipt_line import ReceiptLine, Run
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.spinner import Progress, Spinner
from app.ui.kit.widgets.surfaces import rule, set_property
from app.ui.kit.widgets.switch import Switch
from tests.ui.gallery_page import Page, _ShadowCard, line, swatches


def components(page: Page) -> None:
    theme = page.theme
    swatches(
        page,
        0,
        "Surfaces",
        [
            ("Rail", "rail"),
            ("Pane", "pane"),
            ("Canvas", "canvas"),
            ("Surface", "surface"),
            ("Sunken", "sunken"),
            ("Hover", "hover"),
            ("Line", "line"),
            ("Line 2", "line2"),
            ("Control", "control"),
            ("Text", "text"),
        ],
    )
    swatches(
        page,
        1,
        "Meaning",
        [
            ("Accent", "accent"),
            ("Success", "ok"),
            ("Warning", "warn"),
            ("Error", "bad"),
            ("Sandbox", "sandbox"),
            ("Accent tint", "accent_tint"),
            ("Success tint", "ok_tint"),
            ("Warning tint", "warn_tint"),
            ("Error tint", "bad_tint"),
            ("Sandbox tint", "sandbox_tint"),
        ],
    )
    type_card = page.card(2, "Type")
    for name, style in STYLES.items():
        if name == "code":
            continue
        row = QHBoxLayout()
        row.addWidget(Label(theme, f"{name.capitalize()}, 1,284 tokens", name), 1)
        row.addWidget(Label(theme, f"{style.size:g}/{style.line} w{style.weight}", "caption", "text2", mono=True))
        type_card.body.addLayout(row)
    type_card.body.setSpacing(0)

    buttons(page)
    inputs(page)
    choices(page)
    progress(page)
    popovers(page)


def buttons(page: Page) -> None:
    theme = page.theme
    card = page.card(0, "Buttons: primary, default, quiet, destructive")
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(10)
    for place, state in enumerate(("Rest", "Hover", "Pressed", "Focus", "Off")):
        grid.addWidget(Label(theme, state, "caption", "text2", weight=400), 0, place)
        for row, (words, kind) in enumerate(
            (("Send", "primary"), ("Copy", ""), ("Clear", "quiet"), ("Delete", "danger")), start=1
        ):
            button = Button(theme, words, kind=kind)
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, state in ("Hover", "Pressed"))
            button.setDown(state == "Pressed")
            button.setEnabled(state != "Off")
            grid.addWidget(button, row, place, Qt.AlignmentFlag.AlignLeft)
            if state == "Focus":
                page.to_ring.append(button)
    card.body.addLayout(grid)
    card = page.card(0, "More buttons")
    card.body.addLayout(
        line(
            Button(theme, "Stop", "stop", hint="Esc"),
            Button(theme, "Start a chat", "chat", kind="primary"),
            Button(theme, "Replace…", size="small"),
        )
    )
    card.body.addLayout(
        line(
            Button(theme, "Add account", "plus"),
            Button(theme, "Remove", "trash", kind="danger-fill"),
            LinkButton(theme, "Details", "chevron-right"),
            Button(theme, "Save", "save", kind="quiet", size="small"),
        )
    )


def inputs(page: Page) -> None:
    theme = page.theme
    card = page.card(1, "Inputs")
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(10)
    grid.setColumnStretch(0, 1)
    grid.setColumnStretch(1, 1)

    def field(name: str, widget: QWidget, note: QWidget | None = None) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addWidget(Label(theme, name, "small", "text2", weight=500))
        column.addWidget(widget)
        if note is not None:
            column.addWidget(note)
        column.addStretch(1)
        return holder

    rest = QLineEdit(placeholderText="Paste a key")
    focus = QLineEdit("api.example.com")
    page.to_ring.append(focus)
    wrong = QLineEdit("bm_daniel")
    set_property(wrong, "state", "error")
    unused = TextField(theme, "Top-p", text="Top-p")
    unused.setEnabled(False)
    select = QComboBox()
    select.addItems(["Whisper large v3", "Whisper small"])
    note = QWidget()
    note_row = line(
        IconLabel(theme, "error", "bad", px=13), Label(theme, "Not an Orpheus voice", "small", "bad"), gap=4
    )
    note_row.setContentsMargins(0, 0, 0, 0)
    note.setLayout(note_row)
    why = QWidget()
    why_row = line(IconLabel(theme, "info", "text3", px=13), Label(theme, "Not sent", "small", "text3"), gap=4)
    why_row.setContentsMargins(0, 0, 0, 0)
    why.setLayout(why_row)
    slider = SliderField(theme, "Number", low=0, high=2, step=0.01, decimals=2, default=0.75)
    for place, widget in enumerate(
        (
            field("Rest", rest),
            field("Focus", focus),
            field("Error", wrong, note),
            field("Not used by this model", unused, why),
            field("Select", select),
            field("Number", slider),
        )
    ):
        grid.addWidget(widget, place // 2, place % 2)
    card.body.addLayout(grid)


def choices(page: Page) -> None:
    theme = page.theme
    card = page.card(2, "Choices, chips, badges")
    card.body.setSpacing(8)
    box, radio = QCheckBox("On"), QRadioButton("One")
    box.setChecked(True)
    radio.setChecked(True)
    card.body.addLayout(line(box, QCheckBox("Off"), radio, QRadioButton("Other"), gap=16))
    focused = Switch(theme, "Focus", checked=True)
    unused = Switch(theme, "Not used")
    unused.setEnabled(False)
    page.to_ring.append(focused)
    card.body.addLayout(
        line(
            Switch(theme, "On", checked=True),
            Label(theme, "On"),
            Switch(theme, "Off"),
            Label(theme, "Off"),
            focused,
            Label(theme, "Focus"),
            unused,
            Label(theme, "Not used", role="text3"),
        )
    )
    second = SegmentedChoice(theme, "Which", [("all", "All"), ("ready", "Ready")])
    page.to_ring.append(second)
    first = SegmentedChoice(theme, "Web", [("off", "Off"), ("auto", "Auto"), ("on", "On")], current="auto")
    card.body.addLayout(line(first, second, gap=12))
    off = PillButton(theme, "Thinking", "bulb")
    off.set_usable(False, "This model does not think aloud")
    card.body.addLayout(
        line(PillButton(theme, "Web: auto", "globe", checked=True), PillButton(theme, "Read links", "link"), off, gap=6)
    )
    card.body.addLayout(
        line(
            Badge(theme, "Standard ×1"),
            Badge(theme, "Advanced ×2", "accent"),
            Badge(theme, "Large ×4", "warn"),
            Badge(theme, "Ready", "ok", icon="check"),
            Badge(theme, "Failed", "bad", icon="error"),
            gap=6,
        )
    )
    card.body.addLayout(
        line(
            Badge(theme, "Preview", "outline"),
            Badge(theme, "Sandbox", "sandbox", icon="cube"),
            KeyHint(theme, "Ctrl+K"),
            Badge(theme, "1", "accent"),
            Spinner(theme, px=15),
        )
    )


def progress(page: Page) -> None:
    theme = page.theme
    card = page.card(1, "Progress, receipt line, tabs")
    card.body.setSpacing(12)
    done, low, unknown = Progress(theme, "Done"), Progress(theme, "Low", tone="warn"), Progress(theme, "Working")
    done.set_share(0.62)
    low.set_share(0.15)
    unknown.set_share(None)
    for bar in (done, low, unknown):
        card.body.addWidget(bar)
    card.body.addWidget(rule())
    card.body.addWidget(
        ReceiptLine(theme, (Run("$0.0019", strong=True), Run("in 1,284 (1,024 cached)"), Run("out 418"), Run("6.9 s")))
    )
    card.body.addWidget(rule())
    tabs = QTabBar()
    for name in ("Parameters", "Request", "Totals"):
        tabs.addTab(name)
    tabs.setDrawBase(False)
    tabs.setExpanding(False)
    card.body.addWidget(tabs)


def popovers(page: Page) -> None:
    theme = page.theme
    card = page.card(2, "Popover, tooltip")
    tip = QFrame()
    tip.setStyleSheet(f"background: {theme.tokens()['text']}; border-radius: 4px")
    row = QHBoxLayout(tip)
    row.setContentsMargins(8, 4, 8, 4)
    row.addWidget(Label(theme, "New chat  Ctrl N", "small", "canvas"))
    row = line(_ShadowCard(theme, "Popover, 10 px radius"))
    row.addWidget(tip, 0, Qt.AlignmentFlag.AlignVCenter)
    card.body.addLayout(row)
