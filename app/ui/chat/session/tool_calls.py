"""Functions that a model asks for: which calls of a branch are answered, and how they go back to the service.

The message with the calls goes back as it came, then one answer for each call, in order (R-CHAT-16). Calls that nobody
answered are left out, because the service refuses a call without its answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.ui.conversation.rows import RowCall

if TYPE_CHECKING:
    from app.storage.chat_rows import Message

_ALWAYS_BACK = ("reasoning_details", "thought_signature")


def calls_in(message: Message) -> tuple[RowCall, ...]:
    """The calls of an answer, none of them marked as answered."""
    found = message.extra.get("tool_calls")
    calls = [_call(each) for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    return tuple(calls)


def _call(value: Mapping[str, Any]) -> RowCall:
    named = value.get("function")
    function: Mapping[str, Any] = named if isinstance(named, Mapping) else {}
    arguments = function.get("arguments")
    return RowCall(
        str(value.get("id") or ""),
        str(function.get("name") or ""),
        arguments if isinstance(arguments, str) else "",
    )


def answers_after(branch: Sequence[Message], place: int) -> dict[str, str]:
    """What was answered right below the message at `place`: call id → text."""
    found: dict[str, str] = {}
    for message in branch[place + 1 :]:
        if message.role != "tool":
            break
        found[str(message.extra.get("tool_call_id") or "")] = message.content
    return found


def carried(branch: Sequence[Message], place: int) -> dict[str, object]:
    """What the answer at `place` carries back besides its text."""
    message = branch[place]
    back: dict[str, object] = {name: message.extra[name] for name in _ALWAYS_BACK if name in message.extra}
    calls = calls_in(message)
    if calls and {call.id for call in calls} <= set(answers_after(branch, place)):
        if message.extra.get("reasoning_content"):
            back["reasoning_content"] = message.extra["reasoning_content"]
        back["tool_calls"] = message.extra["tool_calls"]
    return back


def is_answer_sent(branch: Sequence[Message], place: int) -> bool:
    """Whether the function's answer at `place` goes along: only below a message whose calls all have one."""
    above = place
    while above >= 0 and branch[above].role == "tool":
        above -= 1
    return above >= 0 and "tool_calls" in carried(branch, above)
