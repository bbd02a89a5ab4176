"""Where to save: the name says what is in the file, whatever was typed, and nothing is overwritten unasked."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.ui.kit.save_dialog import ask_to_save, fitted


@pytest.mark.parametrize(
    ("typed", "suffixes", "expected"),
    [
        ("clip.wav", (".aac",), "clip.aac"),  # another kind's suffix gives way
        ("clip.AAC", (".aac",), "clip.AAC"),
        ("photo.jpeg", (".jpg",), "photo.jpeg"),
        ("photo.jpg", (".jpeg",), "photo.jpg"),
        ("photo.png", (".jpg",), "photo.jpg"),
        ("Mr. Smith", (".mp3",), "Mr. Smith.mp3"),  # no suffix at all
        ("take 2.1", (".mp3",), "take 2.1.mp3"),
        ("receipts.json", (".csv", ".json"), "receipts.json"),
        ("receipts", (".csv", ".json"), "receipts.csv"),
        ("notes.anything", (), "notes.anything"),
    ],
)
def test_a_name_gets_the_suffix_of_what_is_written(typed: str, suffixes: tuple[str, ...], expected: str) -> None:
    assert fitted(Path("/home") / typed, suffixes) == Path("/home") / expected


def asked(qtbot: QtBot, name: str, **options: object) -> tuple[QWidget, QFileDialog, list[Path]]:
    parent, saved = QWidget(), []
    qtbot.addWidget(parent)
    return parent, ask_to_save(parent, "Save", name, saved.append, **options), saved


def test_sound_of_another_kind_is_not_saved_under_the_name_of_wav(qtbot: QtBot, tmp_path: Path) -> None:
    _parent, dialog, saved = asked(qtbot, "The tide turns.aac")
    dialog.fileSelected.emit(str(tmp_path / "clip.wav"))
    assert saved == [tmp_path / "clip.aac"]


def test_a_file_that_was_not_named_is_overwritten_only_after_a_question(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "clip.aac").write_bytes(b"another")
    parent, dialog, saved = asked(qtbot, "The tide turns.aac")
    dialog.fileSelected.emit(str(tmp_path / "clip.wav"))
    assert saved == []
    again = parent.findChildren(QFileDialog)[-1]
    assert again is not dialog and again.isVisible()
    assert again.selectedFiles() == [str(tmp_path / "clip.aac")]  # with Qt's own question when it is confirmed
    again.fileSelected.emit(str(tmp_path / "clip.aac"))
    assert saved == [tmp_path / "clip.aac"]


@pytest.mark.parametrize(
    ("name", "proposed"),
    [
        ("nul.md", "_nul.md"),
        ("a/b: c?.srt", "a b c.srt"),
        ("invoice\u202egnp.exe", "invoice gnp.exe"),
        (f"{'東' * 120}.vtt", f"{'東' * 65}.vtt"),
        (f"x.{'y' * 300}", f"x.{'y' * 198}"),
        ("README", "README"),
    ],
)
def test_what_a_stranger_called_a_file_is_proposed_as_a_name_that_every_system_takes(
    qtbot: QtBot, name: str, proposed: str
) -> None:
    _parent, dialog, _saved = asked(qtbot, name)
    assert [Path(path).name for path in dialog.selectedFiles()] == [proposed]
