"""Checks an answer to "prove that your key belongs to an enclave": every step here, and every step fails closed.

What it proves: a genuine Intel TDX machine, not in debug mode, holds this key and answered this nonce. Not which
program runs there: no expected measurements are published, so they are only compared with those seen before.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from app.sealed.chain import INTEL_ROOT, Root, check_chain
from app.sealed.checks import Check, CheckFailed, Damaged, Outcome, one_line, require
from app.sealed.collateral import Collateral, OutOfTime, check_firmware
from app.sealed.event_log import check_compose, check_event_log, tcb_info
from app.sealed.gpu import NVIDIA, GpuEvidence, NvidiaAnswer, check_answer, read_gpu_evidence, unanswered
from app.sealed.keys import address_of, read_address, read_key
from app.sealed.quote import (
    MEASURED,
    Quote,
    check_header,
    check_machine,
    check_quoting_enclave,
    decode_quote,
    read_quote,
)
from app.translation import tr

MAX_BYTES = 1024 * 1024
NONCE_BYTES = 32
LONGEST_SESSION = timedelta(minutes=30)
KEY_ALGORITHMS = ("ecdsa", "secp256k1-")
Body = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of checking an attestation. `checks` are in the order they were made; the last of a refused one failed.

    `key` is the model's key (65 bytes), empty when refused. `good_until` is when it has to be asked for again.
    """

    checks: tuple[Check, ...]
    root: Root
    key: bytes = b""
    measurements: Mapping[str, str] = field(default_factory=dict)
    good_until: datetime | None = None
    fmspc: str = ""  # 12 hex digits: whose lists to ask Intel for
    issuer: str = ""  # "platform" or "processor"
    is_gateway: bool = False  # the key is a gateway enclave's, which passes the text on to a further one
    lists_out_of_time: bool = False  # refused for that alone: fetch them once more
    gpu: GpuEvidence | None = None  # what NVIDIA can be asked about

    @property
    def refused(self) -> bool:
        return not self.key

    @property
    def failed(self) -> Check | None:
        """The check that refused it."""
        return self.checks[-1] if self.refused and self.checks else None

    @property
    def is_full(self) -> bool:
        """Whether firmware level and revocation were checked too."""
        return not self.refused and any(
            check.id == "firmware" and check.outcome is not Outcome.NOT_CHECKED for check in self.checks
        )

    @property
    def address(self) -> bytes:
        """The 20 bytes that receipts are held against."""
        return address_of(self.key) if self.key else b""


def verify(
    body: bytes,
    *,
    model: str,
    nonce: bytes,
    now: datetime,
    root: Root = INTEL_ROOT,
    collateral: Collateral | None = None,
    nvidia: NvidiaAnswer | None = None,
    asked: Collection[str] = (),
    known: Mapping[str, str] | None = None,
) -> Verdict:
    """Check the body of an attestation that answers `nonce` for `model`. Never raises; takes milliseconds.

    `root` is the one pinned for the account, `known` the measurements first seen for this host and model. `asked` says
    whether "intel" and "nvidia" were asked, also where nothing came of it.
    """
    work = _Work(model, nonce, now, root, collateral, nvidia, asked, known)
    try:
        return work.verdict(body)
    except CheckFailed as failure:
        late = isinstance(failure, OutOfTime)
        return Verdict(
            (*work.checks, failure.check), root, fmspc=work.fmspc, issuer=work.issuer, lists_out_of_time=late
        )
    except Damaged as damage:
        sentence = tr("{message} The damage is at byte {offset}.", message=str(damage), offset=damage.offset)
        check = Check("damaged", tr("Evidence"), damage.part, Outcome.FAILED, sentence)
        return Verdict((*work.checks, check), root)


class _Work:
    """One verification while it happens."""

    def __init__(
        self,
        model: str,
        nonce: bytes,
        now: datetime,
        root: Root,
        collateral: Collateral | None,
        nvidia: NvidiaAnswer | None,
        asked: Collection[str],
        known: Mapping[str, str] | None,
    ) -> None:
        self.checks: list[Check] = []
        self.fmspc = self.issuer = ""
        self._model, self._nonce, self._now = model, nonce, now
        self._root, self._collateral, self._known = root, collateral, known
        self._nvidia, self._asked = nvidia, asked

    def verdict(self, body: bytes) -> Verdict:
        answer = read_answer(body)
        second = answer.get("attestation")
        inner: Body = second if isinstance(second, Mapping) else {}
        self._check_answer(answer)
        raw = self._quote_bytes(answer, inner)
        self.checks += check_header(raw)
        quote = read_quote(raw)
        self.checks += check_machine(quote)
        key, is_gateway = self._key(answer, inner, quote)
        self._check_binding(answer, key, quote)
        self.checks.append(check_quoting_enclave(quote))
        chain = check_chain(quote, self._root, self._now)
        self.checks += chain.checks
        self.fmspc, self.issuer = chain.fmspc, chain.issuer
        self.checks.append(
            check_firmware(raw, self._collateral, chain.root_der, self._now, was_asked="intel" in self._asked)
        )
        self._check_log(answer, inner, quote)
        self._check_claims(answer, key, quote)
        gpu = self._check_gpu(answer)
        self.checks.append(self._check_measurements(quote))
        return Verdict(
            tuple(self.checks),
            self._root,
            key=key,
            measurements=quote.measurements,
            good_until=self._good_until(inner),
            fmspc=chain.fmspc,
            issuer=chain.issuer,
            is_gateway=is_gateway,
            gpu=gpu,
        )

    def _check_answer(self, answer: Body) -> None:
        named = answer.get("model")
        self._require(
            named == self._model,
            "model",
            tr("Model"),
            one_line(named),
            tr("The attestation is for another model."),
        )
        echoes = [answer[name] for name in ("nonce", "request_nonce") if answer.get(name) is not None]
        wanted = self._nonce.hex()
        same = bool(echoes) and all(isinstance(each, str) and each.lower() == wanted for each in echoes)
        self._require(
            same and len(self._nonce) == NONCE_BYTES,
            "nonce",
            tr("Nonce"),
            wanted if same else one_line(next(iter(echoes), "")),
            tr("The attestation answers a different nonce."),
        )
        source = answer.get("nonce_source")
        self._require(
            source is None or source == "client",
            "nonce_source",
            tr("Nonce source"),
            one_line(source) or tr("not stated"),
            tr("The service made the nonce itself, so the attestation may be an old one."),
        )
        algorithm = answer.get("signing_algo")
        self._require(
            algorithm == "ecdsa",
            "signing_algo",
            tr("Key type"),
            one_line(algorithm),
            tr("The model’s key type is unknown."),
        )

    def _quote_bytes(self, answer: Body, inner: Body) -> bytes:
        evidence = inner.get("evidence")
        nested = evidence.get("quote") if isinstance(evidence, Mapping) else None
        text = next((each for each in (answer.get("intel_quote"), nested, answer.get("quote")) if each), None)
        self._require(
            isinstance(text, str),
            "quote",
            tr("Quote"),
            tr("present") if isinstance(text, str) else tr("missing"),
            tr("The attestation contains no quote. The service’s claims about it prove nothing."),
        )
        return decode_quote(str(text))

    def _key(self, answer: Body, inner: Body, quote: Quote) -> tuple[bytes, bool]:
        """The model's key, and whether it is a gateway's."""
        title = tr("Model key")
        stated = [answer[name] for name in ("signing_public_key", "signing_key") if answer.get(name) is not None]
        is_gateway = not stated
        if stated:
            keys = [read_key(each) for each in stated]
            shown = one_line(stated[0])
            require(None not in keys, "key", title, shown, tr("The model’s key is not a point on its curve."))
            require(len(set(keys)) == 1, "key", title, shown, tr("The attestation names two different keys."))
        else:
            keys = [*(key for key in _second_shape_keys(inner) if address_of(key) == quote.report_data[:20])]
        key = keys[0] if keys else None
        if key is None:
            raise CheckFailed(
                Check("key", title, "", Outcome.FAILED, tr("The attestation contains no key that the quote names."))
            )
        self.checks.append(Check("key", title, key.hex(), Outcome.PASSED))
        if is_gateway:
            reason = tr("A gateway enclave holds the key and passes the text on to another enclave.")
            self.checks.append(Check("gateway", tr("Key holder"), tr("gateway"), Outcome.NOTED, reason))
        return key, is_gateway

    def _check_binding(self, answer: Body, key: bytes, quote: Quote) -> None:
        address, data = address_of(key), quote.report_data
        self._require(
            data[:20] == address,
            "report_data_key",
            tr("Key in the quote"),
            f"0x{data[:20].hex()}",
            tr("The quote names a different key than the attestation."),
        )
        self._require(
            not any(data[20:32]),
            "report_data_zero",
            tr("Unused bytes of the report data"),
            data[20:32].hex(),
            tr("The quote’s report data contains something unexpected in addition to the key."),
        )
        hashed = hashlib.sha256(self._nonce).digest()
        self._require(
            data[32:] in (self._nonce, hashed),
            "report_data_nonce",
            tr("Nonce in the quote"),
            data[32:].hex(),
            tr("The quote answers a different nonce. It may be an old quote."),
        )
        stated = answer.get("signing_address")
        self._require(
            read_address(stated) == address,
            "signing_address",
            tr("Signing address"),
            one_line(stated),
            tr("The stated signing address does not belong to the model’s key."),
        )

    def _check_log(self, answer: Body, inner: Body, quote: Quote) -> None:
        evidence = inner.get("evidence")
        nested = evidence.get("event_log") if isinstance(evidence, Mapping) else None
        info = answer.get("info")
        logs = [each for each in (answer.get("event_log"), nested, tcb_info(info).get("event_log")) if each]
        first, *more = (check_event_log(log, quote) for log in (logs or [None]))
        self.checks.append(first[0])
        self.checks.append(check_compose(info, first[1], quote))
        for _, events in more:
            check_compose(info, events, quote)

    def _check_claims(self, answer: Body, key: bytes, quote: Quote) -> None:
        """What the service says that it checked is no evidence for anything, but a contradiction is one against it."""
        contradicted = _contradiction(answer, key, quote)
        self._require(
            not contradicted,
            "claims",
            tr("The service’s own checks"),
            contradicted or tr("no contradiction"),
            tr("The service’s own check says otherwise: {claim}.", claim=contradicted),
        )

    def _check_gpu(self, answer: Body) -> GpuEvidence | None:
        line, evidence = read_gpu_evidence(answer.get("nvidia_payload"), self._nonce)
        said = self._nvidia
        if evidence is not None and said is not None:
            trusted = said.issuer == NVIDIA or not self._root.is_intel
            issuer = tr("NVIDIA’s answer names a different issuer.")
            require(trusted, "gpu", line.title, one_line(said.issuer), issuer)
            line = check_answer(evidence, said, self._nonce, self._now)
        elif evidence is not None and "nvidia" in self._asked:
            line = unanswered(line)
        self.checks.append(line)
        return evidence

    def _check_measurements(self, quote: Quote) -> Check:
        title, value = tr("Measurements"), quote.mrconfigid.hex()
        if self._known is None:
            reason = tr(
                "First time for this model. No expected values are published, so they are saved for comparison."
            )
            return Check("measurements", title, value, Outcome.NOTED, reason)
        now = quote.measurements
        changed = [name.upper() for name in MEASURED if self._known.get(name) != now[name]]
        if changed:
            reason = tr("Changed since first seen for this model: {names}.", names=", ".join(changed))
            return Check("measurements_changed", title, value, Outcome.NOTED, reason)
        return Check("measurements", title, value, Outcome.PASSED)

    def _good_until(self, inner: Body) -> datetime:
        ends = self._now + LONGEST_SESSION
        freshness, keyset = inner.get("freshness"), inner.get("workload_keyset")
        epoch = keyset.get("keyset_epoch") if isinstance(keyset, Mapping) else None
        for record, name in ((freshness, "stale_after"), (epoch, "not_after")):
            stated = record.get(name) if isinstance(record, Mapping) else None
            if type(stated) is int and 0 < stated < 2**35:
                ends = min(ends, datetime.fromtimestamp(stated, UTC))
        self._require(
            ends > self._now,
            "freshness",
            tr("Valid until"),
            f"{ends:%Y-%m-%d %H:%M:%S} UTC",
            tr("The attestation is no longer valid."),
        )
        return ends

    def _require(self, holds: bool, identifier: str, title: str, value: str, reason: str) -> None:
        self.checks.append(require(holds, identifier, title, value, reason))


def read_answer(body: bytes) -> Body:
    """The JSON object of an attestation. Raises `Damaged` with the offset."""
    if len(body) > MAX_BYTES:
        raise Damaged("attestation", MAX_BYTES, tr("The attestation is larger than 1 MB."))
    try:
        content = json.loads(body.decode())  # json would guess other encodings
    except json.JSONDecodeError as error:
        raise Damaged("attestation", error.pos, tr("The attestation cannot be read.")) from None
    except UnicodeDecodeError as error:
        raise Damaged("attestation", error.start, tr("The attestation cannot be read.")) from None
    except (RecursionError, ValueError):
        raise Damaged("attestation", 0, tr("The attestation cannot be read.")) from None
    if not isinstance(content, dict):
        raise Damaged("attestation", 0, tr("The attestation is not an object."))
    return content


def _second_shape_keys(inner: Body) -> list[bytes]:
    keyset = inner.get("workload_keyset")
    listed = keyset.get("e2ee_public_keys") if isinstance(keyset, Mapping) else None
    found = []
    for entry in listed if isinstance(listed, list) else ():
        algorithm = entry.get("algo") if isinstance(entry, Mapping) else None
        if isinstance(algorithm, str) and algorithm.startswith(KEY_ALGORITHMS):
            key = read_key(entry.get("public_key"))
            found += [key] if key is not None else []
    return found


def _contradiction(answer: Body, key: bytes, quote: Quote) -> str:
    """The name of the first claim of the service that says that something is wrong; empty when there is none."""
    if answer.get("verified") is False:
        return "verified"
    claims = _record(answer, "server_verification")
    tdx, gpu, address = _record(claims, "tdx"), _record(claims, "nvidia"), _record(claims, "signingAddressBinding")
    nonce, gpu_nonce = _record(claims, "nonceBinding"), _record(claims, "nvidiaNonceBinding")
    truths = (
        *((f"tdx.{name}", tdx.get(name)) for name in ("valid", "signatureValid", "certificateChainValid")),
        *((f"tdx.{name}", tdx.get(name)) for name in ("rootCaPinned", "attestationKeyMatch")),
        ("nvidia.valid", gpu.get("valid")),
        ("nvidia.signatureVerified", gpu.get("signatureVerified")),
        ("signingAddressBinding.bound", address.get("bound")),
        ("nonceBinding.bound", nonce.get("bound")),
        ("nvidiaNonceBinding.bound", gpu_nonce.get("bound")),
    )
    for name, claimed in truths:
        if claimed is False:
            return name
    if _record(tdx, "crlCheck").get("revoked") is True:
        return "tdx.crlCheck.revoked"
    named = address.get("reportDataAddress")
    if isinstance(named, str) and read_address(named) != address_of(key):
        return "signingAddressBinding.reportDataAddress"
    data = tdx.get("reportData")
    if isinstance(data, str) and data.lower().removeprefix("0x") != quote.report_data.hex():
        return "tdx.reportData"
    measured = _record(tdx, "measurements")
    for name, value in quote.measurements.items():
        claimed = measured.get(name)
        if isinstance(claimed, str) and claimed.lower().removeprefix("0x") != value:
            return f"tdx.measurements.{name}"
    return ""


def _record(content: Body, name: str) -> Body:
    found = content.get(name)
    return found if isinstance(found, Mapping) else {}
