"""What can be pressed in a message, by mouse and by key, and what that does."""

from threading import get_ident
from time import perf_counter
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.ui.conversation.code_box import CodeBox
from app.ui.conversation.rows import MessageRow, RowSource
from app.ui.conversation.units import BODY, FOOTER, HEAD, THOUGHT
from app.ui.conversation.view import MessageView
from app.ui.kit.markdown import code
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.theme import Theme
from tests.kit.message_view import (
    LONG,
    PROBLEM,
    RECEIPT,
    SOURCES,
    answer,
    click,
    control,
    controls,
    everything,
    key_event,
    long_chat,
    mouse,
    plain_theme,
    point_of,
    sections,
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


def test_a_link_to_a_passage_reports_its_source_beside_search_results(theme: Theme) -> None:
    sources = (*SOURCES, RowSource("lease.pdf, page 2", "", passage=("q", 0)))
    view = shown(theme, [answer("Rent [a](#passage-1), heating [b](#passage-2).", sources=sources)])
    spy = QSignalSpy(view.source_activated)
    number = len(sources)
    click(view, f"Source {number}: lease.pdf, page 2")
    assert (spy.at(0)[0], spy.at(0)[1]) == ("a", number - 1)
    assert control(view, "b")[1].tooltip == "No passage 2 was sent with the question."
    click(view, "b")
    assert spy.count() == 1
    assert control(view, f"Source {number}: lease.pdf, page 2, Document")


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
    for name in ("Read aloud", "Try again", "Branch from here", "More", "Copy message"):
        click(view, name)
    assert [spy.at(i)[1] for i in range(spy.count())] == ["speak", "retry", "branch", "more", "copy"]
    assert QGuiApplication.clipboard().text() == "The answer."


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
    assert QGuiApplication.clipboard().text() == "Status: 401 Unauthorized\nRequest ID: 8c1f"


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
    assert box.group.colors is not None
    assert (0, 3, "syntax_keyword") in box.group.colors[0]
    assert box.document.begin().layout().formats()


def test_an_unknown_language_stays_plain(theme: Theme) -> None:
    view = shown(theme, [answer("```nosuchlanguage\nx\n```\n")])
    settle(view)
    box = view.stack.placed[0].unit.boxes[0]
    assert isinstance(box, CodeBox)
    assert box.group.colors == []


def test_code_that_cannot_be_read_stays_plain_and_the_next_gets_its_colors(
    theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    lex = code._lex

    def refuse(lexer: object, text: str) -> object:
        if "refused" in text:
            raise RecursionError
        return lex(lexer, text)

    monkeypatch.setattr(code, "_lex", refuse)
    view = shown(theme, [answer("```python\nrefused\n```\n\n```python\nreturn 1\n```\n")])
    settle(view)
    boxes = [box for placed in view.stack.placed for box in placed.unit.boxes]
    colors = [box.group.colors for box in boxes if isinstance(box, CodeBox)]
    assert colors == [[], [[(0, 6, "syntax_keyword"), (7, 1, "syntax_number")]]]


def test_code_is_read_in_a_thread_that_rests_often(theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    read_in, rested_in = list[int](), list[int]()
    role = code._role
    monkeypatch.setattr(code, "_role", lambda kind: read_in.append(get_ident()) or role(kind))
    clock = SimpleNamespace(perf_counter=perf_counter, sleep=lambda _: rested_in.append(get_ident()))
    monkeypatch.setattr(code, "time", clock)
    monkeypatch.delattr("pygments.lexers.esoteric.BrainfuckLexer._tokens", raising=False)
    code.lexer_for.cache_clear()
    view = shown(theme, [answer("```brainfuck\n[-]\n```")])
    settle(view)
    assert len(rested_in) >= 5, "one for each regular expression"
    assert read_in
    assert get_ident() not in (*read_in, *rested_in), "a script in HTML is compiled in the middle of the text"


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
    spy = QSignalSpy(view.reasoning_folded)
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
    click(view, "Copy reasoning")
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
    assert plain_tip("<img src=file:///x>") == "<p style='white-space:pre-wrap'>&lt;img src=file:///x&gt;</p>"
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
    assert set(entries) == {"Copy link", "Copy message", "Copy as Markdown", "Select all"}
    entries["Copy link"].trigger()
    assert QGuiApplication.clipboard().text() == "https://example.org/l"
    entries["Copy message"].trigger()
    assert QGuiApplication.clipboard().text() == "A link (https://example.org/l)."
    entries["Copy as Markdown"].trigger()
    assert QGuiApplication.clipboard().text() == "A [link](https://example.org/l)."
    menu.close()


def test_update_is_still_the_widgets_own_without_a_row(theme: Theme) -> None:
    view = shown(theme, [answer("x")])
    view.update()
    view.update("a", text="y")
    assert view.row("a").text == "y"
    with pytest.raises(KeyError):
        view.update_row("nobody", text="z")
