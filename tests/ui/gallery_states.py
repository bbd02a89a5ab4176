"""Errors, and what stands where there is nothing yet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from PySide6.QtWidgets import (
    QWidget,
)

from app.core.problems import ActionSpec, Problem
from app.ui.kit.widgets.banner import Banner, BannerSpec
from app.ui.kit.widgets.card import Card
from app.ui.kit.widgets.details_block import DetailsBlock
from app.ui.kit.widgets.empty_state import EmptyState, Skeleton
from app.ui.kit.widgets.error_card import ErrorCard
from app.ui.kit.widgets.toast import Toast
from tests.ui.gallery_page import Page


def errors(page: Page) -> None:
    theme = page.theme
    until = datetime.now(UTC) + timedelta(seconds=23)
    cases = (
        (
            "401, in the chat that failed",
            Problem(
                "The service did not accept your API key",
                "Nothing was charged, and your message is still in the box below. The key may have been deleted or "
                "replaced.",
                ActionSpec("replace-key", "Replace key…"),
                ActionSpec("retry", "Try again"),
                (("Status", "401 Unauthorized"),),
                icon="key",
            ),
        ),
        (
            "402, with a top-up that fits",
            Problem(
                "Not enough credits for this clip",
                "The wallet is short by $0.0175. The clip starts after a top-up.",
                ActionSpec("top-up", "Top up $5…"),
                ActionSpec("cheaper", "Use Kokoro, $0.0009"),
                severity="warn",
                icon="credits",
                facts=(("Needs up to", "$0.0186"), ("You have", "$0.0011"), ("Minimum top-up", "$5.00")),
            ),
        ),
        (
            "429, waits and sends by itself",
            Problem(
                "Too many requests to tier L this minute",
                "20 of 20 used. Rialto resends your message at 14:06:41. Your API key sets this limit.",
                ActionSpec("dismiss", "Do not send"),
                ActionSpec("other", "Send with Northwind Large"),
                severity="warn",
                countdown_until=until,
            ),
        ),
    )
    for title, problem in cases:
        page.section(0, title)
        page.columns[0].addWidget(ErrorCard(theme, problem))
    banners = (
        (
            "Offline, one banner for the window",
            ("warn", "You are offline.", "History and drafts still work.", "offline"),
            "Work in the Sandbox",
        ),
        (
            "Abuse block, counts down for every tab",
            (
                "bad",
                "Paused for 0:18.",
                "More than 20 requests failed in 30 s, so the service refuses all of them for a moment.",
                "clock",
            ),
            "See failures",
        ),
        (
            "Keys locked",
            ("info", "Your keys are locked.", "Rialto needs them to sign in to Main account.", "lock"),
            "Unlock",
        ),
        ("Sandbox", ("sandbox", "Sandbox.", "Blocks and balances here are made up.", "cube"), "Add an account"),
    )
    for title, words, action in banners:
        page.section(1, title)
        page.columns[1].addWidget(Banner(theme, BannerSpec(*words, (ActionSpec("act", action),))))
    page.section(2, "Toasts, bottom right, background work only")
    toasts = (
        ("Video is ready", "Sailboat at dusk, saved to Videos/Rialto", "ok", ("Show", "Play"), ""),
        ("Chat moved to trash", "", "info", ("Undo",), "Ctrl Z"),
        (
            "The video could not be saved",
            "The disk is full. The service still has its copy.",
            "bad",
            ("Choose another folder…",),
            "",
        ),
        (
            "Drift 3B retires on February 1",
            "Two chats use it. Choose a new model for them.",
            "warn",
            ("Choose…", "Later"),
            "",
        ),
    )
    for title, text, tone, links, hint in toasts:
        page.columns[2].addWidget(
            Toast(
                theme,
                title,
                text,
                tone=tone,
                hint=hint,
                icon_name="trash" if hint else "",
                actions=tuple(ActionSpec(words, words) for words in links),
            )
        )
        page.columns[2].addSpacing(-34)
    page.columns[2].addSpacing(34)
    page.section(2, "Details, the same block under every error")
    page.columns[2].addWidget(
        DetailsBlock(
            theme,
            (
                ("Status", "401 Unauthorized"),
                ("Service said", "Authentication failed"),
                ("Request ID", "8c1f02be-77d1-AMS"),
                ("Version", "20261118.091455"),
                ("Time", "14:05:12, after 212 ms"),
            ),
        )
    )


def states(page: Page) -> None:
    theme = page.theme

    def hold(column: int, title: str, widget: QWidget, height: int = 370) -> None:
        page.section(column, title)
        card = Card(theme, fill="canvas")
        card.setFixedHeight(height)
        card.body.addWidget(widget, 1)
        page.columns[column].addWidget(card)

    hold(
        0,
        "Chat, new",
        EmptyState(
            theme,
            "New chat with Northwind Large",
            "131K context, $0.70 in and $2.80 out per million tokens",
            icon_role="accent",
            actions=(
                (ActionSpec("character", "Choose a character"), "mask"),
                (ActionSpec("attach", "Attach a file"), "attach"),
            ),
            key="↑",
            key_does="to bring back your last message",
        ),
    )
    skeleton = Skeleton(theme)
    hold(1, "Models loading, after 300 ms", skeleton)
    hold(
        2,
        "Characters, nothing matches",
        EmptyState(
            theme,
            "No character matches “#gardning”",
            "Did you mean #gardening? Adult characters are hidden.",
            icon_name="search",
            actions=((ActionSpec("clear", "Clear search"), ""), (ActionSpec("filters", "Clear 2 filters"), "")),
        ),
    )
