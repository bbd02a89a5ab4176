"""What was really sent for a clip, part by part, and what came back: for the inspector's Request page.

A call of this session is shown as it happened. One of an earlier session is made again from what is kept of its part:
the body is the same to the letter, of the answer the request id and the kind of sound are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.audio.formats import format_title
from app.core import number_format, time_format
from app.core.shown_call import ShownCall, shown_call
from app.service.exchange import Exchange, RequestRecord
from app.service.speech import PATH, SpeechRequest
from app.storage.clips import Clip, Part
from app.translation import tr

if TYPE_CHECKING:
    from collections.abc import Mapping

REMEMBERED = 400  # calls of this session


class SessionCalls:
    """The calls of this session, by their id."""

    def __init__(self) -> None:
        self._calls: dict[str, Exchange] = {}

    def note(self, *exchanges: Exchange) -> None:
        """Remember calls; the oldest of them give way."""
        for exchange in exchanges:
            self._calls.pop(exchange.id, None)
            self._calls[exchange.id] = exchange
        while len(self._calls) > REMEMBERED:
            del self._calls[next(iter(self._calls))]

    def views_of(self, clip: Clip | None) -> tuple[ShownCall, ...]:
        """Return the calls of a clip in the order of its parts; those that were not made are left out."""
        if clip is None:
            return ()
        asked = [part for part in clip.parts if part.state != "planned"]
        return tuple(self._view(clip, part) for part in asked)

    def _view(self, clip: Clip, part: Part) -> ShownCall:
        exchange = self._calls.get(part.exchange_id)
        title = tr("Part {number} of {count}", number=part.number, count=len(clip.parts)) if len(clip.parts) > 1 else ""
        if exchange is None:
            return _kept(clip, part, title)
        return shown_call(exchange, title)


def request_of(clip: Clip, part: Part) -> SpeechRequest:
    """Return what is asked for to have a part spoken."""
    known = SpeechRequest.__dataclass_fields__  # another version of Rialto may have kept more
    options = {name: value for name, value in clip.options.items() if value is not None and name in known}
    return SpeechRequest(clip.text[part.start : part.finish], clip.model, clip.voice, **options)


def _kept(clip: Clip, part: Part, title: str) -> ShownCall:
    words = {
        "sending": tr("sending"),
        "complete": tr("complete"),
        "cut": tr("cut off"),
        "failed": tr("no audio received"),
    }
    answer = {
        tr("Status"): words.get(part.state, part.state),
        tr("Sent"): time_format.moment(clip.created_at),
        tr("Request ID"): part.request_id,
        tr("Audio"): f"{format_title(part.kind)}, {number_format.size(part.size_bytes)}" if part.kind else "",
        tr("Note"): part.note,
    }
    record = RequestRecord("POST", PATH, "", body=request_of(clip, part).to_body())
    return ShownCall(record, title, facts=_rows(answer))


def _rows(answer: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in answer.items() if value)
