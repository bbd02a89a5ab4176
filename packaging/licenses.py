"""The licenses of everything that is shipped, read from the installed packages themselves.

What wheels carry without saying so is named here: Python, the start program, and the libraries inside Qt and the
engines. A bundle with libraries of the system that it was built on names those too.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from environments import ROOT
from locks import pinned
from system_packages import owners

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


def text(environment: Path, lock: Path, sources: Iterable[Path] = ()) -> str:
    """Return every license as one text. `sources`: what a build was made from, whose system libraries are named."""
    return to_text(collected(environment, lock, sources))


def collected(environment: Path, lock: Path, sources: Iterable[Path] = ()) -> list[License]:
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
    return [*found, *_of_system(sources)]


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


def _of_system(sources: Iterable[Path]) -> list[License]:
    """The Debian packages whose libraries PyInstaller took along, with their copyright files."""
    python = f"{sysconfig.get_path('stdlib')}/"
    libraries = (
        path for path in sources if str(path).startswith(("/lib/", "/usr/lib/")) and not str(path).startswith(python)
    )
    found = []
    for name in sorted({name for name, _ in owners(libraries).values()}):
        path = Path("/usr/share/doc") / name / "copyright"
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found.append(License(f"{name}, of the system", "see its text", text))
    return found
