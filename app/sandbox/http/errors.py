"""What the Sandbox answers when it refuses: one exception, and one function per body shape.

The shapes carry the numbers of the wire reference (E1 …) so that a test can name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

WORDS = {
    400: "Invalid request parameters",
    401: "Authentication failed",
    402: "Insufficient balance for this request. Add credits to continue.",
    403: "This is not available to this caller",
    404: "Not found",
    405: "Method not allowed",
    409: "The same request is still in progress",
    410: "This endpoint is gone",
    413: "The request body is too large: the limit is 35 MB",
    415: "Unsupported content type: send application/json",
    421: "This server answers for the loopback address only",
    422: "The content is not accepted by the content policy",
    429: "Rate limit exceeded. Try again in the next window.",
    500: "Unknown error",
    502: "The model's server gave no usable answer",
    503: "The model is at capacity. Try again later.",
    504: "The request timed out. Use streaming for long answers.",
}
ABUSE_TEXT = "Too many failed attempts. All requests are blocked for 30s; wait 30s before trying again."


class HttpError(Exception):
    """Ends a request with a status, a JSON body and extra headers."""

    def __init__(self, status: int, body: Json | str | None = None, headers: Mapping[str, str] | None = None) -> None:
        text = WORDS.get(status, "Error")
        self.status = status
        self.body: Json = body if isinstance(body, dict) else {"error": body or text}
        self.headers = dict(headers or {})
        super().__init__(f"{status} {self.body.get('error')}")


def too_large(what: str) -> HttpError:
    """E3."""
    return HttpError(413, {"code": "PAYLOAD_TOO_LARGE", "error": what})


def context_overflow(prompt_tokens: int, limit: int) -> HttpError:
    """E10."""
    message = f"This model reads at most {limit} tokens; the messages have {prompt_tokens}"
    error = {
        "message": message,
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
    return HttpError(400, {"error": error})


def shaped(shape: str, status: int, text: str) -> Json | str | None:
    """Return an example body of one numbered shape, for the fault that answers with it. `None`: an empty body."""
    examples: dict[str, Json | str | None] = {
        "E1": {"error": text},
        "E2": {"error": text, "details": {"_errors": [], "model": {"_errors": ["Required"]}}},
        "E3": {"code": "PAYLOAD_TOO_LARGE", "error": text},
        "E4": {
            "error": text,
            "details": {"_errors": [], "model": {"_errors": ["Required"]}},
            "issues": [{"code": "invalid_type", "path": ["model"], "message": "Required"}],
        },
        "E5": {"error": "Too many requests", "customMessage": text},
        "E6": {"error": text, "code": "X402_SIGN_IN_REQUIRED"},
        "E9": {"error": "INVALID_AMOUNT", "message": text},
        "E10": {"error": {"message": text, "type": "invalid_request_error", "code": "context_length_exceeded"}},
        "E11": {"error": {"message": text, "type": "provider_content_policy", "credits_refunded": True}},
        "E12": {"error": text, "suggested_prompt": "A harbor at dawn, seen from the pilot's boat"},
        "E14": {"error": text, "request_id": "req-0001"},
        "E15": {"error": text, "credits_refunded": False},
        "E16": {"error": text, "details": "The upstream model refused the width"},
        "E19": f"<html><head><title>{status}</title></head><body><h1>{text}</h1></body></html>",
        "empty": None,
    }
    return examples[shape]


SHAPES = ("E1", "E2", "E3", "E4", "E5", "E6", "E9", "E10", "E11", "E12", "E14", "E15", "E16", "E19", "empty")
