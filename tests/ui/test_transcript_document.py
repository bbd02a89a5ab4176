"""What the service heard as segments of words, edited without losing a time, and written as six kinds of file."""

from __future__ import annotations

import csv
import html
import io
import itertools
import json

import pytest
import webvtt
from hypothesis import given
from hypothesis import strategies as st

from app.core.time_format import position
from app.ui.kit.scripts import join, words_of
from app.ui.transcription.session.document import Document, Segment, Word, document_from, join_documents
from app.ui.transcription.session.editing import edit_segment, merge, nudge, search, split, word_spans
from app.ui.transcription.session.exporting import FORMATS, CueRules, Head, cues, export
from app.ui.transcription.transcript_rows import found_in_row, rows_of
from tests.reported_inputs import reported

WORDS = [("high", 0.1, 0.4), ("water", 0.5, 0.9), ("at", 1.0, 1.1), ("six", 1.2, 1.6), ("the", 4.0, 4.2)]


def talk(count: int = 40, pause: float = 1.0) -> Document:
    """Sentences of five words, each word 0.4 s."""
    segments, at = [], 0.5
    for number in range(count):
        words = []
        for text in ("You", "feel", "the", "water", f"number{number}."):
            words.append(Word(text, round(at, 3), round(at + 0.35, 3)))
            at += 0.4
        segments.append(Segment(tuple(words), words[0].start, words[-1].end))
        at += pause
    return Document.of(segments, "", at)


def times(document: Document) -> list[tuple[float, float]]:
    return [(word.start, word.end) for segment in document.segments for word in segment.words]


# R-STT-13..17: any of the lists may be missing


def test_r_stt_15_words_alone_become_segments_at_pauses_with_the_signs_of_the_text() -> None:
    document = document_from("High water at six. The", 5.0, WORDS, [])
    assert [segment.text for segment in document.segments] == ["High water at six.", "The"]
    assert times(document)[1] == (0.5, 0.9)
    assert document.estimated == ""


def test_r_stt_16_segments_alone_share_their_time_among_their_words_and_say_so() -> None:
    document = document_from("x", 5.0, [], [(" High water.", 0.0, 2.0), (" At six.", 2.5, 4.0)])
    assert [segment.text for segment in document.segments] == ["High water.", "At six."]
    assert document.estimated == "words"
    assert document.segments[1].words[0].start == 2.5
    assert document.segments[1].words[-1].end == 4.0


def test_words_and_segments_together_keep_the_words_own_times() -> None:
    document = document_from("x", 5.0, WORDS, [(" High water at six.", 0.0, 2.0), (" The", 4.0, 4.3)])
    assert [segment.text for segment in document.segments] == ["High water at six.", "The"]
    assert times(document) == [(start, end) for _, start, end in WORDS]


def test_r_stt_14_a_text_without_times_is_spread_over_the_recording_and_marked_estimated() -> None:
    document = document_from("High water at six. The lock is shut.", 8.0, [], [])
    assert document.estimated == "all"
    assert len(document.segments) == 2
    assert times(document)[0][0] == 0
    assert times(document)[-1][1] == pytest.approx(8.0, abs=0.01)
    assert document_from("One word", None, [], []).end_s > 0
    assert document_from("", 3.0, [], []).segments == ()


def test_parts_are_joined_with_their_times_shifted() -> None:
    one = document_from("High water", 2.0, WORDS[:2], [])
    two = document_from("x", 2.0, [], [("at six", 0.5, 1.5)])
    joined = join_documents([(one, 0.0), (two, 100.0)], 102.0)
    assert joined.segments[1].start == 100.5
    assert joined.estimated == "words"
    assert joined.end_s == 102.0


def test_the_word_at_a_moment_is_the_last_one_begun() -> None:
    document = talk(3)
    assert document.word_at(0.0) is None
    assert document.word_at(0.5) == (0, 0)
    assert document.word_at(0.95) == (0, 1)
    assert document.word_at(1000) == (2, 4)


def test_a_document_survives_the_disk() -> None:
    document = talk(3)
    assert Document.from_json(json.loads(json.dumps(document.to_json()))) == document
    assert Document.from_json({"segments": [{"words": [["a", 1]]}, 5, {"words": [["b", 1, 2]]}]}).text == "b"


# Editing


def test_a_corrected_word_keeps_its_time_and_so_do_all_others() -> None:
    document = talk(2)
    edited = edit_segment(document, 0, "You feel that water number0.")
    assert times(edited) == times(document)
    assert edited.segments[0].words[2].text == "that"
    assert edit_segment(document, 0, document.segments[0].text) is document


def test_an_inserted_word_gets_a_time_between_its_neighbours() -> None:
    edited = edit_segment(talk(1), 0, "You feel all the cold water number0.")
    words = edited.segments[0].words
    assert [word.text for word in words] == ["You", "feel", "all", "the", "cold", "water", "number0."]
    assert all(one.start <= one.end <= two.end for one, two in itertools.pairwise(words))
    assert words[0] == talk(1).segments[0].words[0]


def test_a_deleted_word_goes_and_an_emptied_segment_too() -> None:
    document = talk(2)
    edited = edit_segment(document, 0, "You feel water number0.")
    assert len(edited.segments[0].words) == 4
    assert edited.segments[0].words[2] == document.segments[0].words[3]
    assert len(edit_segment(document, 0, "  ").segments) == 1


@given(st.text(alphabet="ab c.", max_size=40))
def test_whatever_is_typed_times_stay_in_order_and_inside_the_segment(text: str) -> None:
    document = edit_segment(talk(1), 0, text)
    spans = times(document)
    assert all(0.5 <= start <= end <= 2.5 for start, end in spans)
    assert all(one[0] <= two[0] for one, two in itertools.pairwise(spans))
    assert document.text.split() == text.split()


def test_nudging_moves_a_segment_with_its_words_and_stops_at_its_neighbours() -> None:
    document = talk(3)
    later = nudge(document, 1, "both", 0.1)
    assert later.segments[1].start == pytest.approx(document.segments[1].start + 0.1)
    assert later.segments[1].words[0].start == pytest.approx(document.segments[1].words[0].start + 0.1)
    assert later.segments[0] == document.segments[0]
    far = nudge(document, 1, "start", -30)
    assert far.segments[1].start == document.segments[0].end
    assert nudge(document, 1, "end", 30).segments[1].end == document.segments[2].start
    assert nudge(document, 0, "both", -30).segments[0].start == 0
    assert nudge(nudge(document, 0, "both", -30), 0, "both", -1).segments[0].start == 0


def test_split_and_merge_are_each_others_undoing() -> None:
    document = talk(2)
    cut = split(document, 0, 2)
    assert [segment.text for segment in cut.segments][:2] == ["You feel", "the water number0."]
    assert times(cut) == times(document)
    assert merge(cut, 0) == document
    assert split(document, 0, 0) is document
    assert split(document, 0, 9) is document
    assert merge(document, 1) is document


def test_search_finds_every_place_in_any_case() -> None:
    document = talk(3)
    found = search(document, "WATER")
    assert len(found) == 3
    assert document.segments[0].text[found[0].start : found[0].end] == "water"
    assert len(search(document, "the  water")) == 3
    assert search(document, " ") == ()
    assert word_spans(document.segments[0])[1] == (4, 8)


# Export


def seconds(told: str) -> float:
    """`00:01:02.500` → 62.5"""
    hours, minutes, rest = told.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def read_srt(text: str) -> list[tuple[float, float, str]]:
    """What an independent parser makes of SubRip: start, end and text of every cue."""
    captions = webvtt.from_buffer(io.StringIO(text), format="srt")
    return [(seconds(one.start), seconds(one.end), one.text) for one in captions]


def test_srt_is_accepted_by_an_independent_parser() -> None:
    document = talk(40)
    text = export("srt", document, Head())
    parsed = read_srt(text)
    numbers = [int(line) for line in text.splitlines() if line.isdigit()]
    assert numbers == list(range(1, len(parsed) + 1))
    assert " ".join(said.replace("\n", " ") for _, _, said in parsed) == " ".join(document.text.split())
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(parsed))
    assert all(end - start <= 6 for start, end, _ in parsed)
    assert parsed[0][0] == 0.5


def test_vtt_is_accepted_by_an_independent_parser() -> None:
    document = edit_segment(talk(40), 0, "a <b> & c --> d")
    captions = webvtt.from_string(export("vtt", document, Head()))
    assert len(captions) == len(cues(document, CueRules()))
    assert html.unescape(captions[0].text) == "a <b> & c → d"
    assert captions[0].start == "00:00:00.500"
    spoken = " ".join(caption.text.replace("\n", " ") for caption in captions)
    assert spoken.split()[6:] == document.text.split()[6:]


def test_cues_obey_the_rules_and_never_overlap() -> None:
    long = Document.of([Segment(tuple(w for s in talk(30, 0.0).segments for w in s.words), 0.5, 60.5)])
    for rules in (CueRules(), CueRules(20, 1, 2.0), CueRules(80, 3, 12)):
        found = cues(long, rules)
        assert all(len(cue.lines) <= rules.lines for cue in found)
        assert all(len(line) <= rules.line_chars for cue in found for line in cue.lines)
        assert all(cue.end - cue.start <= rules.longest_s + 0.001 for cue in found)
        assert all(one.end <= two.start for one, two in itertools.pairwise(found))
        assert " ".join(line for cue in found for line in cue.lines) == long.segments[0].text


def spoken(*segments: str, word_s: float = 0.25, pause_s: float = 0.1) -> Document:
    """Segments whose words follow each other, each word as long as the others."""
    made, at = [], 0.0
    for said in segments:
        words = []
        for text in said.split():
            words.append(Word(text, round(at, 3), round(at + word_s, 3)))
            at += word_s
        made.append(Segment(tuple(words), words[0].start, words[-1].end))
        at += pause_s
    return Document.of(made, "", at)


INTERVIEW = spoken(
    "I came here when I was nine and my mother said we would stay for one summer, and then nobody wanted to leave.",
    "Weird.",
    "So I learned the trade, the boats, the ropes, everything that there is to know about the things I am making.",
    "Oh.",
    "Really?",
)


def test_no_cue_is_shorter_than_a_second_and_no_word_stands_alone() -> None:
    found = cues(INTERVIEW, CueRules())
    assert min(cue.end - cue.start for cue in found) >= 1.0
    assert all(one.end <= two.start for one, two in itertools.pairwise(found))
    assert min(len(cue.lines[-1].split()) for cue in found) > 1
    assert [cue.lines for cue in found][-1] == ("Oh. Really?",)


def test_the_lines_of_a_cue_have_about_the_same_length() -> None:
    found = [cue for cue in cues(INTERVIEW, CueRules()) if len(cue.lines) == 2]
    assert found
    assert all(abs(len(cue.lines[0]) - len(cue.lines[1])) <= 16 for cue in found)


def test_a_short_cue_takes_its_second_from_the_one_behind_it() -> None:
    long = (Word("abcdefghij", 0.4, 1.5), Word("klmnopqrs", 1.5, 2.6))
    document = Document.of([Segment((Word("Oh.", 0.0, 0.3),), 0.0, 0.3), Segment(long, 0.4, 2.6)])
    first, second = cues(document, CueRules(line_chars=20, lines=1))
    assert (first.lines, first.end, second.start, second.end) == (("Oh.",), 1.0, 1.0, 2.6)


def test_wide_characters_count_twice() -> None:
    words = [Word(sign, at * 0.2, at * 0.2 + 0.2) for at, sign in enumerate("今天天气很好我们去公园散步吧" * 4)]
    found = cues(Document.of([Segment(tuple(words), 0.0, words[-1].end)]), CueRules(longest_s=60))
    assert all(len(line) <= 21 for cue in found for line in cue.lines)
    assert "".join(line for cue in found for line in cue.lines) == "今天天气很好我们去公园散步吧" * 4


# Scripts without blanks


def received(name: str, *, without: str = "") -> Document:
    """The document of a reported answer, without its running text or its words."""
    body = json.loads(reported(name))
    words = [(each["word"], each["start"], each["end"]) for each in body["words"]]
    return document_from("" if without == "text" else body["text"], body["duration"], words, [])


@pytest.mark.parametrize("without", ["", "text"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("k15-words-zh.json", "今天天气很好，我们去公园散步吧。"),
        ("k15-words-ja.json", "こんにちは、今回も説明します。"),
        ("k15-words-pieces.json", "Hello, world's end."),
        ("k15-words-mixed.json", "使用 OpenTool 製作的影片"),
    ],
)
def test_pieces_are_joined_as_their_script_joins_them(name: str, said: str, without: str) -> None:
    document = received(name, without=without)
    assert document.text == said
    assert export("txt", document, Head()) == f"{said}\n"
    assert "".join(text for _, _, text in read_srt(export("srt", document, Head()))).replace("\n", "") == said
    for mode in ("segments", "text"):
        assert [row.text for row in rows_of(document, mode)] == [said]
    assert json.loads(export("json", document, Head()))["text"] == said
    first = document.segments[0].words
    spans = word_spans(document.segments[0])
    assert [said[start:end] for start, end in spans] == [word.text for word in first]
    assert edit_segment(document, 0, said) is document


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("第3章です。", ["第", "3", "章", "です"], ["第3章", "です。"]),
        ("สวัสดี ครับ", ["สวัสดี", "ครับ"], ["สวัสดี ", "ครับ"]),
        ("Yes – “no”, he said.", ["Yes", "no", "he", "said"], ["Yes –", "“no”,", "he", "said."]),
        ("Straße, ok", ["strasse", "OK"], ["Straße,", "ok"]),
        ("안녕하세요 세계", ["안녕하세요", "세계"], ["안녕하세요", "세계"]),
        ("other letters", ["High", "water"], ["High", "water"]),
    ],
)
def test_punctuation_and_blanks_come_from_the_running_text(text: str, words: list[str], expected: list[str]) -> None:
    timed = [(word, float(at), at + 1.0) for at, word in enumerate(words)]
    document = document_from(text, None, timed, [])
    assert [word.text for segment in document.segments for word in segment.words] == expected
    assert document.segments[-1].words[-1].end == len(words)


@pytest.mark.parametrize(
    "text",
    ["今天天气很好，我们去公园散步吧。", "使用OpenTool製作", "「はい」とー言った 次", "ไปเที่ยว นะ", "plain words, here"],
)
def test_text_without_times_is_cut_into_words_that_join_again(text: str) -> None:
    words = words_of(text)
    assert join(words) == text
    assert len(words) > 1
    document = document_from(text, 4.0, [], [])
    assert " ".join(document.text.split("\n")).replace(" ", "") == text.replace(" ", "")


def test_a_correction_in_a_script_without_blanks_keeps_the_other_times() -> None:
    document = received("k15-words-ja.json")
    edited = edit_segment(document, 0, "こんにちは、今日も説明します。")
    assert edited.text == "こんにちは、今日も説明します。"
    assert edited.segments[0].words[0].start == 0.0
    before = {word.text: word.end for word in document.segments[0].words}
    assert edited.segments[0].words[-1].end == before["します。"]


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0, 50)), min_size=1, max_size=12))
def test_whatever_times_a_model_gives_the_subtitles_can_be_parsed(spans: list[tuple[float, float]]) -> None:
    document = document_from("", 60, [("word", start, end) for start, end in spans], [])
    parsed = read_srt(export("srt", document, Head()))
    assert all(start < end for start, end, _ in parsed)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(parsed))
    assert len(webvtt.from_string(export("vtt", document, Head()))) == len(parsed)


def test_the_other_four_formats() -> None:
    document = talk(3, pause=3.0)
    head = Head("Lock *keeper*", "20 Nov 2026", "Whisper", "en", ((1.0, "Lock built"), (99.0, "")), {"text": "raw"})
    assert export("txt", document, head).count("\n\n") == 2
    written = export("md", document, head)
    assert "# Lock \\*keeper\\*" in written
    assert written.index("> **0:01** Lock built") < written.index("number0") < written.index("> **1:39** Note")
    body = json.loads(export("json", document, head))
    assert body["received"] == {"text": "raw"}
    assert body["segments"][0]["words"][0] == {"word": "You", "start": 0.5, "end": 0.85}
    rows = list(csv.reader(io.StringIO(export("csv", edit_segment(document, 0, "=SUM(A1)"), head))))
    assert rows[0] == ["segment", "start", "end", "word"]
    assert rows[1][3] == "'=SUM(A1)"
    assert len(FORMATS) == 6
    with pytest.raises(KeyError):
        export("doc", document, head)


def test_clocks() -> None:
    assert [position(s) for s in (0, 24.9, 724, 3723)] == ["0:00", "0:24", "12:04", "1:02:03"]


def test_what_is_found_is_marked_in_every_way_of_showing_it() -> None:
    document = talk(2, pause=0.1)
    matches = search(document, "the water")
    found = {match.segment: [(match, False)] for match in matches}
    for mode, marked in (("segments", 2), ("text", 2), ("words", 4)):
        pieces = [
            row.text[match.start : match.end]
            for row in rows_of(document, mode)
            for match, _ in found_in_row(document, row, mode, found)
        ]
        assert len(pieces) == marked
        assert set(pieces) == ({"the", "water"} if mode == "words" else {"the water"})
