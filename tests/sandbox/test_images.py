"""The image endpoints: real images, the policy headers, and what is refused."""

import base64
import io
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from app.sandbox import installed_engines
from tests.sandbox.support import Client

MAGIC = {"png": b"\x89PNG", "jpeg": b"\xff\xd8\xff", "webp": b"RIFF"}


def generate(sandbox: Client, prompt: str = "a boat at sunset", **more: Any) -> httpx.Response:
    body = {"model": "rialto-canvas", "prompt": prompt, "width": 256, "height": 256, **more}
    return sandbox.post("/image/generate", body)


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def first(answer: httpx.Response) -> bytes:
    assert answer.status_code == 200, answer.text
    return base64.b64decode(answer.json()["images"][0], validate=True)


def picture(width: int = 320, height: int = 256, kind: str = "PNG", color: str = "white") -> bytes:
    canvas = Image.new("RGB", (width, height), color)
    canvas.paste((200, 30, 30), (width // 3, height // 3, 2 * width // 3, 2 * height // 3))
    buffer = io.BytesIO()
    canvas.save(buffer, kind)
    return buffer.getvalue()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize("name", MAGIC)
def test_R_GEN_07_R_EP_15_images_are_real_in_every_format(sandbox: Client, name: str) -> None:
    data = first(generate(sandbox, format=name, width=640, height=384))
    assert data.startswith(MAGIC[name])
    seen = opened(data)
    assert (seen.size, str(seen.format).lower()) == ((640, 384), name)
    binary = generate(sandbox, format=name, return_binary=True)
    assert binary.headers["content-type"] == f"image/{name}" and binary.content.startswith(MAGIC[name])


def test_R_NS_03_webp_is_what_comes_when_nothing_is_said(sandbox: Client) -> None:
    body = generate(sandbox).json()
    assert set(body) == {"id", "images", "timing", "request"}
    assert set(body["timing"]) == {
        "inferenceDuration", "inferencePreprocessingTime", "inferenceQueueTime", "total"
    }  # fmt: skip
    assert base64.b64decode(body["images"][0]).startswith(b"RIFF")


def test_equal_seeds_give_equal_images_and_other_words_another_one(sandbox: Client) -> None:
    one, same = (first(generate(sandbox, seed=7, format="png")) for _ in range(2))
    assert one == same
    assert first(generate(sandbox, seed=8, format="png")) != one
    assert first(generate(sandbox, "a tower at night", seed=7, format="png")) != one
    assert first(generate(sandbox, seed=7, format="png", style_preset="Line Art")) != one


def test_the_prompt_shows_night_is_dark_and_snow_is_bright(sandbox: Client) -> None:
    def brightness(prompt: str) -> float:
        return float(np.asarray(opened(first(generate(sandbox, prompt, seed=1))).convert("L")).mean())

    assert brightness("hills at night") < 90 < 170 < brightness("hills in the snow")


def test_variants_are_different_images_and_each_is_paid(sandbox: Client) -> None:
    images = generate(sandbox, variants=3, seed=1).json()["images"]
    assert len(set(images)) == 3 and sandbox.balance() == "99.97"
    answer = generate(sandbox, variants=2, return_binary=True)
    assert answer.status_code == 400 and "variants" in answer.json()["details"]


@pytest.mark.parametrize(
    ("rule", "word", "header"),
    [
        ("R-HDR-23", "sandbox-blurred", "is-blurred"),
        ("R-HDR-24", "sandbox-violation", "is-content-violation"),
        ("R-HDR-25", "sandbox-adult-violation", "is-adult-model-content-violation"),
        ("R-HDR-26", "sandbox-minor", "contains-minor"),
    ],
)
def test_R_HDR_23_R_HDR_24_R_HDR_25_R_HDR_26_magic_words_set_the_policy_headers(
    sandbox: Client, rule: str, word: str, header: str
) -> None:
    answer = generate(sandbox, f"a boat {word}", seed=1, format="png")
    assert answer.headers[f"x-service-{header}"] == "true", rule
    black = np.asarray(opened(first(answer))).max() == 0
    assert black == (word != "sandbox-blurred")


def test_R_HDR_02_the_verdicts_of_a_harmless_image_are_the_word_false(sandbox: Client) -> None:
    headers = generate(sandbox).headers
    assert headers["x-service-is-blurred"] == headers["x-service-is-content-violation"] == "false"
    assert generate(sandbox, "sandbox-blurred", safe_mode=False).headers["x-service-is-blurred"] == "false"


def test_a_blurred_image_has_no_sharp_edges(sandbox: Client) -> None:
    def steps(prompt: str) -> float:
        pixels = np.asarray(opened(first(generate(sandbox, prompt, seed=1, format="png"))).convert("L")).astype(int)
        return float(np.abs(np.diff(pixels, axis=1)).max())

    assert steps("a city sandbox-blurred") < 20 < steps("a city sandbox-clear")


def test_all_wrong_fields_stand_in_one_tree(sandbox: Client) -> None:
    answer = sandbox.post(
        "/image/generate",
        {"prompt": "", "width": 1281, "height": 1001, "format": "gif", "variants": 5, "cfg_scale": 21, "seed": 10**9,
         "style_preset": "Oil", "steps": 99, "lora_strength": 101},
    )  # fmt: skip
    assert answer.status_code == 400
    assert set(answer.json()["details"]) == {
        "_errors", "model", "prompt", "width", "format", "variants", "cfg_scale", "seed", "style_preset", "steps",
        "lora_strength",
    }  # fmt: skip
    assert "height" in generate(sandbox, height=1001).json()["details"]
    assert generate(sandbox, model="no-such-model").status_code == 404


@pytest.mark.parametrize(
    ("ratio", "tier", "size", "usd"), [("16:9", "1K", (1368, 768), "0.03"), ("1:1", "2K", (2048, 2048), "0.04")]
)
def test_a_model_with_ratios_and_tiers(sandbox: Client, ratio: str, tier: str, size: tuple[int, int], usd: str) -> None:
    sandbox.control("/balance", {"usd": usd})
    answer = generate(sandbox, model="rialto-poster", aspect_ratio=ratio, resolution=tier, width=None, height=None)
    assert opened(first(answer)).size == size
    assert float(sandbox.balance()) == 0
    wrong = generate(sandbox, model="rialto-poster", aspect_ratio="9:1", resolution="8K")
    assert {"aspect_ratio", "resolution"} <= set(wrong.json()["details"])


def test_an_enhanced_prompt_comes_back_encoded(sandbox: Client) -> None:
    assert "%20" in generate(sandbox, enhance_prompt=True).headers["x-service-enhanced-prompt"]


def test_the_openai_form(sandbox: Client) -> None:
    body = sandbox.post("/images/generations", {"prompt": "a field", "size": "256x256"}).json()
    assert opened(base64.b64decode(body["data"][0]["b64_json"])).format == "PNG"
    answer = sandbox.post(
        "/images/generations",
        {
            "prompt": "a field",
            "model": "dall-e-3",
            "size": "512x512",
            "response_format": "url",
            "output_format": "jpeg",
        },
    )
    assert answer.headers["x-service-model-id"] == "rialto-canvas"
    url = answer.json()["data"][0]["url"]
    assert url.startswith("data:image/jpeg;base64,")
    assert opened(base64.b64decode(url.partition(",")[2])).size == (512, 512)
    wrong = sandbox.post("/images/generations", {"n": 2, "size": "1x1", "moderation": "none"})
    assert set(wrong.json()["details"]) == {"_errors", "prompt", "n", "size", "moderation"}


def test_styles_need_no_credential(sandbox: Client, bare: httpx.Client) -> None:
    body = bare.get(f"{sandbox.running.base_url}/image/styles").json()
    assert body["object"] == "list" and "Line Art" in body["data"]
    for style in ("Comic Book", "Pixel Art", "Analog Film", "Watercolor", "Neon Punk"):
        assert generate(sandbox, style_preset=style).status_code == 200


def test_an_edit_takes_base64_data_urls_and_files(sandbox: Client) -> None:
    data = picture()
    plain = sandbox.post("/image/edit", {"image": b64(data), "prompt": "make it black and white"})
    assert plain.headers["content-type"] == "image/png"
    assert float(sandbox.balance()) == 99.96
    pixels = np.asarray(opened(plain.content).convert("RGB"))[:600]
    assert np.abs(pixels[..., 0].astype(int) - pixels[..., 2]).max() < 4
    as_url = sandbox.post(
        "/image/edit", {"image": f"data:image/png;base64,{b64(data)}", "prompt": "mirror, sunset, blur"}
    )
    assert as_url.status_code == 200
    url = f"{sandbox.running.base_url}/image/edit"
    form = sandbox.http.post(
        url, files={"image": ("a.png", data)}, data={"prompt": "winter", "aspect_ratio": "1:1", "resolution": "2K"}
    )
    assert form.headers["content-type"] == "image/jpeg" and opened(form.content).size == (2048, 2048)


def test_a_multi_edit_takes_several_images_under_modelid(sandbox: Client) -> None:
    body = {"images": [b64(picture()), b64(picture(kind="JPEG"))], "prompt": "both", "modelId": "firered-image-edit"}
    assert sandbox.post("/image/multi-edit", body).status_code == 200
    assert float(sandbox.balance()) == 99.95
    url = f"{sandbox.running.base_url}/image/multi-edit"
    files = [("images", ("a.png", picture())), ("images", ("b.png", picture()))]
    assert sandbox.http.post(url, files=files, data={"prompt": "both"}).status_code == 200
    too_many = sandbox.post("/image/multi-edit", {"images": [b64(picture())] * 4, "prompt": "all"})
    assert "at most 3" in too_many.json()["details"]["images"]["_errors"][0]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"prompt": "x"}, "image"),
        ({"image": "%%%", "prompt": "x"}, "image"),
        ({"image": b64(b"nothing"), "prompt": "x"}, "image"),
        ({"image": b64(picture(100, 100)), "prompt": "x"}, "image"),
        ({"image": "https://example.org/a.png", "prompt": "x"}, "image"),
        ({"image": b64(picture()), "prompt": ""}, "prompt"),
        ({"image": 7, "prompt": "x"}, "image"),
    ],
)
def test_edits_that_are_refused(sandbox: Client, body: dict[str, Any], field: str) -> None:
    answer = sandbox.post("/image/edit", body)
    assert answer.status_code == 400 and field in answer.json()["details"]


def test_an_edit_against_the_policy_is_422(sandbox: Client) -> None:
    answer = sandbox.post("/image/edit", {"image": b64(picture()), "prompt": "sandbox-refused"})
    assert (answer.status_code, set(answer.json())) == (422, {"error", "suggested_prompt"})
    large = sandbox.http.post(
        f"{sandbox.running.base_url}/image/edit", files={"image": ("a.png", bytes(26_214_401))}, data={"prompt": "x"}
    )
    assert large.json()["code"] == "PAYLOAD_TOO_LARGE"


def test_upscaling_is_two_or_four_times_up_to_the_limit(sandbox: Client) -> None:
    answer = sandbox.post("/image/upscale", {"image": b64(picture(300, 200))})
    assert opened(answer.content).size == (600, 400) and float(sandbox.balance()) == 99.98
    url = f"{sandbox.running.base_url}/image/upscale"
    form = sandbox.http.post(url, files={"image": ("a.png", picture(300, 200))}, data={"scale": "4", "creativity": "9"})
    assert opened(form.content).size == (1200, 800) and float(sandbox.balance()) == 99.9
    big = sandbox.post("/image/upscale", {"image": b64(picture(3000, 2000)), "scale": 4})
    width, height = opened(big.content).size
    assert width * height <= 16_777_216 and width > 4000
    assert sandbox.post("/image/upscale", {"image": b64(picture()), "scale": 3}).status_code == 400
    odd = sandbox.http.post(url, files={"image": ("a.png", picture())}, data={"scale": "twice"})
    assert odd.status_code == 400


def test_the_background_becomes_transparent(sandbox: Client) -> None:
    answer = sandbox.post("/image/background-remove", {"image": b64(picture())})
    result = opened(answer.content)
    alpha = np.asarray(result.getchannel("A"))
    assert (result.mode, alpha[2, 2], alpha[128, 160]) == ("RGBA", 0, 255)
    assert sandbox.post("/image/background-remove", {}).status_code == 400
    both = {"image": b64(picture()), "image_url": "https://example.org/a.png"}
    assert sandbox.post("/image/background-remove", both).status_code == 400
    assert "opens no addresses" in sandbox.post("/image/background-remove", {"image_url": both["image_url"]}).text


def test_R_LIM_05_images_are_20_a_minute_and_cost_money(sandbox: Client) -> None:
    assert generate(sandbox).headers["x-ratelimit-limit-requests"] == "20"
    sandbox.control("/balance", {"usd": "0"})
    assert generate(sandbox).status_code == 402


def test_without_pillow_the_answer_is_501(sandbox: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    real = installed_engines.find_spec
    monkeypatch.setattr(installed_engines, "find_spec", lambda name: None if name == "PIL" else real(name))
    answer = generate(sandbox)
    assert answer.status_code == 501 and "Pillow" in answer.json()["error"]


@pytest.mark.parametrize(
    ("styles", "where"),
    [
        ([{"image": b64(picture())}] * 3, "style_references"),
        ([{"image": b64(picture()), "strength": 0.05}], "strength"),
        ([{"strength": 0.5}], "image"),
        ([{"image": "A" * 12_000_000}], "8 MB"),
    ],
)
def test_styles_of_other_images_are_checked_one_by_one(
    sandbox: Client, styles: list[dict[str, object]], where: str
) -> None:
    answer = generate(sandbox, model="rialto-poster", style_references=styles)
    assert answer.status_code == 400 and where in answer.text
    good = [{"image": b64(picture()), "strength": 0.1}]
    assert generate(sandbox, model="rialto-poster", style_references=good).status_code == 200
