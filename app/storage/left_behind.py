"""What stays on this computer when the program is removed; `rialto --uninstall-info` prints it. Standard library."""

from __future__ import annotations

from pathlib import Path

from app.storage.paths import Paths

MB = 1_000_000


def folders(paths: Paths) -> tuple[tuple[Path, str], ...]:
    """Every folder that Rialto writes to, with what is in it; one that lies in another is not named twice."""
    every = (
        (paths.data, "chats, receipts, recordings, clips, images, films"),
        (paths.config, "settings and accounts, without keys"),
        (paths.logs, "logs and crash reports, without what you wrote"),
        (paths.cache, "pictures and lists that can be fetched again"),
    )
    places = [path for path, _ in every]
    return tuple(
        (path, what)
        for index, (path, what) in enumerate(every)
        if path not in places[:index] and not any(other in path.parents for other in places)
    )


def report(paths: Paths) -> str:
    """Say where everything is and how much room it takes; blocks while it is measured."""
    lines = ["Removing Rialto leaves what was made with it:", ""]
    for path, what in folders(paths):
        size = _size(path)
        lines.append(f"  {path}\n      {f'{size / MB:.1f} MB' if size is not None else 'not there'}: {what}")
    lines += [
        "",
        'Keys of accounts are in the keyring of your system under the name "Rialto", or in the file secrets.vault of',
        "the first folder. Removing an account in Settings removes its key.",
        "",
        "To delete everything: remove your accounts in Rialto, end it, then delete these folders.",
    ]
    return "\n".join(lines)


def _size(folder: Path) -> int | None:
    """Bytes of every file below; None when there is no such folder. What cannot be read counts nothing."""
    if not folder.is_dir():
        return None
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size if not path.is_dir() else 0
        except OSError:  # gone between listing and looking
            continue
    return total
