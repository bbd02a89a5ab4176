"""P12: the built program against the same program from source: its start, and how much people download and install.

It measures what `bootstrap.py package` left in `build` and `dist`; without that there is nothing to measure, which is
said and is no failure. RIALTO_BUNDLE names another built program.
"""

import os
import sys
import sysconfig
import tempfile
from pathlib import Path

from tests.bench.harness import Ratio, medians
from tests.bench.windows import RIALTO, ROOT, prepare_home, start_s

RUNS = 9
LIMIT = 1.15
DEB_MB, BOTH_MB = 60, 180
MB = 1e6


def main() -> list[Ratio]:
    program = Path(os.environ.get("RIALTO_BUNDLE") or ROOT / "build/package/dist/rialto/rialto")
    if not program.is_file():
        print(f"There is no built program at {program}: run `bootstrap.py package` first.", file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory() as scratch:
        source_home, built_home = Path(scratch) / "source", Path(scratch) / "built"
        for home in (source_home, built_home):
            prepare_home(home, "api_key")
        source, built = medians(
            lambda: start_s(RIALTO, source_home),
            lambda: start_s((), built_home, program=str(program)),
            runs=RUNS,
        )
    detail = f"{built * 1000:.0f} ms against {source * 1000:.0f} ms"
    libraries = Path(sysconfig.get_paths()["purelib"])
    sizes = folder_mb(program.parent), folder_mb(libraries) + folder_mb(ROOT / "app") + folder_mb(ROOT / "resources")
    return [
        Ratio("P12", "start of the built program", built / source, LIMIT, "the same from source", detail=detail),
        Ratio(
            "P12",
            "installed size",
            sizes[0] / sizes[1],
            1.0,
            "the environment of a checkout",
            detail=f"{sizes[0]:.0f} MB against {sizes[1]:.0f} MB",
        ),
        *packages(ROOT / "dist"),
    ]


def packages(folder: Path) -> list[Ratio]:
    """The .deb that are there: the program alone, and with the Sandbox's engines."""
    alone = sum(path.stat().st_size for path in folder.glob("rialto_*.deb")) / MB
    engines = sum(path.stat().st_size for path in folder.glob("rialto-sandbox_*.deb")) / MB
    if not alone or not engines:
        return []
    return [
        Ratio("P12", "rialto.deb", alone, DEB_MB, "its goal", "MB"),
        Ratio("P12", "rialto.deb and rialto-sandbox.deb", alone + engines, BOTH_MB, "its goal", "MB"),
    ]


def folder_mb(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if "__pycache__" not in path.parts) / MB
