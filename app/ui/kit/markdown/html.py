"""Markdown as a page for a browser: nothing in it fetches, runs or styles anything by itself.

The same parser as on screen, so raw HTML stays visible as text and links lead to web and mail addresses only. An image
becomes a link to its address: opening the page must not tell anybody that it was opened.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from app.translation import tr
from app.ui.kit.markdown.parser import is_safe_link, parse, parser
from app.ui.kit.markdown.scanner import TEXT_PART_CHARS, Scanner
from app.ui.kit.markdown.segments import Segment

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token

_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")


def html_of(source: str, *, citations: bool = False, anchor: str = "") -> str:
    """Return the HTML of a message's Markdown. A source's mark leads to the id `anchor` and its number.

    The time that the parser needs for a paragraph grows with the square of its length, so longer ones are cut where the
    view of messages cuts them.
    """

    def rendered(text: str, references: dict[str, str] | None = None) -> str:
        return _renderer().render(
            parse(text, citations=citations, references=references), _options(), {"anchor": anchor}
        )

    if max(map(len, _BLANK_LINE.split(source))) <= TEXT_PART_CHARS:
        return rendered(source)
    scanner = Scanner()
    groups: list[list[Segment]] = []
    for segment in [*scanner.feed(source), *scanner.finish()]:
        if groups and _goes_on(groups[-1][-1], segment):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    wholes = (replace(group[0], source="".join(each.source for each in group)) for group in groups)
    return "".join(rendered(whole.prose, scanner.references) for whole in wholes)


def _goes_on(before: Segment, segment: Segment) -> bool:
    """Whether a segment is the next part of the same code, table or list, none of whose paragraphs was cut."""
    if segment.kind != before.kind or not before.source.endswith("\n"):
        return False
    if segment.kind == "list":
        return segment.context.joined and bool(_ITEM.match(segment.source))
    return (segment.kind == "code" and segment.context.part > 0) or (segment.kind == "table" and segment.context.joined)


@cache
def _options() -> Any:
    return parser().options


@cache
def _renderer() -> RendererHTML:
    from markdown_it.renderer import RendererHTML

    class Renderer(RendererHTML):
        def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
            token = tokens[idx]
            target = str(token.attrs.get("src") or "")
            words = escape(token.content or tr("Image"))
            if not is_safe_link(target):
                return f"<span>[{words}]</span>"
            return f'<a href="{escape(target, quote=True)}" rel="noreferrer nofollow">[{words}]</a>'

        def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
            tokens[idx].attrSet("rel", "noreferrer nofollow")
            return self.renderToken(tokens, idx, options, env)

        def math(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
            return f"<code>{escape(tokens[idx].content)}</code>"

        def kbd(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
            return f"<kbd>{escape(tokens[idx].content)}</kbd>"

        def footnote_mark(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
            return f"<sup>[{escape(tokens[idx].content)}]</sup>"

        def citation(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
            anchor = env.get("anchor") or ""
            return "".join(
                f'<sup><a href="#{escape(anchor, quote=True)}{index + 1}">[{index + 1}]</a></sup>'
                for index in tokens[idx].meta["indexes"]
            )

    return Renderer()
