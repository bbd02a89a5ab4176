"""Every field of the image calls can be sent, and what the service would refuse is refused at its field."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QRadioButton, QWidget

from app.service.models import Model
from app.service.wire import read_model
from app.storage.images import StoredImage
from app.ui.images.edit_dialog import EditDialog
from app.ui.images.enlarge_dialog import EnlargeDialog
from app.ui.images.form import MAX_REFERENCE_BYTES, ImageForm, form_from, requests_of, view_of
from tests.kit.images import ImagesHarness
from tests.kit.waiting import until


def model(kind: str = "image", spec: dict[str, object] | None = None, **constraints: object) -> Model:
    told: dict[str, object] = {"name": "Brush", "constraints": constraints, **(spec or {})}
    return read_model(Model, {"id": "brush", "object": "model", "type": kind, "model_spec": told})


async def made(images: ImagesHarness, words: str) -> StoredImage:
    images.write(words)
    (image,) = await images.made()
    return image


async def asked(images: ImagesHarness, action: str, image: StoredImage) -> Any:
    """Open the question of a deed."""
    kind = EditDialog if action == "edit" else EnlargeDialog
    images.do(image.id, action)
    return await images.dialog(kind)


def sent(images: ImagesHarness) -> dict[str, object]:
    """The form fields of the last call."""
    body = images.paid[-1].request.body
    assert isinstance(body, tuple)
    return {part.name: part.value for part in body if not part.file_name}


async def test_an_edit_can_have_its_words_rewritten_and_its_shape_and_format_chosen(images: ImagesHarness) -> None:
    image = await made(images, "A harbour")
    dialog = await asked(images, "edit", image)
    assert not dialog.quality.isVisible() and not dialog.combined.isVisible()
    QTest.keyClicks(dialog.prompt, "Make it night")
    dialog.enhance.setFocus()
    QTest.keyClick(dialog.enhance, Qt.Key.Key_Space)
    dialog.ratio.setCurrentIndex(dialog.ratio.findData("16:9"))
    dialog.format.setCurrentIndex(dialog.format.findData("jpeg"))
    dialog.send.click()
    await until(lambda: len(images.rows) == 2)
    await images.still()
    fields = sent(images)
    assert (fields["enhance_prompt"], fields["aspect_ratio"], fields["output_format"]) == ("true", "16:9", "jpeg")
    assert "quality" not in fields and "safe_mode" not in fields


async def test_images_are_combined_with_a_quality_as_many_as_the_model_takes(images: ImagesHarness) -> None:
    three = [await made(images, words) for words in ("A harbour", "A boat", "A gull")]
    record = model("inpaint", combineImages=True, maxInputImages=2, qualities=["low", "high"], aspectRatios=["auto"])
    (real,) = images.presenter.edit_models
    images.presenter.edit_models = (real.model_copy(update={"model_spec": record.model_spec}),)
    images.gallery_view.selectAll()
    dialog = await asked(images, "edit", three[0])
    assert dialog.combined.text() == (
        "Combined with one more image you selected. Brush takes up to 2, so 1 of the selected images are not used."
    )
    dialog.quality.setCurrentIndex(dialog.quality.findData("high"))
    dialog.prompt.setPlainText("Both in one")
    dialog.send.click()
    await until(lambda: len(images.rows) == 4)
    await images.still()
    assert sent(images)["quality"] == "high" and images.paid[-1].request.path.endswith("/image/multi-edit")


async def test_enlarging_takes_a_factor_and_a_creativity_and_names_size_and_price(images: ImagesHarness) -> None:
    images.presenter.set_field("width", 512)
    images.presenter.set_field("height", 256)
    image = await made(images, "A harbour")
    dialog = await asked(images, "enlarge", image)
    assert (dialog.outcome.text(), dialog.send.text()) == ("The result is 1,024 × 512.", "Upscale for $0.02")
    twice = dialog.scale.findChildren(QRadioButton)[0]
    twice.setFocus()
    QTest.keyClick(twice, Qt.Key.Key_Right)
    assert (dialog.outcome.text(), dialog.send.text()) == ("The result is 2,048 × 1,024.", "Upscale for $0.08")
    dialog.creativity.slider.setFocus()
    for _ in range(5):
        QTest.keyClick(dialog.creativity.slider, Qt.Key.Key_Left)
    dialog.send.click()
    await until(lambda: len(images.rows) == 2)
    await images.still()
    assert {"scale": "4", "creativity": "0.005"}.items() <= sent(images).items()
    larger = next(iter(images.rows.values()))
    assert (larger.width, larger.height, larger.options["creativity"]) == (2048, 1024, 0.005)
    width, height, is_less = images.changes.enlarged_size(larger.id, 4)
    assert is_less and width * height <= 16_777_216 and width == 2 * height


async def test_styles_are_taken_each_as_strongly_as_its_number_and_taken_off_again(images: ImagesHarness) -> None:
    harbour, boat, gull = [await made(images, words) for words in ("A harbour", "A boat", "A gull")]
    images.presenter.set_field("model", "rialto-poster")
    form, more = images.page.form, images.more_options
    more.unfold(True)
    for image in (harbour, boat, gull):
        images.select(image.id)
        more.references.add.click()
    assert "accepts up to 2 images. You selected 3" in form.sum.text()
    assert not form.make.isEnabled()
    rows = more.references.rows
    assert [row.title.text() for row in rows] == ["A harbour", "A boat", "A gull"]
    rows[1].remove.click()
    assert form.make.isEnabled()
    rows[1].strength.setFocus()
    QTest.keyClick(rows[1].strength, Qt.Key.Key_Up)
    images.write("A lighthouse in that style")
    await images.made()
    body = images.paid[-1].request.body
    assert isinstance(body, dict)
    assert [one["strength"] for one in body["style_references"]] == [0.5, pytest.approx(0.55)]
    kept = form_from(images.presenter.form.to_json())
    assert kept.references == (harbour.id, gull.id) and kept.strengths == (0.5, pytest.approx(0.55))
    images.select(harbour.id)
    more.references.add.click()
    assert "not in the list yet" in images.toasts[-1][0], "no image twice"


async def test_a_style_of_an_image_that_is_too_large_or_gone_is_refused_at_its_field(images: ImagesHarness) -> None:
    harbour = await made(images, "A harbour")
    images.presenter.set_field("model", "rialto-poster")
    large = StoredImage(
        **{name: getattr(harbour, name) for name in harbour.__slots__} | {"size_bytes": MAX_REFERENCE_BYTES}
    )
    images.rows[harbour.id] = large
    images.presenter.set_references([(harbour.id, 0.5)])
    images.write("A boat")
    wrong = "“A harbour” is 8.0 MB. Style images must be smaller than 8 MB."
    assert images.price_text() == wrong and not images.can_make()
    assert images.references.accessibleDescription() == wrong
    images.presenter.set_references([("nobody", 0.5)])
    assert "no longer exists" in images.price_text() and not images.can_make()


async def test_what_stands_as_a_seed_and_is_none_is_marked_and_nothing_is_made_with_it(images: ImagesHarness) -> None:
    images.write("A harbour")
    more = images.more_options
    more.unfold(True)
    more.seed.setFocus()
    QTest.keyClicks(more.seed, "12x")
    assert not images.can_make() and "seed" in images.make_button.toolTip()
    images.page.make()  # Ctrl+Enter
    QTest.keyClick(more.seed, Qt.Key.Key_Backspace)
    assert images.can_make() and images.presenter.form.seed == 12
    assert images.paid == []


async def test_a_limit_that_the_record_does_not_tell_is_told_and_nothing_is_sent(images: ImagesHarness) -> None:
    (first, *_) = images.presenter.models
    record = model(steps={"max": 50, "default": 8}, qualities=["draft", "final"], widthHeightDivisor=8)
    images.presenter.models = (first.model_copy(update={"model_spec": record.model_spec}),)
    images.presenter.set_field("quality", "final")
    images.write("A harbour")
    images.page.make()
    await until(lambda: images.presenter.problem is not None)
    assert images.presenter.problem is not None and "low, medium or high" in images.presenter.problem.meaning
    assert images.paid == []


async def test_other_words_that_the_service_proposes_are_taken_over(images: ImagesHarness) -> None:
    image = await made(images, "A harbour")
    dialog = await asked(images, "edit", image)
    dialog.prompt.setPlainText("sandbox-refused")
    dialog.send.click()
    await until(lambda: images.presenter.problem is not None)
    card = images.error_card
    button = next(found for found in card.findChildren(QPushButton) if found.text() == "Show suggestion…")
    button.click()
    dialog = await images.dialog(EditDialog)
    assert dialog.prompt.toPlainText() == "A quiet harbour"
    assert images.presenter.problem is None
    dialog.reject()


async def test_too_many_this_minute_is_told_on_the_tile_and_then_it_is_made_once(images: ImagesHarness) -> None:
    await images.fault("answer", status=429, path="/image/generate", headers={"Retry-After": "1"}, times=1)
    said: list[str] = []
    assert images.presenter.maker is not None
    images.presenter.maker.changed.connect(lambda image: said.append(images.waiting_text(image.id)))
    image = await made(images, "A harbour")
    assert any(words.startswith("Over the limit for this minute, sends in 0:0") for words in said)
    assert image.state == "saved"
    assert images.presenter.problem is None and len(images.paid) == 1


async def test_too_many_for_longer_is_failed_and_sent_again_by_hand_alone(images: ImagesHarness) -> None:
    await images.fault("answer", status=429, path="/image/generate", headers={"Retry-After": "300"}, times=1)
    image = await made(images, "A harbour")
    problem = images.presenter.problem
    assert image.state == "failed" and problem is not None
    assert problem.what == "Limit reached" and problem.meaning.startswith("Resets ")
    assert problem.primary is not None and problem.primary.text == "Try again"


def test_what_the_record_says_the_model_does_not_do_is_off_and_not_sent() -> None:
    record = model(spec={"supportsWebSearch": False, "supportsOptimizePromptThinking": False})
    form = ImageForm(prompt="a boat", enable_web_search=True, disable_prompt_optimization_thinking=True)
    view = view_of(form, record)
    assert view.notes["enable_web_search"] == "Brush does not search the web."
    (request,) = requests_of(form, record, 1)
    assert not {"enable_web_search", "disable_prompt_optimization_thinking"} & set(request.to_body())
    (request,) = requests_of(form, model(), 1)
    assert request.to_body()["enable_web_search"] is True, "a record that is silent forbids nothing"


@pytest.mark.parametrize(
    ("spec", "constraints", "most"),
    [
        ({}, {}, 0),
        ({}, {"maxStyleReferences": 3}, 3),
        ({"supportsStyleReferences": True}, {}, 1),
        ({"supportsStyleReferences": False}, {"maxStyleReferences": 3}, 0),
    ],
)
def test_how_many_styles_a_model_takes(spec: dict[str, object], constraints: dict[str, object], most: int) -> None:
    assert view_of(ImageForm(), model(spec=spec, **constraints)).limits.max_references == most


def test_a_price_by_quality_is_that_of_the_models_own_where_none_is_chosen() -> None:
    usd = {"low": {"usd": 0.01}, "high": {"usd": 0.05}}
    record = model(
        spec={"pricing": {"quality": {"1K": usd}}}, qualities=["low", "high"], defaultQuality="high", resolutions=["1K"]
    )
    assert str(view_of(ImageForm(prompt="a"), record).price) == "0.05"
    assert str(view_of(ImageForm(prompt="a", quality="low"), record).price) == "0.01"


async def test_no_option_is_squeezed_where_reasons_need_more_than_one_line(images: ImagesHarness) -> None:
    more = images.more_options
    more.unfold(True)
    fields = (more.resolution, more.quality, more.format, more.seed, more.lora, more.references.add)

    def has_room(field: QWidget) -> bool:
        holder = field.parentWidget()
        return field.height() >= field.sizeHint().height() and holder.rect().contains(field.geometry())

    await until(lambda: all(map(has_room, fields)))


def test_a_service_without_image_models_is_named_and_nothing_is_said_of_a_model() -> None:
    view = view_of(ImageForm(prompt="a fox"), None, asked=True)
    assert (view.why_not, view.notes, view.has_model) == ("The service has no image models.", {}, False)
    assert view_of(ImageForm(prompt="a fox"), None).why_not == "No image models yet."
