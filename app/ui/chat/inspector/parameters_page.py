"""The inspector's first page: every parameter of the open chat, honest about what the model ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from app.core import number_format
from app.translation import tr, tr_n
from app.ui.chat.inspector.parameter_row import ParameterRow
from app.ui.chat.inspector.parameters_more import MoreControls
from app.ui.chat.session.chat_options import MAX_LINKS_READ, MAX_TEMPERATURE
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.badge import Badge
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.card import Section
from app.ui.kit.widgets.fields import NumberField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.segmented import SegmentedChoice
from app.ui.kit.widgets.slider_field import SliderField
from app.ui.kit.widgets.surfaces import zone
from app.ui.kit.widgets.switch import Switch

if TYPE_CHECKING:
    from app.ui.chat.state import ChatHead
    from app.ui.kit.theme import Theme

TYPING_PAUSE_MS = 400
UNKNOWN_TEMPERATURE, UNKNOWN_TOP_P = 1.0, 1.0  # where the sliders stand while neither person nor model chose
MOST_REPLY_TOKENS = 1_000_000


class ParametersPage(QScrollArea):
    """`option_changed` tells the name of a `ChatOptions` field and its new value."""

    option_changed = Signal(str, object)
    prompts_requested = Signal()
    presets_requested = Signal()
    structure_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        self._theme = theme
        self._chat: tuple[str | None] | None = None
        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_PAUSE_MS)
        self._typing.timeout.connect(self._prompt_typed)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Parameters"))
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the sections, one at each step; into a body that has its place, so that none is styled twice."""
        theme = self._theme
        body = QWidget(self)
        zone(body, "pane")
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.setWidget(body)
        self.more = MoreControls(theme, self)
        self.more.option_changed.connect(self.option_changed)
        yield
        for section in (
            self._build_prompt,
            self._build_web,
            self._build_reasoning,
            self._build_sampling,
            self._build_structure,
            self._build_cache,
        ):
            section()
            yield
        self._column.addStretch(1)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    # Building

    def _build_prompt(self) -> None:
        section = Section(self._theme, tr("System prompt"))
        self._prompt_tokens = Label(self._theme, "", "small", "text3", tabular=True)
        section.top.addWidget(self._prompt_tokens)
        self.prompt = TextArea(name=tr("System prompt"), placeholder=tr("Instructions for every answer"))
        self.prompt.setProperty("sizing", "small")
        self.prompt.edited.connect(lambda _text: self._typing.start())
        section.add(self.prompt)
        self._instructing = Label(self._theme, "", "small", "text2", wrap=True)
        self._instructing.hide()
        section.add(self._instructing)
        self.prompts = LinkButton(self._theme, tr("Prompts…"))
        self.prompts.setAccessibleName(tr("Prompt library"))
        self.prompts.clicked.connect(self.prompts_requested)
        self.presets = LinkButton(self._theme, tr("Presets…"))
        self.presets.setToolTip(tr("Save model, character and parameters together"))
        self.presets.clicked.connect(self.presets_requested)
        self._library = QHBoxLayout()
        self._library.addWidget(self.prompts)
        self._library.addWidget(self.presets)
        self._library.addStretch(1)
        section.body.addLayout(self._library)
        self.service_prompt = self._switch("service_prompt", tr("Include the service’s system prompt"))
        self._service_row = ParameterRow(
            self._theme,
            tr("Include the service’s system prompt"),
            self.service_prompt,
            note=tr("Sent before yours. Its tokens are billed."),
        )
        section.add(self._service_row)
        self._column.addWidget(section)

    def _build_web(self) -> None:
        section = Section(self._theme, tr("Web"))
        self.web = SegmentedChoice(
            self._theme,
            tr("Web search"),
            (("off", tr("Off")), ("auto", tr("Auto")), ("on", tr("On"))),
        )
        self.web.changed.connect(lambda mode: self.option_changed.emit("web_search", mode))
        self.citations = self._switch("citations", tr("Cite sources"))
        self.links = self._switch("read_links", tr("Read links in my message"))
        self.social = self._switch("social_posts", tr("Web and social posts"))
        self._web_row = ParameterRow(
            self._theme,
            tr("Web search"),
            self.web,
            note=tr("Auto: the model decides. Searches cost extra."),
        )
        self._citations_row = ParameterRow(self._theme, tr("Cite sources"), self.citations)
        self._links_row = ParameterRow(
            self._theme,
            tr("Read links in my message"),
            self.links,
            note=tr("Up to {most} pages. Each costs extra. Replaces web search.", most=MAX_LINKS_READ),
        )
        self._social_row = ParameterRow(
            self._theme,
            tr("Web and social posts"),
            self.social,
            note=tr("The model’s own search, run by a third party. Each result costs extra."),
        )
        rows = (self._web_row, self._citations_row, self._links_row, self._social_row)
        for row in (*rows, self.more.in_stream_row, self.more.documents_row):
            section.add(row)
        self._column.addWidget(section)

    def _build_reasoning(self) -> None:
        section = Section(self._theme, tr("Reasoning"))
        self.thinking = self._switch("thinking", tr("Reasoning"))
        self.tags = self._switch("remove_think_tags", tr("Remove think tags"))
        self._thinking_row = ParameterRow(self._theme, tr("Reasoning"), self.thinking)
        self._tags_row = ParameterRow(self._theme, tr("Remove think tags"), self.tags)
        section.add(self._thinking_row)
        section.add(self.more.effort_row)
        section.add(self._tags_row)
        self._column.addWidget(section)

    def _build_sampling(self) -> None:
        theme = self._theme
        section = Section(theme, tr("Sampling"))
        self.temperature = SliderField(
            theme,
            tr("Temperature"),
            low=0,
            high=MAX_TEMPERATURE,
            step=0.05,
            decimals=2,
            default=UNKNOWN_TEMPERATURE,
        )
        self.top_p = SliderField(theme, tr("Top-p"), low=0, high=1, step=0.05, decimals=2, default=UNKNOWN_TOP_P)
        self.reply_limit = NumberField(theme, tr("Reply limit in tokens"), low=0, high=MOST_REPLY_TOKENS, step=256)
        self.reply_limit.setSpecialValueText(tr("none"))
        self.temperature.value_edited.connect(lambda value: self._sampled("temperature", value))
        self.top_p.value_edited.connect(lambda value: self._sampled("top_p", value))
        self.reply_limit.value_edited.connect(lambda value: self.option_changed.emit("reply_limit", int(value) or None))
        self._temperature_row = ParameterRow(theme, tr("Temperature"), self.temperature, wide=True)
        self._top_p_row = ParameterRow(theme, tr("Top-p"), self.top_p, wide=True)
        self._reply_row = ParameterRow(theme, tr("Reply limit"), self.reply_limit, unit=tr("tokens"))
        for row in (self._temperature_row, self._top_p_row, self._reply_row, self.more.seed_row):
            section.add(row)
        for widget in (self.more.stop_label, self.more.stop, self.more.stop_note):
            section.add(widget)
        self._column.addWidget(section)
        self._defaults: dict[str, float] = {}

    def _build_structure(self) -> None:
        section = Section(self._theme, tr("JSON output and functions"))
        self.structure = LinkButton(self._theme, tr("Edit…"))
        self.structure.setAccessibleName(tr("Edit JSON output and functions"))
        self.structure.clicked.connect(self.structure_requested)
        self.structure_row = ParameterRow(self._theme, "", self.structure)
        section.add(self.structure_row)
        self._column.addWidget(section)

    def _build_cache(self) -> None:
        section = Section(self._theme, tr("Prompt cache key"))
        self._cached = Badge(self._theme, "", "ok")
        section.top.addWidget(self._cached)
        self.cache_key = QLineEdit()
        self.cache_key.setReadOnly(True)
        self.cache_key.setProperty("mono", True)
        self.cache_key.setProperty("sizing", "small")
        self.cache_key.setAccessibleName(tr("Prompt cache key"))
        self.cache_key.setPlaceholderText(tr("Created with the first message"))
        note = tr("Stays the same for the whole chat, so repeated tokens cost less.")
        self.cache_key.setToolTip(plain_tip(note))
        self.cache_key.setAccessibleDescription(note)
        section.add(self.cache_key)
        section.add(self.more.cache_row)
        section.add(self.more.keep_row)
        self._column.addWidget(section)
        self._column.addWidget(self.more.extra_section)

    def _switch(self, option: str, name: str) -> Switch:
        switch = Switch(self._theme, name)
        switch.clicked.connect(lambda on: self.option_changed.emit(option, on))
        return switch

    def _apply_theme(self) -> None:
        self.prompt.setFont(self._theme.font("small"))
        self.prompt.setFixedHeight(4 * self._theme.line_px("small") + self._theme.px(4))
        self.cache_key.setFont(self._theme.font("small", mono=True))
        self._library.setSpacing(self._theme.px(16))

    # Showing

    def show_head(self, head: ChatHead) -> None:
        """Make every control agree with the open chat."""
        options, controls = head.options, head.controls
        self._show_prompt(head)
        self.service_prompt.setChecked(options.service_prompt)
        self.web.set_current(options.web_search)
        self.citations.setChecked(options.citations and controls.citations.usable)
        self.links.setChecked(options.read_links)
        self.social.setChecked(options.social_posts and controls.social_posts.usable)
        self.thinking.setChecked(options.thinking and controls.thinking.usable)
        self.tags.setChecked(options.remove_think_tags and controls.remove_think_tags.usable)
        self._web_row.show_control(controls.web_search)
        self._citations_row.show_control(controls.citations)
        self._links_row.show_control(controls.read_links)
        self._social_row.show_control(controls.social_posts)
        self._thinking_row.show_control(controls.thinking)
        self._tags_row.show_control(controls.remove_think_tags)
        self._show_sampling(head)
        self.structure_row.label.set_text(head.structure or tr("Off"))
        self.structure_row.show_control(controls.structure)
        self._service_row.show_control(controls.service_prompt)
        self.more.show_head(head)
        self.cache_key.setText(head.cache_key)
        self.cache_key.setCursorPosition(0)
        self._cached.setVisible(head.cached_tokens > 0)
        self._cached.set_badge(
            tr("{cached_tokens} cached", cached_tokens=number_format.count(head.cached_tokens)), "ok"
        )

    def _show_prompt(self, head: ChatHead) -> None:
        """Words that are being typed stay, unless another chat is shown."""
        self._prompt_tokens.set_text(
            tr_n("about {n} token", "about {n} tokens", head.prompt_tokens) if head.prompt_tokens else ""
        )
        self._instructing.setVisible(bool(head.instructing))
        self._instructing.set_text(
            tr("The instructions of “{project}” are sent before this.", project=head.instructing)
            if head.instructing
            else ""
        )
        chat = (head.chat_id,)
        is_other_chat = self._chat is not None and self._chat != chat and self._chat != (None,)
        self._chat = chat
        wanted = head.options.system_prompt
        if self.prompt.toPlainText() == wanted or (self._typing.isActive() and not is_other_chat):
            return
        self._typing.stop()
        self.prompt.set_text(wanted)

    def _show_sampling(self, head: ChatHead) -> None:
        options = head.options
        for name, field, row, own, fallback in (
            ("temperature", self.temperature, self._temperature_row, head.default_temperature, UNKNOWN_TEMPERATURE),
            ("top_p", self.top_p, self._top_p_row, head.default_top_p, UNKNOWN_TOP_P),
        ):
            chosen = getattr(options, name)
            default = own if own is not None else fallback
            self._defaults[name] = default
            field.set_default(default)
            field.set_value(chosen if chosen is not None else default)
            unknown = chosen is None and own is None
            row.set_note(tr("Model default until you move it.") if unknown else "")
        self.reply_limit.set_value(options.reply_limit or 0)
        most = head.max_reply_tokens
        note = (
            tr("In tokens. The model’s limit is {most}.", most=number_format.count(most)) if most else tr("In tokens.")
        )
        self.reply_limit.setToolTip(plain_tip(note))
        self.reply_limit.setAccessibleDescription(note)

    # What the person did

    def flush(self) -> None:
        """Take what was typed a moment ago; called before a message is sent."""
        self.more.flush()
        if self._typing.isActive():
            self._typing.stop()
            self._prompt_typed()

    def _prompt_typed(self) -> None:
        self.option_changed.emit("system_prompt", self.prompt.toPlainText())

    def _sampled(self, name: str, value: float) -> None:
        """A double click goes back to the model's own value, which is then not sent at all."""
        is_own = abs(value - self._defaults.get(name, -1.0)) < 1e-9
        self.option_changed.emit(name, None if is_own else round(value, 4))
