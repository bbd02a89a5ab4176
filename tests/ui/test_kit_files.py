"""Which files to open and where to save: what is chosen arrives once, and nothing is overwritten unasked.

The name of a saved file says what is in it, whatever was typed.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from app.core.file_saving import save_file
from app.ui.kit.file_dialogs import ask_for_file, ask_for_files, ask_for_folder, ask_to_save, fitted


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


def test_another_kind_of_file_changes_the_name_proposed(qtbot: QtBot) -> None:
    _parent, dialog, _saved = asked(
        qtbot, "The tide turns.mp3", suffixes=(".mp3", ".flac"), kinds="MP3 (*.mp3);;FLAC (*.flac)"
    )
    dialog.filterSelected.emit("FLAC (*.flac)")
    assert [Path(path).name for path in dialog.selectedFiles()] == ["The tide turns.flac"]
    dialog.filterSelected.emit("MP3 (*.mp3)")
    assert [Path(path).name for path in dialog.selectedFiles()] == ["The tide turns.mp3"]


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


@pytest.mark.parametrize(
    ("ask", "mode", "arrives"),
    [
        (ask_for_file, QFileDialog.FileMode.ExistingFile, Path("/home/a.txt")),
        (ask_for_files, QFileDialog.FileMode.ExistingFiles, (Path("/home/a.txt"), Path("/home/b.txt"))),
        (ask_for_folder, QFileDialog.FileMode.Directory, Path("/home/a.txt")),
    ],
)
def test_what_is_opened_exists_and_the_dialog_goes_when_it_is_done(
    qtbot: QtBot, ask: Callable[..., None], mode: QFileDialog.FileMode, arrives: object
) -> None:
    parent, chosen = QWidget(), []
    qtbot.addWidget(parent)
    ask(parent, "Open", chosen.append)
    (dialog,) = parent.findChildren(QFileDialog)
    assert dialog.isVisible() and dialog.fileMode() is mode
    dialog.filesSelected.emit(["/home/a.txt", "/home/b.txt"])
    dialog.fileSelected.emit("/home/a.txt")
    assert chosen == [arrives]
    dialog.reject()
    qtbot.waitUntil(lambda: not parent.findChildren(QFileDialog), timeout=60_000)


async def test_what_came_of_saving_is_said_in_one_way(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    assert await save_file(path, lambda place: place.write_bytes(b"{}")) == "Saved as answer.json"
    assert path.read_bytes() == b"{}"
    refused = await save_file(tmp_path, lambda place: place.write_bytes(b"{}"))
    assert refused.startswith(f"{tmp_path.name} could not be saved: ")


def test_each_dialog_opens_in_the_folder_that_was_chosen_in_it_last(qtbot: QtBot, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    for name in ("texts", "out"):
        (tmp_path / name).mkdir()
    ask_for_file(parent, "Open a text", lambda _: None)
    parent.findChildren(QFileDialog)[-1].filesSelected.emit([str(tmp_path / "texts" / "a.txt")])
    ask_to_save(parent, "Save a clip", "clip.wav", lambda _: None).fileSelected.emit(str(tmp_path / "out" / "b.wav"))
    ask_for_file(parent, "Open a text", lambda _: None)
    assert parent.findChildren(QFileDialog)[-1].directory().path() == str(tmp_path / "texts")
    assert ask_to_save(parent, "Save a clip", "c.wav", lambda _: None).directory().path() == str(tmp_path / "out")


def test_the_first_dialog_opens_in_documents(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _place: str(tmp_path))
    parent = QWidget()
    qtbot.addWidget(parent)
    ask_for_file(parent, "Never opened before", lambda _: None)
    assert parent.findChildren(QFileDialog)[-1].directory().path() == str(tmp_path)
    assert ask_to_save(parent, "Never saved before", "c.wav", lambda _: None).directory().path() == str(tmp_path)


def test_where_there_is_no_documents_folder_it_opens_at_home(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qt would take the name of a folder that is missing for that of a file."""
    monkeypatch.setattr(QStandardPaths, "writableLocation", lambda _place: str(tmp_path / "Documents"))
    parent = QWidget()
    qtbot.addWidget(parent)
    ask_for_file(parent, "Never opened anywhere", lambda _: None)
    assert parent.findChildren(QFileDialog)[-1].directory().path() == str(Path.home())
