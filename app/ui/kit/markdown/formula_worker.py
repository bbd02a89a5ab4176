"""Sets formulas in a process of its own: LaTeX in, SVG out, one JSON line each way.

A process, because typesetting holds Python for up to 20 ms and a hostile formula for longer: here it can take its time
and be ended. Standard library and ziamath only; run by file name from source, by `--typeset` from a built program.
"""

import json
import os
import re
import sys
from types import ModuleType
from typing import Any

SIZE = 20.0  # px of one em in what comes back
MAX_SOURCE = 2_000
MAX_DEPTH = 60
MAX_SVG = 400_000
MAX_SIDE = 20_000.0
NICE = 5  # the window goes first where the two share a processor
_TAGS = frozenset({"svg", "path", "rect", "g", "line", "polyline", "polygon", "circle", "ellipse"})
_TAG = re.compile(r"<\s*/?\s*([A-Za-z_][\w:.-]*)")
_VIEW = re.compile(r'viewBox="([-\d.e]+) ([-\d.e]+) ([-\d.e]+) ([-\d.e]+)"')


class NotSet(Exception):
    """This formula cannot be set."""


def typeset(source: str, display: bool) -> dict[str, object]:
    """Return the image and where it stands: `left` and `top` from the beginning of the baseline, in px of `SIZE`.

    Raises `NotSet`; whatever the libraries raise for odd input becomes that as well.
    """
    check(source)
    from latex2mathml.converter import convert
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # Qt draws next to nothing of symbols that are used by reference
    try:
        unknown = "\\" in convert(source)  # a command that it does not know is left as it stands
        svg = "" if unknown else str(Latex(source, size=SIZE, inline=not display).svg())
    except Exception as error:  # two libraries full of strangers' regular expressions: any failure means the same
        raise NotSet(type(error).__name__) from None
    found = _VIEW.search(svg)
    if found is None or len(svg) > MAX_SVG or not set(_TAG.findall(svg)) <= _TAGS:
        raise NotSet("picture")
    left, top, width, height = (float(number) for number in found.groups())
    if not (0 < width < MAX_SIDE and 0 < height < MAX_SIDE):
        raise NotSet("size")
    return {"svg": svg, "left": left, "top": top, "width": width, "height": height}


def check(source: str) -> None:
    """Refuse what would only take time. Raises `NotSet`."""
    if not source.strip() or len(source) > MAX_SOURCE:
        raise NotSet("length")
    depth = deepest = 0
    for character in source.replace("\\{", "").replace("\\}", ""):
        depth += (character == "{") - (character == "}")
        deepest = max(deepest, depth)
        if depth < 0:
            raise NotSet("braces")
    if depth or deepest > MAX_DEPTH or source.count("\\left") > MAX_DEPTH:
        raise NotSet("braces")


def _skip_needless_imports() -> None:
    """Stand in for what the libraries import and never call here: it would bring TLS, HTTP and mail, 4 MB of memory."""
    sys.modules["urllib.request"] = ModuleType("urllib.request")  # `xml.sax` names it
    metadata = ModuleType("importlib.metadata")
    metadata.__dict__["version"] = str  # latex2mathml asks for its own
    sys.modules["importlib.metadata"] = metadata


def _share_equal_records() -> None:
    """Have each distance between two letters once: a font lists 9,000 of a few hundred kinds, 2 MB of memory."""
    from ziafont.fontread import FontReader

    kind: Any = FontReader
    read, known = kind.readvaluerecord, dict[Any, dict[str, int]]()

    def read_shared(reader: FontReader, fields: int) -> dict[str, int]:
        record: dict[str, int] = read(reader, fields)
        return known.setdefault(tuple(record.items()), record)

    kind.readvaluerecord = read_shared


def serve() -> int:
    """Answer requests until the other end closes."""
    _skip_needless_imports()
    _share_equal_records()
    if hasattr(os, "nice"):  # on Windows the one who starts it says so
        os.nice(NICE)
    with os.fdopen(0, "rb", closefd=False) as requests, os.fdopen(1, "wb", closefd=False) as answers:
        for line in requests:
            request = json.loads(line)
            try:
                answer = typeset(str(request["source"]), bool(request["display"]))
            except NotSet as error:
                answer = {"error": str(error)}
            except RecursionError:
                answer = {"error": "depth"}
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()
    return 0


if __name__ == "__main__":
    sys.exit(serve())
