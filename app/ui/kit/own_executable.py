"""What the program has to know of how it was built. Standard library only."""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

LIBRARY_PATH = "LD_LIBRARY_PATH"


def own_command() -> list[str]:
    """The beginning of the command line: the built program itself, or Python with our package."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "app"]


def restore_environment(environ: MutableMapping[str, str] = os.environ) -> None:
    """Take out of the environment what PyInstaller and PySide put there. For once a QApplication exists.

    Whatever is opened from here on inherits the environment, and another program must not load our libraries and Qt
    plugins. This process has read them; one that is started by `own_command` gets them anew from its own loader, which
    does so only where none of PyInstaller's variables says that its parent did.
    """
    if not getattr(sys, "frozen", False):
        return
    before = environ.pop(f"{LIBRARY_PATH}_ORIG", None)
    if before is not None:
        environ[LIBRARY_PATH] = before
    else:
        environ.pop(LIBRARY_PATH, None)
    for name in [name for name in environ if name.startswith("_PYI_")]:
        del environ[name]
    for name in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "PYSIDE6_OPTION_PYTHON_ENUM"):
        environ.pop(name, None)
