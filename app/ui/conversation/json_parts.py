"""What of a message is JSON, as boxes: an answer in a schema, and the functions that the model asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr, tr_n
from app.ui.conversation.json_box import JsonBox
from app.ui.conversation.json_lines import Branch, JsonViewState

if TYPE_CHECKING:
    from app.ui.conversation.rows import MessageRow
    from app.ui.conversation.units import RowViewState
    from app.ui.kit.theme import Theme

ANSWER = "answer"  # the name of the box of an answer; a call's box is named by the call's place
ANSWER_CALLS = "answer-calls"


def answer_box(theme: Theme, row: MessageRow, memory: RowViewState) -> JsonBox:
    """Return the answer as a tree, with a word on whether it is what the schema says."""
    branch = Branch(row.text.strip())
    if not branch.is_json:
        note, tone = tr("Not JSON, so it cannot be shown as a tree"), "warn"
    elif row.schema_violation:
        note, tone = tr("Does not match the schema: {schema_violation}", schema_violation=row.schema_violation), "warn"
    else:
        note, tone = tr("Matches the schema"), "ok"
    return JsonBox(theme, branch, memory_of(memory, ANSWER), name=ANSWER, title="JSON", note=note, tone=tone)


def call_box(theme: Theme, row: MessageRow, number: int, memory: RowViewState) -> JsonBox:
    """Return one function call; the last one that waits carries the button that answers all of them."""
    call = row.calls[number]
    waiting = [place for place, each in enumerate(row.calls) if not each.answered]
    words = tr_n("Enter the result…", "Enter the results…", len(row.calls))
    return JsonBox(
        theme,
        Branch(call.arguments or "{}"),
        memory_of(memory, f"call{number}"),
        name=f"call{number}",
        title=call.name or "unnamed",
        icon="wrench",
        note=tr("Answered by you") if call.answered else tr("Rialto does not run functions."),
        buttons=((ANSWER_CALLS, words, "primary"),) if waiting and number == waiting[-1] else (),
    )


def memory_of(memory: RowViewState, name: str) -> JsonViewState:
    return memory.json.setdefault(name, JsonViewState())
