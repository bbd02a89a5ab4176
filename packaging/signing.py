"""Signing and notarising: nothing happens without credentials, and half of them is an error before anything is built.

The credentials are in environment variables, which a workflow fills from its secrets.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from progress import CommandFailed, Refusal, quietly, say

# All of a group, or none of it.
WINDOWS = ("RIALTO_WINDOWS_CERTIFICATE", "RIALTO_WINDOWS_CERTIFICATE_PASSWORD")
MACOS = ("RIALTO_MACOS_IDENTITY",)
NOTARY = ("RIALTO_NOTARY_APPLE_ID", "RIALTO_NOTARY_TEAM", "RIALTO_NOTARY_PASSWORD")
TIMESTAMPS = "http://timestamp.digicert.com"


def check(environ: Mapping[str, str]) -> None:
    """Raise `Refusal` when part of a group of credentials is set, or when there is notarisation without a signature."""
    for group in (WINDOWS, MACOS, NOTARY):
        missing = [name for name in group if not environ.get(name)]
        if missing and len(missing) < len(group):
            raise Refusal(f"Signing needs {', '.join(missing)} too: set all of {', '.join(group)}, or none.")
    if environ.get(NOTARY[0]) and not environ.get(MACOS[0]):
        raise Refusal(f"What is notarised must be signed: {MACOS[0]} is missing.")


def windows(path: Path, environ: Mapping[str, str]) -> None:
    """Sign a program or an installer with the certificate (PKCS 12, as base64), if there is one."""
    if not environ.get(WINDOWS[0]):
        say(f"{path.name} is not signed: no certificate.")
        return
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "certificate.pfx"
        file.write_bytes(base64.b64decode(environ[WINDOWS[0]]))
        command = ["signtool", "sign", "/fd", "SHA256", "/td", "SHA256", "/tr", TIMESTAMPS, "/f", str(file)]
        _run([*command, "/p", environ[WINDOWS[1]], str(path)], "signtool")


def macos_app(app: Path, entitlements: Path, environ: Mapping[str, str]) -> None:
    """Sign the app with the hardened runtime; without an identity it keeps the signature that PyInstaller gave it."""
    if not environ.get(MACOS[0]):
        say(f"{app.name} is not signed by anybody: no identity.")
        return
    command = ["codesign", "--deep", "--force", "--timestamp", "--options", "runtime", "--entitlements"]
    _run([*command, str(entitlements), "--sign", environ[MACOS[0]], str(app)], "codesign")


def notarise(image: Path, environ: Mapping[str, str]) -> None:
    if not environ.get(NOTARY[0]):
        say(f"{image.name} is not notarised: no account.")
        return
    who = ["--apple-id", environ[NOTARY[0]], "--team-id", environ[NOTARY[1]], "--password", environ[NOTARY[2]]]
    _run(["xcrun", "notarytool", "submit", str(image), "--wait", *who], "notarytool")
    _run(["xcrun", "stapler", "staple", str(image)], "stapler")


def _run(command: list[str], name: str) -> None:
    """Run a tool whose command line holds a secret: what it said is shown, its arguments are not."""
    try:
        quietly(command)
    except CommandFailed as failure:
        raise Refusal(f"{name} failed on {sys.platform}:\n\n{failure.tail}\n") from failure
    except (OSError, subprocess.SubprocessError) as error:
        raise Refusal(f"{name} could not be started.") from error
