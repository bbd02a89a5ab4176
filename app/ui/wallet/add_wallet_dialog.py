"""One dialog for every way to come by a wallet. A new phrase is shown once and must be confirmed before it is used."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLineEdit, QStackedWidget, QWidget

from app.translation import tr
from app.ui.kit.file_dialogs import ask_for_file
from app.ui.kit.focus import let_go
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import nothing_said
from app.ui.kit.widgets.buttons import Button, LinkButton
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import ChoiceField, SecretField, TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.wallet.account_card import column
from app.ui.wallet.state import CHAIN_NAMES

if TYPE_CHECKING:
    from app.ui.wallet.session.wallet_keys import WalletKeys
    from app.ui.wallet.state import AccountCard

WAYS = (("new", tr("New")), ("import", tr("Import")), ("file", tr("Key file")), ("watch", tr("Watch")))
ELSEWHERE = ""  # the site's id while the wallet is for a service that no account is for yet
CHAINS = (
    ("evm", f"EVM ({CHAIN_NAMES['evm']})"),
    ("solana", CHAIN_NAMES["solana"]),
)
MEMORY_ONLY = tr(
    "Keys are in memory only: this one is lost when Rialto quits. Write down its recovery phrase, or export the key."
)
ASKED_WORDS = 2  # of a new phrase, to see that it was written down
WORDS, WORDS_IN_A_LINE, LONGEST_WORD = 12, 3, 8  # of a recovery phrase (BIP-39)


class AddWalletDialog(Dialog):
    """`added` is the name of the wallet that was kept, `added_id` its account. What was typed is cleared at the end."""

    keeps_typed = False  # a recovery phrase may be among it

    def __init__(
        self, theme: Theme, parent: QWidget, keys: WalletKeys, sites: tuple[AccountCard, ...], way: str = "new"
    ) -> None:
        super().__init__(theme, parent, tr("Add a wallet"), width=600)
        self._keys = keys
        self._sites = sites
        self._path: Path | None = None
        self._phrase = ""
        self._asked: tuple[int, ...] = ()
        self.added = self.added_id = ""
        words = tr(
            "Never use a key that holds real money in the Sandbox: what it signs here is valid on the real networks. "
            "Create a new wallet instead."
        )
        self.practice = Label(theme, words, "small", "warn", wrap=True)
        self._head()
        self.pages = QStackedWidget()
        self._new, self._import, self._file, self._watch = (
            self._make_new(),
            self._make_import(),
            self._make_file(),
            self._make_watch(),
        )
        for page in (self._new, self._import, self._file, self._watch):
            self.pages.addWidget(page)
        self.body.addWidget(self.practice)
        self.body.addWidget(self.pages)
        self.problem = ProblemLabel(theme)
        self.body.addWidget(self.problem)
        self.add_button(tr("Cancel"), accepts=False)
        self.keep = self.add_button(tr("Create a new wallet"), kind="primary", default=True)
        self.keep.clicked.connect(self._go)
        self.way.changed.connect(self._turn)
        self.finished.connect(lambda _result: self._forget())
        self.way.set_current(way)
        self._turn(way)

    def _head(self) -> None:
        theme = self._theme
        text = tr("Use a separate wallet with a small balance for Rialto. Its key is stored with your other secrets.")
        self.body.addWidget(Label(theme, text, role="text2", wrap=True))
        self.memory_only = Label(theme, MEMORY_ONLY, role="warn", wrap=True)
        self.memory_only.setVisible(self._keys.is_session_only())
        self.body.addWidget(self.memory_only)
        self.way = SegmentedChoice(theme, tr("Source"), WAYS)
        self.body.addWidget(self.way, 0, Qt.AlignmentFlag.AlignLeft)
        self.name = TextField(theme, tr("Name"), text=self._keys.free_name(tr("Pocket wallet")))
        self.site = ChoiceField(theme, tr("Service"))
        for card in self._sites:
            if card.kind != "wallet" or card.in_use:
                same = card.host.casefold() == card.name.casefold()
                self.site.addItem(card.name if same else f"{card.name} ({card.host})", card.id)
        self.site.addItem(tr("Another service"), ELSEWHERE)
        in_use = next((card.id for card in self._sites if card.in_use), None)
        self.site.setCurrentIndex(max(0, self.site.findData(in_use)))
        self.elsewhere = TextField(theme, tr("Service address"), placeholder="https://api.example.com/v1", mono=True)
        self.chain = ChoiceField(theme, tr("Key type"))
        for key, words in CHAINS:
            self.chain.addItem(words, key)
        for words, field in (
            (tr("Name"), self.name),
            (tr("Service"), self.site),
            (tr("Service address"), self.elsewhere),
            (tr("Key type"), self.chain),
        ):
            label = Label(theme, words, "small", "text2", weight=500)
            bind_label(label, field)
            row = QHBoxLayout()
            label.setMinimumWidth(theme.type_px(130))
            row.addWidget(label)
            row.addWidget(field, 1)
            self.body.addLayout(row)
            if field is self.elsewhere:
                self._elsewhere_label = label
        self.site.currentIndexChanged.connect(lambda _index: self._show_elsewhere())
        self._show_elsewhere()

    # Pages

    def _make_new(self) -> QWidget:
        page, layout = column(self._theme)
        text = tr(
            "Rialto creates a key and shows its 12-word recovery phrase once. Write it down. If you lose "
            "this computer and do not have the phrase, the money is gone."
        )
        self.phrase_words = Label(self._theme, text, role="text2", wrap=True)
        self.phrase = Label(self._theme, in_columns(["m" * LONGEST_WORD] * WORDS), "reading", mono=True, wrap=True)
        self.phrase.setMargin(self._theme.px(8))  # between the words and the ring
        self.phrase.ensurePolished()
        self.phrase.setMinimumHeight(self.phrase.sizeHint().height())  # the room of a phrase, before there is one
        self.phrase.set_text("")
        self.again = LinkButton(self._theme, tr("Show phrase again"))
        self.again.clicked.connect(self._show_words)
        self.steps = QStackedWidget()  # as high as the higher one: the buttons below stay where they are
        shows, shown = column(self._theme)
        shown.addWidget(self.phrase_words)
        shown.addWidget(self.phrase)
        asks, asked = column(self._theme)
        self.answers: list[QLineEdit] = []
        self._answer_labels: list[Label] = []
        for _ in range(ASKED_WORDS):
            label, field = Label(self._theme, "", "small", "text2", weight=500), QLineEdit()
            self._answer_labels.append(label)
            self.answers.append(field)
            asked.addWidget(label)
            asked.addWidget(field)
        asked.addWidget(self.again, 0, Qt.AlignmentFlag.AlignLeft)
        asked.addStretch(1)
        for step in (shows, asks):
            self.steps.addWidget(step)
        layout.addWidget(self.steps)
        return page

    def _make_import(self) -> QWidget:
        page, layout = column(self._theme)
        self.secret = self._secret(layout, tr("Private key or recovery phrase"))
        return page

    def _make_file(self) -> QWidget:
        page, layout = column(self._theme)
        self.file = Button(self._theme, tr("Choose a key file…"), "folder")
        self.file.clicked.connect(self._choose_file)
        layout.addWidget(self.file, 0, Qt.AlignmentFlag.AlignLeft)
        self.password = self._secret(layout, tr("Key file password"))
        return page

    def _make_watch(self) -> QWidget:
        page, layout = column(self._theme)
        text = tr("Its key stays elsewhere. Rialto shows what to sign, and you paste the signature.")
        layout.addWidget(Label(self._theme, text, role="text2", wrap=True))
        self.address = TextField(self._theme, tr("Address"), placeholder=tr("0x… or base58"), mono=True)
        layout.addWidget(self.address)
        return page

    def _secret(self, layout: QBoxLayout, words: str) -> SecretField:
        label, field = Label(self._theme, words, "small", "text2", weight=500), SecretField(self._theme, "")
        bind_label(label, field)
        layout.addWidget(label)
        layout.addWidget(field)
        return field

    def _show_elsewhere(self) -> None:
        """Ask for an address only where no account knows it."""
        wanted = self.site.currentData() == ELSEWHERE
        self.elsewhere.setVisible(wanted)
        self._elsewhere_label.setVisible(wanted)
        self._show_practice()

    def _show_practice(self) -> None:
        """Warn of keys from elsewhere while the wallet is for the Sandbox."""
        site = self._keys.account(str(self.site.currentData()))
        is_brought = self.way.current in ("import", "file")
        self.practice.setVisible(is_brought and site is not None and site.is_sandbox)

    # What the person does

    def _turn(self, way: str) -> None:
        self.pages.setCurrentIndex([key for key, _ in WAYS].index(way))
        self.chain.setEnabled(way in ("new", "import"))
        self._name_button(way)
        self._show_practice()
        self.problem.set_text("")

    def _name_button(self, way: str) -> None:
        words = {
            "new": tr("Show recovery phrase"),
            "import": tr("Import"),
            "file": tr("Import"),
            "watch": tr("Add watch-only"),
            "asked": tr("Add wallet"),
            "shown": tr("Continue"),
        }
        if way == "new" and self._phrase:
            way = "asked" if self.steps.currentIndex() else "shown"
        widths = []
        with nothing_said():  # of texts that nobody sees
            for each in words.values():
                self.keep.setText(each)
                widths.append(self.keep.sizeHint().width())
        self.keep.setMinimumWidth(max(widths))  # it keeps its place whatever it says
        self.keep.setText(words[way])

    def _choose_file(self) -> None:
        ask_for_file(self, tr("A key file"), self.import_file)

    def import_file(self, path: Path) -> None:
        """Open this file."""
        self._path = path
        self.file.setText(path.name)

    def _go(self) -> None:
        self.tasks.start_unless_running("add", self._add)

    async def _add(self) -> None:
        was_pressed = self.keep.hasFocus()
        self.keep.clearFocus()  # it would go to the first control of the dialog
        self.problem.set_text("")
        self.keep.setText(tr("Preparing") if self.way.current == "new" and not self._phrase else tr("Checking"))
        self.keep.setEnabled(False)
        try:
            problem = await self._keys.attempt(self._by_way())
            if problem:
                self.problem.set_text(problem)
            if self.problem.text():
                self._fit()
                self.show_in_view(self.problem)
            if self.added_id:
                self.accept()
        finally:
            self._name_button(self.way.current)
            self.keep.setEnabled(True)
            if was_pressed and self.focusWidget() is None:
                (self._own_field if self.problem.text() and self._own_field else self.keep).setFocus()

    @property
    def _own_field(self) -> QLineEdit | None:
        """What a failed attempt of the way that was chosen is most likely about."""
        return {"import": self.secret, "file": self.password, "watch": self.address}.get(self.way.current)

    @property
    def name_problem(self) -> str:
        """What is wrong with the name. A wallet that is known already keeps its own when its key is imported again."""
        return self._keys.name_problem(self.name.text()) if self.way.current == "new" else ""

    async def _by_way(self) -> None:
        """Do what was chosen; `added_id` is set when nothing is left to answer."""
        keys, chain, name = self._keys, self.chain.currentData(), self.name.text()
        if self.name_problem:  # before a phrase is written down in vain
            self.problem.show_field_error(self.name, self.name_problem)
            return
        elsewhere = self.site.currentData() == ELSEWHERE
        if elsewhere and (refusal := keys.address_problem(self.elsewhere.text())):
            self.problem.show_field_error(self.elsewhere, refusal)
            return
        site = keys.site_at(self.elsewhere.text()) if elsewhere else keys.account(str(self.site.currentData()))
        if site is None:
            self.problem.show_field_error(self.site, tr("Choose a service for the wallet."))
            return
        if self.way.current != "watch" and not await keys.has_place():  # before anybody writes down a phrase in vain
            self.problem.set_text(tr("Choose where to keep the wallet’s key first."))
            return
        self.memory_only.setVisible(keys.is_session_only())
        match self.way.current:
            case "new":
                if not self._phrase:
                    await self._show_phrase()
                    return
                if self.steps.currentIndex() == 0:
                    self._ask_words()
                    return
                wrong = self._wrong_answer()
                if wrong is not None:
                    words = tr("These words do not match your recovery phrase. Check what you wrote down.")
                    self.problem.show_field_error(wrong, words)
                    return
                account = await keys.add_from_phrase(name, self._phrase, chain, site)
            case "import":
                account = await keys.add_from_text(name, self.secret.text(), chain, site)
            case "file":
                if self._path is None:
                    self.problem.show_field_error(self.file, tr("Choose the key file first."))
                    return
                account = await keys.add_from_file(name, self._path, self.password.text(), site)
            case _:
                account = await keys.add_watched(name, self.address.text(), site)
        self.added, self.added_id = account.name, account.id

    async def _show_phrase(self) -> None:
        self._phrase = await self._keys.new_phrase()
        words = self._phrase.split()
        self.phrase.set_text(in_columns(words))
        self.phrase.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # its words can be heard, and not copied
        self.phrase.setAccessibleName(" ".join(f"{place}. {word}" for place, word in enumerate(words, 1)))
        self._show_words()

    def _show_words(self) -> None:
        """Show the recovery phrase, and nothing that asks for it."""
        self._turn_phrase(shown=True)
        self.phrase.setFocus()

    def _ask_words(self) -> None:
        """Hide the phrase and ask for some of its words: copied from the screen they would prove nothing."""
        words = self._phrase.split()
        self._asked = tuple(sorted(secrets.SystemRandom().sample(range(len(words)), ASKED_WORDS)))
        with nothing_said():  # Orca 43 goes to a field whose caret moves, and says it no more when the keyboard comes
            for place, label, field in zip(self._asked, self._answer_labels, self.answers, strict=True):
                label.set_text(tr("Confirm word {place} of your phrase", place=place + 1))
                bind_label(label, field)
                field.setAccessibleName(label.text())
                field.clear()
        self._turn_phrase(shown=False)
        self.answers[0].setFocus()

    def _turn_phrase(self, *, shown: bool) -> None:
        let_go(self.pages)
        self.steps.setCurrentIndex(0 if shown else 1)
        self._turn("new")
        self._fit()

    def _wrong_answer(self) -> QLineEdit | None:
        """The first field whose word is another one than that of the phrase."""
        words = self._phrase.split()
        answers = zip(self._asked, self.answers, strict=True)
        return next((field for place, field in answers if field.text().strip().lower() != words[place]), None)

    def _forget(self) -> None:
        self._phrase = ""
        self.phrase.set_text("")
        self.phrase.setAccessibleName("")
        for secret in (self.secret, self.password):
            secret.wipe()
        for field in self.answers:
            field.clear()


def in_columns(words: Sequence[str]) -> str:
    """A recovery phrase in straight columns of a font of one width, each word with its number."""
    cells = [f"{place:2}. {word:<{LONGEST_WORD}}" for place, word in enumerate(words, 1)]
    lines = (cells[start : start + WORDS_IN_A_LINE] for start in range(0, len(cells), WORDS_IN_A_LINE))
    return "\n".join("  ".join(line).replace(" ", "\N{NO-BREAK SPACE}") for line in lines)
