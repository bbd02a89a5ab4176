"""Named tuples that are made in half the time are what Python makes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import pytest

from app.ui.kit.qt_workarounds.named_tuples import make_named_tuples_fast

ROOT = Path(__file__).resolve().parents[2]
FACTS = """
import typing
{prepare}
from app.ui.chat.state import ChatEntry
print(*(isinstance(each, typing.ForwardRef) for each in ChatEntry.__annotations__.values()))
"""


def test_a_named_tuple_is_what_python_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typing._make_nmtuple", None)  # put back at the end
    make_named_tuples_fast()

    class Place(NamedTuple):
        """Where something is."""

        row: int
        words: tuple[str, ...] = ()
        below: Place | None = None

        @property
        def size(self) -> int:
            return len(self.words)

    place: Any = Place(3, words=("a", "b"))
    assert Place._fields == Place.__match_args__ == ("row", "words", "below")
    assert Place(1) == (1, (), None) and Place.__doc__ == "Where something is."
    assert Place.__module__ == __name__ and Place.__bases__ == (tuple,)
    assert place == (3, ("a", "b"), None) and place.size == 2
    assert repr(place._replace(row=4)) == "Place(row=4, words=('a', 'b'), below=None)"
    assert get_type_hints(Place, localns={"Place": Place}) == {
        "row": int,
        "words": tuple[str, ...],
        "below": Place | None,
    }
    with pytest.raises(TypeError):
        Place()  # type: ignore[call-arg]  # what is tested
    with pytest.raises(AttributeError):
        place.row = 5


@pytest.mark.parametrize(("prepare", "compiled"), [("", True), ("read_no_sources()", False)])
def test_a_start_compiles_no_annotations(prepare: str, compiled: bool) -> None:
    if prepare:
        prepare = f"from app.ui.kit.qt_workarounds.pyside_features import read_no_sources\n{prepare}"
    code = FACTS.format(prepare=prepare)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {str(compiled)}
