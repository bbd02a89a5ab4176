"""Appearance: theme, text size, font, motion. Every change shows at once."""

from __future__ import annotations

from PySide6.QtCore import QTimer

from app.translation import tr
from app.ui.kit.theme import MAX_PERCENT, MIN_PERCENT, Theme
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import RowCard, SectionPage, SettingRow
from app.ui.settings.state import SettingsState

_TEXT_STEP = 5
_SETTLE_MS = 80  # a drag passes many sizes; laying out the window for each would make it stick


class AppearancePage(SectionPage):
    def __init__(self, theme: Theme, presenter: SettingsPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self.theme_choice = SegmentedChoice(
            theme, tr("Theme"), (("light", tr("Light")), ("dark", tr("Dark")), ("system", tr("System")))
        )
        self.theme_choice.changed.connect(lambda mode: presenter.choose(theme=mode))
        self.text_size = SliderField(
            theme,
            tr("Text size in percent"),
            low=MIN_PERCENT,
            high=MAX_PERCENT,
            step=_TEXT_STEP,
            decimals=0,
            default=100,
        )
        self.text_size.setFixedWidth(theme.type_px(260))
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._apply_text_size)
        self.text_size.value_edited.connect(lambda _percent: self._settle.start())
        self.system_font = Switch(theme, tr("Use the system font"))
        self.system_font.clicked.connect(lambda on: presenter.choose(system_font=on))
        self.reduce_motion = Switch(theme, tr("Reduce motion"))
        self.reduce_motion.clicked.connect(lambda on: presenter.choose(reduced_motion=on))
        self.high_contrast = Switch(theme, tr("High contrast"))
        self.high_contrast.clicked.connect(lambda on: presenter.choose(high_contrast=on))
        card = RowCard(theme)
        card.add(SettingRow(theme, tr("Theme"), self.theme_choice, meaning=tr("System follows your desktop.")))
        card.add(
            SettingRow(
                theme, tr("Text size"), self.text_size, meaning=tr("80 to 200 %. Double-click the slider to reset it.")
            )
        )
        card.add(
            SettingRow(
                theme,
                tr("Use the system font"),
                self.system_font,
                meaning=tr("When off, Rialto uses Inter, the same on every computer."),
            )
        )
        card.add(
            SettingRow(
                theme,
                tr("Reduce motion"),
                self.reduce_motion,
                meaning=tr("Turns off animations and caret blinking. When off, Rialto follows your desktop."),
            )
        )
        card.add(
            SettingRow(
                theme,
                tr("High contrast"),
                self.high_contrast,
                meaning=tr("Stronger text and thicker lines. When off, Rialto follows your desktop."),
            )
        )
        self.group("", card)
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        theme.changed.connect(self._fit_slider)
        self.show_state(presenter.state)

    def show_state(self, state: SettingsState) -> None:
        choices = state.choices
        self.theme_choice.set_current(choices.theme)
        if not self._settle.isActive():
            self.text_size.set_value(choices.text_percent)
        self.system_font.setChecked(choices.system_font)
        self.reduce_motion.setChecked(choices.reduced_motion)
        self.high_contrast.setChecked(choices.high_contrast)

    def _apply_text_size(self) -> None:
        self._presenter.choose(text_percent=round(self.text_size.value))

    def _fit_slider(self) -> None:
        self.text_size.setFixedWidth(self.theme.type_px(260))
