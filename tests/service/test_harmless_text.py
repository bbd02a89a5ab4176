"""What turns the reading of a text round is shown as a sign; what a language needs is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.service.http.error_bodies import plain_text
from app.service.http.sanitize import sanitize_text
from app.service.models import Model
from app.service.wire import read_model


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ev\u202egpj.exe", "ev\ufffdgpj.exe"),
        ("a\u202bb\u202cc", "a\ufffdb\ufffdc"),
        ("open \u2067 and on", "open \ufffd and on"),
        ("closed \u2069 too often", "closed \ufffd too often"),
        ("\u2067one\nline\u2069", "\ufffdone\nline\ufffd"),
        ("bell\x07 null\x00 escape\x1b[31m", "bell\ufffd null\ufffd escape\ufffd[31m"),
    ],
)
def test_what_deceives_becomes_a_sign(text: str, shown: str) -> None:
    assert sanitize_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "مرحبا بالعالم (hello)",
        "שלום, עולם! 123",
        "می‌خواهم",  # Persian with a zero-width non-joiner
        "price \u2068שלום\u2069 7",  # isolates that are closed
        "\u200fעברית\u200e",  # marks, which only say what stands beside them
        "👩‍👩‍👧 🏳️‍🌈",
        "a\tb\r\nc",
        "ภาษา\u200bไทย",
    ],
)
def test_what_languages_need_is_kept(text: str) -> None:
    assert sanitize_text(text) == text


@given(st.text(alphabet=st.sampled_from("ab\n\u202a\u202e\u202c\u2066\u2067\u2068\u2069\x00\u200f")))
def test_places_stay_and_twice_is_once(text: str) -> None:
    shown = sanitize_text(text)
    assert len(shown) == len(text)
    assert sanitize_text(shown) == shown
    assert not set("\u202a\u202e\u202c\x00") & set(shown)


def test_no_name_of_a_service_brings_one_along() -> None:
    model = read_model(
        Model, {"id": "m\u202e", "model_spec": {"name": "gpj\u202e.exe", "traits": ["fast\x07"], "description": "x"}}
    )
    assert (model.id, model.name, model.model_spec.traits) == ("m\ufffd", "gpj\ufffd.exe", ("fast\ufffd",))
    assert "\u202e" not in plain_text("a\u202eb")
