"""What the scripts of the world do with blanks and punctuation, for Markdown, transcripts and subtitles."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

# East Asian scripts and their punctuation: sentences go on without a blank before or after a mark.
_EAST_ASIAN = (
    "\u1100-\u11ff\u2e80-\u303f\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\ufe30-\ufe4f\uff01-\uff60\uff61-\uffee\U00016fe0-\U00018cff\U0001aff0-\U0001b2ff\U0001f200-\U0001f2ff"
    "\U00020000-\U0003ffff"
)
# Scripts that put no blank between words: Chinese, Japanese, Thai, Lao, Tibetan, Burmese, Khmer and their punctuation.
_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\u3130\u3190-\u31ff\u3220-\u325f"
    "\u3280-\u4dbf\u4e00-\ua4cf\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f\uffe0-\uffee"
    "\U00016fe0-\U00018cff\U0001aff0-\U0001b2ff\U00020000-\U0003ffff"
)
_FIRST_UNSPACED = "\u0e00"
# Vowels that are written before their consonant, and signs that bind the next letter to theirs.
_BINDING = "\u0e40\u0e41\u0e42\u0e43\u0e44\u0ec0\u0ec1\u0ec2\u0ec3\u0ec4\u1039\u17d2\u200d"
_NEVER_FIRST = "々〻ーぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶｰｧｨｩｪｫｬｭｮｯ"
_is_east_asian = re.compile(f"[{_EAST_ASIAN}]").match
_is_unspaced = re.compile(f"[{_UNSPACED}]").match
_has_unspaced = re.compile(f"[{_UNSPACED}]").search


def is_east_asian(character: str) -> bool:
    """True for a character of a Chinese, Japanese or Korean text, its punctuation included."""
    return _is_east_asian(character) is not None


def is_punctuation(character: str) -> bool:
    """True for punctuation and symbols of any script."""
    return unicodedata.category(character)[0] in "PS"


def needs_blank(left: str, right: str) -> bool:
    """True if two neighboring pieces of text are joined by a blank: not where their script has none."""
    if not left or not right or left[-1].isspace() or right[0].isspace():
        return False
    if left[-1] < _FIRST_UNSPACED and right[0] < _FIRST_UNSPACED:
        return True
    if _is_unspaced(right[0]):
        return not (_is_unspaced(left[-1]) or is_punctuation(right[0]))
    return not (_is_unspaced(left[-1]) and is_punctuation(left[-1]))


def join(pieces: Sequence[str]) -> str:
    """Return pieces of text as one, with blanks where their scripts have them. No piece is empty."""
    joined = " ".join(pieces)
    if not _has_unspaced(joined):
        return joined
    return "".join(
        f" {piece}" if at and needs_blank(pieces[at - 1], piece) else piece for at, piece in enumerate(pieces)
    )


def spans_of(pieces: Sequence[str], length: Callable[[str], int] = len) -> list[tuple[int, int]]:
    """Return where each piece begins and ends in what `join` makes of them, measured by `length`."""
    found: list[tuple[int, int]] = []
    end = 0
    for at, piece in enumerate(pieces):
        start = end + (1 if at and needs_blank(pieces[at - 1], piece) else 0)
        end = start + length(piece)
        found.append((start, end))
    return found


def words_of(text: str) -> list[str]:
    """Cut a text into words; `join` puts them together again, with a blank for any other white space.

    Scripts without blanks are cut into characters, each with its marks and its closing punctuation. A blank between
    two of their characters stays with the one before it.
    """
    words: list[str] = []
    for chunk in text.split():
        if words and not needs_blank(words[-1], chunk):
            words[-1] += " "
        begun = 0
        for at in range(1, len(chunk)):
            if _may_cut(chunk[at - 1], chunk[at]):
                words.append(chunk[begun:at])
                begun = at
        words.append(chunk[begun:])
    return words


def _may_cut(left: str, right: str) -> bool:
    if not (_is_unspaced(left) and _is_unspaced(right)) or left in _BINDING or right in _NEVER_FIRST:
        return False
    if unicodedata.category(left) in ("Ps", "Pi") or unicodedata.category(right)[0] == "M":
        return False
    return not is_punctuation(right) or unicodedata.category(right) in ("Ps", "Pi")


def width_of(text: str) -> int:
    """Return how many columns a text takes in which a Latin letter takes one: wide characters take two."""
    return len(text) + sum(unicodedata.east_asian_width(each) in "WF" for each in text if not each.isascii())
