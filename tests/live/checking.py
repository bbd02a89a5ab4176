"""Makes the calls, and says how each response fits what Rialto knows of the service."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from app.core.problems import describe
from app.service.errors import BadResponse, ServiceError
from app.service.exchange import Exchange
from app.service.wire import WireModel
from tests.live.calls import LiveCall, LiveRun

HIDDEN = "[hidden]"
PRIVATE_PATHS = ("/api_keys", "/billing", "/x402")
PRIVATE_FIELDS = frozenset(
    {"apiKey", "last6Chars", "description", "notes", "email", "walletAddress", "address", "userId", "user_id"}
)
DOCUMENTED = frozenset(  # fields that the service describes and Rialto does not use
    {
        *("Model.object", "ApiKey.createdAt", "NewApiKey.createdAt", "NewApiKey.consumptionLimit"),
        *("Review.characterId", "Review.userAvatarUrl", "_TranscriptBody.duration"),
        *("UsageAnalytics.byKeyDaily", "UsageAnalytics.byModelDaily"),
        *("UsageAnalytics.topKeyNames", "UsageAnalytics.topModels"),
    }
)
PRIVATE_HEADERS = frozenset({"set-cookie", "x-user-id"})


class Checked(NamedTuple):
    """How one call ended. `sentence` is what a person would read; `new` names fields that no wire model knows."""

    name: str
    outcome: str  # "ok", "refused" or "unreadable"
    sentence: str
    new: tuple[str, ...]

    @property
    def line(self) -> str:
        return f"{self.outcome:10} {self.name}" + "".join(f"\n             {each}" for each in self.details)

    @property
    def details(self) -> tuple[str, ...]:
        return (*((self.sentence,) if self.sentence else ()), *((f"new: {', '.join(self.new)}",) if self.new else ()))


async def check(run: LiveRun, calls: Sequence[LiveCall], tell: Callable[[str], object] = print) -> list[Checked]:
    """Make the calls one after the other; `tell` hears each line as it is known."""
    found = []
    for call in calls:
        outcome, sentence = "ok", ""
        with new_fields() as new:
            run.price = call.usd
            try:
                await call.make(run, call.model)
            except BadResponse as error:
                outcome, sentence = "unreadable", describe(error, subject="").sentence
            except ServiceError as error:
                outcome, sentence = (
                    "refused",
                    f"{describe(error, subject='').sentence} ({error.status}: {error.message})",
                )
            except KeyError as error:  # it needs what an earlier call did not bring
                outcome, sentence = "refused", f"Left out: there is no {error}."
        found.append(Checked(call.name, outcome, sentence, tuple(sorted(new - DOCUMENTED))))
        tell(found[-1].line)
    return found


@contextmanager
def new_fields() -> Iterator[set[str]]:
    """Collect the fields of responses that no wire model names, as `Model.field`."""
    found: set[str] = set()
    usual = WireModel.plausible_only.__func__

    def noting(cls: type[WireModel], made: Any) -> Any:
        found.update(f"{cls.__name__}.{name}" for name in made.model_extra or ())
        return usual(cls, made)

    WireModel.plausible_only = classmethod(noting)  # type: ignore[assignment, method-assign]
    try:
        yield found
    finally:
        WireModel.plausible_only = classmethod(usual)  # type: ignore[assignment, method-assign]


def charged(exchanges: Sequence[Exchange]) -> Decimal:
    return sum((each.cost_usd or Decimal(0) for each in exchanges), Decimal(0))


def hide_personal(file: Path) -> None:
    """Hide in a recording what is about the account: names and ends of keys, addresses, notes."""
    lines = []
    for text in file.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        told = line["response"]
        told["headers"] = [
            [name, HIDDEN if name.lower() in PRIVATE_HEADERS else value] for name, value in told["headers"]
        ]
        if line["request"]["path"].startswith(PRIVATE_PATHS):
            body = "".join(str(each.get("text", "")) for each in told["chunks"])
            try:
                hidden = json.dumps(_hidden(json.loads(body)), ensure_ascii=False)
            except ValueError:
                hidden = HIDDEN if body else ""
            told["chunks"] = [{"wait_s": 0, "text": hidden}]
        lines.append(json.dumps(line, ensure_ascii=False))
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _hidden(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: HIDDEN if name in PRIVATE_FIELDS and each else _hidden(each) for name, each in value.items()}
    return [_hidden(each) for each in value] if isinstance(value, list) else value
