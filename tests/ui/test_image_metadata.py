"""What Rialto writes into an image's file is read by others, and the image itself stays as it was."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from app.ui.images.image_processing import checked_size
from app.ui.kit.image_decoding import decoded, fitted, image_size
from app.ui.kit.image_metadata import NotWhole, check_whole, metadata_of, with_metadata
from tests.reported_inputs import reported

FACTS = {"prompt": "A quiet harbour – 港", "model": "canvas", "seed": 42, "size": "96x64"}
FORMS = ("png", "jpeg", "webp")


def picture(form: str, mode: str = "RGB", **options: object) -> bytes:
    image = Image.linear_gradient("L").resize((96, 64)).convert(mode)
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


@pytest.mark.parametrize("form", FORMS)
def test_prompt_model_and_seed_come_back_and_the_pixels_stay(form: str) -> None:
    before = picture(form)
    after = with_metadata(before, form, FACTS)
    check_whole(after, form)
    assert metadata_of(after, form) == FACTS
    assert Image.open(io.BytesIO(after)).tobytes() == Image.open(io.BytesIO(before)).tobytes()


def test_another_program_reads_the_text_of_a_png() -> None:
    image = Image.open(io.BytesIO(with_metadata(picture("png"), "png", FACTS)))
    assert image.info["Description"] == FACTS["prompt"]
    assert image.info["Software"] == "Rialto"
    assert json.loads(image.info["Comment"]) == FACTS


@pytest.mark.parametrize("form", ["jpeg", "webp"])
def test_another_program_reads_the_exif_of_the_others(form: str) -> None:
    exif = Image.open(io.BytesIO(with_metadata(picture(form), form, FACTS))).getexif()
    assert exif[0x0131] == "Rialto"
    comment = exif.get_ifd(0x8769)[0x9286]
    assert json.loads(comment.removeprefix(b"ASCII\x00\x00\x00")) == FACTS


@pytest.mark.parametrize(("mode", "options"), [("RGBA", {}), ("RGBA", {"lossless": True}), ("RGB", {"lossless": True})])
def test_webp_of_every_kind_keeps_what_it_was(mode: str, options: dict[str, object]) -> None:
    before = picture("webp", mode, **options)
    after = Image.open(io.BytesIO(with_metadata(before, "webp", FACTS)))
    assert (after.mode, after.size) == (Image.open(io.BytesIO(before)).mode, (96, 64))
    assert after.tobytes() == Image.open(io.BytesIO(before)).tobytes()


@pytest.mark.parametrize("form", FORMS)
def test_writing_again_replaces_what_was_written(form: str) -> None:
    once = with_metadata(picture(form), form, FACTS)
    twice = with_metadata(once, form, {**FACTS, "seed": 7})
    assert metadata_of(twice, form)["seed"] == 7
    assert len(twice) <= len(once)


@pytest.mark.parametrize("form", FORMS)
def test_an_image_cut_short_is_not_whole(form: str) -> None:
    data = picture(form)
    check_whole(data, form)
    for end in (12, len(data) // 2, len(data) - 3):
        with pytest.raises(NotWhole):
            check_whole(data[:end], form)


@pytest.mark.parametrize("form", FORMS)
def test_a_page_of_the_web_is_no_image(form: str) -> None:
    with pytest.raises(NotWhole):
        check_whole(b"<!doctype html><title>502</title>", form)


def shown(data: bytes) -> Image.Image:
    """An image turned as its camera says."""
    return ImageOps.exif_transpose(Image.open(io.BytesIO(data)))


def test_an_image_keeps_the_way_its_camera_was_held() -> None:
    before = reported("k25-orient-6.jpg")
    after = with_metadata(before, "jpeg", FACTS)
    assert Image.open(io.BytesIO(after)).getexif()[0x0112] == 6
    assert shown(after).size == shown(before).size
    assert shown(after).tobytes() == shown(before).tobytes()
    size = image_size(after)
    assert ((size.width(), size.height()), checked_size(after)) == (shown(before).size, shown(before).size)
    assert metadata_of(after, "jpeg") == FACTS


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["jpeg", "webp"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_every_orientation_is_kept_in_either_byte_order(orientation: int, form: str, order: str) -> None:
    exif = Image.Exif()
    exif.endian = order
    exif[0x0112] = orientation
    exif[0x010F] = "Maker"
    before = picture(form, exif=exif.tobytes())
    after = with_metadata(with_metadata(before, form, FACTS), form, FACTS)
    assert Image.open(io.BytesIO(after)).getexif().get(0x0112, 1) == orientation
    assert shown(after).tobytes() == shown(before).tobytes()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", FORMS)
def test_every_orientation_is_shown_upright(orientation: int, form: str) -> None:
    corner = Image.new("RGB", (96, 64), "white")
    corner.paste("black", (0, 0, 40, 20))
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = io.BytesIO()
    corner.save(file, form, exif=exif.tobytes())
    upright, size = shown(file.getvalue()).convert("L"), image_size(file.getvalue())
    assert ((size.width(), size.height()), checked_size(file.getvalue())) == (upright.size, upright.size)
    for image in (decoded(file.getvalue()), fitted(file.getvalue(), 48, 48)):
        scale = upright.width / image.width()
        for x, y in ((4, 4), (-4, 4), (4, -4), (-4, -4)):
            left, top = x % image.width(), y % image.height()
            expected = upright.getpixel((round(left * scale), round(top * scale)))
            assert abs(image.pixelColor(left, top).red() - expected) < 20


def test_a_jpeg_may_have_more_behind_its_end() -> None:
    check_whole(reported("k25-trailing.jpg"), "jpeg")
    data = picture("jpeg", progressive=True)
    check_whole(data + b"\x00\x01more" * 50, "jpeg")
    with_thumbnail = with_metadata(data, "jpeg", FACTS)
    block = b"\xff\xe1\x00\x08\xff\xd8\xff\xd9\x00\x00"  # an end mark that is not the image's own
    cut = with_thumbnail[:2] + block + with_thumbnail[2:-40]
    with pytest.raises(NotWhole):
        check_whole(cut, "jpeg")


def test_a_very_long_prompt_is_cut_rather_than_the_file_broken() -> None:
    after = with_metadata(picture("jpeg"), "jpeg", {"prompt": "ß" * 60_000, "model": "canvas"})
    assert metadata_of(after, "jpeg")["model"] == "canvas"


@given(st.binary(max_size=400), st.sampled_from(FORMS), st.booleans())
def test_no_bytes_can_make_it_stumble(noise: bytes, form: str, begins_well: bool) -> None:
    data = picture(form)[:40] + noise if begins_well else noise
    assert isinstance(metadata_of(data, form), dict)
    for work in (lambda: check_whole(data, form), lambda: with_metadata(data, form, FACTS)):
        try:
            work()
        except NotWhole:
            continue
