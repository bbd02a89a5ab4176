"""How durations, times of day and dates are written: a dash for what is none (`or_dash`)."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from app.core.number_format import finite, or_dash
from app.formats import current, format_number, written
from app.translation import tr

LONGEST_COUNTDOWN_S = 300.0  # a longer wait is told as a time of day, and is the person's to decide on
LONGEST_S = 10_000 * 3600  # a duration of more than a year is a mistake, too


@or_dash
def duration(seconds: float | None) -> str:
    """Return how long something took: `84 ms`, `4.2 s`, `1 min 12 s`, `2 h 5 min`."""
    seconds = finite(seconds, LONGEST_S)
    if seconds < 0.5:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < 59.95:
        return f"{format_number(seconds, 1)} s"
    whole = round(seconds)
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return (
            tr("{minutes} min {rest} s", minutes=minutes, rest=rest) if rest else tr("{minutes} min", minutes=minutes)
        )
    hours, rest = divmod(whole // 60, 60)
    return tr("{hours} h {rest} min", hours=hours, rest=rest) if rest else f"{hours} h"


@or_dash
def countdown(seconds: float | None) -> str:
    """Return the time left as a clock: `0:23`, `12:05`, `1:02:03`. Rounds up, so that 0:00 means now."""
    return _clock(-int(-finite(seconds, LONGEST_S) // 1))


@or_dash
def position(seconds: float | None) -> str:
    """Return a length of sound or a place in it: `0:06`, `4:47`, `1:02:09`."""
    return _clock(whole_seconds(seconds))


def length(seconds: float | None) -> str:
    """Return how long sound is, as `position` writes it, and never nothing for something: `0:01` for 0.4 s."""
    return position(1 if seconds is not None and 0 < seconds < 1 else seconds)


def whole_seconds(seconds: float | None) -> int:
    """Return the seconds that have passed whole. Raises `ValueError` for NaN and for more than a year."""
    return int(finite(seconds, LONGEST_S))


def _clock(seconds: int) -> str:
    hours, rest = divmod(max(0, seconds), 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


@or_dash
def clock(at: datetime | None) -> str:
    """Return a local time of day: `14:06:41`."""
    return _written(at, current().clock)


@or_dash
def time_of_day(at: datetime | None) -> str:
    """Return a local time of day without seconds: `14:06`."""
    return _written(at, current().time)


@or_dash
def day(at: datetime | None) -> str:
    """Return a local day: `Mar 3, 2026`."""
    return _written(at, current().date)


@or_dash
def day_of_year(at: date | None, *, long: bool = False) -> str:
    """Return a day without its year: `Mar 3`, or `long` as `March 3`. A moment is taken in local time."""
    return _written(at, current().long_day if long else current().day)


@or_dash
def moment(at: datetime | None) -> str:
    """Return a local moment: `Mar 3, 2026, 14:06`."""
    return f"{_written(at, current().date)}, {_written(at, current().time)}"


def _written(at: date | None, pattern: str) -> str:
    """Raises `ValueError` for no moment, and for one that has no local time."""
    if at is None:
        raise ValueError
    return written(at.astimezone() if isinstance(at, datetime) else at, pattern)


@or_dash
def coming(at: datetime, now: datetime) -> str:
    """Return a moment to come as people say it, never too early: `at 14:07`, `tomorrow at 09:00`, `Mar 3 at 09:00`."""
    local, today = (at + timedelta(seconds=59, microseconds=999_999)).astimezone(), now.astimezone().date()
    clock_time = tr("at {local}", local=written(local, current().time))
    if local.date() == today:
        return clock_time
    if local.date() == today + timedelta(days=1):
        return tr("tomorrow {clock_time}", clock_time=clock_time)
    return tr("{day} {clock_time}", day=written(local, current().day), clock_time=clock_time)


@or_dash
def due(seconds: float, now: datetime) -> str:
    """Return when a wait ends: `in 0:58`, and beyond five minutes the time of day."""
    if seconds <= LONGEST_COUNTDOWN_S:
        return tr("in {seconds}", seconds=countdown(seconds))
    return coming(now + timedelta(seconds=seconds), now)


@or_dash
def when(at: datetime | None, now: datetime) -> str:
    """Return a moment in the past as people say it: `4 min ago`, `today 11:47`, `yesterday 09:10`, `Mar 3, 2026`."""
    if at is None:
        raise ValueError
    local, today = at.astimezone(), now.astimezone()
    passed = now - at
    if timedelta() <= passed < timedelta(minutes=1):
        return tr("just now")
    if timedelta() <= passed < timedelta(hours=1):
        return tr("{passed} min ago", passed=int(passed.total_seconds() // 60))
    days = (today.date() - local.date()).days
    if days in (0, 1):
        time = written(local, current().time)
        return tr("yesterday {time}", time=time) if days else tr("today {time}", time=time)
    return day(at)


@or_dash
def day_group(at: datetime | None, now: datetime) -> str:
    """Return the heading of a list that a moment stands under: `Today`, `Yesterday`, `This week`, `November 2026`."""
    if at is None:
        raise ValueError
    local, today = at.astimezone().date(), now.astimezone().date()
    days = (today - local).days
    if days <= 1:
        return tr("Yesterday") if days == 1 else tr("Today")
    if days < 7:
        return tr("This week")
    if (local.year, local.month) == (today.year, today.month):
        return tr("This month")
    return written(local, current().month)
