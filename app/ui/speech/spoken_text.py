"""What of a chat's answer is said aloud: the words, without the signs that shape them, without code and citations."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CITATION = re.compile(r"\[REF\].*?\[/REF\]|\[\^?\d+(?:\s*,\s*\d+)*\](?!\()", re.DOTALL)
_MATH = re.compile(r"\$\$.*?(?:\$\$|\Z)", re.DOTALL)
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_RULE = re.compile(r"^[ \t]*(?:[-*_][ \t]*){3,}$", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*(?:[-*+•]|>+)[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.*?)\|?[ \t]*$", re.MULTILINE)
_STRONG = re.compile(r"(\*\*\*|\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_\n]+?)(?<=\S)\1(?![\w*])")
_CODE = re.compile(r"`+([^`\n]+)`+")
_TAG = re.compile(r"</?[a-zA-Z][^>\n]*>")
_BLANK = re.compile(r"\n{3,}")


def spoken(markdown: str) -> str:
    """Return Markdown as it is read aloud. A fence that is still open hides what comes after it."""
    text = _FENCE.sub("", markdown.replace("\r\n", "\n"))
    text = _CITATION.sub("", _MATH.sub("", text))
    text = _PICTURE.sub(r"\1", text)
    text = _LINK.sub(r"\1", text)
    text = _TABLE_RULE.sub("", _RULE.sub("", text))
    text = _HEADING.sub(lambda match: _closed(match[1]), text)
    text = _BULLET.sub("", text)
    text = _ROW.sub(
        lambda match: _closed(", ".join(cell.strip() for cell in match[1].split("|") if cell.strip())), text
    )
    text = _CODE.sub(r"\1", text)
    for _ in range(2):  # bold inside italic
        text = _STRONG.sub(r"\2", text)
        text = _EMPHASIS.sub(r"\2", text)
    text = _TAG.sub("", text)
    return _BLANK.sub("\n\n", text).strip()


def _closed(line: str) -> str:
    """A heading or a row ends like a sentence, so that the voice falls."""
    return line if not line or line[-1] in ".!?:…。" else f"{line}."
