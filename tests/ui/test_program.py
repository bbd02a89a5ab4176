"""What a built program has to know of how it was built."""

import sys

import pytest

from app.ui.shared.program import restore_environment


def built_environment() -> dict[str, str]:
    """What a process of a program built by PyInstaller finds, with its loader's and its Qt hook's variables."""
    return {
        "HOME": "/home/person",
        "LD_LIBRARY_PATH": "/opt/rialto/_internal",
        "QT_PLUGIN_PATH": "/opt/rialto/_internal/PySide6/Qt/plugins",
        "QML2_IMPORT_PATH": "/opt/rialto/_internal/PySide6/Qt/qml",
        "_PYI_ARCHIVE_FILE": "/opt/rialto/rialto",
        "_PYI_PARENT_PROCESS_LEVEL": "1",
        "_PYI_LINUX_PROCESS_NAME": "rialto",
    }


def test_what_a_built_program_opens_finds_the_environment_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    environ = built_environment()
    restore_environment(environ)
    assert environ == {"HOME": "/home/person"}


def test_a_library_path_of_the_person_s_own_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    environ = built_environment() | {"LD_LIBRARY_PATH_ORIG": "/opt/driver"}
    restore_environment(environ)
    assert environ == {"HOME": "/home/person", "LD_LIBRARY_PATH": "/opt/driver"}


def test_a_start_from_source_leaves_the_environment_alone() -> None:
    environ = built_environment()
    restore_environment(environ)
    assert environ == built_environment()
