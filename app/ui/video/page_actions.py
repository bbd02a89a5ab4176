"""What the video tab can do by name and by key, and what of it the palette opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.kit.lists.rows import matching
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.tab import PaletteItem, TabAction
from app.ui.video.state import JobRow

if TYPE_CHECKING:
    from app.ui.video.page import VideoPage


def video_actions(page: VideoPage) -> tuple[TabAction, ...]:
    """Every action of the tab, in the order of its menu."""
    presenter, player = page.presenter, page.side.player

    def can(action: str) -> Callable[[], bool]:
        return lambda: action in page.detail.actions

    def has_video() -> bool:
        return bool(page.detail.film)

    def act(action: str) -> Callable[[], None]:
        return lambda: page.act(action)

    return (
        TabAction("video.new", tr("New video"), page.new_video, "Ctrl+N", "plus", "file"),
        TabAction("video.save", tr("Save video as…"), act("save"), "Ctrl+S", "download", "file", enabled=can("save")),
        TabAction("video.folder", tr("Show in folder"), act("folder"), "", "folder", "file", enabled=can("folder")),
        TabAction("video.queue", tr("Queue video"), page.queue, "Ctrl+Return", "video"),
        TabAction("video.model", tr("Choose a model…"), page.choose_model, "Ctrl+Shift+M", "sparkle"),
        TabAction("video.prompts", tr("Saved prompts…"), page.open_prompts, "Ctrl+Shift+P", "list"),
        TabAction("video.use", tr("Reuse settings"), act("use"), "Ctrl+Shift+D", "replay", enabled=can("use")),
        TabAction("video.again", tr("Generate again…"), act("again"), "Ctrl+R", "retry", enabled=can("again")),
        TabAction("video.cancel", tr("Cancel waiting job"), act("cancel"), "", "close", enabled=can("cancel")),
        TabAction("video.sooner", tr("Send job sooner"), act("up"), "Alt+Shift+Down", "arrow-down", enabled=can("up")),
        TabAction("video.later", tr("Send job later"), act("down"), "Alt+Shift+Up", "arrow-up", enabled=can("down")),
        TabAction("video.send", tr("Queue held job"), act("send"), "", "video", enabled=can("send")),
        TabAction("video.consent", tr("Review consent…"), act("consent"), "", "shield", enabled=can("consent")),
        TabAction("video.fetch", tr("Download again"), act("fetch"), "", "download", enabled=can("fetch")),
        TabAction("video.play", tr("Play or pause"), player.toggle, "", "play", enabled=has_video),
        TabAction(
            "video.step", tr("Next frame"), partial(player.step_frame, 1), "", "chevron-right", enabled=has_video
        ),
        TabAction(
            "video.back", tr("Previous frame"), partial(player.step_frame, -1), "", "chevron-left", enabled=has_video
        ),
        TabAction("video.loop", tr("Loop"), player.loop.toggle, "", "refresh", enabled=has_video),
        TabAction("video.expand", tr("Full size"), page.expand, "", "expand", enabled=has_video),
        TabAction("video.copy", tr("Copy video"), page.copy_video, "Ctrl+Shift+C", "copy", enabled=has_video),
        TabAction("video.details", tr("Copy details"), page.side.copy_facts, "", "copy", enabled=can("copy")),
        TabAction(
            "video.clean",
            tr("Delete the service’s copy…"),
            act("clean"),
            "Ctrl+Shift+Del",
            "globe",
            enabled=can("clean"),
        ),
        TabAction("video.request", tr("Show request"), page.open_request, "Ctrl+Shift+E", "code"),
        TabAction("video.next", tr("Next video"), lambda: page.step(1), "Alt+Down", "arrow-down"),
        TabAction("video.previous", tr("Previous video"), lambda: page.step(-1), "Alt+Up", "arrow-up"),
        TabAction("video.trash", tr("Move to trash"), act("trash"), "Del", "trash", enabled=can("trash")),
        TabAction("video.open_trash", tr("Open trash"), page.open_trash, "", "trash"),
        TabAction("video.clear", tr("Clear form"), presenter.form.clear, "", "refresh"),
    )


def video_palette_items(page: VideoPage, rows: Sequence[JobRow], text: str, limit: int) -> tuple[PaletteItem, ...]:
    """The videos whose words contain all that was typed, newest first."""
    words = SearchTerms(text)
    found = islice(matching(rows, words, lambda row: (row.title, row.second)), limit)
    return tuple(
        PaletteItem(f"video:{row.id}", row.title, row.badge, "video", "open", partial(page.open_job, row.id))
        for row in found
    )
