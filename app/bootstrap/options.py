"""What the command line can ask of Rialto."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from app import __version__
from app.storage.settings import THEMES
from app.translation import tr

USAGE = tr("""usage: rialto [--portable FOLDER] [--theme NAME] [--tour FOLDER] [--self-test] [--uninstall-info]
              [--version] [--help]

Opens Rialto. Set RIALTO_HOME to choose the data folder.

  --portable FOLDER
                  keep everything in FOLDER, as RIALTO_HOME does
  --theme NAME    system, light or dark, for this start only
  --tour FOLDER   play the main tasks automatically and save a screenshot of each step in FOLDER
  --self-test     try every part once, off screen and in the Sandbox; exits with 1 if one does not work
  --uninstall-info
                  say what stays on this computer when Rialto is removed
""")


class Options(NamedTuple):
    """What the command line asked for."""

    theme: str = ""
    portable: Path | None = None  # where all data is kept
    tour: Path | None = None
    self_test: bool = False
    uninstall_info: bool = False
    act: str = ""  # one act of the tour, in a process of its own


def read_options(arguments: Sequence[str]) -> Options | str:
    """Return the options, or a text to print instead of starting. argparse alone would cost 6 ms of the start."""
    options = Options()
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--help":
            return USAGE
        if word == "--version":
            return tr("Rialto {version}", version=__version__)
        if word == "--self-test":
            options = options._replace(self_test=True)
            continue
        if word == "--uninstall-info":
            options = options._replace(uninstall_info=True)
            continue
        if word not in ("--theme", "--tour", "--act", "--portable") or not rest:
            return tr("{word} is not a known option.\n\n{usage}", word=word, usage=USAGE)
        value = rest.pop(0)
        if word == "--theme" and value not in THEMES:
            return tr("Unknown theme: {value}.\n\n{usage}", value=value, usage=USAGE)
        if word == "--tour":
            options = options._replace(tour=Path(value).absolute())
        elif word == "--portable":
            options = options._replace(portable=Path(value).expanduser().absolute())
        elif word == "--act":
            options = options._replace(act=value)
        else:
            options = options._replace(theme=value)
    return options
