"""What was typed into a field that filters."""

from app.ui.kit.lists.typed_words import TypedWords


def test_every_word_has_to_be_there_in_any_order_and_case() -> None:
    words = TypedWords("  tern Arctic ")
    assert words.are_in("The ARCTIC", "Tern")
    assert not words.are_in("The arctic fox")


def test_words_of_two_texts_do_not_run_into_each_other() -> None:
    assert not TypedWords("foxtern").are_in("arctic fox", "tern")


def test_nothing_typed_is_held_by_everything() -> None:
    assert not TypedWords("  ")
    assert TypedWords("").are_in()
