"""Queued video jobs: the order, when it completes, and its download."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from decimal import Decimal

from app.sandbox.media.video_media import ReferenceMedia
from app.sandbox.world import Caller, PersistentDict, World

EXECUTION_MS = 8_000  # what a video takes on the Sandbox's clock
KEPT_S = 86_400.0  # how long a finished video, and a private download, can be fetched


@dataclass(frozen=True, slots=True)
class VideoOrder:
    """A checked `POST /video/queue`. `size` in pixels, even numbers."""

    model: str
    prompt: str
    duration_s: int
    size: tuple[int, int]
    sound: bool
    along: ReferenceMedia  # what the video shows instead of a drawing
    private: bool  # fetched by `download_url` instead of the retrieve call
    film: bytes | None = None  # what is enlarged, instead of a video that is drawn
    factor: int = 1


@dataclass(slots=True)
class VideoJob:
    """`outcome`: "video", or "refused" when the content policy stops it while it is made."""

    id: str
    order: VideoOrder
    queued_at: float  # Unix seconds of the Sandbox's clock
    cost_usd: Decimal
    outcome: str = "film"
    refunded: bool = False

    def elapsed_ms(self, now: float) -> int:
        return max(0, round((now - self.queued_at) * 1000))

    def done(self, now: float) -> bool:
        return self.elapsed_ms(now) >= EXECUTION_MS

    def expired(self, now: float) -> bool:
        return now - self.queued_at >= KEPT_S


@dataclass(slots=True)
class RenderedVideo:
    """A video that is made when it is first wanted. After a restart it is made again, byte for byte the same."""

    data: bytes | None = None
    making: asyncio.Lock = field(default_factory=asyncio.Lock)


async def finished_video(world: World, job: VideoJob) -> bytes:
    videos: dict[str, RenderedVideo] = world.kept.setdefault("films", {})
    video = videos.setdefault(job.id, RenderedVideo())
    async with video.making:
        if video.data is None:
            video.data = await asyncio.to_thread(_made, job.order)
        return video.data


def _made(order: VideoOrder) -> bytes:
    if order.film is not None:
        from app.sandbox.media.video_enlarging import enlarge

        return enlarge(order.film, order.factor)
    from app.sandbox.media.video_engine import Shown, render_video

    along = order.along
    shown = Shown(along.pictures, along.films, along.keyframes, along.told)
    return render_video(order.prompt, order.duration_s, order.size, sound=order.sound, shown=shown)


@dataclass(slots=True)
class Download:
    """What stands behind a pre-signed address. Once revoked or too old it is gone."""

    job: VideoJob
    revoked: bool = False


def jobs_of(world: World, caller: Caller) -> PersistentDict[VideoJob]:
    return world.table(f"videos {caller.id}", VideoJob)


def downloads_of(world: World) -> PersistentDict[Download]:
    return world.table("downloads", Download)


def forget_expired(world: World, caller: Caller) -> None:
    """Make room: nobody can fetch these any more. That a private download is gone is said for a week."""
    now = world.clock.now()
    jobs, downloads = jobs_of(world, caller), downloads_of(world)
    videos: dict[str, RenderedVideo] = world.kept.setdefault("films", {})
    for queue_id in [queue_id for queue_id, job in jobs.items() if job.expired(now)]:
        del jobs[queue_id]
        videos.pop(queue_id, None)
    for token in [token for token, found in downloads.items() if now - found.job.queued_at >= 7 * KEPT_S]:
        del downloads[token]
