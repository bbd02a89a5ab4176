"""The list under headings that every tab's left pane is: what is told anew, and what keys and the pointer ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QImage, QPainter, QRegion
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QApplication, QStyle, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from app.ui.kit.lists.grouped_list import Group, GroupedModel, Heading, under_headings
from app.ui.kit.lists.grouped_list_delegate import GroupedDelegate
from app.ui.kit.lists.grouped_list_view import GroupedView
from app.ui.kit.lists.rows import LazyRows, matching
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.qt_workarounds import claimed_shortcuts
from app.ui.kit.theme import Theme


@dataclass(frozen=True)
class Row:
    id: str
    day: str
    title: str
    busy: bool = False

    @property
    def spoken(self) -> str:
        return f"{self.title}, {self.day}"


THREE = (Row("a", "Today", "Apple"), Row("b", "Today", "Berry"), Row("c", "Yesterday", "Cherry"))


def groups(rows: Sequence[Row]) -> Iterator[Group]:
    return under_headings(rows, lambda row: row.id, lambda row: row.day)


def make_view(qtbot: QtBot, theme: Theme, **options: object) -> GroupedView:
    view = GroupedView(theme, "Fruit", **options)  # type: ignore[arg-type]  # what each test asks for
    view.setItemDelegate(GroupedDelegate(theme, view))
    qtbot.addWidget(view)
    view.resize(240, 300)
    view.show_groups(groups(THREE))
    view.show()
    view.activateWindow()
    qtbot.waitUntil(view.isActiveWindow, timeout=60_000)
    view.setFocus()
    return view


def press_on(view: GroupedView, key: str, x: int) -> None:
    place = view.visualRect(view.rows.index_of(key))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, place.center().y()))


def test_another_open_row_paints_both_and_no_other(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    delegate = view.itemDelegate()
    assert isinstance(delegate, GroupedDelegate)
    view.show_open("a")
    QApplication.processEvents()
    delegate.wanted = QRegion()
    view.show_open("c")
    qtbot.waitUntil(lambda: not delegate.wanted.isEmpty(), timeout=60_000)
    painted = {key: delegate.wanted.intersects(view.visualRect(view.rows.index_of(key))) for key in "abc"}
    assert painted == {"a": True, "b": False, "c": True}


def test_a_new_heading_stands_wherever_the_group_changes() -> None:
    model = GroupedModel()
    model.set_rows(groups(THREE))
    titles = [model.index(place, 0).data() for place in range(model.rowCount())]
    assert titles == ["Today", "Apple", "Berry", "Yesterday", "Cherry"]
    assert model.shown_keys() == ["a", "b", "c"]
    assert not model.flags(model.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable


def test_a_list_without_headings_has_rows_alone() -> None:
    model = GroupedModel()
    model.set_rows([("", [(row.id, row) for row in THREE])])
    assert (model.rowCount(), model.index(0, 0).data()) == (3, "Apple")


def test_a_changed_row_is_told_alone_and_a_moved_one_resets() -> None:
    model = GroupedModel()
    model.set_rows(groups(THREE))
    changed: list[int] = []
    resets: list[bool] = []
    model.dataChanged.connect(lambda index, _end: changed.append(index.row()))
    model.modelReset.connect(lambda: resets.append(True))
    model.set_rows(groups(THREE))
    model.set_rows(groups((THREE[0], Row("b", "Today", "Blackberry"), THREE[2])))
    model.set_row("c", Row("c", "Yesterday", "Sour cherry"))
    model.set_row("gone", Row("gone", "Yesterday", "Nothing"))
    assert (changed, resets) == ([2, 4], [])
    model.set_rows(groups(THREE[1:]))
    assert (resets, model.index_of("a").isValid(), model.index_of("c").row()) == ([True], False, 3)


def test_a_heading_is_never_taken_for_a_row_with_the_same_key() -> None:
    model = GroupedModel()
    model.set_rows([("Today", [("Today", Row("Today", "Today", "A row"))])])
    assert model.index_of("Today").row() == 1
    assert model.key(model.index(0, 0)) is None


def test_neighbours_stop_at_both_ends_and_begin_there_for_what_is_not_shown() -> None:
    model = GroupedModel()
    assert model.neighbor("a", 1) is None
    model.set_rows(groups(THREE))
    assert [model.neighbor(*step) for step in (("a", 1), ("a", -1), ("c", 1), ("?", 1), ("?", -1))] == [
        "b",
        "a",
        "c",
        "a",
        "c",
    ]


def test_enter_space_rename_and_delete_ask_for_the_current_row(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    asked: list[tuple[str, object]] = []
    view.chosen.connect(lambda key: asked.append(("chosen", key)))
    view.play_requested.connect(lambda key: asked.append(("play", key)))
    view.rename_requested.connect(lambda key: asked.append(("rename", key)))
    view.trash_requested.connect(lambda keys: asked.append(("trash", keys)))
    view.show_current("a")
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_F2, Qt.Key.Key_Delete):
        QTest.keyClick(view, key)
    assert asked == [("chosen", "b"), ("play", "b"), ("rename", "b"), ("trash", ("b",))]


def test_arrows_step_over_headings_and_say_where_they_are(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    view.show_current("b")
    went: list[object] = []
    view.moved.connect(went.append)
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert (went, view.current_key) == (["c"], "c")


def test_a_pane_may_keep_a_key_for_itself(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    view.show_current("a")
    chosen: list[object] = []
    view.chosen.connect(chosen.append)
    view.key_pressed.connect(lambda event, _key: event.accept())
    QTest.keyClick(view, Qt.Key.Key_Return)
    assert chosen == []


def test_the_signs_at_both_ends_are_hit_apart_from_the_row(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme, has_end_sign=True)
    asked: list[tuple[str, object]] = []
    view.chosen.connect(lambda key: asked.append(("chosen", key)))
    view.play_requested.connect(lambda key: asked.append(("start", key)))
    view.sign_requested.connect(lambda key: asked.append(("end", key)))
    wide = view.viewport().width()
    for x in (20, wide // 2, wide - 20):
        press_on(view, "c", x)
    view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    press_on(view, "c", 20)
    assert asked == [("start", "c"), ("chosen", "c"), ("end", "c"), ("end", "c")]


def test_where_a_click_only_selects_a_double_click_chooses(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme, has_start_sign=False, click_chooses=False)
    chosen: list[object] = []
    view.chosen.connect(chosen.append)
    press_on(view, "a", 20)
    assert (chosen, view.current_key) == ([], "a")
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.currentIndex()).center())
    assert chosen == ["a"]


def test_the_current_row_stays_while_others_come_above_it(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    view.show_current("b")
    went: list[object] = []
    view.moved.connect(went.append)
    view.show_groups(groups((Row("new", "Today", "Fig"), *THREE)))
    assert (view.current_key, view.selected_keys(), went) == ("b", ("b",), [])


def test_the_menu_key_opens_the_menu_of_the_current_row(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    view.show_current("c")
    asked: list[object] = []
    view.menu_requested.connect(lambda key, _place: asked.append(key))
    press_menu(view, QContextMenuEvent.Reason.Keyboard, QPoint(-1, -1))
    assert asked == ["c"]


def test_a_right_click_opens_the_menu_of_the_row_under_it_and_none_on_the_empty_part(
    qtbot: QtBot, theme: Theme
) -> None:
    view = make_view(qtbot, theme)
    view.show_current("c")
    asked: list[object] = []
    view.menu_requested.connect(lambda key, _place: asked.append(key))
    press_menu(view, QContextMenuEvent.Reason.Mouse, view.visualRect(view.rows.index_of("a")).center())
    press_menu(view, QContextMenuEvent.Reason.Mouse, view.viewport().rect().bottomLeft())
    assert asked == ["a"]


def test_a_row_that_a_shortcut_opens_is_selected_alone(qtbot: QtBot, theme: Theme) -> None:
    """Ctrl and Shift are still held then; what a hand selects with them is something else."""
    view = make_view(qtbot, theme, selects_many=True)
    view.show_current("a")
    for held in (Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier):
        QTest.keyPress(view, Qt.Key.Key_F9, held)
        assert QApplication.keyboardModifiers() == held
        view.show_current("c")
        assert view.selected_keys() == ("c",)
        view.show_current("a")
        QTest.keyRelease(view, Qt.Key.Key_F9)
    QTest.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert view.selected_keys() == ("a", "b") and view.selected_with("b") == ("a", "b")
    assert view.selected_with("c") == ("c",)


def press_menu(view: GroupedView, reason: QContextMenuEvent.Reason, place: QPoint) -> None:
    QApplication.sendEvent(view.viewport(), QContextMenuEvent(reason, place, view.viewport().mapToGlobal(place)))


def test_on_a_mac_backspace_deletes_a_row_as_delete_does(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = make_view(qtbot, theme)
    view.show_current("b")
    gone: list[object] = []
    view.trash_requested.connect(gone.append)
    QTest.keyClick(view, Qt.Key.Key_Backspace)
    assert gone == []
    monkeypatch.setattr(claimed_shortcuts, "DELETE_KEYS", (Qt.Key.Key_Delete, Qt.Key.Key_Backspace))
    QTest.keyClick(view, Qt.Key.Key_Backspace)
    QTest.keyClick(view, Qt.Key.Key_Delete)
    assert gone == [("b",), ("b",)]


def test_rings_turn_only_while_one_is_there_and_somebody_looks(qtbot: QtBot, theme: Theme) -> None:
    theme.configure(mode="light", text_percent=100, reduced_motion=False)
    view = make_view(qtbot, theme, turns=lambda row: isinstance(row, Row) and row.busy)
    assert not view._turner.isActive()
    busy = Row("b", "Today", "Berry", busy=True)
    view.show_groups(groups((THREE[0], busy, THREE[2])))
    assert view._turner.isActive()
    view.hide()
    assert not view._turner.isActive()
    view.show()
    assert view._turner.isActive()
    view.show_groups(groups(THREE))
    assert not view._turner.isActive()


def test_the_open_row_is_painted_apart_on_either_side(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    delegate = view.itemDelegate()
    assert isinstance(delegate, GroupedDelegate)

    def painted(direction: Qt.LayoutDirection) -> QImage:
        image = QImage(QSize(240, 51), QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(theme.color("pane"))
        option = QStyleOptionViewItem()
        option.rect = image.rect()
        option.state = QStyle.StateFlag.State_Enabled
        painter = QPainter(image)
        painter.setLayoutDirection(direction)
        delegate.paint(painter, option, view.rows.index_of("b"))
        painter.end()
        return image

    plain = painted(Qt.LayoutDirection.LeftToRight)
    view.show_open("b")
    marked, mirrored = painted(Qt.LayoutDirection.LeftToRight), painted(Qt.LayoutDirection.RightToLeft)
    assert plain != marked != mirrored
    assert view.current_key == "b"


def many(count: int) -> list:
    return groups([Row(str(number), "Today", f"Fruit {number}") for number in range(count)])


def is_in_sight(view: GroupedView, key: str) -> bool:
    place = view.visualRect(view.rows.index_of(key))
    return place.isValid() and view.viewport().rect().contains(place)


def test_a_row_that_comes_after_it_was_opened_is_in_sight_and_stays_so_while_the_list_shrinks(
    qtbot: QtBot, theme: Theme
) -> None:
    view = make_view(qtbot, theme)
    view.hide()
    view.show_open("40")
    view.show_groups(many(60))
    assert view.current_key == "40"
    view.show()
    view.resize(240, 120)
    qtbot.waitUntil(lambda: is_in_sight(view, "40"), timeout=60_000)
    view.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderToMinimum)
    view.resize(240, 140)
    assert view.verticalScrollBar().value() == 0, "a hand has scrolled away from it"
    view.show_groups(many(61))
    assert view.verticalScrollBar().value() == 0


def test_the_row_that_the_keyboard_is_at_stays_in_sight_while_others_come_above_it(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    old, new = ([Row(f"{kind} {number}", "Today", "Fruit") for number in range(40)] for kind in ("old", "new"))
    view.show_groups(groups(old))
    QTest.keyClick(view, Qt.Key.Key_Down)
    at = view.current_key
    view.show_groups(groups(new + old))
    assert view.current_key == at and is_in_sight(view, str(at))
    view.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderToMinimum)
    view.show_groups(groups(new[1:] + old))
    assert view.verticalScrollBar().value() == 0, "a hand has scrolled away from it"


def test_a_heading_says_itself() -> None:
    assert Heading("Today").spoken == "Today"


def test_rows_stay_selected_while_the_canvas_says_again_what_it_shows(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme, selects_many=True)
    view.show_open("a")
    for shown in ("a", None):
        view.show_open(shown)
        view.selectAll()
        view.show_open(shown)
        assert len(view.selectedIndexes()) == 3
    view.show_open("b")
    view.show_open(None)
    assert view.selectedIndexes() == []


def test_a_long_list_builds_a_page_and_the_next_one_when_it_is_scrolled_to_its_end(qtbot: QtBot, theme: Theme) -> None:
    built: list[int] = []

    def build(number: int) -> Row:
        built.append(number)
        return Row(str(number), "Today" if number < 500 else "Yesterday", f"Row {number}")

    rows = LazyRows(range(2_000), build)
    view = make_view(qtbot, theme)
    view.show_groups(under_headings(rows, lambda row: row.id, lambda row: row.day))
    page = view.rows.page
    assert view.rows.rowCount() == page
    assert len(built) <= page + 1
    view.rows.set_row("700", Row("700", "Yesterday", "Renamed"))  # not shown yet
    bar = view.verticalScrollBar()
    while view.rows.canFetchMore():
        end = bar.maximum()
        bar.setValue(end)
        qtbot.waitUntil(lambda end=end: bar.maximum() > end, timeout=60_000)
    assert view.rows.shown_keys() == [str(number) for number in range(2_000)]
    assert view.rows.rowCount() == 2_000 + 2  # headings
    assert view.rows.row_of("700") == Row("700", "Yesterday", "Renamed")
    view.show_groups(under_headings(rows, lambda row: row.id, lambda row: row.day))
    assert view.rows.rowCount() == 2_002  # what was scrolled to stays


def test_the_row_after_the_last_of_a_page_is_there_for_the_keys(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    rows = [Row(str(number), "Today", "Row") for number in range(view.rows.page + 5)]
    view.show_groups(groups(rows))
    last = view.rows.shown_keys()[-1]
    assert view.rows.neighbor(last, 1) == str(int(str(last)) + 1)


def test_neighbors_of_a_row_that_is_not_shown_yet_stand_beside_it(qtbot: QtBot, theme: Theme) -> None:
    view = make_view(qtbot, theme)
    view.show_groups(many(1_000))
    assert [view.rows.neighbor("450", step) for step in (1, -1)] == ["451", "449"]
    assert view.rows.canFetchMore(), "no more was taken than that"
    view.show_groups(many(1_000), "fruit")
    page = view.rows.rowCount()
    assert (view.rows.neighbor("", 1), view.rows.rowCount()) == ("0", page), "nothing is open"
    for _ in range(2):
        assert (view.rows.neighbor("?", 1), view.rows.rowCount()) == ("0", page), "what is not there is not waited for"
    assert view.rows.neighbor("150", 1) == "151"
    while view.rows.canFetchMore():
        view.rows.fetchMore()
    assert view.rows.shown_keys() == [str(number) for number in range(1_000)]


@pytest.mark.parametrize("is_open_first", [False, True])
def test_the_list_goes_to_what_is_open_also_a_page_further_down(
    qtbot: QtBot, theme: Theme, is_open_first: bool
) -> None:
    view = make_view(qtbot, theme)
    if is_open_first:
        view.show_open("150")
        view.show_groups(many(1_000))
    else:
        view.show_groups(many(1_000))
        view.show_open("150")
    assert view.current_key == "150"
    view.show_open("900")
    assert view.rows.rowCount() < 300, "a row far down would take too long"


def test_a_filter_of_a_long_list_asks_the_cheap_text_and_builds_what_it_finds() -> None:
    built: list[int] = []

    def build(number: int) -> Row:
        built.append(number)
        return Row(str(number), "Today", f"Row {number}")

    rows = LazyRows(range(2_000), build, lambda numbers: [f"row {number}" for number in numbers])
    found = matching(rows, SearchTerms("ROW 1999"), lambda row: (row.title,))
    assert built == []
    assert [row.id for row in found] == ["1999"]
    assert built == [1999]
    plain = LazyRows(range(20), build)
    assert [row.id for row in matching(plain, SearchTerms("19"), lambda row: (row.title,))] == ["19"]


def test_what_is_typed_begins_a_long_list_anew_at_its_top(qtbot: QtBot, theme: Theme) -> None:
    rows = [Row(str(number), "Today", f"Row {number}") for number in range(1_000)]
    view = make_view(qtbot, theme)
    view.show_groups(groups(rows))
    page = view.rows.rowCount()
    for _ in range(3):
        view.rows.fetchMore()
    view.doItemsLayout()
    bar = view.verticalScrollBar()
    bar.setValue(bar.maximum())
    shown = view.rows.rowCount()
    view.show_groups(groups(rows[1:]))
    assert view.rows.rowCount() >= shown > 2 * page, "nothing was typed"
    view.show_groups(groups(rows), "row")
    assert (view.rows.rowCount(), bar.value()) == (page, 0)
    bar.setValue(40)
    view.show_groups(groups(rows[1:]), "row")
    assert bar.value() == 40, "nothing else was typed"


def test_the_height_of_a_kind_of_row_is_measured_once_for_each_text_size(
    qtbot: QtBot, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = make_view(qtbot, theme)
    measured: list[str] = []
    height = GroupedDelegate.row_height

    def watched(delegate: GroupedDelegate, row: Row) -> int:
        measured.append(row.id)
        return height(delegate, row)

    monkeypatch.setattr(GroupedDelegate, "row_height", watched)
    view.show_groups(groups([Row(str(number), "Today", "Apple") for number in range(500)]))
    while view.rows.canFetchMore():
        view.rows.fetchMore()
        view.doItemsLayout()
    first = view.rows.index_of("0")
    assert measured == [] and view.visualRect(first).width() == view.viewport().width()
    before = view.visualRect(first).height()
    theme.set_text_percent(200)
    view.doItemsLayout()
    assert len(measured) == 1 and view.visualRect(view.rows.index_of("0")).height() > 1.5 * before
