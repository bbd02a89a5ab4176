"""The video tab: its panes, and the wires between widgets and presenter. Decides nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeyEvent, QTextCursor, QWindow
from PySide6.QtWidgets import QApplication, QWidget

from app.core.tabs import TABS
from app.translation import tr, tr_n
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.file_dialogs import ask_to_save, show_in_folder
from app.ui.kit.forms.other_model_dialog import ask_other_model
from app.ui.kit.leaving_strip import LeavingWatch
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.tab import PaletteItem, TabAction, Zones
from app.ui.kit.ticker import SECOND_MS, Ticker
from app.ui.kit.widgets.dialogs import confirm
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.scene_prompts import ScenePrompts
from app.ui.video.form_pane import FormPane
from app.ui.video.inspector import PREVIEW, REQUEST, Inspector
from app.ui.video.jobs_pane import JobsPane
from app.ui.video.page_actions import video_actions, video_palette_items
from app.ui.video.state import Detail, Jobs
from app.ui.video.video_player import VideoWindow

if TYPE_CHECKING:
    from app.core.current_account import RateLimitRemaining
    from app.core.tasks import TaskScope
    from app.ui.kit.theme import Theme
    from app.ui.video.presenter import VideoPresenter

INFO = TABS["video"]
MENU = (
    ("use", tr("Reuse settings"), "replay", "Ctrl+Shift+D"),
    ("again", tr("Generate again…"), "retry", "Ctrl+R"),
    ("save", tr("Save as…"), "download", "Ctrl+S"),
    ("folder", tr("Show in folder"), "folder", ""),
    ("fetch", tr("Download again"), "download", ""),
    ("consent", tr("Review…"), "shield", ""),
    ("send", tr("Queue anyway"), "video", ""),
    ("clean", tr("Delete the service’s copy…"), "globe", "Ctrl+Shift+Del"),
    ("cancel", tr("Cancel"), "close", ""),
    ("up", tr("Send sooner"), "arrow-down", "Alt+Shift+Down"),
    ("down", tr("Send later"), "arrow-up", "Alt+Shift+Up"),
    ("copy", tr("Copy details"), "copy", ""),
    ("restore", tr("Restore"), "undo", ""),
    ("delete", tr("Delete permanently…"), "trash", ""),
)


class VideoPage(QObject):
    """A `TabPage`. Other features are reached by signals, which the composition root connects."""

    changed = Signal()
    help_requested = Signal(str)  # an action id that another part of the window carries out
    toast_requested = Signal(object)  # a sentence; `SavedFile` for a file that was written

    name, title, icon = INFO.name, INFO.title, INFO.icon

    def __init__(self, theme: Theme, presenter: VideoPresenter, tasks: TaskScope, *, whole: bool = True) -> None:
        """`whole`: without it, `build` is still to be run."""
        super().__init__()
        self._theme = theme
        self._tasks = tasks
        self.presenter = presenter
        self.detail = Detail()
        self._jobs = Jobs()
        self.zones = Zones()
        self._window: QWindow | None = None
        self._large: VideoWindow | None = None
        self.toggle_list: Callable[[], None] = _nothing
        self.toggle_inspector: Callable[[], None] = _nothing
        self.form = FormPane(theme, whole=False)
        self.main = JobsPane(theme, whole=False)
        self.side = Inspector(theme, self.main.posters, whole=False)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Fill the panes and wire them, a piece at each step."""
        theme, presenter = self._theme, self.presenter
        yield from self.form.build()
        yield
        yield from self.main.build()
        yield
        yield from self.side.build()
        yield
        self.prompts = ScenePrompts(theme, self.form, self._tasks, presenter.prompts, self.form.prompt.toPlainText)
        self._connect_presenter()
        self._connect_form()
        self._connect_jobs()
        self._connect_side()
        yield
        self.form.fill(presenter.form.view())
        self._show_jobs(presenter.jobs())
        self._show_detail(presenter.detail())

    # Wires

    def _connect_presenter(self) -> None:
        presenter = self.presenter
        presenter.form.replaced.connect(self.form.fill)
        presenter.form.changed.connect(self.form.show_view)
        presenter.jobs_changed.connect(self._show_jobs)
        presenter.row_changed.connect(self.main.show_row)
        presenter.detail_changed.connect(self._show_detail)
        presenter.busy_changed.connect(self.changed)
        presenter.notice.connect(self.toast_requested)
        presenter.job_notice.connect(lambda *_about: self._point_at_job())
        second = Ticker(self.main, self._renew, SECOND_MS, lambda: bool(presenter.open_jobs()))
        presenter.busy_changed.connect(second.look)
        Ticker(self.main, presenter.refresh_times)

    def _connect_form(self) -> None:
        form, video_form = self.form, self.presenter.form
        form.edited.connect(lambda name, value: video_form.set(**{name: value}))
        form.clear_requested.connect(video_form.clear)
        form.queue_requested.connect(self.queue)
        form.prompts_requested.connect(self.open_prompts)
        LeavingWatch(
            form.leaving,
            "video",
            self.presenter.current_account,
            lambda: self.presenter.form.form.model,
            lambda model_id: self.presenter.form.model(model_id) is not None,
            self.presenter.form.changed,
            self.presenter.form.replaced,
            self.presenter.jobs_changed,
        )
        form.leaving.choose_requested.connect(self.choose_model)
        self.prompts.used.connect(self._set_prompt)
        self.prompts.notice.connect(self.toast_requested)

    def _connect_jobs(self) -> None:
        main, presenter = self.main, self.presenter
        main.selected.connect(presenter.select)
        main.filter_chosen.connect(presenter.show)
        main.search_requested.connect(presenter.find)
        main.trash_requested.connect(self.presenter.job_actions.move_to_trash)
        main.menu_requested.connect(self._open_menu)
        main.folder_requested.connect(lambda: _open_folder(presenter.job_store.folder))
        self.form.model.other_requested.connect(
            lambda: self._tasks.start_unless_running("video other model", self._ask_other_model)
        )
        main.empty_requested.connect(lambda: self._tasks.start_unless_running("video empty", self._ask_empty))
        main.example_requested.connect(self._set_prompt)
        main.list_requested.connect(lambda: self.toggle_list())
        main.inspector_requested.connect(lambda: self.toggle_inspector())
        main.player_key.connect(self._give_key)

    def _connect_side(self) -> None:
        side = self.side
        side.action.connect(self.act)
        side.copied.connect(self.toast_requested.emit)
        side.request.copied.connect(self.toast_requested.emit)
        side.player.problem.connect(self.toast_requested.emit)
        side.more.clicked.connect(
            lambda: self._open_menu(self.detail.id, side.more.mapToGlobal(side.more.rect().bottomLeft()))
        )

    # What the presenter tells

    def _show_jobs(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.main.show_jobs(jobs)

    def _renew(self) -> None:
        self.presenter.renew(self.main.visible_jobs())

    def _give_key(self, event: QKeyEvent) -> None:
        event.setAccepted(self.side.player.handle_key(event))

    def _show_detail(self, detail: Detail) -> None:
        self.detail = detail
        self.side.show_detail(detail)

    def _point_at_job(self) -> None:
        """Ask the system to point at the window; a notice says what it is about."""
        QApplication.alert(self.main.window())

    # What the person does

    async def _ask_other_model(self) -> None:
        form = self.presenter.form
        other = await ask_other_model(self._theme, self.main, form.look_up_model)
        if other is not None:
            await form.use_other_model(other)

    def queue(self) -> None:
        """Order what is filled in, for the price on the button; a second press within a moment orders nothing."""
        self.form.more.extra.flush()
        if not self.form.queue.isEnabled():
            view = self.presenter.form.view()
            if view.refusal:
                self.toast_requested.emit(view.refusal.sentence)
            return
        self.presenter.queue()

    def act(self, action: str, job_id: str = "") -> None:
        """Carry out an action on a job, the one that is shown when none is named."""
        job_id = job_id or self.detail.id
        action = {"video-use": "use", "video-again": "again", "video-send": "send", "video-fetch": "fetch"}.get(
            action, action.removeprefix("video-")
        )
        if action in ("use", "proposal"):
            self.presenter.use_again(job_id, as_proposed=action == "proposal")
            self._open_form()
        elif action == "consent":
            self._tasks.start_unless_running("video ask consent", self._ask_consent, job_id)
        elif action in ("again", "clean", "delete"):
            self._tasks.start_unless_running(f"video ask {action}", self._ask, action, job_id)
        elif action == "save":
            self.save_copy()
        elif action == "folder":
            show_in_folder(Path(self.detail.film))
        elif action == "copy":
            self.side.copy_facts()
        elif action in ("send", "fetch", "cancel", "up", "down", "trash", "restore"):
            self.presenter.do(action, job_id)
        else:
            self.help_requested.emit(action)

    async def _ask(self, action: str, job_id: str) -> None:
        """Ask before what costs money or cannot be taken back."""
        title, text, words, danger = {
            "again": (
                tr("Generate again?"),
                tr(
                    "It is queued as a new job at today’s price. The button on the left shows the price before it is "
                    "sent."
                ),
                tr("Generate again"),
                False,
            ),
            "clean": (
                tr("Delete the service’s copy?"),
                tr("The checked file on this computer is not deleted. Deleting the service’s copy cannot be undone."),
                tr("Delete copy"),
                True,
            ),
            "delete": (
                tr("Delete this video permanently?"),
                tr("The file on this computer is deleted. This cannot be undone."),
                tr("Delete permanently"),
                True,
            ),
        }[action]
        if not await confirm(self._theme, self.main, title, text, action=words, danger=danger):
            return
        if action == "again":
            self.presenter.again(job_id)
        else:
            if action == "delete":
                self._close_large()
            self.presenter.do(action, job_id)

    async def _ask_consent(self, job_id: str) -> None:
        from app.ui.video.consent_dialog import ConsentDialog  # few ever see it

        self.presenter.select(job_id)
        consent = self.detail.consent
        if consent is not None:
            dialog = ConsentDialog(self._theme, self.main, self._tasks, consent, self.detail.price)
            if await dialog.answer():
                self.presenter.do("agree", job_id)

    def open_trash(self) -> None:
        """Show the videos in the trash."""
        self.presenter.show("trash")

    async def _ask_empty(self) -> None:
        text = tr("All videos in the trash and their files are deleted. This cannot be undone.")
        if await confirm(
            self._theme, self.main, tr("Empty trash?"), text, action=tr("Delete permanently"), danger=True
        ):
            self._close_large()
            self.presenter.empty_trash()

    def _open_menu(self, job_id: str, at: QPoint) -> Menu | None:
        chosen = tuple(str(key) for key in self.main.view.selected_with(job_id))
        self.presenter.select(job_id)
        if not self.detail.id:
            return None
        menu = Menu(self._theme, self.main)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action, words, icon, key in MENU if len(chosen) == 1 else ():
            if action in self.detail.actions:
                entry = menu.add(words, icon, shortcut=key, role="bad" if action == "delete" else "text2")
                entry.triggered.connect(lambda _=False, action=action: self.act(action, job_id))
        if len(chosen) > 1 and "restore" in self.detail.actions:
            restore = menu.add(tr_n("Restore {n} video", "Restore {n} videos", len(chosen)), "undo")

            def restore_all() -> None:
                for each in chosen:
                    self.presenter.do("restore", each)

            restore.triggered.connect(restore_all)
        if "trash" in self.detail.actions:
            trash = menu.add_trash(tr_n("Move to trash", "Move {n} videos to trash", len(chosen)))
            trash.triggered.connect(lambda: self.presenter.job_actions.move_to_trash(chosen))
        menu.popup(at)
        return menu

    def open_job(self, job_id: str) -> None:
        self.presenter.show("all")
        self.presenter.select(job_id)
        self.side.show_page(PREVIEW)
        if not self.zones.inspector_open:
            self.toggle_inspector()
        self.main.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def step(self, by: int) -> None:
        job_id = self.main.neighbor(by)
        if job_id:
            self.presenter.select(job_id)

    def new_video(self) -> None:
        """Ctrl+N: an empty prompt, with the shape of the last one."""
        self.presenter.form.clear()
        self._open_form()

    def open_prompts(self) -> None:
        """The library of prompts, under its button."""
        self._open_form()
        self.prompts.open_under(self.form.prompts)

    def _set_prompt(self, prompt: str) -> None:
        form = self.presenter.form
        form.use(replace(form.form, prompt=prompt), tr("Prompt replaced"))
        self.form.prompt.moveCursor(QTextCursor.MoveOperation.End)
        self._open_form()

    def _open_form(self) -> None:
        if not self.zones.list_open:
            self.toggle_list()
        self.form.prompt.setFocus(Qt.FocusReason.OtherFocusReason)

    def choose_model(self) -> None:
        self._open_form()
        self.form.model.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.form.model.showPopup()

    def save_copy(self) -> None:
        """Ask where the copy goes."""
        if self.detail.film:
            save = partial(self.presenter.save_copy, video := Path(self.detail.film))
            ask_to_save(self.main, tr("Save video"), video.name, save)

    def copy_video(self) -> None:
        """Put the file on the clipboard, to be pasted into a folder or another program."""
        if self.detail.film:
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(self.detail.film)])
            QGuiApplication.clipboard().setMimeData(data)
            self.toast_requested.emit(tr("Video copied"))

    def expand(self) -> None:
        """Play the video in a window of its own."""
        if self.detail.film:
            self.side.player.stop()
            self._large = VideoWindow(self._theme, self.detail.title, self.detail.film, self.detail.video_size)
            self._large.show()

    def _close_large(self) -> None:
        """Let go of a video that may be about to be deleted."""
        large, self._large = self._large, None
        if large is not None and alive(large):
            large.close()

    def open_request(self) -> None:
        self.side.show_page(REQUEST)
        if not self.zones.inspector_open:
            self.toggle_inspector()

    def silence(self) -> bool:
        """Let nothing of ours be heard; False when nothing was."""
        return self.side.player.stop()

    # TabPage

    def list_pane(self) -> QWidget:
        return self.form

    def canvas(self) -> QWidget:
        return self.main

    def inspector(self) -> QWidget:
        return self.side

    def main_input(self) -> QWidget:
        return self.form.prompt

    def filter_field(self) -> QWidget:
        self.main.show_search(True)
        return self.main.search

    def actions(self) -> Sequence[TabAction]:
        return video_actions(self)

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return video_palette_items(self, self._jobs.rows, text, limit)

    def status_headroom(self) -> RateLimitRemaining | None:
        return self.presenter.headroom()

    def running_work(self) -> Sequence[str]:
        """Only jobs that the disk refused: the service goes on with all others, and Rialto does at its next start."""
        return tuple(tr("Saving “{title}”", title=title) for title in self.presenter.unsaved_titles())

    def badge(self) -> int:
        return len(self.presenter.open_jobs())

    def retry_refused(self) -> Callable[[], object] | None:
        job_id = self.detail.id
        return lambda: self.presenter.do("send", job_id)

    def handle_escape(self) -> bool:
        if self.side.player.stop():
            return True
        if self.main.search_button.isChecked():
            self.main.show_search(False)
            return True
        return False

    def set_zones(self, zones: Zones) -> None:
        self.zones = zones
        self.main.list_button.setVisible(not zones.list_beside)
        self.main.inspector_button.setChecked(zones.inspector_open)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        self.toggle_list = toggle_list
        self.toggle_inspector = toggle_inspector

    def activated(self) -> None:
        """The tab has come to the front: the window tells when it is hidden."""
        window = self.main.window().windowHandle()
        if window is not None and window is not self._window:
            self._window = window
            window.visibilityChanged.connect(self._record_visibility)

    def _record_visibility(self, visibility: QWindow.Visibility) -> None:
        hidden = visibility in (QWindow.Visibility.Hidden, QWindow.Visibility.Minimized)
        self.presenter.set_window_hidden(hidden)


def _open_folder(folder: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def _nothing() -> None:
    """Stands in until the window connects its panes."""
