"""Markdown as a page for a browser: nothing in it fetches, runs or styles anything by itself.

The same parser as on screen, so raw HTML stays visible as text and links lead to web and mail addresses only. An image
becomes a link to its address: opening the page must not tell anybody that it was opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from app.translation import tr
from app.ui.kit.markdown.parser import is_safe_link, parse, parser

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.token import Token


def html_of(source: str, *, citations: bool = False, anchor: str = "") -> str:
    """Return the HTML of a message's Markdown. A source's mark leads to the id `anchor` and its number."""
    return _renderer().render(parse(source, citations=citations), _options(), {"anchor": anchor})


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
