"""How much text there is, how it is cut and what it will cost, before anything is sent.

A module of its own: functions of a text and a price, which need no presenter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.core.extra_json import extra_json_fault
from app.formats import format_number
from app.service.pricing import speech_cost
from app.service.speech_text import Span
from app.translation import tr
from app.ui.speech.speech_options import OWN_FIELDS, SpeechOptions, view_of
from app.ui.speech.state import Meter

if TYPE_CHECKING:
    from app.service.models import Model

CHARS_PER_S = 14.5
LONGEST_TEXT = 500_000  # characters, about nine hours
SLOWEST = 0.1
AT_ONCE = 20_000  # characters that are measured while a key is pressed; more of them in a thread


def meter_of(
    text: str, spans: tuple[Span, ...], *, has_voice: bool, speech_options: SpeechOptions, model: Model | None
) -> Meter:
    """Return the meter of a text that is spoken in the parts `spans`."""
    characters = sum(len(span) for span in spans)
    price = speech_cost(model.model_spec.pricing, characters) if model is not None else None
    why_not = ""
    if not any(char.isalnum() for char in text):
        why_not = tr("Type something to speak.")
    elif len(text) > LONGEST_TEXT:
        why_not = tr(
            "Up to {longest_text} characters. This text has {count}.",
            longest_text=format_number(LONGEST_TEXT),
            count=format_number(len(text)),
        )
    elif not has_voice:
        why_not = tr("Choose a voice first.")
    else:
        why_not = extra_json_fault(speech_options.extra_json, OWN_FIELDS)
    speed = speech_options.speed if model is None or not view_of(speech_options, model).no_speed else 1.0
    return Meter(characters, spans, characters / (CHARS_PER_S * max(SLOWEST, speed)), price, why_not)
