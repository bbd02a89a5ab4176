"""PySide's look into every module's source is switched off, because it fails while two threads import."""

import subprocess
import sys

PROBE = """
import builtins, inspect, sys
from app.ui.kit.qt_workarounds.pyside_features import read_no_sources
assert read_no_sources()
assert builtins.__import__ is not builtins.__feature_import__
read = []
inspect.getsource = lambda module: read.append(module) or ""
import colorsys, app.service.errors
assert read == [], read
"""


def test_no_source_is_read_when_a_module_is_imported() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
