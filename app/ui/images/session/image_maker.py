"""Asks for images: the intent first, then the call, then the bytes on the disk, then the word "answered"."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core import time_format
from app.core.paid_call import STOPPED_ON_ITS_WAY, PaidCall, end_of_call, paid_call
from app.service.errors import ServiceError, SpendingLimit
from app.service.images import GeneratedImage, GeneratedImages
from app.storage.chat_rows import new_id
from app.storage.errors import StorageError, carrying
from app.storage.images import ImageFiles, ImageKind, Images, StoredImage
from app.translation import tr
from app.ui.images.session.image_files import Finish, adopt, keep

if TYPE_CHECKING:
    from app.service.exchange import Exchange
    from app.storage.paid_call_intents import Intents

INTENT = "images"
FEWER = tr("The service sent fewer images than requested.")
ENDED_ON_ITS_WAY = tr("Rialto quit while this was being sent. It may have been generated and charged.")
ENDED_BEFORE = tr("Rialto quit before this was sent. Nothing was charged.")
UNREADABLE = tr("The response could not be read. It may have been generated and charged.")
CAME = frozenset({"saved", "withheld", "broken"})  # states of an image whose call was answered
Ask = Callable[[], Awaitable[GeneratedImages]]


@dataclass(frozen=True, slots=True)
class Order:
    """One paid call: what is told to the disk about it, how it is made, and what becomes of its images."""

    kind: ImageKind
    told: dict[str, Any]  # JSON without images: what is needed to see later what was asked for
    ask: Ask
    images: tuple[StoredImage, ...]
    finish: Finish | None = None


class ImageMaker(QObject):
    """`changed` tells an image as it stands, after every step; `asked` what was really sent; `dropped` an image
    that a spending limit kept from being asked for: nothing of it stays."""

    changed = Signal(object)  # StoredImage
    dropped = Signal(str)  # the image's id
    asked = Signal(object)  # Exchange

    def __init__(self, images: Images, files: ImageFiles, intents: Intents) -> None:
        super().__init__()
        self.images = images
        self.files = files
        self._intents = intents
        self.begun: dict[str, float] = {}  # id of an image that is on its way → when it was asked for
        self.held: dict[str, float] = {}  # id of one that the service's limit holds back → until when

    def plan(
        self,
        kind: ImageKind,
        *,
        count: int,
        in_one_call: bool,
        seeds: Sequence[int | None],
        price_each: Decimal | None,
        **facts: Any,
    ) -> list[tuple[StoredImage, ...]]:
        """Return the images of each call for one press of a button. Nothing is on the disk yet."""
        at, batch = self.images.now(), new_id()
        calls: list[tuple[StoredImage, ...]] = []
        number = 0
        for call in range(1 if in_one_call else count):
            call_id, places = new_id(), range(count if in_one_call else 1)
            row = []
            for place in places:
                number += 1
                # Which seed the further images of one call have, the service does not say.
                seed = seeds[call] if place == 0 else None
                numbers = {"place": place, "number": number, "total": count, "batch_id": batch}
                row.append(
                    self.images.planned(kind, call_id, at, seed=seed, estimate_usd=price_each, **numbers, **facts)
                )
            calls.append(tuple(row))
        return calls

    async def carry_out(self, order: Order) -> None:
        """Make the call and keep what it brings. Raises `ServiceError` and `StorageError`; the images say why."""
        first = order.images[0]
        exchange: Exchange | None = None
        async with paid_call(self._intents, INTENT, first.account_id, order.told, id=first.call_id) as paid:
            await self.images.add(order.images)
            began = monotonic()
            for image in order.images:
                self.begun[image.id] = began
                self.changed.emit(image)
            try:
                await paid.sent()
                images = await order.ask()
                exchange = images.exchange
                await paid.keep(self._keep(order, paid, images, monotonic() - began), first.id, exchange.id)
            except SpendingLimit:
                for image in order.images:
                    await self.images.remove(image.id)
                    self.dropped.emit(image.id)
                raise
            except ServiceError as error:
                await self._end(order, "failed" if end_of_call(error) == "failed" else "unknown", error)
                raise
            except asyncio.CancelledError:
                if exchange is None:  # else the bytes are in their files or on the way there
                    await self._end(order, "unknown" if paid.intent.state == "sent" else "failed", None)
                raise
            except StorageError as error:  # a full disk: what cannot be written cannot be kept
                if exchange is None:
                    for image in order.images:
                        self.changed.emit(replace(image, state="unknown", note=error.sentence))
                raise
            finally:
                for image in order.images:
                    self.begun.pop(image.id, None)
                    self.held.pop(image.id, None)
        if exchange is not None:
            self.asked.emit(exchange)

    def hold_back(self, images: Sequence[StoredImage], seconds: float) -> None:
        """The call of these images waits for the service's limit of calls per minute."""
        for image in images:
            if image.id in self.begun:
                self.held[image.id] = monotonic() + seconds
                self.changed.emit(image)

    def waiting_words(self, image_id: str) -> str:
        """How long an image is on its way, or how long the service's limit still holds it back."""
        left_s = self.held.get(image_id, 0.0) - monotonic()
        if left_s > 0:
            return tr("Over the limit for this minute, sends in {left_s}", left_s=time_format.countdown(left_s))
        begun = self.begun.get(image_id)
        return (
            tr("Generating, {seconds} s", seconds=round(monotonic() - begun)) if begun is not None else tr("Generating")
        )

    async def _keep(self, order: Order, paid: PaidCall, images: GeneratedImages, duration_s: float) -> None:
        exchange, came = images.exchange, len(images.pictures)
        share = exchange.cost_usd / came if exchange.cost_usd is not None and came else None
        waiting = list(order.images)
        refused: list[StorageError] = []
        for extra in range(len(waiting), came):  # paid for, so kept
            more = replace(waiting[0], id=new_id(), place=extra, number=extra + 1, seed=None)
            await self.images.add([more])
            waiting.append(more)
        for place, image in enumerate(waiting):
            image = replace(
                image,
                exchange_id=exchange.id,
                request_id=exchange.info.request_id if exchange.info is not None else "",
                duration_s=duration_s,
                enhanced_prompt=images.enhanced_prompt or "",
            )
            try:
                if place < came:
                    picture, image = images.pictures[place], replace(image, cost_usd=share)
                    again = partial(self._keep_again, order, paid, image, picture, exchange.id)
                    name = f"{image.title or image.id}.{picture.kind or 'bin'}"
                    with carrying(name, picture.data, again):
                        image = await keep(self.files, image, picture, order.finish)
                        await self._save(image)
                else:
                    image = replace(image, state="failed", note=FEWER)
                    await self._save(image)
            except StorageError as error:  # the next one came as well
                refused.append(error)
                lost = image.state == "sending"
                self.changed.emit(replace(image, state="unknown", note=error.sentence) if lost else image)
        if refused:
            refused[0].unsaved = tuple(unsaved for error in refused for unsaved in error.unsaved)
            raise refused[0]

    async def _keep_again(
        self, order: Order, paid: PaidCall, image: StoredImage, picture: GeneratedImage, exchange_id: str
    ) -> None:
        """Keep an image that the disk refused. Raises `StorageError`."""
        await self._save(await keep(self.files, image, picture, order.finish))
        if paid.intent.state != "answered":
            await paid.answered(order.images[0].id, exchange_id)

    async def _end(self, order: Order, state: str, error: ServiceError | None) -> None:
        if error is not None:
            note = UNREADABLE if state == "unknown" and error.status is not None else str(error)
        else:
            note = STOPPED_ON_ITS_WAY if state == "unknown" else tr("Stopped before it was sent. Nothing was charged.")
        exchange = error.exchange if error is not None else None
        if exchange is not None:
            self.asked.emit(exchange)
        for image in order.images:
            ended = replace(image, state=state, note=note)  # type: ignore[arg-type]  # one of two of its words
            if exchange is not None:
                ended = replace(ended, exchange_id=exchange.id, request_id=error.request_id if error else "")
            await self._save(ended)

    async def _save(self, image: StoredImage) -> None:
        image = await self.images.save(image)
        self.begun.pop(image.id, None)
        self.changed.emit(image)

    async def settle(self) -> tuple[int, int]:
        """After a start: what arrived before the program was killed is adopted, of the rest the truth is told.

        Return how many images were found and of how many nobody knows the end.
        """
        found = unknown = 0
        for image in await self.images.unfinished():
            adopted = await adopt(self.files, image)
            state = await self._intents.state_of(image.call_id)
            if adopted is not None:
                found += 1
                image = replace(adopted, cost_usd=adopted.cost_usd or adopted.estimate_usd)
            elif state == "cancelled":
                image = replace(image, state="failed", note=ENDED_BEFORE)
            else:
                unknown += 1
                image = replace(image, state="unknown", note=ENDED_ON_ITS_WAY)
            await self.images.save(image)
        for intent in await self._intents.pending(INTENT):
            if intent.state == "unknown":
                came = [image for image in await self.images.of_call(intent.id) if image.state in CAME]
                if came:  # its bytes were on the disk before the word "answered" was
                    await self._intents.answered(intent.id, came[0].id, came[0].exchange_id)
                else:
                    await self._intents.acknowledge(intent.id)
        return found, unknown


def expected_cost(order: Order) -> Decimal | None:
    """What the images of one call are expected to cost together, None where the price list does not say."""
    known = [image.estimate_usd for image in order.images if image.estimate_usd is not None]
    return sum(known, Decimal(0)) if len(known) == len(order.images) else None
