"""The palette finds everything by a few letters, best first, and runs it where it belongs."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.ui.kit.tab import PaletteItem
from app.ui.shell.overlays import settings_candidates
from app.ui.shell.palette_matching import marked_runs, match
from app.ui.shell.palette_rows import Candidate, listing, split_prefix


def score(typed: str, title: str) -> int:
    found = match(typed, title)
    assert found is not None
    return found.score


def test_a_title_that_begins_so_is_better_than_one_with_such_a_word_or_such_letters() -> None:
    begins, word, inside = score("tra", "Transcribe"), score("tra", "Open audio to transcribe"), score("tra", "Extra")
    assert begins > word > inside


def test_first_letters_of_words_find_an_action() -> None:
    assert match("nc", "New chat") is not None
    assert match("lds", "Switch theme: light, dark, system") is not None


def test_letters_scattered_over_a_title_find_nothing() -> None:
    assert match("ne", "Inspector") is None
    assert match("set", "Smaller text") is None
    assert match("xyz", "Next tab") is None


def test_several_words_may_come_in_any_order() -> None:
    assert match("chat new", "New chat") is not None
    assert match("new shoe", "New chat") is None


@pytest.mark.parametrize("typed", ["STRASSE", "straße", "i̇", "ß", " "])
def test_letters_that_grow_when_folded_do_not_break_the_marks(typed: str) -> None:
    title = "Straße nach İstanbul"
    found = match(typed, title)
    if found is not None:
        assert all(position < len(title) for position in found.positions)
        assert "".join(text for text, _ in marked_runs(title, found.positions)) == title


def test_matched_letters_are_marked() -> None:
    assert marked_runs("Transcribe", (0, 1, 2)) == (("Tra", True), ("nscribe", False))


def candidates() -> list[Candidate]:
    return [
        Candidate("go.chat", "tab", "Chat", "Tab"),
        Candidate("chat.new", "action", "New chat"),
        Candidate("theme", "action", "Switch theme: light, dark, system"),
        Candidate("chat:1", "open", "Release notes", "Chat, “…translate the changelog…”"),
        Candidate("model:1", "model", "Northwind Large", "131K"),
        Candidate("setting:look", "setting", "Text size", "Settings, Appearance"),
    ]


def titles(text: str, recent: tuple[str, ...] = ()) -> list[str]:
    found = listing(candidates(), text, recent)
    return [row.heading or row.candidate.title for row in found.rows]


def test_the_group_with_the_best_fit_stands_first() -> None:
    assert titles("new")[:2] == ["Actions", "New chat"]
    assert titles("chat")[:2] == ["Go to", "Chat"]


def test_what_was_used_last_comes_before_everything_when_nothing_is_typed() -> None:
    assert titles("", ("theme", "gone"))[:2] == ["Recently used", "Switch theme: light, dark, system"]
    assert titles("", ("theme",)).count("Switch theme: light, dark, system") == 1


@pytest.mark.parametrize(
    ("text", "group"), [(">", "Actions"), ("#north", "Models"), ("?text", "Settings"), ("@nobody", None)]
)
def test_a_prefix_leaves_one_kind(text: str, group: str | None) -> None:
    found = titles(text)
    assert (found[0] if found else None) == group
    assert split_prefix("#north") == ("model", "north")


def test_a_match_in_the_second_part_counts_less_but_is_found() -> None:
    found = listing(candidates(), "appearance")
    assert [row.candidate.key for row in found.rows if row.candidate] == ["setting:look", "chat:1", "model:1"]


def test_things_are_found_by_other_words_that_people_use() -> None:
    contract = Candidate("c", "action", "Call a contract…", words="abi solidity")
    others = [contract, Candidate("a", "action", "Abide"), Candidate("b", "action", "Habit")]
    assert [row.candidate.key for row in listing(others, "abi").rows if row.candidate] == ["a", "c", "b"]
    assert not listing([contract], "so").rows, "two letters of a word that is not shown are chance"


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("dark", "Theme: Dark"),
        ("night", "Theme: Light"),
        ("faucet", "Sandbox"),
        ("let it fail", "Sandbox"),
        ("keyring", "Accounts"),
    ],
)
async def test_the_window_is_found_by_the_words_people_use(harness, typed: str, title: str) -> None:
    everything = [*harness.window.overlays.candidates(typed), *settings_candidates(lambda _section: None)]
    found = listing(everything, typed)
    assert title in [row.candidate.title for row in found.rows if row.candidate][:3]


async def test_a_theme_is_chosen_by_its_name(harness) -> None:
    harness.window.registry.run("window.theme_dark")
    assert harness.window.theme.mode == "dark"
    assert harness.store.value.theme == "dark"
    assert harness.window.registry.entry("window.theme_dark").q_action.isChecked()
    harness.window.registry.run("window.theme_light")


def test_the_count_says_how_many_fit() -> None:
    many = [Candidate(f"a{n}", "action", f"Act {n}") for n in range(20)]
    found = listing(many, "act")
    assert (found.shown, found.fitting) == (6, 20)


async def test_typing_and_enter_runs_an_action_and_returns_the_focus(harness):
    harness.chat.input.setFocus()
    harness.window.open_palette()
    palette = harness.window.overlays.palette
    assert harness.window.focusWidget() is palette.field
    QTest.keyClicks(palette.field, "new chat")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert "new" in harness.chat.ran
    assert not palette.isVisible()
    assert harness.window.focusWidget() is harness.chat.input


async def test_arrows_skip_the_headings_and_go_round(harness):
    harness.window.open_palette()
    palette = harness.window.overlays.palette
    first = palette.list_view.currentIndex().row()
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    last = palette.list_view.currentIndex().row()
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    assert (first, palette.list_view.currentIndex().row()) == (1, 1)
    assert last == palette.list_view.model().rowCount() - 1


async def test_esc_and_the_same_key_close_it(harness):
    harness.window.open_palette()
    QTest.keyClick(harness.window.overlays.palette.field, Qt.Key.Key_Escape)
    assert not harness.window.overlays.palette.isVisible()
    harness.window.open_palette()
    harness.window.open_palette()
    assert not harness.window.overlays.palette.isVisible()


async def test_a_tabs_chats_are_found_and_what_ran_is_remembered(harness):
    opened: list[str] = []
    harness.chat.items = [
        PaletteItem("chat:7", "Release notes", "Chat, yesterday", "chat", "open", lambda: opened.append("7"))
    ]
    harness.window.open_palette()
    palette = harness.window.overlays.palette
    QTest.keyClicks(palette.field, "release")
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert opened == ["7"]
    assert harness.store.value.palette_recent == ("chat:7",)
    harness.window.open_palette()
    assert palette.list_view.model().index(0).data() == "Recently used"


async def test_a_text_that_fits_nothing_is_named(harness):
    harness.window.open_palette()
    palette = harness.window.overlays.palette
    QTest.keyClicks(palette.field, "qqqq")
    assert palette._nothing.text() == "No results for “qqqq”."
    assert palette.list_view.isHidden()


async def test_every_row_says_what_it_is_aloud(harness):
    harness.window.open_palette()
    model = harness.window.overlays.palette.list_view.model()
    spoken = [model.index(row).data(Qt.ItemDataRole.AccessibleTextRole) for row in range(model.rowCount())]
    assert "New chat, Ctrl N" in spoken
    assert all(spoken)


async def test_tab_stays_inside_a_sheet(harness):
    harness.window.open_shortcuts()
    sheet = harness.window.overlays._shortcuts
    for _ in range(6):
        QTest.keyClick(harness.window.focusWidget(), Qt.Key.Key_Tab)
        assert sheet.isAncestorOf(harness.window.focusWidget())
