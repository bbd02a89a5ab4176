"""The right pane: the video itself, where it is, what is known of it, and what can be done with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.core.shown_call import ShownCall, shown_call
from app.service.exchange import RequestRecord
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.call_pane import CallPane
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button, IconButton, PrimaryButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.empty_state import EmptyState
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.flow import FlowLayout
from app.ui.kit.widgets.header import PaneTabs
from app.ui.kit.widgets.icon_label import IconLabel
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.receipt_line import ReceiptLine
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.spinner import Progress
from app.ui.kit.widgets.surfaces import rule, zone
from app.ui.video.posters import MAX_SIDE, Posters
from app.ui.video.state import Detail
from app.ui.video.video_player import VideoPlayer

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme

PREVIEW, REQUEST = range(2)
POSTER = QSize(MAX_SIDE, MAX_SIDE) / 2
SAID_AT = (0.0, 0.5)  # shares of a video at which its progress is said: when one is first known, and half way
FACTS = (
    tr("Prompt"),
    tr("Negative prompt"),
    tr("Model"),
    tr("Video"),
    tr("Cost"),
    tr("Time"),
    tr("Consent"),
    tr("Created"),
    tr("Queue ID"),
    tr("Request ID"),
)
MONO = frozenset({tr("Queue ID"), tr("Request ID")})  # their signs are told apart one by one


class Inspector(QWidget):
    """`action` tells what is to be done with the job that is shown: an id of `Detail.actions`, or of a problem."""

    action = Signal(str)
    copied = Signal(str)

    def __init__(self, theme: Theme, posters: Posters, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__(parent)
        zone(self, "pane")
        self._theme = theme
        self._posters = posters
        self._detail = Detail()
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Make the player and what stands around it, some at each step."""
        theme = self._theme
        self.tabs = PaneTabs(theme, tr("Inspector"), (tr("Preview"), tr("Request")))
        self.more = IconButton(theme, "more", tr("More for this video"))
        self.tabs.add(self.more)
        self.pages = QStackedWidget()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.tabs)
        layout.addWidget(self.pages, 1)
        yield
        yield from self._preview()
        yield
        self.request = CallPane(theme, tr("Select a job to see its request."))
        self.pages.addWidget(self.request)
        yield
        self.tabs.bar.currentChanged.connect(self.pages.setCurrentIndex)
        self.pages.currentChanged.connect(self._show_request)
        self._posters.made.connect(self._show_poster)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        self.show_detail(self._detail)

    def _preview(self) -> BuildSteps[None]:
        theme = self._theme
        scroll = ScrollPane(tr("Preview"))
        self._column = scroll.fill(theme, "pane", (16, 14, 16, 16), 14)
        self.pages.addWidget(scroll)
        yield
        self.player = VideoPlayer(theme)
        yield
        self.nothing = EmptyState(theme, tr("No video selected"), tr("Select a job to see it here."), icon_name="video")
        self.title = Label(theme, "", "heading", weight=600, wrap=True)
        self.progress_words = Label(theme, "", role="text2", wrap=True, tabular=True)
        self.progress = Progress(theme, tr("Video progress"))
        self.problem = ErrorCard(theme)
        self.to_come = EmptyState(
            theme,
            tr("The preview appears here"),
            tr("You can quit Rialto. It picks up the job next time."),
            icon_name="video",
        )
        yield
        for widget in (self.nothing, self.title, self.player, self.progress_words, self.progress, self.problem):
            self._column.addWidget(widget)
        self._column.addWidget(self.to_come)
        yield
        self._column.addWidget(self._buttons())
        yield
        self._column.addWidget(self._places())
        yield
        self._facts = QGridLayout()
        self._facts.setColumnStretch(1, 1)
        self._fact_labels = {name: self._fact(row, name) for row, name in enumerate(FACTS)}
        self._column.addLayout(self._facts)
        yield
        self.receipt = ReceiptLine(theme)
        self.receipt.activated.connect(lambda: self.show_page(REQUEST))
        self._column.addWidget(self.receipt)
        self._column.addStretch(1)

    def _fact(self, row: int, name: str) -> tuple[Label, Label]:
        style = "code" if name in MONO else "body"
        title = Label(self._theme, name, role="text2")
        words = Label(self._theme, "", style, mono=name in MONO, wrap=True, tabular=True)
        words.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._facts.addWidget(title, row, 0, Qt.AlignmentFlag.AlignTop)
        self._facts.addWidget(words, row, 1)
        return title, words

    def _buttons(self) -> QWidget:
        theme = self._theme
        box = QWidget()
        flow = FlowLayout(theme, gap=8, line_gap=8, parent=box)
        self.buttons: dict[str, Button] = {
            "folder": PrimaryButton(theme, tr("Show in folder"), "folder"),
            "save": Button(theme, tr("Save as…"), "download"),
            "use": Button(theme, tr("Reuse settings"), "replay"),
            "cancel": Button(theme, tr("Cancel"), "close"),
            "up": Button(theme, tr("Send sooner"), "arrow-down"),
            "down": Button(theme, tr("Send later"), "arrow-up"),
            "restore": Button(theme, tr("Restore"), "undo"),
        }
        self.buttons["up"].setToolTip(tr("Sent before the prompt below"))
        self.buttons["down"].setToolTip(tr("Sent after the prompt above"))
        for name, button in self.buttons.items():
            flow.addWidget(button)
            button.clicked.connect(lambda _=False, name=name: self.action.emit(name))
        return box

    def _places(self) -> QWidget:
        """Where the video is: here, and perhaps at the service."""
        theme = self._theme
        self.places = Card(theme, padding=(14, 12), spacing=10)
        self.saved = Label(theme, "", weight=500, wrap=True)
        self.saved_where = Label(theme, "", "small", "text2", wrap=True)
        self.remote = Label(theme, "", weight=500, wrap=True)
        self.remote_why = Label(theme, "", "small", "text2", wrap=True)
        self.remote_icon = IconLabel(theme, "globe", "warn")
        self.delete = Button(theme, tr("Delete copy"), size="small")
        self.delete.setAccessibleName(tr("Delete the service’s copy"))
        self.delete.clicked.connect(lambda: self.action.emit("clean"))
        for icon, title, words, button in (
            (IconLabel(theme, "check-circle", "ok"), self.saved, self.saved_where, None),
            (self.remote_icon, self.remote, self.remote_why, self.delete),
        ):
            row = QHBoxLayout()
            row.setSpacing(theme.px(12))
            row.addWidget(icon, 0, Qt.AlignmentFlag.AlignVCenter)
            column = QVBoxLayout()
            column.setSpacing(2)
            column.addWidget(title)
            column.addWidget(words)
            row.addLayout(column, 1)
            if button is not None:
                row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
            if button is not None:
                self.places.body.addWidget(rule())
            self.places.body.addLayout(row)
        self.problem.action.connect(self.action)
        return self.places

    def _apply_theme(self) -> None:
        px = self._theme.px
        self._facts.setHorizontalSpacing(px(16))
        self._facts.setVerticalSpacing(px(10))
        self._facts.setColumnMinimumWidth(0, px(72))

    # Showing

    def show_page(self, page: int) -> None:
        self.tabs.bar.setCurrentIndex(page)

    def show_detail(self, detail: Detail) -> None:
        """Show one job, or that none is chosen."""
        before, self._detail = self._detail, detail
        if detail == before and detail.id:
            return
        self._show_progress(detail, before)
        if replace(detail, progress=before.progress, share=before.share) == before and detail.id:
            return  # once a second, while it is made
        there = bool(detail.id)
        self.nothing.setVisible(not there)
        self.more.setEnabled(there)
        self.title.setVisible(there)
        self.title.set_text(detail.title)
        self.player.setVisible(bool(detail.film))
        self.player.show_video(detail.film, *detail.video_size, detail.length_s)
        self._show_poster(detail.film)
        self.problem.setVisible(detail.problem is not None)
        if detail.problem is not None and detail.problem != self.problem.problem:
            self.problem.set_problem(detail.problem)
        self.to_come.setVisible(bool(detail.progress) and detail.state != "waiting")
        for name, button in self.buttons.items():
            button.setVisible(name in detail.actions and not (name == "cancel" and detail.problem is not None))
        self.places.setVisible(bool(detail.film))
        self.saved.set_text(detail.saved[0])
        self.saved_where.set_text(detail.saved[1])
        self.remote.set_text(detail.remote_words[0])
        self.remote_why.set_text(detail.remote_words[1])
        self.remote_icon.set_icon(
            "globe" if detail.remote == "kept" else "check-circle", "warn" if detail.remote == "kept" else "ok"
        )
        self.delete.setVisible("clean" in detail.actions)
        self._show_facts(detail.facts)
        self.receipt.setVisible(bool(detail.receipt))
        self.receipt.set_runs(detail.receipt)
        self._show_request()

    def _show_request(self) -> None:
        if self.pages.currentIndex() == REQUEST:
            self.request.show_call(_call_of(self._detail))

    def _show_poster(self, film: str) -> None:
        image = self._posters.get(film, POSTER) if film and film == self._detail.film else None
        if image is not None:
            self.player.show_poster(image)

    def _show_progress(self, detail: Detail, before: Detail) -> None:
        self.progress_words.setVisible(bool(detail.progress))
        self.progress_words.set_text(detail.progress)
        self.progress.setVisible(detail.share is not None)
        if detail.share is not None:
            self.progress.set_share(detail.share if detail.share >= 0 else None)
        was, share = (-1.0 if each.share is None else each.share for each in (before, detail))
        if detail.id == before.id and any(was < mark <= share for mark in SAID_AT):
            announce(self.progress_words, detail.progress)

    def _show_facts(self, facts: tuple[tuple[str, str], ...]) -> None:
        for name, value in facts:
            words = self._fact_labels[name][1]
            words.set_text(value)
            words.setAccessibleName(f"{name}: {value}")
        told = {name for name, _ in facts}
        for name, labels in self._fact_labels.items():
            for label in labels:
                label.setVisible(name in told)

    def copy_facts(self) -> None:
        """What is known of the job, one line for each fact."""
        lines = [f"{name}: {value}" for name, value in self._detail.facts]
        QGuiApplication.clipboard().setText("\n".join(lines))
        self.copied.emit(tr("Details copied"))


def _call_of(detail: Detail) -> ShownCall | None:
    """The call that queued a job; of an earlier run of the program its response's headers are no longer known."""
    if not detail.id:
        return None
    if detail.exchange is not None:
        return shown_call(detail.exchange)
    return ShownCall(RequestRecord("POST", "/video/queue", "", body=dict(detail.body)))
