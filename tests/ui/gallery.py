"""Every shared widget in every state on one page, to be laid beside the design by eye.

python -m tests.ui.gallery components light 100 out.png     (components, errors or states; dark; 80 to 200)
python -m tests.ui.gallery components light 100             opens a window
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import (
    QApplication,
)

from app.ui.kit.theme import Theme
from tests.ui.gallery_components import components
from tests.ui.gallery_page import Build, Page
from tests.ui.gallery_states import errors, states

PAGES: dict[str, tuple[str, str, Build]] = {
    "components": ("Components and states", "Every state is shown by shape or text as well as colour.", components),
    "errors": ("Errors: what happened, what it means, what to do", "Shown where the action was taken.", errors),
    "states": ("Empty, loading and partial states", "Empty says what belongs here.", states),
}


def build(theme: Theme, name: str) -> Page:
    """Return one page of the gallery, laid out and shown."""
    title, sentence, fill = PAGES[name]
    page = Page(theme, title, sentence)
    fill(page)
    page.finish()
    scale = max(1.0, theme.scale)
    page.resize(round(1440 * scale), round(900 * scale))
    page.show()
    QApplication.processEvents()
    page.hold_rings()
    return page


def main(words: list[str]) -> int:
    name, mode, percent = words[0], words[1], int(words[2])
    qt_app = QApplication([])
    theme = Theme()
    theme.configure(mode="dark" if mode == "dark" else "light", text_percent=percent)
    theme.apply(qt_app)
    page = build(theme, name)
    if len(words) == 3:
        return qt_app.exec()
    deadline = datetime.now(UTC) + timedelta(milliseconds=450)
    while datetime.now(UTC) < deadline:
        qt_app.processEvents()
    image = page.grab(QRect(QPoint(0, 0), page.size()))
    image.save(words[3])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
