"""Calls as commands of other programs: curl, Python with web3, and Foundry's `cast`. No key is ever in them.

A module of its own: what other programs are told has nothing to do with widgets.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from app.service.exchange import KEY_VARIABLE, SIGN_IN_VARIABLE, RequestRecord, curl_command
from app.ui.crypto_rpc.session.batch import CallRow, bodies_of


def as_curl(
    url: str, rows: Sequence[CallRow], *, batch: bool, idempotency_key: str = "", sign_in_header: str = ""
) -> str:
    """Return one POST. The account's key, or a wallet's sign-in in `sign_in_header`, comes from the environment."""
    headers = [("Content-Type", "application/json")]
    if idempotency_key:
        headers.append(("Idempotency-Key", idempotency_key))
    record = RequestRecord("POST", "", url, tuple(headers), _body(rows, batch), sign_in_header=sign_in_header)
    return curl_command(record)


def as_python(url: str, rows: Sequence[CallRow], sign_in_header: str = "") -> str:
    """A script for web3, with the calls as they are: nothing is reformatted on the way."""
    lines = [
        "import os",
        "",
        "from web3 import Web3",
        "",
        f"headers = {{{sign_in_header!r}: os.environ[{SIGN_IN_VARIABLE!r}]}}"
        if sign_in_header
        else f'headers = {{"Authorization": f"Bearer {{os.environ[\'{KEY_VARIABLE}\']}}"}}',
        f'provider = Web3.HTTPProvider({url!r}, request_kwargs={{"headers": headers}})',
    ]
    for row in rows:
        lines.append(f"print(provider.make_request({row.method!r}, {_literal(row.params)}))")
    return "\n".join(lines) + "\n"


def as_cast(url: str, rows: Sequence[CallRow], sign_in_header: str = "") -> str:
    """One line a call. `cast` takes the parameters as one JSON text with --raw."""
    header = f"{sign_in_header}: ${SIGN_IN_VARIABLE}" if sign_in_header else f"Authorization: Bearer ${KEY_VARIABLE}"
    command = f'cast rpc --rpc-url {shlex.quote(url)} --rpc-headers "{header}"'
    return "".join(f"{command} {shlex.quote(row.method)} --raw {shlex.quote(row.params_text)}\n" for row in rows)


def _body(rows: Sequence[CallRow], batch: bool) -> object:
    items = bodies_of(rows)
    return items if batch or len(items) != 1 else items[0]


def _literal(params: object) -> str:
    """The parameters as Python writes them; JSON's values are all Python's."""
    return repr(json.loads(json.dumps(params)))
