"""The sections of Settings and what can be found in each. Plain values: the palette reads them without a page."""

from __future__ import annotations

from dataclasses import dataclass

from app.ui.kit.lists.typed_words import TypedWords


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
        "Accounts",
        "user",
        ("Add account", "Replace a key", "Remove an account", "Secrets on this computer"),
        ("key", "service", "address", "keychain", "keyring", "passphrase", "test", "rename"),
    ),
    Section(
        "connection",
        "Connection",
        "plug",
        ("Proxy", "Test connection", "Custom certificates"),
        ("network", "http", "https", "socks5", "socks", "bypass", "tls", "ca", "pem", "offline", "firewall"),
    ),
    Section(
        "privacy",
        "Privacy and data",
        "shield",
        (
            *("Load images from other sites", "Ask before opening links", "Show adult characters"),
            "Hosts contacted",
        ),
        ("telemetry", "adult", "what leaves this computer"),
    ),
    Section(
        "appearance",
        "Appearance",
        "appearance",
        ("Theme", "Text size", "System font", "Reduce motion"),
        ("dark", "light", "font", "zoom", "scale", "animation"),
    ),
    Section(
        "keyboard",
        "Keyboard",
        "keyboard",
        ("Change a shortcut", "Enter sends message"),
        ("keys", "shortcuts", "hotkey", "enter"),
    ),
    Section(
        "models",
        "Models and defaults",
        "sparkle",
        ("Model for new chats", "Favorite models"),
        ("default", "star", "usual"),
    ),
    Section(
        "spending",
        "Spending limits",
        "database",
        ("Ask above an amount", "Stop at an amount"),
        ("budget", "limit", "money", "cost", "day", "call"),
    ),
    Section(
        "files",
        "Files and folders",
        "folder",
        ("Data folder", "Backups", "Remove everything"),
        ("disk", "history", "recordings", "videos", "delete", "erase", "trash", "size"),
    ),
    Section(
        "notifications",
        "Notifications",
        "bell",
        ("Notify me when Rialto is in the background",),
        ("desktop", "alert", "done", "message", "sound"),
    ),
    Section(
        "sandbox",
        "Sandbox",
        "cube",
        (
            *("Sandbox address and key", "Start or stop the Sandbox", "Play money", "Engines", "Request log"),
            *("Test controls", "Use the Sandbox from your own code"),
        ),
        ("practice", "local", "offline", "balance", "faucet", "fault", "fail", "clock", "slow", "curl", "python"),
    ),
    Section(
        "about",
        "About Rialto",
        "info",
        ("Version", "Check for updates", "Licenses"),
        ("license", "fonts", "credits", "update", "upgrade", "release"),
    ),
)


def sections_for(text: str) -> tuple[Section, ...]:
    """The sections that a typed text leads to; all of them for none."""
    words = TypedWords(text)
    return tuple(each for each in SECTIONS if words.are_in(each.title, *each.settings, *each.words))
