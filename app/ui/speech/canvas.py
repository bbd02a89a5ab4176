"""The middle of the tab: title, text, meter, player and receipts; an audition in their place for a while."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from app.core import time_format
from app.core.problems import ActionSpec, Problem
from app.formats import format_number
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.leaving_strip import LeavingStrip
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.sound.player_bar import PlayerBar
from app.ui.kit.tab import Zones
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.banner import Banner, BannerSpec
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.receipt_line import ReceiptLine, runs_text
from app.ui.kit.widgets.surfaces import STAY_ABOVE, retain_size_when_hidden, rule, zone
from app.ui.speech.audition_view import AuditionView
from app.ui.speech.editor import SpeechEditor
from app.ui.speech.long_paragraphs import LONGEST
from app.ui.speech.speak_bar import SpeakBar
from app.ui.speech.state import PlayerView, SpeechHead

ROOM_FOR_BOTH = 420  # px at 100 % of height for a problem and the player
ROOM_FOR_WORDS = 640  # px at 100 % for the player's row with the words of its buttons
LONG_NOTE = BannerSpec(
    "info",
    tr("One paragraph has more than {longest} characters.", longest=format_number(LONGEST)),
    tr("It is spoken unchanged. To edit it, break it into shorter paragraphs."),
    "info",
    (ActionSpec("break", tr("Break at sentence ends")),),
)


class SpeechCanvas(QWidget):
    renamed = Signal(str)
    list_requested = Signal()
    inspector_requested = Signal()
    problem_action = Signal(str)
    continue_requested = Signal()

    def __init__(self, theme: Theme, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._named: tuple[tuple[Button, str], ...] = ()
        self._was_speaking = False
        zone(self, "canvas")
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the header, the editor, the bars below it and the audition, one at each step."""
        theme = self._theme
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._make_header()
        column.addWidget(self.header)
        yield
        self.pages = QStackedWidget()
        column.addWidget(self.pages, 1)
        self._make_work()
        yield
        self.speak_bar = SpeakBar(theme)
        self._work.addWidget(self.speak_bar)
        yield
        self._make_below()
        column.addWidget(rule())
        column.addWidget(self._below)
        yield
        self.audition_view = AuditionView(theme)
        self.pages.addWidget(self.audition_view)
        yield
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        yield

    def _make_header(self) -> None:
        theme = self._theme
        self.header = PaneHeader(theme, tr("New clip"), style="reading", weight=600)
        self.list_button = IconButton(theme, "panel-left", tr("Show the list"), shortcut="Ctrl+B")
        self.pencil = IconButton(theme, "pencil", tr("Rename"), shortcut="F2", size="small", icon_size=15)
        self.model = Button(theme, tr("Choose a model"), "sparkle", icon_role="accent", opens_menu=True)
        self.audition = IconButton(theme, "grid", tr("Compare voices"))
        self.open_file = IconButton(theme, "folder", tr("Open a text file"), shortcut="Ctrl+O")
        self.inspector_button = IconButton(
            theme, "panel-right", tr("Show the inspector"), shortcut="Ctrl+I", checkable=True
        )
        self._title_field = QLineEdit()
        self._title_field.setAccessibleName(tr("Title"))
        self._title_field.setMaxLength(80)
        self._title_field.hide()
        self.header.add_before_title(self.list_button)
        self.header.add_after_title(self.pencil)
        self.header.add_after_title(self._title_field)
        for button in (self.model, self.audition, self.open_file, self.inspector_button):
            self.header.add(button)

    def _make_work(self) -> None:
        """Make the editor and the place of a problem; the speak bar goes below them."""
        work = QWidget()
        self._work = QVBoxLayout(work)
        self._work.setContentsMargins(0, 0, 0, 0)
        self._work.setSpacing(0)
        self.pages.addWidget(work)
        self.editor = SpeechEditor(self._theme)
        self.problem = ErrorCard(self._theme)
        self.problem.hide()
        self.long_note = Banner(self._theme, LONG_NOTE)
        self.long_note.hide()
        self._work.addWidget(self.editor, 1)
        self.leaving = LeavingStrip(self._theme)
        self._work.addWidget(self.long_note)
        self._work.addWidget(self.leaving)
        self._problem_box = QVBoxLayout()
        self._problem_box.addWidget(self.problem)
        self._work.addLayout(self._problem_box)
        self._work.addWidget(rule())

    def _make_below(self) -> None:
        """Make the player, and the place of receipts."""
        theme = self._theme
        self.player = PlayerBar(theme)
        self.transcribe = Button(theme, tr("Transcribe"), "microphone", kind="quiet", size="small")
        self.go_on = Button(theme, tr("Get the rest"), "refresh", size="small")
        self.save = Button(theme, tr("Save as…"), "download", size="small")
        self.receipt = ReceiptLine(theme)
        self._shown_receipts: object = None
        self._named = (
            (self.go_on, tr("Get the rest")),
            (self.transcribe, tr("Transcribe")),
            (self.save, tr("Save as…")),
        )
        for button, words in self._named:
            button.setAccessibleName(words)
            (self.player.passing if button is self.go_on else self.player.extras).addWidget(button)
        self.go_on.hide()
        self._below = QWidget()
        zone(self._below, "pane")
        self._below.setObjectName(STAY_ABOVE)
        below = QVBoxLayout(self._below)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(self.player)
        self._receipt_box = QVBoxLayout()
        self._receipt_box.addWidget(self.receipt)
        below.addLayout(self._receipt_box)
        retain_size_when_hidden(self.receipt)
        self.receipt.hide()

    def _connect(self) -> None:
        self.list_button.clicked.connect(self.list_requested)
        self.inspector_button.clicked.connect(self.inspector_requested)
        self.pencil.clicked.connect(self.begin_rename)
        self._title_field.editingFinished.connect(self._end_rename)
        self.problem.action.connect(self.problem_action)
        self.go_on.clicked.connect(self.continue_requested)
        self.long_note.action.connect(lambda _action: self._break_lines())
        self.editor.long_changed.connect(self.long_note.setVisible)

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._name_buttons()
        self._problem_box.setContentsMargins(px(24), px(4), px(24), px(10))
        self._receipt_box.setContentsMargins(px(24), 0, px(24), px(8))
        self.receipt.setFixedHeight(self._theme.line_px("small"))  # what has no room is in its tooltip

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._named:  # all of it is built
            self._name_buttons()
            self._share_height()

    def _name_buttons(self) -> None:
        """Beside the player, buttons are signs alone where there is no room for their words."""
        has_room = self.width() >= self._theme.type_px(ROOM_FOR_WORDS)
        for button, words in self._named:
            button.setText(words if has_room else "")
        self.player.fit()
        if has_room and self.player.minimumSizeHint().width() > self.width():  # the words of some languages are long
            has_room = False
            for button, _ in self._named:
                button.setText("")
        for button, words in self._named:
            button.setToolTip("" if has_room else plain_tip(words))

    def _break_lines(self) -> None:
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self.editor.break_lines()

    # -- title ----------------------------------------------------------------------------------------------------

    def show_head(self, head: SpeechHead) -> None:
        self.header.set_title(head.title or tr("New clip"))
        self.pencil.setVisible(bool(head.row_id))

    def begin_rename(self) -> None:
        """Turn the title into a field."""
        self._title_field.setText(self.header.title.text())
        self.header.title.hide()
        self.pencil.hide()
        self._title_field.show()
        self._title_field.selectAll()
        self._title_field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _end_rename(self) -> None:
        if self._title_field.isHidden():
            return
        self._title_field.hide()
        self.header.title.show()
        self.pencil.show()
        text = self._title_field.text().strip()
        if text and text != self.header.title.text():
            self.renamed.emit(text)

    # -- what the presenter tells ---------------------------------------------------------------------------------

    def show_problem(self, problem: Problem | None) -> None:
        self.problem.setVisible(problem is not None)
        if problem is not None:
            self.problem.set_problem(problem)
        self._share_height()

    def _share_height(self) -> None:
        """With large text in a low window, what went wrong takes the room of the player."""
        is_low = self.height() < self._theme.type_px(ROOM_FOR_BOTH)
        self._below.setVisible(self.problem.isHidden() or not is_low)

    def show_player(self, view: PlayerView, *, is_speaking: bool) -> None:
        """Show the open clip. `is_speaking`: some clip is being asked for, from before this one is opened."""
        if self._was_speaking and not view.is_speaking and view.ready and self.isVisible():
            words = tr("Speech ready, {length}", length=time_format.duration(view.known_s))
            announce(self, f"{words}. {view.problem}" if view.problem else words)
        self._was_speaking = view.is_speaking
        player = self.player
        player.set_ready(view.ready)
        player.set_plays(view.plays)
        player.set_status(view.problem or view.status, busy=view.busy)
        player.set_speed(view.speed)
        player.set_volume(view.volume)
        self.save.setEnabled(view.can_save)
        self.transcribe.setEnabled(view.can_save and not view.is_speaking)
        rest = tr("Get the rest") if view.ready else tr("Try again")
        self.go_on.setAccessibleName(rest)
        self._named = ((self.go_on, rest), *self._named[1:])
        self.go_on.setVisible(view.missing_parts > 0 and not is_speaking and bool(view.clip_id))
        self._name_buttons()
        self._show_receipts(view)

    def _show_receipts(self, view: PlayerView) -> None:
        if view.receipts == self._shown_receipts:
            return
        self._shown_receipts = view.receipts
        self.receipt.setVisible(bool(view.receipts))
        if view.receipts:
            self.receipt.set_runs(view.receipts[0])
            self.receipt.setToolTip(plain_tip("\n".join(runs_text(runs) for runs in view.receipts)))

    def show_audition(self, on: bool) -> None:
        self.pages.setCurrentIndex(1 if on else 0)

    def set_zones(self, zones: Zones) -> None:
        self.list_button.setVisible(not zones.list_beside)
        self.inspector_button.setChecked(zones.inspector_open)
