"""`{{name}}` in a text: a blank that is filled in before the text is used.

In a prompt a blank may offer choices, `{{tone: formal|friendly}}`; names there are any words. In calls of the Console a
name is letters, digits and _. What has no value stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
VARIABLE = re.compile(rf"\{{\{{\s*({NAME.pattern})\s*\}}\}}")
_BLANK = re.compile(r"\{\{[ \t]*([^{}:|\n]{1,64}?)[ \t]*(?::([^{}\n]{0,2000}))?\}\}")
DATE, CLIPBOARD = "date", "clipboard"  # filled in with what there is today, and what was copied last


class Blank(NamedTuple):
    """One thing to fill in; without `choices` any text."""

    name: str
    choices: tuple[str, ...] = ()


def blanks_in(text: str) -> tuple[Blank, ...]:
    """The blanks of a prompt, in the order in which they appear, each once; the first with choices counts."""
    found: dict[str, Blank] = {}
    for name, listed in _BLANK.findall(text):
        choices = tuple(dict.fromkeys(each.strip() for each in listed.split("|") if each.strip()))
        if name.strip() and (name not in found or (choices and not found[name].choices)):
            found[name] = Blank(name, choices)
    return tuple(found.values())


def with_blanks_filled(text: str, values: Mapping[str, str]) -> str:
    """The prompt with every blank that has a value replaced by it; a value is text, whatever stands in it."""
    return _BLANK.sub(lambda found: values.get(found[1], found[0]), text)


def with_variables_filled(text: str, values: Mapping[str, object]) -> str:
    """The same for a text of a call, whose values may be of any type."""
    return VARIABLE.sub(lambda found: str(values.get(found[1], found[0])), text)
