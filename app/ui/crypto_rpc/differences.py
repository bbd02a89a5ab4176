"""What differs between two answers, place by place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.ui.crypto_rpc.outcomes import CallOutcome
from app.ui.shared.json_tree_model import Path, TreeRoot, path_text

MAX_DIFFERENCES = 2_000


@dataclass(frozen=True, slots=True)
class Missing:
    """Stands where one of the two answers has nothing."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Difference:
    """`path` begins with the number of the call, from 0."""

    path: Path
    before: object
    after: object


def differences(before: object, after: object, path: Path, limit: int = MAX_DIFFERENCES) -> list[Difference]:
    """Every place where two JSON values differ, in order, at most `limit`. Lists are compared place by place."""
    found: list[Difference] = []
    waiting: list[tuple[Path, object, object]] = [(path, before, after)]
    while waiting and len(found) < limit:
        place, old, new = waiting.pop()
        if isinstance(old, dict) and isinstance(new, dict):
            names = list(dict.fromkeys([*old, *new]))
            waiting += [((*place, each), old.get(each, MISSING), new.get(each, MISSING)) for each in reversed(names)]
        elif isinstance(old, list) and isinstance(new, list):
            most = max(len(old), len(new))
            waiting += [
                (
                    (*place, at),
                    old[at] if at < len(old) else MISSING,
                    new[at] if at < len(new) else MISSING,
                )
                for at in range(most - 1, -1, -1)
            ]
        elif type(old) is not type(new) or old != new:
            found.append(Difference(place, old, new))
    return found


def compared(before: Sequence[CallOutcome], after: Sequence[CallOutcome]) -> tuple[TreeRoot, ...]:
    """The differences of two runs of one request, as rows of a tree. Call it in a thread."""
    rows: list[TreeRoot] = []
    for number, (old, new) in enumerate(zip(before, after, strict=False)):
        for each in differences(old.value, new.value, (number,), MAX_DIFFERENCES - len(rows)):
            sides = {
                name: value for name, value in (("before", each.before), ("now", each.after)) if value is not MISSING
            }
            note = "new" if each.before is MISSING else "gone" if each.after is MISSING else "other"
            rows.append(TreeRoot(path_text(each.path) or new.method, sides, str(new.id), note))
    return tuple(rows)
