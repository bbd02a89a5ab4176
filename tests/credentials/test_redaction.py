import json
import pickle
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.credentials.redaction import HIDDEN, MIN_SECRET_CHARS, Redactor
from app.credentials.stores import SecretValue

KEY = 'sk/live+01&23"45=é'
PRIVATE_KEY = "0x4c0883A69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"


@pytest.fixture
def registry() -> Redactor:
    registry = Redactor()
    registry.add(KEY)
    registry.add(PRIVATE_KEY)
    return registry


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        f"before{KEY}after",
        f"https://host/path?x={quote(KEY, safe='')}&y=1",
        json.dumps({"key": KEY}),
        json.dumps({"key": KEY}, ensure_ascii=False),
        repr(KEY),
        f"{KEY}{KEY} {KEY}",
        KEY.encode().hex(),
        PRIVATE_KEY,
        PRIVATE_KEY[2:].upper(),
        PRIVATE_KEY.lower(),
    ],
)
def test_a_known_secret_is_hidden_in_every_shape_it_takes(text: str, registry: Redactor) -> None:
    hidden = registry.redact(text)
    assert HIDDEN in hidden
    for part in (KEY[:9], "live", PRIVATE_KEY[8:20], PRIVATE_KEY[8:20].lower(), PRIVATE_KEY[8:20].upper()):
        assert part not in hidden


def test_a_secret_with_spaces_is_hidden_in_either_spelling_of_an_address() -> None:
    registry = Redactor()
    secret = "two words/and a slash"
    registry.add(secret)
    for text in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        assert registry.redact(f"?q={text}&n=1") == f"?q={HIDDEN}&n=1"


def test_a_recovery_phrase_is_hidden_however_it_is_spaced() -> None:
    registry = Redactor()
    words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    registry.add(f"  {words}\n")
    assert "sausage" not in registry.redact(f"phrase: {words}!")
    assert "sausage" not in registry.redact(words.replace(" ", "\n"))


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("Authorization: Bearer abc-def", "abc-def"),
        ("{'authorization': 'Bearer abc-def'}", "abc-def"),
        ("(b'Authorization', b'Bearer abc-def')", "abc-def"),
        ("curl -H 'Authorization: Basic dXNlcjpwYXNz'", "dXNlcjpwYXNz"),
        ("sent bearer 0123abcd twice", "0123abcd"),
        ("X-Sign-In-With-X: eyJhIjogMSwgImIiOiAyfQ==", "eyJhIjogMSwgImIiOiAyfQ"),
        ('"X-402-Payment": "eyJhIjogMSwgImIiOiAyfQ=="', "eyJhIjogMSwgImIiOiAyfQ"),
        ("GET /models?api_key=abcdef", "abcdef"),
        ('{"apiKey": "abcdef", "n": 1}', "abcdef"),
        ("passphrase='correct-horse'", "correct-horse"),
        ("private_key: 0xabc", "0xabc"),
        ("key sk-abcdefghijklmnop1234", "sk-abcdefghijklmnop1234"),
        ("FOO_INFERENCE_KEY_abcd1234", "abcd1234"),
        ("proxy http://user:hunter2@proxy:8080", "hunter2"),
    ],
)
def test_what_looks_like_a_credential_is_hidden_without_being_known(text: str, gone: str) -> None:
    hidden = Redactor().redact(text)
    assert gone not in hidden
    assert HIDDEN in hidden
    assert Redactor().redact(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "The bearer of good news paid 5 USD at 14:06:41.",
        "http://127.0.0.1:8080/v1/models",
        "key: value, monkey=banana",
        "the passphrase file is locked",
        "x-ratelimit-remaining-requests: 99",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str, registry: Redactor) -> None:
    assert registry.redact(text) == text


def test_short_secrets_would_garble_everything_and_are_left_to_the_patterns() -> None:
    registry = Redactor()
    registry.add("abc")
    assert registry.redact("abcdef") == "abcdef"


def test_the_longest_of_two_overlapping_secrets_is_hidden_whole() -> None:
    registry = Redactor()
    registry.add("token-12345")
    registry.add("token-12345-and-more")
    assert registry.redact("<token-12345-and-more>") == f"<{HIDDEN}>"


def test_the_registry_keeps_no_secret(registry: Redactor) -> None:
    seen = repr(vars(registry)) + repr(registry)
    assert "live" not in seen
    assert PRIVATE_KEY[5:15] not in seen


@given(st.text(min_size=MIN_SECRET_CHARS), st.text(), st.text())
def test_any_secret_is_hidden_anywhere(secret: str, before: str, after: str) -> None:
    secret = secret.strip()
    assume(len(secret) >= MIN_SECRET_CHARS)
    assume(secret not in HIDDEN)
    registry = Redactor()
    registry.add(secret)
    assert secret not in registry.redact(before + secret + after).replace(HIDDEN, "\x00")


def test_a_long_log_is_redacted_in_passing(registry: Redactor) -> None:
    text = f"GET https://host/v1/models 200 in 12 ms {KEY}\n" * 2_000  # 120 kB
    begun = time.thread_time()
    assert "live" not in registry.redact(text)
    assert time.thread_time() - begun < 2


def test_a_secret_value_never_shows_itself() -> None:
    value = SecretValue(KEY)
    for shown in (str(value), repr(value), f"{value}", f"{value:>40}", f"{[value]}"):
        assert "live" not in shown
    assert value.reveal() == KEY
    assert value == SecretValue(KEY)
    assert value != KEY
    assert len({value, SecretValue(KEY)}) == 1
    assert not SecretValue("")
    with pytest.raises(TypeError, match="not written down"):
        pickle.dumps(value)
