"""The message view as a person meets it: what is on screen, where it stays, what pressing does."""

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent, QWheelEvent
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.ui.chat.message_code import CodeBox
from app.ui.chat.message_rows import MessageRow, RowSource
from app.ui.chat.message_units import BODY, FOOTER, HEAD, THOUGHT
from app.ui.chat.message_view import COLUMN_PX, MessageView
from app.ui.chat.message_view_pointer import plain_tooltip
from app.ui.shared.problems import ActionSpec, Problem
from app.ui.shared.theme import Theme
from tests.ui.message_kit import (
    RECEIPT,
    RICH,
    SOURCES,
    answer,
    click,
    control,
    controls,
    mouse,
    point_of,
    question,
    settle,
    shown,
    visible_text,
)

LONG = "\n\n".join(f"Paragraph {number} " + "with words " * 30 for number in range(60))


@pytest.fixture(scope="module")
def theme(qapp: QApplication) -> Theme:
    theme = Theme()
    theme.apply(qapp)
    return theme


@pytest.fixture
def many(theme: Theme) -> MessageView:
    rows = []
    for number in range(200):
        rows += [
            question(f"Question {number}", f"q{number}"),
            answer(f"Answer {number}\n\n" + "words " * 120, f"a{number}"),
        ]
    return shown(theme, rows)


def heights(view: MessageView) -> list[tuple[int, tuple[int, int], int]]:
    return [(placed.row, placed.key, placed.y) for placed in view.stack.placed]


# -- where we are -----------------------------------------------------------------------------------------------------


def test_a_chat_opens_at_its_end(many: MessageView) -> None:
    assert many.at_end
    assert "Answer 199" in visible_text(many)
    last = many.stack.placed[-1]
    assert last.bottom <= many.viewport().height()


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
def test_keys_scroll(many: MessageView, key: Qt.Key, moves_up: bool) -> None:
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


# -- pressing ---------------------------------------------------------------------------------------------------------


def test_links_are_reported_and_never_opened(theme: Theme) -> None:
    view = shown(theme, [answer("See [the docs](https://example.org/docs).")])
    spy = QSignalSpy(view.link_activated)
    click(view, "the docs")
    assert [spy.at(0)[0]] == ["https://example.org/docs"]
    assert control(view, "the docs")[1].tooltip == "https://example.org/docs"


def test_a_drag_that_begins_on_a_link_selects_instead(theme: Theme) -> None:
    view = shown(theme, [answer("[A link that is long enough](https://example.org/docs) and more words behind it.")])
    spy = QSignalSpy(view.link_activated)
    at = point_of(view, "A link")
    mouse(view, QEvent.Type.MouseButtonPress, at)
    mouse(view, QEvent.Type.MouseMove, at + QPointF(60, 0))
    mouse(view, QEvent.Type.MouseButtonRelease, at + QPointF(60, 0))
    assert spy.count() == 0
    assert view.selection.range is not None


def test_citations_and_source_chips_report_their_source(theme: Theme) -> None:
    view = shown(theme, [answer("Fact.[REF]1[/REF]", citations=True, sources=SOURCES)])
    spy = QSignalSpy(view.source_activated)
    click(view, "Source 2: Backoff")
    click(view, "Source 3: Rate limits, docs")
    assert [(spy.at(i)[0], spy.at(i)[1]) for i in range(2)] == [("a", 1), ("a", 2)]


def test_sources_that_come_late_bind_the_chips_that_are_there(theme: Theme) -> None:
    view = shown(theme, [answer("Fact.[REF]1[/REF] Other.[REF]5[/REF]", citations=True, state="streaming")])
    assert [each.name for _, each, _ in controls(view)] == ["Source 2", "Source 6"]
    view.update_row("a", sources=SOURCES, state="complete")
    settle(view)
    names = [each.name for _, each, _ in controls(view)]
    assert names[:2] == ["Source 2: Backoff and jitter", "Citation 6 without a source"]


def test_many_sources_are_folded_until_asked_for(theme: Theme) -> None:
    many = tuple(RowSource(f"Title {number}", f"https://h{number}.example/") for number in range(30))
    view = shown(theme, [answer("Text", sources=many)])
    assert len([1 for _, each, _ in controls(view) if each.name.startswith("Source ")]) == 8
    click(view, "Show 22 more")
    settle(view)
    assert len([1 for _, each, _ in controls(view) if each.name.startswith("Source ")]) == 30


def test_message_buttons_report_their_names(theme: Theme) -> None:
    view = shown(theme, [answer("The *answer*.", receipt=RECEIPT, reasoning="secret thoughts")])
    spy = QSignalSpy(view.action)
    for name in ("Try again", "Branch from here", "More", "Copy message"):
        click(view, name)
    assert [spy.at(i)[1] for i in range(spy.count())] == ["retry", "branch", "more", "copy"]
    assert QGuiApplication.clipboard().text() == "The *answer*."


def test_branches_have_arrows(theme: Theme) -> None:
    view = shown(theme, [MessageRow("q", "user", "Hi", place=2, places=3, actions=("copy", "edit"))])
    spy = QSignalSpy(view.action)
    click(view, "Previous branch")
    click(view, "Next branch")
    click(view, "Edit message")
    assert [spy.at(i)[1] for i in range(3)] == ["previous", "next", "edit"]


def test_an_interrupted_answer_offers_to_go_on(theme: Theme) -> None:
    view = shown(theme, [answer("Half a", state="interrupted", state_text="418 tokens kept, $0.0019.")])
    spy = QSignalSpy(view.action)
    click(view, "Continue")
    click(view, "Start over")
    assert [spy.at(i)[1] for i in range(2)] == ["continue", "start-over"]


def test_an_error_card_offers_its_buttons_and_its_details(theme: Theme) -> None:
    view = shown(theme, [answer(state="failed", problem=PROBLEM, actions=())])
    spy = QSignalSpy(view.action)
    click(view, "Replace key…")
    click(view, "Try again")
    assert [spy.at(i)[1] for i in range(2)] == ["replace-key", "retry"]
    before = view.stack.placed[-1].unit.height
    click(view, "Details")
    settle(view)
    assert view.stack.placed[-1].unit.height > before
    click(view, "Copy for support")
    assert QGuiApplication.clipboard().text() == "Status: 401 Unauthorized\nRequest id: 8c1f"


def test_code_copies_wraps_and_is_offered_for_saving(theme: Theme) -> None:
    lines = "\n".join(f"value_{number} = {number}" + " + 1" * 60 for number in range(100))
    view = shown(theme, [answer(f"```py\n{lines}\n```\n")])
    view.scroll_to_start()
    settle(view)
    spy = QSignalSpy(view.save_requested)
    click(view, "Copy code")
    assert QGuiApplication.clipboard().text() == lines
    click(view, "Save code")
    assert (spy.at(0)[0], spy.at(0)[1]) == (lines, "code.py")
    before = view.stack.placed[0].unit.height
    click(view, "Wrap long lines")
    settle(view)
    assert view.stack.placed[0].unit.height > before
    assert control(view, "Wrap")[1].checked


def test_wide_code_scrolls_sideways_by_wheel_and_key(theme: Theme) -> None:
    view = shown(theme, [answer("```\n" + "x" * 400 + "\n```")])
    box = next(box for placed in view.stack.placed for box in placed.unit.boxes if isinstance(box, CodeBox))
    at = view.pointer.origin_of(view.stack.placed[0], box) + QPointF(50, 50)
    turn(view, -120, Qt.KeyboardModifier.ShiftModifier, at)
    assert box.sideways.offset == 66
    view.set_focused(control(view, "Copy code")[0])
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert box.sideways.offset == 126
    bar = box.bar_rect().center()
    origin = view.pointer.origin_of(view.stack.placed[0], box)
    mouse(view, QEvent.Type.MouseButtonPress, origin + QPointF(box.left + 2, bar.y()))
    mouse(view, QEvent.Type.MouseButtonRelease, origin + bar)
    assert box.sideways.offset == 0


def test_code_gets_its_colours_after_it_was_shown(theme: Theme) -> None:
    view = shown(theme, [answer("```python\ndef f():\n    return 1\n```\n")])
    settle(view)
    box = view.stack.placed[0].unit.boxes[0]
    assert isinstance(box, CodeBox)
    assert box.group.colours is not None
    assert (0, 3, "syntax_keyword") in box.group.colours[0]
    assert box.document.begin().layout().formats()


def test_an_unknown_language_stays_plain(theme: Theme) -> None:
    view = shown(theme, [answer("```nosuchlanguage\nx\n```\n")])
    settle(view)
    box = view.stack.placed[0].unit.boxes[0]
    assert isinstance(box, CodeBox)
    assert box.group.colours == []


def test_a_footnote_mark_leads_to_its_note(theme: Theme) -> None:
    view = shown(theme, [answer("Text.[^n]\n\n" + LONG + "\n\n[^n]: The note.")])
    view.scroll_to_start()
    settle(view)
    click(view, "Footnote")
    settle(view)
    assert "The note." in visible_text(view)


# -- thoughts ---------------------------------------------------------------------------------------------------------


def test_thoughts_fold_and_unfold_and_keep_their_place(theme: Theme) -> None:
    view = shown(theme, [answer("Answer", reasoning="Hidden ideas", reasoning_s=4.2, reasoning_tokens=386)])
    assert sections(view) == [HEAD, BODY, FOOTER]
    spy = QSignalSpy(view.thoughts_folded)
    click(view, "Thought for 4.2 s")
    settle(view)
    assert sections(view) == [HEAD, THOUGHT, BODY, FOOTER]
    assert "Hidden ideas" in visible_text(view)
    click(view, "Thought for 4.2 s")
    settle(view)
    assert sections(view) == [HEAD, BODY, FOOTER]
    assert [spy.at(i)[1] for i in range(2)] == [False, True]


def test_what_was_unfolded_stays_so_when_the_row_changes(theme: Theme) -> None:
    view = shown(theme, [answer("Answer", reasoning="Ideas", reasoning_s=1.0)])
    click(view, "Thought for")
    view.update_row("a", receipt=RECEIPT)
    settle(view)
    assert THOUGHT in sections(view)


def test_thoughts_have_a_copy_of_their_own(theme: Theme) -> None:
    view = shown(theme, [answer("Answer", reasoning="Only ideas", reasoning_s=1.0)])
    click(view, "Copy thoughts")
    assert QGuiApplication.clipboard().text() == "Only ideas"


# -- keyboard, tooltips, menu -----------------------------------------------------------------------------------------


def test_tab_walks_what_can_be_pressed_and_leaves(theme: Theme) -> None:
    view = shown(theme, [answer("[one](https://a.example) [two](https://b.example)", actions=("copy",))])
    names = []
    while view.focusNextPrevChild(True) and view.picture.focused is not None:
        spot = view.picture.focused
        names.append(next(each.name for found, each, _ in controls(view) if found == spot))
        if len(names) > 9:
            break
    assert names == ["one", "two", "Copy message"]


def test_enter_presses_what_has_the_focus(theme: Theme) -> None:
    view = shown(theme, [answer("[one](https://a.example)", actions=())])
    spy = QSignalSpy(view.link_activated)
    view.set_focused(control(view, "one")[0])
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert spy.at(0)[0] == "https://a.example"


def test_focus_is_seen(theme: Theme) -> None:
    view = shown(theme, everything())
    settle(view)
    plain = view.grab().toImage()
    view.set_focused(next(controls(view))[0])
    assert view.grab().toImage() != plain


def test_keys_that_mean_nothing_here_reach_the_window(theme: Theme) -> None:
    view = shown(theme, [answer("x")])
    for key, modifiers in (
        (Qt.Key.Key_Escape, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier),
    ):
        event = key_event(key, modifiers)
        view.keyPressEvent(event)
        assert not event.isAccepted()


def test_tooltips_never_read_a_message_as_html(theme: Theme) -> None:
    assert plain_tooltip("<img src=file:///x>") == "<p style='white-space:pre-wrap'>&lt;img src=file:///x&gt;</p>"
    view = shown(theme, [answer("[x](https://example.org/<b>)", actions=())])
    at = point_of(view, "x").toPoint()
    event = QHelpEvent(QEvent.Type.ToolTip, at, view.viewport().mapToGlobal(at))
    assert view.viewportEvent(event)


def test_the_menu_copies_the_message_and_the_link(theme: Theme) -> None:
    view = shown(theme, [answer("A [link](https://example.org/l).", actions=())])
    at = point_of(view, "link").toPoint()
    view._actions.open_menu(at, QPoint(0, 0))
    menu = view.findChildren(QMenu)[-1]
    entries = {action.text(): action for action in menu.actions() if action.text()}
    assert set(entries) == {"Copy link", "Copy message", "Select all"}
    entries["Copy link"].trigger()
    assert QGuiApplication.clipboard().text() == "https://example.org/l"
    entries["Copy message"].trigger()
    assert QGuiApplication.clipboard().text() == "A [link](https://example.org/l)."
    menu.close()


def test_update_is_still_the_widgets_own_without_a_row(theme: Theme) -> None:
    view = shown(theme, [answer("x")])
    view.update()
    view.update("a", text="y")
    assert view.row("a").text == "y"
    with pytest.raises(KeyError):
        view.update_row("nobody", text="z")


# -- helpers ----------------------------------------------------------------------------------------------------------

PROBLEM = Problem(
    "The service did not accept your API key",
    "Nothing was charged, and your message is still in the box below.",
    ActionSpec("replace-key", "Replace key…"),
    ActionSpec("retry", "Try again"),
    (("Status", "401 Unauthorized"), ("Request id", "8c1f")),
    icon="key",
)


def everything() -> list[MessageRow]:
    return [
        MessageRow("q", "user", "A question\n```\nwith code\n```", place=1, places=2),
        answer(RICH, "rich", citations=True, sources=SOURCES, receipt=RECEIPT, reasoning="**Ideas**", reasoning_s=1.5),
        MessageRow("n", "note", "The model is another one now."),
        answer("Half", "half", state="interrupted", state_text="12 tokens kept.", reasoning_open=True, reasoning="Why"),
        answer("", "failed", state="failed", problem=PROBLEM),
        answer("Coming", "live", state="streaming"),
    ]


def sections(view: MessageView) -> list[int]:
    return [placed.key[0] for placed in view.stack.placed]


def key_event(key: Qt.Key, modifiers: Qt.KeyboardModifier):  # type: ignore[no-untyped-def]  # QKeyEvent
    from PySide6.QtGui import QKeyEvent

    return QKeyEvent(QEvent.Type.KeyPress, key, modifiers)


def turn(
    view: MessageView,
    angle: int,
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    at: QPointF | None = None,
) -> None:
    at = at or QPointF(view.viewport().rect().center())
    where = QPointF(view.viewport().mapToGlobal(at.toPoint()))
    phase, buttons = Qt.ScrollPhase.NoScrollPhase, Qt.MouseButton.NoButton
    event = QWheelEvent(at, where, QPoint(), QPoint(0, angle), buttons, modifiers, phase, False)
    QApplication.sendEvent(view.viewport(), event)
