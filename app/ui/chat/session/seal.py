"""What enclaves and seals do for a chat, in words. No Qt, no network."""

from __future__ import annotations

from app.translation import tr

ENCLAVE, SEALED = tr("Enclave"), tr("Sealed")
# What each badge promises, and what it does not.
PROMISES = {
    SEALED: tr(
        "Can be sealed so that only its enclave reads your messages, but nothing proves which program runs there."
    ),
    ENCLAVE: tr("Runs in an enclave that can prove it is one, but the service can read your messages on the way."),
}
