"""The reason PySide6 is pinned (decision 1): 6.12.0 loses one reference to `True` with every `emit(True)`."""

import subprocess
import sys
from importlib.metadata import version

PROBE = """
import sys
from PySide6.QtCore import QObject, Signal

class Sender(QObject):
    plain = Signal()
    carrying = Signal(bool)

sender = Sender()
sender.plain.connect(lambda: None)
sender.carrying.connect(lambda value: None)
before = sys.getrefcount(True)
for _ in range(100):
    sender.plain.emit()
    sender.carrying.emit(True)
print(sys.getrefcount(True) - before)
"""


def test_emitting_a_signal_keeps_true_alive() -> None:
    # a process of its own: where it fails, it ends the interpreter with `bool_dealloc`
    ended = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    # since Python 3.12 `True` is immortal: its count means nothing, and losing references does no harm
    assert sys.version_info >= (3, 12) or int(ended.stdout) > -10


def test_the_pinned_version_is_the_installed_one() -> None:
    assert version("PySide6-Essentials") == "6.11.3"
