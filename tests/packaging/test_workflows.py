"""The workflow that packs hands over every variable that packing reads; the one that tests uses every Python."""

import re
import warnings
from pathlib import Path

import signing
import update_feed
from bootstrap import SUPPORTED

ROOT = Path(__file__).resolve().parents[2]


def test_the_workflow_knows_every_variable_of_signing_and_updates_and_no_other() -> None:
    text = (ROOT / ".github/workflows/packages.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"^ +(RIALTO_\w+):", text, re.MULTILINE))
    read = {*signing.WINDOWS, *signing.MACOS, *signing.NOTARY, update_feed.ADDRESS, update_feed.ROOT_FILE}
    assert named == read | {"RIALTO_PAGES"}


def test_every_secret_is_a_secret_of_the_workflow() -> None:
    text = (ROOT / ".github/workflows/packages.yml").read_text(encoding="utf-8")
    for name in (*signing.WINDOWS, *signing.MACOS, *signing.NOTARY):
        assert f"{name}: ${{{{ secrets.{name} }}}}" in text


def test_the_suite_runs_on_every_python_that_rialto_supports() -> None:
    text = (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8")
    tested = set(re.findall(r'"(\d\.\d+)"', text))
    assert tested == {f"{major}.{minor}" for major, minor in SUPPORTED}


def test_what_a_newer_numpy_says_of_sounddevice_is_no_error() -> None:
    """numpy 2.5, which Python 3.12 and 3.13 get, warns in each callback of a stream: an error there ends the sound."""
    said = "Setting the shape on a NumPy array has been deprecated in NumPy 2.5."
    warnings.warn_explicit(said, DeprecationWarning, "sounddevice.py", 1, module="sounddevice")
