"""Think tags, wherever the network cuts them."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.think_tags import Segment, ThinkTags, marks_in


def split(*pieces: str) -> tuple[str, str]:
    """Return (text, reasoning)."""
    tags = ThinkTags()
    sides: dict[bool, str] = {False: "", True: ""}

    def take(segments: Iterable[Segment]) -> None:
        for segment in segments:
            if segment is None:
                sides.update({False: "", True: (sides[True] + sides[False]).rstrip()})
            else:
                sides[segment[0]] += segment[1]

    for piece in pieces:
        if tags.quiet and not marks_in(piece):
            sides[False] += piece
        else:
            take(tags.feed(piece))
    take(tags.finish())
    return sides[False], sides[True]


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("<think>why</think>because", "because", "why"),
        ("<think>\nwhy\n</think>\n\nbecause", "because", "why\n"),
        ("<think>a</think><think>b</think>\nbetween\n   <think>c</think>after", "between\n   after", "abc"),
        ("within <think>a</think> a sentence", "within <think>a</think> a sentence", ""),
        ("<think></think>empty", "empty", ""),
        ("<think>never closed", "", "never closed"),
        ("no tags, 1 < 2 and <b>", "no tags, 1 < 2 and <b>", ""),
        ("<thinking>no</thinking>", "<thinking>no</thinking>", ""),
        ("a </think> alone", "a </think> alone", ""),
        ("<think>a <think> inside</think>x", "x", "a <think> inside"),
        ("write `<think>` first", "write `<think>` first", ""),
        ("```\n<think>x</think>\n```\n<think>y</think>z", "```\n<think>x</think>\n```\nz", "y"),
        ("<think>``` in thought</think>z\n<think>q</think>", "z\n", "``` in thoughtq"),
        ("- ~~~\n<think>x\n~~~~\n<think>y</think>z", "- ~~~\n<think>x\n~~~~\nz", "y"),
        ("````\n```\n<think>\n````", "````\n```\n<think>\n````", ""),
        ("```foo``` bar\n<think>y</think>z", "```foo``` bar\nz", "y"),
        ("    <think>code</think>", "    <think>code</think>", ""),
        ("\t<think>code</think>", "\t<think>code</think>", ""),
        ("all thought\n</think>\n\nanswer", "answer", "all thought"),
        ("</think> \r\n\r\nanswer", "answer", ""),
        ("all thought\n</think>", "", "all thought"),
        ("the tag\n</think> closes", "the tag\n</think> closes", ""),
        ("<think>a</think>b\n</think>\nc", "b\n</think>\nc", "a"),
        ("a\n</think>\nb\n</think>\nc", "b\n</think>\nc", "a"),
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
    st.sampled_from(
        ["<think>", "</think>", "<th", "ink>", "</", "think>", "`", "```", "~~~", "a", " ", "\n", "\n</think>\n", "<"]
    )
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
