"""From Markdown source to markdown-it tokens, with nothing in them that could fetch, run or style.

Raw HTML is off (it stays visible as text), except `<br>`, `<sub>`, `<sup>` and `<kbd>` without attributes, which are
tokens of their own. Links lead to web and mail addresses only, and three things are known beyond CommonMark and tables:
citation markers, footnotes, and mathematics. Small images that the text itself carries as `data:` addresses become
tokens of their own; every other address of an image stays an address.

Emphasis and bare addresses end where East Asian texts end them, which put no blanks around either.
"""

from __future__ import annotations

import re
from functools import cache, partial
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from app.ui.kit.markdown.citations import MARKER, indexes_of
from app.ui.kit.scripts import is_east_asian, is_punctuation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_SAMPLE = """[a](https://b.example) https://c.example mailto:c@d.example ![d](https://e.example) &amp; <f>

| g |
|---|
| *h* |

- `i`
"""
PASSAGE_LINK = re.compile(r"#passage-(\d{1,4})")  # the n-th passage that went along with the question, from 1
LINK_SCHEMES = ("http", "https", "mailto")
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,40})\](?!:)")
_FOOTNOTE_LABEL = re.compile(r"^\s{0,3}\[\^([^\]\s]{1,40})\]:[ \t]*")
_MATHS = re.compile(
    r"\\\((.+?)\\\)|\\\[(.+?)\\\]|(?<!\$)\$\$(?!\$)(.+?)\$\$"
    r"|(?<![\w$])\$(?![\s$])([^$\n]*?[^\s$\\])\$(?![\w$])",
    re.DOTALL,
)
_LIKE_MATHS = re.compile(r"[\\^_=+<>|{}]|^\s*\S\s*$")  # `\[note\]` is a bracket that was escaped
_MATHS_BLOCK = re.compile(r" {0,3}(?:\$\$(?!\$)|\\\[)")
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,300})\]\((data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/]+={0,2})\)")
_BREAK = re.compile(r"<br[ \t]*/?>[ \t]*\n?", re.IGNORECASE)
_TAGGED = re.compile(r"<(sub|sup|kbd)>((?:(?!<\1>)[^\n]){1,200}?)</\1>", re.IGNORECASE)
_LINK_END = re.compile(
    r"\*\*|[\u3000-\u3003\u3008-\u3020\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff64]"
)
_LABEL_END = ":;,.!?…"  # `**Note:**text`
_STAND_IN = re.compile(r"!\[([^\[\]\n]{0,300})\]\(data-picture:(\d{1,4})\)")


def parse(source: str, *, citations: bool = False, references: Mapping[str, str] | None = None) -> list[Token]:
    """Return the block tokens of `source`. `references` are link definitions made elsewhere in the message."""
    env: dict[str, Any] = {"citations": citations}
    if references:
        env["references"] = {
            label.upper(): {"title": "", "href": href} for label, href in references.items() if is_safe_link(href)
        }
    if "data:image/" not in source:
        return parser().parse(source, env)
    images: list[str] = env.setdefault("pictures", [])

    def set_aside(found: re.Match[str]) -> str:
        """Keep the address out of the parser, which reads a text letter by letter."""
        images.append(found[2])
        return f"![{found[1]}](data-picture:{len(images) - 1})"

    tokens = parser().parse(_IMAGE.sub(set_aside, source), env)
    for token in tokens:
        for child in (token, *(token.children or ())):
            if child.type in ("text", "code_inline", "fence", "code_block") and "data-picture:" in child.content:
                child.content = _STAND_IN.sub(lambda found: _put_back(found, images), child.content)
    return tokens


def _put_back(found: re.Match[str], images: list[str]) -> str:
    number = int(found[2])
    return f"![{found[1]}]({images[number]})" if number < len(images) else found[0]


def split_footnote(source: str) -> tuple[str, str]:
    """Return the label and the text of a footnote's definition."""
    found = _FOOTNOTE_LABEL.match(source.lstrip("\n"))
    if found is None:
        return "", source
    return found[1], source.lstrip("\n")[found.end() :]


def is_safe_link(url: str) -> bool:
    """Tell whether a link may be offered at all; it is shown and confirmed before anything opens."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme.lower() in LINK_SCHEMES and bool(parts.netloc or parts.path)


def _is_kept_link(url: str) -> bool:
    """Whether a link is one on screen: what can be opened, and places within the conversation."""
    return is_safe_link(url) or PASSAGE_LINK.fullmatch(url) is not None


@cache
def parser() -> MarkdownIt:
    """Return the one parser; built (and its library imported) at the first message that is drawn."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import link

    made = MarkdownIt("commonmark", {"html": False, "linkify": True, "breaks": True, "maxNesting": 24})
    made.enable(["table", "strikethrough", "linkify"])
    made.disable(["html_block", "html_inline"])
    assert made.linkify is not None
    made.linkify.set({"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    for schema in ("ftp:", "//"):
        made.linkify.add(schema, None)
    own_normalize = made.normalizeLink

    def normalize(url: str) -> str:
        """Leave an address as it stands in the message; only a foreign host is shown as what it really is."""
        return url if url.isascii() else own_normalize(url)

    made.normalizeLink = normalize  # type: ignore[method-assign]  # the documented way to replace it
    made.normalizeLinkText = lambda link: link  # type: ignore[method-assign]  # an address is shown as it is
    made.validateLink = _is_kept_link  # type: ignore[method-assign]  # the documented way to replace it
    made.linkify.test_schema_at = partial(_link_length, made.linkify.test_schema_at)
    for name in ("emphasis", "strikethrough"):
        (rule,) = (each.fn for each in made.inline.ruler.__rules__ if each.name == name)
        made.inline.ruler.at(name, partial(_marks, rule))
    made.inline.ruler.before("escape", "maths", _maths)
    made.inline.ruler.before("autolink", "tag", _tag)
    made.inline.ruler.before("link", "picture", _picture)
    made.block.ruler.before("table", "maths_block", _maths_block, {"alt": ["paragraph", "reference"]})
    made.inline.ruler.at("link", partial(_link, link))
    made.inline.ruler.before("link", "citation", _citation)
    made.inline.ruler.before("link", "footnote_mark", _footnote_mark)
    made.parse(_SAMPLE, {"citations": True})  # its tables of expressions are made when they are first needed: now
    return made


def _link(rule: Callable[[StateInline, bool], bool], state: StateInline, silent: bool) -> bool:
    """Ask the library's rule, which reads on to the end at every bracket, only where there can be a link at all."""
    if state.src[state.pos] != "[" or (state.src.rfind("](") < state.pos and not state.env.get("references")):
        return False
    return rule(state, silent)


def _link_length(rule: Callable[[str, str, int], int], text: str, name: str, position: int) -> int:
    """The length of the bare address behind its scheme: it ends at East Asian punctuation and at the end of bold text.

    A host whose last label goes on in another script ends there: what follows is the sentence.
    """
    length = rule(text, name, position)
    found = text[position : position + length]
    end = _LINK_END.search(found)
    found = found[: end.start()] if end is not None else found
    host = re.match(r"//[^/?#]*", found)
    if host is not None and not host[0].isascii():
        label = host[0].rfind(".") + 1
        last = host[0][label:]
        cut = next((at for at, each in enumerate(last) if is_east_asian(each)), 0)
        if cut and last[:cut].isascii():
            found = found[: label + cut]
    return len(found) if found.strip("/") else 0


def _marks(rule: Callable[[StateInline, bool], bool], state: StateInline, silent: bool) -> bool:
    """Let emphasis also begin and end next to East Asian text, and end behind the punctuation of a label.

    CommonMark asks for a blank between punctuation and the mark beside it, which these texts do not have.
    """
    start, before = state.pos, len(state.delimiters)
    if not rule(state, silent):
        return False
    added = state.delimiters[before:]
    if not added or state.src[start] == "_":
        return True
    left = state.src[start - 1] if start else " "
    right = state.src[state.pos] if state.pos < state.posMax else " "
    if left.isspace() or right.isspace():
        return True
    opens = is_east_asian(left) or (is_punctuation(right) and is_east_asian(right))
    closes = is_east_asian(right) or (is_punctuation(left) and is_east_asian(left))
    closes = closes or (state.pos - start > 1 and left in _LABEL_END and right.isalnum())
    for delimiter in added:
        delimiter.open = delimiter.open or opens
        delimiter.close = delimiter.close or closes
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    """The four tags that models write where Markdown has no mark of its own."""
    if state.src[state.pos] != "<":
        return False
    found = _BREAK.match(state.src, state.pos)
    if found is not None and found.end() <= state.posMax:
        if not silent:
            state.push("hardbreak", "br", 0)
        state.pos = found.end()
        return True
    found = _TAGGED.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        name, last = found[1].lower(), state.posMax
        if name == "kbd":
            state.push(name, name, 0).content = unescape(found[2])
        else:
            state.push(f"{name}_open", name, 1)
            state.pos, state.posMax = found.start(2), found.end(2)
            state.md.inline.tokenize(state)
            state.posMax = last
            state.push(f"{name}_close", name, -1)
    state.pos = found.end()
    return True


def _citation(state: StateInline, silent: bool) -> bool:
    env: MutableMapping[str, Any] = state.env
    if not env.get("citations") or state.src[state.pos] not in "[^":
        return False
    found = MARKER.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.content = found[0]
        token.meta = {"indexes": indexes_of(found)}
    state.pos = found.end()
    return True


def _footnote_mark(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("[^", state.pos):
        return False
    found = _FOOTNOTE.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        token = state.push("footnote_mark", "", 0)
        token.content = found[1]
    state.pos = found.end()
    return True


def _maths(state: StateInline, silent: bool) -> bool:
    """Keep a formula's source whole; emphasis must not eat its underscores."""
    if state.src[state.pos] not in "\\$":
        return False
    found = _MATHS.match(state.src, state.pos)
    if found is None or found.end() > state.posMax:
        return False
    alone = state.pos == 0 and found.end() == state.posMax
    if found[0][:2] in ("\\(", "\\[") and not alone and not _LIKE_MATHS.search(found[found.lastindex or 0]):
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = found[0]
        token.meta = {
            "formula": found[found.lastindex or 0].strip(),
            "display": found[0].startswith(("$$", "\\[")),
        }
    state.pos = found.end()
    return True


def _maths_block(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Keep the lines of a formula together: a line in it that begins with a minus is no list."""
    start = state.bMarks[first] + state.tShift[first]
    if state.is_code_block(first) or not _MATHS_BLOCK.match(state.src, start):
        return False
    close = "$$" if state.src.startswith("$$", start) else "\\]"
    line = first
    while line < last and not state.isEmpty(line):
        begin = start + 2 if line == first else state.bMarks[line]
        if state.src.find(close, begin, state.eMarks[line]) >= 0:
            break
        line += 1
    else:
        return False
    if state.src[: state.eMarks[line]].rstrip()[-2:] != close:
        return False  # text goes on behind the formula: an ordinary paragraph
    if silent:
        return True
    state.line = line + 1
    state.push("paragraph_open", "p", 1)
    token = state.push("inline", "", 0)
    token.content = state.getLines(first, state.line, state.blkIndent, False).strip()
    token.map = [first, state.line]
    token.children = []
    state.push("paragraph_close", "p", -1)
    return True


def _picture(state: StateInline, silent: bool) -> bool:
    """An image that the text carries itself, set aside by `parse`."""
    images = state.env.get("pictures")
    if not images or not state.src.startswith("![", state.pos):
        return False
    found = _STAND_IN.match(state.src, state.pos)
    if found is None or int(found[2]) >= len(images):
        return False
    if not silent:
        token = state.push("picture", "", 0)
        token.content = found[1]
        token.meta = {"address": images[int(found[2])]}
    state.pos = found.end()
    return True
