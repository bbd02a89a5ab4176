"""What is heard: the player, the clip in it, which sentence sounds now, and what its parts cost."""

from __future__ import annotations

import asyncio
import bisect
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from PySide6.QtCore import QObject, QTimer, Signal

from app.audio.devices import AudioHost, AudioUnavailable, Device
from app.audio.formats import format_title
from app.audio.player import MakeSpeaker, Player
from app.audio.sentence_times import CHARS_PER_S, sentence_starts
from app.audio.spool import Spool
from app.core import money, number_format, time_format
from app.service.speech_text import Span, sentences
from app.storage.errors import unavailable
from app.translation import tr, tr_n
from app.ui.kit.widgets.receipt_line import Run
from app.ui.speech.session.clip_library import cost_words
from app.ui.speech.state import PlayerView

if TYPE_CHECKING:
    from app.audio.waveform import Pairs
    from app.core.tasks import TaskScope
    from app.storage.clips import Part
    from app.ui.kit.sound.device_watch import DeviceWatch
    from app.ui.speech.session.synthesis import SpeechSynthesis

TICK_MS = 33
RETIME_S = 0.5
ENDED = ("complete", "cut", "failed")
SAMPLE_RATE_HZ = 24_000


class SpeechPlayer(QObject):
    """`view` is what the bar shows. The timer runs only while something plays or arrives."""

    changed = Signal()
    moved = Signal(float)  # the second that is heard
    sentence_changed = Signal(object)  # Span of the clip's text, or None
    outputs_changed = Signal(object, str)  # (Device, …), the sentence why there are none
    _from_thread = Signal()

    def __init__(
        self,
        host: AudioHost,
        tasks: TaskScope,
        spools: Path,
        watch: DeviceWatch | None = None,
        make_speaker: MakeSpeaker | None = None,
    ) -> None:
        super().__init__()
        self._host = host
        self._tasks = tasks
        self._spools = spools
        self._watch = watch
        self.player = Player(host, self._from_thread.emit, make=make_speaker)
        self.reading: SpeechSynthesis | None = None
        self.view = PlayerView()
        self.outputs: tuple[Device, ...] = ()
        self._starts: list[float] = []
        self._spans: list[Span] = []
        self._now: Span | None = None
        self._retimed_at = -1.0
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._from_thread.connect(self._player_changed)
        if watch is not None:
            watch.changed.connect(self._devices_changed)

    # -- the clip in the player -----------------------------------------------------------------------------------

    def new_spool(self) -> Spool:
        """Return an empty spool in the cache, deleted when the clip leaves the player. Raises `StorageUnavailable`."""
        path = self._spools / f"{uuid4().hex}.pcm"
        try:
            return Spool(path)
        except OSError as error:
            raise unavailable(error, path, tr("Preparing audio")) from error

    def sweep(self) -> None:
        """Delete what a killed program left in the cache. Call it in a thread, before anything is played."""
        shutil.rmtree(self._spools, ignore_errors=True)

    def show(self, reading: SpeechSynthesis | None, *, title: str = "", at_s: float = 0.0) -> None:
        """Put a clip into the player, paused."""
        before, self.reading = self.reading, reading
        self.player.load(reading.spool if reading is not None else None, at_s)
        if before is not None and before is not reading:
            before.changed.disconnect(self.refresh)
            before.spool.close()
        self._starts, self._spans, self._retimed_at = [], [], -1.0
        self._publish_sentence(None)
        if reading is not None and before is not reading:
            reading.changed.connect(self.refresh)
        self.view = PlayerView(title=title)
        self.refresh()

    def warm_up(self) -> None:
        """Open the loudspeaker while the first sound is still on its way."""
        self.player.prepare(SAMPLE_RATE_HZ)

    def play(self) -> None:
        self.player.play()
        self.refresh()

    def toggle(self) -> None:
        self.player.toggle()
        self.refresh()

    def silence(self) -> bool:
        """Be silent now; False when nothing sounded."""
        if not self.player.wants_to_play:
            return False
        self.player.pause()
        self.refresh()
        return True

    def seek(self, seconds: float) -> None:
        self.player.seek(seconds)
        self._tick()

    def skip(self, seconds: float) -> None:
        self.seek(max(0.0, self.player.position_s + seconds))

    def skip_sentence(self, by: int) -> None:
        """To the next sentence (1), or to the beginning of this one and then the one before (-1)."""
        self._retime()
        if not self._starts:
            return
        at = self.player.position_s
        place = bisect.bisect_right(self._starts, at + 0.01) - 1
        if by < 0 and at - self._starts[max(0, place)] > 1.0:
            by = 0
        self.seek(self._starts[max(0, min(len(self._starts) - 1, place + by))])

    def play_sentence_at(self, character: int) -> None:
        """Play from the sentence that holds a character of the text."""
        self._retime()
        for span, start in zip(self._spans, self._starts, strict=True):
            if span.start <= character <= span.end:
                self.seek(start)
                self.play()
                return

    def set_speed(self, speed: float) -> None:
        self.player.set_speed(speed)
        self.refresh()

    def set_volume(self, volume: float) -> None:
        self.player.set_volume(volume)
        self.refresh()

    def set_output(self, device_id: str) -> None:
        self.player.set_device(device_id)
        self.refresh()

    # -- devices --------------------------------------------------------------------------------------------------

    def read_outputs(self) -> None:
        """Look for loudspeakers, in a thread."""
        self._tasks.replace("speech outputs", self._read_outputs)

    async def _read_outputs(self) -> None:
        problem = ""
        if self._watch is not None:
            await asyncio.sleep(0)  # after the tab that wants to know has been shown: the first look takes a while
            self._watch.start()
        try:
            self.outputs = await asyncio.to_thread(self._host.devices, "output")
        except AudioUnavailable as error:
            self.outputs, problem = (), error.sentence
        self.outputs_changed.emit(self.outputs, problem)

    def _devices_changed(self) -> None:
        if self._watch is not None:
            self._host.note_system(self._watch.devices)
            self.read_outputs()

    # -- what is told ---------------------------------------------------------------------------------------------

    def _player_changed(self) -> None:
        self.refresh()

    def _tick(self) -> None:
        at = self.player.position_s
        self.moved.emit(at)
        reading = self.reading
        if reading is None:
            return
        grown = reading.spool.duration_s - self.view.known_s > 0.1
        if reading.working_on and (grown or self._status() != self.view.status):
            self.refresh()
        if abs(reading.spool.duration_s - self._retimed_at) > RETIME_S:
            self._retime()
        place = bisect.bisect_right(self._starts, at + 0.02) - 1
        heard = self.player.wants_to_play or 0 < at < reading.spool.duration_s
        self._publish_sentence(self._spans[place] if heard and 0 <= place < len(self._spans) else None)

    def _publish_sentence(self, span: Span | None) -> None:
        if span != self._now:
            self._now = span
            self.sentence_changed.emit(span)

    def refresh(self) -> None:
        """Bring the view up to date and say so."""
        reading, player = self.reading, self.player
        known = reading.spool.duration_s if reading is not None else 0.0
        busy = reading is not None and (reading.working_on > 0 or player.state == "waiting")
        plays = player.wants_to_play
        self.view = replace(
            self.view,
            clip_id=reading.clip.id if reading is not None else "",
            title=reading.clip.title if reading is not None else self.view.title,
            ready=reading is not None and (known > 0 or busy),
            plays=plays,
            busy=busy,
            status=self._status(),
            known_s=known,
            whole_s=max(known, self._whole_s()),
            speed=player.speed,
            volume=player.volume,
            output=player.device_id,
            problem=player.problem.sentence if player.problem is not None else "",
            receipts=receipts_of(reading) if reading is not None else (),
            missing_parts=sum(part.state != "complete" for part in reading.clip.parts) if reading is not None else 0,
            can_save=reading is not None and known > 0,
            is_speaking=reading is not None and reading.working_on > 0,
        )
        if (plays or busy) and not self._timer.isActive():
            self._timer.start()
        elif not plays and not busy and self._timer.isActive():
            self._timer.stop()
            self._tick()
        self.changed.emit()

    def peaks(self) -> Pairs | None:
        return self.reading.spool.peaks() if self.reading is not None else None

    def seams(self) -> tuple[float, ...]:
        return self.reading.spool.seams_s if self.reading is not None else ()

    def _status(self) -> str:
        reading = self.reading
        if reading is None:
            return ""
        if self.player.problem is not None:
            return self.player.problem.sentence
        if reading.notes:
            return next(iter(reading.notes.values()))
        count = len(reading.clip.parts)
        if reading.waits_s:
            return tr("Waiting {waits_s}", waits_s=time_format.countdown(reading.waits_s))
        if reading.working_on:
            started = reading.working_on in reading.begins
            if count == 1:
                return tr("Speaking") if started else tr("Waiting for audio")
            return (
                tr("Part {working_on} is streaming", working_on=reading.working_on)
                if started
                else tr("Waiting for part {working_on}", working_on=reading.working_on)
            )
        missing = [part for part in reading.clip.parts if part.state != "complete"]
        if missing:
            first = missing[0]
            what = tr("was cut off") if first.state == "cut" else tr("is missing")
            return (
                tr("Part {number} of {count} {what}", number=first.number, count=count, what=what)
                if count > 1
                else tr("The clip {what}", what=what)
            )
        return ""

    def _whole_s(self) -> float:
        """The length as far as it is known, and what the letters that are missing will take."""
        reading = self.reading
        if reading is None:
            return 0.0
        speed = reading.clip.options.get("speed") or 1.0
        pace = CHARS_PER_S * float(speed)
        done = [part for part in reading.clip.parts if part.state == "complete" and part.duration_s]
        if done:
            pace = sum(part.finish - part.start for part in done) / sum(part.duration_s for part in done)
        whole = 0.0
        for part in reading.clip.parts:
            here = reading.ends.get(part.number, 0.0) - reading.begins.get(part.number, 0.0)
            if part.state == "complete":
                whole += here or part.duration_s
            elif part.number == reading.working_on:
                arrived = reading.spool.duration_s - reading.begins.get(part.number, reading.spool.duration_s)
                whole += max(arrived, (part.finish - part.start) / pace)
            else:
                whole += here
        return whole

    def _retime(self) -> None:
        """Work out when each sentence begins, as far as there is sound."""
        reading = self.reading
        if reading is None:
            return
        self._retimed_at = reading.spool.duration_s
        peaks, speed = reading.spool.peaks(), float(reading.clip.options.get("speed") or 1.0)
        spans: list[Span] = []
        starts: list[float] = []
        for part in reading.clip.parts:
            begin = reading.begins.get(part.number)
            if begin is None:
                continue
            text = reading.clip.text[part.start : part.finish]
            found = [Span(one.start + part.start, one.end + part.start) for one in sentences(text)]
            end = reading.ends.get(part.number) if part.number != reading.working_on else None
            spans += found
            starts += sentence_starts([len(one) for one in found], peaks, begin, end, speed=speed)
        self._spans, self._starts = spans, starts

    def sentence_places(self) -> tuple[tuple[Span, float], ...]:
        """Return each sentence of the clip and when it is heard."""
        self._retime()
        return tuple(zip(self._spans, self._starts, strict=True))

    def close(self) -> None:
        """Stop, give the device back and delete the spool. Call it in a thread."""
        self.player.close()
        if self.reading is not None:
            self.reading.spool.close()


def receipts_of(reading: SpeechSynthesis) -> tuple[tuple[Run, ...], ...]:
    """Return the receipt of every part that has ended; before those of several, what they come to together."""
    ended = [part for part in reading.clip.parts if part.state in ENDED]
    lines = [receipt_of(part, reading) for part in ended]
    if len(ended) > 1:
        total = [
            Run(tr("{count} parts", count=len(ended))),
            Run(tr("{ended} characters", ended=number_format.count(sum(part.finish - part.start for part in ended)))),
            Run(cost_words((reading.clip,)) or money.cost(None), strong=True),
        ]
        if not all(part.charged for part in ended):
            total.append(Run(money.PLAY_MONEY, role="sandbox"))
        lines.insert(0, tuple(total))
    return tuple(lines)


def receipt_of(part: Part, reading: SpeechSynthesis) -> tuple[Run, ...]:
    """Return the receipt line of a part: `Part 1 · first sound 0.6 s · MP3 24 kHz · 3,987 characters · $0.0120 · …`."""
    runs: list[Run] = []
    if len(reading.clip.parts) > 1:
        runs.append(Run(tr("Part {number}", number=part.number)))
    if part.first_sound_s is not None:
        runs.append(Run(tr("first audio {first_sound_s}", first_sound_s=time_format.duration(part.first_sound_s))))
    if part.kind:
        rate = f" {part.rate_hz / 1000:g} kHz" if part.rate_hz else ""
        runs.append(Run(f"{format_title(part.kind)}{rate}"))
    runs.append(Run(tr_n("{n} character", "{n} characters", part.finish - part.start)))
    runs.append(Run(_cost(part, reading.price(part.finish - part.start)), strong=True))
    if not part.charged:
        runs.append(Run(money.PLAY_MONEY, role="sandbox"))
    if part.request_id:  # last: it goes first where the room is narrow
        runs.append(Run(tr("req {request_id}", request_id=part.request_id), mono=True))
    return tuple(runs)


def _cost(part: Part, price: Decimal | None) -> str:
    """What a part cost; `price` is what the list says now, for a part whose end nobody saw."""
    if part.cost_source == "none":
        return tr("nothing charged")
    cost = part.cost_usd if part.cost_usd is not None else price
    if cost is None:
        return money.cost(None)
    return money.at_most(cost) if part.cost_source == "at most" else money.cost(cost, part.cost_source)
