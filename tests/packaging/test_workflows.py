"""The workflow that packs hands over every variable that packing reads, and nothing it does not know."""

import re
from pathlib import Path

import signing
import update_feed

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
