"""The options of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from app import __version__
from app.storage.settings import THEMES
from app.translation import tr

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Options(NamedTuple):
    """What the command line asked for."""

    theme: str = ""
    portable: Path | None = None  # where all data is kept
    tour: Path | None = None
    self_test: bool = False
    uninstall_info: bool = False
    act: str = ""  # one act of the tour, in a process of its own


class Printed(NamedTuple):
    """A text to print instead of starting, and the exit code."""

    text: str
    code: int


def read_options(arguments: Sequence[str]) -> Options | Printed:
    """Return the options, or what to print for `--help`, `--version` or a mistake."""
    if not arguments:
        return Options()  # most starts: argparse takes 6 ms to import
    parser = _parser()
    try:
        read = parser.parse_args(arguments)
    except ValueError as mistake:
        return Printed(f"{mistake}\n\n{parser.format_help()}", 2)
    if read.help:
        return Printed(parser.format_help(), 0)
    if read.version:
        return Printed(tr("Rialto {version}", version=__version__), 0)
    return Options(
        theme=read.theme,
        portable=read.portable and read.portable.expanduser().absolute(),
        tour=read.tour and read.tour.absolute(),
        self_test=read.self_test,
        uninstall_info=read.uninstall_info,
        act=read.act,
    )


def _parser() -> ArgumentParser:
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise ValueError(message)

    parser = Parser(
        prog="rialto",
        description=tr("Opens Rialto. Set RIALTO_HOME to choose the data folder."),
        add_help=False,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--portable", type=Path, metavar="FOLDER", help=tr("keep everything in FOLDER, as RIALTO_HOME does"))
    add("--theme", choices=THEMES, default="", help=tr("the theme, for this start only"))
    add(
        "--tour",
        type=Path,
        metavar="FOLDER",
        help=tr("play the main tasks automatically and save a screenshot of each step in FOLDER"),
    )
    add(
        "--self-test",
        action="store_true",
        help=tr("try every part once, off screen and in the Sandbox; exits with 1 if one does not work"),
    )
    add("--uninstall-info", action="store_true", help=tr("list what stays on this computer when Rialto is removed"))
    add("--version", action="store_true", help=tr("print the version"))
    add("-h", "--help", action="store_true", help=tr("print this text"))
    add("--act", default="", help=argparse.SUPPRESS)
    return parser
