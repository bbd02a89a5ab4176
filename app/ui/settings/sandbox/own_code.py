"""Your code: the pieces of the page "Use the Sandbox from your own code", for the Sandbox that runs now."""

from __future__ import annotations

import re
from typing import NamedTuple

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.label import Label
from app.ui.settings.rows import RowCard, SettingRow
from app.ui.settings.sandbox.parts import CodeCard, Groups
from app.ui.settings.sandbox.presenter import SandboxPresenter
from app.ui.settings.sandbox.state import SandboxState

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_CODE = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_SETUP = "Start it and name it"
_DOTS = "••••••••"


class Piece(NamedTuple):
    """One section of the page: what it is about, a sentence, and its code as it is written there."""

    title: str
    words: str
    language: str
    code: str


def pieces_of(page: str) -> tuple[Piece, ...]:
    """Return the pieces of the page; how to start a Sandbox is left out, because one runs here."""
    parts = _SECTION.split(page)
    found = []
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        code = _CODE.search(text)
        if code is not None and title != _SETUP:
            found.append(Piece(title, text[: code.start()].strip(), code["language"], code["code"].rstrip()))
    return tuple(found)


def variables(address: str, key: str) -> str:
    """The two lines that every piece needs, for a shell."""
    return f"export SANDBOX_URL={address}\nexport SANDBOX_KEY={key}"


class OwnCodePage(Groups):
    def __init__(self, theme: Theme, presenter: SandboxPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self.pieces: tuple[Piece, ...] = ()
        words = tr(
            "Test your programs here without changing a line of code: same API, same errors, play money. "
            "The snippets below find the Sandbox through two variables."
        )
        self.setup = CodeCard(theme, tr("First, in your shell"))
        self.setup.copy.read_from(lambda: variables(presenter.state.address, presenter.state.key))
        self.group("", Label(theme, words, role="text2", wrap=True), self.setup)
        self.which = ChoiceField(theme, tr("Snippet"))
        self.which.currentIndexChanged.connect(self._show_piece)
        card = RowCard(theme)
        card.add(SettingRow(theme, tr("Snippet"), self.which, meaning=tr("Each runs as is.")))
        self._words = Label(theme, "", role="text2", wrap=True)
        self.code = CodeCard(theme, "")
        self.group(tr("Snippets"), card, self._words, self.code)
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def show_state(self, state: SandboxState) -> None:
        if state.own_code and not self.pieces:
            self.pieces = pieces_of(state.own_code)
            self.which.addItems([piece.title for piece in self.pieces])
        if state.running:
            self.setup.set_text(variables(state.address, _DOTS))
        else:
            self.setup.set_text(tr("The Sandbox is not running. Start it on the Overview page."))
        self.setup.copy.setEnabled(state.running)

    def _show_piece(self, number: int) -> None:
        """Called with the first one as soon as there are any."""
        piece = self.pieces[number]
        self._words.set_text(piece.words)
        self.code.set_title(f"{piece.title} · {piece.language}")
        self.code.set_text(piece.code)
