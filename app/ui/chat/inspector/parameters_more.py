"""The parameters that few chats change: how results come, effort, seed, stop texts, caching, and extra JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.chat.inspector.parameter_row import ParameterRow
from app.ui.chat.session.chat_options import MAX_STOPS
from app.ui.kit.forms.extra_json_field import EXTRA_JSON, ExtraJsonField
from app.ui.kit.text_area import DebouncedTextArea
from app.ui.kit.widgets.card import Section
from app.ui.kit.widgets.fields import ChoiceField, NumberField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.switch import Switch

if TYPE_CHECKING:
    from app.ui.chat.state import ChatHead
    from app.ui.kit.theme import Theme

MOST_SEED = 2_147_483_647
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")  # while the model does not say which it knows
_EFFORT_WORDS = {
    "none": tr("None"),
    "minimal": tr("Minimal"),
    "low": tr("Low"),
    "medium": tr("Medium"),
    "high": tr("High"),
    "xhigh": tr("Very high"),
    "max": tr("Maximum"),
}


class MoreControls(QObject):
    """The rows, for the page to put into its sections. `option_changed` as the page's own."""

    option_changed = Signal(str, object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._chat: str | None = None
        self._efforts: tuple[str, ...] | None = None
        self._build_results()
        self._build_effort()
        self._build_sampling()
        self._build_cache()
        self._build_extra()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    # Building

    def _switch(self, option: str, name: str) -> Switch:
        switch = Switch(self._theme, name)
        switch.clicked.connect(lambda on: self.option_changed.emit(option, on))
        return switch

    def _build_results(self) -> None:
        theme = self._theme
        words = tr("Sources with the answer")
        self.in_stream = self._switch("results_in_stream", words)
        self.in_stream_row = ParameterRow(theme, words, self.in_stream)
        words = tr("Results as documents")
        self.documents = self._switch("results_as_documents", words)
        note = tr("Returned as a function call. Rialto shows them as sources and runs nothing.")
        self.documents_row = ParameterRow(theme, words, self.documents, note=note)

    def _build_effort(self) -> None:
        self.effort = ChoiceField(self._theme, tr("Effort"), small=True)
        self.effort.activated.connect(lambda place: self.option_changed.emit("effort", self.effort.itemData(place)))
        self.effort_row = ParameterRow(self._theme, tr("Effort"), self.effort)

    def _build_sampling(self) -> None:
        theme = self._theme
        self.seed = NumberField(theme, tr("Seed"), low=0, high=MOST_SEED)
        self.seed.setSpecialValueText(tr("none"))
        self.seed.value_edited.connect(lambda value: self.option_changed.emit("seed", int(value) or None))
        note = tr("The same seed makes answers more repeatable.")
        self.seed_row = ParameterRow(theme, tr("Seed"), self.seed, note=note)
        self.stop = DebouncedTextArea(tr("Stop sequences"), tr("One per line"))
        self.stop.settled.connect(self._stop_typed)
        self.stop_label = Label(theme, tr("Stop sequences"))
        self.stop_label.setBuddy(self.stop)
        self.stop_note = Label(theme, "", "small", "text3", wrap=True)

    def _build_cache(self) -> None:
        words = tr("Cache long attachments")
        self.cache = self._switch("cache_attachments", words)
        note = tr("Marks the first four, so later turns cost less.")
        self.cache_row = ParameterRow(self._theme, words, self.cache, note=note)
        words = tr("Keep the cache for 24 hours")
        self.keep = self._switch("keep_cache", words)
        note = tr("Useful if you continue tomorrow. Not every service supports it.")
        self.keep_row = ParameterRow(self._theme, words, self.keep, note=note)

    def _build_extra(self) -> None:
        self.extra_section = Section(self._theme, EXTRA_JSON, last=True)
        self.extra = ExtraJsonField(
            self._theme,
            tr("Merged last and overrides the settings above. Not validated."),
            example='{"top_k": 40}',
        )
        self.extra.settled.connect(lambda text: self.option_changed.emit("extra_json", text))
        self.extra_section.add(self.extra)

    def _apply_theme(self) -> None:
        theme = self._theme
        self.stop.setFont(theme.font("small"))
        self.stop.setFixedHeight(2 * theme.line_px("small") + theme.px(10))
        self.seed.setFixedWidth(theme.type_px(110))
        self.effort.setMinimumWidth(theme.type_px(130))

    # Showing

    def show_head(self, head: ChatHead) -> None:
        """Make every control agree with the open chat."""
        options, controls = head.options, head.controls
        self.in_stream.setChecked(options.results_in_stream and controls.results_in_stream.usable)
        self.documents.setChecked(options.results_as_documents and controls.results_as_documents.usable)
        self.in_stream_row.show_control(controls.results_in_stream)
        self.documents_row.show_control(controls.results_as_documents)
        self._show_effort(head)
        self.seed.set_value(options.seed or 0)
        self.cache.setChecked(options.cache_attachments)
        self.keep.setChecked(options.keep_cache and controls.keep_cache.usable)
        self.keep_row.show_control(controls.keep_cache)
        other = head.chat_id != self._chat
        self._chat = head.chat_id
        self.stop.show_text("\n".join(options.stop), replace=other)
        self.extra.show_text(options.extra_json, controls.extra_json.why, replace=other)
        self.cache_row.show_control(controls.cache_attachments)
        self.stop.setEnabled(controls.stop.usable)
        self._say_stop(len(options.stop), controls.stop.why)

    def _show_effort(self, head: ChatHead) -> None:
        efforts = head.efforts or EFFORTS
        if efforts != self._efforts:
            self._efforts = efforts
            self.effort.clear()
            self.effort.addItem(tr("Model default"), "")
            for effort in efforts:
                self.effort.addItem(_EFFORT_WORDS.get(effort, effort.capitalize()), effort)
        wanted = head.options.effort
        known = wanted in ("", *efforts)
        self.effort.setCurrentIndex(self.effort.findData(wanted if known else ""))
        if not known:
            self.effort_row.set_note(tr("This model has no effort level “{effort}”.", effort=wanted))
        elif head.default_effort and not wanted:
            self.effort_row.set_note(tr("Default: {effort}.", effort=head.default_effort))
        else:
            self.effort_row.set_note("")
        self.effort_row.show_control(head.controls.effort)

    def _say_stop(self, count: int, why_off: str) -> None:
        full = tr("The answer ends before any of these would appear. Up to {most}.", most=MAX_STOPS)
        self.stop_note.set_text(why_off or (full if count else ""))
        self.stop_note.setVisible(bool(count or why_off))
        self.stop.setAccessibleDescription(why_off or full)

    # What the person did

    def flush(self) -> None:
        """Take what was typed a moment ago; called before a message is sent."""
        self.stop.flush()
        self.extra.flush()

    def _stop_typed(self, text: str) -> None:
        lines = [line for line in text.split("\n") if line.strip()]
        self.option_changed.emit("stop", tuple(lines[:MAX_STOPS]))
