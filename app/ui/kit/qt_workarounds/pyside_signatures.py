"""Imports PySide without its modules about signatures, which are loaded once somebody asks for a signature, and
without the modules of Python that it names beside them.

A module of its own: it runs before PySide is imported.

PySide carries these modules as source text and compiles them whenever a process starts: a quarter of what its import
costs, 27 ms. They make the text of a `TypeError`, of `help` and of type stubs; few runs ever need one.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

if TYPE_CHECKING:
    from importlib.abc import Loader  # not for real: it brings importlib.resources

# Not `mapping`: libshiboken itself looks into that one, and ends the process where it is empty.
LATE = frozenset(
    f"shibokensupport.signature.{name}"
    for name in ("errorhandler", "layout", "parser", "lib.enum_sig", "lib.pyi_generator", "lib.tool")
)
# Modules of Python that PySide imports and next to never calls: they and what they import are a twentieth of a start.
UNUSED = ("inspect", "shutil", "tempfile")
_loading = RLock()


def import_pyside() -> None:
    """Import PySide with the modules of `LATE` empty until they are used; as usual where it is imported already."""
    finders = sys.meta_path
    sys.meta_path = _Finders((_LateFinder(), *finders))
    stand_ins = [_StandIn(name) for name in UNUSED if name not in sys.modules]
    for each in stand_ins:
        sys.modules[each.__name__] = each
    try:
        importlib.import_module("PySide6.QtCore")
    finally:
        sys.meta_path = finders
        for each in stand_ins:
            each.step_aside()


class _StandIn(ModuleType):
    """Has what the module of its name has, which is imported when somebody asks for some of it.

    But for sources, which PySide reads of what imports it, to find its `__feature__` switches there: nobody uses them.
    """

    def step_aside(self) -> None:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]

    def getsource(self, _module: object) -> str:
        raise OSError

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # those are what an import looks for
            raise AttributeError(name)
        self.step_aside()
        return getattr(importlib.import_module(self.__name__), name)


class _Finders(list[Any]):
    """Keeps the first place for the first finder while PySide puts its own there."""

    def insert(self, index: SupportsIndex, finder: object) -> None:
        super().insert(int(index) + 1, finder)


class _LateFinder:
    def find_spec(self, name: str, _path: object, _target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, cast("Loader", self)) if name in LATE else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _LateModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


class _LateModule(ModuleType):
    """A module that is run when a name in it is first asked for."""

    def __getattr__(self, name: str) -> object:
        if not name.startswith("__"):  # those are what an import looks for
            with _loading:
                maker: object = self.__spec__ and self.__spec__.loader
                if isinstance(maker, _LateFinder):
                    loader = cast("Loader", sys.modules["shibokensupport"].__loader__)
                    self.__spec__ = ModuleSpec(self.__name__, loader)  # PySide has given it another name meanwhile
                    loader.exec_module(self)
        return super().__getattribute__(name)
