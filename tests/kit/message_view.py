"""What the tests of the message view share: rows, a shown view, and a way to write down what a text was drawn as."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QEvent, QEventLoop, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QTextDocument, QWheelEvent
from PySide6.QtWidgets import QApplication

from app.core.problems import ActionSpec, Problem
from app.ui.conversation.boxes import Box, Control
from app.ui.conversation.code_box import CodeBox
from app.ui.conversation.rows import MessageRow, ReceiptRun, RowSource
from app.ui.conversation.streaming_markdown import StreamingMarkdown
from app.ui.conversation.table_box import TableBox
from app.ui.conversation.text_boxes import ProseBox
from app.ui.conversation.units import BODY, ControlReference, Styles
from app.ui.conversation.view import MessageView
from app.ui.conversation.virtual_list import PlacedUnit
from app.ui.kit.theme import Theme

SOURCES = (
    RowSource("Status codes", "https://www.rfc-editor.org/rfc/rfc6585", "429 says that too many requests came."),
    RowSource("Backoff and jitter", "https://example.org/jitter"),
    RowSource("Rate limits", "https://docs.example.com/limits"),
)
PATIENCE_S = 60.0
RECEIPT = (ReceiptRun("$0.0007", icon="receipt"), ReceiptRun("in 812"), ReceiptRun("out 164"), ReceiptRun("3.1 s"))

RICH = """# A heading

Some *emphasis*, **strong words**, ~~struck~~ ones, `inline code` and a [link](https://example.org/a).
A second line.[REF]0[/REF] Two at once.[REF]0, 2[/REF]

1. First
2. Second

   ```python
   def f(x):
       return x + 1
   ```

   and more of the second
3. Third
   - nested
   - [x] done

> quoted **text**
> goes on

| Name | Number |
|:--|--:|
| one | 1 |
| `two` | 2 |

```
plain code
```

![A chart](https://tracker.example/pixel.png) and $a_1 + b_1$.[^note]

[^note]: What the note says.
"""


LONG = "\n\n".join(f"Paragraph {number} " + "with words " * 30 for number in range(60))


def plain_theme(qapp: QApplication) -> Theme:
    """The theme as it comes, put on once for a whole file of tests."""
    theme = Theme()
    theme.apply(qapp)
    return theme


def long_chat(theme: Theme) -> MessageView:
    """Two hundred questions and their answers, shown at the end."""
    rows = []
    for number in range(200):
        rows += [
            question(f"Question {number}", f"q{number}"),
            answer(f"Answer {number}\n\n" + "words " * 120, f"a{number}"),
        ]
    return shown(theme, rows)


def heights(view: MessageView) -> list[tuple[int, tuple[int, int], int]]:
    """Where everything that is laid out stands: row, key, y."""
    return [(placed.row, placed.key, placed.y) for placed in view.stack.placed]


def answer(text: str = "", row_id: str = "a", **more: object) -> MessageRow:
    return MessageRow(id=row_id, role="assistant", text=text, **more)  # type: ignore[arg-type]  # any field


def question(text: str = "Why?", row_id: str = "q") -> MessageRow:
    return MessageRow(id=row_id, role="user", text=text)


def shown(theme: Theme, rows: list[MessageRow], width: int = 800, height: int = 600) -> MessageView:
    """Return a view on screen with `rows` in it."""
    view = MessageView(theme)
    view.resize(width, height)
    view.set_messages(rows)
    view.show()
    QApplication.processEvents()
    return view


def settle(view: MessageView) -> None:
    """Let the view show everything that it was given, colors included."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        backlog = view.stream.is_waiting or any(model.backlog for model in view.stack.known_models())
        if not backlog and view.is_settled and view.highlighter.is_idle:
            break
        time.sleep(0.001)  # a language is loaded in a thread
    QApplication.processEvents()


# -- what a text was drawn as ---------------------------------------------------------------------------------------


def flow_of(theme: Theme, text: str, *, citations: bool = True) -> StreamingMarkdown:
    """Return a text read at once."""
    flow = StreamingMarkdown(BODY, Styles(theme), citations=citations)
    flow.extend(text)
    flow.finish()
    return flow


def drawn(flow: StreamingMarkdown) -> list[object]:
    """Write down everything that can be seen of a text: characters, formats, marks, chips, air."""
    found: list[object] = []
    for unit in flow.units:
        found.append(("gap", unit.gap))
        found += [described(box) for box in unit.boxes]
    return found


def described(box: Box) -> object:
    if isinstance(box, ProseBox):
        prose = box.prose
        return ("prose", fragments(box.document), str(prose.marks), str(prose.bars), str(prose.spans), prose.pads)
    if isinstance(box, CodeBox):
        return ("code", box.source, box.group.language, box.part, box.is_last, box.document.toPlainText())
    if isinstance(box, TableBox):
        return ("table", fragments(box.document), box.is_last, box.columns.naturals)
    return (type(box).__name__,)


def fragments(document: QTextDocument) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    block = document.begin()
    while block.isValid():
        form = block.blockFormat()
        found.append(("block", form.indent(), form.topMargin(), form.lineHeight()))
        runs: list[list[object]] = []
        walk = block.begin()
        while not walk.atEnd():
            fragment = walk.fragment()
            char = fragment.charFormat()
            style = (char.font().toString(), char.foreground().color().name(), char.anchorHref())
            if runs and runs[-1][1] == style:
                runs[-1][0] = str(runs[-1][0]) + fragment.text()
            else:
                runs.append([fragment.text(), style])
            walk += 1  # type: ignore[misc]  # QTextBlock.iterator moves by +=
        found += [tuple(run) for run in runs]
        block = block.next()
    return found


def visible_text(view: MessageView) -> str:
    """Return the text of all units on screen."""
    return "\n".join(box.text(0, box.length) for placed in view.stack.placed for box in placed.unit.boxes if box.length)


# -- pressing -------------------------------------------------------------------------------------------------------


def controls(view: MessageView) -> Iterator[tuple[ControlReference, Control, PlacedUnit]]:
    for placed in view.stack.placed:
        row_id = view.stack.rows[placed.row].id
        for number, box in enumerate(placed.unit.boxes):
            for control in box.controls():
                yield ControlReference(row_id, placed.key, number, control.id), control, placed


def control(view: MessageView, name: str) -> tuple[ControlReference, Control, PlacedUnit]:
    """Return the first control on screen whose accessible name begins with `name`."""
    for found in controls(view):
        if found[1].name.startswith(name):
            return found
    raise AssertionError(f"no {name!r} among {[each.name for _, each, _ in controls(view)]}")


def point_of(view: MessageView, name: str) -> QPointF:
    spot, found, placed = control(view, name)
    where = found.areas[0] if found.areas else found.rect
    return view.pointer.origin_of(placed, placed.unit.boxes[spot.box]) + where.center()


def click(view: MessageView, name: str) -> None:
    """Press and let go of a control with the mouse."""
    at = point_of(view, name)
    mouse(view, QEvent.Type.MouseButtonPress, at)
    mouse(view, QEvent.Type.MouseButtonRelease, at)


def mouse(
    view: MessageView,
    kind: QEvent.Type,
    at: QPointF,
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else Qt.MouseButton.LeftButton
    where = QPointF(view.viewport().mapToGlobal(QPoint(0, 0))) + at
    event = QMouseEvent(kind, at, where, Qt.MouseButton.LeftButton, held, modifiers)
    QApplication.sendEvent(view.viewport(), event)


def drag(view: MessageView, start: QPointF, end: QPointF) -> None:
    """Select by mouse from one point to another."""
    mouse(view, QEvent.Type.MouseButtonPress, start)
    mouse(view, QEvent.Type.MouseMove, (start + end) / 2)
    mouse(view, QEvent.Type.MouseMove, end)
    mouse(view, QEvent.Type.MouseButtonRelease, end)


PROBLEM = Problem(
    "The service did not accept your API key",
    "Nothing was charged, and your message is still in the box below.",
    ActionSpec("replace-key", "Replace key…"),
    ActionSpec("retry", "Try again"),
    (("Status", "401 Unauthorized"), ("Request ID", "8c1f")),
    icon="key",
)


def everything() -> list[MessageRow]:
    return [
        MessageRow("q", "user", "A question\n```\nwith code\n```", place=1, places=2),
        answer(RICH, "rich", citations=True, sources=SOURCES, receipt=RECEIPT, reasoning="**Ideas**", reasoning_s=1.5),
        MessageRow("n", "note", "The model is another one now."),
        answer("Half", "half", state="interrupted", state_text="12 tokens kept.", reasoning_open=True, reasoning="Why"),
        answer("", "failed", state="failed", problem=PROBLEM),
        answer("Coming", "live", state="streaming"),
    ]


def sections(view: MessageView) -> list[int]:
    return [placed.key[0] for placed in view.stack.placed]


def key_event(key: Qt.Key, modifiers: Qt.KeyboardModifier) -> QKeyEvent:
    return QKeyEvent(QEvent.Type.KeyPress, key, modifiers)


def turn(
    view: MessageView,
    angle: int,
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
    at: QPointF | None = None,
) -> None:
    at = at or QPointF(view.viewport().rect().center())
    where = QPointF(view.viewport().mapToGlobal(at.toPoint()))
    phase, buttons = Qt.ScrollPhase.NoScrollPhase, Qt.MouseButton.NoButton
    event = QWheelEvent(at, where, QPoint(), QPoint(0, angle), buttons, modifiers, phase, False)
    QApplication.sendEvent(view.viewport(), event)
