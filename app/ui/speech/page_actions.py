"""What the speech tab can do by name and by key, and what of it the palette opens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.kit.lists.rows import matching
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.tab import PaletteItem, TabAction

if TYPE_CHECKING:
    from app.ui.speech.page import SpeechPage
    from app.ui.speech.state import ClipRow


def speech_actions(page: SpeechPage) -> tuple[TabAction, ...]:
    """Every action of the tab, in the order of its menu."""
    presenter, sound, clip_actions = page.presenter, page.presenter.sound, page.clip_actions

    def has_sound() -> bool:
        return sound.view.ready

    def has_clip() -> bool:
        return bool(presenter.head.clip_id)

    def has_row() -> bool:
        return bool(presenter.head.row_id)

    def can_speak() -> bool:
        return not presenter.is_speaking  # what was typed a moment ago is looked at when it is pressed

    def missing() -> bool:
        return sound.view.missing_parts > 0 and not presenter.is_speaking

    return (
        TabAction("speech.new", tr("New clip"), page.new_clip, "Ctrl+N", "plus", "file"),
        TabAction("speech.open", tr("Open a text file…"), page.open_text_file, "Ctrl+O", "folder", "file"),
        TabAction(
            "speech.save",
            tr("Save clip as…"),
            lambda: page.save_clip(sound.view.clip_id),
            "Ctrl+S",
            "download",
            "file",
            enabled=lambda: sound.view.can_save,
            also=("Ctrl+E",),
        ),
        TabAction(
            "speech.pattern",
            tr("File name pattern…"),
            lambda: page.tasks.replace("speech pattern", page.voices.ask_pattern),
            "",
            "pencil",
            "file",
            words=tr("file name pattern export"),
        ),
        TabAction("speech.speak", tr("Speak"), page.speak, "Ctrl+Return", "wave", enabled=can_speak),
        TabAction(
            "speech.file", tr("Speak to file"), lambda: page.speak(aloud=False), "", "download", enabled=can_speak
        ),
        TabAction(
            "speech.stop",
            tr("Stop"),
            lambda: _done(presenter.stop()),
            "",
            "stop",
            enabled=lambda: presenter.is_speaking or sound.view.plays,
        ),
        TabAction(
            "speech.go_on",
            tr("Get missing parts"),
            lambda: _done(presenter.go_on(sound.view.clip_id)),
            "Ctrl+R",
            "refresh",
            enabled=missing,
        ),
        TabAction("speech.play", tr("Play or pause"), sound.toggle, "", "play", enabled=has_sound),
        TabAction(
            "speech.play_here",
            tr("Play from cursor"),
            lambda: sound.play_sentence_at(page.main.editor.character_at(page.main.editor.textCursor().position())),
            "Ctrl+Shift+Return",
            "play",
            enabled=has_sound,
        ),
        TabAction(
            "speech.next_sentence",
            tr("Next sentence"),
            lambda: sound.skip_sentence(1),
            "",
            "forward-5",
            enabled=has_sound,
        ),
        TabAction(
            "speech.previous_sentence",
            tr("Previous sentence"),
            lambda: sound.skip_sentence(-1),
            "",
            "back-5",
            enabled=has_sound,
        ),
        TabAction("speech.audition", tr("Compare voices…"), page.voices.ask_audition, "", "grid"),
        TabAction(
            "speech.voices",
            tr("Choose a voice"),
            page.open_voices,
            "Ctrl+Shift+L",
            "speech",
            words=tr("speaker narrator"),
        ),
        TabAction(
            "speech.model", tr("Choose a model…"), lambda: _done(page.open_model_menu()), "Ctrl+Shift+M", "sparkle"
        ),
        TabAction("speech.clone", tr("Clone a voice…"), page.voices.ask_clone, "", "microphone"),
        TabAction("speech.own", tr("My voices"), page.open_own_voices, "", "user"),
        TabAction("speech.request", tr("Show request"), page.open_request, "Ctrl+Shift+E", "code"),
        TabAction("speech.rename", tr("Rename clip"), page.rename, "F2", "pencil", enabled=has_row),
        TabAction(
            "speech.star",
            tr("Star clip or voice"),
            page.star,
            "Ctrl+D",
            "star",
            enabled=lambda: has_clip() or page.side.picker.view.hasFocus(),
        ),
        TabAction(
            "speech.again",
            tr("Speak again with the selected voice"),
            lambda: page.speak_again(presenter.head.clip_id),
            "Ctrl+Shift+D",
            "retry",
            enabled=lambda: has_clip() and can_speak(),
        ),
        TabAction(
            "speech.compare",
            tr("Compare clips side by side"),
            page.compare_selected,
            "",
            "grid",
            enabled=lambda: len(page.list.selected()) > 1 or has_clip(),
        ),
        TabAction(
            "speech.trash",
            tr("Move clip to trash"),
            lambda: clip_actions.move_to_trash((presenter.head.clip_id,)),
            "",
            "trash",
            enabled=has_clip,
        ),
        TabAction(
            "speech.open_trash", tr("Open trash"), page.open_trash, "", "trash", words=tr("deleted bin recycle restore")
        ),
        TabAction("speech.next", tr("Next clip"), lambda: page.step(1), "Alt+Down", "arrow-down"),
        TabAction("speech.previous", tr("Previous clip"), lambda: page.step(-1), "Alt+Up", "arrow-up"),
    )


def speech_palette_items(page: SpeechPage, rows: Sequence[ClipRow], text: str, limit: int) -> list[PaletteItem]:
    """Takes, then voices, whose words hold what was typed."""
    words = SearchTerms(text)
    found = [
        PaletteItem(f"speech:{row.id}", row.title, row.second_line, "speech", "open", partial(page.open_clip, row.id))
        for row in islice(matching(rows, words, lambda row: (row.title, row.second_line)), limit)
    ]
    if words:
        for voice in page.presenter.voice_list.all():
            if len(found) >= limit:
                break
            if words.are_in(voice.name, voice.id, voice.model_name, "voice"):
                key, run = f"voice:{voice.model}:{voice.id}", partial(page.presenter.use_voice, *voice.key)
                found.append(
                    PaletteItem(
                        key,
                        voice.name,
                        tr("Voice of {model_name}", model_name=voice.model_name),
                        "speech",
                        "model",
                        run,
                    )
                )
    return found[:limit]


def _done(_result: object) -> None:
    """For actions whose work gives something back that nobody needs."""
