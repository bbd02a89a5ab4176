"""What the transcribe tab can do by name and by key, and what of it the palette opens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.kit.lists.rows import matching
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.tab import PaletteItem, TabAction
from app.ui.transcription.state import Entry

if TYPE_CHECKING:
    from app.ui.transcription.page import TranscriptionPage


def transcription_actions(page: TranscriptionPage) -> tuple[TabAction, ...]:
    """Every action of the tab, in the order of its menu."""
    presenter, main = page.presenter, page.main
    view = main.result.view

    def on(*views: str) -> bool:
        return main.view in views

    def stored() -> bool:
        return page.head.id is not None

    def recording() -> bool:
        return presenter.recorder.is_recording

    def nudge(edge: str, by: float) -> None:
        view.nudge_requested.emit(view.segment, edge, by)

    discard = presenter.recorder.discard_recording

    def choose_model() -> None:
        main.header.open_models()

    def reading() -> bool:
        return on("result") and bool(view.document.segments)

    return (
        TabAction("transcription.new", tr("New recording"), page.new_recording, "Ctrl+N", "plus", "file"),
        TabAction("transcription.files", tr("Open audio files…"), page.choose_files, "Ctrl+O", "document", "file"),
        TabAction(
            "transcription.folder", tr("Open a folder of audio files…"), page.choose_folder, "", "folder", "file"
        ),
        TabAction("transcription.table", tr("File table"), presenter.show_batch, "", "list"),
        TabAction(
            "transcription.record", tr("Start or stop recording"), page.toggle_recording, "Ctrl+Shift+R", "record"
        ),
        TabAction(
            "transcription.main",
            tr("Transcribe"),
            page.main_action,
            "Ctrl+Return",
            "transcribe",
            enabled=lambda: not on("result"),
        ),
        TabAction(
            "transcription.pause",
            tr("Pause or continue recording"),
            presenter.recorder.pause_recording,
            "",
            "pause",
            enabled=recording,
        ),
        TabAction("transcription.mark", tr("Add a note"), presenter.mark, "", "flag", enabled=stored),
        TabAction(
            "transcription.discard",
            tr("Discard recording"),
            discard,
            "",
            "trash",
            enabled=recording,
        ),
        TabAction("transcription.test", tr("Test microphone"), presenter.recorder.test_microphone, "", "microphone"),
        TabAction(
            "transcription.model",
            tr("Choose a model…"),
            lambda: _done(main.header.open_models()),
            "Ctrl+Shift+M",
            "sparkle",
        ),
        TabAction(
            "transcription.retry", tr("Try again"), page.try_again, "Ctrl+R", "retry", enabled=lambda: on("sound")
        ),
        TabAction(
            "transcription.play",
            tr("Play or pause"),
            presenter.playing.toggle,
            "",
            "play",
            enabled=lambda: on("result", "sound"),
        ),
        TabAction(
            "transcription.save_sound",
            tr("Save recording as…"),
            page.save_sound,
            icon="download",
            enabled=lambda: stored() and page.head.origin == "recording" and not recording(),
        ),
        TabAction("transcription.edit", tr("Edit segment"), view.begin_edit, "", "pencil", enabled=reading),
        TabAction("transcription.split", tr("Split segment at word"), view.split, "", "scissors", enabled=reading),
        TabAction("transcription.merge", tr("Merge with previous segment"), view.merge_before, "", "", enabled=reading),
        TabAction(
            "transcription.earlier", tr("Move segment 0.1 s earlier"), partial(nudge, "both", -0.1), enabled=reading
        ),
        TabAction("transcription.later", tr("Move segment 0.1 s later"), partial(nudge, "both", 0.1), enabled=reading),
        TabAction(
            "transcription.next_match", tr("Next match"), partial(page.find_next, 1), "Ctrl+G", "", enabled=reading
        ),
        TabAction(
            "transcription.previous_match",
            tr("Previous match"),
            partial(page.find_next, -1),
            "Ctrl+Shift+G",
            enabled=reading,
        ),
        TabAction(
            "transcription.replace", tr("Find and replace"), page.find_and_replace, "", "search", enabled=reading
        ),
        TabAction("transcription.copy", tr("Copy text"), page.copy_text, "Ctrl+Shift+C", "copy", enabled=reading),
        TabAction("transcription.export", tr("Save export…"), page.save_export, "Ctrl+E", "download", enabled=reading),
        TabAction(
            "transcription.save", tr("Save export"), page.save_export, "Ctrl+S", enabled=reading, in_palette=False
        ),
        TabAction(
            "transcription.chat",
            tr("Ask about it in Chat"),
            page.side.export.chat_requested.emit,
            "",
            "chat",
            enabled=reading,
        ),
        TabAction(
            "transcription.speech",
            tr("Speak transcript"),
            page.side.export.speech_requested.emit,
            "",
            "speech",
            enabled=reading,
        ),
        TabAction("transcription.request", tr("Show request"), page.open_request, "Ctrl+Shift+E", "code"),
        TabAction("transcription.options", tr("Show options"), page.open_options, "", "settings"),
        TabAction("transcription.next", tr("Next transcript"), lambda: page.step(1), "Alt+Down", "arrow-down"),
        TabAction("transcription.previous", tr("Previous transcript"), lambda: page.step(-1), "Alt+Up", "arrow-up"),
        TabAction("transcription.rename", tr("Rename"), page.rename, "F2", "pencil", enabled=stored),
        TabAction("transcription.trash", tr("Move to trash"), page.trash, "Del", "trash", enabled=stored),
        TabAction("transcription.open_trash", tr("Open trash"), page.open_trash, "", "trash"),
        TabAction(
            "transcription.redo",
            tr("Redo edit"),
            lambda: _done(presenter.reading.redo()),
            "Ctrl+Shift+Z",
            "",
            "edit",
            enabled=lambda: presenter.reading.reading().can_redo,
        ),
    )


def _done(_result: object) -> None:
    """An action returns nothing."""


def transcription_palette_items(
    page: TranscriptionPage, entries: Sequence[Entry], text: str, limit: int
) -> tuple[PaletteItem, ...]:
    """Rows whose titles hold every typed word, then models."""
    words = SearchTerms(text)
    items = [
        PaletteItem(
            f"transcript:{entry.id}",
            entry.title,
            entry.second_line,
            "transcribe",
            "open",
            partial(page.open_row, entry.id),
        )
        for entry in islice(matching(entries, words, lambda entry: (entry.title, entry.second_line)), limit)
    ]
    items += [
        PaletteItem(
            f"asr:{model.id}",
            model.name,
            model.price,
            "sparkle",
            "model",
            partial(page.presenter.set_option, "model", model.id),
        )
        for model in page.presenter.account_models.choices()
        if words and words.are_in(model.name, model.id)
    ]
    return tuple(items[:limit])
