"""A language that nobody speaks: accents on every letter, and words two fifths longer. What is not in it is no `tr`.

German and Finnish need about that much more room than English, so what is cut in it would be cut in them.
"""

from __future__ import annotations

import calendar
import functools
import re
from gettext import NullTranslations

from app.formats import US_ENGLISH

LONGER = 0.4
_FIELD = re.compile(r"(\{\w*\}|\n)")
_ACCENTED = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "áƀçðéƒğĥíĵķļɱñóþʠŕšţúṽŵẋýžÁɃÇÐÉƑĞĤÍĴĶĻṀÑÓÞɊŔŠŢÚṼŴẊÝŽ",
)


@functools.cache
def pseudo(text: str) -> str:
    """Return a text in the language, its fields as they are."""
    return "".join(each if _FIELD.fullmatch(each) else _words(each) for each in _FIELD.split(text))


def _words(text: str) -> str:
    return re.sub(r"[A-Za-z]+", lambda found: _longer(found[0]), text)


def _longer(word: str) -> str:
    more = round(len(word) * LONGER)
    return (word + word[-1].lower() * more).translate(_ACCENTED)


# Numbers and dates that no other language writes so.
FORMATS = US_ENGLISH._replace(
    group="\u202f",
    decimal="٫",
    dollars="{amount}\u00a0$",
    date="d. MMM yyyy",
    day="d. MMM",
    long_day="d. MMMM",
    months=tuple(map(pseudo, calendar.month_name[1:])),
    months_alone=tuple(map(pseudo, calendar.month_name[1:])),
    short_months=tuple(map(pseudo, calendar.month_abbr[1:])),
    weekdays=tuple(map(pseudo, calendar.day_name)),
)


class Catalog(NullTranslations):
    """What `msgfmt` would make of a finished translation."""

    def gettext(self, message: str) -> str:
        return pseudo(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return pseudo(msgid1 if n == 1 else msgid2)
