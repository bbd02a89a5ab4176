"""Videos: quoted, queued, fetched to disk when they are made, cleaned up afterwards.

Asking whether a finished video is ready is already its download, so `retrieve` always has a place to put it. The
service is never told to delete on completion: a download that breaks off would lose the video (R-VID-03).
Source: service specification, video (R-VID-*).
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from pydantic import Field

from app.media_types import HEAD_BYTES, looks_like_text, sniff, sniff_file
from app.service.amounts import charge, number, seconds
from app.service.calls import Call, JsonContent, limit
from app.service.client import OnWait, ServiceClient, ServiceResponse
from app.service.errors import BadResponse
from app.service.exchange import Exchange
from app.service.http.bodies import MAX_JSON_BYTES, MIB
from app.service.http.downloads import OnReceived, Part, drop_part, mark_of, read_part, rest_of, save
from app.service.http.json_text import read_json
from app.service.http.time_limits import VIDEO_FETCH_S, VIDEO_QUEUE_S
from app.service.response_info import ResponseInfo
from app.service.retry import CallKind
from app.service.wire import WireModel, read_model
from app.translation import tr

MAX_PROMPT_CHARS = 20_000
DEFAULT_PROMPT_CHARS = 2500  # of models that do not name their own limit
MAX_VIDEO_BYTES = 4096 * MIB
RETRIEVE_PER_MINUTE = 110  # of 120, so that a look at a job by hand still fits
POLL_S = 5.0
PARTIAL, RANGE_REFUSED = 206, 416

_PROCESSING = frozenset({"processing", "pending", "queued", "in_progress", "in_queue", "running"})
_FAILED = frozenset({"failed", "error", "cancelled", "canceled"})


@dataclass(frozen=True, slots=True)
class VideoRequest:
    """One video to make. What a model takes stands in its constraints; None and empty are not sent.

    `extra` holds what only some models know (`elements`, `keyframes`, `consents`, …), by wire name.
    """

    model: str
    prompt: str
    duration: str  # "5s"; one of the model's
    negative_prompt: str | None = None
    aspect_ratio: str | None = None
    resolution: str | None = None
    audio: bool | None = None
    upscale_factor: int | None = None  # of models that enlarge a video
    omni_reference_task_type: str | None = None  # what references are for, where a model asks
    image_url: str | None = None  # a data URL or a web address, as all of these
    end_image_url: str | None = None
    audio_url: str | None = None
    video_url: str | None = None
    reference_image_urls: tuple[str, ...] = ()
    prompt_limit: int = DEFAULT_PROMPT_CHARS
    extra: Mapping[str, object] = field(default_factory=dict)

    def to_body(self) -> dict[str, object]:
        """Raises `LimitExceeded`."""
        limit(bool(self.model.strip()), "model", "1", tr("Choose a model."))
        limit(bool(self.duration), "duration", "1", tr("Choose a duration."))
        allowed = min(self.prompt_limit, MAX_PROMPT_CHARS)
        for name, text in (("prompt", self.prompt), ("negative_prompt", self.negative_prompt or "")):
            limit(
                len(text) <= allowed,
                name,
                str(allowed),
                tr("Up to {allowed} characters. This text has {count}.", allowed=allowed, count=len(text)),
            )
        limit(
            self.upscale_factor in (None, 1, 2, 4),
            "upscale_factor",
            "1, 2, 4",
            tr("Videos can be upscaled 1×, 2× or 4×."),
        )
        body = self.pricing_body()
        for name, value in (
            ("prompt", self.prompt or None),
            ("negative_prompt", self.negative_prompt),
            ("image_url", self.image_url),
            ("end_image_url", self.end_image_url),
            ("audio_url", self.audio_url),
            ("video_url", self.video_url),
            ("reference_image_urls", list(self.reference_image_urls) or None),
            ("omni_reference_task_type", self.omni_reference_task_type),
        ):
            if value is not None:
                body[name] = value
        return {**body, **self.extra}

    def pricing_body(self) -> dict[str, object]:
        """What a price depends on; what enlarging costs, on the video itself."""
        body: dict[str, object] = {"model": self.model, "duration": self.duration}
        for name in ("aspect_ratio", "resolution", "upscale_factor", "audio"):
            value = getattr(self, name)
            if value is not None:
                body[name] = value
        if self.upscale_factor is not None and self.video_url is not None:
            body["video_url"] = self.video_url
        return body


class QueuedVideo(WireModel):
    """A job. Keep all of it before showing success: `download_url` is told only once."""

    model: str = ""
    queue_id: str = Field(min_length=1)
    download_url: str | None = None


@dataclass(frozen=True, slots=True)
class VideoState:
    """What became of a job so far. `state`: "processing", "completed" (fetch the download address), "failed", or
    "other", where `told` is the service's own word. Times in seconds."""

    state: str
    told: str
    average_s: float | None
    elapsed_s: float | None
    rests_s: float | None = None  # no question is left of this minute: how long until there are again

    @property
    def remaining_s(self) -> float | None:
        """What is probably left; four jobs of five take no longer than the average that the service tells."""
        if self.average_s is None or self.elapsed_s is None:
            return None
        return max(0.0, self.average_s - self.elapsed_s)


@dataclass(frozen=True, slots=True)
class SavedVideo:
    """A video on the disk."""

    path: Path
    size_bytes: int
    kind: str  # "mp4", "mov", "webm"


@dataclass(frozen=True, slots=True)
class QueueReceipt:
    job: QueuedVideo
    exchange: Exchange


class _NotGoingOn(Exception):
    """The rest of a file cannot be had: it has to be fetched from its beginning."""


class VideoResource:
    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def quote(self, request: VideoRequest, *, reference_videos_s: float | None = None) -> Decimal | None:
        """Return the price in USD, or None when the service does not tell. Not a promise: prices can change.

        `reference_videos_s`: the length of all reference videos together, in seconds, on which a price can depend.
        """
        body = request.pricing_body()
        if reference_videos_s:
            body["reference_video_total_duration"] = round(reference_videos_s, 3)
        call = Call("POST", "/video/quote", CallKind.IDEMPOTENT, "video", content=JsonContent(body))
        async with self._client.fetch(call) as answer:
            content = answer.json()
        return charge(content.get("quote")) if isinstance(content, Mapping) else None

    async def queue(
        self, request: VideoRequest, *, quoted_usd: Decimal | None = None, on_wait: OnWait | None = None
    ) -> QueueReceipt:
        """Put a video into the queue. Raises `Conflict` where consent is needed first, and other `ServiceError`s.

        After a lost connection the job may exist and be charged; nothing is queued a second time by itself.
        """
        call = Call(
            "POST",
            "/video/queue",
            CallKind.QUEUE,
            "video",
            content=JsonContent(request.to_body()),
            answer_s=VIDEO_QUEUE_S,
            model=request.model,
            pace="video_queue",
            expected_usd=quoted_usd,
        )
        record = self._client.record(call)
        async with self._client.fetch(call, record=record, on_wait=on_wait) as answer:
            job = read_model(QueuedVideo, answer.json())
            record.report(units={"films": 1})
        job = job if job.model else job.model_copy(update={"model": request.model})
        return QueueReceipt(job, record.exchange)

    async def retrieve(
        self,
        job: QueuedVideo,
        path: Path,
        *,
        on_received: OnReceived | None = None,
        background: bool = True,
        paid_usd: Decimal | None = None,
        paid_by: str = "",
    ) -> VideoState | SavedVideo:
        """Ask for a job; a finished video lands at `path`. Raises `NotFound` when it is gone, `ContentRefused`, …

        `paid_usd`: what its queueing cost, which a refusal may give back, and `paid_by` the id of that call.
        """
        body = {"model": job.model, "queue_id": job.queue_id, "delete_media_on_completion": False}
        call = Call(
            "POST",
            "/video/retrieve",
            CallKind.IDEMPOTENT,
            "video",
            content=JsonContent(body),
            accept="application/json, video/*",
            max_bytes=MAX_VIDEO_BYTES,
            answer_s=VIDEO_FETCH_S,
            background=background,
            model=job.model,
            pace="video_retrieve",
            refund_usd=paid_usd,
            refund_of=paid_by,
            paces_itself=True,
        )
        async with self._client.open(call) as answer, aclosing(answer.pieces()) as pieces:
            head, rest = await _opened(pieces)
            if looks_like_text(head):
                return _state_of(await _text(head, pieces), answer)
            return await _film(head, rest, path, answer, on_received)

    async def download(self, job: QueuedVideo, path: Path, *, on_received: OnReceived | None = None) -> SavedVideo:
        """Fetch a finished video from the address its queue answer named. No credentials go there.

        What broke off before is gone on with where the address takes ranges and still has the same video.
        """
        part = await asyncio.to_thread(read_part, path)
        try:
            return await self._download(job, path, part, on_received)
        except _NotGoingOn:
            await asyncio.to_thread(drop_part, path)
            return await self._download(job, path, Part(), on_received)

    async def _download(self, job: QueuedVideo, path: Path, part: Part, on_received: OnReceived | None) -> SavedVideo:
        """Raises `_NotGoingOn` for an answer to a range that does not fit the part."""
        call = replace(
            self._foreign("GET", job),
            headers=(("Accept-Encoding", "identity"), *part.headers()),
            expected=(RANGE_REFUSED,) if part.size_bytes else (),
        )
        async with self._client.open(call) as answer, aclosing(answer.pieces()) as pieces:
            told = answer.info.headers
            if answer.info.status not in (PARTIAL, RANGE_REFUSED):
                head, rest = await _opened(pieces)
                return await _film(head, rest, path, answer, on_received, mark=mark_of(told))
            total = rest_of(told, part) if answer.info.status == PARTIAL else None
            if total is None:
                raise _NotGoingOn
            size = await save(pieces, path, total=total, on_received=on_received, mark=part.mark, after=part.size_bytes)
            kind = await asyncio.to_thread(_kind_of, path)
            return SavedVideo(path, size, kind)

    async def revoke(self, job: QueuedVideo) -> None:
        """Make the download address useless, for whoever else may know it."""
        async with self._client.open(self._foreign("DELETE", job)) as answer:
            answer.complete = True

    async def complete(self, job: QueuedVideo) -> bool:
        """Delete the video at the service, after it is safely on the disk (R-VID-02). False: it was not removed."""
        body = {"model": job.model, "queue_id": job.queue_id}
        call = Call("POST", "/video/complete", CallKind.IDEMPOTENT, "video", content=JsonContent(body), model=job.model)
        async with self._client.fetch(call) as answer:
            content = answer.json()
            if not isinstance(content, Mapping) or not isinstance(content.get("success"), bool):
                raise BadResponse(tr("The service did not say whether the video was removed."), info=answer.info)
            return bool(content["success"])

    def _foreign(self, method: str, job: QueuedVideo) -> Call:
        address = job.download_url or ""
        plain = address.startswith("http://") and self._client.base_url.startswith("http://")
        limit(
            address.startswith("https://") or plain,
            "download_url",
            "https://",
            tr("There is no secure address to download the video from."),
        )
        return Call(
            method,
            address,
            CallKind.READ if method == "GET" else CallKind.IDEMPOTENT,
            "video",
            accept="*/*",
            authenticated=False,
            max_bytes=MAX_VIDEO_BYTES,
            answer_s=VIDEO_FETCH_S,
            model=job.model,
            paces_itself=True,
        )


def poll_interval_s(jobs: int) -> float:
    """How often each of `jobs` unfinished videos may be asked for, so that all together stay below the limit."""
    return max(POLL_S, math.ceil(jobs * 60 / RETRIEVE_PER_MINUTE))


async def _opened(pieces: AsyncIterator[bytes]) -> tuple[bytes, AsyncGenerator[bytes, None]]:
    """The beginning of a body, and the whole of it."""
    head = b""
    async for piece in pieces:
        head += piece
        if len(head.lstrip()) >= HEAD_BYTES:
            break

    async def whole() -> AsyncGenerator[bytes, None]:
        yield head
        async for piece in pieces:
            yield piece

    return head, whole()


async def _text(head: bytes, pieces: AsyncIterator[bytes]) -> bytes:
    body = bytearray(head)
    async for piece in pieces:
        body += piece
        if len(body) > MAX_JSON_BYTES:
            raise BadResponse(tr("The video’s status is too large."))
    return bytes(body)


async def _film(
    head: bytes,
    rest: AsyncGenerator[bytes, None],
    path: Path,
    answer: ServiceResponse,
    on_received: OnReceived | None,
    *,
    mark: str = "",
) -> SavedVideo:
    kind = sniff(head[:HEAD_BYTES])
    if kind not in ("mp4", "mov", "webm"):
        raise BadResponse(tr("The service’s response is not a video."), info=answer.info)
    async with aclosing(rest):
        size = await save(rest, path, total=answer.info.content_length, on_received=on_received, mark=mark)
    return SavedVideo(path, size, kind)


def _kind_of(path: Path) -> str:
    """What a file is by its beginning; blocks. What it is not said to be, whoever checks the video says."""
    try:
        with path.open("rb") as file:
            return sniff_file(file) or ""
    except OSError:
        return ""


def _state_of(body: bytes, answer: ServiceResponse) -> VideoState:
    try:
        content = read_json(body)
    except BadResponse:
        raise BadResponse(tr("The service’s response is not a video."), info=answer.info) from None
    told = content.get("status") if isinstance(content, Mapping) else None
    if not isinstance(content, Mapping) or not isinstance(told, str):
        raise BadResponse(tr("The service sent no video status."), info=answer.info)
    word = told.strip().lower()
    if word in _PROCESSING:
        state = "processing"
    elif word in _FAILED:
        state = "failed"
    else:
        state = "completed" if word == "completed" else "other"
    return VideoState(
        state,
        told[:80],
        _seconds(content.get("average_execution_time")),
        _seconds(content.get("execution_duration")),
        _rest_s(answer.info),
    )


def _rest_s(info: ResponseInfo) -> float | None:
    """How long the headers of an answer want us to rest: until the next minute, when nothing is left of this one."""
    if info.remaining_requests != 0 or info.reset_requests_at is None:
        return None
    return max(0.0, (info.reset_requests_at - info.received_at).total_seconds())


def _seconds(milliseconds: object) -> float | None:
    told = number(milliseconds)
    length_s = seconds(told / 1000) if told is not None else None
    return float(length_s) if length_s is not None else None
