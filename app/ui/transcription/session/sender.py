"""Sends sound and keeps what comes back: prepared, on disk as intended, uploaded, answered, on disk again.

Nothing is sent a second time by itself once it may have been carried out. What was paid for, a part as much as a
whole, is on disk before it is shown.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.audio.upload_conversion import CannotPrepare, Stopped
from app.core.extra_json import parse_extra_json
from app.core.paid_call import PaidCall, end_of_call, paid_call
from app.core.problems import ActionSpec, Problem, describe
from app.core.spending_limits import call_group
from app.service.errors import ContentRefused, LimitExceeded, ServiceError, SpendingLimit
from app.service.pricing import transcription_cost
from app.service.transcription import TranscriptionRequest
from app.storage.errors import Again, StorageError, carrying
from app.storage.transcripts import PartRow
from app.translation import tr
from app.ui.transcription.session.document import Document, document_from, join_documents
from app.ui.transcription.session.file_probe import hash_of
from app.ui.transcription.session.upload_preparation import Folders, Preparer, Upload, clean_up
from app.ui.transcription.state import OWN_FIELDS, Options, Work

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.service.chat_types import RetryWait
    from app.service.exchange import Exchange
    from app.service.transcription import Transcript
    from app.storage.paid_call_intents import Intents
    from app.storage.transcripts import TranscriptRow, Transcripts
    from app.ui.transcription.session.account_models import AccountModels

KIND = "transcription"
RETRY = ActionSpec("retry", tr("Try again"))
NEWS_STEP = 0.01  # of a share before it is told again


@dataclass(frozen=True, slots=True)
class Stores:
    """What sending stands on, there once the database is open."""

    transcripts: Transcripts
    intents: Intents
    folders: Folders


class Sender:
    """`work` and `problems` are what the page shows of each row; `told` is called with a row's id when they change."""

    def __init__(
        self,
        current_account: CurrentAccount,
        account_models: AccountModels,
        stores: Stores,
        told: Callable[[str], None],
    ) -> None:
        self._current_account = current_account
        self._account_models = account_models
        self._stores = stores
        self._told = told
        self.work: dict[str, Work] = {}
        self.problems: dict[str, Problem] = {}
        self.exchanges: dict[str, Exchange] = {}
        self.last_exchange: Exchange | None = None
        self.over_limit: set[str] = set()  # rows that a limit on spending kept from being sent
        self.longest_part_s: float | None = None  # None: what the service's limit allows

    async def send(self, row_id: str, options: Options) -> bool:
        """Transcribe a row; True when its text is there. Whatever else happens is in the row and in `problems`."""
        store = self._stores.transcripts
        self.problems.pop(row_id, None)
        self.over_limit.discard(row_id)
        self._note(row_id, Work("preparing", None, tr("Preparing audio")))
        try:
            row = await store.change(row_id, model=options.model, options=asdict(options), problem={})
            await self._send(row, options)
        except (CannotPrepare, OSError) as error:
            words = (
                error.sentence
                if isinstance(error, CannotPrepare)
                else tr(
                    "{name} cannot be read: {strerror}.",
                    name=Path(error.filename).name if error.filename else tr("The audio"),
                    strerror=error.strerror or error,
                )
            )
            await self._fail(row_id, "failed", Problem(words, tr("Nothing was sent."), primary=RETRY))
        except ServiceError as error:
            unknown = end_of_call(error) == "unknown"
            meant = (
                tr("It may have been transcribed and charged. The audio is saved. Trying again costs extra.")
                if unknown
                else tr("The audio is saved.")
            )
            problem = describe(error, subject=tr("recording"), charged=meant)
            if isinstance(error, ContentRefused):  # of sound it means: silent, empty or broken
                what = tr("The service could not transcribe this audio")
                problem = problem._replace(what=what, primary=problem.alternative, alternative=None, icon="warning")
            if isinstance(error, SpendingLimit):
                self.over_limit.add(row_id)
            if error.exchange is not None:
                self.exchanges[row_id] = error.exchange
            await self._fail(row_id, "unknown" if unknown else "failed", problem)
        except StorageError as error:
            self.problems[row_id] = Problem(tr("This could not be saved"), error.sentence, icon="drive")
            raise
        except (asyncio.CancelledError, Stopped):
            with contextlib.suppress(Exception):
                await asyncio.shield(self._stopped(row_id))
            raise
        else:
            return True
        finally:
            self.work.pop(row_id, None)
            self._told(row_id)
        return False

    async def _stopped(self, row_id: str) -> None:
        row = await self._stores.transcripts.one(row_id)
        if row.state == "sending":
            told = {"what": tr("Interrupted while sending"), "meaning": tr("It may have been transcribed and charged.")}
            await self._stores.transcripts.change(row_id, state="unknown", problem=told)
        elif row.state == "queued":
            await self._stores.transcripts.change(row_id, state="recorded")

    async def _fail(self, row_id: str, state: str, problem: Problem) -> None:
        self.problems[row_id] = problem
        told = {"what": problem.what, "meaning": problem.meaning}
        await self._stores.transcripts.change(row_id, state=state, problem=told)

    async def _send(self, row: TranscriptRow, options: Options) -> None:
        stores = self._stores
        if not row.file_hash:
            digest = await asyncio.to_thread(hash_of, stores.folders.sound_of(row))
            row = await stores.transcripts.change(row.id, file_hash=digest)
        known = await stores.transcripts.parts(row.id)
        uploads = await self._prepared(row, options, known)
        if uploads[0].number:
            await self._send_parts(row, options, uploads, known)
        else:
            await self._send_whole(row, options, uploads[0])
        await asyncio.to_thread(clean_up, stores.folders, row)

    async def _prepared(self, row: TranscriptRow, options: Options, known: tuple[PartRow, ...]) -> tuple[Upload, ...]:
        loop = asyncio.get_running_loop()
        wanted = True
        last = [0.0]

        def tell(share: float) -> None:
            if share - last[0] >= NEWS_STEP or share >= 1:
                last[0] = share
                loop.call_soon_threadsafe(self._note, row.id, Work("preparing", share, tr("Preparing audio")))

        preparer = Preparer(
            self._stores.folders, row, options.record_as, tell, lambda: wanted, longest_s=self.longest_part_s
        )
        try:
            return await asyncio.to_thread(preparer.uploads, known)
        except asyncio.CancelledError:
            wanted = False
            raise

    async def _send_whole(self, row: TranscriptRow, options: Options, upload: Upload) -> None:
        store = self._stores.transcripts

        async def keep(transcript: Transcript) -> None:
            document, received = await asyncio.to_thread(read_answer, transcript)
            duration = row.duration_s or document.duration_s  # a service may round; the player has the sound's own
            save = partial(
                store.save_text,
                row.id,
                document.to_json(),
                document.text,
                received=received,
                state="done",
                duration_s=duration,
                cost_usd=transcript.exchange.cost_usd,
                receipt=self._receipt(transcript.exchange, 1, transcript.exchange.duration_s),
                problem={},
                batch=row.batch,
            )
            with carrying(f"{row.title}.txt", document.text.encode(), save):
                await save()

        await store.change(row.id, state="sending", account_id=self._account_id())
        await self._paid(row, options, upload, Work("uploading", 0.0, tr("Uploading")), keep)

    async def _send_parts(
        self, row: TranscriptRow, options: Options, uploads: tuple[Upload, ...], known: tuple[PartRow, ...]
    ) -> None:
        """Send the parts in order; those that have been answered already are not paid for again."""
        store = self._stores.transcripts
        if [part.number for part in known] != [upload.number for upload in uploads] or any(
            abs(part.end_s - (upload.end_s or 0)) > 0.01 for part, upload in zip(known, uploads, strict=True)
        ):
            parts = [PartRow(one.number, str(one.path), one.start_s, one.end_s or 0.0) for one in uploads]
            await store.set_parts(row.id, parts)
        await store.change(row.id, state="sending", account_id=self._account_id())
        took_s = 0.0
        exchange: Exchange | None = None
        received = {part.number for part in await store.parts(row.id) if part.received}
        missing = [upload for upload in uploads if upload.number not in received]
        price = self._price(options.model)
        with call_group((_expected(price, row, upload) for upload in missing), "parts"):
            for upload in missing:

                async def keep(transcript: Transcript, number: int = upload.number) -> None:
                    document, received = await asyncio.to_thread(read_answer, transcript)
                    save = partial(store.part_received, row.id, number, received, transcript.exchange.cost_usd)
                    with carrying(
                        f"{tr('{title}, part {number}', title=row.title, number=number)}.txt",
                        document.text.encode(),
                        save,
                    ):
                        await save()

                work = Work("uploading", 0.0, tr("Uploading"), upload.number, len(uploads))
                exchange = await self._paid(row, options, upload, work, keep)
                took_s += exchange.duration_s
        await self._join(row, exchange, took_s)

    async def _join(self, row: TranscriptRow, exchange: Exchange | None, took_s: float) -> None:
        store = self._stores.transcripts
        parts = await store.parts(row.id)
        document = await asyncio.to_thread(joined, parts)
        costs = [part.cost_usd for part in parts]
        total = sum((cost for cost in costs if cost is not None), Decimal(0)) if any(costs) else None
        received = {"parts": [{"start": part.start_s, "end": part.end_s, **part.received} for part in parts]}
        receipt = self._receipt(exchange, len(parts), took_s) if exchange is not None else dict(row.receipt)
        receipt["cost_usd"] = str(total) if total is not None else None
        await store.save_text(
            row.id,
            document.to_json(),
            document.text,
            received=received,
            state="done",
            duration_s=row.duration_s or document.duration_s,
            cost_usd=total,
            receipt=receipt,
            problem={},
        )

    async def _paid(
        self,
        row: TranscriptRow,
        options: Options,
        upload: Upload,
        work: Work,
        keep: Callable[[Transcript], Coroutine[Any, Any, None]],
    ) -> Exchange:
        """Send one file and keep its answer. Raises `ServiceError`."""
        service, account = self._current_account.service, self._current_account.account
        if service is None or account is None:
            raise LimitExceeded(tr("No account is in use."), field="account")
        extra, fault = parse_extra_json(options.extra_json, OWN_FIELDS)
        if fault:
            raise LimitExceeded(fault, field="extra_json")
        request = TranscriptionRequest(
            upload.path,
            options.model,
            options.response_format,
            options.timestamps,
            options.language or None,
            file_name=upload.name,
            extra=extra,
        )
        note = {"transcript": row.id, "part": upload.number, "file": upload.name, "hash": row.file_hash}
        note |= {"model": options.model, "language": options.language, "timestamps": options.timestamps}
        note |= {"extra": extra} if extra else {}
        self._note(row.id, work)
        async with paid_call(self._stores.intents, KIND, account.id, note) as paid:
            await paid.sent()
            transcript = await service.transcription.transcribe(
                request,
                price=self._price(options.model),
                seconds=_seconds(row, upload),
                on_progress=lambda sent, size: self._uploaded(row.id, work, sent, size),
                on_wait=lambda wait: self._waits(row.id, work, wait),
            )
            self.exchanges[row.id] = self.last_exchange = transcript.exchange
            try:
                await paid.keep(keep(transcript), row.id, transcript.exchange.id)
            except StorageError as error:
                error.keep_again_with(partial(self._kept_again, paid, row.id, transcript.exchange.id))
                raise
        return transcript.exchange

    async def _kept_again(self, paid: PaidCall, row_id: str, exchange_id: str, again: Again) -> None:
        """Keep an answer that the disk refused. Raises `StorageError`."""
        await again()
        if paid.intent.state != "answered":
            await paid.answered(row_id, exchange_id)
        self.problems.pop(row_id, None)

    def expected(self, row: TranscriptRow, options: Options) -> Decimal | None:
        """What a row will cost by its length, None where nobody knows how long it is."""
        seconds = row.duration_s
        return self._price(options.model)(Decimal(str(seconds))) if seconds is not None else None

    def _price(self, model_id: str) -> Callable[[Decimal], Decimal | None]:
        model = self._account_models.get(model_id)
        pricing = model.model_spec.pricing if model is not None else None
        return lambda seconds: transcription_cost(pricing, seconds)

    def _uploaded(self, row_id: str, work: Work, sent: int, size: int) -> None:
        share = sent / size if size else 1.0
        before = self.work.get(row_id)
        if share >= 1:
            self._note(row_id, Work("listening", None, tr("Transcribing"), work.part, work.parts))
        elif before is None or before.share is None or share - before.share >= NEWS_STEP:
            self._note(row_id, Work("uploading", share, tr("Uploading"), work.part, work.parts))

    def _waits(self, row_id: str, work: Work, wait: RetryWait) -> None:
        seconds = max(1, round(wait.wait_s))
        self._note(
            row_id,
            Work(
                "waiting",
                None,
                tr("The service is busy. Trying again in {seconds} s", seconds=seconds),
                work.part,
                work.parts,
            ),
        )

    def _note(self, row_id: str, work: Work) -> None:
        self.work[row_id] = work
        self._told(row_id)

    def _account_id(self) -> str:
        return self._current_account.account.id if self._current_account.account is not None else ""

    def _receipt(self, exchange: Exchange, parts: int, took_s: float) -> dict[str, Any]:
        info = exchange.info
        return {
            "cost_usd": str(exchange.cost_usd) if exchange.cost_usd is not None else None,
            "cost_source": exchange.cost_source,
            "took_s": took_s,
            "request_id": info.request_id if info is not None else "",
            "charged": not self._current_account.is_sandbox,
            "parts": parts,
            "at": exchange.started_at.isoformat(),
        }


def _seconds(row: TranscriptRow, upload: Upload) -> Decimal | None:
    """How long one file lasts, None where nobody knows."""
    end_s = upload.end_s if upload.end_s is not None else row.duration_s
    return Decimal(str(end_s - upload.start_s)) if end_s is not None else None


def _expected(price: Callable[[Decimal], Decimal | None], row: TranscriptRow, upload: Upload) -> Decimal | None:
    seconds = _seconds(row, upload)
    return price(seconds) if seconds is not None else None


def read_answer(transcript: Transcript) -> tuple[Document, dict[str, Any]]:
    """Return the document of an answer, and the answer as it is kept."""
    received: dict[str, Any] = {"text": transcript.text}
    if transcript.duration_s is not None:
        received["duration"] = float(transcript.duration_s)
    lists = {
        "word": [{"word": one.word, "start": one.start, "end": one.end} for one in transcript.words],
        "segment": [{"text": one.text, "start": one.start, "end": one.end} for one in transcript.segments],
        "char": [{"char": one.char, "start": one.start, "end": one.end} for one in transcript.letters],
    }
    times = {name: rows for name, rows in lists.items() if rows}
    if times:
        received["timestamps"] = times
    return document_of(received), received


def document_of(received: Mapping[str, Any], length_s: float | None = None) -> Document:
    """Return the document of a kept answer. `length_s` is the length where the answer does not say."""
    times = received.get("timestamps") or {}
    duration = received.get("duration", length_s)
    words = [(one["word"], one["start"], one["end"]) for one in times.get("word", ())]
    segments = [(one["text"], one["start"], one["end"]) for one in times.get("segment", ())]
    return document_from(str(received.get("text", "")), duration, words, segments)


def joined(parts: tuple[PartRow, ...]) -> Document:
    """Return one document of all parts, with the times of the whole recording."""
    end = parts[-1].end_s if parts else 0.0
    return join_documents(
        [(document_of(part.received, part.end_s - part.start_s), part.start_s) for part in parts], end
    )
