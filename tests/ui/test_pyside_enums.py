"""Qt's enumerations made the short way equal those that Python makes."""

import subprocess
import sys

PROBE = """
import enum, importlib

from app.ui.kit.qt_workarounds import pyside_enums

slow = enum.EnumType._create_
pyside_enums.make_enumerations_fast()
fast = enum.EnumType._create_
assert fast is not slow
assert enum.Enum("T", [("A", 1)]).__module__ == "__main__"
newer = lambda: enum.Enum._create_(class_name="T", names=[("A", 1)])  # as Python 3.12 and later call it
assert newer().A.value == 1
made = 0


def plain(value, kind):
    "Members and methods of two enumerations as values that can be compared."
    if isinstance(value, enum.Enum) and type(value) is kind:
        own = {key: "its class" if item is kind else item for key, item in vars(value).items()}
        return own, value._value_, repr(value), str(value)
    if isinstance(value, dict):
        return [(plain(key, kind), plain(item, kind)) for key, item in value.items()]
    if isinstance(value, list):
        return [plain(item, kind) for item in value]
    if isinstance(value, enum.property):  # a member called `name`, which every member has itself
        return enum.property
    return getattr(value, "__func__", value)


def both(base, class_name, names, **how):
    global made
    made += 1
    name = class_name
    ours, theirs = fast(base, class_name, list(names), **how), slow(base, class_name, list(names), **how)
    left, right = dict(vars(ours)), dict(vars(theirs))
    assert set(left) == set(right), (name, set(left) ^ set(right))
    for key in set(left) - {"__dict__", "__weakref__", "__module__"}:
        assert plain(left[key], ours) == plain(right[key], theirs), (name, key)
    assert [member.name for member in ours] == [member.name for member in theirs], name
    assert list(ours.__members__) == list(theirs.__members__), name
    return ours


enum.EnumType._create_ = both
odd = (
    [("A", 1), ("B", 2), ("C", 2), ("D", 4), ("Z", 0), ("M", 3)],
    [("B", 4), ("A", 1)],
    [("name", 1), ("x", 2)],
    [("K", 5), ("N", -1)],
)
for base in (enum.Enum, enum.IntEnum, enum.Flag, enum.IntFlag):
    for names in odd:
        both(base, "T", names)
        both(base, "T", names, boundary=enum.KEEP)


def walk(owner, depth=0):
    for key in list(vars(owner)):
        value = getattr(owner, key, None)
        if isinstance(value, type) and not isinstance(value, enum.EnumType) and depth < 3:
            if value.__module__.startswith("PySide6"):
                walk(value, depth + 1)


for module in ("QtCore", "QtGui", "QtWidgets", "QtNetwork", "QtMultimedia"):
    walk(importlib.import_module("PySide6." + module))
assert made > 200, made
"""


def test_every_enumeration_of_qt_is_the_same_either_way() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


CHANGED = """
import enum

from app.ui.kit.qt_workarounds import pyside_enums

slow = enum.EnumType._create_


def of_another_python(base, class_name, names, **how):
    made = slow(base, class_name, names, **how)
    made._all_bits_ = 2**31 - 1
    return made


pyside_enums._made_slowly = of_another_python
pyside_enums.make_enumerations_fast()
assert enum.EnumType._create_ == slow
"""


def test_a_python_whose_enumerations_are_of_another_shape_makes_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", CHANGED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
