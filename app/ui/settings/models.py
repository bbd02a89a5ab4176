"""Models and defaults: the model that new chats of the account in use begin with, and the favorites."""

from __future__ import annotations

from app.translation import tr
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.label import Label
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow
from app.ui.settings.state import ModelChoices, SettingsState

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
        self.group(tr("Chat"), chats)
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
        if state.models == self._shown:
            return
        self._shown = state.models
        self._show_default(state.models)
        self._show_favorites(state.models)

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
