"""Every text that a person reads, in their language.

    tr("Costs {price} per day", price=money(price))
    tr_n("{n} chat", "{n} chats", len(chats))

Any layer may call these, for the constants of its modules as well: the language is chosen when this module loads,
before the others. The English text is the key, so English needs no catalog and costs a function call. A text is one
literal with named values, no f-string and no concatenation: those can be neither collected nor reordered in another
language (tests/test_translation.py). CONTRIBUTING.md says how a language is added.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from app.formats import format_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from gettext import NullTranslations

DOMAIN = "rialto"
MOST = 10**15  # what is counted beyond it is a mistake, and wider than its place
FOLDER = Path(__file__).resolve().parent.parent / "resources" / "translations"


def tr(text: str, /, **values: object) -> str:
    """Return `text` in the chosen language, its fields filled with `values`. Without values, braces are plain text.

    A whole number gets its thousands separated, or is a dash beyond `MOST`; what only looks like a number, such as a
    port, comes as text.
    """
    translated = text if _catalog is None else _catalog.gettext(text)
    return _filled(translated, text, values) if values else translated


def tr_n(singular: str, plural: str, n: int, /, **values: object) -> str:
    """Return the form for `n` things; its field {n} is the number, its thousands separated, or a dash beyond `MOST`."""
    text = singular if n == 1 else plural
    translated = text if _catalog is None else _catalog.ngettext(singular, plural, n)
    values.setdefault("n", n)
    return _filled(translated, text, values)


def listed(words: Sequence[str]) -> str:
    """Return words as one reads them: `speed`, `speed and style`, `speed, style and language`. Needs at least one."""
    return words[0] if len(words) == 1 else tr("{words} and {words2}", words=", ".join(words[:-1]), words2=words[-1])


def use(catalog: NullTranslations | None) -> None:
    """Speak by `catalog` from now on, English for None. What is said already, constants among it, stays as it is."""
    global _catalog
    _catalog = catalog


def catalog_of(language: str, folder: Path = FOLDER) -> NullTranslations | None:
    """Return the catalog of a language such as `de` or `pt_BR`; None where there is none, and for English."""
    if not language or language.partition("_")[0] == "en":
        return None
    from gettext import translation

    try:
        return translation(DOMAIN, folder, [language])
    except Exception:  # it is missing, or damaged in whatever way: English is better than no window
        return None


def _filled(translated: str, text: str, values: dict[str, object]) -> str:
    for name, value in values.items():
        if type(value) is int:
            values[name] = format_number(value) if -MOST < value < MOST else "–"
    try:
        return translated.format(**values)
    except (LookupError, ValueError, AttributeError):
        if translated == text:
            raise
        return text.format(**values)  # the translation has a field that the text does not have


LANGUAGE = os.environ.get("RIALTO_LANGUAGE", "")
_catalog = catalog_of(LANGUAGE)
