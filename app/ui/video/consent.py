"""What a service asks before it uses a face, read from its answer 409, and how the yes goes back.

The specification names the asking and the field `consents`, not what stands in it; this is what public clients send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from app.translation import tr

MAX_TEXT_CHARS = 8_000
MAX_WORD_CHARS = 200
MAX_ROLES = 12
CONFIRMED = ("confirmed_terms_and_privacy", "confirmed_legal_right", "confirmed_screening_acknowledged")
_PLACES = {
    "image": tr("the start image"),
    "image_url": tr("the start image"),
    "end_image": tr("the end image"),
    "end_image_url": tr("the end image"),
    "video": tr("the video"),
    "video_url": tr("the video"),
    "reference_image": tr("the reference images"),
    "reference_image_urls": tr("the reference images"),
    "reference_video": tr("the reference videos"),
    "reference_video_urls": tr("the reference videos"),
}


@dataclass(frozen=True, slots=True)
class Consent:
    """`flow` is the service's own name for this kind of consent; `where` says in which media a face was seen."""

    flow: str
    text: str = ""
    version: str = ""
    where: str = ""
    more_at: str = ""  # an address of the service's, shown before it is opened

    def to_json(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def agreed(self) -> dict[str, Any]:
        """What is sent along with the job from then on."""
        return {self.flow: dict.fromkeys(CONFIRMED, True)}


def consent_from(kept: object) -> Consent | None:
    """Return what a job keeps of the question, None where nothing was asked."""
    if not isinstance(kept, Mapping) or not kept.get("flow"):
        return None
    return Consent(**{item.name: str(kept.get(item.name) or "") for item in fields(Consent)})


def read_consent(told: Mapping[str, object]) -> Consent:
    """Read the service's question; untrusted text is cut and stays text."""
    inner = told.get("consent")
    policy: Mapping[str, object] = inner if isinstance(inner, Mapping) else {}
    roles = told.get("face_media_roles")
    names = [str(role)[:40] for role in roles[:MAX_ROLES]] if isinstance(roles, list) else []
    places = dict.fromkeys(_PLACES.get(name, name.replace("_", " ")) for name in names)
    return Consent(
        flow=_word(told.get("consent_flow")) or "consent",
        text=_text(policy.get("policy_text"), MAX_TEXT_CHARS),
        version=_word(policy.get("consent_version")),
        where=", ".join(places),
        more_at=_word(told.get("docs_url"), 2_000),
    )


def _text(value: object, longest: int) -> str:
    return value[:longest].strip() if isinstance(value, str) else ""


def _word(value: object, longest: int = MAX_WORD_CHARS) -> str:
    return " ".join(_text(value, longest).split())
