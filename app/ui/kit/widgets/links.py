"""Opens links in text, after the person has seen the true target."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, QUrl, QUrlQuery, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.kit.theme import Theme

OPENED_SCHEMES = frozenset({"http", "https", "mailto"})  # a file: or an app's own scheme could run something
MAIL_HEADERS = frozenset({"subject", "cc", "body"})  # some mail programs attach the file that `attach` names
MAX_SHOWN_CHARS = 2_000
MAX_ABOUT_CHARS = 1_200


def true_target(address: str) -> str:
    """The address as it would really be called: other scripts in their ASCII form, control characters made visible.

    Of a mail address, only what a person sees before they send is kept.
    """
    url = QUrl(address.strip())
    if url.scheme() == "mailto":
        url = QUrl(address.strip().partition("#")[0])
        query = QUrlQuery(url)
        query.setQueryItems([(name, value) for name, value in query.queryItems() if name.lower() in MAIL_HEADERS])
        url.setQuery(query)
    return bytes(url.toEncoded().data()).decode("ascii", "replace")[:MAX_SHOWN_CHARS]


def may_open(address: str) -> bool:
    """True for addresses that belong to a browser or a mail program."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return False
    return parts.scheme.lower() in OPENED_SCHEMES and bool(parts.netloc or parts.path)


def handbook_place(address: str) -> tuple[str, str] | None:
    """The page and the heading of Rialto's handbook that a link of the Sandbox leads to; None for any other link.

    The Sandbox has another port with every start: which one is of no account, only that it is this computer.
    """
    try:
        parts = urlsplit(address.strip())
        is_here = parts.scheme == "http" and parts.hostname == "127.0.0.1"
    except ValueError:
        return None
    folder, _, page = parts.path.strip("/").rpartition("/")
    return (page, parts.fragment) if is_here and folder == "handbook" else None


class LinkOpener(QObject):
    """Asks, then opens or copies. One question at a time. Links to the handbook are told by `handbook_requested`."""

    handbook_requested = Signal(str, str)  # page, heading

    def __init__(self, theme: Theme, parent: QWidget, tasks: TaskScope) -> None:
        super().__init__(parent)
        self._theme = theme
        self._parent = parent
        self._tasks = tasks

    def ask(self, address: str, *, title: str = "", about: str = "") -> None:
        """Show where a link leads and do what the person chooses.

        `title` and `about` are what a search result says of itself: shown as a stranger's words, never believed.
        """
        place = handbook_place(address)
        if place is not None:
            self.handbook_requested.emit(*place)
            return
        self._tasks.start_unless_running("open-link", self._ask, address, title, about)

    async def _ask(self, address: str, title: str, about: str) -> None:
        target = true_target(address)
        opens = may_open(address)
        dialog = Dialog(self._theme, self._parent, tr("Open this address?"))
        host = QUrl(address).host(QUrl.ComponentFormattingOption.FullyEncoded)
        if opens:
            words = (
                tr("This opens {host} in your browser.", host=host) if host else tr("This opens in another program.")
            )
        else:
            words = tr("Rialto does not open this kind of address. You can copy it instead.")
        if title:
            dialog.body.addWidget(Label(self._theme, title, weight=600, wrap=True))
        if about:
            dialog.body.addWidget(Label(self._theme, about[:MAX_ABOUT_CHARS], "small", "text2", wrap=True))
        dialog.body.addWidget(Label(self._theme, words, role="text2", wrap=True))
        dialog.body.addWidget(Label(self._theme, target, "code", wrap=True))
        dialog.add_button(tr("Cancel"), accepts=False, default=not opens)
        copy = dialog.add_button(tr("Copy"), accepts=False)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(target))
        if opens:
            dialog.add_button(tr("Open"), kind="primary", accepts=True, default=True)
        if await dialog.answer() and opens:
            QDesktopServices.openUrl(QUrl(target))
