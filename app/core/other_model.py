"""A model that is asked for by an id that someone types, which no list needs to have (R-EP-13, R-EXT-27, R-TTS-23)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from app.core import money
from app.core.number_format import count
from app.core.problems import describe
from app.service.amounts import charge
from app.service.chat_body import read_suffix
from app.service.errors import NotFound, ServiceError
from app.translation import tr

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.service.characters import Character
    from app.service.models import Model
    from app.service.service import Service

MAX_ID_CHARS = 300
MOST_VOICES = 60  # named in the record; their number says the rest
KINDS: Mapping[str, str] = {
    "text": tr("chat models"),
    "image": tr("image models"),
    "tts": tr("speech models"),
    "asr": tr("transcription models"),
    "video": tr("video models"),
}


@dataclass(frozen=True, slots=True)
class OtherModel:
    """The record of a model, and what a suffix of its id sets, by the names of the extension object."""

    model: Model
    parameters: Mapping[str, str | bool]
    character: Character | None = None  # that a suffix names


class NotAModel(Exception):
    """Why the id cannot be used here, as a sentence."""


async def look_up_model(current_account: CurrentAccount, text: str, kind: str) -> OtherModel:
    """Return the model that `text` names, for a tab whose models are of type `kind`. Raises `NotAModel`.

    In Chat a suffix `:parameter=value&…` may follow the id.
    """
    model_id, parameters, fault = read_suffix(text.strip())
    if re.search(r"\s", model_id) or not model_id.strip(".") or len(model_id) > MAX_ID_CHARS:
        raise NotAModel(tr("Enter a model ID. It has no spaces."))
    if (parameters or fault) and kind != "text":
        raise NotAModel(tr("Only chat models take parameters after the ID."))
    if fault:
        raise NotAModel(fault)
    service = current_account.service
    if service is None:
        raise NotAModel(tr("No account is in use."))
    try:
        model = await service.models.one(model_id)
        slug = parameters.get("character_slug")
        character = await _character(service, str(slug)) if slug is not None else None
    except NotFound:
        raise NotAModel(tr("The service has no model “{model_id}”.", model_id=model_id)) from None
    except ServiceError as error:
        raise NotAModel(describe(error, subject="").sentence) from None
    if service is not current_account.service:
        raise NotAModel(tr("Another account is in use now."))
    if model.type != kind:
        raise NotAModel(
            tr(
                "{name} is not one of the {kind}. The service lists it as “{type}”.",
                name=model.name,
                kind=KINDS[kind],
                type=model.type,
            )
        )
    if model.offline:
        raise NotAModel(tr("{name} is offline at the moment.", name=model.name))
    return OtherModel(model, parameters, character)


async def _character(service: Service, slug: str) -> Character:
    try:
        return await service.characters.one(slug)
    except NotFound:
        raise NotAModel(tr("The service has no character “{slug}”.", slug=slug)) from None


def facts_of(other: OtherModel) -> tuple[tuple[str, str], ...]:
    """Return label and value of what the record says and the suffix sets."""
    model, spec = other.model, other.model.model_spec
    privacy = {"private": tr("Private"), "anonymized": tr("Anonymous")}
    voices = ", ".join(spec.voices[:MOST_VOICES])
    if spec.voices:
        voices = tr("{n}: {names}", n=count(len(spec.voices)), names=voices)
        voices += ", …" if len(spec.voices) > MOST_VOICES else ""
    facts = [
        (tr("Name"), model.name),
        (tr("ID"), model.id),
        (tr("Description"), spec.description),
        (tr("Context"), tr("{n} tokens", n=count(model.context_tokens)) if model.context_tokens else ""),
        (tr("Privacy"), privacy.get(model.privacy, model.privacy)),
        (tr("Prices"), "\n".join(prices_of(model)) or tr("The service gives no price.")),
        (tr("Voices"), voices),
        (tr("Leaves on"), model.deprecation.ends if model.deprecation is not None else ""),
        (
            tr("Sets"),
            "\n".join(
                f"{name} = {str(value).lower() if isinstance(value, bool) else value}"
                for name, value in other.parameters.items()
            ),
        ),
    ]
    return tuple((label, value) for label, value in facts if value)


def prices_of(model: Model) -> Iterator[str]:
    """Yield every price of a model, with what it is for."""
    for path, usd in _leaves(model.model_spec.pricing, ()):
        price = money.money(usd)
        if model.type == "text":
            price = tr("{price} per million tokens", price=price)
        elif model.type == "tts" and path == ("input",):
            price = tr("{price} per million characters", price=price)
        yield f"{' '.join(path).replace('_', ' ')}: {price}"


def _leaves(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Decimal]]:
    """Every amount in USD of a price list, whatever its shape."""
    if not isinstance(value, Mapping):
        return
    price = charge(value.get("usd"))
    if price is not None:
        yield path, price
    for name, inner in value.items():
        yield from _leaves(inner, (*path, str(name)))
