"""Code is highlighted up to its last line."""

from app.ui.kit.markdown.code import color_lines


def test_the_last_line_of_a_diff_has_its_color() -> None:
    """The lexer of diffs needs the newline at the end of a line, which a block of Markdown does not have."""
    removed, added = color_lines("-old\n+new", "diff")
    assert removed
    assert added
    assert removed[0][2] != added[0][2]
