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


PATCHED = """
import sys, types
start = sys.modules["app.bootstrap.start"] = types.ModuleType("start")
start.run = lambda arguments: 0
start.end_with = lambda code: code
from app.__main__ import main
sys.argv = ["rialto"]
assert main() == 0
for name, module in list(sys.modules.items()):
    is_of_python = isinstance(module, types.ModuleType) and name.partition(".")[0] in sys.stdlib_module_names
    if not is_of_python or name == "__main__":
        continue
    owners = [module, *(each for each in vars(module).values() if isinstance(each, type) and each.__module__ == name)]
    for owner in owners:
        for key, value in list(vars(owner).items()):
            code = getattr(getattr(value, "__func__", value), "__code__", None)
            if "qt_workarounds" in getattr(code, "co_filename", ""):
                print(name, key)
"""


def test_no_function_of_the_standard_library_is_replaced_by_a_start() -> None:
    done = subprocess.run([sys.executable, "-c", PATCHED], capture_output=True, text=True, check=True)
    assert done.stdout == ""
