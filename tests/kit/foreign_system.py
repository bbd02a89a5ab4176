"""The rules of Windows' file system on Linux, by faking the calls of the operating system and nothing else.

What Rialto does with files runs unchanged; what it asks of the system is refused as Windows refuses it. With
`RIALTO_TEST_FILES=windows` every test runs under these rules, as a job of `.github/workflows/tests.yml` does.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import importlib.util
import io
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app import files

LONGEST_PATH = 259  # characters
HOME = "C:\\Users\\somebody\\AppData\\Local\\"  # what stands before a file of Rialto on Windows
_RESERVED = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?$", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[<>:"|?*\x00-\x1f]')


def windows_files(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Give everything below `folder` the rules of Windows.

    A file that this process has open is not replaced, renamed or removed. Names that Windows reserves, forbidden signs
    and dots or spaces at the end are refused, and so are paths of more than 259 characters with `HOME` for `folder`.
    Names that differ by case alone are one file.
    """
    root = str(folder)

    def checked(path: Any) -> Any:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path).startswith(root):
            return path
        inside = os.path.relpath(path, root)
        if len(HOME + inside) > LONGEST_PATH:
            raise FileNotFoundError(errno.ENOENT, "The filename or extension is too long", str(path))
        for name in Path(inside).parts:
            if _RESERVED.match(name) or _FORBIDDEN.search(name) or name != name.rstrip(". "):
                raise OSError(errno.EINVAL, "The filename or directory name is incorrect", str(path))
        return folded(Path(path))

    def guard(module: Any, name: str, *, releases: int = 0, paths: int = 1) -> None:
        """Check the first arguments; those that are released must not be open."""
        real: Callable[..., Any] = getattr(module, name)

        def guarded(*arguments: Any, **named: Any) -> Any:
            ready = [checked(each) if at < paths else each for at, each in enumerate(arguments)]
            for path in ready[:releases]:
                if os.path.realpath(path) in open_files():
                    raise PermissionError(errno.EACCES, "Another program is using this file", str(path))
            return real(*ready, **named)

        monkeypatch.setattr(module, name, guarded)

    for name in ("replace", "rename"):
        guard(os, name, releases=2, paths=2)
    for name in ("unlink", "remove"):
        guard(os, name, releases=1)
    for module, name in ((os, "open"), (os, "mkdir"), (io, "open"), (builtins, "open")):
        guard(module, name)
    look = os.stat

    def stat(path: Any, *arguments: Any, **named: Any) -> os.stat_result:
        is_inside = isinstance(path, str | os.PathLike) and os.fspath(path).startswith(root)
        return look(folded(Path(path)) if is_inside else path, *arguments, **named)

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(files, "_REFUSES_OPEN_FILES", True)


def folded(path: Path) -> Path:
    """The same path with the spelling of its last name that is there already."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in entries]
    except OSError:
        return path
    same = [name for name in names if name.casefold() == path.name.casefold()]
    return path if path.name in same or not same else path.with_name(same[0])


def open_files() -> set[str]:
    """What this process has open."""
    found = set()
    for number in Path("/proc/self/fd").iterdir():
        try:
            found.add(str(number.readlink()))
        except OSError:  # the one that the listing itself used
            continue
    return found


def import_on(platform: str, name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a copy of a module of ours, imported as `platform` imports it; the program's own stays as it is."""
    monkeypatch.setattr(sys, "platform", platform)
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WINDOWS_FUNCTIONS = {
    "kernel32": (
        *("AssignProcessToJobObject", "CreateJobObjectW", "GetCurrentProcess", "SetInformationJobObject"),
        *("SetErrorMode", "WerSetFlags"),
    )
}


class WindowsLibraries:
    """Stands for `ctypes.WinDLL`: knows which library has which function, and records the calls.

    `answers` are what functions return; the others return 1, which is a success. A function that its library does not
    have is an AttributeError, as on Windows.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.answers: dict[str, int] = {}
        monkeypatch.setattr(ctypes, "WinDLL", self._load, raising=False)

    def _load(self, name: str, **_: object) -> ModuleType:
        if name not in WINDOWS_FUNCTIONS:
            raise FileNotFoundError(errno.ENOENT, "Could not find module", name)
        library = ModuleType(name)
        for function in WINDOWS_FUNCTIONS[name]:
            setattr(library, function, self._function(function))
        return library

    def _function(self, name: str) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            self.calls.append((name, arguments))
            return self.answers.get(name, 1)

        return call
