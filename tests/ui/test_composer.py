"""The box under the conversation: growing, sending, composing, folding. Typed text is never lost by the box itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QImage, QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.service.models import Model
from app.ui.chat.composer.composer import Composer
from app.ui.chat.composer.input_box import MAX_LINES
from app.ui.chat.session.chat_options import ChatOptions, judge
from app.ui.chat.state import AttachmentView, ChatHead, CostNote
from app.ui.kit.theme import Theme
from tests.kit.chat import model_body
from tests.reported_inputs import reported

READY = ChatHead(model_id="plain", model_name="Plain")
ENTER = Qt.Key.Key_Return
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


class Heard:
    """What the composer reported."""

    def __init__(self, composer: Composer) -> None:
        self.sent: list[str] = []
        self.options: list[tuple[str, object]] = []
        self.edited: list[str] = []
        self.recalled = self.stopped = 0
        composer.send_requested.connect(self.sent.append)
        composer.option_changed.connect(lambda name, value: self.options.append((name, value)))
        composer.text_edited.connect(self.edited.append)
        composer.recall_requested.connect(self._recall)
        composer.stop_requested.connect(self._stop)

    def _recall(self) -> None:
        self.recalled += 1

    def _stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def composer(theme: Theme, qapp: QApplication) -> Iterator[Composer]:
    window = QWidget()
    window.resize(900, 400)
    composer = Composer(theme, window)
    composer.setFixedWidth(760)
    composer.show_head(READY)
    window.show()
    QApplication.processEvents()
    yield composer
    window.deleteLater()


@pytest.fixture
def heard(composer: Composer) -> Heard:
    return Heard(composer)


def test_enter_says_why_nothing_can_be_sent_yet(
    composer: Composer, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("app.ui.chat.composer.composer.announce", lambda _widget, words: said.append(words))
    composer.show_head(READY._replace(can_send=False, why_not="Not connected yet."))
    QTest.keyClicks(composer.box, "Hello")
    assert "why_note" not in vars(composer)
    QTest.keyClick(composer.box, ENTER)
    assert (heard.sent, said, composer.why_note.text()) == ([], ["Not connected yet."], "Not connected yet.")
    assert composer.why_note.isVisible()
    composer.show_head(READY)
    assert not composer.why_note.isVisible()
    QTest.keyClick(composer.box, ENTER)
    assert heard.sent == ["Hello"]


def test_enter_sends_and_shift_enter_breaks_the_line(composer: Composer, heard: Heard) -> None:
    QTest.keyClicks(composer.box, "Hello")
    QTest.keyClick(composer.box, ENTER, SHIFT)
    QTest.keyClicks(composer.box, "you")
    assert heard.sent == []
    QTest.keyClick(composer.box, ENTER)
    assert heard.sent == ["Hello\nyou"]
    assert composer.text() == "Hello\nyou", "the text leaves the box only when it is on disk"


def test_the_setting_swaps_the_two_keys(composer: Composer, heard: Heard) -> None:
    composer.set_enter_sends(False)
    QTest.keyClicks(composer.box, "Hello")
    QTest.keyClick(composer.box, ENTER)
    assert heard.sent == []
    QTest.keyClick(composer.box, ENTER, SHIFT)
    assert heard.sent == ["Hello\n"]


def test_control_enter_always_sends(composer: Composer, heard: Heard) -> None:
    composer.set_enter_sends(False)
    QTest.keyClicks(composer.box, "Hello")
    QTest.keyClick(composer.box, ENTER, CONTROL)
    assert heard.sent == ["Hello"]


def test_enter_never_sends_while_an_input_method_composes(composer: Composer, heard: Heard) -> None:
    QTest.keyClicks(composer.box, "a")
    QApplication.sendEvent(composer.box, QInputMethodEvent("にほん", []))
    assert composer.box.is_composing
    QTest.keyClick(composer.box, ENTER)
    assert heard.sent == []
    done = QInputMethodEvent("", [])
    done.setCommitString("日本")
    QApplication.sendEvent(composer.box, done)
    QTest.keyClick(composer.box, ENTER)
    assert len(heard.sent) == 1
    assert "日本" in heard.sent[0]


def test_send_enters_what_is_being_composed(composer: Composer, heard: Heard) -> None:
    """In Korean the last syllable is always being composed."""
    said = json.loads(reported("k27-composing.json"))
    QTest.keyClicks(composer.box, said["typed"])
    QApplication.sendEvent(composer.box, QInputMethodEvent(said["then_composing"], []))
    QTest.mouseClick(composer.send, Qt.MouseButton.LeftButton)
    assert heard.sent == [said["typed"] + said["then_composing"]]
    assert not composer.box.is_composing


def test_send_enters_the_first_word_too(composer: Composer, heard: Heard) -> None:
    QApplication.sendEvent(composer.box, QInputMethodEvent("요", []))
    composer.send.click()
    assert heard.sent == ["요"]


def test_an_empty_box_sends_nothing_and_takes_the_focus(composer: Composer, heard: Heard) -> None:
    composer.set_text("   ")
    composer.send.click()
    assert heard.sent == []
    assert composer.box.hasFocus()


def test_the_box_grows_from_one_line_to_twelve(composer: Composer) -> None:
    one = composer.box.height()
    composer.set_text("\n" * 4)
    five = composer.box.height()
    composer.set_text("\n" * 40)
    most = composer.box.height()
    assert one < five < most
    assert most - 2 == pytest.approx((one - 2) * MAX_LINES, abs=MAX_LINES)
    assert composer.box.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAsNeeded
    composer.set_text("")
    assert composer.box.height() == one


@pytest.mark.parametrize("paragraphs", [1, 2, 3, 4])
def test_a_text_of_long_paragraphs_stays_above_the_buttons(composer: Composer, paragraphs: int) -> None:
    """As an answer that is edited, or a long draft. Laid out by and by, it comes to more lines while the box grows."""
    composer.box.set_text("a short draft")
    QApplication.processEvents()
    composer.box.set_text("\n\n".join(["one word and another " * 30] * paragraphs))
    QApplication.processEvents()
    composer.resize(composer.sizeHint())
    QApplication.processEvents()
    box = composer.box
    assert box.minimumHeight() == box.maximumHeight() == box.sizeHint().height()
    end = box.mapTo(composer, QPoint(0, box.height())).y()
    assert end <= composer.send.mapTo(composer, QPoint()).y()


def test_a_wrapped_line_counts_as_lines(composer: Composer) -> None:
    one = composer.box.height()
    composer.set_text("long " * 100)
    assert composer.box.height() > 3 * one


def test_arrow_up_in_the_empty_box_brings_back_the_last_message(composer: Composer, heard: Heard) -> None:
    QTest.keyClick(composer.box, Qt.Key.Key_Up)
    assert heard.recalled == 1
    QTest.keyClicks(composer.box, "x")
    QTest.keyClick(composer.box, Qt.Key.Key_Up)
    assert heard.recalled == 1


def test_a_draft_that_is_shown_is_not_reported_as_typed(composer: Composer, heard: Heard) -> None:
    composer.set_text("a draft")
    assert heard.edited == []
    QTest.keyClicks(composer.box, "!")
    assert heard.edited == ["a draft!"]


def test_only_text_is_pasted(composer: Composer) -> None:
    pasted = QMimeData()
    pasted.setHtml("<b>bold</b>")
    pasted.setText("bold\r\nline")
    composer.box.insertFromMimeData(pasted)
    assert composer.text() == "bold\nline"


def test_pills_report_and_follow(composer: Composer, heard: Heard) -> None:
    composer.web.click()
    composer.thinking.click()
    composer.links.click()
    assert heard.options == [("web_search", "auto"), ("thinking", False), ("read_links", True)]
    options = ChatOptions(web_search="on", thinking=False)
    composer.show_head(READY._replace(options=options, controls=judge(options, None)))
    assert composer.web.text() == "Web: on"
    assert composer.citations.isEnabled()
    assert not composer.thinking.isChecked()


def test_what_the_model_ignores_is_dashed_and_says_why(composer: Composer) -> None:
    model = Model.model_validate(model_body(capabilities={"supportsWebSearch": False, "supportsReasoning": False}))
    composer.show_head(READY._replace(controls=judge(ChatOptions(), model)))
    assert not composer.web.isEnabled()
    assert composer.web.toolTip() == "Plain cannot search the web."
    assert not composer.thinking.isChecked()


def test_stop_takes_the_place_of_send(composer: Composer, heard: Heard) -> None:
    composer.show_head(READY._replace(writing=True))
    assert composer.stop.isVisible()
    assert not composer.send.isVisible()
    composer.stop.click()
    assert heard.stopped == 1


def test_what_does_not_fit_folds_under_one_pill_and_the_price_stays(composer: Composer, heard: Heard) -> None:
    composer.show_cost(CostNote("up to $0.0046", "how"))
    assert not composer.more.isVisible()
    composer.setFixedWidth(600)
    QApplication.processEvents()
    assert composer.more.isVisible()
    assert composer.more.text() == "2 more"
    assert composer.web.isVisible()
    assert not composer.links.isVisible()
    assert composer.cost.isVisible()
    menu = composer.open_more()
    links = next(action for action in menu.actions() if action.text() == "Read links")
    links.trigger()
    assert heard.options == [("read_links", True)]
    menu.close()


@pytest.mark.parametrize("percent", [80, 100, 200])
def test_nothing_is_cut_at_any_text_size(theme: Theme, composer: Composer, percent: int) -> None:
    theme.set_text_percent(percent)
    composer.show_cost(CostNote("up to $0.0046", "how"))
    QApplication.processEvents()
    frame = composer.frame.rect()
    for widget in (composer.box, composer.send, composer.cost):
        corner = widget.mapTo(composer.frame, widget.rect().bottomRight())
        assert frame.contains(corner), f"{widget} at {percent} %"
    theme.set_text_percent(100)


def test_everything_has_a_name(composer: Composer) -> None:
    for widget in (composer.box, composer.web, composer.citations, composer.thinking, composer.send, composer.stop):
        assert widget.accessibleName() or widget.property("text")


def test_files_and_images_are_pasted_as_attachments_and_text_as_text(composer: Composer, tmp_path: Path) -> None:
    files: list[object] = []
    images: list[object] = []
    composer.files_given.connect(files.extend)
    composer.image_given.connect(images.append)
    pasted = QMimeData()
    pasted.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.png")), QUrl.fromLocalFile(str(tmp_path / "b.txt"))])
    composer.box.insertFromMimeData(pasted)
    assert files == [tmp_path / "a.png", tmp_path / "b.txt"]
    image = QMimeData()
    image.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    assert composer.box.canInsertFromMimeData(image)
    composer.box.insertFromMimeData(image)
    assert len(images) == 1
    both = QMimeData()
    both.setText("words")
    both.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    both.setUrls([QUrl("https://example.org/a.png")])
    composer.box.insertFromMimeData(both)
    assert (composer.text(), len(files), len(images)) == ("words", 2, 1)


def test_a_chip_says_what_it_is_or_why_not_and_del_takes_it_away(composer: Composer) -> None:
    gone: list[str] = []
    composer.strip.remove_requested.connect(gone.append)
    composer.show_attachments(
        [
            AttachmentView("a", "image", "boiler.png", "1.2 MB, 2,048 × 1,536", can_shrink=True),
            AttachmentView("b", "audio", "note.wav", "12 KB", refusal="Plain cannot listen to audio."),
            AttachmentView("c", "text", "long.txt", busy=True),
        ]
    )
    QApplication.processEvents()
    good, bad, busy = composer.strip.chips.values()
    assert good.accessibleName() == "Image: boiler.png, 1.2 MB, 2,048 × 1,536"
    assert bad.accessibleName() == "Cannot be sent: note.wav, Plain cannot listen to audio."
    assert busy.detail.text() == "Reading…"
    assert good.smaller.isVisible()
    assert not bad.smaller.isVisible()
    good.setFocus()
    QTest.keyClick(good, Qt.Key.Key_Delete)
    assert gone == ["a"]
    composer.show_attachments([AttachmentView("b", "audio", "note.wav", "12 KB")])
    assert composer.strip.chips["b"].hasFocus(), "the keyboard goes on to the next chip"
    composer.show_attachments([])
    assert not composer.strip.isVisible()


def test_an_image_alone_can_be_sent(composer: Composer, heard: Heard) -> None:
    composer.show_attachments([AttachmentView("a", "image", "boiler.png", "1 KB")])
    QTest.keyClick(composer.box, ENTER)
    assert heard.sent == [""]


def test_links_that_will_be_read_are_named_and_the_rest_is_counted_r_ext_10(composer: Composer) -> None:
    links = tuple(f"https://example.org/page-{number}" for number in range(7))
    composer.show_cost(CostNote("up to $0.06", "how", "about 90 tokens", links))
    assert composer.links_note.isVisible()
    words = composer.links_note.text()
    assert words.startswith("Reads the first 5 of 7 links: example.org/page-0, ")
    assert "page-4" in words
    assert "page-5" not in words
    composer.show_cost(CostNote("up to $0.06", "how", "", links[:1]))
    assert composer.links_note.text() == "Reads this link: example.org/page-0"
    composer.show_cost(CostNote("up to $0.05", "how"))
    assert not composer.links_note.isVisible()
