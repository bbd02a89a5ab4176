"""The software bill of materials (CycloneDX 1.6) of what is really in a build; started by the packager's own Python.

    python packaging/build_files/bill_of_materials.py SOURCES TARGET VERSION EPOCH

SOURCES is the list that `rialto.spec` writes: the file that each file of the program was made from, one per line. Each
belongs to a Python package, Python, Rialto or a Debian package; a file that belongs to none is listed with its hash.
"""

from __future__ import annotations

import datetime
import hashlib
import platform
import sys
import sysconfig
import uuid
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

sys.path.append(str(Path(__file__).resolve().parent.parent))

from environments import ROOT
from licenses import INSIDE
from system_packages import owners

from app.storage.licenses import words_of


def main(arguments: list[str]) -> int:
    sources, target, version, epoch = arguments
    paths = map(Path, Path(sources).read_text(encoding="utf-8").splitlines())
    Path(target).write_text(bill(components(paths), version, int(epoch)), encoding="utf-8", newline="\n")
    return 0


def bill(parts: Iterable[Component], version: str, epoch: int) -> str:
    """Return the bill of a release made at `epoch` (seconds). The same parts give the same text."""
    whole = Component(name="rialto", version=version, type=ComponentType.APPLICATION, bom_ref="rialto")
    made = Bom(components=parts)
    made.serial_number = uuid.uuid5(
        uuid.NAMESPACE_URL, "\n".join(sorted(str(part.bom_ref) for part in made.components))
    )
    made.metadata.component = whole
    made.metadata.timestamp = datetime.datetime.fromtimestamp(epoch, datetime.UTC)
    made.register_dependency(whole, made.components)
    return JsonV1Dot6(made).output_as_string(indent=1) + "\n"


def components(sources: Iterable[Path]) -> Iterator[Component]:
    """Return what the files belong to. Python is in every build."""
    files = {
        str(package.locate_file(file)): package for package in metadata.distributions() for file in package.files or []
    }
    packages, others = dict[str, metadata.Distribution](), set[Path]()
    of_python = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib"))
    for source in sources:
        if package := files.get(str(source)):
            packages[package.name] = package
        elif source.is_file() and not str(source).startswith((str(ROOT), *of_python)):
            others.add(source)
    yield Component(name="python", version=platform.python_version(), bom_ref="python", licenses=[_license("PSF-2.0")])
    yield from map(_package, packages.values())
    owned = owners(others)
    for name, version in sorted(set(owned.values())):
        address = PackageURL("deb", "debian", name, version)
        yield Component(name=name, version=version, purl=address, bom_ref=address.to_string())
    for path in sorted(others - owned.keys()):
        digest = HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(path.read_bytes()).hexdigest())
        yield Component(name=path.name, type=ComponentType.FILE, bom_ref=f"file:{path.name}", hashes=[digest])


def _package(package: metadata.Distribution) -> Component:
    """Return a Python package with the libraries that its wheel brings along."""
    name = package.name.lower().replace("_", "-")
    address = PackageURL("pypi", None, name, package.version)
    inside = [
        Component(name=title, bom_ref=f"{address.to_string()}#{title}", licenses=[_license(words)])
        for title, words, _ in INSIDE.get(name, ())
    ]
    return Component(
        name=name,
        version=package.version,
        purl=address,
        bom_ref=address.to_string(),
        licenses=[_license(words_of(package))],
        components=inside,
    )


def _license(words: str) -> License:
    return LicenseFactory().make_from_string(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
