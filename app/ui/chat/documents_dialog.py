"""The documents of a project: what is followed, how far the reading is, and what was left out and why."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.formats import format_number
from app.service.http.sanitize import sanitize_line
from app.translation import tr, tr_n
from app.ui.chat.embeddings_pane import EmbeddingsPane
from app.ui.kit.discard import discard
from app.ui.kit.file_dialogs import ask_for_files, ask_for_folder
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button, IconButton, LinkButton
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.chat.session.chat_documents import ChatDocuments
    from app.ui.kit.theme import Theme

WIDTH = 620
UNREAD_LINES = 6
MB = 1_000_000
LATER_MS = 200  # what comes within this is shown together


class DocumentsDialog(Dialog):
    """Shows a project's documents and changes them at once. Files and folders can be dropped on it."""

    def __init__(
        self, theme: Theme, parent: QWidget, documents: ChatDocuments, project_id: str, tasks: TaskScope
    ) -> None:
        super().__init__(theme, parent, tr("Project documents"), width=WIDTH)
        self._documents = documents
        self._project_id = project_id
        self._tasks = tasks
        self._rows: dict[str, QWidget] = {}
        self._has_read = False  # and its end was not said
        self.setAcceptDrops(True)
        note = tr(
            "Files are read on this computer only. A passage is sent only with the message you attach it to, unless"
            " you embed the passages below."
        )
        self.body.addWidget(Label(theme, note, "small", "text2", wrap=True))
        card = Card(theme, padding=(14, 10), spacing=4)
        self._list = QVBoxLayout()
        card.body.addLayout(self._list)
        self.empty = Label(theme, tr("No files or folders yet. Drop some here, or add them below."), "small", "text3")
        card.body.addWidget(self.empty)
        self.body.addWidget(card)
        buttons = QHBoxLayout()
        self.add_files = Button(theme, tr("Add files…"), "plus")
        self.add_files.clicked.connect(
            lambda: ask_for_files(self, tr("Add files to the documents"), partial(documents.add, project_id))
        )
        self.add_folder = Button(theme, tr("Add folder…"), "folder")
        self.add_folder.clicked.connect(
            lambda: ask_for_folder(
                self, tr("Add a folder to the documents"), lambda folder: documents.add(project_id, [folder])
            )
        )
        buttons.addWidget(self.add_files)
        buttons.addWidget(self.add_folder)
        buttons.addStretch(1)
        self.body.addLayout(buttons)
        line = QHBoxLayout()
        self.progress = Label(theme, "", "small", "text2", wrap=True)
        line.addWidget(self.progress, 1)
        self.pause = LinkButton(theme, tr("Pause reading"))
        self.pause.clicked.connect(lambda: documents.pause(project_id, not documents.is_paused(project_id)))
        line.addWidget(self.pause)
        self.body.addLayout(line)
        self.embeddings = EmbeddingsPane(theme, documents.embeddings, project_id, tasks)
        self.embeddings.grown.connect(self._fit)
        self.body.addWidget(self.embeddings)
        self.unread_title = Label(theme, "", weight=600)
        self.unread = TextArea()
        self.unread.setReadOnly(True)
        self.unread.setTabChangesFocus(True)
        self.unread.setAccessibleName(tr("Files not read or read in part"))
        self.unread.setFont(theme.font("small"))
        self.unread.setFixedHeight(UNREAD_LINES * theme.line_px("small") + theme.px(12))
        self.body.addWidget(self.unread_title)
        self.body.addWidget(self.unread)
        self.add_button(tr("Close"), kind="primary", accepts=True, default=True)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(LATER_MS)
        self._later.timeout.connect(lambda: self._tasks.replace("documents overview", self._show_overview))
        documents.changed.connect(self._changed)
        self._show_paths()
        self._show_unread(0, 0, [])
        self._changed(project_id)
        documents.follow(project_id)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self._documents.add(self._project_id, paths)

    def _changed(self, project_id: str) -> None:
        if project_id != self._project_id:
            return
        self._show_paths()
        paused = self._documents.is_paused(project_id)
        self.pause.setText(tr("Continue reading") if paused else tr("Pause reading"))
        self.pause.setVisible(bool(self._rows))
        progress = self._documents.progress(project_id)
        if progress.state == "reading":
            self._has_read = True
            self.progress.set_text(
                tr(
                    "Reading {done} of {of}: {name}",
                    done=format_number(progress.done + 1),
                    of=format_number(progress.of),
                    name=sanitize_line(Path(progress.path).name),
                )
            )
        elif progress.state == "looking":
            self.progress.set_text(tr("Looking for changes…"))
        elif progress.state == "failed":
            self.progress.set_text(
                tr("The files could not be read. Make sure the disk is not full, then restart Rialto.")
            )
        if not self._later.isActive():
            self._later.start()

    def _show_paths(self) -> None:
        paths = self._documents.paths(self._project_id)
        for path in [path for path in self._rows if path not in paths]:
            discard(self._rows.pop(path))
        for path in paths:
            if path not in self._rows:
                row = QWidget()
                line = QHBoxLayout(row)
                line.setContentsMargins(0, 0, 0, 0)
                line.addWidget(Label(self._theme, sanitize_line(path), elide=True), 1)
                away = IconButton(self._theme, "close", tr("Remove {name}", name=Path(path).name), size="small")
                away.clicked.connect(partial(self._remove, path))
                line.addWidget(away)
                self._rows[path] = row
                self._list.addWidget(row)
        self.empty.setVisible(not self._rows)

    def _remove(self, path: str, _checked: bool = False) -> None:
        self._documents.remove(self._project_id, path)

    async def _show_overview(self) -> None:
        found = await self._documents.overview(self._project_id)
        if not alive(self):  # closed meanwhile
            return
        unread = [f"{sanitize_line(name)}: {why}" for name, why in self._documents.unread(found)]
        if self._documents.progress(self._project_id).state in ("idle", "paused", "stopped") and self._rows:
            self.embeddings.refresh()
            read = tr_n("{n} file", "{n} files", found.files)
            passages = tr_n("{n} passage", "{n} passages", found.passages)
            size = f"{format_number(found.size_bytes / MB, 1)} MB"
            words = tr("{files} read, {passages}. The index takes {size}.", files=read, passages=passages, size=size)
            self.progress.set_text(tr("Paused. {words}", words=words) if self._is_paused() else words)
            if self._has_read:
                self._has_read = False
                announce(self.progress, self.progress.text())
        elif not self._rows:
            self.progress.set_text("")
        self._show_unread(found.left_out_count, found.noted_count, unread)

    def _is_paused(self) -> bool:
        return self._documents.is_paused(self._project_id)

    def _show_unread(self, left_out: int, noted: int, lines: list[str]) -> None:
        text = "\n".join(lines)
        if text != self.unread.toPlainText():
            titles = [tr_n("{n} file was not read", "{n} files were not read", left_out)] if left_out else []
            titles += [tr_n("{n} file needs a look", "{n} files need a look", noted)] if noted else []
            self.unread_title.set_text(", ".join(titles))
            self.unread.setPlainText(text)
        if self.unread.isHidden() == bool(text):
            self.unread.setVisible(bool(text))
            self.unread_title.setVisible(bool(text))
            self._fit()
