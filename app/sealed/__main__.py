"""`python -m app.sealed verify FILE`: check saved evidence of a sealed chat again, without the service.

Prints one line for each check. Ends with 0 when everything holds and the chain ends at Intel's root, 1 when a check
refuses it, 2 for a damaged file or a wrong call, 3 when everything holds under a root that is not Intel's.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from app.sealed.checks import Damaged, Outcome
from app.sealed.evidence import read_evidence
from app.translation import tr

HOLDS, REFUSED, DAMAGED, NOT_INTEL = 0, 1, 2, 3
SIGNS = {Outcome.PASSED: "✓", Outcome.NOTED: "!", Outcome.NOT_CHECKED: "–", Outcome.FAILED: "✗"}


def main(arguments: Sequence[str]) -> int:
    """Return what the process ends with."""
    if len(arguments) != 2 or arguments[0] != "verify":
        print(tr("Usage: python -m app.sealed verify FILE"), file=sys.stderr)
        return DAMAGED
    try:
        evidence = read_evidence(Path(arguments[1]).read_bytes())
    except OSError as error:
        print(tr("The file cannot be read: {reason}.", reason=error.strerror or ""), file=sys.stderr)
        return DAMAGED
    except Damaged as damage:
        print(tr("{message} The damage is at byte {offset}.", message=str(damage), offset=damage.offset))
        return DAMAGED
    verdict = evidence.verify()
    print(
        tr(
            "{model} at {host}, checked as of {time}",
            model=evidence.model,
            host=evidence.host or "?",
            time=f"{evidence.checked_at:%Y-%m-%d %H:%M:%S %Z}",
        )
    )
    for check in verdict.checks:
        print(f"{SIGNS[check.outcome]} {check.title}: {check.value}" + (f" ({check.reason})" if check.reason else ""))
    for answer, receipt in evidence.check_receipts(verdict):
        print(f"{answer}: {receipt.sentence}")
    if evidence.nvidia is not None:
        print(tr("NVIDIA’s keys come from this file, so they prove nothing about the graphics processor on their own."))
    if verdict.refused:
        print(tr("Refused. This evidence proves nothing."))
        return REFUSED
    if not verdict.root.is_intel:
        print(tr("The chain ends at “{root}”, not at Intel. It proves nothing about hardware.", root=verdict.root.name))
        return NOT_INTEL
    print(tr("All checks passed: a genuine Intel TDX enclave, not in debug mode, held this key."))
    return HOLDS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
