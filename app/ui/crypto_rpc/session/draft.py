"""The request that is being written: rows and text kept in step, the key that goes with it. No Qt, no network.

Whichever of rows and text is edited is the truth for that moment; the other follows with every good edit. A text with a
fault leaves the rows as they were and says where the fault is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.service.crypto_rpc import AUTO, MAX_BATCH_ITEMS, RpcId
from app.service.rpc_methods import STATE_CHANGING
from app.ui.crypto_rpc.session.batch import CallRow, TextProblem, moved, numbered, read_params, read_text, text_of, tidy
from app.ui.crypto_rpc.session.pasting import read_pasted
from app.ui.crypto_rpc.session.variables import filled, used_in
from app.ui.crypto_rpc.state import EditorMode

FIRST_NETWORK = "ethereum-mainnet"
FIRST_CALL = CallRow(1, "eth_blockNumber", [])
SIGNED = "{{signed_transaction}}"
_WRITTEN = (
    *("rows", "batch", "selected", "mode", "text", "text_problems"),
    *("params_text", "params_problem", "field_texts", "field_problem"),
)


class Draft:
    """Rows, text, selection, key and variables of one request."""

    def __init__(self, network: str, key: str) -> None:
        self.network = network
        self.rows: tuple[CallRow, ...] = (FIRST_CALL,)
        self.batch = False  # written as a list although it holds one call
        self.selected = 0  # index into rows
        self.mode: EditorMode = "rows"
        self.text = text_of(self.rows, batch=False)
        self.text_problems: tuple[TextProblem, ...] = ()
        self.params_text = "[]"
        self.params_problem: TextProblem | None = None
        self.form = False  # whether the selected call's parameters are shown as fields too
        self.field_texts: tuple[str, ...] = ()  # typed in those fields; () while they show the row
        self.field_problem = ""
        self.key = key
        self.key_used = True
        self.key_typed = False  # by a person, who then decides when another one is taken
        self.variables: dict[str, Any] = {}
        self.rest: tuple[CallRow, ...] = ()  # the other part of a batch that was split
        self._show_selected()

    # Everything a person has entered

    def written(self) -> dict[str, object]:
        """Return calls, text and variables, for `write`."""
        return {name: getattr(self, name) for name in ("network", *_WRITTEN, "rest", "variables")}

    def write(self, written: Mapping[str, object]) -> None:
        for name, value in written.items():
            setattr(self, name, value)

    @property
    def half_written(self) -> tuple[str, ...]:
        """What was typed that is in no call yet, because it has a fault."""
        return (
            *((self.text,) if self.text_problems else ()),
            *((self.params_text,) if self.params_problem is not None else ()),
            *(self.field_texts if self.field_problem else ()),
        )

    # Rows

    @property
    def changes_state(self) -> bool:
        return any(row.method in STATE_CHANGING for row in self.rows)

    @property
    def is_whole(self) -> bool:
        """True when nothing in it is half written, and it holds no more than one request takes."""
        fits = 0 < len(self.rows) <= MAX_BATCH_ITEMS
        faulty = self.text_problems or self.params_problem is not None or (self.form and self.field_problem)
        return fits and not faulty

    @property
    def current(self) -> CallRow | None:
        return self.rows[self.selected] if 0 <= self.selected < len(self.rows) else None

    def select(self, place: int) -> None:
        if 0 <= place < len(self.rows) and place != self.selected:
            self.selected = place
            self._show_selected()

    def set_rows(self, rows: Sequence[CallRow], *, selected: int | None = None, batch: bool | None = None) -> None:
        """Other calls, renumbered; the text follows."""
        self.rows = numbered(rows)
        if batch is not None:
            self.batch = batch
        self.selected = max(0, min(len(self.rows) - 1, self.selected if selected is None else selected))
        self._write_text()
        self._show_selected()

    def add(self, method: str, params: Sequence[object] | Mapping[str, object]) -> None:
        """One call more at the end, selected. An untouched first call makes room for it."""
        rows = () if self.rows == (FIRST_CALL,) and method != FIRST_CALL.method else self.rows
        self.set_rows((*rows, CallRow(len(rows) + 1, method, params)), selected=len(rows))

    def remove(self, places: Sequence[int]) -> None:
        self.set_rows([row for at, row in enumerate(self.rows) if at not in places])

    def insert(self, rows: Sequence[tuple[int, CallRow]]) -> None:
        """Put calls into their places, from the first to the last; the first of them is selected."""
        all_rows = list(self.rows)
        for place, row in rows:
            all_rows.insert(place, row)
        self.set_rows(all_rows, selected=rows[0][0])

    def split(self) -> None:
        """Keep as many calls as one request takes; `set_remaining` shows the others."""
        if not self.rest:
            rows = self.rows
            self.rest = rows[MAX_BATCH_ITEMS:]
            self.set_rows(rows[:MAX_BATCH_ITEMS], selected=0, batch=True)

    def set_remaining(self) -> None:
        """Show the other part of a batch that was split; this one is kept in its place."""
        rows, self.rest = self.rest, self.rows
        self.set_rows(rows, selected=0, batch=True)

    def duplicate(self, place: int) -> None:
        if 0 <= place < len(self.rows):
            rows = list(self.rows)
            rows.insert(place + 1, rows[place])
            self.set_rows(rows, selected=place + 1)

    def move(self, place: int, step: int) -> None:
        rows = moved(self.rows, place, step)
        if rows != self.rows:
            self.set_rows(rows, selected=place + step)

    def set_method(self, place: int, method: str) -> None:
        """Another method; what is in the editor of its parameters stays, half written or whole."""
        if 0 <= place < len(self.rows):
            rows = list(self.rows)
            rows[place] = replace(rows[place], method=method.strip())
            self.rows = tuple(rows)
            self._write_text()

    def set_id(self, place: int, rpc_id: RpcId) -> None:
        """Give a call the id it goes out with; its own place is what it has without one."""
        if 0 <= place < len(self.rows):
            rows = list(self.rows)
            rows[place] = replace(rows[place], rpc_id=AUTO if rpc_id == place + 1 else rpc_id)
            self.set_rows(rows)

    def set_params_text(self, text: str) -> None:
        """What stands in the editor of the selected call; a fault in it leaves the row as it was."""
        self.params_text = text
        self._clear_fields()
        read = read_params(text)
        if isinstance(read, TextProblem):
            self.params_problem = read
            return
        self.params_problem = None
        if self.current is not None:
            rows = list(self.rows)
            rows[self.selected] = replace(rows[self.selected], params=read)
            self.rows = tuple(rows)
            self._write_text()

    def set_fields(self, texts: Sequence[str], params: Sequence[object] | None, problem: str) -> None:
        """Take what was typed in the form of the selected call. Without `params` the row stays as it was."""
        if params is not None:
            self.set_params(params)
        self.field_texts, self.field_problem = tuple(texts), problem

    def set_params(self, params: Sequence[object] | Mapping[str, object]) -> None:
        """Other parameters for the selected call."""
        if self.current is not None:
            rows = list(self.rows)
            rows[self.selected] = replace(rows[self.selected], params=params)
            self.set_rows(rows)

    def tidy(self) -> None:
        if self.mode == "json":
            self.set_text(tidy(self.text))
        else:
            self.set_params_text(tidy(self.params_text))

    # Text

    def set_mode(self, mode: EditorMode) -> None:
        """A text with a fault stays in its own view until it is mended."""
        if mode == "rows" and self.text_problems:
            return
        self.mode = mode
        self._show_selected()

    def set_text(self, text: str) -> None:
        self.text = text
        read = read_text(text)
        self.text_problems = read.problems or ((TextProblem(1, read.double_id),) if read.double_id else ())
        if not self.text_problems:
            self.rows, self.batch = read.rows, read.batch
            self.selected = min(self.selected, len(self.rows) - 1)
            self._show_selected()

    def paste(self, text: str, *, replacing: bool = False) -> tuple[TextProblem, ...]:
        """Add what somebody copied behind the calls that are there, or put it in their place.

        Returns what was wrong with it.
        """
        pasted = read_pasted(text)
        if pasted.read.problems:
            return pasted.read.problems
        rows = () if replacing or self.rows == (FIRST_CALL,) else self.rows
        self.set_rows((*rows, *pasted.read.rows), selected=len(rows), batch=self.batch or pasted.read.batch)
        if pasted.network:
            self.network = pasted.network
        return ()

    # The key

    def set_idempotency_key(self, key: str, *, typed: bool = False) -> None:
        self.key, self.key_typed = key, typed

    # What goes out

    def filled(self) -> tuple[CallRow, ...]:
        """The calls with their variables' values."""
        return filled(self.rows, self.variables)

    def missing(self) -> tuple[str, ...]:
        """Variables that have no value yet."""
        return tuple(name for name in used_in(self.rows) if name not in self.variables)

    # On disk

    def kept(self) -> dict[str, object]:
        """What is kept between two starts. A signed transaction is not: it stands where the person has it."""
        rows = [
            replace(row, params=[SIGNED, *list(row.params)[1:]])
            if row.method in STATE_CHANGING and not isinstance(row.params, Mapping) and row.params
            else row
            for row in self.rows
        ]
        return {
            "network": self.network,
            "items": json.loads(text_of(rows, batch=True)),
            "rest": json.loads(text_of(self.rest, batch=True)) if self.rest and not self.changes_state else [],
            "batch": self.batch,
            "mode": self.mode,
            "text": self.text if self.text_problems and not self.changes_state else "",
            "selected": self.selected,
            "params_text": self.params_text if self.params_problem and not self.changes_state else "",
            "field_texts": list(self.field_texts) if self.field_problem and not self.changes_state else [],
            "field_problem": self.field_problem,
            "key": self.key,
            "key_used": self.key_used,
            "key_typed": self.key_typed,
            "variables": dict(self.variables),
        }

    def restore_kept(self, kept: object) -> None:
        """Take what `kept` gave, as far as it can be read."""
        if not isinstance(kept, Mapping):
            return
        read = read_text(json.dumps(kept.get("items", [])))
        if read.rows and not read.problems:
            selected = kept.get("selected")
            selected = selected if isinstance(selected, int) else 0
            self.set_rows(read.rows, selected=selected, batch=kept.get("batch") is True)
        rest = read_text(json.dumps(kept.get("rest", [])))
        self.rest = rest.rows if not rest.problems else ()
        for name, kind in (("network", str), ("key", str), ("key_used", bool), ("key_typed", bool)):
            if isinstance(kept.get(name), kind) and kept[name] != "":
                setattr(self, name, kept[name])
        variables = kept.get("variables")
        if isinstance(variables, Mapping):
            self.variables = {str(name): value for name, value in variables.items()}
        if kept.get("mode") == "json":
            self.mode = "json"
            if isinstance(kept.get("text"), str) and kept["text"]:
                self.set_text(kept["text"])
        if isinstance(kept.get("params_text"), str) and kept["params_text"]:
            self.set_params_text(kept["params_text"])
        texts, problem = kept.get("field_texts"), kept.get("field_problem")
        if isinstance(texts, list) and texts and isinstance(problem, str):
            self.field_texts, self.field_problem = tuple(str(text) for text in texts), problem

    def join_kept(self, kept: object) -> bool:
        """Take what `kept` gave behind what was typed meanwhile: nothing of either is lost, half written or whole.

        What is being typed stays first and as it is, so that the next key goes where the last one went. Return
        whether anything was typed.
        """
        before = Draft(FIRST_NETWORK, self.key)
        before.restore_kept(kept)
        if self.network == FIRST_NETWORK:
            self.network = before.network
        if not self.key_typed:
            self.key, self.key_used, self.key_typed = before.key, before.key_used, before.key_typed
        self.variables = {**before.variables, **self.variables}
        self.rest = before.rest
        if self.rows == (FIRST_CALL,) and self.is_whole:  # nothing was typed
            for name in _WRITTEN:
                setattr(self, name, getattr(before, name))
            return False
        if self.text_problems or before.text_problems or before.params_problem:
            parts = (self.text, self._faulty_params, before.text, before._faulty_params)
            self.mode = "json"
            self.set_text("\n\n".join(part for part in parts if part))  # which has a fault: nothing is sent of it
        else:
            self.rows, self.batch = numbered((*self.rows, *before.rows)), self.batch or before.batch
            self._write_text()
        return True

    @property
    def _faulty_params(self) -> str:
        return self.params_text if self.params_problem is not None else ""

    def _write_text(self) -> None:
        self.text = text_of(self.rows, batch=self.batch)
        self.text_problems = ()

    def _show_selected(self) -> None:
        row = self.current
        self.params_text = "" if row is None else tidy(row.params_text)
        self.params_problem = None
        self._clear_fields()

    def _clear_fields(self) -> None:
        self.field_texts, self.field_problem = (), ""
