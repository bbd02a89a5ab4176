"""Signing, with stand-ins for the tools of Windows and macOS that note how they were called and what they were told."""

import base64
import json
import os
import plistlib
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import installers
import pytest
import signing
from progress import Refusal

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are scripts that a shell starts")
PASSWORD = 'a "secret" of the certificate'
ENVIRON = {
    signing.WINDOWS[0]: base64.b64encode(b"pfx").decode(),
    signing.WINDOWS[1]: PASSWORD,
    signing.MACOS[0]: base64.b64encode(b"p12").decode(),
    signing.MACOS[1]: PASSWORD,
    signing.MACOS[2]: "Developer ID Application: Somebody",
    signing.NOTARY[0]: base64.b64encode(b"key").decode(),
    signing.NOTARY[1]: "KEYID",
    signing.NOTARY[2]: "issuer",
}
TOOLS = ("codesign", "ditto", "hdiutil", "makensis", "powershell", "security", "signtool", "spctl", "xcrun")
STAND_IN = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path
name = Path(sys.argv[0]).name
told = sys.stdin.read() if sys.argv[1:] == ["-i"] else ""
files = [each.partition("OUT=")[2] for each in sys.argv if "OUT=" in each] + [e for e in sys.argv if e.endswith(".dmg")]
if name in ("hdiutil", "makensis"):
    Path(files[0]).write_bytes(b"made again")
with open(os.environ["NOTED"], "a") as noted:
    noted.write(json.dumps([[name, *sys.argv[1:]], told]) + "\\n")
if name == "powershell":
    print("PSParentPath\\r\\nABCDEF0123")
if "list-keychains" in sys.argv and told == "":
    print('    "/Users/runner/login.keychain-db"')
if name == "xcrun" and "submit" in sys.argv:
    print("  status: " + os.environ.get("VERDICT", "Accepted"))
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins on the PATH; the file in which they note what they are called with."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in TOOLS:
        (folder / name).write_text(STAND_IN)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("NOTED", str(tmp_path / "noted"))
    return tmp_path / "noted"


def noted(path: Path) -> list[tuple[list[str], str]]:
    return [tuple(json.loads(line)) for line in path.read_text().splitlines()] if path.exists() else []


def archive(tmp_path: Path, kind: str) -> tuple[Path, Path]:
    """A built program as the job that builds hands it over, and the folder with what was packed without a signature."""
    dist = tmp_path / "dist"
    dist.mkdir()
    if kind == "macos":
        app = tmp_path / "built" / "Rialto.app"
        qt = app / "Contents/Frameworks/PySide6/Qt/lib/QtCore.framework/Versions/A"
        for path in (app / "Contents/MacOS/rialto", app / "Contents/Frameworks/libone.dylib", qt / "QtCore"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(signing.MACH_O[0] + b"code")
        (app / "Contents/Frameworks/words.txt").write_text("no program")
        (qt.parent / "Current").symlink_to("A")
        (dist / "rialto-1.2.3-darwin-arm64.dmg").write_bytes(b"not signed")
        folder, icon = app, tmp_path / "rialto.icns"
    else:
        folder, icon = tmp_path / "built" / "rialto", tmp_path / "rialto.ico"
        folder.mkdir(parents=True)
        (folder / "rialto.exe").write_bytes(b"MZ")
        (dist / "rialto-1.2.3-win32-amd64-setup.exe").write_bytes(b"not signed")
    icon.write_bytes(b"icon")
    installers.keep_program(folder, icon, tmp_path / "program.tar")
    return tmp_path / "program.tar", dist


def test_half_of_the_credentials_is_an_error_and_none_is_not() -> None:
    signing.check({})
    signing.check(ENVIRON)
    with pytest.raises(Refusal, match="CERTIFICATE_PASSWORD too"):
        signing.check({signing.WINDOWS[0]: "x"})
    with pytest.raises(Refusal, match="must be signed"):
        signing.check(dict.fromkeys(signing.NOTARY, "x"))


@pytest.mark.parametrize("kind", ["windows", "macos"])
def test_no_password_is_an_argument_of_a_command(kind: str, tmp_path: Path, tools: Path) -> None:
    program, dist = archive(tmp_path, kind)
    signing.sign(program, dist, {**os.environ, **ENVIRON})
    calls = noted(tools)
    assert calls
    for command, _ in calls:
        assert not any("secret" in word for word in command), command
    if kind == "macos":
        (told,) = (told for command, told in calls if "import" in told)
        assert '-P" "a \\"secret\\" of the certificate"' in told


def test_on_windows_the_program_is_signed_before_it_is_packed_and_the_installer_after(
    tmp_path: Path, tools: Path
) -> None:
    program, dist = archive(tmp_path, "windows")
    signing.sign(program, dist, {**os.environ, **ENVIRON})
    calls = [command for command, _ in noted(tools)]
    signed = [Path(command[-1]).name for command in calls if command[:2] == ["signtool", "sign"]]
    assert signed == ["rialto.exe", "rialto-1.2.3-win32-amd64-setup.exe"]
    assert [command[0] for command in calls] == [
        *("powershell", "signtool", "signtool", "makensis", "signtool", "signtool", "powershell")
    ]
    assert "-DVERSION=1.2.3" in calls[3] and "-DNUMBER=1.2.3.0" in calls[3]
    assert all("ABCDEF0123" in command for command in calls if command[:2] == ["signtool", "sign"])
    assert "Remove-Item" in calls[-1][-1]
    checked(dist / "rialto-1.2.3-win32-amd64-setup.exe")


def test_on_macos_an_app_is_signed_from_the_inside_out_notarized_and_stapled(tmp_path: Path, tools: Path) -> None:
    program, dist = archive(tmp_path, "macos")
    signing.sign(program, dist, {**os.environ, **ENVIRON})
    calls = [command for command, _ in noted(tools)]
    signed = [command for command in calls if command[0] == "codesign" and "--verify" not in command]
    assert [Path(command[-1]).name for command in signed] == [
        *("QtCore", "QtCore.framework", "libone.dylib", "Rialto.app", "rialto-1.2.3-darwin-arm64.dmg")
    ]
    assert not any("--deep" in command for command in signed)
    assert all(command[5:7] == ["--options", "runtime"] for command in signed[:-1])
    assert [command for command in signed if "--entitlements" in command] == [signed[3]]
    apple = [[*command[1:3], Path(command[-1]).name] for command in calls if command[0] == "xcrun"]
    assert [each[:2] for each in apple] == [
        ["notarytool", "store-credentials"],
        *([["notarytool", "submit"], ["stapler", "staple"], ["stapler", "validate"]] * 2),
    ]
    assert [each[2] for each in apple if each[0] == "stapler"] == [
        *(["Rialto.app"] * 2),
        *(["rialto-1.2.3-darwin-arm64.dmg"] * 2),
    ]
    assert "spctl" in [command[0] for command in calls]
    assert "delete-keychain" in noted(tools)[-1][1]
    checked(dist / "rialto-1.2.3-darwin-arm64.dmg")


def checked(path: Path) -> None:
    """The file was made again, and its checksum with it."""
    assert path.read_bytes() == b"made again"
    digest, name = path.with_name(path.name + ".sha256").read_text().split()
    assert (name, digest) == (path.name, signing.write_checksum(path))


def test_what_apple_refuses_ends_the_job(tmp_path: Path, tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """notarytool itself ends with 0."""
    monkeypatch.setenv("VERDICT", "Invalid")
    program, dist = archive(tmp_path, "macos")
    with pytest.raises(Refusal, match=r"Apple did not accept Rialto\.zip"):
        signing.sign(program, dist, {**os.environ, **ENVIRON})
    assert "delete-keychain" in noted(tools)[-1][1]


@pytest.mark.parametrize("kind", ["windows", "macos"])
def test_without_credentials_what_was_built_stays_as_it_is(
    kind: str, tmp_path: Path, tools: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, dist = archive(tmp_path, kind)
    signing.sign(program, dist, dict(os.environ))
    assert [path.read_bytes() for path in dist.iterdir() if path.suffix != ".sha256"] == [b"not signed"]
    assert "is not signed" in capsys.readouterr().out
    assert noted(tools) == []


def test_an_app_that_nobody_signs_is_sealed_all_the_same(tmp_path: Path, tools: Path) -> None:
    archive(tmp_path, "macos")
    signing.seal(tmp_path / "built/Rialto.app")
    calls = [command for command, _ in noted(tools)]
    assert all(command[3] == "-" for command in calls[:-1])
    assert calls[-1] == ["codesign", "--verify", "--deep", "--strict", str(tmp_path / "built/Rialto.app")]


def test_the_disk_image_shows_where_the_app_is_dragged_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = tmp_path / "dist/Rialto.app"
    app.mkdir(parents=True)
    shown: list[tuple[str, bool]] = []

    def look(command: list[str], **_: Any) -> str:
        folder = Path(command[command.index("-srcfolder") + 1])
        shown.extend((path.name, path.is_symlink()) for path in folder.iterdir())
        return ""

    monkeypatch.setattr(installers, "quietly", look)
    installers.disk_image(app, tmp_path / "rialto.dmg")
    assert sorted(shown) == [("Applications", True), ("Rialto.app", False)]
    assert app.is_dir() and not (tmp_path / "dist/image").exists()


def test_the_hardened_runtime_of_macos_loads_parts_of_the_same_signer_alone() -> None:
    """An entitlement too many, and any library that is injected may read the keys in the keychain."""
    assert plistlib.loads(signing.ENTITLEMENTS.read_bytes()) == {
        "com.apple.security.device.audio-input": True,
        "com.apple.security.cs.allow-jit": True,
    }


def test_the_job_that_signs_needs_no_library() -> None:
    """It has the credentials, so nothing from an index runs in it."""
    python = shutil.which("python3") or sys.executable
    command = [python, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'packaging')!r}); import signing"]
    subprocess.run(command, check=True, timeout=60)


def test_the_program_is_handed_over_with_its_links_and_modes(tmp_path: Path) -> None:
    folder = tmp_path / "rialto"
    folder.mkdir()
    (folder / "rialto").write_bytes(b"x")
    (folder / "rialto").chmod(0o755)
    (folder / "link").symlink_to("rialto")
    (tmp_path / "icon").write_bytes(b"i")
    installers.keep_program(folder, tmp_path / "icon", tmp_path / "program.tar")
    with tarfile.open(tmp_path / "program.tar") as kept:
        assert kept.getmember("rialto/rialto").mode & 0o111
        assert kept.getmember("rialto/link").linkname == "rialto"
