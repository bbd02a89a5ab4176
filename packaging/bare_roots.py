"""Minimal Debian systems in folders: made by debootstrap, entered in namespaces of their own. For root, on Linux.

Each command has its own view of mounts and processes: nothing stays mounted, and no server outlives it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
MIRROR = "http://deb.debian.org/debian"
PERSON = "person"
WITHIN_S = 900
ENTER = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
ENTER_ALONE = f"ip link set lo up && {ENTER}"  # in a network of its own, which has no more than this computer
SOURCE_NEEDS = ("python3", "git", "ca-certificates")  # to clone Rialto and start it
SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Wrong(Exception):
    """A trial failed; the message says where."""


class Root:
    """One root; `run` works in it as root or as its ordinary user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def call(
        self,
        *command: str,
        user: str = "",
        environ: Sequence[str] = (),
        within_s: float = WITHIN_S,
        network: bool = True,
    ) -> tuple[int, str]:
        """Run a command in an environment of its own; return its exit code and output. Raises `Wrong` after a limit."""
        home = f"/home/{user}" if user else "/root"
        who = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        known = [f"HOME={home}", f"USER={user or 'root'}", f"PATH={SEARCH}", "DEBIAN_FRONTEND=noninteractive", *environ]
        apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *(() if network else ("--net",))]
        whole = [
            *apart,
            "sh",
            "-c",
            ENTER if network else ENTER_ALONE,
            str(self.folder),
            *who,
            "env",
            "-i",
            "-C",
            home,
            *known,
            *command,
        ]
        try:
            done = subprocess.run(
                whole,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=within_s,
                check=False,
            )
        except subprocess.TimeoutExpired as slow:
            raise Wrong(f"{' '.join(command)} took over {within_s:.0f} s") from slow
        return done.returncode, done.stdout

    def run(self, *command: str, user: str = "", check: bool = True, environ: Sequence[str] = ()) -> str:
        """Run a command and return its output. Raises `Wrong` if it fails."""
        code, output = self.call(*command, user=user, environ=environ)
        if check and code != 0:
            raise Wrong(f"{' '.join(command)} ended with {code}:\n{output[-4000:]}")
        return output

    def apt(self, *arguments: str) -> str:
        return self.run("apt-get", "-q", "-y", "-o", "Dpkg::Use-Pty=0", *arguments)


def make(release: str, folder: Path, mirror: str, copies: Sequence[Path], packages: Sequence[str]) -> None:
    """Make a minimal root with an ordinary user and `packages`, once: a folder that is there is left as it is.

    `copies` are files or folders of this machine that appear at the same place in the root, such as the settings of
    apt and certificates. Raises `Wrong`.
    """
    if folder.exists():
        return
    say(f"{release}: making a bare root")
    unfinished = folder.with_name(f"{folder.name}-unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", release, str(unfinished), mirror],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    if made.returncode != 0:
        raise Wrong(f"debootstrap ended with {made.returncode}:\n{made.stdout[-2000:]}")
    root = Root(unfinished)
    for path in copies:
        put(path, root)
    root.run("useradd", "--create-home", PERSON)
    root.apt("update")
    root.apt("install", "--no-install-recommends", *packages)
    for path in copies:  # again: a package may have written its own
        put(path, root)
    unfinished.rename(folder)


def put(path: Path, root: Root) -> None:
    """Copy a file or folder of this machine to the same place in the root."""
    inside = root.folder / path.absolute().relative_to("/")
    inside.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-aT", "--reflink=auto", str(path), str(inside)], check=True)


def fresh(bare: Path, folder: Path) -> Root:
    """Return a copy of a bare root with current package lists."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(bare), str(folder)], check=True)
    root = Root(folder)
    root.apt("update")
    return root


def clone(root: Root, user: str = "") -> None:
    """Clone the current commit into the home folder, as `rialto`."""
    home = root.folder / (f"home/{user}" if user else "root")
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(REPOSITORY), str(home / "rialto")], check=True)


def require_root() -> str | None:
    """Return what is missing to make roots here; None if nothing is."""
    if sys.platform == "win32" or os.geteuid() != 0:
        return "Start it as root: it makes and enters roots."
    if shutil.which("debootstrap") is None:
        return "Install debootstrap first."
    return None


def say(words: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {words}", flush=True)
