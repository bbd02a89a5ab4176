"""Films on order: what was asked for, when it is due, and what is left of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from decimal import Decimal

from app.sandbox.video_media import Along
from app.sandbox.world import Caller, World

EXECUTION_MS = 8_000  # what a film takes on the Sandbox's clock
KEPT_S = 86_400.0  # how long a finished film, and a private download, can be fetched


@dataclass(frozen=True, slots=True)
class VideoOrder:
    """A checked `POST /video/queue`. `size` in pixels, even numbers."""

    model: str
    prompt: str
    duration_s: int
    size: tuple[int, int]
    sound: bool
    along: Along  # what the film shows instead of a drawing
    private: bool  # fetched by `download_url` instead of the retrieve call
    film: bytes | None = None  # what is enlarged, instead of a film that is drawn
    factor: int = 1


@dataclass(slots=True)
class VideoJob:
    """`outcome`: "film", or "refused" when the content policy stops it while it is made."""

    order: VideoOrder
    queued_at: float  # Unix seconds of the Sandbox's clock
    cost_usd: Decimal
    outcome: str = "film"
    refunded: bool = False
    film: bytes | None = None
    making: asyncio.Lock = field(default_factory=asyncio.Lock)

    def elapsed_ms(self, now: float) -> int:
        return max(0, round((now - self.queued_at) * 1000))

    def done(self, now: float) -> bool:
        return self.elapsed_ms(now) >= EXECUTION_MS

    def expired(self, now: float) -> bool:
        return now - self.queued_at >= KEPT_S

    async def finished_film(self) -> bytes:
        """Return the film, made when it is first wanted."""
        async with self.making:
            order = self.order
            if self.film is None and order.film is not None:
                from app.sandbox.video_enlarging import enlarge

                self.film = await asyncio.to_thread(enlarge, order.film, order.factor)
            if self.film is None:
                from app.sandbox.video_engine import Shown, make_film

                along = order.along
                self.film = await asyncio.to_thread(
                    make_film,
                    order.prompt,
                    order.duration_s,
                    order.size,
                    sound=order.sound,
                    shown=Shown(along.pictures, along.films, along.keyframes, along.told),
                )
            return self.film


@dataclass(slots=True)
class Download:
    """What stands behind a pre-signed address. Once revoked or too old it is gone."""

    job: VideoJob
    revoked: bool = False


def jobs_of(caller: Caller) -> dict[str, VideoJob]:
    jobs: dict[str, VideoJob] = caller.kept.setdefault("video", {})
    return jobs


def downloads_of(world: World) -> dict[str, Download]:
    downloads: dict[str, Download] = world.kept.setdefault("video_downloads", {})
    return downloads
