"""What can be done with a segment, by name: the menu of the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.ui.kit.widgets.menu import Menu
from app.ui.transcription.session.editing import NUDGE_S

if TYPE_CHECKING:
    from app.ui.kit.theme import Theme
    from app.ui.transcription.transcript_view import TranscriptView


def segment_menu(view: TranscriptView, theme: Theme) -> Menu:
    """Return the menu for the segment that the keyboard is on."""
    menu = Menu(theme, view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    segment = view.segment
    menu.add(view.tr("Hear from here"), "play", shortcut="Return").triggered.connect(view.hear)
    menu.add(view.tr("Edit the segment"), "pencil", shortcut="F2").triggered.connect(view.begin_edit)
    menu.add(view.tr("Copy the segment"), "copy").triggered.connect(view.copy_segment)
    menu.addSeparator()
    for words, edge, by, keys in (
        (view.tr("Earlier by 0.1 s"), "both", -NUDGE_S, "Shift+Left"),
        (view.tr("Later by 0.1 s"), "both", NUDGE_S, "Shift+Right"),
        (view.tr("Begin 0.1 s earlier"), "start", -NUDGE_S, "Alt+Left"),
        (view.tr("Begin 0.1 s later"), "start", NUDGE_S, "Alt+Right"),
        (view.tr("End 0.1 s earlier"), "end", -NUDGE_S, "Alt+Shift+Left"),
        (view.tr("End 0.1 s later"), "end", NUDGE_S, "Alt+Shift+Right"),
    ):
        menu.add(words, shortcut=keys).triggered.connect(
            lambda _on=False, edge=edge, by=by: view.nudge_wanted.emit(segment, edge, by)
        )
    menu.addSeparator()
    can_split = (view.chosen or view.spoken) is not None
    menu.add(view.tr("Split before this word"), "scissors", shortcut="S", enabled=can_split).triggered.connect(
        view.split
    )
    menu.add(view.tr("Merge with the segment before"), shortcut="Backspace", enabled=segment > 0).triggered.connect(
        view.merge_before
    )
    return menu
