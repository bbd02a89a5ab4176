"""What was typed into a field that filters."""

from app.ui.kit.lists.search_terms import SearchTerms


def test_every_word_has_to_be_there_in_any_order_and_case() -> None:
    words = SearchTerms("  tern Arctic ")
    assert words.are_in("The ARCTIC", "Tern")
    assert not words.are_in("The arctic fox")


def test_words_of_two_texts_do_not_run_into_each_other() -> None:
    assert not SearchTerms("foxtern").are_in("arctic fox", "tern")


def test_nothing_typed_is_held_by_everything() -> None:
    assert not SearchTerms("  ")
    assert SearchTerms("").are_in()


def test_thousands_of_texts_are_looked_through_for_every_word() -> None:
    texts = ["arctic tern", "common tern", "arctic fox"]
    assert SearchTerms("TERN arctic").among([1, 2, 3], texts) == [1]
    assert SearchTerms("ow").among([1, 2, 3], texts) == []
    assert SearchTerms("").among([1, 2, 3], texts) == [1, 2, 3]
