"""The page of a project: its name and color, instructions, what new chats in it begin with, its limit, its totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.core.spending_limits import read_limit
from app.translation import tr
from app.ui.chat.session.chat_projects import COLOR_WORDS
from app.ui.chat.sidebar.chat_delegate import PROJECT_ROLES
from app.ui.chat.state import MAX_PROJECT_NAME_CHARS, CharacterHead, ProjectForm
from app.ui.kit.icons import icon
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import ChoiceField, TextField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

WIDTH = 620
MAX_INSTRUCTIONS_CHARS = 100_000
INSTRUCTION_LINES = 6


class ProjectChoices(NamedTuple):
    """What can be chosen beside the project's own. Each is shown by the words behind it."""

    models: Sequence[tuple[str, str]] = ()
    characters: Sequence[CharacterHead] = ()
    parameters: Sequence[tuple[str, Mapping[str, object]]] = ()  # words, and options as they are stored


class ProjectDialog(Dialog):
    """`form` is what was filled in; await `answer`. Nothing is accepted that cannot be kept."""

    def __init__(
        self,
        theme: Theme,
        parent: QWidget,
        form: ProjectForm,
        choices: ProjectChoices,
        totals: Sequence[tuple[str, str]],
        *,
        project_id: str = "",
    ) -> None:
        super().__init__(theme, parent, tr("Project settings"), width=WIDTH, subject=project_id)
        self._before = form
        self.name = TextField(theme, tr("Name"), text=form.name)
        self.name.setMaxLength(MAX_PROJECT_NAME_CHARS)
        self.color = ChoiceField(theme, tr("Color"))
        for color, words in COLOR_WORDS.items():
            self.color.addItem(icon(theme, "folder", PROJECT_ROLES.get(color, "text2")), words, color)
        self.color.setCurrentIndex(max(0, self.color.findData(form.color)))
        head = QGridLayout()
        head.setHorizontalSpacing(theme.px(12))
        head.setVerticalSpacing(theme.px(4))
        head.setColumnStretch(0, 1)
        for column, field in enumerate((self.name, self.color)):
            label = Label(theme, field.accessibleName(), "small", "text2", weight=500)
            bind_label(label, field)
            head.addWidget(label, 0, column)
            head.addWidget(field, 1, column)
        self.body.addLayout(head)
        self.problem = ProblemLabel(theme)
        self.problem.hide()
        self.body.addWidget(self.problem)

        self.instructions = TextArea(form.instructions)
        self.instructions.setAccessibleName(tr("Instructions"))
        self.instructions.setTabChangesFocus(True)
        self.instructions.setPlaceholderText(tr("Instructions for every chat in the project"))
        self.instructions.setFont(theme.font("body"))
        self.instructions.setFixedHeight(INSTRUCTION_LINES * theme.line_px("body") + theme.px(12))
        note = tr("Sent before each chat’s own system prompt. The tokens are billed.")
        self.instructions.setAccessibleDescription(note)
        self._add(tr("Instructions"), self.instructions, note)

        self.body.addWidget(Label(theme, tr("New chats begin with"), weight=600))
        self.model = ChoiceField(theme, tr("Model"))
        self.model.addItem(tr("Default"), "")
        for model_id, name in choices.models:
            self.model.addItem(name, model_id)
        if form.model and self.model.findData(form.model) < 0:
            self.model.addItem(form.model, form.model)
        self.model.setCurrentIndex(max(0, self.model.findData(form.model)))
        self._characters: list[CharacterHead | None] = [None]
        self.character = ChoiceField(theme, tr("Character"))
        self.character.addItem(tr("No character"))
        for each in (form.character, *choices.characters):
            if each is not None and all(known is None or known.slug != each.slug for known in self._characters):
                self._characters.append(each)
                self.character.addItem(each.name)
        self.character.setCurrentIndex(1 if form.character is not None else 0)
        self._parameters: list[Mapping[str, object] | None] = [None]
        self.parameters = ChoiceField(theme, tr("Parameters"))
        self.parameters.addItem(tr("Default"))
        kept = [(tr("The project’s own"), form.parameters)] if form.parameters is not None else []
        for words, options in (*kept, *choices.parameters):
            self._parameters.append(options)
            self.parameters.addItem(words)
        self.parameters.setCurrentIndex(len(kept))
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.px(12))
        grid.setVerticalSpacing(theme.px(4))
        for column, choice in enumerate((self.model, self.character, self.parameters)):
            label = Label(theme, choice.accessibleName(), "small", "text2", weight=500)
            bind_label(label, choice)
            # A name that is long is cut in its field; the list that opens shows it whole.
            choice.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            grid.addWidget(label, 0, column)
            grid.addWidget(choice, 1, column)
            grid.setColumnStretch(column, 1)
        self.body.addLayout(grid)

        self.limit = TextField(theme, tr("Spending limit"), text=form.limit, placeholder=tr("none"))
        self.limit.setMaximumWidth(theme.type_px(120))
        self.limit_problem = ProblemLabel(theme)
        self.limit_problem.hide()
        self._add(
            tr("Spending limit"),
            self.limit,
            tr("Covers everything this project has ever cost. Real money and play money are counted separately."),
        )
        self.body.addWidget(self.limit_problem)

        card = Card(theme, padding=(14, 10), spacing=4)
        sums = QGridLayout()
        sums.setHorizontalSpacing(theme.px(24))
        for place, (words, value) in enumerate(totals):
            sums.addWidget(Label(theme, words, "small", "text2"), 0, place)
            sums.addWidget(Label(theme, value, weight=600, tabular=True), 1, place)
            sums.setColumnStretch(place, 1)
        card.body.addLayout(sums)
        self.body.addWidget(card)

        self.documents = LinkButton(theme, tr("Documents…"))
        self.add_beside_buttons(self.documents)
        self._buttons.setAlignment(self.documents, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.add_button(tr("Cancel"), accepts=False)
        self.save = self.add_button(tr("Save"), kind="primary", default=True)
        self.save.clicked.connect(self._save)
        self.name.setFocus()

    def _add(self, words: str, field: QWidget, note: str) -> None:
        label = Label(self._theme, words, "small", "text2", weight=500)
        bind_label(label, field)
        for widget in (label, field, Label(self._theme, note, "small", "text3", wrap=True)):
            self.body.addWidget(widget)

    def _save(self) -> None:
        for label in (self.problem, self.limit_problem):
            label.set_text("")
            label.hide()
        if not self.name.text().strip():
            self._blame(self.problem, self.name, tr("Enter a name."))
        elif len(self.instructions.toPlainText()) > MAX_INSTRUCTIONS_CHARS:
            self._blame(self.problem, self.instructions, tr("The instructions are longer than 100,000 characters."))
        elif self.limit.text().strip() and read_limit(self.limit.text()) is None:
            self._blame(
                self.limit_problem, self.limit, tr("Enter an amount in US dollars, such as 2.50, or leave it empty.")
            )
        else:
            self.accept()
            return
        self._fit()

    def _blame(self, label: ProblemLabel, field: QWidget, sentence: str) -> None:
        label.show()
        label.show_field_error(field, sentence)

    @property
    def form(self) -> ProjectForm:
        return ProjectForm(
            name=self.name.text().strip(),
            color=str(self.color.currentData() or ""),
            instructions=self.instructions.toPlainText(),
            model=str(self.model.currentData() or ""),
            character=self._characters[self.character.currentIndex()],
            parameters=self._parameters[self.parameters.currentIndex()],
            limit=self.limit.text().strip(),
        )
