"""The installer for Windows and the disk image for macOS, made of a built program. Standard library only.

`package` makes both without a signature. The job that signs makes them again around the signed program, and installs
no library to do so.
"""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path

from environments import ROOT
from progress import CommandFailed, Refusal, quietly

NSIS_SCRIPT = ROOT / "packaging" / "windows" / "rialto.nsi"
PUBLISHER = "The Rialto developers"
PROGRAM = "rialto.exe"
APP = "Rialto.app"


def installer(folder: Path, icon: Path, version: str, target: Path) -> Path:
    """Pack the program's folder into an installer. Raises `Refusal`."""
    values = {
        "VERSION": version,
        "NUMBER": ".".join(map(str, version_numbers(version))),
        "FOLDER": folder,
        "ICON": icon,
        "OUT": target,
    }
    try:
        quietly(["makensis", "-WX", *(f"-D{name}={value}" for name, value in values.items()), str(NSIS_SCRIPT)])
    except CommandFailed as failure:
        raise Refusal(f"The installer could not be made:\n\n{failure.tail}\n") from failure
    except FileNotFoundError as error:
        raise Refusal("makensis is missing. Install NSIS 3, and put its folder on the PATH.") from error
    return target


def disk_image(app: Path, target: Path) -> Path:
    """Pack the app into a disk image, beside a link to drag it to. Nothing may change in it later. Raises `Refusal`."""
    target.unlink(missing_ok=True)
    shown = app.with_name("image")
    shown.mkdir()
    app.rename(shown / app.name)
    (shown / "Applications").symlink_to("/Applications")
    try:
        command = ["hdiutil", "create", "-volname", "Rialto", "-srcfolder", str(shown), "-format", "UDZO"]
        quietly([*command, str(target)])
    except CommandFailed as failure:
        raise Refusal(f"The disk image could not be made:\n\n{failure.tail}\n") from failure
    finally:
        (shown / app.name).rename(app)
        shutil.rmtree(shown)
    return target


def keep_program(folder: Path, icon: Path, target: Path) -> None:
    """Write what the job that signs needs: the program with its links and modes, and the icon of the installer."""
    with tarfile.open(target, "w") as archive:
        archive.add(folder, folder.name)
        archive.add(icon, icon.name)


def version_numbers(version: str) -> tuple[int, int, int, int]:
    """Return a version as the four numbers that Windows takes: (1, 2, 3, 0) for "1.2.3rc1"."""
    numbers = [int(number) for number in re.findall(r"\d+", re.split(r"[a-z+-]", version)[0])]
    first, second, third, fourth, *_ = *numbers, 0, 0, 0, 0
    return first, second, third, fourth


def version_resource(version: str) -> str:
    """Return what Windows shows of `rialto.exe` in Properties, Task Manager and warnings, in PyInstaller's form."""
    numbers = version_numbers(version)
    shown = {
        "CompanyName": PUBLISHER,
        "FileDescription": "Rialto",
        "FileVersion": version,
        "InternalName": "rialto",
        "LegalCopyright": f"{PUBLISHER}, MIT license",
        "OriginalFilename": PROGRAM,
        "ProductName": "Rialto",
        "ProductVersion": version,
    }
    rows = ", ".join(f"StringStruct({name!r}, {value!r})" for name, value in shown.items())
    language = "VarFileInfo([VarStruct('Translation', [1033, 1200])])"  # US English, Unicode
    fixed = f"FixedFileInfo(filevers={numbers}, prodvers={numbers})"
    return f"VSVersionInfo(ffi={fixed}, kids=[StringFileInfo([StringTable('040904B0', [{rows}])]), {language}])\n"
