"""What people install: the files around the program are valid, and nothing that is loaded by name is forgotten."""

import json
import plistlib
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import bill_of_materials
import debian_package
import pytest
import signing
from locks import PACKAGE_LOCK, RUN_LOCK, host_lines, pinned
from progress import Refusal

from app.bootstrap.options import Options, read_options

ROOT = Path(__file__).resolve().parents[2]
SPEC = (ROOT / "packaging" / "rialto.spec").read_text(encoding="utf-8")


def test_the_lock_of_the_packager_ships_what_the_program_runs_with() -> None:
    text = PACKAGE_LOCK.read_text(encoding="utf-8")
    run, package = pinned(RUN_LOCK.read_text(encoding="utf-8")), pinned(text)
    assert host_lines(text) == []
    assert {name: package.get(name) for name in run} == run
    assert "pyinstaller" in package


def test_the_metainfo_is_whole_and_names_the_release() -> None:
    tree = ElementTree.fromstring(debian_package.metainfo("1.2.3", 86400, "https://example.org/raw"))
    assert tree.findtext("id") == "rialto"
    assert tree.find("releases/release").attrib == {"version": "1.2.3", "date": "1970-01-02"}
    for image in tree.iterfind("screenshots/screenshot/image"):
        assert (ROOT / image.text.removeprefix("https://example.org/raw/")).is_file()
    assert len(tree.findall("screenshots/screenshot")) == 3


def test_the_desktop_entry_starts_the_program_that_is_installed() -> None:
    lines = debian_package.filled("rialto.desktop", "1", 0).splitlines()
    assert lines[0] == "[Desktop Entry]"
    entry = dict(line.split("=", 1) for line in lines[1:])
    assert (entry["Type"], entry["Exec"], entry["Icon"]) == ("Application", "rialto", "rialto")


def test_the_engines_of_the_second_package_lie_apart_in_the_build() -> None:
    separate = set(re.search(r"^SEPARATE = (.*)$", SPEC, re.MULTILINE)[1].strip("[]").replace('"', "").split(", "))
    assert separate == {name for name in debian_package.ENGINES if not name.endswith(".libs")}


def test_every_module_of_the_program_is_named_to_the_packager() -> None:
    assert '(ROOT / "app").rglob("*.py")' in SPEC


@pytest.mark.parametrize("name", ["entitlements.plist", "info.plist"])
def test_the_files_of_macos_parse(name: str) -> None:
    values = plistlib.loads((ROOT / "packaging" / "macos" / name).read_bytes())
    assert "com.apple.security.device.audio-input" in values or "NSMicrophoneUsageDescription" in values


def test_half_of_the_credentials_is_an_error_and_none_is_not() -> None:
    signing.check({})
    signing.check(dict.fromkeys((*signing.MACOS, *signing.NOTARY), "x"))
    with pytest.raises(Refusal, match="CERTIFICATE_PASSWORD too"):
        signing.check({"RIALTO_WINDOWS_CERTIFICATE": "x"})
    with pytest.raises(Refusal, match="must be signed"):
        signing.check(dict.fromkeys(signing.NOTARY, "x"))


def test_the_bill_of_materials_names_every_pinned_package(tmp_path: Path) -> None:
    bill_of_materials.write(RUN_LOCK, tmp_path / "bill.json", "1.2.3", 0)
    bill = json.loads((tmp_path / "bill.json").read_text(encoding="utf-8"))
    assert {part["name"] for part in bill["components"]} == set(pinned(RUN_LOCK.read_text(encoding="utf-8")))
    assert bill["metadata"]["timestamp"] == "1970-01-01T00:00:00Z"


def test_a_portable_start_names_its_folder(tmp_path: Path) -> None:
    options = read_options(["--portable", str(tmp_path)])
    assert isinstance(options, Options)
    assert options.portable == tmp_path
