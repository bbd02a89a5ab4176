"""Copies a request as a command for other programs, with a note about what to fill in."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QGuiApplication

from app.service.exchange import KEY_VARIABLE, SIGN_IN_VARIABLE
from app.translation import tr

built_in: list[Callable[[], str]] = [lambda: ""]


def changes_at_each_start(address: Callable[[], str]) -> None:
    """Name the address of the built-in Sandbox, "" while it does not run."""
    built_in[0] = address


def copy_command(command: str, url: str) -> str:
    """Put a command on the clipboard and return the sentence to show. `url`: where it sends to."""
    QGuiApplication.clipboard().setText(command)
    said = tr("Copied.")
    if f"${KEY_VARIABLE}" in command or f"'{KEY_VARIABLE}'" in command:
        text = tr("Copied without the key, which is read from ${variable}.")
        said = text.replace("{variable}", KEY_VARIABLE)
    elif f"${SIGN_IN_VARIABLE}" in command:
        text = tr("Copied without the sign-in, which is read from ${variable}.")
        said = text.replace("{variable}", SIGN_IN_VARIABLE)
    address = built_in[0]()
    if address and url.startswith(address):
        more = tr("The built-in Sandbox gets a new address and key each time Rialto starts. Find them in Settings.")
        said = f"{said} {more}"
    return said
