"""The pages of the user handbook as files: their titles, their order, and which one is about a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_TITLE = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    file_name: str  # "02-chat.md"
    title: str
    markdown: str

    @property
    def topic(self) -> str:
        """ "02-chat.md" → "chat"."""
        return self.file_name.removesuffix(".md").partition("-")[2]


def read_pages(folder: Path) -> tuple[Page, ...]:
    """Every page in the order of its number; comments for the search are left out."""
    pages = []
    for path in sorted(folder.glob("*.md")):
        text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
        found = _TITLE.search(text)
        pages.append(Page(path.name, found[1] if found else path.stem, text))
    return tuple(pages)


# A tab's name or a section's, and the page about it where the two words differ.
_ABOUT = {
    "settings": "accounts",
    "welcome": "first-steps",
    "": "first-steps",
    "about": "privacy",
}


def page_for(pages: Sequence[Page], place: str) -> Page | None:
    """The page about a place, the first one for a place that has none, None for an empty handbook."""
    wanted = _ABOUT.get(place, place)
    return next((page for page in pages if page.topic == wanted), pages[0] if pages else None)
