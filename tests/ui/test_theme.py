"""The theme's numbers: colors that can be read, measures that grow as designed, a sheet without holes."""

from __future__ import annotations

import ctypes
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QPalette, QShowEvent, QStyleHints
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.ui.kit.resources import resources_folder
from app.ui.kit.theme import Mode, Theme, fill
from app.ui.kit.typography import FONT_FILES, STYLES

THEMES = resources_folder() / "themes"
SURFACES = ("rail", "pane", "canvas", "surface", "sunken", "hover", "accent_tint")
TEXTS = ("text", "text2", "text3", "accent", "ok", "warn", "bad", "sandbox")
TINTED = ("accent", "ok", "warn", "bad", "sandbox")
CHARTS = tuple(f"chart_{tab}" for tab in ("chat", "video", "speech", "transcribe", "images", "console"))
SYNTAX = tuple(f"syntax_{kind}" for kind in ("keyword", "string", "number", "name", "comment"))


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme()
    theme.set_mode("light")
    theme.apply(qapp)
    yield theme
    qapp.setStyleSheet("")


@pytest.fixture(params=["light", "dark"])
def tokens(request: pytest.FixtureRequest) -> dict[str, str]:
    return json.loads((THEMES / f"{request.param}.json").read_text(encoding="utf-8"))


def luminance(color: str) -> float:
    """WCAG 2: relative luminance of an sRGB color."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    parts = QColor(color)
    return 0.2126 * linear(parts.redF()) + 0.7152 * linear(parts.greenF()) + 0.0722 * linear(parts.blueF())


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_ratio_is_computed_as_wcag_does() -> None:
    assert contrast("#FFFFFF", "#000000") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("role", TEXTS)
def test_every_text_colour_can_be_read_on_every_surface(tokens: dict[str, str], role: str) -> None:
    ratios = {surface: contrast(tokens[role], tokens[surface]) for surface in SURFACES}
    assert min(ratios.values()) >= 4.65, ratios  # the design says 4.7, to one place


@pytest.mark.parametrize("role", TINTED)
def test_every_meaning_can_be_read_on_its_own_tint(tokens: dict[str, str], role: str) -> None:
    assert contrast(tokens[role], tokens[f"{role}_tint"]) >= 5.45


def test_borders_that_identify_a_control_stand_out_everywhere(tokens: dict[str, str]) -> None:
    assert min(contrast(tokens["control"], tokens[surface]) for surface in SURFACES) >= 3.0


@pytest.mark.parametrize("role", CHARTS)
def test_chart_series_stand_out_on_the_canvas(tokens: dict[str, str], role: str) -> None:
    assert contrast(tokens[role], tokens["canvas"]) >= 3.0


@pytest.mark.parametrize("role", SYNTAX)
def test_code_can_be_read(tokens: dict[str, str], role: str) -> None:
    assert contrast(tokens[role], tokens["sunken"]) >= 4.95


def test_text_on_filled_buttons_and_tooltips_can_be_read(tokens: dict[str, str]) -> None:
    assert contrast(tokens["on_accent"], tokens["accent"]) >= 6.6
    assert contrast(tokens["on_accent"], tokens["accent_hover"]) >= 4.7
    assert contrast(tokens["canvas"], tokens["bad"]) >= 6.4
    assert contrast(tokens["canvas"], tokens["text"]) >= 14.0


def test_both_themes_name_the_same_roles() -> None:
    light, dark = (json.loads((THEMES / f"{name}.json").read_text(encoding="utf-8")) for name in ("light", "dark"))
    assert light.keys() == dark.keys()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_images_of_the_style_sheet_use_only_colours_of_their_theme(name: str) -> None:
    tokens = json.loads((THEMES / f"{name}.json").read_text(encoding="utf-8"))
    images = list((THEMES / name).glob("*.svg"))
    assert images
    for image in images:
        colors = re.findall(r"#[0-9A-Fa-f]{6}", image.read_text(encoding="utf-8"))
        assert set(colors) <= set(tokens.values()), image.name


def test_every_image_that_the_style_sheet_names_exists() -> None:
    names = re.findall(r"@pictures/([\w-]+\.svg)", (THEMES / "style.qss").read_text(encoding="utf-8"))
    assert names
    assert [name for name in names if not (THEMES / "light" / name).is_file()] == []


def test_the_style_sheet_holds_no_colour_of_its_own() -> None:
    assert re.findall(r"#[0-9A-Fa-f]{3,8}\b", (THEMES / "style.qss").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("percent", [80, 100, 133, 200])
def test_the_filled_sheet_has_no_holes(theme: Theme, percent: int) -> None:
    theme.set_text_percent(percent)
    sheet = theme.style_sheet()
    assert "@" not in sheet
    assert not re.search(r"\{\w", sheet)
    assert sheet.count("{") == sheet.count("}")


def test_a_role_that_nobody_defined_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill("QWidget { color: @nobody }", {}, {})


def test_type_grows_fully_spacing_by_its_root_and_icons_up_to_a_cap(theme: Theme) -> None:
    theme.set_text_percent(200)
    assert theme.type_px(13) == 26
    assert theme.px(16) == round(16 * 2**0.5)
    assert theme.icon_px(20) == 32
    assert theme.height_px(32) == 38 + theme.px(13)
    assert theme.font("body").pixelSize() == 26


def test_text_size_is_held_between_80_and_200_per_cent(theme: Theme) -> None:
    theme.set_text_percent(500)
    assert theme.text_percent == 200
    theme.set_text_percent(1)
    assert theme.text_percent == 80


def test_every_style_has_the_size_and_weight_of_the_design(theme: Theme) -> None:
    table = {
        "display": (28, 36, 600),
        "title": (20, 28, 600),
        "heading": (16, 22, 600),
        "reading": (14, 22, 400),
        "body": (13, 19, 400),
        "small": (12, 17, 400),
        "caption": (11, 16, 500),
    }
    assert {name: (s.size, s.line, s.weight) for name, s in STYLES.items() if name != "code"} == table
    for name, (size, line, weight) in table.items():
        font = theme.font(name)
        assert (font.pixelSize(), theme.line_px(name), int(font.weight())) == (size, line, weight)
        info = QFontInfo(font)
        assert info.family().startswith("Inter")
        assert info.exactMatch() or int(info.weight()) == weight


def test_code_is_12_and_a_half_px_of_the_bundled_mono_font(theme: Theme) -> None:
    info = QFontInfo(theme.font("code"))
    assert info.family().startswith("JetBrains Mono")
    assert theme.font("code").pointSizeF() == pytest.approx(12.5 * 0.75)


def test_figures_of_a_column_have_one_width(theme: Theme) -> None:
    from PySide6.QtGui import QFontMetricsF

    metrics = QFontMetricsF(theme.font("body", tabular=True))
    assert metrics.horizontalAdvance("1111") == pytest.approx(metrics.horizontalAdvance("0000"))
    loose = QFontMetricsF(theme.font("body"))
    assert loose.horizontalAdvance("1111") < loose.horizontalAdvance("0000")


def test_an_address_in_mono_keeps_its_letters(theme: Theme) -> None:
    """In Inter `0x7a` becomes a multiplication sign; ids must show what they hold."""
    from PySide6.QtGui import QFontMetricsF

    metrics = QFontMetricsF(theme.font("code"))
    assert metrics.horizontalAdvance("0x7a") == pytest.approx(4 * metrics.horizontalAdvance("0"))


def test_a_field_in_mono_shows_the_signs_that_it_holds(qtbot, theme: Theme) -> None:
    """The mono font would draw `!=` as one sign."""
    fields = [QLineEdit("!= -> //"), QPlainTextEdit("!= -> //")]
    for field in fields:
        field.setProperty("mono", True)
        qtbot.addWidget(field)
        field.show()
        assert field.font().featureValue(QFont.Tag("calt")) == 0
        assert "JetBrains Mono" in QFontInfo(field.font()).family()


def test_fonts_travel_with_their_licence() -> None:
    folder = resources_folder() / "fonts"
    assert all((folder / name).is_file() for name in FONT_FILES)
    for licence in ("Inter-OFL.txt", "JetBrainsMono-OFL.txt"):
        assert "SIL OPEN FONT LICENSE Version 1.1" in (folder / licence).read_text(encoding="utf-8")


def test_a_font_that_was_handed_out_is_the_callers_own(theme: Theme) -> None:
    theme.font("body").setPixelSize(99)
    assert theme.font("body").pixelSize() == 13


def test_a_colour_that_was_handed_out_is_the_callers_own(theme: Theme) -> None:
    theme.color("text").setRed(255)
    assert theme.color("text").name() == theme.tokens()["text"].lower()


def test_switching_changes_palette_sheet_and_colours_and_says_so_once(qapp: QApplication, theme: Theme) -> None:
    told: list[bool] = []
    theme.changed.connect(lambda: told.append(theme.is_dark))
    theme.set_mode("dark")
    assert told == [True]
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme.color("pane") == QColor("#191D20")
    assert "#20262A" in qapp.styleSheet()


@pytest.mark.parametrize(
    ("role", "token"),
    [
        (QPalette.ColorRole.Window, "pane"),
        (QPalette.ColorRole.Base, "surface"),
        (QPalette.ColorRole.AlternateBase, "sunken"),
        (QPalette.ColorRole.PlaceholderText, "text3"),
        (QPalette.ColorRole.Highlight, "accent"),
        (QPalette.ColorRole.HighlightedText, "on_accent"),
        (QPalette.ColorRole.ToolTipBase, "text"),
        (QPalette.ColorRole.ToolTipText, "canvas"),
        (QPalette.ColorRole.Mid, "line2"),
        (QPalette.ColorRole.Dark, "control"),
    ],
)
def test_palette_roles_are_those_of_the_design(theme: Theme, role: QPalette.ColorRole, token: str) -> None:
    assert theme.palette().color(role) == theme.color(token)


def test_disabled_text_is_quiet_on_sunken(theme: Theme) -> None:
    palette = theme.palette()
    group = QPalette.ColorGroup.Disabled
    assert palette.color(group, QPalette.ColorRole.Text) == theme.color("text3")
    assert palette.color(group, QPalette.ColorRole.Base) == theme.color("sunken")


def test_several_choices_at_once_cost_one_refresh(theme: Theme) -> None:
    told: list[None] = []
    theme.changed.connect(lambda: told.append(None))
    theme.configure(mode="dark", text_percent=150, reduced_motion=True)
    assert len(told) == 1
    assert theme.motion_ms(120) == 0


def test_motion_is_instant_only_when_reduced(theme: Theme) -> None:
    assert theme.motion_ms(120) == 120
    theme.set_reduced_motion(True)
    assert theme.motion_ms(120) == 0


@pytest.mark.parametrize("name", ["light", "dark"])
def test_high_contrast_reaches_7_to_1_for_text_and_4_5_to_1_for_controls(name: str) -> None:
    tokens = {}
    for file in (f"{name}.json", f"{name}-contrast.json"):
        tokens |= json.loads((THEMES / file).read_text(encoding="utf-8"))
    low = {
        (role, surface): round(contrast(tokens[role], tokens[surface]), 2)
        for roles, surfaces, least in (
            (TEXTS, SURFACES, 7.0),
            (SYNTAX, ("sunken", "canvas", "surface"), 7.0),
            (("control", "line", "line2"), SURFACES, 4.5),
            (CHARTS, ("canvas",), 4.5),
            (("on_accent",), ("accent", "accent_hover"), 7.0),
        )
        for role in roles
        for surface in surfaces
        if contrast(tokens[role], tokens[surface]) < least
    }
    low |= {(role, "tint"): 0.0 for role in TINTED if contrast(tokens[role], tokens[f"{role}_tint"]) < 7.0}
    assert low == {}


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("make", [QLineEdit, QPlainTextEdit, QTextEdit])
def test_placeholders_can_be_read_in_every_kind_of_field(
    qtbot: QtBot, theme: Theme, mode: Mode, make: type[QLineEdit | QPlainTextEdit | QTextEdit]
) -> None:
    """Qt paints placeholders in the text's color at half opacity, unless the style sheet sets a color."""
    theme.set_mode(mode)
    field = make()
    qtbot.addWidget(field)
    field.setPlaceholderText("\u2588\u2588\u2588\u2588")  # full blocks: pixels in the color itself
    field.resize(200, 60)
    field.show()
    image = field.grab().toImage()
    background = theme.color("surface").name()
    ratios = [
        contrast(image.pixelColor(x, y).name(), background)
        for x in range(10, image.width() - 10)
        for y in range(10, image.height() - 10)
    ]
    assert max(ratios) >= 4.5


def test_high_contrast_draws_lines_as_controls(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Theme, "_system_wants_contrast", lambda self: True)
    theme.set_mode("light")
    assert theme.color("line2") == theme.color("control")
    assert "border: 2px solid" in theme.style_sheet()


def test_a_plain_button_grows_with_the_text_at_run_time(qtbot, theme: Theme) -> None:
    button = QPushButton("Copy")
    qtbot.addWidget(button)
    button.show()
    assert button.sizeHint().height() == 32
    theme.set_text_percent(200)
    QApplication.processEvents()
    assert button.sizeHint().height() == theme.height_px(30) + 2


def test_importing_the_look_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    code = (
        "import sys; import app.ui.kit.theme, app.ui.kit.icons, app.ui.kit.widgets.buttons, app.core.problems,"
        " app.core.current_account, app.ui.kit.widgets.error_card, app.ui.kit.widgets.toast, "
        "app.ui.kit.widgets.receipt_line;"
        "heavy = {'pydantic', 'httpx', 'keyring', 'cryptography', 'aiosqlite', 'markdown_it', "
        "'pygments', 'PySide6.QtSvg'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2]
    answer = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_a_held_sheet_styles_what_was_built_meanwhile_once(qapp: QApplication) -> None:
    theme = Theme()
    theme.apply(qapp, hold_sheet=True)
    assert qapp.styleSheet() == ""
    theme.set_text_percent(120)
    assert qapp.styleSheet() == ""
    theme.release_sheet()
    assert qapp.styleSheet() == theme.style_sheet()
    theme.set_mode("dark")
    assert qapp.styleSheet() == theme.style_sheet()
    qapp.setStyleSheet("")


class StyleChanges(QObject):
    """Counts how often each widget is told that its style changed."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[int, int] = {}

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.StyleChange:
            self.of[id(watched)] = self.of.get(id(watched), 0) + 1
        return False


def nested(levels: int) -> tuple[QWidget, list[QWidget]]:
    """A window of `levels` widgets inside each other, a button at the bottom."""
    window = QWidget()
    widgets: list[QWidget] = [window]
    for level in range(levels):
        inner: QWidget = QPushButton("Send") if level == levels - 1 else QWidget()
        QVBoxLayout(widgets[-1]).addWidget(inner)
        widgets.append(inner)
    return window, widgets


def test_a_change_of_theme_styles_each_widget_once_however_deep_it_is(qapp: QApplication, theme: Theme) -> None:
    window, widgets = nested(8)
    window.show()
    changes = StyleChanges()
    qapp.installEventFilter(changes)
    theme.set_mode("dark")
    qapp.removeEventFilter(changes)
    assert [changes.of.get(id(widget)) for widget in widgets] == [1] * len(widgets)


def test_a_widget_that_was_styled_anew_looks_like_one_made_after_the_change(qapp: QApplication, theme: Theme) -> None:
    old, old_widgets = nested(3)
    old.show()
    theme.set_mode("dark")
    theme.set_text_percent(150)
    new, new_widgets = nested(3)
    new.show()
    assert old_widgets[-1].sizeHint() == new_widgets[-1].sizeHint()
    old.resize(new.size())
    assert old.grab().toImage() == new.grab().toImage()


def test_changes_in_a_row_are_drawn_once(qapp: QApplication, qtbot: QtBot) -> None:
    theme = Theme()
    theme.apply(qapp, collect_ms=1)
    seen: list[int] = []
    theme.changed.connect(lambda: seen.append(theme.text_percent))
    for percent in (110, 120, 130):
        theme.set_text_percent(percent)
    assert (theme.text_percent, seen) == (130, [])
    qtbot.waitUntil(lambda: bool(seen), timeout=60_000)
    assert seen == [130]
    qapp.setStyleSheet("")


class Page(QWidget):
    """A page that its window shows now and then."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.button = QPushButton("Send")
        QVBoxLayout(self).addWidget(self.button)
        theme.restyle_when_shown(self)

    def showEvent(self, event: QShowEvent) -> None:
        self._theme.catch_up(self)


def test_a_hidden_page_is_styled_when_it_is_shown(qapp: QApplication, theme: Theme) -> None:
    pages = QStackedWidget()
    first, second = Page(theme), Page(theme)
    pages.addWidget(first)
    pages.addWidget(second)
    pages.show()
    changes = StyleChanges()
    qapp.installEventFilter(changes)
    theme.set_text_percent(150)
    assert (id(first.button) in changes.of, id(second.button) in changes.of) == (True, False)
    pages.setCurrentWidget(second)
    qapp.removeEventFilter(changes)
    assert changes.of[id(second.button)] == 1
    assert second.button.sizeHint() == first.button.sizeHint()
    pages.setCurrentWidget(first)
    assert first.grab().toImage() == second.grab().toImage()


class Heap(ctypes.Structure):
    """What glibc tells of its heap; `uordblks` is in use."""

    _fields_ = [
        *((f"other{number}", ctypes.c_size_t) for number in range(7)),
        ("uordblks", ctypes.c_size_t),
        ("fordblks", ctypes.c_size_t),
        ("keepcost", ctypes.c_size_t),
    ]


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="only glibc tells what is in use"
)
def test_rules_of_widgets_that_are_not_shown_are_given_back(qapp: QApplication, theme: Theme) -> None:
    heap = ctypes.CDLL(None).mallinfo2
    heap.restype = Heap
    page = QWidget()
    buttons = [QPushButton("Send", page) for _ in range(200)]
    looks = [button.sizeHint() for button in buttons]
    before = heap().uordblks
    theme.forget_rules()
    assert before - heap().uordblks > 200 * 5_000  # bytes; Qt keeps room for 48 states of each
    assert [button.sizeHint() for button in buttons] == looks


def test_the_system_draws_title_bars_and_its_own_dialogs_in_the_chosen_theme(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where a choice changes: each request goes through every window."""
    requested: list[Qt.ColorScheme] = []
    monkeypatch.setattr(QStyleHints, "setColorScheme", lambda _hints, scheme: requested.append(scheme))
    for mode in ("dark", "dark", "system", "light"):
        theme.set_mode(mode)
    theme.set_text_percent(120)
    assert requested == [Qt.ColorScheme.Dark, Qt.ColorScheme.Unknown, Qt.ColorScheme.Light]
