"""Firmware level and revocation: what Intel's lists of today say of a quote. Nothing is fetched here.

`dcap-qvl` compares; it takes milliseconds and is loaded by the first comparison. It returns bad levels as a status
without an error, so which of them are good enough is decided here, by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from app.sealed.checks import Check, CheckFailed, Damaged, Outcome
from app.translation import tr

GOOD = frozenset({"UpToDate"})
USABLE = frozenset({"SWHardeningNeeded", "ConfigurationAndSWHardeningNeeded"})
FIELDS = (
    "pck_crl_issuer_chain",
    "root_ca_crl",
    "pck_crl",
    "tcb_info_issuer_chain",
    "tcb_info",
    "tcb_info_signature",
    "qe_identity_issuer_chain",
    "qe_identity",
    "qe_identity_signature",
)
OUT_OF_TIME = ("expired", "in the future", "CrlExpired")  # what the library says of lists of another day


@dataclass(frozen=True, slots=True)
class Collateral:
    """Intel's lists for one family of processors, as the library reads them; `text` is JSON."""

    text: str

    def __post_init__(self) -> None:
        """Raises `Damaged`."""
        try:
            content = json.loads(self.text)
        except json.JSONDecodeError as error:
            raise Damaged("collateral", error.pos, tr("Intel’s lists cannot be read.")) from None
        except RecursionError:
            raise Damaged("collateral", 0, tr("Intel’s lists cannot be read.")) from None
        missing = not isinstance(content, dict) or any(not isinstance(content.get(name), str) for name in FIELDS)
        if missing:
            raise Damaged("collateral", 0, tr("Intel’s lists are not complete."))

    def good_until(self) -> datetime | None:
        """When the first of the lists has to be fetched again; None where it does not say."""
        content = json.loads(self.text)
        times = []
        for name in ("tcb_info", "qe_identity"):
            try:
                stated = json.loads(content[name])["nextUpdate"]
                times.append(datetime.fromisoformat(stated.replace("Z", "+00:00")).astimezone(UTC))
            except (ValueError, KeyError, TypeError, AttributeError):
                return None
        return min(times)


class OutOfTime(CheckFailed):
    """Lists that are too old or not valid yet: worth fetching once more, then the computer's clock may be wrong."""


def check_firmware(
    raw: bytes, collateral: Collateral | None, root_der: bytes, now: datetime, *, was_asked: bool = False
) -> Check:
    """Return what Intel's lists say of a quote. Raises `CheckFailed` for a level that is not accepted.

    `was_asked`: whether the lists were asked for, also where none came.
    """
    title = tr("Firmware level and revocation")
    if collateral is None:
        reason = tr("Revocation and firmware level were not checked, because Intel’s servers were not asked.")
        if was_asked:
            reason = tr("Revocation and firmware level were not checked, because Intel’s servers sent no lists.")
        return Check("firmware", title, "", Outcome.NOT_CHECKED, reason)
    import dcap_qvl

    try:
        lists = dcap_qvl.QuoteCollateralV3.from_json(collateral.text)
        report = dcap_qvl.verify_with_root_ca(raw, lists, root_der, int(now.timestamp()))
    except ValueError as error:
        said = str(error).removeprefix("Verification failed: ")[:200]
        if any(words in said for words in OUT_OF_TIME):
            reason = tr("Intel’s lists are not valid now: {said}. This computer’s clock may be wrong.", said=said)
            raise OutOfTime(Check("firmware", title, said, Outcome.FAILED, reason)) from None
        reason = tr("Intel’s lists do not accept this enclave: {said}.", said=said)
        raise CheckFailed(Check("firmware", title, said, Outcome.FAILED, reason)) from None
    status, advisories = str(report.status), ", ".join(map(str, report.advisory_ids))
    value = f"{status} · {advisories}" if advisories else status
    if status in GOOD:
        return Check("firmware", title, value, Outcome.PASSED)
    if status in USABLE:
        reason = tr("Intel advises hardening for this processor. The enclave’s software may already include it.")
        return Check("firmware", title, value, Outcome.NOTED, reason)
    reason = tr("Intel’s lists give this enclave’s firmware the level “{status}”.", status=status)
    raise CheckFailed(Check("firmware", title, value, Outcome.FAILED, reason))


def of_parts(parts: Mapping[str, str]) -> Collateral:
    """Put together what was fetched, part by part, by the names in `FIELDS`. Raises `Damaged`."""
    return Collateral(json.dumps({name: parts.get(name) for name in FIELDS}))


def signed_member(body: bytes, name: str) -> tuple[str, str]:
    """The exact text of one member of a list that Intel sent, and its signature: never written again, for it is signed.

    Raises `Damaged`.
    """
    wrong = tr("Intel’s lists cannot be read.")
    try:
        text = body.decode()
        content = json.loads(text)
        begin = re.search(rf'"{name}"\s*:\s*', text)
        if begin is None or not isinstance(content, dict) or not isinstance(content.get("signature"), str):
            raise Damaged("collateral", 0, wrong)
        _, end = json.JSONDecoder().raw_decode(text, begin.end())
    except UnicodeDecodeError as error:
        raise Damaged("collateral", error.start, wrong) from None
    except json.JSONDecodeError as error:
        raise Damaged("collateral", error.pos, wrong) from None
    except (RecursionError, ValueError):
        raise Damaged("collateral", 0, wrong) from None
    return text[begin.end() : end], content["signature"]
