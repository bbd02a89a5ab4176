"""The message view as a person meets it: what is on screen, where it stays, what pressing does."""

from itertools import groupby, pairwise

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.ui.conversation.line_boxes import FooterBox
from app.ui.conversation.rows import MessageRow, ReceiptRun
from app.ui.conversation.table_box import TableBox
from app.ui.conversation.units import BODY, Unit
from app.ui.conversation.view import COLUMN_PX, MessageView
from app.ui.kit.theme import Theme
from tests.kit.message_view import (
    LONG,
    answer,
    everything,
    heights,
    long_chat,
    plain_theme,
    question,
    settle,
    shown,
    turn,
    visible_text,
)


@pytest.fixture(scope="module")
def theme(qapp: QApplication) -> Theme:
    return plain_theme(qapp)


@pytest.fixture
def many(theme: Theme) -> MessageView:
    return long_chat(theme)


RECEIPT = (
    ReceiptRun("$0.0101, play money", icon="receipt"),
    ReceiptRun("in 1,458 (135 cached)"),
    ReceiptRun("out 549"),
    ReceiptRun("80 tok/s", spare=True),
    ReceiptRun("first token 126 ms", spare=True),
    ReceiptRun("7.0 s"),
)


# -- where we are -----------------------------------------------------------------------------------------------------


def test_a_chat_opens_at_its_end(many: MessageView) -> None:
    assert many.at_end
    assert "Answer 199" in visible_text(many)
    last = many.stack.placed[-1]
    assert last.bottom <= many.viewport().height()


def test_what_is_made_anew_is_painted_after_its_layout_and_not_before(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[Unit] = []
    paint = Unit.paint
    monkeypatch.setattr(Unit, "paint", lambda unit, *how: (painted.append(unit), paint(unit, *how)))
    view = shown(theme, [question("Hi"), answer("# Tide\n\nIt is high at **noon**.")])
    units = [placed.unit for placed in view.stack.placed]
    for unit in units:
        unit.drop()
        assert unit.boxes is not None  # somebody asks between two layouts, as Tab and a search do
    painted.clear()
    view.viewport().repaint()
    assert painted == []
    view.refresh()
    view.viewport().repaint()
    assert set(painted) == set(units)


def test_only_what_is_on_screen_is_taken_apart(many: MessageView) -> None:
    assert len(many.stack.known_models()) < 20


def test_a_short_chat_begins_at_the_top(theme: Theme) -> None:
    view = shown(theme, [question("Hi"), answer("Hello.")])
    assert view.stack.placed[0].y == 0
    assert view.at_end
    assert view.verticalScrollBar().maximum() == 0


def test_no_rows_show_nothing(theme: Theme) -> None:
    view = shown(theme, [])
    assert view.at_end
    view.scroll_px(-100)
    view.scroll_to_end()
    assert not view.stack.placed


def test_scrolling_there_and_back_ends_where_it_began(many: MessageView) -> None:
    many.scroll_px(-500)
    settle(many)
    before = heights(many)
    for step in (-300, -2000, 1700, 600):
        many.scroll_px(step)
        settle(many)
    assert heights(many) == before


def test_scrolling_stops_at_both_ends(many: MessageView) -> None:
    many.scroll_to_start()
    settle(many)
    first = heights(many)
    many.scroll_px(-400)
    settle(many)
    assert heights(many) == first
    many.scroll_to_end()
    settle(many)
    last = heights(many)
    many.scroll_px(400)
    settle(many)
    assert heights(many) == last


def test_the_wheel_scrolls(many: MessageView) -> None:
    turn(many, 120)
    settle(many)
    assert not many.at_end


def test_the_bar_goes_to_both_ends_and_to_the_middle(many: MessageView) -> None:
    bar = many.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    bar.setSliderPosition(0)
    bar.triggerAction(bar.SliderAction.SliderMove)
    settle(many)
    assert many.stack.anchor.row == 0
    bar.setSliderPosition(bar.maximum() // 2)
    bar.triggerAction(bar.SliderAction.SliderMove)
    settle(many)
    assert 150 < many.stack.anchor.row < 250
    bar.triggerAction(bar.SliderAction.SliderPageStepAdd)
    bar.triggerAction(bar.SliderAction.SliderToMaximum)
    settle(many)
    assert many.at_end


@pytest.mark.parametrize(
    ("key", "moves_up"),
    [(Qt.Key.Key_Up, True), (Qt.Key.Key_PageUp, True), (Qt.Key.Key_Home, True), (Qt.Key.Key_Down, False)],
)
def test_keys_scroll_after_a_click(many: MessageView, key: Qt.Key, moves_up: bool) -> None:
    QTest.mouseClick(many.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    many.scroll_px(-1000)
    settle(many)
    before = (many.stack.anchor.row, many.stack.anchor.key, many.stack.anchor.offset)
    QTest.keyClick(many, key)
    settle(many)
    after = (many.stack.anchor.row, many.stack.anchor.key, many.stack.anchor.offset)
    assert (after < before) == moves_up


def test_end_goes_to_the_end(many: MessageView) -> None:
    many.scroll_to_start()
    QTest.keyClick(many, Qt.Key.Key_End)
    settle(many)
    assert many.at_end


def test_a_new_message_of_the_person_is_shown_even_from_far_up(many: MessageView) -> None:
    many.scroll_to_start()
    settle(many)
    many.append(question("The newest", "new"))
    settle(many)
    assert "The newest" in visible_text(many)


def test_rows_that_were_there_stay_where_they_are_when_others_join(theme: Theme, many: MessageView) -> None:
    many.scroll_px(-3000)
    settle(many)
    before = heights(many)
    many.set_messages([*many.stack.rows, question("One more", "new")])
    settle(many)
    assert heights(many) == before


@pytest.mark.parametrize("up", [0, 400])
def test_what_is_read_stays_as_it_is_when_the_rest_of_a_long_chat_comes_in_above(
    theme: Theme, many: MessageView, up: int
) -> None:
    rows = list(many.stack.rows)
    view = shown(theme, rows[-40:])
    settle(view)
    view.scroll_px(-up)
    settle(view)
    before = [(placed.unit, placed.y) for placed in view.stack.placed]
    view.set_messages(rows)
    settle(view)
    assert [(placed.unit, placed.y) for placed in view.stack.placed] == before
    assert view.at_end == (up == 0)
    view.scroll_to_row(rows[-40].id)
    assert view.stack.placed[0].unit.gap == view.stack.model(2).sections[BODY][0].gap  # no longer the first of all


def test_another_conversation_opens_at_its_end(many: MessageView) -> None:
    many.scroll_to_start()
    many.set_messages([question("Other", "x"), answer(LONG, "y")])
    settle(many)
    assert many.at_end
    assert "Paragraph 59" in visible_text(many)


def test_a_row_can_be_brought_up(many: MessageView) -> None:
    many.scroll_to_row("q7")
    settle(many)
    assert visible_text(many).startswith("Question 7")
    with pytest.raises(KeyError):
        many.scroll_to_row("nobody")


# -- measures ---------------------------------------------------------------------------------------------------------


def test_the_column_is_760_at_most_and_in_the_middle(theme: Theme) -> None:
    view = shown(theme, [answer("Text " * 100)], width=1400)
    assert view.stack.width == COLUMN_PX
    assert abs(2 * view.picture.left + COLUMN_PX - view.viewport().width()) <= 1
    view.resize(500, 400)
    settle(view)
    assert view.stack.width == view.viewport().width() - 48


def test_lines_of_an_answer_are_22_high_with_any_script(theme: Theme) -> None:
    texts = ("Latin only", "中文字符", "emoji 😀🎉", "`code` in it", "عربي", "fact.[REF]0[/REF]")
    view = shown(theme, [answer(text, f"r{number}", citations=True, actions=()) for number, text in enumerate(texts)])
    boxes = [placed.unit.boxes[0].height for placed in view.stack.placed if placed.key[0] == BODY]
    assert boxes == [22] * len(texts)


@pytest.mark.parametrize("percent", [80, 150, 200])
@pytest.mark.parametrize("width", [300, 640, 1280])
def test_every_text_size_and_width_can_be_drawn(qapp: QApplication, percent: int, width: int) -> None:
    theme = Theme()
    theme.configure(mode="dark", text_percent=percent)
    view = shown(theme, everything(), width=width, height=900)
    for _ in range(12):
        view.scroll_px(-500)
        settle(view)
    for placed in view.stack.placed:
        for box in placed.unit.boxes:
            for each in box.controls():
                assert each.rect.right() <= box.width + theme.px(6), each


def test_another_theme_and_text_size_are_taken_at_once(qapp: QApplication) -> None:
    theme = Theme()
    theme.configure(mode="light", text_percent=100)
    view = shown(theme, everything())
    light = view.grab().toImage()
    small = view.stack.placed[-1].unit.height
    theme.configure(mode="dark", text_percent=200)
    settle(view)
    assert view.grab().toImage() != light
    assert view.stack.placed[-1].unit.height > small


def test_right_to_left_text_stands_at_the_right(theme: Theme) -> None:
    view = shown(theme, [answer("- مرحبا", actions=())])
    box = view.stack.placed[0].unit.boxes[0]
    assert box.end_rect().left() > box.width / 2  # type: ignore[union-attr]  # prose has an end


@pytest.mark.parametrize("width", [200, 240, 300, 760])
def test_the_buttons_of_a_narrow_message_never_stand_on_its_receipt(theme: Theme, width: int) -> None:
    row = MessageRow("a", "assistant", "Yes.", receipt=(ReceiptRun("$0.00016, play money", icon="receipt"),))
    box = FooterBox(theme, row)
    box.layout(width)
    ((_run, at, wide),) = box._places
    text = QRectF(at.x(), at.y() - 8, wide, 16)
    assert not any(control.rect.intersects(text) for control in box.controls())
    assert all(control.rect.bottom() <= box.height + 1 for control in box.controls())


def test_a_receipt_leaves_out_the_speed_before_it_takes_a_second_line(theme: Theme) -> None:
    box = FooterBox(theme, MessageRow("a", "assistant", "Hello.", receipt=RECEIPT))
    one_line = box.layout(2_000)
    spare_at = []
    for width in range(2_000, 300, -20):
        is_one_line = box.layout(width) == one_line
        texts = [run.text for run, _, _ in box._places if run.spare]
        assert is_one_line or not texts
        assert [run for run, _, _ in box._places if not run.spare] == [run for run in RECEIPT if not run.spare]
        spare_at.append(texts)
    both = ["80 tok/s", "first token 126 ms"]
    assert [texts for texts, _ in groupby(spare_at)] == [both, both[:1], []]
    assert both[1] in box.text(0, 0), "who copies the line has all of it"


def test_the_coming_scroll_bar_moves_nothing(theme: Theme) -> None:
    view = shown(theme, [question("Hi"), answer("Hello.")])
    before = (view.picture.left, view.stack.placed[0].unit.boxes[0].width)
    assert not view.verticalScrollBar().isVisible()
    view.set_messages([question("Hi"), answer("Hello.\n\n" * 200)])
    settle(view)
    view.scroll_to_start()
    settle(view)
    assert view.verticalScrollBar().isVisible()
    assert (view.picture.left, view.stack.placed[0].unit.boxes[0].width) == before


def test_the_last_row_of_a_table_is_as_high_as_the_others(theme: Theme) -> None:
    view = shown(theme, [answer("| A | B |\n|--|--|\n| one | two |\n| three | four |\n| five | six |")])
    (table,) = (box for placed in view.stack.placed for box in placed.unit.boxes if isinstance(box, TableBox))
    high = [after - before for before, after in pairwise(table._lines)]
    assert max(high) - min(high) <= 1


def test_a_jump_in_a_chat_that_is_on_screen_as_a_whole_leaves_nothing_below(theme: Theme) -> None:
    view = shown(theme, [question("Hi"), answer("Hello.")])
    told: list[bool] = []
    view.new_text_below.connect(told.append)
    view.scroll_to_start()
    settle(view)
    view.begin_stream("a")
    view.append_text("a", " More of it.")
    settle(view)
    assert told == []
    view.append_text("a", "\n\nA paragraph." * 60)
    settle(view)
    assert view.at_end, "it moves along, as nobody has left the end"
