"""Cards: what an error says, which of its buttons was pressed, and how it counts down."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.problems import ActionSpec, Problem
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.error_card import ErrorCard

LEFT = Qt.MouseButton.LeftButton


RETRY = ActionSpec("retry", "Try again")


def problem(**changes: object) -> Problem:
    values: dict[str, object] = {
        "what": "The service did not accept your API key",
        "meaning": "Nothing was charged.",
        "primary": ActionSpec("replace-key", "Replace key…"),
        "alternative": RETRY,
        "details": (("Status", "401 Unauthorized"),),
    }
    return Problem(**{**values, **changes})  # type: ignore[arg-type]  # the fields of Problem by name


def buttons_of(card: QWidget) -> dict[str, Button]:
    return {button.text(): button for button in card.findChildren(Button) if not button.isHidden()}


def test_a_card_tells_which_of_its_buttons_was_pressed(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem())
    qtbot.addWidget(card)
    card.show()
    told: list[str] = []
    card.action.connect(told.append)
    for words in ("Replace key…", "Try again"):
        qtbot.mouseClick(buttons_of(card)[words], LEFT)
    assert told == ["replace-key", "retry"]
    assert card.accessibleName() == "The service did not accept your API key. Nothing was charged."


def test_details_open_and_close(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem())
    qtbot.addWidget(card)
    card.show()
    assert card.details.isHidden()
    qtbot.mouseClick(card.details_link, LEFT)
    assert not card.details.isHidden()
    assert card.details.text() == "Status: 401 Unauthorized"
    qtbot.mouseClick(card.details_link, LEFT)
    assert card.details.isHidden()


def test_a_card_counts_down_and_says_when_the_time_is_up(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme)
    qtbot.addWidget(card)
    card.set_problem(problem(countdown_until=datetime.now(UTC) + timedelta(seconds=30), severity="warn"))
    assert not card.ring.isHidden()
    with qtbot.waitSignal(card.time_is_up, timeout=60_000):
        card.set_problem(problem(countdown_until=datetime.now(UTC) + timedelta(milliseconds=300)))


def test_a_card_that_is_over_counts_no_further(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem(countdown_until=datetime.now(UTC) + timedelta(seconds=30)))
    qtbot.addWidget(card)
    card.set_problem(problem())
    assert not card.ring._timer.isActive()
    assert card.ring.isHidden()


def test_another_problem_replaces_buttons_and_facts(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem(facts=(("Minimum", "$5.00"),)))
    qtbot.addWidget(card)
    card.set_problem(problem(primary=ActionSpec("top-up", "Top up $5…"), alternative=None))
    assert set(buttons_of(card)) == {"Top up $5…", "Details", "Copy for support"}
    assert card._facts.isHidden()


def test_a_card_frames_its_content(qtbot, theme: Theme) -> None:
    card = Card(theme, border="bad")
    qtbot.addWidget(card)
    card.resize(100, 60)
    image = card.grab().toImage()
    assert image.pixelColor(50, 0) == theme.color("bad")
    assert image.pixelColor(50, 30) == theme.color("surface")
    card.set_border("line")
    assert card.grab().toImage().pixelColor(50, 0) == theme.color("line")


def test_to_leave_it_is_never_drawn_as_the_main_button(qtbot, theme: Theme) -> None:
    card = ErrorCard(theme, problem(primary=ActionSpec("dismiss", "Do not send"), alternative=None))
    qtbot.addWidget(card)
    assert buttons_of(card)["Do not send"]._kind != "primary"
    card.set_problem(problem())
    assert buttons_of(card)["Replace key…"]._kind == "primary"


def test_an_error_without_buttons_has_the_whole_width_for_its_words(qtbot: QtBot, theme: Theme) -> None:
    card = ErrorCard(theme, Problem("Not sent", "No image models yet.", severity="warn"))
    qtbot.addWidget(card)
    card.resize(700, 200)
    card.show()
    assert card.what.width() > 500
    assert card.meaning.width() > 500
