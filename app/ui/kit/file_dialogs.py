"""Asks which files to open and where to save one, without a nested event loop.

The name of what is saved says what is in the file, whatever was typed.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QStandardPaths, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from app.storage.file_names import file_name
from app.translation import tr

LONGEST_SUFFIX = 10
_SUFFIX = re.compile(r"\*\.(\w+)")  # the first of a name filter
_SAME = {".jpeg": ".jpg", ".htm": ".html", ".markdown": ".md", ".oga": ".ogg", ".wave": ".wav"}


folders: dict[str, str] = {}  # title of a dialog → the folder that was chosen in it last
folder_chosen: Callable[[], object] = dict  # called after a change of `folders`, to keep them


def ask_for_file(parent: QWidget | None, title: str, chosen: Callable[[Path], object], kinds: str = "") -> None:
    """Open the dialog for one file that exists and call `chosen` with it. `kinds` is Qt's name filter."""
    _ask_to_open(parent, title, QFileDialog.FileMode.ExistingFile, kinds).fileSelected.connect(
        lambda name: chosen(Path(name))
    )


def ask_for_files(
    parent: QWidget | None, title: str, chosen: Callable[[tuple[Path, ...]], object], kinds: str = ""
) -> None:
    """Open the dialog for files that exist and call `chosen` with them. `kinds` is Qt's name filter."""
    _ask_to_open(parent, title, QFileDialog.FileMode.ExistingFiles, kinds).filesSelected.connect(
        lambda names: chosen(tuple(map(Path, names)))
    )


def ask_for_folder(parent: QWidget | None, title: str, chosen: Callable[[Path], object]) -> None:
    """Open the dialog for a folder and call `chosen` with it."""
    _ask_to_open(parent, title, QFileDialog.FileMode.Directory, "").fileSelected.connect(
        lambda name: chosen(Path(name))
    )


def _ask_to_open(parent: QWidget | None, title: str, mode: QFileDialog.FileMode, kinds: str) -> QFileDialog:
    dialog = QFileDialog(parent, title, _first_folder(title), kinds)
    dialog.setFileMode(mode)
    dialog.filesSelected.connect(lambda names: _remember(title, names[0]))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def ask_to_save(
    parent: QWidget | None,
    title: str,
    name: str,
    save: Callable[[Path], object],
    *,
    suffixes: Sequence[str] | None = None,
    kinds: str = "",
) -> QFileDialog:
    """Open the dialog with `name` proposed and call `save` with what is chosen; without a nested loop.

    `name` may hold what no disk takes; it is proposed without that. `suffixes` are those that fit what is written, the
    first for a name that has none: by itself the one of `name`, and () where any will do. A name that ends otherwise
    gets a fitting suffix, and the dialog opens again where a file of that name exists: only the person says what is
    overwritten. `kinds` is Qt's name filter; choosing another kind changes the suffix of the name.
    """
    stem, _, ending = name.rpartition(".")
    suffix = f".{ending}" if stem and ending.isalnum() and len(ending) <= LONGEST_SUFFIX else ""
    proposed = file_name(name.removesuffix(suffix), suffix, otherwise=tr("Untitled"))
    return _ask(parent, title, proposed, save, ((suffix,) if suffix else ()) if suffixes is None else suffixes, kinds)


def _ask(
    parent: QWidget | None, title: str, name: str, save: Callable[[Path], object], fitting: Sequence[str], kinds: str
) -> QFileDialog:
    """`name` may be a whole path."""
    dialog = QFileDialog(parent, title, _first_folder(title))
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    if kinds:
        dialog.setNameFilter(kinds)
    if fitting:
        dialog.setDefaultSuffix(fitting[0].removeprefix("."))
    dialog.selectFile(name)

    def take(text: str) -> None:
        _remember(title, text)
        path = fitted(Path(text), fitting)
        if path != Path(text) and path.exists():
            _ask(parent, title, str(path), save, fitting, kinds)
        else:
            save(path)

    def name_the_kind(kind: str) -> None:
        suffix = _SUFFIX.search(kind)
        if suffix is not None and fitting:
            dialog.setDefaultSuffix(suffix[1])
            typed = Path(dialog.selectedFiles()[0])
            dialog.selectFile(fitted(typed, (f".{suffix[1]}",)).name)

    dialog.filterSelected.connect(name_the_kind)
    dialog.fileSelected.connect(take)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def _first_folder(title: str) -> str:
    """Where a dialog opens: where the last one of its title was left, in Documents before that, if there is one."""
    known = (folders.get(title, ""), QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation))
    return next((folder for folder in known if folder and Path(folder).is_dir()), str(Path.home()))


def _remember(title: str, chosen: str) -> None:
    """The next dialog of this title opens where this file was."""
    folders[title] = str(Path(chosen).parent)
    folder_chosen()


def show_in_folder(path: Path) -> None:
    """Open the folder of a file in the system's own program."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))


def fitted(path: Path, suffixes: Sequence[str]) -> Path:
    """Return the path with a suffix of `suffixes`: instead of one that names another kind of file, else behind it."""
    suffix = path.suffix.lower()
    if not suffixes or _SAME.get(suffix, suffix) in [_SAME.get(each.lower(), each.lower()) for each in suffixes]:
        return path
    names_a_kind = mimetypes.guess_type(path.name)[0] is not None
    return path.with_suffix(suffixes[0]) if names_a_kind else path.with_name(f"{path.name}{suffixes[0]}")
