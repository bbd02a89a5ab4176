"""Video: quote, queue, retrieve, complete, and the private downloads.

Words in a prompt switch the special cases on: `sandbox-refused` (422 when queued), `sandbox-violation` (422 when
retrieved, money back), `sandbox-consent` (409 until consents are sent).
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import secrets
import uuid
from decimal import Decimal

from app.sandbox.charges import charge, find_model, refuse_unpaid
from app.sandbox.http.call import Call, json_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError, Json
from app.sandbox.http.validation import REQUIRED, Checker
from app.sandbox.installed_engines import need
from app.sandbox.media.media_models import MediaModel
from app.sandbox.media.video_jobs import (
    EXECUTION_MS,
    Download,
    VideoJob,
    VideoOrder,
    downloads_of,
    finished_video,
    forget_expired,
    jobs_of,
)
from app.sandbox.media.video_media import TASKS, ReferenceMedia, check_factor, read_media, read_reference_media

ENLARGER = "rialto-reel-upscale"
OMNI_MODEL = "rialto-reel-omni-reference"
PRIVATE_MODEL = "rialto-reel-private"
DETAIL = {"360p": Decimal("1.0"), "480p": Decimal("1.5")}
SILENT_SHARE = Decimal("0.8")  # of the price with sound
MAX_PROMPT_CHARS = 20_000
RANGE = re.compile(r"bytes=(\d{1,15})-")  # from a byte to the end; of anything else the whole video comes


def _checker(call: Call) -> Checker:
    return Checker(flat_list=call.names.issues_in_errors)


def _model(call: Call, check: Checker, body: Json) -> MediaModel | None:
    """Return the model, or None with a complaint when none is named. Raises `HttpError` 404 for an unknown one."""
    name = check.text(("model",), body.get("model"))
    if body.get("model") is None:
        check.complain(("model",), REQUIRED)
    return None if name is None else find_model(call, name, "video")


def _shape(check: Checker, body: Json, model: MediaModel | None) -> tuple[int, str, str, bool]:
    """Return duration in seconds, aspect ratio, resolution and whether there is sound; complaints are noted."""
    constraints: Json = model.facts["constraints"] if model else {}
    durations = constraints.get("durations", ())
    duration = body.get("duration")
    if duration is None:
        check.complain(("duration",), REQUIRED)
    elif model is not None:
        duration = check.choice(("duration",), duration, durations)
    chosen = []
    for name, plural in (("aspect_ratio", "aspect_ratios"), ("resolution", "resolutions")):
        allowed = constraints.get(plural, ())
        value = check.choice((name,), body.get(name), allowed) if allowed else None
        chosen.append(value or (allowed[0] if allowed else "16:9"))
    sound = check.boolean(("audio",), body.get("audio"))
    number = str(duration).removesuffix("s")
    seconds = int(number) if duration in durations and number.isdecimal() else 0
    return seconds, str(chosen[0]), str(chosen[1]), sound is not False


def _price(model: MediaModel, seconds: int, resolution: str, sound: bool) -> Decimal:
    """Of a video that is made; of one that is enlarged, see `_enlarged_price`."""
    return model.price_usd * seconds * DETAIL[resolution] * (1 if sound else SILENT_SHARE)


async def quote(call: Call) -> Response:
    body = call.json_object()
    check = _checker(call)
    model = _model(call, check, body)
    seconds, _, resolution, sound = _shape(check, body, model)
    check.number(("reference_video_total_duration",), body.get("reference_video_total_duration"), 0)
    enlarges = model is not None and model.id == ENLARGER
    factor = check_factor(check, body.get("upscale_factor"), enlarges=enlarges)
    video = read_media(check, ("video_url",), body.get("video_url"), required=enlarges)
    check.finish()
    assert model is not None
    if enlarges and video is not None:
        seconds, _ = await _measured(call, video, factor)
        return json_answer({"quote": _enlarged_price(model, seconds, factor)})
    return json_answer({"quote": _price(model, seconds, resolution, sound)})


def _enlarged_price(model: MediaModel, seconds: int, factor: int) -> Decimal:
    return model.price_usd * seconds * factor**2


async def _measured(call: Call, video: bytes, factor: int) -> tuple[int, tuple[int, int]]:
    """Return the length in seconds, rounded up, and the size in pixels of what comes out. Raises `HttpError` 400."""
    need("video")
    from app.sandbox.media.video_enlarging import MAX_SECONDS, MAX_SIDE, NotAVideo, facts_of

    check = _checker(call)
    try:
        facts = await asyncio.to_thread(facts_of, video)
    except NotAVideo as error:
        check.complain(("video_url",), f"The video cannot be used: {error}")
        check.finish()
        raise  # not reached: `finish` refuses
    if facts.seconds > MAX_SECONDS:
        check.complain(("video_url",), f"The video is {facts.seconds:.0f} s long; up to {MAX_SECONDS:.0f} s are taken")
    if max(facts.width, facts.height) * factor > MAX_SIDE:
        check.complain(("upscale_factor",), f"The result would be wider or higher than {MAX_SIDE} pixels")
    check.finish()
    return max(1, math.ceil(facts.seconds - 0.01)), (facts.width * factor, facts.height * factor)


async def queue(call: Call) -> Response:
    body = call.json_object()
    check = _checker(call)
    model = _model(call, check, body)
    seconds, ratio, resolution, sound = _shape(check, body, model)
    constraints: Json = model.facts["constraints"] if model else {}
    longest = int(constraints.get("prompt_character_limit", MAX_PROMPT_CHARS))
    prompt = check.text(("prompt",), body.get("prompt"), longest=longest)
    enlarges = model is not None and model.id == ENLARGER
    if not body.get("prompt") and not enlarges:
        check.complain(("prompt",), REQUIRED)
    check.text(("negative_prompt",), body.get("negative_prompt"), longest=longest)
    wants_image = constraints.get("model_type") == "image-to-video"
    is_omni = model is not None and model.id == OMNI_MODEL
    video = read_media(check, ("video_url",), body.get("video_url"), required=enlarges)
    factor = check_factor(check, body.get("upscale_factor"), enlarges=enlarges)
    along = read_reference_media(check, body, seconds, needs_image=wants_image and not is_omni)
    if body.get("omni_reference_task_type") is not None and not is_omni:
        check.complain(("omni_reference_task_type",), "Only models that work from references take this")
    check.choice(("omni_reference_task_type",), body.get("omni_reference_task_type"), TASKS)
    if is_omni and not along:
        check.complain(("reference_image_urls",), "This model works from references: send one")
    check.finish()
    assert model is not None
    need("video")
    await asyncio.to_thread(_check_shown, call, along)
    _check_policy(prompt or "", body)
    refuse_unpaid(call)
    if enlarges and video is not None:
        seconds, size = await _measured(call, video, factor)
        price = _enlarged_price(model, seconds, factor)
    else:
        size, price = _pixels(ratio, resolution), _price(model, seconds, resolution, sound)
    order = VideoOrder(
        model.id,
        prompt or "",
        seconds,
        size,
        sound,
        along,
        model.id == PRIVATE_MODEL,
        video if enlarges else None,
        factor,
    )
    cost = charge(call, f"{model.id}-seconds", seconds, price / seconds)
    job = VideoJob(str(uuid.UUID(int=call.world.dice.getrandbits(128), version=4)), order, call.world.clock.now(), cost)
    if "sandbox-violation" in order.prompt:
        job.outcome = "refused"
    forget_expired(call.world, call.caller)
    jobs_of(call.world, call.caller)[job.id] = job
    answer: Json = {"model": model.id, "queue_id": job.id}
    if order.private:
        token = secrets.token_urlsafe(24)
        downloads_of(call.world)[token] = Download(job)
        answer["download_url"] = f"{call.site.origin}/downloads/{token}"
    return json_answer(answer)


def _check_shown(call: Call, along: ReferenceMedia) -> None:
    """Everything that the video is to show can be opened. Raises `HttpError` 400."""
    from app.sandbox.media.image_engine import NotAnImage, decode
    from app.sandbox.media.video_engine import beginning

    check = _checker(call)
    try:
        for image in (*along.pictures, *(data for _, data in along.keyframes)):
            decode(image)
    except NotAnImage as error:
        check.complain(("image_url",), f"The picture cannot be read: {error}")
    try:
        for video in along.films:
            beginning(video)
    except NotAnImage as error:
        check.complain(("reference_video_urls",), f"The video cannot be used: {error}")
    check.finish()


def _check_policy(prompt: str, body: Json) -> None:
    if "sandbox-refused" in prompt:
        text = "The content is not accepted by the content policy"
        raise HttpError(422, {"error": text, "suggested_prompt": "A harbor at dawn, seen from the pilot's boat"})
    if "sandbox-consent" in prompt and not body.get("consents"):
        raise HttpError(
            409,
            {
                "error": {"code": "needs_consent", "message": "A face in the media needs the consent of its owner"},
                "consent_flow": "face_media",
                "face_media_roles": ["image_url"],
                "consent": {"consent_version": "1", "policy_text": "I may use the faces in this media."},
                "docs_url": "https://example.org/consent",
            },
        )


def _pixels(ratio: str, resolution: str) -> tuple[int, int]:
    """Return the frame's width and height: the shorter side is what the resolution says."""
    short = int(resolution.removesuffix("p"))
    wide, high = (int(part) for part in ratio.split(":"))
    long = round(short * max(wide, high) / min(wide, high) / 2) * 2
    return (long, short) if wide >= high else (short, long)


def _named_job(call: Call, body: Json, *, flag: str = "") -> tuple[str, VideoJob | None]:
    """Return the queue id and its job, if there is one. Raises `HttpError` 400."""
    check = _checker(call)
    values = {}
    for name in ("model", "queue_id"):
        values[name] = check.text((name,), body.get(name)) or ""
        if body.get(name) is None:
            check.complain((name,), REQUIRED)
    if values["queue_id"] and not _is_uuid(values["queue_id"]):
        check.complain(("queue_id",), "Invalid uuid")
    if flag:
        check.boolean((flag,), body.get(flag))
    check.finish()
    call.model = values["model"]
    queue_id = str(uuid.UUID(values["queue_id"])) if values["queue_id"] else ""
    job = jobs_of(call.world, call.caller).get(queue_id)
    if job is not None and (job.order.model != values["model"] or job.expired(call.world.clock.now())):
        job = None
    return queue_id, job


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


async def retrieve(call: Call) -> Response:
    body = call.json_object()
    queue_id, job = _named_job(call, body, flag="delete_media_on_completion")
    if job is None:
        raise HttpError(404, "There is no such video, or it is gone")
    now = call.world.clock.now()
    if not job.done(now):
        return json_answer(_status("PROCESSING", job, now))
    if job.outcome == "refused":
        raise _stopped(call, job)
    need("video")
    if job.order.private:
        answer = json_answer(_status("COMPLETED", job, now))
    else:
        answer = _video_answer(call, await finished_video(call.world, job))
    if body.get("delete_media_on_completion"):
        jobs_of(call.world, call.caller).pop(queue_id, None)
    return answer


def _status(status: str, job: VideoJob, now: float) -> Json:
    elapsed = job.elapsed_ms(now)
    return {"status": status, "average_execution_time": EXECUTION_MS, "execution_duration": elapsed}


def _stopped(call: Call, job: VideoJob) -> HttpError:
    """E11. The money goes back once."""
    if not job.refunded:
        job.refunded = True
        jobs_of(call.world, call.caller)[job.id] = job
        charge(call, f"{job.order.model}-refund", 1, -job.cost_usd)
    text = "The provider's content policy stopped this video"
    error = {"message": text, "type": "provider_content_policy", "credits_refunded": True}
    return HttpError(422, {"error": error})


def _video_answer(call: Call, video: bytes, *, takes_ranges: bool = False) -> Response:
    """The armed fault `cut` ends the connection after `after` bytes of what would have come.

    With `kind` "length" the answer is as long as it says: half a video that claims to be whole.
    """
    headers = {"Content-Type": "video/mp4", "Content-Disposition": 'attachment; filename="video.mp4"'}
    status = 200
    if takes_ranges:
        headers |= {"Accept-Ranges": "bytes", "ETag": f'"{hashlib.sha256(video).hexdigest()[:32]}"'}
        wanted = RANGE.fullmatch(call.request.headers.get("range", ""))
        if wanted is not None and call.request.headers.get("if-range", headers["ETag"]) == headers["ETag"]:
            start = int(wanted[1])
            if start >= len(video):
                raise HttpError(416, "There is no such part of this film", {"Content-Range": f"bytes */{len(video)}"})
            headers["Content-Range"] = f"bytes {start}-{len(video) - 1}/{len(video)}"
            video, status = video[start:], 206
    cut = call.world.faults.take_fault("cut", call.request.path)
    if cut is not None:
        claims_whole = cut.get("kind") == "length"
        announced = None if claims_whole else len(video)
        return Response(status, headers, video[: int(cut.get("after", 1000))], announced_length=announced)
    return Response(status, headers, video)


async def complete(call: Call) -> Response:
    """Remove a finished video. Unknown ones, and those still being made, are not removed: success false."""
    queue_id, job = _named_job(call, call.json_object())
    removed = job is not None and job.done(call.world.clock.now())
    if removed:
        del jobs_of(call.world, call.caller)[queue_id]
    return json_answer({"success": removed})


async def download(call: Call) -> Response:
    """A pre-signed address: GET until it is revoked by DELETE or a day has passed, 410 from then on; no key."""
    found = downloads_of(call.world).get(call.path_values["token"])
    if found is None:
        raise HttpError(404, "There is no such download")
    now = call.world.clock.now()
    if found.revoked or found.job.expired(now):
        raise HttpError(410, "This download is gone")
    if call.request.method == "DELETE":
        found.revoked = True
        downloads_of(call.world)[call.path_values["token"]] = found
        return Response(204)
    if not found.job.done(now) or found.job.outcome != "film":
        raise HttpError(404, "This download is not there yet")
    need("video")
    return _video_answer(call, await finished_video(call.world, found.job), takes_ranges=True)
