"""Why a connection did not come about, in a word and a sentence, read from the chain of causes of an exception."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Literal

ConnectionFault = Literal["dns", "refused", "certificate", "tls", "network"]
MAX_CAUSES = 24


def explain(error: BaseException, host: str) -> tuple[ConnectionFault, str]:
    """Return the fault and a sentence naming `host`. The most telling cause in the chain counts."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "certificate", f"The certificate of {host} is not trusted: {cause.verify_message}."
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return "dns", f"There is no host called {host}, or no name server could be asked."
        if isinstance(cause, ssl.SSLError):
            return "tls", f"A secure connection to {host} could not be made."
        if isinstance(cause, ConnectionRefusedError):
            return "refused", f"Nothing answers at {host}."
    return "network", f"{host} cannot be reached."


def _causes(error: BaseException) -> Iterator[BaseException]:
    waiting: list[BaseException] = [error]
    for _ in range(MAX_CAUSES):
        if not waiting:
            return
        each = waiting.pop(0)
        yield each
        if isinstance(each, BaseExceptionGroup):
            waiting.extend(each.exceptions)
        for below in (each.__cause__, each.__context__):
            if below is not None:
                waiting.append(below)
