"""Builds a wheel and a source distribution of a folder by its pyproject.toml: a backend as PEP 517 wants it.

Standard library only, and it lies in the source distribution itself, so that installing from that needs no network and
no other package. The same files and the same time (`SOURCE_DATE_EPOCH`) give the same bytes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path
from typing import Any

OLDEST = 315_532_800  # 1980, where the dates of zip files begin
FILES = ("LICENSE", "README.md", "Containerfile", "pyproject.toml", "wheel_backend.py")


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Called by pip and its like, in the folder of the source distribution."""
    return wheel(Path.cwd(), Path(wheel_directory), _epoch()).name


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    return source(Path.cwd(), Path(sdist_directory), _epoch()).name


def wheel(root: Path, target: Path, epoch: int) -> Path:
    """Write the wheel of the folder `root` into the folder `target`. `epoch`: seconds, the date of every file."""
    project = _project(root)
    name, version = _file_name(project), project["version"]
    about = f"{name}-{version}.dist-info"
    contents = {path.relative_to(root).as_posix(): path.read_bytes() for path in _package_files(root, name)}
    contents |= {
        f"{about}/METADATA": _metadata(root, project).encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: rialto\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/entry_points.txt": _entry_points(project).encode(),
        f"{about}/licenses/LICENSE": (root / "LICENSE").read_bytes(),
    }
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in contents.items())
    contents[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    date = time.gmtime(max(epoch, OLDEST))[:6]
    written = target / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, data in contents.items():
            entry = zipfile.ZipInfo(inside, date)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o100644 << 16  # the same on Windows
            archive.writestr(entry, data)
    return written


def source(root: Path, target: Path, epoch: int) -> Path:
    """Write the source distribution of the folder `root` into the folder `target`."""
    project = _project(root)
    name = _file_name(project)
    stem = f"{name}-{project['version']}"
    contents = {"PKG-INFO": _metadata(root, project).encode()}
    for path in (*(root / file for file in FILES), *_package_files(root, name)):
        contents[path.relative_to(root).as_posix()] = path.read_bytes()
    written = target / f"{stem}.tar.gz"
    with (
        written.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for inside, data in contents.items():
            entry = tarfile.TarInfo(f"{stem}/{inside}")
            entry.size, entry.mtime, entry.mode = len(data), epoch, 0o644
            archive.addfile(entry, io.BytesIO(data))
    return written


def _project(root: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def _file_name(project: dict[str, Any]) -> str:
    return re.sub(r"[-_.]+", "_", str(project["name"])).lower()


def _package_files(root: Path, name: str) -> list[Path]:
    return sorted(path for path in (root / name).rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _metadata(root: Path, project: dict[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        "License-File: LICENSE",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {needed}" for needed in project["dependencies"]),
    ]
    for extra, wanted in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {_for_extra(needed, extra)}" for needed in wanted]
    lines += ["Description-Content-Type: text/markdown", "", (root / "README.md").read_text(encoding="utf-8")]
    return "\n".join(lines)


def _for_extra(requirement: str, extra: str) -> str:
    needed, _, marker = requirement.partition(";")
    wanted = f'extra == "{extra}"'
    return f"{needed.strip()}; ({marker.strip()}) and {wanted}" if marker else f"{needed.strip()}; {wanted}"


def _entry_points(project: dict[str, Any]) -> str:
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in points.items()) + "\n"
        for group, points in groups.items()
    )


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _epoch() -> int:
    return int(os.environ.get("SOURCE_DATE_EPOCH", OLDEST))
