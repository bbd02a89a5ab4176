"""What is found for a question, in every script, and how often it is the right thing."""

from __future__ import annotations

import sqlite3
from array import array
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from app.documents.index import Writer
from app.documents.passages import Passage
from app.documents.reading import Entry, Kind
from app.documents.search import fused, search, terms_of
from app.documents.vectors import begin, keep, missing, texts_of, vectors_beside
from app.sandbox.chat.embeddings import vector
from tests.documents.questions import answerable, make_index, missed, plain_fts5, questions

GOAL = 0.8  # of all questions, without embeddings
GOAL_WITH = 0.9  # with them
DIMENSIONS = 1024


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "index.db"
    make_index(path)
    return path


def index_of(folder: Path, *texts: str) -> Path:
    writer = Writer(folder / "index.db")
    for number, text in enumerate(texts):
        writer.put(Entry(f"{number}", ""), Kind.TEXT, b"", [Passage(text, 1, 1, "")])
    writer.close()
    return folder / "index.db"


def test_the_questions_are_fit_to_measure_with(index: Path) -> None:
    with closing(sqlite3.connect(index)) as connection:
        rows = connection.execute("SELECT p.heading, p.text, f.path FROM passages p JOIN files f ON f.id = p.file")
        passages = rows.fetchall()
    asked = answerable(index)
    assert len({each.text for each in asked}) >= 100
    for each in asked:
        right = sum(each.is_answered_by(*row) for row in passages)
        assert right <= len(passages) / 25, (each.text, right)  # chance finds none of them
    missing = {each.text for each in questions() if each.heading} - {each.text for each in asked}
    assert not missing, "the handbook has no such section any more"


def test_the_right_passage_is_among_the_first_five(index: Path) -> None:
    count = len(answerable(index))
    ours = missed(index, lambda question: search(index, question))
    with plain_fts5(index) as find_plainly:
        plain = missed(index, find_plainly)
    print(f"recall@5 of {count}: {1 - len(ours) / count:.1%}; plain FTS5 {1 - len(plain) / count:.1%}; missed: {ours}")
    assert 1 - len(ours) / count >= GOAL
    assert len(ours) < len(plain)


def test_embeddings_find_the_right_passage_among_the_first_five(index: Path) -> None:
    """With the Sandbox's vectors, which know words and their parts alone."""
    begin(vectors_beside(index), "model", "place")
    names = [name for name, _ in missing(index)]
    for at in range(0, len(names), 100):
        texts = texts_of(index, names[at : at + 100])
        keep(vectors_beside(index), "model", [(name, embedded(text)) for name, text in texts.items()])
    count = len(answerable(index))
    ours = missed(index, lambda question: search(index, question, vector=embedded(question)))
    print(f"recall@5 of {count} with embeddings: {1 - len(ours) / count:.1%}; missed: {ours}")
    assert 1 - len(ours) / count >= GOAL_WITH


def embedded(text: str) -> array[float]:
    return array("f", vector(text, DIMENSIONS))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie hoch ist die Kuendigungsfrist oder Kündigungsfrist?", "Die Kundigungsfrist beträgt drei Monate."),
        ("租金是多少", "每月租金为九百欧元，月底支付。"),
        ("家賃はいくらですか", "毎月の家賃は九百ユーロです。"),
        ("ค่าเช่าเท่าไร", "ค่าเช่ารายเดือนเก้าร้อยยูโร"),
        ("임대료는 얼마입니까", "임대료는 월 900유로입니다."),
        ("Какая арендная плата?", "Арендная плата составляет 900 евро."),
        ("كم الإيجار", "الإيجار الشهري تسعمائة يورو"),
        ("किराया कितना है", "मासिक किराया नौ सौ यूरो है"),
        ("paying the rents", "The rent is paid monthly."),
    ],
)
def test_words_of_every_script_are_found(tmp_path: Path, question: str, text: str) -> None:
    index = index_of(tmp_path, "Something else.", "其他东西。", "อย่างอื่น", text, "Noch etwas.")
    assert search(index, question, 1)[0].text == text


def test_any_question_can_be_asked(tmp_path: Path) -> None:
    index = index_of(tmp_path, "Some text.")
    for question in ("", "   ", '"', "AND OR NOT", "a* (b", "NEAR(x y)", "\0", "😀", "text:text", "-", "the of", "中"):
        search(index, question)
    assert search(tmp_path / "none.db", "text") == ()


def test_what_is_gone_from_a_file_is_not_found(tmp_path: Path) -> None:
    index = index_of(tmp_path, "租金 rent", "other")
    writer = Writer(index)
    writer.put(Entry("0", ""), Kind.TEXT, b"", [Passage("nothing", 1, 1, "")])
    writer.close()
    assert search(index, "rent") == search(index, "租金") == ()


def test_a_file_that_changes_twice_before_it_is_written_is_found_once(tmp_path: Path) -> None:
    index = index_of(tmp_path, "first", "second", "other")
    writer = Writer(index)
    for text in ("alpha", "beta"):
        writer.put(Entry("1", ""), Kind.TEXT, b"", [Passage(text, 1, 1, "")])
    writer.close()
    assert search(index, "second") == search(index, "alpha") == ()
    assert {each.text for each in search(index, "beta other")} == {"beta", "other"}


def test_text_that_cannot_be_written_takes_no_other_file_with_it(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "index.db")
    for name, text in (("0", "good"), ("1", "\ud800 half a character"), ("2", "fine")):
        with nullcontext() if text.isascii() else pytest.raises(UnicodeEncodeError):
            writer.put(Entry(name, ""), Kind.TEXT, b"", [Passage(text, 1, 1, "")])
    writer.close()
    assert {each.path for each in search(tmp_path / "index.db", "good fine half")} == {"0", "2"}


def test_words_that_only_ask_are_not_looked_for() -> None:
    assert terms_of("How do I pay the rent?") == ("pay", "rent")
    assert terms_of("Who are you?") == ("Who", "are", "you")


def test_rankings_are_fused_by_their_places() -> None:
    assert fused([(1, [1, 2, 3]), (1, [3, 2])]) == [3, 2, 1]
    assert fused([(1, [1, 2]), (0.5, [2, 1])]) == [1, 2], "the heavier one decides"
