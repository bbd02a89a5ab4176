"""Signing and notarising: nothing happens without credentials, and half of them is an error before anything is built.

The credentials are in environment variables, which a workflow fills from its secrets.
"""

from __future__ import annotations

import base64
import shutil
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
WINDOWS_KITS = Path("C:/Program Files (x86)/Windows Kits/10/bin")
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
        command = [signtool(), "sign", "/fd", "SHA256", "/td", "SHA256", "/tr", TIMESTAMPS, "/f", str(file)]
        _run([*command, "/p", environ[WINDOWS[1]], str(path)], "signtool")


def signtool(kits: Path = WINDOWS_KITS) -> str:
    """Return where Windows' own signing program is: on the PATH, or in the newest of the kits that brought one."""
    found = sorted(kits.glob("10.*/x64/signtool.exe"))
    return shutil.which("signtool") or (str(found[-1]) if found else "signtool")


def macos_app(app: Path, entitlements: Path, environ: Mapping[str, str]) -> None:
    """Seal the whole app, with the hardened runtime where there is an identity. Nothing in it may change afterwards.

    Without an identity it is sealed by nobody ("-"): macOS calls an app whose seal is broken damaged, and opens none.
    """
    command = ["codesign", "--deep", "--force"]
    if environ.get(MACOS[0]):
        hardened = ["--timestamp", "--options", "runtime", "--entitlements", str(entitlements)]
        _run([*command, *hardened, "--sign", environ[MACOS[0]], str(app)], "codesign")
    else:
        say(f"{app.name} is not signed by anybody: no identity.")
        _run([*command, "--sign", "-", str(app)], "codesign")
    _run(["codesign", "--verify", "--deep", "--strict", str(app)], "codesign")


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
