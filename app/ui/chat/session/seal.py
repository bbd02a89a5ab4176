"""What enclaves and seals do for a chat, in words, and the four states of its lock. No Qt, no cryptography."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from app.translation import tr

if TYPE_CHECKING:
    from app.service.models import Model

ENCLAVE, SEALED = tr("Enclave"), tr("Sealed")
# What each badge promises, and what it does not.
PROMISES = {
    SEALED: tr(
        "Can be sealed so that only its enclave reads your messages, but nothing proves which program runs there."
    ),
    ENCLAVE: tr("Runs in an enclave that can prove it is one, but the service can read your messages on the way."),
}
IN_ENCLAVE = tr("The service says this model runs in an enclave. It can read your messages on the way.")
SEALED_IN_SANDBOX = tr(
    "Only the Sandbox’s simulated enclave opens your messages. Rialto checked its evidence, which proves nothing about "
    "hardware."
)
SEALED_MEANS = tr("Your messages are encrypted for the model’s enclave, whose evidence Rialto checked.")
UNCHECKED = tr("Rialto checks the enclave before it sends anything.")
NO_SPEECH_IN_PRIVATE = tr("Reading aloud is off in a private chat: the clip would be saved.")
NO_SPEECH = tr("Reading aloud is off while the chat is sealed: the text would be sent in the clear.")
NO_COMPARING = tr("Comparing is off while the chat is sealed: each model needs its own seal.")


class SealState(StrEnum):
    SEALED = "sealed"  # and checked: only the enclave reads what is sent
    ENCLAVE = "enclave"  # readable by the service on the way
    OPEN = "open"  # not sealed, or not yet
    REFUSED = "refused"  # a check failed


ICONS = {
    SealState.SEALED: "lock",
    SealState.ENCLAVE: "shield",
    SealState.OPEN: "unlock",
    SealState.REFUSED: "warning",
}


class SealStatus(NamedTuple):
    """What is known of a chat's enclave now. `refusal` is the sentence of the check that failed last."""

    checked_model: str = ""  # the model whose enclave was checked, "" for none
    is_checking: bool = False
    refusal: str = ""


class SealIndicator(NamedTuple):
    """The lock of the open chat. `why_not` says why its switch cannot be used, "" when it can."""

    state: SealState = SealState.OPEN
    is_on: bool = False
    words: str = ""
    detail: str = ""  # one sentence
    why_not: str = ""
    is_quiet: bool = True  # the model has no enclave: its icon says enough

    @property
    def icon(self) -> str:
        return ICONS[self.state]


def lock_of(
    model: Model | None, status: SealStatus, *, is_on: bool, has_character: bool, in_sandbox: bool
) -> SealIndicator:
    """The state of a chat's lock. `is_on`: the person chose to seal this chat."""
    can = model.capabilities if model is not None else None
    in_enclave = can is not None and (can.supports_tee_attestation or can.supports_e2ee)
    why_not = "" if is_on else _why_not(model, has_character)
    if is_on and status.refusal:
        return SealIndicator(SealState.REFUSED, True, tr("Seal refused"), status.refusal, is_quiet=False)
    if is_on and model is not None and status.checked_model == model.id:
        return SealIndicator(
            SealState.SEALED, True, tr("Sealed"), SEALED_IN_SANDBOX if in_sandbox else SEALED_MEANS, is_quiet=False
        )
    if is_on:
        detail = tr("Rialto is checking the enclave.") if status.is_checking else UNCHECKED
        return SealIndicator(SealState.OPEN, True, tr("Not sealed yet"), detail, is_quiet=False)
    if in_enclave:
        can_seal = tr("This model can be sealed. Until then the service can read your messages on the way.")
        detail = IN_ENCLAVE if why_not else can_seal
        return SealIndicator(SealState.ENCLAVE, False, tr("Enclave, not sealed"), detail, why_not, is_quiet=False)
    return SealIndicator(SealState.OPEN, False, tr("Not sealed"), tr("The service can read this chat."), why_not)


def _why_not(model: Model | None, has_character: bool) -> str:
    if model is None or not model.capabilities.supports_e2ee:
        return tr("This model cannot be sealed. Choose one with the badge “Sealed”.")
    if has_character:
        return tr("Characters are off while a chat is sealed. Remove the character first.")
    return ""
