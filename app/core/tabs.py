"""The tabs: what the rail, the receipts, the limits and the chart call each, and which of the service's calls are its.

A new tab is a row here, a folder of its own below `app/ui`, a row in `app/bootstrap/tabs.py`, and the file beside it
that makes the tab (`app/bootstrap/images_tab.py` is one).
"""

from __future__ import annotations

from typing import NamedTuple

from app.translation import tr


class TabInfo(NamedTuple):
    """One tab before it is built. Widths are pixels at 100 % text; the person's own width is remembered over them."""

    name: str  # "chat"; in the database and in settings, so it never changes
    title: str  # "Chat"
    icon: str  # an icon name of resources/icons
    resources: tuple[str, ...] = ()  # of the service: whose receipts and limits are this tab's
    chart: str = ""  # color role in the chart of costs; "" for a tab that spends nothing
    at_bottom: bool = False
    list_width: int = 264
    inspector_width: int = 312


TABS = {
    info.name: info
    for info in (
        TabInfo("chat", tr("Chat"), "chat", ("chat", "models", "characters", "embeddings"), "chart_chat"),
        TabInfo("video", tr("Video"), "video", ("video",), "chart_video", list_width=324, inspector_width=436),
        TabInfo("speech", tr("Speech"), "speech", ("speech", "voices"), "chart_speech", inspector_width=352),
        TabInfo("transcription", tr("Transcribe"), "transcribe", ("transcription",), "chart_transcribe"),
        TabInfo("images", tr("Images"), "images", ("images",), "chart_images", list_width=324),
        TabInfo("crypto_rpc", tr("Console"), "console", ("crypto",), "chart_console"),
        TabInfo("wallet", tr("Wallet"), "wallet", ("billing", "x402"), list_width=312),
        TabInfo(
            "settings", tr("Settings"), "settings", ("account",), at_bottom=True, list_width=232, inspector_width=328
        ),
    )
}
_OWNERS = {resource: info.name for info in TABS.values() for resource in info.resources}


def tab_of(resource: str) -> str:
    """Return the name of the tab that a resource of the service belongs to; the resource itself where none has it."""
    return _OWNERS.get(resource, resource)


def tab_title(name: str) -> str:
    """Return what a tab is called on screen; an unknown name as it is."""
    return TABS[name].title if name in TABS else name
