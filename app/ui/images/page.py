"""The Images tab: form, gallery and the selected image. Draws the state it is given and reports input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QTextCursor
from PySide6.QtWidgets import QWidget

from app.core import money
from app.core.shown_call import shown_call
from app.core.tabs import TABS
from app.translation import tr, tr_n
from app.ui.images.form import DEFAULT_STRENGTH, FormView
from app.ui.images.form_pane import FormPane
from app.ui.images.gallery import Gallery
from app.ui.images.image_actions import ImageActions
from app.ui.images.inspector import REQUEST, ImagesInspector
from app.ui.images.page_actions import images_actions, images_palette_items
from app.ui.images.state import GalleryState, Refused
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.file_dialogs import ask_for_files
from app.ui.kit.forms.other_model_dialog import ask_other_model
from app.ui.kit.leaving_strip import LeavingWatch
from app.ui.kit.tab import PaletteItem, TabAction, Zones
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.dialogs import confirm
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.scene_prompts import ScenePrompts

if TYPE_CHECKING:
    from app.core.current_account import RateLimitRemaining
    from app.core.tasks import TaskScope
    from app.ui.images.presenter import ImagesPresenter
    from app.ui.images.session.image_edits import ImageEdits
    from app.ui.kit.theme import Theme

INFO = TABS["images"]


class ImagesPage(QObject):
    """A `TabPage`. Other features are reached by signals, which the composition root connects."""

    changed = Signal()
    toast_requested = Signal(object)  # a sentence; `SavedFile` for a file that was written
    help_requested = Signal(str)
    chat_requested = Signal(Path)  # an image to talk about
    video_requested = Signal(Path)  # an image that a video begins with

    name, title, icon = INFO.name, INFO.title, INFO.icon

    def __init__(
        self,
        theme: Theme,
        presenter: ImagesPresenter,
        changes: ImageEdits,
        tasks: TaskScope,
        cache: Path,
        *,
        whole: bool = True,
    ) -> None:
        """`cache` is where small images are kept; it may be deleted at any time.

        `whole`: without it, `build` is still to be run.
        """
        super().__init__()
        self.theme = theme
        self.tasks = tasks
        self.presenter = presenter
        self.changes = changes
        self._cache = cache
        self.zones = Zones()
        self.gallery_state = GalleryState()
        self._toggle_list: Callable[[], None] = lambda: None
        self._toggle_inspector: Callable[[], None] = lambda: None
        self.form = FormPane(theme, whole=False)
        self.gallery = Gallery(theme, presenter.library.path, self._waiting_words, cache, whole=False)
        self.side = ImagesInspector(theme, cache, whole=False)
        if whole:
            at_once(self.build())

    def build(self) -> BuildSteps[None]:
        """Fill the panes and wire them, a piece at each step."""
        yield from self.form.build()
        yield
        yield from self.gallery.build()
        yield
        yield from self.side.build()
        yield
        self.prompts = ScenePrompts(
            self.theme, self.form, self.tasks, self.presenter.prompts, self.form.prompt.toPlainText
        )
        self.image_actions = ImageActions(self)
        yield
        self._connect_presenter()
        self._connect_form()
        self._connect_gallery()
        self._connect_side()
        self.show_all()

    # -- wires ----------------------------------------------------------------------------------------------------

    def _connect_presenter(self) -> None:
        presenter, library = self.presenter, self.presenter.library
        library.cache = self._cache
        library.usage_changed.connect(lambda usage: self.gallery.usage.set_text(usage.words))
        presenter.form_changed.connect(self._show_view)
        presenter.balance_changed.connect(self._show_left)
        presenter.replacing.connect(self.form.flush)
        presenter.form_replaced.connect(self.form.fill)
        presenter.models_changed.connect(self._show_models)
        presenter.problem_changed.connect(self.gallery.show_problem)
        presenter.request_changed.connect(lambda call: self.side.request.show_call(shown_call(call)))
        self.side.request.copied.connect(self.toast_requested.emit)
        presenter.busy_changed.connect(self._show_busy)
        presenter.arrived.connect(self._say_arrived)
        presenter.notice.connect(self.toast_requested)
        presenter.selected.connect(self.gallery.select)
        library.gallery_changed.connect(self._show_gallery_state)
        library.image_changed.connect(lambda image: self._show_details(image.id, only_current=True))
        library.imported.connect(self.gallery.select)

    def _connect_form(self) -> None:
        form, presenter = self.form, self.presenter
        LeavingWatch(
            form.leaving,
            "images",
            presenter.current_account,
            lambda: presenter.model_id,
            lambda model_id: any(model.id == model_id for model in presenter.models),
            presenter.form_changed,
            presenter.models_changed,
        )
        form.leaving.choose_requested.connect(form.model.setFocus)
        form.edited.connect(self._set_field)
        form.generate_requested.connect(self.make)
        form.stop_requested.connect(presenter.stop)
        form.model.other_requested.connect(
            lambda: self.tasks.start_unless_running("images other model", self._ask_other_model)
        )
        form.clear_requested.connect(self.clear)
        form.prompts_requested.connect(self.open_prompts)
        self.prompts.used.connect(self.set_prompt)
        self.prompts.notice.connect(self.toast_requested)
        form.more.references_requested.connect(self.set_style)

    def _connect_gallery(self) -> None:
        gallery, library = self.gallery, self.presenter.library
        gallery.selected.connect(self._show_details)
        gallery.opened.connect(lambda _id: self.image_actions.open_large())
        gallery.trash_requested.connect(library.move_to_trash)
        gallery.menu_requested.connect(self.open_menu)
        gallery.searched.connect(library.search_for)
        gallery.more_requested.connect(library.read_more)
        gallery.scope_chosen.connect(library.show_scope)
        gallery.empty_trash_requested.connect(
            lambda: self.tasks.start_unless_running("images ask trash", self._ask_empty)
        )
        gallery.list_requested.connect(lambda: self._toggle_list())
        gallery.inspector_requested.connect(lambda: self._toggle_inspector())
        gallery.example_requested.connect(self.set_prompt)
        gallery.problem_action.connect(self._help)
        gallery.folder_requested.connect(self.open_folder)
        gallery.dropped.connect(self._bring_in)

    def _connect_side(self) -> None:
        image = self.side.image
        image.save_requested.connect(self.save)
        image.copy_requested.connect(self.image_actions.copy)
        image.rerun_requested.connect(self.rerun)
        image.video_requested.connect(self.image_actions.to_video)
        image.star_requested.connect(self.star)
        image.more_requested.connect(lambda opener: self.open_menu(opener.mapToGlobal(opener.rect().bottomLeft())))
        image.back_requested.connect(lambda: self.presenter.library.restore(self.gallery.chosen()))

    # -- what the presenter tells ---------------------------------------------------------------------------------

    def show_all(self) -> None:
        """Show everything as it stands."""
        self.form.fill(self.presenter.form)
        self._show_models()
        self._show_view(self.presenter.view)
        self.gallery.show_problem(self.presenter.problem)
        self.presenter.library.publish()
        self.gallery.usage.set_text(self.presenter.library.usage.words)
        self._show_busy()

    def _waiting_words(self, image_id: str) -> str:
        return self.presenter.maker.waiting_words(image_id) if self.presenter.maker is not None else ""

    def _show_models(self) -> None:
        rows = []
        for model in self.presenter.models:
            each = self.presenter.price_each(model.id)
            rows.append(
                (model.id, model.name, tr("{each} per image", each=money.money(each)) if each is not None else "")
            )
        self.form.show_models(rows, self.presenter.styles)

    def _show_view(self, view: FormView) -> None:
        self.form.show_view(view, self.presenter.left)

    def _show_left(self) -> None:
        self.form.show_price(self.presenter.view, self.presenter.left)

    def _show_gallery_state(self, gallery_state: GalleryState) -> None:
        self.gallery_state = gallery_state
        self.gallery.show_state(gallery_state)
        self.changed.emit()

    def _show_details(self, image_id: str, *, only_current: bool = False) -> None:
        if only_current and image_id != self.gallery.current():
            return
        self.side.show_details(self.changes.details(image_id) if image_id else None)

    def _say_arrived(self, images: int) -> None:
        if self.gallery.isVisible():
            announce(self.gallery, tr_n("Image ready", "{n} images ready", images))

    def _show_busy(self) -> None:
        self.form.show_calls(self.presenter.calls)
        self.changed.emit()

    # -- what the person does -------------------------------------------------------------------------------------

    def make(self) -> None:
        """Send the form, with what was typed a moment ago."""
        self.form.flush()
        if not self.form.more.seed_is_good:
            self.form.more.unfold(True)
            self.form.more.seed.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        if "extra_json" in dict(self.presenter.view.refusals):
            self.form.more.unfold(True)
            self.form.more.extra.setFocus(Qt.FocusReason.OtherFocusReason)
        self.presenter.make()
        if self.zones.list_overlay and self.zones.list_open:
            self._toggle_list()

    def _set_field(self, name: str, value: object) -> None:
        if name == "references" and isinstance(value, tuple):
            self.presenter.set_references(value)
        else:
            self.presenter.set_field(name, value)

    def clear(self) -> None:
        self.presenter.clear()
        self.focus_prompt()

    def focus_prompt(self) -> None:
        if not self.zones.list_open:
            self._toggle_list()
        self.form.prompt.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_prompt(self, text: str) -> None:
        """Put words into the form; nothing is sent."""
        presenter = self.presenter
        self.form.flush()
        presenter.use_form(replace(presenter.form, prompt=text), tr("Prompt replaced"))
        self.form.prompt.moveCursor(QTextCursor.MoveOperation.End)
        self.focus_prompt()

    def open_prompts(self) -> None:
        """The library of prompts, under its button."""
        self.focus_prompt()
        self.prompts.open_under(self.form.prompts)

    def set_style(self) -> None:
        """Add the chosen images to those whose style is taken."""
        form, library = self.presenter.form, self.presenter.library
        taken = list(zip(form.references, form.strengths, strict=True))
        more = [key for key in self.gallery.chosen() if library.path(key) is not None and key not in form.references]
        if not more:
            self.toast_requested.emit(tr("Select an image in the gallery that is not in the list yet."))
        self.presenter.set_references([*taken, *((key, DEFAULT_STRENGTH) for key in more)])

    def rerun(self, *, vary: bool = False) -> None:
        """Put what made the chosen image into the form, to send it from there."""
        if self.presenter.rerun(self.gallery.current(), vary=vary):
            self.focus_prompt()

    def star(self) -> None:
        self.presenter.library.star(self.gallery.current())

    def trash(self) -> None:
        self.presenter.library.move_to_trash(self.gallery.chosen())

    def open_trash(self) -> None:
        """Show the images in the trash."""
        self.gallery.show_scope("trash")

    def save(self) -> None:
        """One image under a name of one's own, several into a folder."""
        self.image_actions.save()

    def step(self, by: int) -> None:
        index = self.gallery.model.index_of(self.gallery.current())
        row = self.gallery.model.row(index.row() + by) if index.isValid() else None
        if row is not None:
            self.gallery.select(row.id)

    def open_file(self) -> None:
        """Bring images of this computer into the library."""
        ask_for_files(self.gallery, tr("Open images"), self._bring_in, f"{tr('Images')} (*.png *.jpg *.jpeg *.webp)")

    def _bring_in(self, paths: tuple[Path, ...]) -> None:
        for path in paths:
            self.presenter.library.bring_in(path)

    def open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.presenter.files.folder)))

    def open_menu(self, place: QPoint) -> Menu:
        """What can be done with the chosen images; what costs says how much."""
        menu = self.image_actions.menu()
        menu.popup(place)
        return menu

    async def _ask_other_model(self) -> None:
        other = await ask_other_model(self.theme, self.gallery, self.presenter.look_up_model)
        if other is not None:
            await self.presenter.use_other_model(other)

    async def _ask_empty(self) -> None:
        number = len(self.presenter.library.trashed)
        what = tr_n("{n} image", "{n} images", number)
        text = tr("{what} and the files are deleted from this computer. This cannot be undone.", what=what)
        if await confirm(
            self.theme, self.gallery, tr("Empty trash?"), text, action=tr("Delete permanently"), danger=True
        ):
            self.presenter.library.empty_trash()

    def _help(self, action: str) -> None:
        """Buttons of error cards."""
        if action == "retry" and self.presenter.lacks_models:
            self.presenter.refresh_models()
        elif action in ("retry", "resume", "send"):
            self.make()
        elif action in ("stop", "close", "dismiss"):
            self.presenter.set_problem(None)
        elif action == "use-suggestion" and self.presenter.refused is not None:
            self._write_again(self.presenter.refused, self.presenter.refused.proposal)
        elif action == "edit":
            if self.presenter.refused is not None:
                self._write_again(self.presenter.refused, self.presenter.refused.prompt)
            else:
                self.focus_prompt()
        elif action.startswith("use-model:"):
            self.presenter.set_field("model", action.partition(":")[2])
            self.focus_prompt()
        elif action == "choose-model":
            self.form.model.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.help_requested.emit(action)

    def _write_again(self, refused: Refused, words: str) -> None:
        """Say it in other words, where it was said before: in the form, or in the question of an edit."""
        self.presenter.set_problem(None)
        if refused.source_id:
            self.tasks.replace("images ask edit", self.image_actions.ask_edit, refused.source_id, words)
        else:
            self.set_prompt(words)

    def open_side(self, page: int) -> None:
        self.side.show_page(page)
        if not self.zones.inspector_open:
            self._toggle_inspector()

    def open_request(self) -> None:
        self.open_side(REQUEST)

    def clipboard_text(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    # -- TabPage --------------------------------------------------------------------------------------------------

    def list_pane(self) -> QWidget:
        return self.form

    def canvas(self) -> QWidget:
        return self.gallery

    def inspector(self) -> QWidget:
        return self.side

    def main_input(self) -> QWidget:
        return self.form.prompt

    def filter_field(self) -> QWidget:
        self.gallery.open_search()
        return self.gallery.search

    def actions(self) -> Sequence[TabAction]:
        return images_actions(self)

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return images_palette_items(self, text, limit)

    def status_headroom(self) -> RateLimitRemaining | None:
        return self.presenter.headroom()

    def running_work(self) -> Sequence[str]:
        if not self.gallery_state.busy:
            return ()  # every tab asks at every change, and to make tiles takes milliseconds
        return [
            tr("Generating “{title}”", title=tile.title)
            for tile in self.gallery_state.tiles[:64]
            if tile.state == "sending"
        ]

    def badge(self) -> int:
        return self.presenter.calls

    def retry_refused(self) -> Callable[[], object] | None:
        form = self.presenter.form
        return lambda: self.presenter.make(form)

    def handle_escape(self) -> bool:
        """Clear the search, then the error."""
        if self.presenter.problem is not None:
            self.presenter.set_problem(None)
            return True
        return False

    def set_zones(self, zones: Zones) -> None:
        self.zones = zones
        self.gallery.set_zones(zones)

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        self._toggle_list, self._toggle_inspector = toggle_list, toggle_inspector

    def activated(self) -> None:
        self._show_view(self.presenter.view)
