"""The sections of Settings and what can be found in each. Plain values: the palette reads them without a page."""

from __future__ import annotations

from dataclasses import dataclass

from app.translation import tr
from app.ui.kit.lists.search_terms import SearchTerms


@dataclass(frozen=True, slots=True)
class Section:
    """`settings` are the titles of what can be set there; `words` further words that lead to it."""

    key: str
    title: str
    icon: str
    settings: tuple[str, ...]
    words: tuple[str, ...] = ()


SECTIONS = (
    Section(
        "accounts",
        tr("Accounts"),
        "user",
        (tr("Add account"), tr("Replace a key"), tr("Remove an account"), tr("Secrets on this computer")),
        ("key", "service", "address", "keychain", "keyring", "passphrase", "test", "rename"),
    ),
    Section(
        "connection",
        tr("Connection"),
        "plug",
        (tr("Proxy"), tr("Test connection"), tr("Custom certificates")),
        ("network", "http", "https", "socks5", "socks", "bypass", "tls", "ca", "pem", "offline", "firewall"),
    ),
    Section(
        "privacy",
        tr("Privacy and data"),
        "shield",
        (
            *(tr("Load images from other sites"), tr("Show adult characters"), tr("Keep me apart from others")),
            tr("Ask Intel about enclaves"),
            tr("Ask NVIDIA about graphics processors"),
            tr("Hosts contacted"),
        ),
        ("telemetry", "adult", tr("what leaves this computer")),
    ),
    Section(
        "appearance",
        tr("Appearance"),
        "appearance",
        (tr("Theme"), tr("Text size"), tr("System font"), tr("Reduce motion"), tr("High contrast")),
        ("dark", "light", "font", "zoom", "scale", "animation", "accessibility", "contrast"),
    ),
    Section(
        "keyboard",
        tr("Keyboard"),
        "keyboard",
        (tr("Change a shortcut"), tr("Enter sends message")),
        ("keys", "shortcuts", "hotkey", "enter"),
    ),
    Section(
        "models",
        tr("Models and defaults"),
        "sparkle",
        (
            *(tr("Model for new chats"), tr("System prompt for new chats"), tr("Web search in new chats")),
            *(tr("Parameters of new chats"), tr("Favorite models")),
        ),
        ("default", "star", "usual", "instructions", "thinking", "temperature", "top-p", "tokens", tr("reply limit")),
    ),
    Section(
        "spending",
        tr("Spending limits"),
        "database",
        (tr("Ask above an amount"), tr("Stop at an amount")),
        ("budget", "limit", "money", "cost", "day", "call"),
    ),
    Section(
        "files",
        tr("Files and folders"),
        "folder",
        (tr("Data folder"), tr("Backups"), tr("Remove everything")),
        ("disk", "history", "recordings", "videos", "delete", "erase", "trash", "size"),
    ),
    Section(
        "notifications",
        tr("Notifications"),
        "bell",
        (tr("Notify me when Rialto is in the background"), tr("Notices in the window stay")),
        ("desktop", "alert", "done", "message", "sound"),
    ),
    Section(
        "sandbox",
        tr("Sandbox"),
        "cube",
        (
            *(
                tr("Sandbox address and key"),
                tr("Start or stop the Sandbox"),
                tr("Play money"),
                tr("Engines"),
                tr("Request log"),
            ),
            *(tr("Test controls"), tr("Answer with an error"), tr("Use the Sandbox from your own code")),
        ),
        (
            "practice",
            "local",
            "offline",
            "balance",
            "faucet",
            "fault",
            tr("let it fail"),
            "clock",
            "slow",
            "curl",
            "python",
        ),
    ),
    Section(
        "about",
        tr("About Rialto"),
        "info",
        (tr("Version"), tr("Check for updates"), tr("Licenses")),
        ("license", "fonts", "credits", "update", "upgrade", "release"),
    ),
)


def sections_for(text: str) -> tuple[Section, ...]:
    """The sections that a typed text leads to; all of them for none."""
    words = SearchTerms(text)
    return tuple(each for each in SECTIONS if words.are_in(each.title, *each.settings, *each.words))
