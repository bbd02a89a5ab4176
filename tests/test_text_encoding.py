"""The judge of text on encodings whose bytes are all ASCII."""

import io

import pytest

from app.text_encoding import PIECE_BYTES, NotText, decode_text, encoding_of

SENTENCES = {
    "hz": ("今天天气很好，我们去公园散步吧。\nPlain ~ line\n第二行", "Name: 王小明"),
    "utf-7": (
        "Grüße aus München",
        "ja — nein",
        "Был ясный день, + 1",
        "今日は天気がいいですね。",
        "안녕하세요.",
        "สวัสดี",
    ),
    "iso2022_jp": ("今日はとても天気がいいですね。\nABC",),
    "iso2022_jp_1": ("丂と漢字",),
    "iso2022_jp_2004": ("俱㐂",),
    "iso2022_jp_ext": ("ｶﾅと漢字",),
    "iso2022_kr": ("안녕하세요.\n오늘은 날씨가 좋습니다.",),
}
# Each has what looks like an escape of HZ or UTF-7 and is none.
ASCII = (
    '(format t "~{~a~^, ~}" names)',
    "cp ~/notes ~{a,b~}",
    "~{no end",
    "1 + 1 = 2; c++; +49 30 123456; a+b; x +/- y",
    "+foo-",  # would be one letter
    "url?q=one+two+three&sig=AbC+dEf/12==",
    "2026-11-30T08:00:00+0100",
    "\x1b[31mred\x1b[0m text",
    "",
)


@pytest.mark.parametrize(("codec", "text"), [(codec, text) for codec, texts in SENTENCES.items() for text in texts])
def test_seven_bit_encodings_have_their_letters_and_escapes_of_plain_signs_are_a_guess(codec: str, text: str) -> None:
    for whole in (text, "plain\n" * 20_000 + text):
        read, found = decode_text(whole.encode(codec))
        assert read == whole
        assert found.is_guess == (codec in ("hz", "utf-7"))
        assert found.others == (("utf-8",) if found.is_guess else ())


@pytest.mark.parametrize("text", ASCII)
def test_ascii_with_similar_signs_stays_as_it_is(text: str) -> None:
    read, found = decode_text(text.encode())
    assert read == text
    assert (found.codec, found.is_guess) == ("utf-8", False)


def test_what_states_to_be_utf_8_is_not_guessed() -> None:
    data = b'<?xml version="1.0" encoding="utf-8"?><a>~{VPND~} +ThZOLQ-</a>'
    assert encoding_of(data).codec == "utf-8"


def test_chinese_iso_2022_is_refused_and_not_shown_as_other_letters() -> None:
    with pytest.raises(NotText):
        encoding_of(b"\x1b$)A\x0eVPND\x0f")


def test_an_escape_is_found_anywhere_in_a_large_file() -> None:
    data = b"plain line\n" * (PIECE_BYTES // 8) + "中文".encode("hz")
    assert encoding_of(io.BytesIO(data)).codec == "hz"
