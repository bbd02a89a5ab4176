"""A chat as Markdown or as a page for a browser: the branch on screen, readable without Rialto.

The page is one file without anything from elsewhere: its policy forbids loading, scripts and frames, and all text of
strangers went through the parser that the window uses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from app.core import time_format
from app.storage.file_names import file_name
from app.translation import tr, tr_n
from app.ui.chat.composer.attachment import attachments_of
from app.ui.chat.session.message_rows import receipt_of, stored_sources
from app.ui.chat.session.titles import NEW_CHAT
from app.ui.chat.session.tool_calls import calls_in
from app.ui.conversation.attachment_kinds import WORDS
from app.ui.conversation.rows import receipt_text
from app.ui.conversation.selection import html_sources, markdown_sources
from app.ui.kit.markdown.citations import in_numbers
from app.ui.kit.markdown.html import html_of

if TYPE_CHECKING:
    from app.storage.chat_rows import Chat, Message
    from app.ui.chat.composer.attachment import Attachment

MARKDOWN, HTML, JSON = "markdown", "html", "json"
ENDINGS = {MARKDOWN: ".md", HTML: ".html", JSON: ".json"}
NAMES = {MARKDOWN: tr("Markdown"), HTML: tr("Web page"), JSON: "JSON"}
_FENCE = re.compile(r"^(`{3,}|~{3,})", re.MULTILINE)

STYLE = """
:root{color-scheme:light dark;--text:#1b1a18;--quiet:#55524b;--line:#ddd9d1;--page:#fcfbf9;
--sunken:#f0ede7;--link:#0b666b}
@media(prefers-color-scheme:dark){:root{--text:#e8eae8;--quiet:#aeb5b5;--line:#2c3337;--page:#14171a;
--sunken:#20262a;--link:#5bc4bf}}
body{margin:0 auto;max-width:46rem;padding:2rem 1.25rem 4rem;background:var(--page);color:var(--text);
font:1rem/1.6 Inter,system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.3;margin:0 0 .25rem}header,.note,footer{color:var(--quiet);font-size:.85rem}
article{margin:1.75rem 0 0}article>h2{font-size:.9rem;margin:0 0 .35rem}
.user .text{background:var(--sunken);border:1px solid var(--line);border-radius:12px;padding:.6rem .9rem}
.text>:first-child{margin-top:0}.text>:last-child{margin-bottom:0}a{color:var(--link)}
pre{background:var(--sunken);border:1px solid var(--line);border-radius:8px;padding:.75rem;overflow-x:auto}
code{font-family:"JetBrains Mono",ui-monospace,monospace;font-size:.9em}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid var(--line);padding:.3rem .6rem}
blockquote{margin-left:0;padding-left:1rem;border-left:3px solid var(--line);color:var(--quiet)}
details{color:var(--quiet);border:1px solid var(--line);border-radius:8px;padding:.4rem .8rem;margin:.5rem 0}
"""


@dataclass(frozen=True, slots=True)
class ExportForm:
    """What goes into the file besides the words. JSON always holds everything."""

    kind: str = MARKDOWN
    thoughts: bool = False
    receipts: bool = False
    sources: bool = True


def name_of(title: str, kind: str) -> str:
    """A name for the file that every system takes."""
    return file_name(title or NEW_CHAT, ENDINGS[kind], otherwise=tr("Chat"))


def markdown_of(chat: Chat, branch: Sequence[Message], name_of: Callable[[str], str], form: ExportForm) -> str:
    """The branch as Markdown. Answers stand as they came; what a person wrote is kept line by line."""
    parts = [f"# {_one_line(chat.title or NEW_CHAT)}", f"*{_about(chat, branch)}*"]
    for message in branch:
        parts.append(f"## {_one_line(_speaker(chat, message, name_of))}")
        if form.thoughts and message.reasoning.strip():
            parts.append(f"> **{tr('Reasoning')}**\n>\n{_quoted(message.reasoning.strip())}")
        if message.content.strip():
            marked = form.sources and message.sources
            parts.append(_closed(in_numbers(message.content.strip()) if marked else message.content.strip()))
        parts += [f"*{_one_line(_attached(each))}*" for each in attachments_of(message.attachments)]
        parts += [
            tr("Function call `{name}`:\n\n{fenced}", name=call.name, fenced=_fenced(call.arguments))
            for call in calls_in(message)
        ]
        if form.sources and message.sources:
            lines = markdown_sources(stored_sources(message.sources))
            parts.append("\n".join((tr("Sources:"), "", *lines)))
        note = _note(message, form)
        if note:
            parts.append(f"*{_one_line(note)}*")
    return "\n\n".join(parts) + "\n"


def html_page(chat: Chat, branch: Sequence[Message], name_of: Callable[[str], str], form: ExportForm) -> str:
    """The branch as one page that holds all it needs."""
    title = escape(chat.title or NEW_CHAT)
    pieces = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'\">",
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}</title><style>{STYLE}</style></head><body>",
        f"<header><h1>{title}</h1>{escape(_about(chat, branch))}</header>",
    ]
    for number, message in enumerate(branch, start=1):
        role = message.role if message.role in ("user", "assistant", "tool") else "other"
        pieces.append(f'<article class="{role}"><h2>{escape(_speaker(chat, message, name_of))}</h2>')
        if form.thoughts and message.reasoning.strip():
            title = escape(tr("Reasoning"))
            pieces.append(f"<details><summary>{title}</summary>{html_of(message.reasoning)}</details>")
        if message.content.strip():
            anchor = f"s{number}-"
            marked = bool(message.sources) and form.sources
            body = html_of(message.content, citations=marked, anchor=anchor) if role == "assistant" else _typed(message)
            pieces.append(f'<div class="text">{body}</div>')
        pieces += [f'<p class="note">{escape(_attached(each))}</p>' for each in attachments_of(message.attachments)]
        for call in calls_in(message):
            title = tr("Function call {name}", name=call.name)
            pieces.append(f"<p class=note>{escape(title)}</p><pre><code>{escape(call.arguments)}</code></pre>")
        if form.sources and message.sources:
            pieces.append(html_sources(stored_sources(message.sources), f"s{number}-"))
        note = _note(message, form)
        if note:
            pieces.append(f'<p class="note">{escape(note)}</p>')
        pieces.append("</article>")
    pieces.append("</body></html>")
    return "\n".join(pieces) + "\n"


def _attached(each: Attachment) -> str:
    """An attachment in words: its bytes go along with JSON only."""
    return tr("Attached: {name} ({detail})", name=each.name or WORDS[each.kind], detail=each.detail)


def _typed(message: Message) -> str:
    """What a person wrote, as typed."""
    return escape(message.content.strip("\n")).replace("\n", "<br>")


def _about(chat: Chat, branch: Sequence[Message]) -> str:
    parts = [tr_n("{n} message", "{n} messages", len(branch))]
    if chat.character_name:
        parts.append(tr("with {character_name}", character_name=chat.character_name))
    if branch:
        parts.append(time_format.moment(branch[0].created_at))
    return " · ".join(parts)


def _speaker(chat: Chat, message: Message, name_of: Callable[[str], str]) -> str:
    if message.role == "user":
        return tr("You")
    if message.role == "tool":
        return tr("Result of {extra}", extra=message.extra.get("name") or tr("a function"))
    return chat.character_name or name_of(message.model) or tr("Answer")


def _note(message: Message, form: ExportForm) -> str:
    state = {"stopped": tr("Stopped."), "interrupted": tr("The answer stopped early."), "failed": tr("No answer.")}
    parts = [state.get(message.state, "")]
    if form.receipts:
        parts.append(receipt_text(receipt_of(message, bool(message.usage.get("sandbox")))))
    return " ".join(part for part in parts if part)


def _closed(text: str) -> str:
    """Close a fence that was cut off, so that it does not swallow the rest of the file."""
    fences = _FENCE.findall(text)
    return f"{text}\n{fences[-1]}" if len(fences) % 2 else text


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}json\n{text}\n{fence}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _one_line(text: str) -> str:
    return " ".join(text.split())
