"""The licenses of everything that is shipped, read from the installed packages themselves.

What wheels carry without saying so is named here: Python, the start program, and the libraries inside Qt and the
engines. A bundle with libraries of the system that it was built on names those too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from environments import ROOT
from locks import pinned

sys.path.append(str(ROOT))  # the program reads the list with the functions that write it

from app.storage.licenses import License, of_packages, own, to_text

TEXTS = ROOT / "packaging" / "licence_texts"
WHOLE = (
    "Rialto's own code is under the MIT licence. A copy with the Sandbox's engines (espeak-ng, and x264 within PyAV)\n"
    "is as a whole under the GNU General Public License, version 3 or later."
)
# What is inside a wheel: its title, its license in words, and the files of licence_texts that belong to it.
INSIDE = {
    "pyside6-essentials": (
        ("Qt, PySide6 and Shiboken", "LGPL-3.0-only", ("LGPL-3", "GPL-3")),
        ("ICU, within Qt on Linux", "ICU", ("ICU",)),
    ),
    "pyside6-addons": (("FFmpeg, within Qt", "LGPL-2.1-or-later", ("LGPL-2.1",)),),
    "soundfile": (("libsndfile, within soundfile", "LGPL-2.1-or-later", ("LGPL-2.1",)),),
    "espeakng-loader": (("espeak-ng, within espeakng-loader", "GPL-3.0-or-later", ("GPL-3",)),),
    "dcap-qvl": (("dcap-qvl, whose wheel carries no text of its own", "MIT", ("MIT-dcap-qvl",)),),
    "av": (("FFmpeg with x264 and x265, within PyAV", "GPL-2.0-or-later", ("GPL-2",)),),
}
PYINSTALLER = "pyinstaller"


def text(environment: Path, lock: Path, bundle: Path | None = None) -> str:
    """Return every license as one text. `bundle`: a built folder whose system libraries are to be named."""
    return to_text(collected(environment, lock, bundle))


def collected(environment: Path, lock: Path, bundle: Path | None = None) -> list[License]:
    """Rialto, its fonts, Python, the start program, each package with what is inside it, system libraries."""
    shipped = pinned(lock.read_text(encoding="utf-8"))
    folders = [
        str(path) for path in (*environment.glob("lib/python*/site-packages"), environment / "Lib/site-packages")
    ]
    found = [License("The whole", "MIT and GPL-3.0-or-later", WHOLE), *own(ROOT), _python(environment)]
    found += [
        License(f"{one.title}, the start program", one.words, one.text) for one in of_packages(folders, {PYINSTALLER})
    ]
    found += of_packages(folders, shipped)
    for package, parts in INSIDE.items():
        if package in shipped:
            found += [License(title, words, _texts(names)) for title, words, names in parts]
    return [*found, *(_of_system(bundle) if bundle is not None else [])]


def _texts(names: tuple[str, ...]) -> str:
    return "\n\n".join((TEXTS / f"{name}.txt").read_text(encoding="utf-8") for name in names)


def _python(environment: Path) -> License:
    """The license that lies beside the Python that the environment was made with."""
    facts = (environment / "pyvenv.cfg").read_text(encoding="utf-8")
    home = re.search(r"^home *= *(.*)$", facts, re.MULTILINE)
    version = re.search(r"^version(?:_info)? *= *([\d.]+)", facts, re.MULTILINE)
    base = Path(home.group(1).strip()) if home else Path(sys.base_prefix)
    places = [*base.parent.glob("lib/python3.*/LICENSE.txt"), base / "LICENSE.txt"]
    places += [Path(f"/usr/share/doc/python3.{sys.version_info.minor}/copyright")]
    path = next((place for place in places if place.is_file()), None)
    words = path.read_text(encoding="utf-8", errors="replace") if path else ""
    return License(f"Python {version.group(1) if version else ''}".strip(), "PSF-2.0", words)


def _of_system(bundle: Path) -> list[License]:
    """The Debian packages whose libraries PyInstaller took along, with their copyright files."""
    if shutil.which("dpkg-query") is None:
        return []
    libraries = [f"*/{path.name}" for path in sorted((bundle / "_internal").glob("lib*.so*"))]
    asked = subprocess.run(
        ["dpkg-query", "-S", *libraries],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        check=False,  # it ends with 1 when it does not know one of them
    )
    names = {line.partition(":")[0] for line in asked.stdout.splitlines() if "/lib/" in line}
    found = []
    for name in sorted(names):
        path = Path("/usr/share/doc") / name / "copyright"
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found.append(License(f"{name}, of the system", "see its text", text))
    return found
