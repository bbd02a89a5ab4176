"""Signs a built program and packs it again: `python packaging/signing.py PROGRAM.tar DIST`, in a job of its own.

That job has the credentials and installs no library; the job that builds has libraries and no credentials. The
credentials are environment variables, which a workflow fills from the secrets of an environment that asks for approval.
No password is an argument of a command: other programs can read arguments, and tools print them.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import secrets
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from environments import ROOT
from installers import APP, PROGRAM, disk_image, installer
from progress import CommandFailed, Refusal, quietly, say

# All of a group, or none of it. Certificates are PKCS 12 and the notary key is PEM, each as base64.
WINDOWS = ("RIALTO_WINDOWS_CERTIFICATE", "RIALTO_WINDOWS_CERTIFICATE_PASSWORD")
MACOS = ("RIALTO_MACOS_CERTIFICATE", "RIALTO_MACOS_CERTIFICATE_PASSWORD", "RIALTO_MACOS_IDENTITY")
NOTARY = ("RIALTO_NOTARY_KEY", "RIALTO_NOTARY_KEY_ID", "RIALTO_NOTARY_ISSUER")
WINDOWS_KITS = Path("C:/Program Files (x86)/Windows Kits/10/bin")
TIMESTAMPS = "http://timestamp.digicert.com"
ENTITLEMENTS = ROOT / "packaging" / "macos" / "entitlements.plist"
MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # one processor, several
BUNDLES = (".framework", ".bundle", ".app", ".xpc")
PROFILE = "rialto-notary"
# The password comes from the environment of PowerShell; what it prints is the certificate's fingerprint.
IMPORT_CERTIFICATE = (
    "$ErrorActionPreference = 'Stop'; "
    f"$password = ConvertTo-SecureString $env:{WINDOWS[1]} -AsPlainText -Force; "
    "(Import-PfxCertificate -FilePath $env:RIALTO_CERTIFICATE_FILE -CertStoreLocation Cert:\\CurrentUser\\My "
    "-Password $password).Thumbprint"
)


def main(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    try:
        program, dist = map(Path, arguments)
        sign(program, dist, environ)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


def sign(program: Path, dist: Path, environ: Mapping[str, str]) -> None:
    """Replace the installer or disk image in `dist` by a signed one, if there are credentials. Raises `Refusal`."""
    check(environ)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with tarfile.open(program) as archive:
            archive.extraction_filter = lambda member, _path: member  # of our own build, with its modes and links
            archive.extractall(folder)
        if (folder / APP).is_dir():
            (target,) = dist.glob("*.dmg")
            _sign_macos(folder / APP, target, environ)
        else:
            (target,) = dist.glob("*-setup.exe")
            _sign_windows(folder / "rialto", folder / "rialto.ico", target, environ)
    write_checksum(target)


def check(environ: Mapping[str, str]) -> None:
    """Raise `Refusal` when part of a group of credentials is set, or when there is notarization without a signature."""
    for group in (WINDOWS, MACOS, NOTARY):
        missing = [name for name in group if not environ.get(name)]
        if missing and len(missing) < len(group):
            raise Refusal(f"Signing needs {', '.join(missing)} too: set all of {', '.join(group)}, or none.")
    if environ.get(NOTARY[0]) and not environ.get(MACOS[0]):
        raise Refusal(f"A notarized app must be signed: {MACOS[0]} is missing.")


def write_checksum(path: Path) -> str:
    """Write `<name>.sha256` beside a file and return the digest."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    path.with_name(path.name + ".sha256").write_text(f"{digest}  {path.name}\n", encoding="utf-8", newline="\n")
    return digest


def _sign_windows(folder: Path, icon: Path, target: Path, environ: Mapping[str, str]) -> None:
    if not environ.get(WINDOWS[0]):
        say(f"{target.name} is not signed: no certificate.")
        return
    version = target.name.split("-")[1]
    with _certificate_in_store(environ) as fingerprint:
        _signtool(folder / PROGRAM, fingerprint)
        installer(folder, icon, version, target)
        _signtool(target, fingerprint)


@contextmanager
def _certificate_in_store(environ: Mapping[str, str]) -> Iterator[str]:
    """Put the certificate into the user's store, and take it out again; yield its fingerprint."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "certificate.pfx"
        file.write_bytes(base64.b64decode(environ[WINDOWS[0]]))
        said = _run(_powershell(IMPORT_CERTIFICATE), env={**environ, "RIALTO_CERTIFICATE_FILE": str(file)})
    fingerprint = said.split()[-1]
    try:
        yield fingerprint
    finally:
        with contextlib.suppress(Refusal):
            _run(_powershell(f"Remove-Item Cert:\\CurrentUser\\My\\{fingerprint} -DeleteKey"), env=environ)


def _powershell(command: str) -> list[str]:
    return ["powershell", "-NoProfile", "-NonInteractive", "-Command", command]


def _signtool(path: Path, fingerprint: str) -> None:
    stamped = ["/fd", "SHA256", "/td", "SHA256", "/tr", TIMESTAMPS]
    _run([signtool(), "sign", "/sha1", fingerprint, *stamped, str(path)])
    _run([signtool(), "verify", "/pa", str(path)])


def signtool(kits: Path = WINDOWS_KITS) -> str:
    """Return the path of Windows' own signing program: the newest of the installed kits, or what is on the PATH."""
    found = sorted(kits.glob("10.*/x64/signtool.exe"))
    return str(found[-1]) if found else "signtool"


def _sign_macos(app: Path, target: Path, environ: Mapping[str, str]) -> None:
    if not environ.get(MACOS[0]):
        say(f"{target.name} is not signed by anybody: no certificate.")
        return
    with _certificate_in_keychain(environ) as keychain:
        seal(app, environ[MACOS[2]], "--keychain", str(keychain))
        if environ.get(NOTARY[0]):
            _store_notary_key(environ, keychain)
            packed = app.with_suffix(".zip")
            _run(["ditto", "-c", "-k", "--keepParent", str(app), str(packed)])
            _notarize(packed, app, keychain)  # so that a Mac without a network accepts the app itself
        disk_image(app, target)
        _run(["codesign", "--timestamp", "--keychain", str(keychain), "--sign", environ[MACOS[2]], str(target)])
        if environ.get(NOTARY[0]):
            _notarize(target, target, keychain)
            _run(["spctl", "--assess", "--type", "open", "--context", "context:primary-signature", str(target)])


def seal(app: Path, identity: str = "-", *options: str) -> None:
    """Sign an app from the inside out, so that each part is checked by itself. Nothing in it may change afterward.

    Without an identity it is sealed by nobody ("-"): macOS calls an app whose seal is broken damaged, and opens none.
    """
    hardened = [] if identity == "-" else ["--timestamp", "--options", "runtime", *options]
    command = ["codesign", "--force", "--sign", identity, *hardened]
    inside = [path for path in app.rglob("*") if not path.is_symlink()]
    main_program = app / "Contents" / "MacOS" / "rialto"
    parts = [path for path in inside if path.is_file() and path != main_program and _is_program(path)]
    bundles = [path for path in inside if path.is_dir() and path.suffix in BUNDLES]
    for path in sorted((*parts, *bundles), key=lambda path: (-len(path.parts), path.suffix in BUNDLES, str(path))):
        _run([*command, str(path)])
    entitled = [] if identity == "-" else ["--entitlements", str(ENTITLEMENTS)]
    _run([*command, *entitled, str(app)])
    _run(["codesign", "--verify", "--deep", "--strict", str(app)])


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in MACH_O


@contextmanager
def _certificate_in_keychain(environ: Mapping[str, str]) -> Iterator[Path]:
    """Make a keychain of this run with the certificate in it; yield its path and delete it at the end."""
    with tempfile.TemporaryDirectory() as scratch:
        keychain, file = Path(scratch) / "rialto.keychain-db", Path(scratch) / "certificate.p12"
        file.write_bytes(base64.b64decode(environ[MACOS[0]]))
        password = secrets.token_hex(16)
        login = _run(["security", "list-keychains", "-d", "user"]).replace('"', "").split()
        _security(
            ["create-keychain", "-p", password, str(keychain)],
            ["set-keychain-settings", "-lut", "3600", str(keychain)],
            ["unlock-keychain", "-p", password, str(keychain)],
            ["import", str(file), "-k", str(keychain), "-P", environ[MACOS[1]], "-T", "/usr/bin/codesign"],
            ["set-key-partition-list", "-S", "apple-tool:,apple:", "-s", "-k", password, str(keychain)],
            ["list-keychains", "-d", "user", "-s", str(keychain), *login],
        )
        try:
            yield keychain
        finally:
            _security(["list-keychains", "-d", "user", "-s", *login], ["delete-keychain", str(keychain)])


def _security(*commands: Sequence[str]) -> None:
    """Give commands to `security` on its standard input, where no other program sees the passwords."""
    quoted = ("".join(" " + _quoted(word) for word in command).lstrip() for command in commands)
    _run(["security", "-i"], said="\n".join(quoted) + "\n")


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _store_notary_key(environ: Mapping[str, str], keychain: Path) -> None:
    """Keep the key of the notary service in the keychain, from where notarytool takes it."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "notary.p8"
        file.write_bytes(base64.b64decode(environ[NOTARY[0]]))
        who = ["--key", str(file), "--key-id", environ[NOTARY[1]], "--issuer", environ[NOTARY[2]]]
        _run(["xcrun", "notarytool", "store-credentials", PROFILE, *who, "--keychain", str(keychain)])


def _notarize(sent: Path, stapled: Path, keychain: Path) -> None:
    """Have Apple check a file, and fix its answer to what users open."""
    profile = ["--keychain-profile", PROFILE, "--keychain", str(keychain)]
    said = _run(["xcrun", "notarytool", "submit", str(sent), "--wait", *profile])
    if "status: Accepted" not in said:  # notarytool ends with 0 even if Apple refuses
        raise Refusal(f"Apple did not accept {sent.name}:\n\n{said}\n")
    _run(["xcrun", "stapler", "staple", str(stapled)])
    _run(["xcrun", "stapler", "validate", str(stapled)])


def _run(command: Sequence[str], *, env: Mapping[str, str] | None = None, said: str | None = None) -> str:
    """Run a tool and return its output. Raises `Refusal` with the output, which never holds a password."""
    try:
        if said is None:
            return quietly(command, env=env)
        done = subprocess.run(command, input=said, capture_output=True, text=True, env=env, check=False)
        if done.returncode != 0:
            raise CommandFailed(command, done.returncode, done.stdout + done.stderr)
        return done.stdout
    except CommandFailed as failure:
        raise Refusal(f"{command[0]} failed on {sys.platform}:\n\n{failure.tail}\n") from failure
    except (OSError, subprocess.SubprocessError) as error:
        raise Refusal(f"{command[0]} could not be started.") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
