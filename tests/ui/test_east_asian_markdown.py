"""Markdown in texts that put no blanks around emphasis and addresses."""

import re

import pytest

from app.ui.kit.markdown.html import html_of
from tests.reported_inputs import reported

MARKS = {"strong": "**", "em": "*", "s": "~~"}


def marked(source: str) -> list[tuple[str, str]]:
    """The emphasized texts of a paragraph, each behind the name of its tag."""
    return re.findall(r"<(strong|em|s)>(.*?)</\1>", html_of(source))


@pytest.mark.parametrize(
    ("paragraph", "tag", "expected"),
    [
        (0, "strong", "步骤一："),
        (1, "strong", "我想做的事。"),
        (2, "strong", "「重要なこと」"),
        (3, "strong", "마크다운(Markdown)"),
        (4, "em", "斜体（括号）。"),
        (5, "s", "删除的（文字）。"),
        (6, "strong", "Note:"),
        (7, "strong", "注意"),
    ],
)
def test_emphasis_ends_behind_punctuation(paragraph: int, tag: str, expected: str) -> None:
    source = reported("k04-cjk-emphasis.md").decode().split("\n\n")[paragraph]
    assert marked(source) == [(tag, expected)]
    assert "*" not in html_of(source)
    assert "~" not in html_of(source)


def test_stars_between_blanks_are_no_emphasis() -> None:
    source = reported("k04-cjk-emphasis.md").decode().split("\n\n")[8]
    assert html_of(source) == f"<p>{source.strip()}</p>\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("他说**“你好”**然后", [("strong", "“你好”")]),
        ("**一：**二**三：**四", [("strong", "一："), ("strong", "三：")]),
        ("**한국어**는 *일본어(日本語)*도", [("strong", "한국어"), ("em", "일본어(日本語)")]),
        ('a*"b"* and **(**c', []),
        ("snake__：__case", []),
    ],
)
def test_other_places_of_emphasis(source: str, expected: list[tuple[str, str]]) -> None:
    assert marked(source) == expected


@pytest.mark.parametrize(
    ("source", "addresses"),
    [
        ("见https://example.com/路径。继续", ["https://example.com/路径"]),
        ("请访问https://example.com然后", ["https://example.com"]),
        ("看（https://example.com/a）吧", ["https://example.com/a"]),
        ("「https://example.com/x」です", ["https://example.com/x"]),
        ("链接https://example.com/a、https://example.com/b", ["https://example.com/a", "https://example.com/b"]),
        ("**https://example.com/a**。", ["https://example.com/a"]),
        ("https://ja.wikipedia.org/wiki/ジョン・レノン", ["https://ja.wikipedia.org/wiki/ジョン・レノン"]),
        ("https://例え.jp/あ", ["https://例え.jp/あ"]),
        ("https://example.com/foo_(bar), ok", ["https://example.com/foo_(bar)"]),
    ],
)
def test_a_bare_address_ends_with_its_sentence(source: str, addresses: list[str]) -> None:
    assert re.findall(r"<a [^>]*>(.*?)</a>", html_of(source)) == addresses
