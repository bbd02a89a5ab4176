"""The request that is being written, as the page shows it: prices, warnings, what is missing."""

from __future__ import annotations

from dataclasses import replace

from app.core.problems import Problem
from app.service.rpc_methods import estimate
from app.translation import tr
from app.ui.crypto_rpc.session.batch import CallRow
from app.ui.crypto_rpc.session.draft import Draft
from app.ui.crypto_rpc.session.methods import MethodCatalog, MethodInfo
from app.ui.crypto_rpc.session.networks import NetworkRow, network_title
from app.ui.crypto_rpc.session.parameter_fields import fields_of
from app.ui.crypto_rpc.state import DraftView, RowView, SelectedCall

EMPTY = MethodCatalog({"families": {}, "never": {}}, {})


def method_info(catalog: MethodCatalog | None, network: str, name: str) -> MethodInfo:
    """What is known of a method on a network, before the lists were read too."""
    return (catalog or EMPTY).info(network, name)


def draft_view(
    draft: Draft,
    catalog: MethodCatalog | None,
    network: NetworkRow,
    *,
    key_words: tuple[str, str],
    able: bool,
    sending: bool,
    problem: Problem | None,
) -> DraftView:
    """`able`: there is somebody to send it to, and nothing is on its way."""
    rows = tuple(_row_view(draft, catalog, row) for row in draft.rows)
    cost = estimate(draft.network, tuple(row.method for row in draft.rows))
    missing = draft.missing()
    ready = draft.is_whole and not missing and not any(row.refusal for row in rows)
    return DraftView(
        network,
        rows,
        _selected_view(draft, catalog),
        draft.mode,
        draft.text,
        draft.text_problems,
        cost.credits,
        cost.low_usd,
        cost.high_usd,
        draft.key_used or draft.changes_state,
        draft.key,
        *key_words,
        missing,
        ready and able,
        sending,
        problem,
        len(draft.rest),
    )


def _row_view(draft: Draft, catalog: MethodCatalog | None, row: CallRow) -> RowView:
    network = draft.network
    method = method_info(catalog, network, row.method)
    warning = ""
    if catalog is not None and row.method and not method.refusal:
        if not catalog.fits(network, row.method):
            warning = tr(
                "{method} is not a method of {network_title}.", method=row.method, network_title=network_title(network)
            )
        elif not catalog.is_known(network, row.method):
            warning = tr("{method} is not in the service’s list, so it may be refused.", method=row.method)
            if len(draft.rows) > 1:
                warning = tr(
                    "Call {id}: {method} is not in the service’s list, so the whole batch may be refused.",
                    id=row.id,
                    method=row.method,
                )
    refusal = method.refusal or ("" if row.method else tr("Every call needs a method."))
    return RowView(row.id, row.method, row.params_text, method.tier, method.credits, refusal, warning)


def _selected_view(draft: Draft, catalog: MethodCatalog | None) -> SelectedCall | None:
    row = draft.current
    if row is None:
        return None
    method = method_info(catalog, draft.network, row.method)
    fields = fields_of(method.parameters, row.params)
    if len(draft.field_texts) == len(fields):
        fields = tuple(replace(field, text=text) for field, text in zip(fields, draft.field_texts, strict=True))
    return SelectedCall(
        row.id,
        row.method,
        draft.params_text,
        method.help,
        method.parameters,
        draft.params_problem,
        fields,
        draft.field_problem if draft.form else "",
    )
