"""Hops, and what was kept, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ui.settings.connection.state import HopRow

if TYPE_CHECKING:
    from app.service.http.network_check import Hop

TITLES = {
    "proxy_name": "Find proxy",
    "proxy": "Connect to proxy",
    "proxy_tls": "Proxy certificate",
    "proxy_answer": "Proxy response",
    "name": "Find service",
    "connect": "Connect to service",
    "tls": "Service certificate",
    "http": "Service response",
    "key": "API key",
}
STATES = {"waiting": "waiting", "running": "running", "ok": "OK", "bad": "failed", "skipped": "not tested"}


def hop_row(hop: Hop) -> HopRow:
    took = "" if hop.took_ms is None else f"{hop.took_ms} ms"
    sentence = hop.sentence
    if not sentence and hop.state == "skipped":
        sentence = "Not tested because an earlier step failed."
    return HopRow(hop.name, TITLES[hop.name], hop.state, sentence, took)


def summary(hops: tuple[Hop, ...]) -> tuple[bool, str]:
    """Whether the service was reached, and the test in one sentence."""
    failed = next((hop for hop in hops if hop.state == "bad"), None)
    if failed is not None:
        return False, f"Failed at “{TITLES[failed.name]}”."
    total_ms = sum(hop.took_ms or 0 for hop in hops)
    return True, f"Reached the service in {total_ms} ms."
