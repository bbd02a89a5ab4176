"""What people install: the files around the program are valid, and nothing that is loaded by name is forgotten."""

import ast
import importlib.util
import itertools
import json
import os
import pkgutil
import plistlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from importlib.metadata import files
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import debian_package
import installers
import licenses
import package
import pytest
import try_deb
import update_feed
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from environments import Environment
from locks import PACKAGE_LOCK, RUN_LOCK, host_lines, pinned
from PIL import Image
from progress import Refusal

from app.bootstrap.options import Options, read_options
from app.sandbox import installed_engines
from app.service.updates import read_feed
from app.storage.licenses import from_text, to_text
from app.ui.shell import self_test

ROOT = Path(__file__).resolve().parents[2]
SPEC = (ROOT / "packaging" / "rialto.spec").read_text(encoding="utf-8")
NSIS = (ROOT / "packaging" / "windows" / "rialto.nsi").read_text(encoding="utf-8")


def test_the_lock_of_the_packager_ships_what_the_program_runs_with() -> None:
    text = PACKAGE_LOCK.read_text(encoding="utf-8")
    run, package = pinned(RUN_LOCK.read_text(encoding="utf-8")), pinned(text)
    assert host_lines(text) == []
    assert {name: package.get(name) for name in run} == run
    assert "pyinstaller" in package


def test_the_metainfo_is_whole_and_names_the_release() -> None:
    tree = ElementTree.fromstring(debian_package.metainfo("1.2.3", 86400, "https://example.org/raw"))
    assert tree.findtext("id") == "app.rialto.Rialto"  # reverse domain order, as validators want it
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


def collected(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the files and modules that the packager's file names, with what its hooks would find of libraries."""

    def files_of(package: str) -> list[Path]:
        places = importlib.util.find_spec(package).submodule_search_locations
        return [path for place in places for path in Path(place).rglob("*") if path.is_file()]

    def libraries(package: str) -> list[tuple[str, str]]:
        return [(str(path), package) for path in files_of(package) if path.suffix in (".so", ".dll", ".dylib")]

    def data(package: str) -> list[tuple[str, str]]:
        code = (".py", ".pyi", ".pyc", ".so", ".pyd", ".dll", ".dylib")
        return [(str(path), package) for path in files_of(package) if path.suffix not in code]

    def modules(package: str) -> list[str]:
        paths = importlib.util.find_spec(package).submodule_search_locations
        return [package, *(each.name for each in pkgutil.walk_packages(paths, f"{package}."))]

    hooks = ModuleType("PyInstaller.utils.hooks")
    vars(hooks).update(collect_data_files=data, collect_dynamic_libs=libraries, collect_submodules=modules)
    vars(hooks).update(copy_metadata=lambda name, recursive: [])
    depend = ModuleType("PyInstaller.depend")
    vars(depend).update(bindepend=None, dylib=None)
    monkeypatch.setitem(sys.modules, "PyInstaller.utils.hooks", hooks)
    monkeypatch.setitem(sys.modules, "PyInstaller.depend", depend)
    monkeypatch.setenv("RIALTO_ENGINES", "0")
    before = itertools.takewhile(lambda node: "EXCLUDED" not in ast.unparse(node), ast.parse(SPEC).body)
    scope: dict[str, Any] = {"SPECPATH": str(ROOT / "packaging")}
    exec(compile(ast.Module(list(before), []), "rialto.spec", "exec"), scope)
    return {*(source for source, _ in scope["DATA"] + scope["LIBRARIES"]), *scope["HIDDEN"]}


@pytest.mark.parametrize("library", ["chardet", "pypdfium2", "python-calamine", "nh3"])
def test_the_libraries_that_read_documents_come_whole(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = collected(monkeypatch)
    for file in files(library):
        if file.parts[0] in ("..", "__pycache__") or file.parts[0].endswith(".dist-info"):
            continue
        path = Path(file.locate())
        if path.suffix in (".so", ".pyd") and not path.name.startswith("lib"):  # a module: imported by its package,
            module = ".".join((*file.parent.parts, path.name.partition(".")[0])).removesuffix(".__init__")
            assert library != "chardet" or module in found  # or by code that the packager does not read
        elif path.suffix not in (".py", ".pyi", ".pyc") and path.name != "py.typed":
            assert str(path) in found


def test_the_icons_of_windows_and_macos_hold_each_size_as_it_was_drawn(tmp_path: Path) -> None:
    """The ordinary screen of a Mac showed PNGs as noise that stood where it reads bare pixels (icp4, icp5)."""
    command = [sys.executable, ROOT / "packaging/build_files/draw_icons.py", tmp_path]
    subprocess.run(command, env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}, check=True, timeout=60)
    with Image.open(tmp_path / "rialto.ico") as ico:
        assert ico.info["sizes"] == {(px, px) for px in (16, 24, 32, 48, 64, 256)}
        for px in (16, 48):
            assert ico.ico.getimage((px, px)).tobytes() == Image.open(tmp_path / f"{px}.png").tobytes()
    with Image.open(tmp_path / "rialto.icns") as icns:
        kinds = {kind.decode() for kind in icns.icns.dct if kind != b"TOC "}
    assert kinds == {"ic07", "ic08", "ic09", "ic10", "ic11", "ic12", "ic13", "ic14"}


@pytest.mark.parametrize("name", ["entitlements.plist", "info.plist"])
def test_the_files_of_macos_parse(name: str) -> None:
    values = plistlib.loads((ROOT / "packaging" / "macos" / name).read_bytes())
    assert "com.apple.security.device.audio-input" in values or "NSMicrophoneUsageDescription" in values


def test_the_bill_of_materials_names_what_is_really_inside(tmp_path: Path) -> None:
    """What the lock pins for another system, and what no part of the program imports, is not in a build."""
    stray = tmp_path / "libstray.so"
    stray.write_bytes(b"of nobody")
    inside = [importlib.util.find_spec(name).origin for name in ("pydantic", "soundfile", "json", "app")]
    (tmp_path / "sources").write_text("\n".join([*inside, str(stray)]))
    script = ROOT / "packaging/build_files/bill_of_materials.py"
    for name in ("one", "another"):
        command = [sys.executable, script, tmp_path / "sources", tmp_path / name, "1.2.3", "86400"]
        subprocess.run(command, check=True, timeout=60)
    text = (tmp_path / "one").read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    parts = {part["name"]: part for part in bill["components"]}
    assert set(parts) == {"libstray.so", "pydantic", "python", "soundfile"}
    assert parts["pydantic"]["purl"] == f"pkg:pypi/pydantic@{metadata.version('pydantic')}"
    assert parts["libstray.so"]["hashes"] == [{"alg": "SHA-256", "content": sha256(b"of nobody").hexdigest()}]
    assert [part["name"] for part in parts["soundfile"]["components"]] == ["libsndfile, within soundfile"]
    assert all(parts[name]["licenses"] for name in ("pydantic", "python", "soundfile"))
    assert bill["metadata"]["timestamp"] == "1970-01-02T00:00:00+00:00"
    assert text == (tmp_path / "another").read_text(encoding="utf-8")
    assert 'os.environ["RIALTO_SOURCES"]' in SPEC


def test_an_update_feed_is_whole_or_not_there(tmp_path: Path) -> None:
    root = tmp_path / "root.json"
    root.write_text('{"signed": {"_type": "root"}}')
    both = {update_feed.ADDRESS: "https://feed.example/rialto/", update_feed.ROOT_FILE: str(root)}
    assert not update_feed.write(tmp_path / "none", {}) and not (tmp_path / "none").exists()
    assert update_feed.write(tmp_path / "updates", both)
    feed = read_feed(tmp_path / "updates")
    assert (feed.metadata, feed.targets, feed.root) == (
        "https://feed.example/rialto/metadata/",
        "https://feed.example/rialto/targets/",
        root.read_bytes(),
    )
    for name in both:
        with pytest.raises(Refusal, match=f"{name} too"):
            update_feed.check({**both, name: ""})
    with pytest.raises(Refusal, match="https"):
        update_feed.check({**both, update_feed.ADDRESS: "http://feed.example/"})
    root.write_text('{"signed": {"_type": "targets"}}')
    with pytest.raises(Refusal, match="no root"):
        update_feed.check(both)


def test_everything_that_is_shipped_has_a_licence_that_can_be_read() -> None:
    environment = Path(sys.prefix)
    parts = licenses.collected(environment, RUN_LOCK)
    assert from_text(to_text(parts)) == tuple(parts)
    titles = " ".join(part.title for part in parts)
    for name in ("Rialto", "Inter", "Python 3", "Qt, PySide6", "FFmpeg", "espeak-ng", "httpx", "numpy", "tuf"):
        assert name in titles
    inside = {name for rows in licenses.INSIDE.values() for _, _, names in rows for name in names}
    assert inside == {path.stem for path in licenses.TEXTS.glob("*.txt")}
    assert all(part.text.strip() for part in parts if "within" in part.title or part.title.startswith("Qt"))


def test_the_workflow_packs_with_the_line_of_the_readme() -> None:
    line = "packaging/bootstrap.py package"
    for path in (".github/workflows/packages.yml", "packaging/README.md", "README.md"):
        assert line in (ROOT / path).read_text(encoding="utf-8"), path


def test_a_portable_start_names_its_folder(tmp_path: Path) -> None:
    options = read_options(["--portable", str(tmp_path)])
    assert isinstance(options, Options)
    assert options.portable == tmp_path


def build_file_functions(system_libraries: str, python: str) -> dict[str, Any]:
    """What the packager's file says of libraries, without the packager: its constants and plain functions."""
    names = {"UNUSED_PLUGINS", "OF_EVERY_DESKTOP", "OF_DEBIAN", "wanted", "carried"}
    kept = [
        node
        for node in ast.parse(SPEC).body
        if {getattr(node, "name", ""), *(getattr(each, "id", "") for each in getattr(node, "targets", ()))} & names
    ]
    environ = SimpleNamespace(environ={"RIALTO_SYSTEM_LIBRARIES": system_libraries})
    scope: dict[str, Any] = {"os": environ, "Path": Path, "OF_PYTHON": python}
    exec(compile(ast.Module(kept, []), "rialto.spec", "exec"), scope)
    return scope


@pytest.mark.parametrize(
    "library", ["/lib/x86_64-linux-gnu/libpython3.11.so.1.0", "/usr/lib/python3.11/lib-dynload/_ssl.cpython-311.so"]
)
def test_a_deb_carries_the_python_that_it_was_built_with_even_debian_s_own(library: str) -> None:
    carried = build_file_functions("theirs", "/usr/lib/python3.11")["carried"]
    assert carried(library)
    assert not carried("/usr/lib/x86_64-linux-gnu/libxcb-cursor.so.0")
    assert carried("/build/.venv-package/lib/python3.11/site-packages/av/_core.so")


def test_the_tarball_leaves_to_the_desktop_what_its_other_programs_must_share() -> None:
    carried = build_file_functions("bundled", "/usr/lib/python3.11")["carried"]
    assert not carried("/lib/x86_64-linux-gnu/libasound.so.2")  # the copy of another system finds no sound server
    assert not carried("/lib/x86_64-linux-gnu/libmvec.so.1")  # a part of glibc
    assert carried("/lib/x86_64-linux-gnu/libportaudio.so.2")
    assert carried("/lib/x86_64-linux-gnu/libxcb-cursor.so.0")


@pytest.mark.parametrize(
    ("name", "is_wanted"),
    [
        ("PySide6/Qt/plugins/imageformats/libqpdf.so", False),
        ("PySide6\\plugins\\imageformats\\qpdf.dll", False),
        ("PySide6\\Qt6Pdf.dll", False),
        ("PySide6\\translations\\qtbase_de.qm", False),
        ("rlp-5.0.0.dist-info\\RECORD", False),
        ("Crypto\\PublicKey\\_ed25519.pyd", False),
        ("PySide6\\plugins\\platforms\\qwindows.dll", True),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6\\plugins\\imageformats\\qsvg.dll", True),
    ],
)
def test_what_nothing_reads_is_left_out_on_every_system(name: str, is_wanted: bool) -> None:
    assert build_file_functions("bundled", "")["wanted"](name) is is_wanted


@dataclass(frozen=True)
class StandIn(Environment):
    """An environment in which the packager makes a program that cannot start."""

    command: Path

    @property
    def python(self) -> Path:
        return self.command


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
@pytest.mark.parametrize("system_libraries", ["bundled", "theirs"])
def test_a_built_program_that_cannot_start_fails_the_build(
    system_libraries: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packager = tmp_path / "python"
    packager.write_text(
        '#!/bin/sh\n[ "$2" = PyInstaller ] || exit 0\n: >"$RIALTO_SOURCES"\nfolder="$6/rialto"\nmkdir -p "$folder"\n'
        'printf "#!/bin/sh\\necho Failed to load Python shared library\\nexit 255\\n" >"$folder/rialto"\n'
        'chmod +x "$folder/rialto"\n'
    )
    packager.chmod(0o755)
    environment = StandIn(Path(sys.prefix), RUN_LOCK, packager)
    with pytest.raises(Refusal, match="code 255"):
        package.build(environment, tmp_path / "work", system_libraries, test=True)
    assert "Failed to load Python shared library" in capsys.readouterr().out


def test_makensis_finds_the_files_on_windows_too() -> None:
    """makensis for Windows splits a path at "\\" alone, the one for Linux at both."""
    script = (ROOT / "packaging/windows/rialto.nsi").read_text(encoding="utf-8")
    assert re.findall(r'^ *File .*"(.*)"', script, re.MULTILINE) == ["${FOLDER}\\*"]


def test_the_installer_needs_no_stub_that_the_official_nsis_lacks() -> None:
    assert not re.search(r"^Target\b", NSIS, re.MULTILINE)  # amd64-unicode comes with Debian's alone


def test_windows_shows_the_product_and_its_version_of_the_installer_and_of_the_program() -> None:
    shown = dict(re.findall(r'^VIAddVersionKey "(\w+)" "(.*)"$', NSIS, re.MULTILINE))
    assert (shown["ProductName"], shown["ProductVersion"]) == ("Rialto", "${VERSION}")
    assert 'VIProductVersion "${NUMBER}"' in NSIS
    resource = ast.parse(installers.version_resource("1.2.3rc1"), mode="eval")
    calls = [node for node in ast.walk(resource) if isinstance(node, ast.Call)]
    texts = {ast.literal_eval(each.args[0]): ast.literal_eval(each.args[1]) for each in calls if is_text(each)}
    assert (texts["ProductName"], texts["FileVersion"]) == ("Rialto", "1.2.3rc1")
    (fixed,) = (each for each in calls if ast.unparse(each.func) == "FixedFileInfo")
    assert {ast.literal_eval(each.value) for each in fixed.keywords} == {(1, 2, 3, 0)}
    assert 'version=os.environ.get("RIALTO_VERSION_RESOURCE") if sys.platform == "win32"' in SPEC


def is_text(call: ast.Call) -> bool:
    return ast.unparse(call.func) == "StringStruct"


@pytest.mark.parametrize(
    ("version", "numbers"), [("1.2.3", (1, 2, 3, 0)), ("1.2", (1, 2, 0, 0)), ("0.1.0.dev4+g1", (0, 1, 0, 0))]
)
def test_a_version_is_four_numbers_to_windows(version: str, numbers: tuple[int, ...]) -> None:
    assert installers.version_numbers(version) == numbers


@pytest.mark.parametrize("section", ['Section "Rialto" RIALTO', 'Section "Uninstall"'])
def test_nothing_is_installed_over_or_removed_from_a_program_that_runs(section: str) -> None:
    lines = NSIS.partition(section)[2].partition("SectionEnd")[0].splitlines()
    first_change = next(at for at, line in enumerate(lines) if line.split()[:1] in (["RMDir"], ["Delete"], ["File"]))
    assert "  !insertmacro WaitUntilClosed" in lines[:first_change]


def test_the_installer_offers_to_start_rialto_unless_it_is_silent() -> None:
    function = NSIS.partition("Function .onInstSuccess")[2].partition("FunctionEnd")[0]
    assert "IfSilent started" in function and "Start Rialto now?" in function


def test_a_missing_nsis_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refusal, match="Install NSIS 3"):
        installers.installer(tmp_path, tmp_path / "rialto.ico", "1.2", tmp_path / "setup.exe")


def test_the_list_of_apps_on_windows_names_publisher_place_size_and_how_to_remove_it() -> None:
    script = (ROOT / "packaging/windows/rialto.nsi").read_text(encoding="utf-8")
    written = re.findall(r'^ *WriteReg(?:Str|DWORD) HKCU "\$\{UNINSTALL\}" "(\w+)" (.+)$', script, re.MULTILINE)
    assert dict(written) == {
        "DisplayName": '"Rialto"',
        "DisplayVersion": '"${VERSION}"',
        "Publisher": '"The Rialto developers"',
        "InstallLocation": '"$INSTDIR"',
        "EstimatedSize": "$0",
        "DisplayIcon": r'"$INSTDIR\rialto.exe"',
        "UninstallString": """'"$INSTDIR\\uninstall.exe"'""",
        "QuietUninstallString": """'"$INSTDIR\\uninstall.exe" /S'""",
        "NoModify": "1",
        "NoRepair": "1",
    }
    (section,) = re.findall(r'^Section "Rialto" (\w+)$', script, re.MULTILINE)
    size = script.index('"EstimatedSize" $0')
    assert f"SectionGetSize ${{{section}}} $0" in script[:size].splitlines()[-2], "in KB, as the section has it"


@pytest.mark.skipif(shutil.which("objdump") is None, reason="binutils are not here")
def test_what_a_built_program_needs_of_the_system_is_read_from_its_files(tmp_path: Path) -> None:
    library = next((Path(sys.prefix) / "lib").glob("python3*/site-packages/shiboken6/libshiboken6*"))
    shutil.copy(library, tmp_path / "libone.so")
    found = {name: (tuple(map(int, version.split("."))), by) for name, version, by in package.needs(tmp_path)}
    assert set(found) == {"GLIBC", "GLIBCXX"}
    assert found["GLIBC"][0] >= (2, 14) and found["GLIBCXX"] >= ((3, 4), "libone.so")


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="not a Debian")
def test_the_same_files_make_the_same_deb_which_belongs_to_root(tmp_path: Path) -> None:
    made = []
    for name in ("one", "another"):
        tree = tmp_path / name
        (tree / "usr/lib/rialto").mkdir(parents=True)
        (tree / "usr/lib/rialto/rialto").write_bytes(b"the program")
        (tree / "usr/lib/rialto/alias").symlink_to("rialto")
        debian_package._settle(tree, 86400)
        target = tmp_path / f"of {name}"
        target.mkdir()
        made.append(debian_package._packed(tree, "rialto", "1.0", 86400, "all", "libc6", "", target))
    assert made[0].read_bytes() == made[1].read_bytes()
    listed = subprocess.run(["dpkg-deb", "-c", made[0]], capture_output=True, text=True, check=True, timeout=60).stdout
    rows = [line.split(maxsplit=5) for line in listed.splitlines()]
    assert {row[1] for row in rows} == {"root/root"} and {row[3] for row in rows} == {"1970-01-02"}
    assert {row[5]: row[0] for row in rows}["./usr/lib/rialto/rialto"] == "-rwxr-xr-x"


@pytest.mark.skipif(shutil.which("dpkg-shlibdeps") is None, reason="dpkg-dev is not here")
def test_the_debs_ask_for_what_is_loaded_by_name_and_say_once_what_stays(tmp_path: Path) -> None:
    folder, icons, target = tmp_path / "dist/rialto", tmp_path / "icons", tmp_path / "made"
    for path in (folder / "_internal/av", icons, target):
        path.mkdir(parents=True)
    program = Path(shutil.which("true"))
    for path in (folder / "rialto", folder / "_internal/libown.so", folder / "_internal/av/libav.so"):
        shutil.copy(program, path)
    for name in (*(f"{px}.png" for px in debian_package.ICONS), "rialto.svg"):
        (icons / name).write_bytes(b"a picture")
    notices = tmp_path / "licences.txt"
    notices.write_text("MIT")
    packages = debian_package.make("1.2", 86400, folder, icons, notices, target)
    fields = {path.name.partition("_")[0]: depends_of(path) for path in packages}
    assert {"libc6", "ca-certificates", "libportaudio2"} <= set(fields["rialto"])
    assert {"libc6", "rialto"} <= set(fields["rialto-sandbox"])
    for names in fields.values():
        assert len(names) == len(set(names))
    postrm = folder.parent / "debian-work/rialto/DEBIAN/postrm"
    said = [subprocess.check_output(["sh", postrm, step], text=True, timeout=60) for step in ("remove", "purge")]
    assert "stays in their home folders" in said[0] and not said[1]


def depends_of(package: Path) -> list[str]:
    """The names of the packages that a package depends on, in its order."""
    field = subprocess.check_output(["dpkg-deb", "-f", package, "Depends"], text=True, timeout=60)
    return [name.split()[0] for name in field.split(",")]


@pytest.mark.parametrize(
    "line",
    [
        "LD_LIBRARY_PATH=/usr/lib/rialto/_internal",
        "QT_PLUGIN_PATH=/x",
        "QML2_IMPORT_PATH=/x",
        "PYTHONHOME=/x",
        "PYSIDE6_OPTION_PYTHON_ENUM=True",
        "_PYI_ARCHIVE_FILE=/x",
        "SSL_CERT_FILE=/usr/lib/rialto/_internal/certifi/cacert.pem",
    ],
)
def test_the_trial_of_a_package_sees_what_an_opened_program_gets_of_ours(line: str) -> None:
    assert try_deb.of_ours(["HOME=/home/person", line, "DISPLAY=:7"]) == [line]


def test_the_trial_finds_the_rows_that_the_self_test_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = installed_engines.ENGINES["speech"]
    assert try_deb.NEEDS_ENGINES in installed_engines.remedy(engine, Path("/usr/lib/rialto/rialto"))
    devices = {"output": ["loudspeaker"], "input": []}
    monkeypatch.setattr(self_test.AudioHost, "devices", lambda self, kind: devices[kind])
    self_test.report_audio(self_test.Table())
    assert try_deb.HAS_LOUDSPEAKER.search(capsys.readouterr().out)
    devices["output"] = []
    self_test.report_audio(self_test.Table())
    assert not try_deb.HAS_LOUDSPEAKER.search(capsys.readouterr().out)
