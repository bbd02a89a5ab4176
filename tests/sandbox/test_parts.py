"""Small parts on their own: tokens, cutters, words, clock, ledger, images, validation."""

import zlib
from decimal import Decimal

import pytest

from app.sandbox.chat import tokens, word_stems
from app.sandbox.chat.attachments import image_size
from app.sandbox.chat.augmentation import SEARCH_USD
from app.sandbox.chat.drawn_images import SIDE, draw
from app.sandbox.chat.stream_filters import StopCutter, ThinkStripper
from app.sandbox.http.errors import HttpError
from app.sandbox.http.limits import AbuseGuard
from app.sandbox.http.validation import Checker
from app.sandbox.model_catalog import Prices
from app.sandbox.world import Charge, Clock, Ledger


@pytest.mark.parametrize(
    "text",
    ["", " ", "Hello, world!", "a  b\n\n\tc", "snake_case and CamelCaseThatIsLong", "日本語 и ещё", "<think>x</think>"],
)
def test_tokens_lose_nothing(text: str) -> None:
    assert "".join(tokens.split(text)) == text
    assert tokens.count(text) == len(tokens.split(text))


def test_a_think_tag_is_one_token() -> None:
    assert tokens.split("<think>") == ["<think>"]


def fed(cutter: StopCutter | ThinkStripper, text: str, size: int) -> str:
    pieces = [cutter.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join(pieces) + cutter.rest()


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_stop_string_is_found_however_it_is_split(size: int) -> None:
    assert fed(StopCutter(("END", "halt")), "go on and on", size) == "go on and on"
    cutter = StopCutter(("END",))
    kept = ""
    for at in range(0, 12, size):
        kept += cutter.feed("one EN ENDED"[at : at + size])
        if cutter.stopped:
            break
    assert (kept, cutter.stopped) == ("one EN ", True)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>a</think>\n\nb", "b"),
        ("x <think>a</think>y<think>b</think> z", "x yz"),
        ("a < b and <thin air", "a < b and <thin air"),
        ("never closed <think>lost", "never closed "),
        ("tail <thi", "tail <thi"),
    ],
)
def test_think_blocks_are_taken_out_however_they_are_split(text: str, kept: str, size: int) -> None:
    assert fed(ThinkStripper(active=True), text, size) == kept
    assert fed(ThinkStripper(active=False), text, size) == text


def test_words_meet_in_their_root() -> None:
    assert word_stems.terms("stopped stopping stops") == ["stop"] * 3
    assert word_stems.terms("The colours of dark themes") == word_stems.terms("color dark theme")
    assert word_stems.terms("How do I?") == []
    assert word_stems.fold("Café ÉTÉ") == "cafe ete"
    assert word_stems.fold("\u0645\u064f\u062d\u064e\u0645\u0651\u064e\u062f") == "\u0645\u062d\u0645\u062f", (
        "marks of every script"
    )


def test_the_clock_adds_its_offset() -> None:
    clock = Clock(lambda: 100.0)
    clock.offset_s = 23
    assert (clock.now(), clock.utc().second) == (123.0, 3)


def test_the_ledger_is_exact() -> None:
    ledger = Ledger(Decimal("0.03"))
    for _ in range(3):
        ledger.charge(Charge(0, "web-search", Decimal(1), SEARCH_USD, -SEARCH_USD, "r", "m"))
    assert (ledger.balance_usd, ledger.empty) == (Decimal(0), True)


def test_a_price_without_cache_rates_uses_the_input_rate() -> None:
    plain = Prices(Decimal(2), Decimal(4))
    assert plain.cost(1_000_000, 500_000, 400_000, 100_000) == Decimal(4)
    cached = Prices(Decimal(2), Decimal(4), Decimal("0.2"), Decimal("2.5"))
    assert cached.cost(1_000_000, 0, 400_000, 100_000) == Decimal("1.33")


def test_the_guard_forgets_failures_when_the_clock_is_turned_back() -> None:
    guard = AbuseGuard()
    assert not any(guard.failed(1000.0) for _ in range(20))
    assert guard.failed(1000.0)
    assert (guard.blocked_for_s(1000.0), guard.blocked_for_s(1029.5), guard.blocked_for_s(1030.0)) == (30, 1, 0)
    assert guard.blocked_for_s(500.0) == 0


def test_an_image_is_valid_and_has_the_promised_size() -> None:
    data = draw("some-slug")
    assert image_size(data) == ("PNG", SIDE, SIDE)
    start = data.index(b"IDAT") + 4
    length = int.from_bytes(data[start - 8 : start - 4], "big")
    assert len(zlib.decompress(data[start : start + length])) == SIDE * (SIDE * 3 + 1)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"GIF89a" + (320).to_bytes(2, "little") + (200).to_bytes(2, "little"), ("GIF", 320, 200)),
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x64\x00\xc8\x03", ("JPEG", 200, 100)),
        (b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + b"\x40\x01\xf0\x00", ("WebP", 320, 240)),
        (b"not a picture", None),
        (b"\xff\xd8\xff", None),
    ],
)
def test_sizes_are_read_from_file_heads(data: bytes, size: object) -> None:
    assert image_size(data) == size


def test_the_checker_names_everything_at_once() -> None:
    check = Checker()
    assert check.number(("a",), True) is None
    assert check.integer(("b", 0), 2.5) is None
    assert check.integer(("c",), float("inf")) is None
    assert check.text(("d",), 5) is None
    assert check.items(("e",), "x") is None
    assert check.record(("f",), []) is None
    with pytest.raises(HttpError) as caught:
        check.finish()
    assert set(caught.value.body["details"]) == {"_errors", "a", "b", "c", "d", "e", "f"}
    Checker().finish()
