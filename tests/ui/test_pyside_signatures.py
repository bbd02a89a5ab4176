"""PySide's modules about signatures are loaded once one is asked for, and say then what they always say."""

import subprocess
import sys

import pytest

from app.ui.kit.qt_workarounds.pyside_signatures import LATE

USUAL = "import PySide6.QtWidgets\n"
LEAN = "from app.ui.kit.qt_workarounds.pyside_signatures import import_pyside\nimport_pyside()\n" + USUAL
ASK = """
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QLabel
def wrong():
    for call in (lambda: QTimer().start("soon"), lambda: QTimer(wide=3), lambda: QObject().setObjectName()):
        try:
            call()
        except (TypeError, AttributeError) as error:
            print(error)
"""
EVERYWHERE = """
wrong()
import PySide6.support.signature.lib.pyi_generator as generator
from PySide6.support.signature import get_signature
print(QTimer.start.__doc__, get_signature(QLabel.setText), get_signature(QLabel), generator.generate_pyi.__name__)
"""
MAIN = """
import sys, types
start = sys.modules["app.bootstrap.start"] = types.ModuleType("start")
start.run = lambda arguments: 0
start.end_with = lambda code: code
from app.__main__ import main
sys.argv = ["rialto"]
assert main() == 0
import PySide6.QtWidgets
"""
SHOW = """
import sys
for name in sorted(sys.modules):
    if name.startswith("shibokensupport"):
        print(name, len(vars(sys.modules[name])) > 9)
"""


def said_by(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("program", [LEAN, MAIN])
def test_no_module_about_signatures_is_loaded_by_an_import_of_pyside(program: str) -> None:
    empty = {line.split()[0] for line in said_by(program + SHOW) if line.endswith("False")}
    assert empty >= LATE
    assert not LATE & {line.split()[0] for line in said_by(USUAL + SHOW) if line.endswith("False")}


def test_a_wrong_call_and_a_question_for_a_signature_are_answered_as_without_it() -> None:
    ask = ASK + EVERYWHERE
    assert said_by(LEAN + ask) == said_by(USUAL + ask)


def test_modules_of_python_that_pyside_only_names_are_imported_by_whoever_uses_them() -> None:
    use = """
import shiboken6, sys
from app.ui.kit.qt_workarounds.pyside_signatures import UNUSED
print([name for name in UNUSED if name in sys.modules])
print(shiboken6.tempfile.gettempdir() == __import__("tempfile").gettempdir())
import inspect, shutil
print(inspect.getsource(inspect.getsource).splitlines()[0], shutil.__name__)
"""
    assert said_by(LEAN + use) == ["[]", "True", "def getsource(object): shutil"]
