"""Every shared widget in every state on one page, to be laid beside the design by eye.

python -m tests.ui.gallery components light 100 out.png     (components, errors or states; dark; 80 to 200)
python -m tests.ui.gallery components light 100             opens a window
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
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

from app.ui.shared.badge import Badge
from app.ui.shared.banner import Banner, BannerSpec
from app.ui.shared.buttons import Button, LinkButton
from app.ui.shared.card import Card
from app.ui.shared.details_block import DetailsBlock
from app.ui.shared.empty_state import EmptyState, Skeleton
from app.ui.shared.error_card import ErrorCard, QuietLine
from app.ui.shared.fields import TextField
from app.ui.shared.focus_ring import FocusRing
from app.ui.shared.frames import SHADOW_MARGINS, paint_shadow, solid_frame
from app.ui.shared.icon_label import IconLabel
from app.ui.shared.kbd import KeyHint
from app.ui.shared.label import Label
from app.ui.shared.pill import PillButton
from app.ui.shared.problems import ActionSpec, Problem
from app.ui.shared.receipt_line import ReceiptLine, receipt_runs
from app.ui.shared.segmented import SegmentedChoice
from app.ui.shared.slider_field import SliderField
from app.ui.shared.spinner import Progress, Spinner
from app.ui.shared.surfaces import rule, set_property, zone
from app.ui.shared.switch import Switch
from app.ui.shared.theme import Theme
from app.ui.shared.toast import Toast
from app.ui.shared.typography import STYLES

Build = Callable[["Page"], None]


class _HeldRing(FocusRing):
    """A ring that stays where it was put, for states that can only be had one at a time."""

    def __init__(self, theme: Theme, window: QWidget, target: QWidget) -> None:
        super().__init__(theme, window)
        QApplication.instance().focusChanged.disconnect(self._focus_changed)
        super()._focus_changed(None, target)


class _Swatch(QWidget):
    def __init__(self, theme: Theme, role: str) -> None:
        super().__init__()
        self._theme, self._role = theme, role
        self.setFixedSize(76, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        solid_frame(QPainter(self), self._theme, QRectF(self.rect()), 6, self._role, "line2")


class _ShadowCard(QWidget):
    """What a popover looks like, without being a window of its own."""

    def __init__(self, theme: Theme, text: str) -> None:
        super().__init__()
        self._theme = theme
        margins = SHADOW_MARGINS
        layout = QHBoxLayout(self)
        layout.setContentsMargins(margins.left() + 14, margins.top() + 11, margins.right() + 14, margins.bottom() + 11)
        layout.addWidget(Label(theme, text))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        card = self.rect().marginsRemoved(SHADOW_MARGINS)
        paint_shadow(painter, self._theme, card, 10)
        solid_frame(painter, self._theme, QRectF(card), 10, "surface", "line2")


class Page(QWidget):
    """Three columns of titled cards."""

    def __init__(self, theme: Theme, title: str, sentence: str) -> None:
        super().__init__()
        self.theme = theme
        self.to_ring: list[QWidget] = []
        zone(self, "pane")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(28, 20, 28, 20)
        outer.setSpacing(16)
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(IconLabel(theme, "logo", "accent", px=34))
        top.addWidget(Label(theme, title, "title"))
        top.addWidget(Label(theme, sentence, role="text2"))
        top.addStretch(1)
        outer.addLayout(top)
        row = QHBoxLayout()
        row.setSpacing(24)
        outer.addLayout(row)
        outer.addStretch(1)
        self.columns = []
        for _ in range(3):
            column = QVBoxLayout()
            column.setSpacing(7)
            row.addLayout(column, 1)
            self.columns.append(column)

    def section(self, column: int, title: str) -> None:
        layout = self.columns[column]
        if layout.count():
            layout.addSpacing(9)
        layout.addWidget(Label(self.theme, title, "small", "text2", weight=600))

    def card(self, column: int, title: str) -> Card:
        self.section(column, title)
        card = Card(self.theme)
        self.columns[column].addWidget(card)
        return card

    def finish(self) -> None:
        for column in self.columns:
            column.addStretch(1)

    def hold_rings(self) -> None:
        for widget in self.to_ring:
            _HeldRing(self.theme, self, widget)


def line(*widgets: QWidget, gap: int = 8, stretch: bool = True) -> QHBoxLayout:
    layout = QHBoxLayout()
    layout.setSpacing(gap)
    for widget in widgets:
        layout.addWidget(widget)
    if stretch:
        layout.addStretch(1)
    return layout


def swatches(page: Page, column: int, title: str, names: list[tuple[str, str]]) -> None:
    card = page.card(column, title)
    grid = QGridLayout()
    grid.setHorizontalSpacing(8)
    grid.setVerticalSpacing(4)
    for place, (name, role) in enumerate(names):
        grid.addWidget(_Swatch(page.theme, role), place // 5 * 2, place % 5)
        grid.addWidget(Label(page.theme, name, "caption"), place // 5 * 2 + 1, place % 5)
    card.body.addLayout(grid)


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
    units = {"prompt_tokens": 1284, "cached_tokens": 1024, "completion_tokens": 418}
    card.body.addWidget(ReceiptLine(theme, receipt_runs(cost_usd=Decimal("0.0019"), units=units, duration_s=6.9)))
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


def errors(page: Page) -> None:
    theme = page.theme
    until = datetime.now(UTC) + timedelta(seconds=23)
    cases = (
        (
            "401, in the chat that failed",
            Problem(
                "The service did not accept your API key",
                "Nothing was charged, and your message is still in the box below. The key may have been deleted or "
                "replaced.",
                ActionSpec("replace-key", "Replace key…"),
                ActionSpec("retry", "Try again"),
                (("Status", "401 Unauthorized"),),
                icon="key",
            ),
        ),
        (
            "402, with a top-up that fits",
            Problem(
                "Not enough credits for this clip",
                "The wallet is short by $0.0175. The clip starts after a top-up.",
                ActionSpec("top-up", "Top up $5…"),
                ActionSpec("cheaper", "Use Kokoro, $0.0009"),
                severity="warn",
                icon="credits",
                facts=(("Needs up to", "$0.0186"), ("You have", "$0.0011"), ("Minimum", "$5.00")),
            ),
        ),
        (
            "429, waits and sends by itself",
            Problem(
                "Too many requests to tier L this minute",
                "20 of 20 used. Rialto sends your message again at 14:06:41. Your API key sets this limit.",
                ActionSpec("dismiss", "Do not send"),
                ActionSpec("other", "Send with Northwind Large"),
                severity="warn",
                countdown_until=until,
            ),
        ),
    )
    for title, problem in cases:
        page.section(0, title)
        page.columns[0].addWidget(ErrorCard(theme, problem))
    page.section(0, "500 and 503, quiet retry before any message")
    page.columns[0].addWidget(
        QuietLine(theme, "The service is busy. Trying again in 4 s, attempt 2 of 5.", stop=ActionSpec("stop", "Stop"))
    )
    banners = (
        (
            "Offline, one banner for the window",
            ("warn", "You are offline.", "History and drafts still work.", "offline"),
            "Work in the Sandbox",
        ),
        (
            "Abuse block, counts down for every tab",
            (
                "bad",
                "Paused for 0:18.",
                "More than 20 requests failed in 30 s, so the service refuses all of them for a moment.",
                "clock",
            ),
            "See failures",
        ),
        (
            "Keychain locked",
            ("info", "The keychain is locked.", "Rialto needs it to sign in to Main account.", "lock"),
            "Unlock",
        ),
        ("Sandbox", ("sandbox", "Sandbox.", "Blocks and balances here are made up.", "cube"), "Add an account"),
    )
    for title, words, action in banners:
        page.section(1, title)
        page.columns[1].addWidget(Banner(theme, BannerSpec(*words, (ActionSpec("act", action),))))
    page.section(2, "Toasts, bottom right, background work only")
    toasts = (
        ("Video is ready", "Sailboat at dusk, saved to Videos/Rialto", "ok", ("Show", "Play"), ""),
        ("Chat moved to trash", "", "info", ("Undo",), "Ctrl Z"),
        (
            "The video could not be saved",
            "The disk is full. The service still has its copy.",
            "bad",
            ("Choose another folder…",),
            "",
        ),
        (
            "Drift 3B retires on 1 February",
            "Two chats use it. Choose a new model for them.",
            "warn",
            ("Choose…", "Later"),
            "",
        ),
    )
    for title, text, tone, links, hint in toasts:
        page.columns[2].addWidget(
            Toast(
                theme,
                title,
                text,
                tone=tone,
                hint=hint,
                icon_name="trash" if hint else "",
                actions=tuple(ActionSpec(words, words) for words in links),
            )
        )
        page.columns[2].addSpacing(-34)
    page.columns[2].addSpacing(34)
    page.section(2, "Details, the same block under every error")
    page.columns[2].addWidget(
        DetailsBlock(
            theme,
            (
                ("Status", "401 Unauthorized"),
                ("Service said", "Authentication failed"),
                ("Request id", "8c1f02be-77d1-AMS"),
                ("Version", "20261118.091455"),
                ("Time", "14:05:12, after 212 ms"),
            ),
        )
    )


def states(page: Page) -> None:
    theme = page.theme

    def hold(column: int, title: str, widget: QWidget, height: int = 370) -> None:
        page.section(column, title)
        card = Card(theme, fill="canvas")
        card.setFixedHeight(height)
        card.body.addWidget(widget, 1)
        page.columns[column].addWidget(card)

    hold(
        0,
        "Chat, new",
        EmptyState(
            theme,
            "New chat with Northwind Large",
            "131K context, $0.70 in and $2.80 out per million tokens",
            icon_role="accent",
            actions=(
                (ActionSpec("character", "Choose a character"), "mask"),
                (ActionSpec("attach", "Attach a file"), "attach"),
            ),
            key="↑",
            key_does="to bring back your last message",
        ),
    )
    skeleton = Skeleton(theme)
    hold(1, "Models loading, after 300 ms", skeleton)
    hold(
        2,
        "Characters, nothing matches",
        EmptyState(
            theme,
            "No character matches “#gardning”",
            "Did you mean #gardening? Adult characters are hidden.",
            icon_name="search",
            actions=((ActionSpec("clear", "Clear search"), ""), (ActionSpec("filters", "Clear 2 filters"), "")),
        ),
    )


PAGES: dict[str, tuple[str, str, Build]] = {
    "components": ("Components and states", "Every state is shown by shape or text as well as colour.", components),
    "errors": ("Errors: what happened, what it means, what to do", "Shown where the action was taken.", errors),
    "states": ("Empty, loading and partial states", "Empty says what belongs here.", states),
}


def build(theme: Theme, name: str) -> Page:
    """Return one page of the gallery, laid out and shown."""
    title, sentence, fill = PAGES[name]
    page = Page(theme, title, sentence)
    fill(page)
    page.finish()
    scale = max(1.0, theme.scale)
    page.resize(round(1440 * scale), round(900 * scale))
    page.show()
    QApplication.processEvents()
    page.hold_rings()
    return page


def main(words: list[str]) -> int:
    name, mode, percent = words[0], words[1], int(words[2])
    qt_app = QApplication([])
    theme = Theme()
    theme.configure(mode="dark" if mode == "dark" else "light", text_percent=percent)
    theme.apply(qt_app)
    page = build(theme, name)
    if len(words) == 3:
        return qt_app.exec()
    deadline = datetime.now(UTC) + timedelta(milliseconds=450)
    while datetime.now(UTC) < deadline:
        qt_app.processEvents()
    picture = page.grab(QRect(QPoint(0, 0), page.size()))
    picture.save(words[3])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
