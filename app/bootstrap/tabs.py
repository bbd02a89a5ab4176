"""The tabs of the rail, top to bottom, and how each is made when it is first shown.

A tab's own file here (`speech_tab.py`, …) puts its presenter and page together, most of them in pieces; it is imported
when the tab is built ahead or by the first look at it, whichever comes first, and so costs nothing at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.ui.kit.tab import TabInfo, TabPage, TabPieces

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto

SETTINGS_TAB = TabInfo("settings", "Settings", "settings", at_bottom=True, list_width=232, inspector_width=328)


def _speech(rialto: Rialto) -> TabPieces:
    from app.bootstrap.speech_tab import make_speech_tab

    return make_speech_tab(rialto)


def _transcription(rialto: Rialto) -> TabPieces:
    from app.bootstrap.transcription_tab import make_transcription_tab

    return make_transcription_tab(rialto)


def _crypto_rpc(rialto: Rialto) -> TabPieces:
    from app.bootstrap.crypto_rpc_tab import make_crypto_rpc_tab

    return make_crypto_rpc_tab(rialto)


def _video(rialto: Rialto) -> TabPieces:
    from app.bootstrap.video_tab import make_video_tab

    return make_video_tab(rialto)


def _images(rialto: Rialto) -> TabPieces:
    from app.bootstrap.images_tab import make_images_tab

    return make_images_tab(rialto)


def _wallet(rialto: Rialto) -> TabPieces:
    from app.bootstrap.wallet_tab import make_wallet_tab

    return make_wallet_tab(rialto)


def make_settings(rialto: Rialto) -> TabPieces:
    from app.bootstrap.settings_tab import make_settings_tab

    return make_settings_tab(rialto)


# Between Chat, which is part of the first paint, and Settings.
TABS: tuple[tuple[TabInfo, Callable[[Rialto], TabPage | TabPieces]], ...] = (
    (TabInfo("speech", "Speech", "speech", inspector_width=352), _speech),
    (TabInfo("transcription", "Transcribe", "transcribe"), _transcription),
    (TabInfo("images", "Images", "images", list_width=324), _images),
    (TabInfo("video", "Video", "video", list_width=324, inspector_width=436), _video),
    (TabInfo("crypto_rpc", "Console", "console"), _crypto_rpc),
    (TabInfo("wallet", "Wallet", "wallet", list_width=312), _wallet),
)
