"""The test controls: each says what it does, and stays marked while it is on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.translation import tr
from app.ui.kit.focus import AwaitedFocus
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import Button, DangerButton
from app.ui.kit.widgets.fields import ChoiceField, NumberField
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.kit.widgets.switch import Switch
from app.ui.settings.rows import RowCard, SettingRow, value_label
from app.ui.settings.sandbox.parts import Groups
from app.ui.settings.sandbox.presenter import SandboxPresenter
from app.ui.settings.sandbox.state import CLOCK_STEPS, FAULTS, PLACES, Choice, Fault, Number, SandboxState, ahead


class ControlsPage(Groups):
    def __init__(self, theme: Theme, presenter: SandboxPresenter) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self._awaited = AwaitedFocus(self)
        words = tr(
            "Make the Sandbox fail on purpose to see how your program or Rialto reacts. This never reaches "
            "a real service. It affects every program that uses this Sandbox."
        )
        self._said = ProblemLabel(theme)
        policy = self._said.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # what it says moves no switch
        self._said.setSizePolicy(policy)
        self.place = ChoiceField(theme, tr("Affected requests"), small=True)
        for path, title in PLACES:
            self.place.addItem(title, path)
        where = RowCard(theme)
        where.add(
            SettingRow(
                theme, tr("Affected requests"), self.place, meaning=tr("Applies to failures you turn on from now on.")
            )
        )
        self.group("", Label(theme, words, "body", "text2", wrap=True), self._said, where)
        self.faults: dict[str, FaultRow] = {}
        card = RowCard(theme)
        for fault in FAULTS:
            row = FaultRow(theme, fault)
            row.switch.clicked.connect(partial(self._press, row))
            self.faults[fault.name] = row
            card.add(row)
        self.group(tr("Simulate failures"), card)
        self.group(tr("Clock and limits"), self._clock())
        self.group(tr("Reset"), self._reset())
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        self.show_state(presenter.state)

    def _clock(self) -> QWidget:
        theme = self.theme
        card = RowCard(theme)
        self._clock_value = value_label(theme)
        holder = QWidget()
        flow = FlowLayout(theme, gap=6, line_gap=6, parent=holder)
        self.clock_steps: list[Button] = []
        for seconds, title in CLOCK_STEPS:
            button = Button(theme, f"+ {title}", size="small")
            button.setAccessibleName(tr("Move the clock {title} forward", title=title))
            button.clicked.connect(partial(self._turn, seconds))
            self.clock_steps.append(button)
            flow.addWidget(button)
        self.clock_right = Button(theme, tr("Reset clock"), size="small")
        self.clock_right.clicked.connect(partial(self._turn, 0.0))
        flow.addWidget(self.clock_right)
        words = tr("Queues finish, cloned voices and downloads expire, and rate limits reset, without waiting.")
        card.add(Stacked(theme, tr("Move the clock forward"), words, holder, self._clock_value))
        self.speed = NumberField(theme, tr("Chat speed in tokens per second"), low=0, high=10_000, value=80)
        self.speed.setSuffix(f" {tr('tokens/s')}")
        self.speed.value_edited.connect(lambda value: self._presenter.behave(tokens_per_second=value))
        card.add(SettingRow(theme, tr("Chat speed"), self.speed, meaning=tr("0: as fast as possible.")))
        self.partner = Switch(theme, tr("Partner limits"))
        self.partner.clicked.connect(lambda on: self._presenter.behave(partner=on))
        card.add(
            SettingRow(theme, tr("Partner limits"), self.partner, meaning=tr("More requests per minute for every key."))
        )
        return card

    def _reset(self) -> QWidget:
        card = RowCard(self.theme)
        self.reset = DangerButton(self.theme, tr("Reset everything"), size="small")
        self.reset.clicked.connect(self._presenter.reset)
        words = tr(
            "Resets balances, keys’ accounts, cloned voices, videos, blockchains, the request log, the "
            "clock and every control above. The address, the key and your history in Rialto do not "
            "change."
        )
        card.add(SettingRow(self.theme, tr("Reset the Sandbox"), self.reset, meaning=words))
        return card

    def show_state(self, state: SandboxState) -> None:
        usable = state.running and not state.busy
        buttons = (*self.clock_steps, self.clock_right, self.reset)
        of_faults = [each for row in self.faults.values() for each in row.controls]
        self._awaited.before((*buttons, *of_faults), enabled=usable)
        for name, row in self.faults.items():
            row.show_values(state.faults.get(name), usable)
        self._clock_value.set_text(ahead(state.clock_offset_s) or tr("Real time"))
        for button in (*self.clock_steps, self.reset):
            button.setEnabled(usable)
        self.clock_right.setEnabled(usable and bool(state.clock_offset_s))
        for widget in (self.speed, self.partner, self.place):
            widget.setEnabled(state.running)
        if not self.speed.hasFocus():
            self.speed.set_value(state.tokens_per_second)
        self.partner.setChecked(state.partner)
        said = state.problem or state.silent or ("" if state.running else tr("The Sandbox is not running."))
        self._said.set_role("bad" if said else "ok")
        self._said.set_text(said or state.done)
        self._said.setVisible(bool(said or state.done))
        self._awaited.after(enabled=usable, otherwise=self.clock_steps[0])

    def _press(self, row: FaultRow) -> None:
        if row.is_on:
            self._presenter.clear_fault(row.fault.name)
        else:
            self._presenter.set_fault(row.fault.name, row.values(str(self.place.currentData() or "")))

    def _turn(self, seconds: float) -> None:
        self._presenter.turn_clock(seconds)


class Stacked(QWidget):
    """A title, what it means, and under both the controls, which wrap; a value or badge stands at the title's end."""

    def __init__(self, theme: Theme, title: str, meaning: str, controls: QWidget, end: QWidget) -> None:
        super().__init__()
        self._theme = theme
        self._column = QVBoxLayout(self)
        top = QHBoxLayout()
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(theme, title, wrap=True))
        words.addWidget(Label(theme, meaning, "small", "text2", wrap=True))
        top.addLayout(words, 1)
        top.addWidget(end)
        self._column.addLayout(top)
        self._column.addWidget(controls)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    def _apply_theme(self) -> None:
        across, down = self._theme.px(16), self._theme.px(10)
        self._column.setContentsMargins(across, down, across, down)
        self._column.setSpacing(self._theme.px(8))


class FaultRow(Stacked):
    """One way to fail: its fields, how many calls it hits, and the button that switches it on and off."""

    def __init__(self, theme: Theme, fault: Fault) -> None:
        self.fault = fault
        self.is_on = False
        self.fields: dict[str, ChoiceField | NumberField] = {}
        holder = QWidget()
        flow = FlowLayout(theme, gap=8, line_gap=6, parent=holder)
        for part in fault.fields:
            self.fields[part.field] = _field(theme, fault, part)
            flow.addWidget(self.fields[part.field])
        self.times = ChoiceField(theme, tr("{title}: how often", title=fault.title), small=True)
        for count, words in (
            (1, tr("Next request")),
            (2, tr("2 requests")),
            (5, tr("5 requests")),
            (20, tr("20 requests")),
            (0, tr("Every request")),
        ):
            self.times.addItem(words, count)
        self.times.setCurrentIndex(max(0, self.times.findData(fault.times)))
        flow.addWidget(self.times)
        self.switch = Button(theme, tr("Turn on"), size="small")
        self.switch.setAccessibleName(tr("{title}: turn on", title=fault.title))
        flow.addWidget(self.switch)
        self._badge = Badge(theme, tr("On"), "warn", icon="warning")
        super().__init__(theme, fault.title, fault.does, holder, self._badge)

    @property
    def controls(self) -> tuple[QWidget, ...]:
        """All that is disabled while the Sandbox is busy."""
        return (*self.fields.values(), self.times, self.switch)

    def values(self, path: str) -> dict[str, Any]:
        """What to tell the Sandbox."""
        told: dict[str, Any] = {}
        for part in self.fault.fields:
            field = self.fields[part.field]
            if isinstance(field, ChoiceField):
                told[part.field] = field.currentData()
            else:
                told[part.field] = field.value() if field.decimals() else int(field.value())
        times = int(self.times.currentData() or 0)
        return {**told, **({"times": times} if times else {}), **({"path": path} if path else {})}

    def show_values(self, values: Mapping[str, Any] | None, usable: bool) -> None:
        """Draw whether it is on, and how many calls it still hits."""
        self.is_on = values is not None
        left = (values or {}).get("times")
        self._badge.set_badge(tr("On") if left is None else tr("On, {left} left", left=left), "warn", "warning")
        self._badge.setVisible(self.is_on)
        self.switch.setText(tr("Turn off") if self.is_on else tr("Turn on"))
        self.switch.setAccessibleName(f"{self.fault.title}: {tr('turn off') if self.is_on else tr('turn on')}")
        self.switch.setEnabled(usable)
        for field in (*self.fields.values(), self.times):
            field.setEnabled(usable and not self.is_on)


def _field(theme: Theme, fault: Fault, part: Choice | Number) -> ChoiceField | NumberField:
    name = f"{fault.title}: {part.label.lower()}"
    if isinstance(part, Choice):
        choice = ChoiceField(theme, name, small=True)
        for value, words in part.items:
            choice.addItem(words, value)
        choice.setCurrentIndex(max(0, choice.findData(part.value)))
        return choice
    number = NumberField(theme, name, low=part.low, high=part.high, value=part.value, decimals=part.decimals)
    number.setSuffix(part.unit)
    return number
