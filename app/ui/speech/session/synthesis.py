"""Synthesizes one clip: requests part after part, stores it as it arrives, and decodes it for the player.

Every byte is in the part's file before it is decoded, so that a program killed at any moment has what was paid for.
A part that fails ends the reading; what came before it stays, and going on asks for that part alone and those after it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from PySide6.QtCore import QObject, Signal

from app.audio.decoding import NotSound, StreamingBytes, arriving_blocks, blocks_of
from app.audio.formats import can_decode, pcm_rate_hz, suffix_of
from app.audio.spool import Spool
from app.core.paid_call import PaidCall, paid_call
from app.core.spending_limits import call_group
from app.core.tasks import to_the_end
from app.service.errors import ServiceError, WrongMedia
from app.service.speech import NOT_SOUND
from app.storage.atomic_files import write_atomically
from app.storage.clips import Clip, ClipFiles, ClipStore, CostSource, Part, PartState, state_of
from app.storage.errors import StorageError, UnsavedResult, unavailable
from app.translation import tr
from app.ui.speech.session.session_calls import request_of

if TYPE_CHECKING:
    from app.service.chat_types import RetryWait
    from app.service.exchange import Exchange
    from app.service.service import Service
    from app.service.speech import Price
    from app.storage.paid_call_intents import Intents

Grow = Callable[["SpeechSynthesis"], Awaitable[bool]]
INTENT = "speech"
HTTP_REFUSED = 400  # and every status above
STOPPED = tr("Stopped by you.")


class SpeechSynthesis(QObject):
    """One clip and the spool of its sound. `changed` follows every step; `arrived` the first sound of a part."""

    changed = Signal()
    arrived = Signal(int)  # the number of the part whose first sound is there

    def __init__(
        self,
        clip: Clip,
        spool: Spool,
        *,
        clips: ClipStore,
        files: ClipFiles,
        intents: Intents,
        price: Price,
        charged: bool,
    ) -> None:
        """`price` tells what characters cost, None where the list does not say."""
        super().__init__()
        self.clip = clip
        self.spool = spool
        self.begins: dict[int, float] = {}  # part → second of the clip at which it begins
        self.ends: dict[int, float] = {}
        self.notes: dict[int, str] = {}  # part → why its sound cannot be played here
        self._not_sound: set[int] = set()  # parts whose bytes were decoded to their end and are no sound
        self.exchanges: list[Exchange] = []  # the calls of this reading
        self.working_on = 0  # the part that is on its way, 0 for none
        self._waits_until = 0.0  # by the monotonic clock: when the part that is on its way is asked for again
        self._clips = clips
        self.files = files
        self._intents = intents
        self.price = price
        self._charged = charged

    def path_of(self, part: Part) -> Path:
        return self.files.part(part)

    async def load(self, *, to_go_on: bool = False) -> None:
        """Decode what is kept, in order, up to the first part that is not complete; that one as far as it came, unless
        it is about `to_go_on` from its beginning."""
        for part in self.clip.parts:
            if part.has_sound and (part.state == "complete" or not to_go_on):
                await asyncio.to_thread(self._decode_file, part)
            self.changed.emit()
            if part.state != "complete":
                break
        if all(part.state == "complete" for part in self.clip.parts):
            self.spool.finish()
        self.changed.emit()

    async def read(self, service: Service, grow: Grow | None = None) -> None:
        """Ask for every part that is not there. Raises `ServiceError` and `StorageError` at the first that fails.

        The spending limits are asked for all of them before the first one leaves.
        `grow` is awaited when all parts are there: it adds more and says True, or says False at the end of the text.
        """
        self.spool.reopen()
        missing = [part for part in self.clip.parts if part.state != "complete"]
        try:
            with call_group((self._cost_of(part) for part in missing), "parts"):
                while True:
                    part = next((part for part in self.clip.parts if part.state != "complete"), None)
                    if part is not None:
                        self.working_on = part.number
                        await self._read_part(service, part)
                    elif grow is None or not await grow(self):
                        break
        finally:
            self.working_on = 0
            self.spool.finish()
            self.changed.emit()

    def _cost_of(self, part: Part) -> Decimal | None:
        return self.price(len(request_of(self.clip, part).text))

    # -- one part -------------------------------------------------------------------------------------------------

    async def _read_part(self, service: Service, part: Part) -> None:
        request = request_of(self.clip, part)
        told = {"clip": self.clip.id, "part": part.number, **request.to_body()}
        await asyncio.to_thread(self.files.make, self.clip.id)
        async with paid_call(self._intents, INTENT, self.clip.account_id, told) as paid:
            part = Part(part.clip_id, part.number, part.start, part.finish, "sending", charged=self._charged)
            await self.save(part)
            await paid.sent()
            stream = service.speech.stream(request, price=self.price, on_wait=self._wait)
            keeper = _Keeper(self, part)
            began = monotonic()
            try:
                async with stream:
                    async for piece in stream:
                        if keeper.part.first_sound_s is None:
                            kind = stream.format or request.format or "mp3"
                            await keeper.begin(kind, monotonic() - began)
                        await keeper.write(piece)
                await keeper.end()
                if part.number in self._not_sound:
                    raise not_sound(stream.exchange)
            except ServiceError as error:
                await to_the_end(self._end(keeper, stream.exchange, error))
                raise
            except asyncio.CancelledError:
                await to_the_end(self._end(keeper, stream.exchange, None))
                raise
            finally:
                await keeper.end()
            part = self._ended(keeper.part, stream.exchange, None)
            name = f"{self.clip.title or tr('Speech')}{suffix_of(part.kind)}"
            if keeper.refused is not None:
                data = await asyncio.to_thread(keeper.whole)
                keeper.refused.unsaved = (UnsavedResult(name, data, partial(self._keep_again, paid, part, data)),)
                part = replace(part, state="cut", note=keeper.refused.sentence)
                with contextlib.suppress(StorageError):
                    await self.save(part)
                    await paid.answered(self.clip.id, part.exchange_id)
                raise keeper.refused
            try:
                await to_the_end(self._keep(paid, part))
            except StorageError as error:
                data = await asyncio.to_thread(keeper.whole)
                error.unsaved = (UnsavedResult(name, data, partial(self._keep, paid, part)),)
                raise

    async def _end(self, keeper: _Keeper, exchange: Exchange, error: ServiceError | None) -> None:
        """Keep what came of a part before it failed, or was stopped."""
        await keeper.end()
        await self.save(self._ended(keeper.part, exchange, error, stopped=error is None))

    async def _keep(self, paid: PaidCall, part: Part) -> None:
        """Note a part whose file is whole."""
        await self.save(part)
        if paid.intent.state != "answered":
            await paid.answered(self.clip.id, part.exchange_id)

    async def _keep_again(self, paid: PaidCall, part: Part, data: bytes) -> None:
        """Write the sound of a part that the disk refused. Raises `StorageError`."""
        name = part.file or f"part-{part.number:02d}-{paid.intent.id[:8]}{suffix_of(part.kind)}"  # like no other try
        part = replace(part, file=name, size_bytes=len(data))
        await asyncio.to_thread(self.files.make, self.clip.id)
        await asyncio.to_thread(write_atomically, self.path_of(part), data)
        await self._keep(paid, part)

    def _wait(self, wait: RetryWait) -> None:
        self._waits_until = monotonic() + wait.wait_s
        self.changed.emit()

    @property
    def waits_s(self) -> float:
        """Seconds until the part that is on its way is asked for again; 0 while it is under way."""
        return max(0.0, self._waits_until - monotonic()) if self.working_on else 0.0

    def _ended(self, part: Part, exchange: Exchange, error: ServiceError | None, *, stopped: bool = False) -> Part:
        self.exchanges.append(exchange)
        heard = part.size_bytes and part.number not in self._not_sound
        state: PartState = "complete" if error is None else "cut" if heard else "failed"
        note = str(error) if error is not None else ""
        if stopped:
            state, note = "cut", STOPPED
        cost, source = exchange.cost_usd, cast(CostSource, exchange.cost_source)
        if state != "complete":
            refused = exchange.outcome == "unsent" or (
                exchange.outcome == "error" and (exchange.status is None or exchange.status >= HTTP_REFUSED)
            )
            source = "none" if refused else "at most"
            cost = None if refused else cost if cost is not None else self.price(part.finish - part.start)
        return replace(
            part,
            state=state,
            note=note,
            first_sound_s=None if part.number in self._not_sound else part.first_sound_s,
            exchange_id=exchange.id,
            request_id=exchange.info.request_id if exchange.info is not None else "",
            cost_usd=cost,
            cost_source=source if cost is not None or source == "none" else "estimated",
            duration_s=self.ends.get(part.number, 0.0) - self.begins.get(part.number, 0.0),
            rate_hz=self.spool.rate_hz,
        )

    async def save(self, part: Part) -> None:
        parts = tuple(part if one.number == part.number else one for one in self.clip.parts)
        self.clip = replace(
            self.clip,
            parts=parts,
            state=state_of([one.state for one in parts]),
            duration_s=sum(one.duration_s for one in parts),
            size_bytes=sum(one.size_bytes for one in parts),
        )
        await self._clips.save_part(part)
        self.changed.emit()

    # -- decoding, in threads -------------------------------------------------------------------------------------

    def _decode_file(self, part: Part) -> None:
        self._decode(part, lambda: blocks_of(self.path_of(part), kind=part.kind, pcm_rate_hz=self._raw_hz(part)))

    def decode_arriving(self, part: Part, arriving: StreamingBytes) -> None:
        self._decode(part, lambda: arriving_blocks(arriving, part.kind, pcm_rate_hz=self._raw_hz(part)), tell=True)

    def _raw_hz(self, part: Part) -> int:
        return part.rate_hz or pcm_rate_hz(self.clip.model)

    def _decode(self, part: Part, blocks: Callable[[], Any], *, tell: bool = False) -> None:
        number = part.number
        self.spool.seam()
        self.begins[number] = self.spool.duration_s
        self._not_sound.discard(number)
        try:
            for block in blocks():
                first = self.spool.duration_s == self.begins[number]
                self.spool.add(block)
                if first and tell:
                    self.arrived.emit(number)
            if self.spool.duration_s == self.begins[number]:
                raise NotSound(tr("This file has no audio."))
        except NotSound as error:
            self.notes[number] = error.sentence
            if can_decode(part.kind):
                self._not_sound.add(number)
        except OSError as error:  # the disk is full: what the service sent is in the part's file all the same
            self.notes[number] = unavailable(error, self.spool.path, tr("Preparing audio")).sentence
        self.ends[number] = self.spool.duration_s


def not_sound(exchange: Exchange) -> WrongMedia:
    """The error of a call whose answer was good and is no sound."""
    error = WrongMedia(NOT_SOUND, status=exchange.status, info=exchange.info)
    error.exchange = exchange
    return error


class _Keeper:
    """The file of a part and the decoder behind it. `part` is how it stands.

    What the disk refuses is heard to its end all the same, and is then in memory: `refused` says why.
    """

    def __init__(self, reading: SpeechSynthesis, part: Part) -> None:
        self.part = part
        self._decoder: threading.Thread | None = None
        self._lock = threading.Lock()
        self._is_over = False
        self._reading = reading
        self._arriving = StreamingBytes()
        self._file: BinaryIO | None = None
        self._rest = bytearray()  # what came after the disk had refused
        self.refused: StorageError | None = None

    async def begin(self, kind: str, first_s: float) -> None:
        """The first bytes are there: they say what they are, and name the file."""
        stem = f"part-{self.part.number:02d}"
        self.part = replace(self.part, kind=kind, first_sound_s=first_s)
        try:
            path = await asyncio.to_thread(self._open, stem, suffix_of(kind))
            self.part = replace(self.part, file=path.name)
        except StorageError as error:
            self.refused = error
        self._decoder = threading.Thread(target=self._decode, name="decode speech", daemon=True)
        self._decoder.start()
        with contextlib.suppress(StorageError):  # the end of it tells
            await self._reading.save(self.part)

    async def write(self, piece: bytes) -> None:
        if self.refused is None:
            try:
                await asyncio.to_thread(self._write, piece)
                self.part = replace(self.part, size_bytes=self.part.size_bytes + len(piece))
            except StorageError as error:
                self.refused = error
        if self.refused is not None:
            self._rest += piece
        self._arriving.feed(piece)

    def whole(self) -> bytes:
        """All that came, from the disk and from memory. For a thread."""
        on_disk = self._reading.path_of(self.part).read_bytes() if self.part.file else b""
        return on_disk[: self.part.size_bytes] + self._rest

    async def end(self) -> None:
        """All bytes that came are on the disk, and decoded."""
        self._arriving.finish()
        if self._decoder is not None:
            await asyncio.to_thread(self._decoder.join)
        else:
            await asyncio.to_thread(self._close)

    def _decode(self) -> None:
        """The decoder's thread also closes the file: it ends by itself, however often the task is stopped meanwhile."""
        try:
            self._reading.decode_arriving(self.part, self._arriving)
        finally:
            self._close()

    def _open(self, stem: str, suffix: str) -> Path:
        """An earlier try keeps its file: it was paid for."""
        folder = self._reading.files.of(self.part.clip_id)
        for attempt in range(1, 1000):
            path = folder / (f"{stem}{suffix}" if attempt == 1 else f"{stem}-{attempt}{suffix}")
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
            except FileExistsError:
                continue
            except OSError as error:
                raise unavailable(error, path, tr("Saving the audio")) from error
            with self._lock:  # stopped while it was being opened: nobody else would close it
                if self._is_over:
                    os.close(descriptor)
                else:
                    self._file = os.fdopen(descriptor, "wb", buffering=0)
            return path
        raise unavailable(OSError(tr("too many attempts")), folder, tr("Saving the audio"))

    def _write(self, piece: bytes) -> None:
        with self._lock:
            if self._file is None:
                return
            try:
                left = memoryview(piece)
                while left:  # a disk that fills up takes a part of it and says nothing
                    left = left[self._file.write(left) or 0 :]
            except OSError as error:
                raise unavailable(error, self._reading.path_of(self.part), tr("Saving the audio")) from error

    def _close(self) -> None:
        with self._lock:
            file, self._file, self._is_over = self._file, None, True
            if file is not None:
                os.fsync(file.fileno())
                file.close()
