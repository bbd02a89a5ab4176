"""Words in a prompt that switch the verdicts of a content policy on, to try a client with each of them."""

from __future__ import annotations

from app.sandbox.http.call import Call
from app.sandbox.http.errors import HttpError

# word in the prompt -> the header of its verdict
VERDICTS = {
    "sandbox-blurred": "is-blurred",
    "sandbox-violation": "is-content-violation",
    "sandbox-adult-violation": "is-adult-model-content-violation",
    "sandbox-minor": "contains-minor",
}
BLOCKING = ("is-content-violation", "is-adult-model-content-violation", "contains-minor")
REFUSED = "sandbox-refused"  # status 422
BLOCKED = "sandbox-blocked"  # of a chat: the answer begins, and the provider stops it


def add_verdicts(call: Call, prompt: str, *, can_blur: bool = True) -> frozenset[str]:
    """Set the policy headers and return the verdicts that the prompt asks for."""
    found = {header for word, header in VERDICTS.items() if word in prompt.lower()}
    if not can_blur:
        found.discard("is-blurred")
    for header in ("is-blurred", "is-content-violation"):
        call.headers[f"{call.names.header_prefix}{header}"] = "true" if header in found else "false"
    for header in found:
        call.headers[f"{call.names.header_prefix}{header}"] = "true"
    return frozenset(found)


def refuse_content(prompt: str, suggestion: str) -> None:
    """Raise `HttpError` 422, with other words that would do, for a prompt that asks for it."""
    if REFUSED in prompt.lower():
        body = {"error": "The content is not accepted by the content policy", "suggested_prompt": suggestion}
        raise HttpError(422, body)
