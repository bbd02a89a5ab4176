"""What the Images tab can do by name and by key, and what of it the palette opens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.tab import PaletteItem, TabAction

if TYPE_CHECKING:
    from app.ui.images.page import ImagesPage


def images_actions(page: ImagesPage) -> tuple[TabAction, ...]:
    """Every action of the tab, in the order of its menu."""
    presenter, gallery, image_actions = page.presenter, page.gallery, page.image_actions

    def has_file() -> bool:
        return presenter.library.path(gallery.current()) is not None

    def chosen() -> bool:
        return bool(gallery.current())

    def made() -> bool:
        image = presenter.library.one(gallery.current())
        return image is not None and image.kind == "generate"

    def action(key: str) -> None:
        image_actions.do(gallery.current(), key)

    return (
        TabAction("images.new", tr("New image"), page.clear, "Ctrl+N", "plus", "file"),
        TabAction("images.open", tr("Open an image…"), page.open_file, "Ctrl+O", "folder", "file"),
        TabAction(
            "images.save",
            tr("Save image as…"),
            page.save,
            "Ctrl+S",
            "download",
            "file",
            enabled=has_file,
            also=("Ctrl+E",),
        ),
        TabAction(
            "images.pattern",
            tr("Save with file name pattern…"),
            image_actions.save_by_pattern,
            "",
            "download",
            "file",
            enabled=has_file,
        ),
        TabAction("images.folder", tr("Open images folder"), page.open_folder, "", "folder", "file"),
        TabAction("images.make", tr("Generate images"), page.make, "Ctrl+Return", "sparkle"),
        TabAction("images.prompts", tr("Saved prompts…"), page.open_prompts, "Ctrl+Shift+P", "list"),
        TabAction("images.stop", tr("Stop waiting"), lambda: _done(presenter.stop()), "", "stop"),
        TabAction("images.edit", tr("Edit image…"), lambda: action("edit"), "", "mask", enabled=has_file),
        TabAction("images.rerun", tr("Reuse settings"), page.rerun, "Ctrl+R", "refresh", enabled=made),
        TabAction(
            "images.vary", tr("New variation, new seed"), lambda: page.rerun(vary=True), "", "branch", enabled=made
        ),
        TabAction(
            "images.menu", tr("More actions for the image…"), lambda: _open_menu(page), "", "more", enabled=chosen
        ),
        TabAction("images.chat", tr("Ask about it in Chat"), image_actions.to_chat, "", "chat", enabled=has_file),
        TabAction(
            "images.video", tr("Use as first frame of a video"), image_actions.to_video, "", "video", enabled=has_file
        ),
        TabAction("images.copy", tr("Copy image"), image_actions.copy, "Ctrl+Shift+C", "copy", enabled=has_file),
        TabAction("images.large", tr("Show large"), image_actions.open_large, "", "expand", enabled=has_file),
        TabAction("images.show", tr("Open in system viewer"), image_actions.open_outside, "", "eye", enabled=has_file),
        TabAction("images.star", tr("Star image"), page.star, "Ctrl+D", "star", enabled=chosen),
        TabAction("images.trash", tr("Move to trash"), page.trash, "", "trash", enabled=chosen),
        TabAction("images.open_trash", tr("Open trash"), page.open_trash, "", "trash"),
        TabAction("images.model", tr("Choose a model"), page.form.model.showPopup, "Ctrl+Shift+M", "sparkle"),
        TabAction("images.request", tr("Show request"), page.open_request, "Ctrl+Shift+E", "code"),
        TabAction("images.next", tr("Next image"), lambda: page.step(1), "Alt+Down", "arrow-down"),
        TabAction("images.previous", tr("Previous image"), lambda: page.step(-1), "Alt+Up", "arrow-up"),
    )


def _open_menu(page: ImagesPage) -> None:
    view = page.gallery.view
    page.open_menu(view.viewport().mapToGlobal(view.visualRect(view.currentIndex()).center()))


def images_palette_items(page: ImagesPage, text: str, limit: int) -> Sequence[PaletteItem]:
    """Images whose words hold what was typed."""
    words = SearchTerms(text)
    found: list[PaletteItem] = []
    for tile in islice(page.gallery_state.tiles, 2000):
        if len(found) >= limit:
            break
        if words.are_in(tile.title, tile.second_line):
            run = partial(page.gallery.select, tile.id, is_there=True)
            found.append(PaletteItem(f"images:{tile.id}", tile.title, tile.second_line, "images", "open", run))
    return found


def _done(_result: object) -> None:
    """For actions whose work gives something back that nobody needs."""
