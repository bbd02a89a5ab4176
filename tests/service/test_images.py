"""Images made, changed, enlarged, cut out."""

import base64
from dataclasses import replace
from decimal import Decimal

import httpx
import pytest

from app.service.errors import BadResponse, LimitExceeded
from app.service.images import EditRequest, ImageRequest
from tests.service.loopback import Watched, answering, http, serving
from tests.service.test_uploads import parts_of

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 60
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8 " + b"\x00" * 60
WANTED = ImageRequest("paint-1", "A harbor at dawn.")
ENCODED = base64.b64encode(PNG).decode()


def test_only_what_is_set_is_sent() -> None:
    assert WANTED.to_body() == {"model": "paint-1", "prompt": "A harbor at dawn."}
    assert replace(
        WANTED, width=512, seed=-5, variants=4, safe_mode=False, enhance_prompt=True, extra={"lora_strength": 5}
    ).to_body() == {
        **WANTED.to_body(),
        "width": 512,
        "seed": -5,
        "variants": 4,
        "safe_mode": False,
        "enhance_prompt": True,
        "lora_strength": 5,
    }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"model": " "}, "model"),
        ({"prompt": " "}, "prompt"),
        ({"prompt": "x" * 7501}, "prompt"),
        ({"prompt": "x" * 11, "prompt_limit": 10}, "prompt"),
        ({"width": 1281}, "width"),
        ({"height": 0}, "height"),
        ({"quality": "best"}, "quality"),
        ({"format": "gif"}, "format"),
        ({"variants": 5}, "variants"),
        ({"cfg_scale": 0.0}, "cfg_scale"),
        ({"steps": 0}, "steps"),
        ({"seed": 10**9}, "seed"),
    ],
)
def test_limits_are_refused_before_sending(changes: dict[str, object], field: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        replace(WANTED, **changes).to_body()  # type: ignore[arg-type] # names of real fields
    assert caught.value.field == field


async def test_images_come_as_base64_and_are_what_their_bytes_are() -> None:
    both = {"id": "1", "images": [ENCODED, base64.b64encode(WEBP).decode()]}
    async with Watched(handler=answering(both, x_service_enhanced_prompt="A%20fine%20harbour")) as watched:
        made = await watched.service.images.generate(WANTED, price_usd=Decimal("0.02"))
        assert [(image.kind, image.media_type) for image in made.pictures] == [
            ("png", "image/png"),
            ("webp", "image/webp"),
        ]
        assert (made.pictures[0].data, made.enhanced_prompt) == (PNG, "A fine harbour")
        assert (made.exchange.units, made.exchange.cost_usd) == ({"images": 2}, Decimal("0.02"))


async def test_r_hdr_23_r_hdr_24_r_hdr_25_r_hdr_26_a_blocked_image_says_so() -> None:
    async with Watched(
        handler=answering({"images": [ENCODED]}, x_service_is_content_violation="true", x_service_is_blurred="true")
    ) as watched:
        (image,) = (await watched.service.images.generate(WANTED)).pictures
        assert (image.violation, image.blurred, image.adult_violation, image.contains_minor) == (
            True,
            True,
            False,
            False,
        )


async def test_a_binary_answer_is_one_image() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=WEBP, headers={"content-type": "image/png"})

    async with Watched(handler=answer) as watched:
        (image,) = (await watched.service.images.generate(replace(WANTED, extra={"return_binary": True}))).pictures
        assert image.kind == "webp"


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"images": []},
        {"images": ["!!"]},
        {"images": [5]},
        {"images": [base64.b64encode(b"words").decode()]},
        {"images": [{}]},
    ],
)
async def test_something_else_is_a_bad_answer(body: object) -> None:
    async with Watched(handler=answering(body)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.images.generate(WANTED)
        assert watched.exchange.outcome == "error"
    wav = b"RIFF\x24\x00\x00\x00WAVEfmt " + b"\x00" * 60
    async with Watched(handler=lambda request: httpx.Response(200, content=wav)) as watched:
        with pytest.raises(BadResponse):
            await watched.service.images.generate(WANTED)


async def test_styles_in_both_their_shapes() -> None:
    for body in ({"data": ["3D Model", 5], "object": "list"}, ["3D Model"]):
        async with Watched(handler=answering(body)) as watched:
            assert await watched.service.images.styles() == ("3D Model",)
    async with Watched(handler=answering({"data": {}})) as watched:
        with pytest.raises(BadResponse):
            await watched.service.images.styles()


async def test_one_image_is_edited_and_several_are_joined() -> None:
    answer = http(body=PNG, content_type="image/png")
    request = EditRequest(
        "edit-1",
        "Make it night.",
        (PNG,),
        aspect_ratio="1:1",
        resolution="2K",
        quality="high",
        output_format="png",
        safe_mode=False,
    )
    async with serving(answer) as server, Watched(server.base_url) as watched:
        assert (await watched.service.images.edit(request)).pictures[0].data == PNG
        await watched.service.images.edit(replace(request, pictures=(PNG, WEBP), safe_mode=True))
        one, several = server.received
        assert (one.target, several.target) == ("/api/v1/image/edit", "/api/v1/image/multi-edit")
        names = [head.partition('name="')[2].partition('"')[0] for head, _ in parts_of(one)]
        assert names == ["prompt", "model", "aspect_ratio", "resolution", "output_format", "safe_mode", "image"]
        parts = parts_of(several)
        names = [head.partition('name="')[2].partition('"')[0] for head, _ in parts]
        assert names == [
            "prompt",
            "modelId",
            "aspect_ratio",
            "resolution",
            "output_format",
            "quality",
            "images",
            "images",
        ]
        assert [content for _, content in parts[-2:]] == [PNG, WEBP]


async def test_enlarging_and_cutting_out() -> None:
    answer = http(body=PNG, content_type="image/png")
    async with serving(answer) as server, Watched(server.base_url) as watched:
        await watched.service.images.upscale(PNG, scale=4, creativity=0.01)
        await watched.service.images.upscale(PNG)
        await watched.service.images.remove_background(PNG)
        assert [content for _, content in parts_of(server.received[0])] == [b"4", b"0.01", PNG]
        assert [content for _, content in parts_of(server.received[1])] == [b"2", PNG]
        assert server.received[2].target == "/api/v1/image/background-remove"


async def test_what_cannot_be_changed_is_not_sent() -> None:
    async with Watched(handler=answering({})) as watched:
        images = watched.service.images
        for attempt in (
            images.edit(EditRequest("", "x", (PNG,))),
            images.edit(EditRequest("m", "", (PNG,))),
            images.edit(EditRequest("m", "x", ())),
            images.edit(EditRequest("m", "x", (b"words",))),
            images.edit(EditRequest("m", "x", (PNG + b"\x00" * 25 * 1024 * 1024,))),
            images.upscale(PNG, scale=3),
            images.upscale(PNG, creativity=0.5),
            images.remove_background(b""),
        ):
            with pytest.raises(LimitExceeded):
                await attempt
        assert watched.requests == []
