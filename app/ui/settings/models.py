"""Models and defaults: what new chats begin with, and the favorite models."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.text_area import TextArea
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.fields import ChoiceField, NumberField, bind_label
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow
from app.ui.settings.state import ModelChoices, SettingsState

_MOST_REPLY_TOKENS = 1_000_000
AS_THE_SERVICE_SAYS = tr("Service default")


class ModelsPage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self.default = ChoiceField(theme, tr("Model for new chats"))
        self.default.activated.connect(self._choose)
        self._default_row = SettingRow(theme, tr("Model for new chats"), self.default)
        chats = RowCard(theme)
        chats.add(self._default_row)
        for row in self._parameter_rows():
            chats.add(row)
        self.group(
            tr("New chats"),
            chats,
            Label(theme, tr("For every account. Existing chats keep their own."), "small", "text2", wrap=True),
        )
        self._favorites = RowCard(theme)
        words = tr(
            "Star a model in the model list to make it a favorite. Favorites are listed first, for every account."
        )
        self.group(tr("Favorites"), self._favorites, Label(theme, words, "small", "text2", wrap=True))
        self.column.addStretch(1)
        self._shown: ModelChoices | None = None
        presenter.state_changed.connect(self.show_state)
        theme.changed.connect(self._apply_field_theme)
        self._apply_field_theme()
        self.show_state(presenter.state)

    def shown(self) -> None:
        self._presenter.refresh_models_page()

    def show_state(self, state: SettingsState) -> None:
        self._show_parameters(state)
        if state.models == self._shown:
            return
        self._shown = state.models
        self._show_default(state.models)
        self._show_favorites(state.models)

    def _parameter_rows(self) -> tuple[QWidget, ...]:
        theme, choose = self.theme, self._presenter.choose_chat_default
        self.prompt = TextArea(placeholder=tr("Instructions for every answer"))
        self.prompt.edited.connect(self._prompt_typed)
        self.web = SegmentedChoice(
            theme, tr("Web search"), (("off", tr("Off")), ("auto", tr("Auto")), ("on", tr("On")))
        )
        self.web.changed.connect(lambda mode: choose("web_search", mode))
        self.thinking = Switch(theme, tr("Reasoning"))
        self.thinking.clicked.connect(lambda on: choose("thinking", None if on else False))
        self.temperature = self._number(tr("Temperature"), high=2, step=0.05)
        self.temperature.value_edited.connect(_telling(choose, "temperature"))
        self.top_p = self._number(tr("Top-p"), high=1, step=0.05)
        self.top_p.value_edited.connect(_telling(choose, "top_p"))
        self.reply_limit = NumberField(theme, tr("Reply limit"), low=0, high=_MOST_REPLY_TOKENS, step=256, small=False)
        self.reply_limit.setSpecialValueText(tr("none"))
        self.reply_limit.value_edited.connect(lambda tokens: choose("reply_limit", int(tokens) or None))
        lowest = tr("Go below 0 to leave it to the model.")
        return (
            _PromptRow(theme, self.prompt),
            SettingRow(theme, tr("Web search"), self.web, meaning=tr("Auto: the model decides. Searches cost extra.")),
            SettingRow(
                theme, tr("Reasoning"), self.thinking, meaning=tr("Models that can reason do so before they answer.")
            ),
            SettingRow(theme, tr("Temperature"), self.temperature, meaning=lowest),
            SettingRow(theme, tr("Top-p"), self.top_p, meaning=lowest),
            SettingRow(theme, tr("Reply limit"), self.reply_limit, meaning=tr("Maximum tokens in one answer.")),
        )

    def _number(self, name: str, *, high: float, step: float) -> NumberField:
        """A number whose lowest step, one below 0, stands for no choice."""
        field = NumberField(self.theme, name, low=-step, high=high, step=step, decimals=2, value=-step, small=False)
        field.setSpecialValueText(tr("Model default"))
        return field

    def _prompt_typed(self, text: str) -> None:
        self._presenter.choose_chat_default("system_prompt", text if text.strip() else None)

    def _show_parameters(self, state: SettingsState) -> None:
        chosen = state.choices.chat_defaults
        prompt = str(chosen.get("system_prompt", ""))
        if not self.prompt.hasFocus():
            self.prompt.set_text(prompt)
        self.web.set_current(str(chosen.get("web_search", "auto" if state.models.is_sandbox else "off")))
        self.thinking.setChecked(bool(chosen.get("thinking", True)))
        for name, field in (("temperature", self.temperature), ("top_p", self.top_p)):
            value = chosen.get(name)
            field.set_value(float(value) if isinstance(value, int | float) else field.minimum())
        tokens = chosen.get("reply_limit")
        self.reply_limit.set_value(float(tokens) if isinstance(tokens, int | float) else 0)

    def _show_default(self, choices: ModelChoices) -> None:
        self.default.clear()
        self.default.addItem(AS_THE_SERVICE_SAYS, "")
        for model_id, name in choices.names.items():
            self.default.addItem(name, model_id)
        at = self.default.findData(choices.default)
        self.default.setCurrentIndex(max(at, 0))
        self.default.setEnabled(bool(choices.names))
        who = (
            tr("For {account}. Each account has its own.", account=choices.account)
            if choices.account
            else tr("No account is in use.")
        )
        self._default_row.set_meaning(who if choices.names else tr("{who} Its model list has not loaded yet.", who=who))

    def _show_favorites(self, choices: ModelChoices) -> None:
        self._favorites.empty()
        if not choices.favourites:
            self._favorites.add(SettingRow(self.theme, tr("None yet")))
        for model_id in choices.favourites:
            name = choices.names.get(model_id, "")
            remove = Button(self.theme, tr("Remove"), size="small")
            remove.setAccessibleName(tr("Remove {name} from favorites", name=name or model_id))
            remove.clicked.connect(lambda _checked=False, gone=model_id: self._presenter.remove_favorite(gone))
            self._favorites.add(SettingRow(self.theme, name or model_id, remove, meaning=model_id if name else ""))

    def _choose(self, index: int) -> None:
        self._presenter.choose_default_model(str(self.default.itemData(index)))

    def _apply_field_theme(self) -> None:
        self.default.setFixedWidth(self.theme.type_px(260))
        for field in (self.temperature, self.top_p, self.reply_limit):
            field.setFixedWidth(self.theme.type_px(150))


class _PromptRow(QWidget):
    """The system prompt under its title, as wide as the card."""

    def __init__(self, theme: Theme, prompt: TextArea) -> None:
        super().__init__()
        self._theme, self._prompt = theme, prompt
        title = Label(theme, tr("System prompt"))
        bind_label(title, prompt)
        self._column = QVBoxLayout(self)
        self._column.addWidget(title)
        self._column.addWidget(prompt)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        across, down = self._theme.px(16), self._theme.px(10)
        self._column.setContentsMargins(across, down, across, self._theme.px(12))
        self._column.setSpacing(self._theme.px(6))
        self._prompt.setFont(self._theme.font("body"))
        self._prompt.setFixedHeight(4 * self._theme.line_px("body") + self._theme.px(14))


def _telling(choose: Callable[[str, object], None], option: str) -> Callable[[float], None]:
    return lambda value: choose(option, round(value, 2) if value >= 0 else None)
