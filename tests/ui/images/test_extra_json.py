"""Extra JSON in the form of an image: sent as typed, kept, and refused at its field where it cannot be sent."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.storage.paid_call_intents import Intents
from app.ui.images.form import form_from
from tests.kit.images import ImagesHarness
from tests.kit.waiting import until


def type_extra(images: ImagesHarness, text: str) -> None:
    images.more_options.head.click()
    images.extra.setFocus()
    QTest.keyClicks(images.extra.box, text)


async def test_r_gen_15_extra_json_of_an_image_is_sent_kept_and_copied(images: ImagesHarness) -> None:
    images.write("A harbor")
    type_extra(images, '{"hdr": {"level": 2}, "return_binary": false}')
    (image,) = await images.made()
    body = images.paid[-1].request.body
    assert isinstance(body, dict) and body["hdr"] == {"level": 2} and body["return_binary"] is False
    assert image.state == "saved"
    images.select(image.id)
    images.request_pane.copy_curl()
    assert '"hdr"' in QGuiApplication.clipboard().text()
    intent = await Intents(images.database).one(image.call_id)
    assert intent.request["hdr"] == {"level": 2}
    kept = form_from((await images.saved_draft())["form"])
    assert kept.extra_json == '{"hdr": {"level": 2}, "return_binary": false}'
    images.page.clear()
    assert images.extra.box.toPlainText() == ""
    images.more_options.head.click()
    images.presenter.rerun(image.id)
    assert images.extra.box.toPlainText() == kept.extra_json
    assert images.extra.box.isVisible(), "what is sent is not hidden when it comes into the form"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"hdr": ', "Line 1, column 9: expecting value."),
        ("[1]", 'Enter an object: {"name": value}.'),
        ('{"variants": 4}', "Set “variants” in its own field, Number of images."),
        ('{"n": 4}', "Set “n” in its own field, Number of images."),
        ('{"resolution": "4K"}', "Set “resolution” in its own field, Resolution."),
        ('{"enhance_prompt": true}', "Set “enhance_prompt” in its own field, Let the service improve the prompt."),
    ],
)
async def test_extra_json_that_cannot_be_sent_is_refused_at_its_field(
    images: ImagesHarness, text: str, fault: str
) -> None:
    images.write("A harbor")
    type_extra(images, text)
    images.page.make()  # right after the last key
    extra = images.extra
    assert extra.note.text() == fault and extra.box.accessibleDescription() == fault
    assert images.price_text() == f"Extra JSON: {fault}" and not images.can_make()
    await images.still()
    assert images.paid == []
    extra.box.clear()
    await until(images.can_make)
    assert extra.note.text() == "Sent with the request as typed. Not validated."
