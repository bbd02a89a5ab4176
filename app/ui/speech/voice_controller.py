"""The wires of the inspector, and the questions that need a dialog: samples, auditions, cloning, saving."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.core import money
from app.files import read_regular
from app.text_encoding import NotText, TextEncoding, decode_text
from app.translation import tr
from app.ui.kit.file_dialogs import ask_to_save
from app.ui.kit.theme import Theme
from app.ui.kit.ticker import Ticker
from app.ui.kit.widgets.dialogs import ask_text
from app.ui.speech.editor import MAX_FILE_BYTES
from app.ui.speech.session.clip_library import DEFAULT_PATTERN, PATTERN_WORDS
from app.ui.speech.voice_catalog import Key, VoiceFilter, languages

if TYPE_CHECKING:
    from app.ui.speech.page import SpeechPage


class VoiceController(QObject):
    """Belongs to one page; keeps it short."""

    def __init__(self, page: SpeechPage, theme: Theme) -> None:
        super().__init__(page)
        self._page = page
        self._theme = theme
        presenter, side = page.presenter, page.side
        presenter.choice_changed.connect(self._show_choice)
        presenter.voices_changed.connect(self.show_voices)
        presenter.speech_options_changed.connect(lambda view: side.delivery.show_speech_options(view, presenter.model))
        side.delivery.speech_option_edited.connect(presenter.set_speech_option)
        picker = side.picker
        picker.filter_changed.connect(self._filter)
        picker.voice_chosen.connect(lambda key: presenter.use_voice(*key))
        picker.sample_requested.connect(self._sample)
        picker.star_requested.connect(lambda key: page.clones.set_favorite(*key))
        picker.clone_requested.connect(self.ask_clone)
        picker.compare_requested.connect(self.ask_audition)
        clones = page.clones
        clones.cloned_voices_changed.connect(side.cloned_voices.show_rows)
        Ticker(side.cloned_voices, clones.publish)
        clones.sample_changed.connect(lambda key, working: picker.show_sounding(key, working=working))
        clones.notice.connect(page.toast_requested)
        clones.problem_changed.connect(page.presenter.set_problem)
        side.cloned_voices.clone_requested.connect(self.ask_clone)
        side.cloned_voices.use_requested.connect(clones.use)
        side.cloned_voices.again_requested.connect(clones.clone_again)
        side.cloned_voices.play_requested.connect(clones.play_own_sample)
        side.cloned_voices.trash_requested.connect(clones.move_to_trash)

    def show_all(self) -> None:
        presenter = self._page.presenter
        self._show_choice(presenter.choice)
        self.show_voices()
        self._page.side.delivery.show_speech_options(presenter.speech_options_view(), presenter.model)
        self._page.clones.publish()

    def _show_choice(self, choice: object) -> None:
        presenter, main = self._page.presenter, self._page.main
        names = " · ".join(filter(None, (presenter.choice.voice_name, presenter.choice.model_name)))
        main.model.setText(names or tr("Choose a model"))
        main.model.setAccessibleName(tr("Voice and model: {names}", names=names))
        main.model.updateGeometry()
        self._page.side.picker.show_chosen((presenter.choice.model, presenter.choice.voice))

    def show_voices(self) -> None:
        presenter, picker = self._page.presenter, self._page.side.picker
        voice_list = presenter.voice_list
        picker.show_choices([(model.id, model.name) for model in voice_list.models], languages(voice_list.all()))
        note = tr("not checked yet") if voice_list.is_offline else ""
        picker.show_groups(voice_list.groups(presenter.choice.model), len(voice_list.all()), note=note)
        self._page.main.audition.setEnabled(presenter.clip_library is not None)

    def _filter(self, chosen: VoiceFilter) -> None:
        self._page.presenter.voice_list.filter = chosen
        self.show_voices()

    # -- samples --------------------------------------------------------------------------------------------------

    def _sample(self, key: Key) -> None:
        clones = self._page.clones
        if clones.sounding == key:
            clones.stop_sample()
            return
        self._page.tasks.replace("speech ask sample", self._ask_sample, key)

    async def _ask_sample(self, key: Key) -> None:
        """Say what it costs before the first listening; afterwards the sample is here."""
        voice_list = self._page.presenter.voice_list
        voice = voice_list.find(*key)
        if voice is None:
            return
        price = voice_list.sample_price(voice)
        if not voice.sample:
            cost = money.about(price) if price is not None else tr("Price unknown")
            if self._page.presenter.in_sandbox:
                cost += f", {money.PLAY_MONEY},"
            if not await self._page.confirm_price(
                tr("Hear {name}?", name=voice.name),
                tr(
                    "{cost} for “{sample_text}”. It is saved, so playing it again is free.",
                    cost=cost,
                    sample_text=voice_list.sample_text(voice),
                ),
                money.priced(tr("Hear it"), price),
            ):
                return
        self._page.clones.sample(key)

    def silence(self) -> bool:
        """Stop a sample; False when none sounds."""
        return self._page.clones.stop_sample()

    # -- audition -------------------------------------------------------------------------------------------------

    def ask_audition(self) -> None:
        self._page.main.editor.flush()
        self._page.tasks.replace("speech ask audition", self._ask_audition)

    async def _ask_audition(self) -> None:
        from app.ui.speech.audition_dialog import AuditionDialog

        page = self._page
        cursor = page.main.editor.textCursor()
        line = cursor.selectedText().replace("\u2029", " ").strip() or page.presenter.first_sentence()
        voice_list = page.presenter.voice_list
        dialog = AuditionDialog(
            self._theme, page.main, line, voice_list, page.presenter.choice, page.clip_actions.audition_price
        )
        if await dialog.answer():
            page.clip_actions.audition(dialog.line, dialog.voices)

    # -- cloning --------------------------------------------------------------------------------------------------

    def ask_clone(self) -> None:
        self._page.tasks.replace("speech ask clone", self._ask_clone)

    async def _ask_clone(self) -> None:
        from app.ui.speech.clone_dialog import CloneDialog

        page = self._page
        models = page.clones.cloning_models()
        dialog = CloneDialog(self._theme, page.main, page.clones, models)
        if page.clones.left_sample is not None:
            dialog.set_sample(*page.clones.left_sample)
        if await dialog.answer():
            page.clones.left_sample = None
            page.clones.clone(dialog.voice_name, dialog.model_id, dialog.sample)
            page.open_own_voices()
        else:
            page.clones.leave_sample()

    # -- files ----------------------------------------------------------------------------------------------------

    async def read_file(self, path: Path) -> None:
        """Put a text file into the editor."""

        def read() -> tuple[str, TextEncoding] | None:
            try:
                return decode_text(read_regular(path, MAX_FILE_BYTES))
            except (OSError, NotText):
                return None

        found = await asyncio.to_thread(read)
        if found is None:
            self._page.toast_requested.emit(tr("{name} is not a text file, or it is larger than 4 MB.", name=path.name))
            return
        text, encoding = found
        if encoding.is_guess:
            self._page.toast_requested.emit(
                tr(
                    "{name} does not say its encoding. Rialto guessed {encoding}.",
                    name=path.name,
                    encoding=encoding.name,
                )
            )
        self._page.presenter.new_clip()
        self._page.presenter.replace_text(text)

    def ask_save(self, clip_id: str) -> None:
        """Ask where to save a clip; the kind of file chosen there is its format."""
        page = self._page
        formats = page.clip_actions.export_formats(clip_id)
        if not formats:
            return
        ask_to_save(
            page.main,
            tr("Save clip"),
            page.clip_actions.proposed_name(clip_id, formats[0].name),
            lambda path: page.clip_actions.export(clip_id, path),
            suffixes=[each.suffix for each in formats],
            kinds=";;".join(f"{each.title} (*{each.suffix})" for each in formats),
        )

    async def ask_pattern(self) -> None:
        """Ask how the files of saved clips are named."""
        presenter = self._page.presenter
        pattern = await ask_text(
            self._theme,
            self._page.main,
            tr("File name pattern"),
            tr("Pattern: {words}", words=", ".join(f"{{{word}}}" for word in PATTERN_WORDS)),
            value=presenter.pattern or DEFAULT_PATTERN,
        )
        if pattern is not None:
            presenter.pattern = pattern
            presenter.save_soon(pattern=pattern)

    async def hand_on(self, clip_id: str) -> None:
        """Give a clip to Transcribe: one file that is called like it."""
        path = await self._page.clip_actions.file_to_hand_on(clip_id)
        if path is not None:
            self._page.transcribe_requested.emit(path)
