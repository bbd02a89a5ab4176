"""What leaves the tab as a file: the transcript in the format that was chosen, a copy of the recording."""

from __future__ import annotations

import shutil
from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.core.file_saving import save_file
from app.core.number_format import count
from app.translation import tr
from app.ui.transcription.session.exporting import FORMATS, CueRules, Head, cues, export, srt, vtt
from app.ui.transcription.session.rows import export_head
from app.ui.transcription.state import ExportChoice, Preview

if TYPE_CHECKING:
    from pathlib import Path

    from app.ui.transcription.presenter import TranscriptionPresenter
    from app.ui.transcription.session.document import Document
    from app.ui.transcription.session.transcript_editor import TranscriptEditor

PREVIEW_CHARS = 1_200
PREVIEW_CUES = 2


class Exports(QObject):
    """Exports of the open transcript. Files are written later; `TranscriptionPresenter.notice` tells."""

    changed = Signal(object)  # ExportChoice

    def __init__(self, presenter: TranscriptionPresenter, reading: TranscriptEditor) -> None:
        super().__init__(presenter)
        self._presenter = presenter
        self._reading = reading
        self.choice = self._kept_choice()

    def _kept_choice(self) -> ExportChoice:
        kept = self._presenter.kept()
        kind = kept.get("export", "srt")

        def number(name: str, low: float, high: float, default: float) -> float:
            text = kept.get(name, "")
            return max(low, min(high, float(text))) if is_number(text) else default

        rules = CueRules(
            int(number("line_chars", 10, 120, 42)), int(number("lines", 1, 4, 2)), number("longest_s", 1, 30, 6.0)
        )
        return ExportChoice(kind if kind in FORMATS else "srt", rules)

    def choose(self, choice: ExportChoice) -> None:
        """Take a format with its rules, for every export from now on."""
        self.choice = choice
        rules = choice.rules
        self._presenter.remember(
            export=choice.kind,
            line_chars=str(rules.line_chars),
            lines=str(rules.lines),
            longest_s=f"{rules.longest_s:g}",
        )
        self.changed.emit(choice)

    def text(self) -> str:
        """The whole export as it would be saved."""
        return export(self.choice.kind, self._reading.document, self._head(), self.choice.rules)

    def preview(self, at_s: float) -> Preview:
        """The piece of the export around a moment: two cues, or the beginning."""
        document, choice = self._reading.document, self.choice
        if not document.segments:
            return Preview()
        if choice.kind in ("srt", "vtt"):
            return _cue_preview(document, choice, at_s)
        whole = export(choice.kind, _beginning(document, at_s), self._head(), choice.rules)
        cut = whole[:PREVIEW_CHARS]
        return Preview(cut + ("…" if len(whole) > len(cut) else ""), "")

    def _head(self) -> Head:
        row = self._presenter.open_row
        if row is None:
            return Head()
        return export_head(row, self._presenter.account_models.name_of(row.model), self._reading.received)

    def save(self, path: Path) -> None:
        """Write the export to a file the person named."""
        self._presenter.do(self._save, path, self.text())

    async def _save(self, path: Path, text: str) -> None:
        data = text.encode("utf-8")
        self._presenter.notice.emit(await save_file(path, lambda place: place.write_bytes(data)))

    def save_sound(self, path: Path) -> None:
        """Save a copy of the open recording as a file the person named."""
        row = self._presenter.open_row
        if row is not None:
            self._presenter.do(self._save_sound, self._presenter.folders.sound_of(row), path)

    async def _save_sound(self, source: Path, target: Path) -> None:
        self._presenter.notice.emit(await save_file(target, partial(shutil.copyfile, source)))


def is_number(text: str) -> bool:
    """Whether a kept text is a number that can be compared."""
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def _cue_preview(document: Document, choice: ExportChoice, at_s: float) -> Preview:
    found = cues(document, choice.rules)
    first = max(0, bisect_right([cue.start for cue in found], at_s) - 1)
    shown = found[first : first + PREVIEW_CUES]
    text = (srt if choice.kind == "srt" else vtt)(shown).removeprefix("WEBVTT\n\n")
    lines: list[str] = []
    for line in text.splitlines():
        number = line.isdigit() and (not lines or not lines[-1])
        lines.append(str(int(line) + first) if number else line)
    return Preview("\n".join(lines), tr("cue {place} of {count}", place=count(first + 1), count=count(len(found))))


def _beginning(document: Document, at_s: float, most: int = 30) -> Document:
    """As much of a document as a preview can show, from the segment that is heard."""
    first = document.segment_at(at_s) or 0
    return document.changed(document.segments[first : first + most])
