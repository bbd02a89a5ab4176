"""What was checked of an enclave, made from its evidence for somebody to read. Checking takes milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from app.sealed.evidence import Evidence


class CheckedLine(NamedTuple):
    """One check. `outcome` is "passed", "noted", "not checked" or "failed"; `reason` the sentence that goes with it."""

    title: str
    value: str
    outcome: str
    reason: str = ""


class Measurement(NamedTuple):
    """One value that the processor signs, in hex. `first` is the one first seen, "" where that is the same."""

    name: str
    value: str
    first: str = ""


class SealReport(NamedTuple):
    """One check of a chat's enclave. `hosts` were asked for this check; `evidence` is the file that can be saved."""

    model: str
    checked_at: datetime
    checks: tuple[CheckedLine, ...]
    hosts: tuple[str, ...]
    root_name: str  # the root certificate that the chain ends at, "" where it was not looked at
    is_intel: bool
    measurements: tuple[Measurement, ...]
    first_seen: datetime | None
    evidence: bytes


def report_of(evidence: Evidence, first: tuple[Mapping[str, str], datetime] | None) -> SealReport:
    """Check saved evidence again, as of when it was checked. `first` are the measurements first seen, and when."""
    verdict = evidence.verify()
    known = first[0] if first is not None else {}
    measured = tuple(
        Measurement(name.upper(), value, known.get(name, "") if known.get(name, value) != value else "")
        for name, value in verdict.measurements.items()
    )
    hosts = (evidence.host, *(host for asked in evidence.asked.values() for host in asked))
    return SealReport(
        model=evidence.model,
        checked_at=evidence.checked_at,
        checks=tuple(CheckedLine(each.title, each.value, each.outcome.value, each.reason) for each in verdict.checks),
        hosts=tuple(dict.fromkeys(host for host in hosts if host)),
        root_name=verdict.root.name if any(each.id == "root" and not each.reason for each in verdict.checks) else "",
        is_intel=verdict.root.is_intel,
        measurements=measured,
        first_seen=first[1] if first is not None else None,
        evidence=evidence.to_bytes(),
    )
