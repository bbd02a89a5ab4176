"""What the Images page does with chosen images that needs a dialog, the clipboard or another part of the window."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QImage, QTextCursor

from app.translation import tr, tr_n
from app.ui.images.edit_dialog import EditDialog
from app.ui.images.enlarge_dialog import EnlargeDialog
from app.ui.images.image_processing import encoded
from app.ui.images.session.image_edits import EditChoice
from app.ui.images.session.image_library import DEFAULT_PATTERN, PATTERN_WORDS, name_of
from app.ui.images.state import EditDraft
from app.ui.kit.file_dialogs import ask_for_folder, ask_to_save
from app.ui.kit.image_decoding import UndecodableImage, decoded
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.widgets.dialogs import ask_text
from app.ui.kit.widgets.image_viewer import ImageViewer, ViewedImage
from app.ui.kit.widgets.menu import Menu

if TYPE_CHECKING:
    from app.ui.images.page import ImagesPage

EDIT_DRAFT = "images edit draft"
KEEP_AFTER_S = 0.4
MOST_PIXELS_SHOWN = 2048  # the longer side of the image that is painted on


class ImageActions(QObject):
    def __init__(self, page: ImagesPage) -> None:
        super().__init__(page)
        self._page = page

    @property
    def _path(self) -> Path | None:
        return self._page.presenter.library.path(self._page.gallery.current())

    # -- the menu -------------------------------------------------------------------------------------------------

    def menu(self) -> Menu:
        """Return the menu of the chosen images."""
        page = self._page
        menu = Menu(page.theme, page.gallery)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        image_id = page.gallery.current()
        details = page.changes.details(image_id) if image_id else None
        chosen = page.gallery.chosen()
        if details is None:
            return menu
        if details.trashed:
            words = tr_n("Restore", "Restore {n} images", len(chosen))
            menu.add(words, "undo").triggered.connect(lambda: page.presenter.library.restore(chosen))
            return menu
        several = len(chosen) > 1
        for action in () if several else details.paid_actions:
            icon = {"edit": "mask", "background": "scissors"}.get(action.id, "sparkle")
            entry = menu.add(action.words, "expand" if action.id.startswith(("upscale", "enlarge")) else icon)
            entry.setEnabled(not action.why_not)
            entry.setToolTip(plain_tip(action.why_not))
            entry.triggered.connect(lambda _on=False, key=action.id: self.do(image_id, key))
        if details.paid_actions and not several:
            menu.addSeparator()
        saving = (
            (tr("Save as…"), "download", "Ctrl+S", self.save, details.path is not None),
            (tr("Save with file name pattern…"), "download", "", self.save_by_pattern, details.path is not None),
        )
        of_one = (
            (tr("Reuse settings"), "refresh", "Ctrl+R", page.rerun, details.can_rerun),
            (tr("New variation, new seed"), "branch", "", lambda: page.rerun(vary=True), details.can_rerun),
            (tr("Ask about it in Chat"), "chat", "", self.to_chat, details.path is not None),
            (tr("Use as first frame of a video"), "video", "", self.to_video, details.path is not None),
            *saving,
            (tr("Copy image"), "copy", "Ctrl+Shift+C", self.copy, details.path is not None),
            (tr("Copy prompt"), "copy", "", lambda: page.clipboard_text(details.prompt), bool(details.prompt)),
            (tr("Open folder"), "folder", "", page.open_folder, True),
            (tr("Star") if not details.starred else tr("Remove star"), "star", "Ctrl+D", page.star, True),
        )
        for words, icon, key, work, possible in saving if several else of_one:
            entry = menu.add(words, icon, shortcut=key, enabled=possible)
            entry.triggered.connect(lambda _on=False, work=work: work())
        words = tr_n("Move to trash", "Move {n} images to trash", len(chosen))
        menu.add_trash(words, enabled=several or details.state != "sending").triggered.connect(page.trash)
        return menu

    def do(self, image_id: str, deed_id: str) -> None:
        """Carry out a deed; an edit asks for words first."""
        if deed_id == "edit":
            self._page.tasks.replace("images ask edit", self.ask_edit, image_id)
        elif deed_id == "enlarge":
            self._page.tasks.replace("images ask enlarge", self.ask_enlarge, image_id)
        else:
            self._page.changes.do(image_id, deed_id)

    # -- editing --------------------------------------------------------------------------------------------------

    async def ask_enlarge(self, image_id: str) -> None:
        """Ask how many times and how freely, and send it when the person presses the button with the price."""
        changes = self._page.changes
        dialog = EnlargeDialog(
            self._page.theme,
            self._page.gallery,
            partial(changes.enlarge_price, image_id),
            partial(changes.enlarged_size, image_id),
        )
        if await dialog.answer():
            changes.enlarge(image_id, dialog.chosen_scale, round(dialog.creativity.value, 3))

    async def ask_edit(self, image_id: str, words: str = "") -> None:
        """Ask for words and mask, and send them when the person presses the button with the price.

        `words` stand there already, as those that the service proposed.
        """
        page = self._page
        path = page.presenter.library.path(image_id)
        models = page.changes.edit_choices()
        if path is None or not models:
            return
        try:
            image = await asyncio.to_thread(_shown, path)
        except (UndecodableImage, OSError):
            page.toast_requested.emit(tr("This image’s file can no longer be opened."))
            return
        others = tuple(key for key in page.gallery.chosen() if key != image_id)

        def price_of(model_id: str, resolution: str, quality: str, inputs: int) -> Decimal | None:
            return page.changes.edit_price(model_id, inputs=inputs, resolution=resolution, quality=quality)

        dialog = EditDialog(page.theme, page.gallery, image, models, price_of, others=len(others))
        draft = page.presenter.edit_draft(image_id)
        dialog.prompt.set_text(words or draft.prompt)
        dialog.prompt.moveCursor(QTextCursor.MoveOperation.End)
        dialog.editor.show_mask(draft.mask)
        dialog.edited.connect(lambda: page.tasks.replace(EDIT_DRAFT, self._keep_edit, image_id, dialog))
        prompt, ratio, resolution = dialog.prompt, dialog.ratio, dialog.resolution
        agreed = await dialog.answer()
        page.tasks.cancel(EDIT_DRAFT)
        mask = dialog.editor.mask_png()
        page.presenter.keep_edit(image_id, EditDraft(prompt.toPlainText(), mask or b""))
        if not agreed:
            return
        choice = EditChoice(
            model=str(dialog.model.currentData()),
            prompt=prompt.toPlainText(),
            aspect_ratio=str(ratio.currentData() or ""),
            resolution=str(resolution.currentData() or ""),
            quality=str(dialog.quality.currentData() or ""),
            output_format=str(dialog.format.currentData() or ""),
            safe_mode=dialog.safe.isChecked(),
            enhance_prompt=dialog.enhance.isChecked(),
            mask=mask,
            others=others,
        )
        page.changes.edit(image_id, choice)

    async def _keep_edit(self, image_id: str, dialog: EditDialog) -> None:
        """At a pause of writing and painting, so that no end of the program loses it."""
        await asyncio.sleep(KEEP_AFTER_S)
        words, painting = dialog.prompt.toPlainText(), dialog.editor.painting.copy()
        mask = await asyncio.to_thread(encoded, painting, "PNG") if dialog.editor.share else b""
        self._page.presenter.keep_edit(image_id, EditDraft(words, mask))

    # -- out of here ----------------------------------------------------------------------------------------------

    def to_chat(self) -> None:
        if self._path is not None:
            self._page.chat_requested.emit(self._path)

    def to_video(self) -> None:
        if self._path is not None:
            self._page.video_requested.emit(self._path)

    def open_large(self) -> None:
        """Show the image over the window, with the others of the gallery beside it."""
        page, library = self._page, self._page.presenter.library
        tiles = [(tile, path) for tile in page.gallery_state.tiles if (path := library.path(tile.id)) is not None]
        at = next((place for place, (_, path) in enumerate(tiles) if path == self._path), None)
        if at is None:
            return
        viewed = [ViewedImage(tile.title, path) for tile, path in tiles]
        viewer = ImageViewer(page.theme, page.gallery.window(), viewed, at)
        viewer.save_requested.connect(lambda which: self._save_one(tiles[which][0].id))
        viewer.copied.connect(lambda: page.toast_requested.emit(tr("Image copied")))
        viewer.open()

    def open_outside(self) -> None:
        """Show the file in the system's own viewer."""
        if self._path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path)))

    def copy(self) -> None:
        """Put image and file on the clipboard."""
        if self._path is not None:
            self._page.tasks.replace("images copy", self._copy, self._path)

    async def _copy(self, path: Path) -> None:
        try:
            image = await asyncio.to_thread(lambda: decoded(path.read_bytes()))
        except (UndecodableImage, OSError):
            self._page.toast_requested.emit(tr("This image’s file can no longer be opened."))
            return
        mime = QMimeData()
        mime.setImageData(image)
        mime.setUrls([QUrl.fromLocalFile(str(path))])
        QGuiApplication.clipboard().setMimeData(mime)
        self._page.toast_requested.emit(tr("Image copied"))

    def _save_one(self, image_id: str) -> None:
        library = self._page.presenter.library
        image = library.one(image_id)
        if image is not None:
            name = name_of(library.pattern, image)
            ask_to_save(self._page.gallery, tr("Save image"), name, partial(library.save_as, (image_id,)))

    def save(self) -> None:
        """Ask for a place: a file for one image, a folder for several."""
        page, library = self._page, self._page.presenter.library
        chosen = tuple(key for key in page.gallery.chosen() if library.path(key) is not None)
        image = library.one(chosen[0]) if chosen else None
        if image is None:
            return
        if len(chosen) == 1:
            self._save_one(image.id)
        else:
            self._ask_for_folder(chosen)

    def _ask_for_folder(self, chosen: tuple[str, ...]) -> None:
        page, library = self._page, self._page.presenter.library
        ask_for_folder(page.gallery, tr("Save images"), lambda folder: library.save_as(chosen, folder))

    def save_by_pattern(self) -> None:
        self._page.tasks.replace("images pattern", self._ask_pattern)

    async def _ask_pattern(self) -> None:
        page, library = self._page, self._page.presenter.library
        words = ", ".join(f"{{{word}}}" for word in PATTERN_WORDS)
        pattern = await ask_text(
            page.theme,
            page.gallery,
            tr("File name pattern"),
            tr("Pattern: {words}", words=words),
            value=library.pattern or DEFAULT_PATTERN,
            action=tr("Choose a folder…"),
        )
        if pattern is None:
            return
        library.pattern = pattern
        page.presenter.save_soon(pattern=pattern)
        self._ask_for_folder(page.gallery.chosen())


def _shown(path: Path) -> QImage:
    """Runs in a thread."""
    image = decoded(path.read_bytes())
    if max(image.width(), image.height()) <= MOST_PIXELS_SHOWN:
        return image
    return image.scaled(
        MOST_PIXELS_SHOWN,
        MOST_PIXELS_SHOWN,
        Qt.AspectRatioMode.KeepAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )
