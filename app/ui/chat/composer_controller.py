"""What belongs to the message box of the chat tab: attachments, presets, commands. Made when first used."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.core import time_format
from app.core.blanks import DATE
from app.service.characters import CharactersQuery
from app.service.errors import ServiceError
from app.translation import tr
from app.ui.chat.blanks_dialog import BlanksDialog
from app.ui.chat.composer.attachment import Attachment, DocumentPlace, attachments_of
from app.ui.chat.composer.completion import CompletionList, Entry, matching
from app.ui.chat.document_viewer import DocumentViewer
from app.ui.chat.state import CharacterHead
from app.ui.kit.file_dialogs import ask_for_files
from app.ui.kit.image_decoding import UndecodableImage, decoded
from app.ui.kit.widgets.dialogs import ask_text
from app.ui.kit.widgets.image_viewer import ImageViewer, ViewedImage
from app.ui.kit.widgets.preset_popover import PresetPopover

Kind = Literal["prompt", "preset"]
ATTACHABLE = (
    "*.png *.jpg *.jpeg *.webp *.gif *.bmp *.tif *.tiff *.heic *.avif *.wav *.mp3 *.flac *.ogg *.opus *.aac *.m4a"
    " *.aiff *.mp4 *.mov *.webm *.mpeg *.mpg *.pdf *.docx *.pptx *.xlsx *.xls *.odt *.epub *.txt *.md *.csv"
    " *.json *.html *.xml *.py *.log"
)
DOCUMENT = "doc"  # the command; a name of a document stands behind it
LONGEST_COMMAND = 80  # characters; a longer line that begins with a slash is a message
CHARACTER_WORD = re.compile(r"[^\s/\\.]+")  # only such a one leaves the computer unsent: no path and no sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.ui.chat.page import ChatPage
    from app.ui.chat.session.chat_documents import NamedDocument
    from app.ui.chat.session.chat_presets import ChatPresets
    from app.ui.chat.state import AttachmentView
    from app.ui.kit.theme import Theme


class ComposerController(QObject):
    """Connects the parts with the page and its presenter; decides nothing itself."""

    def __init__(self, page: ChatPage, theme: Theme, tasks: TaskScope) -> None:
        super().__init__(page)
        self._page = page
        self._theme = theme
        self._tasks = tasks
        self._strip_is_connected = False
        self._typed = ""
        self._characters: tuple[CharacterHead, ...] = ()
        self._documents: tuple[NamedDocument, ...] | None = None  # None while they are looked up

    # Prompts and presets

    @cached_property
    def prompts(self) -> PresetPopover:
        """The library of system prompts."""
        return self._library("prompt", tr("Prompts"), tr("Save a system prompt here to use it again."))

    @cached_property
    def presets(self) -> PresetPopover:
        """Model, character and parameters under a name."""
        words = tr("Saves this chat’s model, character and parameters for other chats.")
        return self._library("preset", tr("Presets"), words)

    def _library(self, kind: Kind, title: str, empty: str) -> PresetPopover:
        made = PresetPopover(self._theme, self._page.main, title=title, empty=empty)
        presets = self._presets
        if presets is not None:
            made.show_rows(presets.rows(kind))
            presets.changed.connect(lambda _rows: made.show_rows(presets.rows(kind)))
            made.used.connect(self.use_preset)
            made.remove_requested.connect(presets.remove)
            made.undo_requested.connect(presets.undo)
            made.file_chosen.connect(presets.import_file)
            made.target_chosen.connect(presets.export)
            made.rename_requested.connect(
                lambda key, name: self._tasks.start_unless_running("rename-preset", self._rename, key, name)
            )
            made.save_requested.connect(lambda: self._tasks.start_unless_running("save-preset", self._save, kind))
        return made

    @cached_property
    def _presets(self) -> ChatPresets | None:
        presets = self._page.presenter.presets
        if presets is not None:
            presets.notice.connect(self._page.toast_requested)
        return presets

    def open_prompts(self) -> None:
        self._open(self.prompts, "prompts")

    def open_presets(self) -> None:
        self._open(self.presets, "presets")

    def _open(self, popover: PresetPopover, opener: str) -> None:
        """Open under its link among the parameters, or over the box while those are not to be seen."""
        self._page.show_chat()
        side = self._page.side
        link = getattr(side.parameters, opener) if self._page.zones.inspector_open and side.is_made(0) else None
        shown = link is not None and link.isVisible() and not link.visibleRegion().isEmpty()
        popover.open_under(link if shown and link is not None else self._page.main.composer.attach)

    async def _save(self, kind: Kind) -> None:
        opened = self._page.presenter.opened
        if kind == "prompt":
            title, value = tr("Save prompt"), " ".join(opened.options.system_prompt.split()[:6])
        else:
            title, value = tr("Save preset"), self._page.presenter.head().partner
        self._page.flush_parameters()
        name = await ask_text(self._theme, self._page.main, title, tr("Name"), value=value, max_chars=80)
        if name and self._presets is not None:
            self._presets.save(kind, name)

    async def _rename(self, preset_id: str, name: str) -> None:
        words = tr("Rename")
        wanted = await ask_text(self._theme, self._page.main, words, tr("Name"), value=name, action=words, max_chars=80)
        if wanted and self._presets is not None:
            self._presets.rename(preset_id, wanted)

    # Commands

    @cached_property
    def completion(self) -> CompletionList:
        """What opens after a slash."""
        made = CompletionList(self._theme, self._page.main, self._run_entry)
        self._page.main.composer.box.takes_key = made.takes_key
        return made

    @cached_property
    def _finder(self) -> CharacterFinder:
        finder = CharacterFinder(self._page.presenter.current_account, self._tasks, self._may_search_for, parent=self)
        finder.found.connect(self._show_characters)
        return finder

    def complete(self, text: str) -> None:
        """Follow what is typed: a line that begins with one slash opens the list, anything else closes it."""
        typed = text[1:] if text.startswith("/") and "\n" not in text and len(text) <= LONGEST_COMMAND else None
        if typed is None or typed.startswith("/"):
            if "completion" in self.__dict__:
                self.completion.hide()
            return
        self._typed = typed
        self._characters = ()
        self._documents = None
        project_id = self._project_with_documents()
        if project_id and self._document_words() is not None:
            self._finder.search_for("")
            self._tasks.replace("complete-documents", self._find_documents, project_id, typed)
            self._show_entries()
            return
        self._finder.search_for(typed.strip())
        self._show_entries()

    def close_completion(self) -> bool:
        """False when no list was open."""
        was_open = "completion" in self.__dict__ and self.completion.isVisible()
        if was_open:
            self.completion.hide()
        return was_open

    def _project_with_documents(self) -> str | None:
        presenter = self._page.presenter
        project_id = presenter.opened.project_id
        return project_id if project_id is not None and presenter.documents.paths(project_id) else None

    def _document_words(self) -> str | None:
        """What is typed behind `/doc `; None where that is not what stands in the box."""
        word, blank, rest = self._typed.partition(" ")
        return rest.strip() if blank and word.casefold() == DOCUMENT else None

    async def _find_documents(self, project_id: str, typed: str) -> None:
        found = await self._page.presenter.documents.named(project_id, typed.partition(" ")[2])
        if typed == self._typed and self._page.main.composer.text() == f"/{typed}":
            self._documents = found
            self._show_entries()

    def _document_entries(self, project_id: str) -> list[Entry]:
        """One for each document found. Always at least one: Enter must not send what was meant for this list."""
        if self._documents is None:
            return [Entry(DOCUMENT, tr("Attach a whole document from the project"), self._ask_document)]
        if not self._documents:
            words = tr("No document has this name. Show the documents")
            return [Entry(DOCUMENT, words, self._page.controller.open_documents)]
        return [
            Entry(f"{DOCUMENT} {each.name}", each.detail, partial(self._attach_document, project_id, each))
            for each in self._documents
        ]

    def _ask_document(self) -> None:
        """Put the command into the box again, for the name to be typed."""
        text = f"/{DOCUMENT} "
        self._page.main.composer.set_text(text)
        self._page.focus_box()
        self.complete(text)

    def _attach_document(self, project_id: str, document: NamedDocument) -> None:
        self._tasks.start_unless_running(f"document {document.path}", self._attach_whole, project_id, document)
        self._page.focus_box()

    async def _attach_whole(self, project_id: str, document: NamedDocument) -> None:
        """Attach a file that is text as it is, and of any other the text that was read."""
        presenter = self._page.presenter
        if document.is_text:
            self.give(partial(presenter.attaching.add_files, as_documents=True), [Path(document.path)])
            return
        before = presenter.opened.chat_id, presenter.opened.project_id
        text = await presenter.documents.text(project_id, document.path)
        if before != (presenter.opened.chat_id, presenter.opened.project_id):
            return
        if text:
            name = tr("{file}, all text", file=document.name)
            self.give(presenter.attaching.add_texts, [(name, text, DocumentPlace(document.path))])
        else:
            self._page.toast_requested.emit(tr("The documents have changed. Choose the document again."))

    def _show_entries(self) -> None:
        page, typed = self._page, self._typed
        project_id = self._project_with_documents()
        if project_id and self._document_words() is not None:
            self.completion.show_entries(self._document_entries(project_id), page.main.composer.frame)
            return
        commands = [
            Entry(action.id.partition(".")[2].replace("_", "-"), action.text.rstrip("…"), action.run)
            for action in page.actions()
            if action.enabled() and not action.id.startswith(("chat.next", "chat.previous"))
        ]
        if project_id:
            commands.insert(0, Entry(DOCUMENT, tr("Attach a whole document from the project"), self._ask_document))
        rows = page.presenter.presets.rows() if page.presenter.presets is not None else ()
        kept = [Entry(f"{row.kind} {row.name}", row.detail, partial(self.use_preset, row.id)) for row in rows]
        people = [
            Entry(f"character {each.name}", each.description, partial(self._speak_with, each))
            for each in self._characters
        ]
        shown = matching([*commands, *kept], typed) + people
        self.completion.show_entries(shown, page.main.composer.frame)

    def _stands_in_box(self, text: str) -> bool:
        return self._page.main.composer.text() == f"/{self._typed}" and self._typed.strip() == text

    def _may_search_for(self, text: str) -> bool:
        """Whether the service may be asked for what is typed: nothing of a sealed or private chat goes out unsent."""
        opened = self._page.presenter.opened
        is_open = not opened.sealed and not opened.private
        return is_open and self._stands_in_box(text) and CHARACTER_WORD.fullmatch(text) is not None

    def _show_characters(self, text: str, characters: tuple[CharacterHead, ...]) -> None:
        """Add who was found, unless something else stands in the box by now."""
        if characters and self._stands_in_box(text):
            self._characters = characters
            self._show_entries()

    def _run_entry(self, entry: Entry) -> None:
        """The command leaves the box before it is carried out."""
        self._page.main.composer.set_text("")
        self._page.presenter.set_draft("")
        entry.run()

    def use_preset(self, preset_id: str) -> None:
        """Take a prompt or a preset into the open chat; the person goes on typing. Blanks are filled in first."""
        if self._presets is not None and self._presets.blanks_of(preset_id):
            self._tasks.start_unless_running("fill-in-prompt", self._fill_in, self._presets, preset_id)
            return
        if self._presets is not None:
            self._presets.use(preset_id)
        self._page.focus_box()

    async def _fill_in(self, presets: ChatPresets, preset_id: str) -> None:
        """Ask for what a prompt leaves open; a date alone needs no question."""
        preset, blanks = presets.one(preset_id), presets.blanks_of(preset_id)
        today = time_format.day(datetime.now().astimezone())
        values = await presets.values_of(blanks, QGuiApplication.clipboard().text(), today)
        asked = [blank for blank in blanks if blank.name != DATE or blank.choices]
        if asked and preset is not None:
            dialog = BlanksDialog(self._theme, self._page.main, preset.name, asked, values)
            if not await dialog.answer():
                return
            values |= dialog.values()
        await presets.use_filled(preset_id, values)
        self._page.focus_box()

    def _speak_with(self, character: CharacterHead) -> None:
        self._page.use_character(character, new_chat=not self._page.presenter.opened.is_empty)

    # Attachments

    def show_attachments(self, views: Sequence[AttachmentView]) -> None:
        """Show the chips over the box."""
        composer, attaching = self._page.main.composer, self._page.presenter.attaching
        if views and not self._strip_is_connected:
            self._strip_is_connected = True
            composer.strip.remove_requested.connect(attaching.remove)
            composer.strip.shrink_requested.connect(attaching.shrink)
            composer.strip.model_requested.connect(self._page.presenter.use_model)
            composer.strip.other_requested.connect(attaching.switch)
            composer.strip.open_requested.connect(lambda key: self._show_document(attaching.attachment(key)))
        composer.show_attachments(views)

    def give(self, attach: Callable[[Any], None], given: object) -> None:
        """Attach what was dropped, pasted or picked; a sealed chat takes nothing and says why."""
        control = self._page.presenter.head().controls.cache_attachments
        if control.usable:
            attach(given)
        else:
            self._page.toast_requested.emit(control.why)

    def attach(self) -> None:
        """Ask for files to attach; what they are is checked by content afterwards."""
        self._page.show_chat()
        add_files = partial(self.give, self._page.presenter.attaching.add_files)
        kinds = f"{tr('Supported files')} ({ATTACHABLE});;{tr('All files')} (*)"
        ask_for_files(self._page.main, tr("Attach files"), add_files, kinds)

    def ask_source(self, row_id: str, index: int) -> None:
        """Show what a source says of itself and where it leads; the person decides whether to open it."""
        row = self._page.main.view.row(row_id)
        if 0 <= index < len(row.sources):
            source = row.sources[index]
            if source.passage is not None:
                self._show_document(self._sent(*source.passage))
                return
            about = "\n".join(words for words in (source.date, source.snippet) if words)
            self._page.links.ask(source.url, title=source.title, about=about)

    def open_attachment(self, row_id: str, index: int) -> None:
        """Show an image large, with those of the whole conversation beside it, or the document that a text is from.

        Of anything else a copy is offered.
        """
        if self._page.main.view.row(row_id).attachments[index].is_passage:
            self._show_document(self._sent(row_id, index))
            return
        images = [
            (row.id, number, each)
            for row in self._page.rows()
            for number, each in enumerate(row.attachments)
            if each.kind == "image" and each.path
        ]
        at = next((place for place, each in enumerate(images) if each[:2] == (row_id, index)), None)
        if at is None:
            self.save_attachment(row_id, index)
            return
        viewed = [ViewedImage(each.name, Path(each.path)) for _, _, each in images]
        viewer = ImageViewer(self._theme, self._page.main.window(), viewed, at)
        viewer.save_requested.connect(lambda which: self.save_attachment(*images[which][:2]))
        viewer.copied.connect(lambda: self._page.toast_requested.emit(tr("Image copied")))
        viewer.open()

    def _sent(self, row_id: str, index: int) -> Attachment | None:
        """What went along with a message."""
        message = self._page.presenter.opened.thread.get(row_id)
        attached = attachments_of(message.attachments) if message is not None else ()
        return attached[index] if index < len(attached) else None

    def _show_document(self, attachment: Attachment | None) -> None:
        """Show the document that an attached text is from, at its place."""
        if attachment is not None and attachment.place is not None:
            self._tasks.start_unless_running("document viewer", self._open_document, attachment, attachment.place)

    async def _open_document(self, attachment: Attachment, place: DocumentPlace) -> None:
        presenter = self._page.presenter
        found = await presenter.documents.excerpt(presenter.opened.project_id or "", place, attachment.sha256)
        await DocumentViewer(self._theme, self._page.main, attachment.name, found).answer()

    def act_on_attachment(self, row_id: str, index: int, action: str) -> None:
        """An entry of the menu over an attachment: "copy" puts the image on the clipboard, "save" offers a copy."""
        if action == "copy":
            path = Path(self._page.main.view.row(row_id).attachments[index].path)
            self._tasks.replace("copy-image", self._copy_image, path)
        else:
            self.save_attachment(row_id, index)

    async def _copy_image(self, path: Path) -> None:
        try:
            image = await asyncio.to_thread(lambda: decoded(path.read_bytes()))
        except (OSError, UndecodableImage):
            self._page.toast_requested.emit(tr("The image could not be read"))
            return
        QGuiApplication.clipboard().setImage(image)
        self._page.toast_requested.emit(tr("Image copied"))

    def save_attachment(self, row_id: str, index: int) -> None:
        """Offer a copy of what was attached. Nothing of it is opened: it may be a program in disguise."""
        row = self._page.main.view.row(row_id)
        if index < len(row.attachments):
            source = Path(row.attachments[index].path)
            self._page.controller.save_file(
                tr("Save attachment"),
                row.attachments[index].name,
                lambda path: path.write_bytes(source.read_bytes()),
            )


PAUSE_S = 0.25
FEWEST_CHARS = 2
MOST_FOUND = 8


class CharacterFinder(QObject):
    """`found` carries what was typed and the characters that match it; the newest search wins.

    `may_search` is asked when something is typed, and again after the pause: the chat may be sealed by then.
    """

    found = Signal(str, object)  # text, tuple[CharacterHead, ...]

    def __init__(
        self,
        current_account: CurrentAccount,
        tasks: TaskScope,
        may_search: Callable[[str], bool],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._current_account = current_account
        self._tasks = tasks
        self._may_search = may_search

    def search_for(self, text: str) -> None:
        """Search soon; too short a text, or one that may not be sent, finds nobody at once."""
        if len(text) < FEWEST_CHARS or not self._may_search(text):
            self._tasks.cancel("complete-characters")
            self.found.emit(text, ())
        else:
            self._tasks.replace("complete-characters", self._search, text)

    async def _search(self, text: str) -> None:
        await asyncio.sleep(PAUSE_S)

        service = self._current_account.service
        if service is None or not self._may_search(text):
            return
        try:
            wanted = CharactersQuery(search=text[:100], limit=MOST_FOUND)
            characters = await service.characters.search(wanted, background=True)
        except ServiceError:
            self.found.emit(text, ())  # a help while typing: the gallery is where a failure is explained
            return
        self.found.emit(text, tuple(CharacterHead.of(each) for each in characters))
