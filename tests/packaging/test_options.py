"""The options of the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

from app import __version__
from app.bootstrap.options import Options, Printed, read_options

ROOT = Path(__file__).resolve().parents[2]


def test_no_argument_is_the_usual_start() -> None:
    assert read_options([]) == Options()


@pytest.mark.parametrize("arguments", [["--portable", "stick"], ["--portable=stick"]])
def test_a_value_stands_behind_a_space_or_an_equals_sign(arguments: list[str]) -> None:
    assert read_options(arguments) == Options(portable=Path("stick").absolute())


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_lists_every_option(word: str) -> None:
    printed = read_options([word])
    assert isinstance(printed, Printed)
    assert printed.code == 0
    for option in ("--portable FOLDER", "--theme", "--tour FOLDER", "--self-test", "--uninstall-info", "--version"):
        assert option in printed.text
    assert "--act" not in printed.text


def test_the_version() -> None:
    assert read_options(["--version"]) == Printed(f"Rialto {__version__}", 0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["--portable"], "--portable"), (["--theme", "pink"], "pink"), (["--self"], "--self"), (["file.txt"], "file.txt")],
)
def test_a_mistake_is_named_and_ends_with_2(arguments: list[str], named: str) -> None:
    printed = read_options(arguments)
    assert isinstance(printed, Printed)
    assert printed.code == 2
    assert named in printed.text.splitlines()[0]


def test_a_reader_that_stops_reading_gets_no_traceback() -> None:
    program = [sys.executable, "-c", "from app.bootstrap.start import run; raise SystemExit(run(['--help']))"]
    with subprocess.Popen(program, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")
