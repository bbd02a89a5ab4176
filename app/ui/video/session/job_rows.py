"""Video jobs as text: the row of the list, and the details of the selected one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.core import money, number_format, time_format
from app.core.problems import ActionSpec, Problem
from app.translation import tr
from app.ui.kit.widgets.receipt_line import Run
from app.ui.video.consent import Consent, consent_from
from app.ui.video.model_constraints import length_words, seconds_of
from app.ui.video.state import Detail, JobRow

if TYPE_CHECKING:
    from app.service.exchange import Exchange
    from app.storage.video_jobs import VideoJob
    from app.ui.video.session.job_store import VideoJobStore

# state -> badge, tone, icon
_BADGES = {
    "waiting": (tr("Waiting"), "neutral", ""),
    "sending": (tr("Sending"), "accent", ""),
    "running": (tr("Rendering"), "accent", ""),
    "ready": (tr("Downloading"), "accent", ""),
    "saved": (tr("Ready"), "ok", "check"),
    "cleaned": (tr("Service copy deleted"), "neutral", ""),
    "failed": (tr("Failed"), "bad", "error"),
    "expired": (tr("Expired"), "warn", "clock"),
    "unknown": (tr("Unknown"), "warn", "warning"),
    "cancelled": (tr("Canceled"), "neutral", ""),
}
QUEUED_WORDS = frozenset({"pending", "queued", "in_queue"})
KNOWN_WORDS = QUEUED_WORDS | {"processing", "in_progress", "running", "completed"}
TITLE_CHARS = 90
TOLD_FROM_S = 2.0  # of waiting, from which on it is worth a word
FINISHING = 1.5  # times the usual time, up to which nothing is late
TENS_FROM_S = 60  # from here on a time is told in tens of seconds


def title_of(job: VideoJob) -> str:
    """The beginning of the prompt, on one line; of a video that is made larger, its name."""
    words = " ".join(job.prompt.split()) or _video_name(job)
    if len(words) > TITLE_CHARS:  # cut between two words
        words = (
            words[:TITLE_CHARS].rpartition(" ")[0].rstrip(" ,.;:") + "…" if " " in words else words[:TITLE_CHARS] + "…"
        )
    return words or tr("No prompt")


def _video_name(job: VideoJob) -> str:
    filled = job.form.get("filled")
    video = filled.get("film") if isinstance(filled, dict) and job.form.get("upscale_factor") else ""
    return Path(video).name if isinstance(video, str) else ""


def shape_words(job: VideoJob) -> str:
    """Model, length and resolution: `Reel · 5 s · 480p`; of a video that is made larger, how much: `Enlarger · 2×`."""
    form = job.form
    parts = [job.model_name or job.model, _length(job)]
    parts.append(str(form.get("resolution") or ""))
    return " · ".join(part for part in parts if part)


def _length(job: VideoJob) -> str:
    factor = job.form.get("upscale_factor")
    return f"{factor}×" if factor else length_words(str(job.form.get("duration") or ""))


class RowWriter:
    """Writes with what is known at `now`; `received` is what the job poller has of a video by now.

    `rests_s`: how long the service is not asked yet, `send_waits_s` how long it takes no job, both 0 as a rule.
    `mark_of` names the account of a job that is not the one in use.
    """

    def __init__(
        self,
        job_store: VideoJobStore,
        received: dict[str, tuple[int, int | None]],
        rests_s: Callable[[], float] = lambda: 0.0,
        send_waits_s: Callable[[], float] = lambda: 0.0,
        mark_of: Callable[[str], str] = lambda _account_id: "",
    ) -> None:
        self._job_store = job_store
        self._received = received
        self._rests_s = rests_s
        self._send_waits_s = send_waits_s
        self._mark_of = mark_of

    def row(self, job: VideoJob, now: datetime) -> JobRow:
        badge, tone, icon = self._badge(job)
        share = self.share(job, now)
        return JobRow(
            id=job.id,
            title=title_of(job),
            second=" · ".join(words for words in (shape_words(job), self._mark_of(job.account_id)) if words),
            state=job.state,
            badge=badge,
            tone=tone,
            icon=icon,
            right=self._right(job, now),
            poster=str(self._job_store.film(job)) if job.has_video else "",
            share=share,
            busy=job.state in ("sending", "running", "ready") and not self._stands_still(job),
        )

    def _stands_still(self, job: VideoJob) -> bool:
        """True where a person has something to do before it goes on."""
        return job.held or bool(self._unsaved(job))

    def _unsaved(self, job: VideoJob) -> str:
        """Why it could not be saved here so far, "" where it could."""
        return self._job_store.unsaved.get(job.id, "") if job.is_open else ""

    def _badge(self, job: VideoJob) -> tuple[str, str, str]:
        if job.held and job.is_open:
            return (tr("Needs attention"), "warn", "warning")
        if self._unsaved(job):
            return (tr("Not saved"), "warn", "warning")
        if job.is_open and job.id in self._received:
            return (tr("Downloading"), "accent", "")
        if job.state == "running" and job.told.lower() in QUEUED_WORDS:
            return (tr("Queued"), "neutral", "")
        return _BADGES[job.state]

    def share(self, job: VideoJob, now: datetime) -> float | None:
        """How far it is, as far as anybody knows; negative while nobody does."""
        if self._stands_still(job) or job.state not in ("sending", "running", "ready"):
            return None
        if job.id in self._received:
            count, total = self._received[job.id]
            return min(1.0, count / total) if total else -1.0
        usual = job.average_s or self._job_store.usual_s(job.model)
        if job.state != "running" or not usual or job.queued_at is None:
            return -1.0
        return round(min(0.98, (now - job.queued_at).total_seconds() / usual), 2)  # no step that cannot be seen

    def _right(self, job: VideoJob, now: datetime) -> str:
        price = _price(job)
        if job.state == "waiting":
            return tr("{price} due", price=price) if price else tr("Not sent yet")
        if job.state in ("running", "ready", "sending"):
            return "" if self._stands_still(job) else self.left_words(job, now)
        if job.has_video:
            took = _took(job)
            when = time_format.when(job.ended_at or job.created_at, now)
            more = (
                tr("took {took}", took=time_format.duration(took))
                if took is not None and job.state == "saved"
                else when
            )
            return " · ".join(part for part in (price, more) if part)
        return {"failed": _charged_words(job), "unknown": tr("Possibly charged"), "cancelled": tr("Not charged")}.get(
            job.state, time_format.when(job.created_at, now)
        )

    def left_words(self, job: VideoJob, now: datetime) -> str:
        """`about 1 min 10 s left`, or how long it has been and usually is."""
        if job.id in self._received:
            count, total = self._received[job.id]
            return (
                tr("{count} of {total}", count=number_format.size(count), total=number_format.size(total))
                if total
                else number_format.size(count)
            )
        if job.state == "ready":
            return tr("downloading")
        if job.queued_at is None:
            waits_s = self._send_waits_s()
            return tr("sends {waits_s}", waits_s=time_format.due(waits_s, now)) if waits_s else tr("sending")
        elapsed = max(0.0, (now - job.queued_at).total_seconds())
        usual = job.average_s or self._job_store.usual_s(job.model)
        if not usual:
            return tr("{whole} so far", whole=_whole(elapsed))
        if elapsed < usual:
            return tr("about {whole} left", whole=_whole(usual - elapsed))
        rests_s = self._rests_s()
        if not rests_s and elapsed < FINISHING * usual:
            return tr("finishing")
        return (
            tr("checks again {rests_s}", rests_s=time_format.due(rests_s, now))
            if rests_s
            else tr("{whole}, usually {whole2}", whole=_whole(elapsed), whole2=_whole(usual))
        )

    def is_close(self, job: VideoJob, now: datetime) -> bool:
        """True while its words change from second to second."""
        usual = job.average_s or self._job_store.usual_s(job.model)
        elapsed = (now - job.queued_at).total_seconds() if job.queued_at is not None else 0.0
        return not usual or usual - elapsed < TENS_FROM_S or bool(self._rests_s())

    # The one that is looked at

    def detail(self, job: VideoJob, now: datetime, exchange: Exchange | None, account_name: str) -> Detail:
        video = self._job_store.film(job)
        return Detail(
            id=job.id,
            title=title_of(job),
            state=job.state,
            film=str(video) if job.has_video else "",
            video_size=(job.width, job.height),
            length_s=job.duration_s,
            saved=(tr("Saved on this computer"), f"{video.name}, {number_format.size(job.size_bytes)}")
            if job.has_video
            else ("", ""),
            remote=_remote(job),
            remote_words=_remote_words(job),
            progress=self._progress(job, now, account_name),
            share=self.share(job, now),
            problem=_problem(job, self._unsaved(job)),
            facts=_facts(job, video, now),
            receipt=receipt_of(job),
            actions=_actions(job, can_fetch=self._stands_still(job)),
            body=_body(job),
            exchange=exchange,
            consent=consent_of(job),
            price=_price(job),
        )

    def _progress(self, job: VideoJob, now: datetime, account_name: str) -> str:
        if not job.is_open or self._stands_still(job):
            return ""
        if account_name:
            return tr("Waiting until the account “{account_name}” is in use again.", account_name=account_name)
        if job.state == "waiting":
            return job.note or tr(
                "Waiting for a free slot. You can still cancel it. Nothing is charged until it is sent."
            )
        words = self.left_words(job, now)
        return " ".join([f"{words[:1].upper()}{words[1:]}.", *self._why(job, now)])

    def _why(self, job: VideoJob, now: datetime) -> Iterator[str]:
        """Why there is less news of a job than one would like."""
        if job.state == "sending" and self._send_waits_s():
            yield tr("Over the service’s limit for this minute. It is sent once the minute is over.")
        if job.state == "running" and job.told and job.told.lower() not in KNOWN_WORDS:
            yield tr("The service reports the status “{told}”, which Rialto does not recognize.", told=job.told)
        if job.note:
            yield job.note
        rests_s = self._rests_s()
        if rests_s and job.state in ("running", "ready") and job.id not in self._received:
            until = time_format.due(rests_s, now)
            if until.startswith("in "):
                until = tr("at {now}, {until}", now=time_format.clock(now + timedelta(seconds=rests_s)), until=until)
            yield (
                tr(
                    "The service asked for fewer status checks. Rialto checks again {until}. The video is still "
                    "being generated.",
                    until=until,
                )
            )


@number_format.or_dash
def _whole(seconds: float) -> str:
    """Whole seconds; tens of them from a minute on, for it is a guess anyway."""
    if seconds > TENS_FROM_S:
        seconds = round(seconds / 10) * 10
    return time_format.duration(max(1.0, float(round(seconds)))).replace(".0 s", " s")


def consent_of(job: VideoJob) -> Consent | None:
    """What the service asked and nobody has answered yet."""
    return None if job.form.get("consents") else consent_from(job.form.get("consent"))


def proposed(job: VideoJob) -> tuple[str, str]:
    """The prompt and the model that the service proposed when it refused this one, "" for what it did not."""
    told = job.form.get("proposed")
    told = told if isinstance(told, dict) else {}
    return str(told.get("prompt") or ""), str(told.get("model") or "")


def _price(job: VideoJob) -> str:
    return money.money(job.quote_usd) if job.quote_usd is not None else ""


def _took(job: VideoJob) -> float | None:
    if job.queued_at is None or job.ready_at is None:
        return None
    return max(0.0, (job.ready_at - job.queued_at).total_seconds())


def _charged_words(job: VideoJob) -> str:
    if not job.queue_id or job.refunded:
        return tr("Not charged") if not job.queue_id else tr("Refunded")
    return tr("Charged") if job.refunded is False else tr("Possibly charged")


def _remote(job: VideoJob) -> str:
    if not job.has_video:
        return ""
    return "kept" if job.remote_copy else "gone"


def _remote_words(job: VideoJob) -> tuple[str, str]:
    if not job.has_video:
        return ("", "")
    if not job.remote_copy:
        return (tr("The service no longer has a copy"), tr("It was deleted after the file here was checked."))
    why = (
        tr("It is deleted as soon as the service responds.")
        if job.clean_after
        else tr("Kept because the option was off for this job.")
    )
    return (tr("The service still has a copy"), job.note or why)


def _problem(job: VideoJob, unsaved: str) -> Problem | None:
    if unsaved:
        return Problem(
            tr("This could not be saved here"),
            unsaved,
            primary=ActionSpec("video-fetch", tr("Try again")),
            severity="warn",
            icon="drive",
        )
    if job.state == "unknown":
        return Problem(
            tr("It is not clear whether this was queued"),
            tr("{note} Check your balance before you queue it again.", note=job.note),
            primary=ActionSpec("check-balance", tr("Check the balance")),
            alternative=ActionSpec("video-again", tr("Queue again…")),
            severity="warn",
            icon="warning",
        )
    if job.state == "failed":
        change = ActionSpec("video-use", tr("Change and try again"))
        words, model = proposed(job)
        if not (words or model):
            return Problem(tr("This video failed"), job.note, primary=change)
        proposal = ActionSpec(
            "video-proposal", tr("Show suggested prompt…") if words else tr("Use {model}…", model=model)
        )
        return Problem(tr("This video failed"), job.note, primary=proposal, alternative=change)
    if job.state == "expired":
        return Problem(
            tr("The service no longer has the video"),
            job.note,
            severity="warn",
            icon="clock",
        )
    if job.held and job.state == "waiting" and consent_of(job) is not None:
        return Problem(
            tr("The service asks for your consent"),
            job.note,
            primary=ActionSpec("video-consent", tr("Review…")),
            alternative=ActionSpec("video-cancel", tr("Cancel")),
            severity="warn",
            icon="shield",
        )
    if job.held and job.state == "waiting":
        words = money.priced(tr("Queue"), job.quote_usd) if job.quote_usd is not None else tr("Queue")
        if job.form.get("short") is True:
            return Problem(
                tr("Not enough credits for this video"),
                job.note,
                primary=ActionSpec("top-up", tr("Top up…")),
                alternative=ActionSpec("video-send", words),
                severity="warn",
                icon="credits",
            )
        if limit := job.form.get("limit"):
            return Problem(
                tr("Your spending limit stopped this video"),
                job.note,
                primary=ActionSpec(f"limits:{limit}", tr("Change the limit…")),
                alternative=ActionSpec("video-send", words),
                severity="warn",
                icon="warning",
            )
        return Problem(
            tr("This job needs your attention"),
            job.note,
            primary=ActionSpec("video-send", words),
            alternative=ActionSpec("video-cancel", tr("Cancel")),
            severity="warn",
            icon="warning",
        )
    if job.held:
        return Problem(
            tr("The video could not be downloaded"),
            job.note,
            primary=ActionSpec("video-fetch", tr("Download again")),
            severity="warn",
            icon="warning",
        )
    return None


def _actions(job: VideoJob, *, can_fetch: bool) -> frozenset[str]:
    if job.trashed_at is not None:
        return frozenset({"restore", "delete"})
    actions = {"use", "copy"}
    if job.state == "waiting":
        actions |= {"cancel"} if job.held else {"cancel", "up", "down"}
    else:
        actions.add("again")
    if job.held and job.state == "waiting":
        actions.add("send" if consent_of(job) is None else "consent")
    elif can_fetch:
        actions.add("fetch")
    if job.has_video:
        actions |= {"save", "folder"}
        if job.remote_copy:
            actions.add("clean")
    if not job.is_open:
        actions.add("trash")
    return frozenset(actions)


def _facts(job: VideoJob, video: Path, now: datetime) -> tuple[tuple[str, str], ...]:
    form = job.form
    facts = [(tr("Prompt"), job.prompt)] if job.prompt else []
    if form.get("negative_prompt"):
        facts.append((tr("Negative prompt"), str(form["negative_prompt"])))
    shape = [shape_words(job), str(form.get("aspect_ratio") or "")]
    facts.append((tr("Model"), " · ".join(part for part in shape if part)))
    if job.has_video:
        facts.append((tr("Video"), f"{time_format.duration(job.duration_s)}, {job.width} × {job.height}"))
    price = _price(job)
    if price:
        quoted = tr("{price} quoted", price=price)
        facts.append((tr("Cost"), quoted if job.charged else f"{quoted}, {money.PLAY_MONEY}"))
    took = _took(job)
    if took is not None:
        waited = (job.queued_at - job.created_at).total_seconds() if job.queued_at is not None else 0.0
        words = tr("{took} to render", took=time_format.duration(took))
        if waited >= TOLD_FROM_S:
            words = f"{words}, {tr('{waited} in the queue', waited=time_format.duration(waited))}"
        facts.append((tr("Time"), words))
    if form.get("consents"):
        agreed = consent_from(form.get("consent"))
        facts.append(
            (
                tr("Consent"),
                tr("given, version {version}", version=str(agreed.version))
                if agreed and agreed.version
                else tr("given"),
            )
        )
    facts.append((tr("Created"), time_format.when(job.created_at, now)))
    if job.queue_id:
        facts.append((tr("Queue ID"), job.queue_id))
    if job.request_id:
        facts.append((tr("Request ID"), job.request_id))
    return tuple(facts)


def receipt_of(job: VideoJob) -> tuple[Run, ...]:
    """The line under a video: what it was quoted at, what for, how long it took. Empty before anything was sent.

    The service states no price of a video that was made; the quote is what it takes.
    """
    price = _price(job)
    if job.state in ("waiting", "sending") or (
        not job.queue_id and job.state not in ("unknown", "failed", "cancelled")
    ):
        return ()
    if job.state == "unknown":
        return (
            Run(tr("possibly {price}", price=price) if price else tr("cost not stated"), strong=True),
            Run("unknown", role="warn"),
        )
    if not job.queue_id:
        return (Run(tr("Nothing was charged"), strong=True),)
    runs = [Run(tr("{price} quoted", price=price) if price else tr("cost not stated"), strong=True)]
    seconds = seconds_of(str(job.form.get("duration") or ""))
    if job.form.get("upscale_factor"):
        runs.append(Run(tr("{form}× as large", form=job.form["upscale_factor"])))
    elif job.duration_s or seconds:
        runs.append(Run(tr("{duration_s} s of video", duration_s=f"{job.duration_s or seconds:g}")))
    took = _took(job)
    if took is not None:
        runs.append(Run(tr("took {took}", took=time_format.duration(took))))
    if job.refunded is not None:
        runs.append(Run(tr("refunded") if job.refunded else tr("not refunded"), role="" if job.refunded else "warn"))
    if job.request_id:
        runs.append(Run(tr("req {request_id}", request_id=job.request_id[:12]), mono=True))
    if not job.charged:
        runs.append(Run(money.PLAY_MONEY, role="sandbox"))
    return tuple(runs)


def _body(job: VideoJob) -> dict[str, Any]:
    """The request's body without the bytes of media, for the Request page."""
    form = job.form
    body: dict[str, Any] = {"model": job.model, "duration": form.get("duration")}
    for name in ("aspect_ratio", "resolution", "audio", "upscale_factor", "omni_reference_task_type"):
        if form.get(name) is not None:
            body[name] = form[name]
    if job.prompt:
        body["prompt"] = job.prompt
    if form.get("negative_prompt"):
        body["negative_prompt"] = form["negative_prompt"]
    media = {name: _named(value) for name, value in (form.get("media") or {}).items()}
    return body | media | (form.get("extra") or {})


def _named(value: Any) -> Any:
    """The name of a file in the place of its bytes."""
    if isinstance(value, dict):
        return {name: _named(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_named(inner) for inner in value]
    return tr("… the file {value}", value=value) if isinstance(value, str) else value
