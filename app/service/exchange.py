"""One call as it happened: what was sent, what came back, what it cost. Secrets never get in here.

Standard library only.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from app.service.response_info import ResponseInfo

CostSource = Literal["stated", "estimated", "possible", "none"]  # "possible": up to so much may have been charged
Outcome = Literal["ok", "error", "unsent", "cut", "stopped", "unknown"]
KEY_VARIABLE = "RIALTO_API_KEY"
SIGN_IN_VARIABLE = "RIALTO_SIGN_IN"
NOT_SHOWN = "[hidden]"


@dataclass(frozen=True, slots=True)
class FormPart:
    """One part of a multipart body. A file is named, its bytes are not kept."""

    name: str
    value: str = ""
    file_name: str | None = None


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A request without its credentials. `body` is a JSON value, a tuple of `FormPart`, or None.

    `sign_in_header` names the header of a wallet's sign-in; it is empty where a key is sent.
    """

    method: str
    path: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: object | None = None
    authenticated: bool = True
    sign_in_header: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call: a receipt is made from it. `cost_usd` is what the service stated, what we estimate, or the most that
    may have been charged, see `cost_source`. `estimate_usd` was known before it was sent. `claimed` is a charge that
    the service told and no such call can have; it counts nowhere.

    `units` counts what is paid for (`prompt_tokens`, `completion_tokens`, `characters`, `credits`, …).
    `outcome` is "unknown" when a call that costs money may or may not have been carried out, "unsent" when no try
    reached the service. `refused_body` is the text of the service's last refusal, without the key.
    """

    id: str
    started_at: datetime
    request: RequestRecord
    status: int | None = None
    info: ResponseInfo | None = None
    duration_s: float = 0.0
    model: str = ""
    units: Mapping[str, int] = field(default_factory=dict)
    cost_usd: Decimal | None = None
    cost_source: CostSource = "none"
    outcome: Outcome = "ok"
    error: str = ""
    attempts: int = 1
    refused_body: str = ""
    estimate_usd: Decimal | None = None
    claimed: str = ""
    resource: str = ""  # "chat", "models", "speech", …: which part of the service was asked


def curl_command(record: RequestRecord) -> str:
    """Return the request as a shell command. The key is left out: the command reads `$RIALTO_API_KEY`.

    A wallet's sign-in is good for one request only: it is read from `$RIALTO_SIGN_IN`, for whoever can make one.
    """
    words = ["curl", "--request", record.method, shlex.quote(record.url)]
    lines = [" ".join(words)]
    if record.authenticated and record.sign_in_header:
        lines.append(f'--header "{record.sign_in_header}: ${SIGN_IN_VARIABLE}"')
    elif record.authenticated:
        lines.append(f'--header "Authorization: Bearer ${KEY_VARIABLE}"')
    multipart = isinstance(record.body, tuple)
    for name, value in record.headers:
        if multipart and name.lower() == "content-type":
            continue  # curl writes its own boundary
        if name.lower() == "content-length":
            continue  # and counts for itself
        lines.append(f"--header {shlex.quote(f'{name}: {value}')}")
    if isinstance(record.body, tuple):
        for part in record.body:
            if part.file_name is not None:
                lines.append(f"--form {shlex.quote(f'{part.name}=@{part.file_name}')}")
            else:  # unlike --form, --form-string gives no meaning to a leading @ or <
                lines.append(f"--form-string {shlex.quote(f'{part.name}={part.value}')}")
    elif record.body is not None:
        lines.append(f"--data-raw {shlex.quote(body_text(record.body))}")
    return " \\\n  ".join(lines)


def body_text(body: object) -> str:
    """The JSON text of a request body, as sent but for spacing."""
    return json.dumps(body, ensure_ascii=False, default=str)
