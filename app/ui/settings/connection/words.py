"""Hops, and what was kept, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.settings.connection.state import HopRow

if TYPE_CHECKING:
    from app.service.http.network_check import Hop

TITLES = {
    "proxy_name": tr("Find proxy"),
    "proxy": tr("Connect to proxy"),
    "proxy_tls": tr("Proxy certificate"),
    "proxy_answer": tr("Proxy response"),
    "name": tr("Find service"),
    "connect": tr("Connect to service"),
    "tls": tr("Service certificate"),
    "http": tr("Service response"),
    "key": tr("API key"),
}
STATES = {"waiting": "waiting", "running": "running", "ok": "OK", "bad": "failed", "skipped": tr("not tested")}


def hop_row(hop: Hop) -> HopRow:
    took = "" if hop.took_ms is None else f"{hop.took_ms} ms"
    sentence = hop.sentence
    if not sentence and hop.state == "skipped":
        sentence = tr("Not tested because an earlier step failed.")
    return HopRow(hop.name, TITLES[hop.name], hop.state, sentence, took)


def summary(hops: tuple[Hop, ...]) -> tuple[bool, str]:
    """Whether the service was reached, and the test in one sentence."""
    failed = next((hop for hop in hops if hop.state == "bad"), None)
    if failed is not None:
        return False, tr("Failed at “{titles}”.", titles=TITLES[failed.name])
    total_ms = sum(hop.took_ms or 0 for hop in hops)
    return True, tr("Reached the service in {total_ms} ms.", total_ms=total_ms)
