"""Fills the one style sheet template with the colours and measures of a theme.

In the template `@text2` is a colour role (dashes for underscores), `{s12}` a spacing, `{h32}` a height of one text
line plus its air, `{t13}` a text size, `{r6}` a radius, `{i16}` an icon size, `{p28}` and `{c16}` the radius of a pill
that high and of a circle that wide, `{k16}` the radius of a slider knob that wide and `{m4}` how far it stands out of a
groove that high, `{o12}` the padding of a cell whose words stand `{s12}` from its edge, all in px at 100 %.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_ROLE = re.compile(r"@([a-z][a-z0-9-]*)")
_MEASURE = re.compile(r"\{([shtripckmo])(\d+(?:\.\d+)?)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def fill(template: str, words: Mapping[str, str], measures: Mapping[str, Callable[[float], int]]) -> str:
    """Return the finished sheet. Raises `KeyError` for a role or measure that nobody defined."""

    def measure(match: re.Match[str]) -> str:
        return f"{measures[match[1]](float(match[2]))}px"

    def word(match: re.Match[str]) -> str:
        return words[match[1].replace("-", "_")]

    return _ROLE.sub(word, _MEASURE.sub(measure, _COMMENT.sub("", template)))
