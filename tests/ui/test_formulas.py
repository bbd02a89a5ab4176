"""Formulas: set in another process, drawn in the text's color and on its baseline, source where that fails."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.ui.conversation.text_boxes import ProseBox
from app.ui.conversation.view import MessageView
from app.ui.kit.markdown.figures import FormulaFigure, image_data
from app.ui.kit.markdown.formula_size import size_of
from app.ui.kit.markdown.formula_worker import NotSet, check, typeset
from app.ui.kit.markdown.formulas import Formula, Formulas, worker_command
from app.ui.kit.markdown.parser import parse
from app.ui.kit.theme import Theme
from tests.kit.message_view import answer, settle, shown

ROOT = Path(__file__).resolve().parents[2]
# ziamath finds its font by a call that Python 3.11 calls old; Rialto itself loads it in another process
pytestmark = pytest.mark.filterwarnings("ignore:path is deprecated:DeprecationWarning")


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    return Theme()


@pytest.fixture(autouse=True)
def _a_busy_computer_is_slow() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.ui.kit.markdown.formulas.FIRST_PATIENCE_S", 60.0)
        patch.setattr("app.ui.kit.markdown.formulas.PATIENCE_S", 60.0)
        yield


def wait_for(qtbot: QtBot, view: MessageView) -> None:
    """Wait until every formula on screen is drawn or given up."""
    qtbot.waitUntil(lambda: view.figures.is_idle and not view.stream._formula_timer.isActive(), timeout=60_000)
    settle(view)


def figures_of(view: MessageView) -> list[FormulaFigure]:
    boxes = [box for placed in view.stack.placed for box in placed.unit.boxes if isinstance(box, ProseBox)]
    handlers = [box.prose.document.handler for box in boxes if box.prose.document.handler is not None]
    return [figure for handler in handlers for figure in handler.figures if isinstance(figure, FormulaFigure)]


def text_of(view: MessageView) -> str:
    view.select_all()
    boxes = [box for placed in view.stack.placed for box in placed.unit.boxes]
    return "\n".join(box.text(0, box.length) for box in boxes if box.length)


# Memory

KERNING = """
from app.ui.kit.markdown import formula_worker
from ziafont.fontread import FontReader
formula_worker._share_equal_records()
read, records = FontReader.readvaluerecord, []
def look(reader, fields):
    records.append(read(reader, fields))
    return records[-1]
FontReader.readvaluerecord = look
formula_worker.typeset("x", False)
print(len(records), len({id(each) for each in records}), len({tuple(each.items()) for each in records}))
"""


def test_the_process_that_sets_formulas_has_each_distance_of_its_font_once() -> None:
    done = subprocess.run([sys.executable, "-c", KERNING], cwd=ROOT, capture_output=True, text=True, check=True)
    read, kept, different = map(int, done.stdout.split())
    assert read > 5_000 and kept == different < 1_000


# What counts as a formula


@pytest.mark.parametrize(
    ("source", "formulas"),
    [
        ("$E=mc^2$", [("E=mc^2", False)]),
        ("so \\(a_1\\) and \\[b_2\\] and $$c_3$$", [("a_1", False), ("b_2", True), ("c_3", True)]),
        ("$a_1$, *b*, and $c_2$.", [("a_1", False), ("c_2", False)]),
        ("it costs $5 and then $10", []),
        ("from $HOME/bin:$PATH", []),
        ("US$ and A$ and $ x $", []),
        ("\\[note\\] is a bracket", []),
        ("`$a$`", []),
        ("$" * 400, []),
        ("$$$a$$$ and $$$$$", []),
        ("$$\na = b\n- c\n# d\n+ e\n$$", [("a = b\n- c\n# d\n+ e", True)]),
        ("\\[\nx\n===\n\\]", [("x\n===", True)]),
        ("$$ never closed\n\n- list", []),
    ],
)
def test_formulas_are_told_from_prices_paths_and_brackets(source: str, formulas: list[tuple[str, bool]]) -> None:
    tokens = [child for token in parse(source) for child in token.children or ()]
    found = [(token.meta["formula"], token.meta["display"]) for token in tokens if token.type == "math"]
    assert found == formulas


def test_a_formula_over_several_lines_stays_one_however_its_text_arrives(theme: Theme) -> None:
    source = "Before\n\n$$\na = b\n- c\n= d\n1. e\n$$\n\nAfter"
    view = shown(theme, [answer(state="streaming")])
    for letter in source:
        view.append_text("a", letter)
        view.stream.flush()
    view.end_stream("a")
    settle(view)
    assert "- c" in text_of(view)
    assert [unit.segment.kind for unit in view.stack.model(0).answer.units if unit.segment] == ["text"] * 3


# Setting them


def test_a_set_formula_knows_where_its_baseline_is() -> None:
    made = typeset("x_y", False)
    assert float(str(made["top"])) < 0 < float(str(made["top"])) + float(str(made["height"]))
    assert "<symbol" not in str(made["svg"])
    assert float(str(typeset("\\frac{a}{b}", True)["height"])) > float(str(typeset("\\frac{a}{b}", False)["height"]))


@pytest.mark.parametrize(
    "source",
    ["", "  ", "x" * 2_001, "{" * 61 + "}" * 61, "}{", "\\frac{a", "\\left(" * 61, "\\nosuchcommand{x}", "\\begin{x"],
)
def test_what_cannot_be_set_is_refused_at_once(source: str) -> None:
    with pytest.raises(NotSet):
        typeset(source, False)


def test_braces_that_are_escaped_count_as_signs() -> None:
    check("\\{ a \\}")


def test_the_process_answers_line_by_line_and_ends_with_its_input() -> None:
    requests = [
        {"source": "a", "display": False},
        {"source": "\\frac{", "display": True},
        {"source": "b", "display": True},
    ]
    text = "".join(json.dumps(request) + "\n" for request in requests)
    ended = subprocess.run(worker_command(), input=text.encode(), capture_output=True, timeout=60, check=True)
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ["svg" in answer for answer in answers] == [True, False, True]


COMMON = r"""The energy is $E=mc^2$ for a body $x_1$ at rest, and $\frac{a$ stays.

$$x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$$

$$\sum_{i=0}^n x_i = \int_0^1 f(x)\,dx$$

$$\begin{pmatrix} a & b \\ c & d \end{pmatrix}$$

$$P(A \mid B) = \frac{P(B \mid A) P(A)}{P(B)}$$

$$\mathcal{L} = -\frac{1}{N} \sum_{i=1}^{N} \left[ y_i \log \hat{y}_i + (1 - y_i) \right]$$
"""
ABOUT_PX = 6  # so little moves that no line of the text comes to stand where another was


def test_a_formula_has_its_place_until_it_is_set_and_nobody_waits(theme: Theme, qtbot: QtBot) -> None:
    view = shown(theme, [answer(COMMON)])
    empty = figures_of(view)
    places = [(figure.alone, figure.size(600.0).height()) for figure in empty]
    assert [figure.formula.is_waiting for figure in empty] == [True] * 7
    assert "\\frac{a$ stays." in text_of(view), "what is no formula is text from the beginning"
    view.grab()
    wait_for(qtbot, view)
    drawn = figures_of(view)
    assert all(figure.formula.is_set for figure in drawn)
    for (alone, height), figure in zip(places, drawn, strict=True):
        assert figure.alone is alone
        assert figure.size(600.0).height() == pytest.approx(height, abs=ABOUT_PX), figure.formula
    assert "$E=mc^2$ for a body" in text_of(view), "what is copied is the source"
    view.grab()


@pytest.mark.parametrize(
    "source", ["^", "_", "a^", "\\frac", "\\frac{a}", "\\sqrt", "\\begin{matrix}", "\\\\", "{" * 60 + "}" * 60]
)
@pytest.mark.parametrize("display", [True, False])
def test_whatever_is_written_has_a_size(source: str, display: bool) -> None:
    check(source)
    assert all(measure >= 0 for measure in size_of(source, display))


def test_a_worker_that_dies_costs_one_formula_and_no_more(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    formulas = Formulas()
    monkeypatch.setattr("app.ui.kit.markdown.formulas.worker_command", lambda: ["false"])
    assert formulas.get("a", False).is_waiting
    qtbot.waitUntil(lambda: formulas.is_idle, timeout=60_000)
    lost = formulas.get("a", False)
    assert not lost.is_set
    monkeypatch.undo()
    formulas.get("b", False)
    qtbot.waitUntil(lambda: formulas.is_idle, timeout=60_000)
    kept = formulas.get("b", False)
    assert kept.is_set


def test_a_formula_that_takes_too_long_is_given_up(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.ui.kit.markdown.formulas.worker_command", lambda: ["sleep", "60"])
    monkeypatch.setattr("app.ui.kit.markdown.formulas.FIRST_PATIENCE_S", 0.1)
    formulas = Formulas()
    formulas.get("a", False)
    qtbot.waitUntil(lambda: formulas.is_idle, timeout=60_000)
    lost = formulas.get("a", False)
    assert not lost.is_set


# Drawing them


def test_a_formula_takes_the_colour_of_the_text_whatever_it_asks_for(qtbot: QtBot) -> None:
    made = typeset("\\color{red}{\\blacksquare}", False)
    measures = [float(str(made[name])) / 20 for name in ("left", "top", "width", "height")]
    formula = Formula(str(made["svg"]).encode(), *measures)
    for color in ("#1b1a18", "#e8eae8"):
        image = formula.picture(60, 60, QColor(color), 1.0).toImage()
        seen = {
            image.pixelColor(x, y).name() for x in range(60) for y in range(60) if image.pixelColor(x, y).alpha() == 255
        }
        assert seen == {color}


def test_a_formula_grows_with_the_text_and_stands_on_its_baseline(theme: Theme, qtbot: QtBot) -> None:
    view = shown(theme, [answer("The value $\\frac{a}{b}$ is small.\n\nThe same without it.")])
    wait_for(qtbot, view)
    (figure,) = figures_of(view)
    before = figure.size(0).height()
    (box,) = [each for placed in view.stack.placed for each in placed.unit.boxes if isinstance(each, ProseBox)][:1]
    line = box.document.firstBlock().layout().lineAt(0)
    assert line.ascent() == pytest.approx(max(figure.ascent, line.ascent()), abs=1)
    assert line.descent() >= figure.descent - 1
    theme.set_text_percent(200)
    wait_for(qtbot, view)
    (larger,) = figures_of(view)
    assert larger.size(0).height() == pytest.approx(2 * before, rel=0.06)
    theme.set_text_percent(100)


def test_a_formula_wider_than_the_column_shrinks_into_it(theme: Theme, qtbot: QtBot) -> None:
    terms = "+".join(f"a_{{{number}}}" for number in range(60))
    view = shown(theme, [answer(f"$${terms}$$")])
    wait_for(qtbot, view)
    (box,) = [each for placed in view.stack.placed for each in placed.unit.boxes if isinstance(each, ProseBox)]
    assert box.document.idealWidth() <= box.width + 1


# Images that a message carries


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        (f"data:image/png;base64,{PIXEL}", True),
        (f"data:image/svg+xml;base64,{PIXEL}", False),
        (f"data:text/html;base64,{PIXEL}", False),
        ("data:image/png;base64,not base64", False),
        ("data:image/png;base64," + "A" * 400_000, False),
        ("https://example.org/a.png", False),
        ("file:///etc/passwd", False),
    ],
)
def test_only_small_raster_images_in_the_text_itself_are_taken(address: str, kept: bool) -> None:
    assert (image_data(address) is not None) is kept


def test_a_carried_image_is_drawn_and_one_elsewhere_stays_a_link(theme: Theme, qtbot: QtBot) -> None:
    carried, broken = f"![dot](data:image/png;base64,{PIXEL})", "![bad](data:image/png;base64,AAAA)"
    source = f"{carried} and ![far](https://example.org/p.png) and {broken}"
    view = shown(theme, [answer(source)])
    wait_for(qtbot, view)
    (box,) = [each for placed in view.stack.placed for each in placed.unit.boxes if isinstance(each, ProseBox)]
    assert [(span.kind, span.target) for span in box.prose.spans] == [
        ("drawn", ""),
        ("image", "https://example.org/p.png"),
        ("image", ""),
    ]
    assert "[dot]" in box.text(0, box.length)
    view.grab()


def test_code_about_such_images_stays_code(theme: Theme) -> None:
    source = f"`![dot](data:image/png;base64,{PIXEL})`"
    view = shown(theme, [answer(source)])
    assert PIXEL in text_of(view)
    assert "data-picture" not in text_of(view)
