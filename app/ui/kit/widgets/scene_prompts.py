"""The saved prompts of images and videos: one library for both tabs, opened at the prompt of the form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.translation import tr
from app.ui.kit.widgets.dialogs import ask_text
from app.ui.kit.widgets.preset_popover import PresetPopover

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.core.preset_library import PresetLibrary
    from app.core.tasks import TaskScope
    from app.ui.kit.theme import Theme

NAME_WORDS = 6


class ScenePrompts(QObject):
    """`used` carries the words of the prompt that was chosen; `notice` a sentence for a toast."""

    used = Signal(str)
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written

    def __init__(
        self,
        theme: Theme,
        window: QWidget,
        tasks: TaskScope,
        library: PresetLibrary,
        words: Callable[[], str],
    ) -> None:
        """`words` gives the prompt as it stands in the form, which is what is saved."""
        super().__init__(window)
        self._theme = theme
        self._window = window
        self._tasks = tasks
        self._library = library
        self._words = words
        library.notice.connect(self.notice)

    @cached_property
    def popover(self) -> PresetPopover:
        """Made when it is first wanted."""
        library = self._library
        made = PresetPopover(
            self._theme,
            self._window,
            title=tr("Saved prompts"),
            empty=tr("Saved prompts work for both images and videos."),
        )
        made.show_rows(library.rows("scene"))
        library.changed.connect(lambda _rows: made.show_rows(library.rows("scene")))
        made.used.connect(self._use)
        made.remove_requested.connect(library.remove)
        made.undo_requested.connect(library.undo)
        made.file_chosen.connect(library.import_file)
        made.target_chosen.connect(library.export)
        made.save_requested.connect(lambda: self._tasks.start_unless_running("save-scene", self._save))
        made.rename_requested.connect(
            lambda key, name: self._tasks.start_unless_running("rename-scene", self._rename, key, name)
        )
        return made

    def open_under(self, opener: QWidget) -> None:
        """Open the library; it can be saved to only when something is written."""
        self._library.refresh()
        self.popover.save.setEnabled(bool(self._words().strip()))
        self.popover.open_under(opener)

    def _use(self, preset_id: str) -> None:
        preset = self._library.one(preset_id)
        if preset is not None:
            self.used.emit(str(preset.body.get("text") or ""))

    async def _save(self) -> None:
        words = self._words().strip()
        name = await ask_text(
            self._theme,
            self._window,
            tr("Save prompt"),
            tr("Name"),
            value=" ".join(words.split()[:NAME_WORDS]),
            max_chars=80,
        )
        if name:
            self._library.keep("scene", name, {"text": words})

    async def _rename(self, preset_id: str, name: str) -> None:
        title = tr("Rename")
        wanted = await ask_text(self._theme, self._window, title, tr("Name"), value=name, action=title, max_chars=80)
        if wanted:
            self._library.rename(preset_id, wanted)
