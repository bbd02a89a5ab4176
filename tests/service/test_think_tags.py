"""Think tags, wherever the network cuts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.think_tags import ThinkTags


def split(*pieces: str) -> tuple[str, str]:
    """Return (text, reasoning)."""
    tags = ThinkTags()
    sides: dict[bool, str] = {False: "", True: ""}
    for piece in pieces:
        if tags.quiet and "<" not in piece and "`" not in piece:
            sides[False] += piece
            continue
        for reasoning, text in tags.feed(piece):
            sides[reasoning] += text
    for reasoning, text in tags.finish():
        sides[reasoning] += text
    return sides[False], sides[True]


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("<think>why</think>because", "because", "why"),
        ("<think>\nwhy\n</think>\n\nbecause", "because", "why\n"),
        ("before <think>a</think>between<think>b</think>after", "before betweenafter", "ab"),
        ("<think></think>empty", "empty", ""),
        ("<think>never closed", "", "never closed"),
        ("no tags, 1 < 2 and <b>", "no tags, 1 < 2 and <b>", ""),
        ("<thinking>no</thinking>", "<thinking>no</thinking>", ""),
        ("a </think> alone", "a </think> alone", ""),
        ("<think>a <think> inside</think>x", "x", "a <think> inside"),
        ("write `<think>` first", "write `<think>` first", ""),
        ("```\n<think>x</think>\n```\n<think>y</think>z", "```\n<think>x</think>\n```\nz", "y"),
        ("<think>``` in thought</think>z <think>q</think>", "z ", "``` in thoughtq"),
        ("ends with <thi", "ends with <thi", ""),
        ("ends with ``", "ends with ``", ""),
        ("<think>ends with </thi", "", "ends with </thi"),
        ("<think>x</think>   ", "", "x"),
        ("", "", ""),
    ],
)
def test_r_ext_03_blocks_are_reasoning_and_code_is_text(content: str, text: str, reasoning: str) -> None:
    assert split(content) == (text, reasoning)
    assert split(*content) == (text, reasoning)


pieces = st.lists(
    st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "think>", "`", "```", "a", " ", "\n", "<"])
)


@given(pieces, st.integers(1, 9))
def test_the_cuts_do_not_matter(written: list[str], width: int) -> None:
    content = "".join(written)
    expected = split(content)
    assert split(*written) == expected
    assert split(*(content[at : at + width] for at in range(0, len(content), width))) == expected


@given(st.text(alphabet=st.characters(exclude_characters="<"), max_size=200))
def test_text_without_tags_passes_unchanged(content: str) -> None:
    assert split(content) == (content, "")
