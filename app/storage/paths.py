"""Where things are, by platform. Standard library only at import; `platformdirs` is asked once, when it is needed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from app.storage.atomic_files import make_folder

APP_NAME = "Rialto"
HOME_VARIABLE = "RIALTO_HOME"


class Paths(NamedTuple):
    """The folders of one person's Rialto. Nothing is made until `make()`."""

    data: Path
    config: Path
    logs: Path
    crashes: Path
    cache: Path

    @classmethod
    def for_user(cls, environ: Mapping[str, str] = os.environ) -> Paths:
        """Return the platform's folders, or those below RIALTO_HOME when that is set."""
        home = environ.get(HOME_VARIABLE, "").strip()
        if home:
            return cls.below(Path(home).expanduser().absolute())
        import platformdirs

        dirs = platformdirs.PlatformDirs(APP_NAME, appauthor=False, roaming=False)
        data = Path(dirs.user_data_dir)
        logs = Path(dirs.user_log_dir)
        return cls(
            data=data,
            config=Path(dirs.user_config_dir),
            logs=logs,
            crashes=logs / "crashes",
            cache=Path(dirs.user_cache_dir),
        )

    @classmethod
    def below(cls, home: Path) -> Paths:
        """Everything under one folder: RIALTO_HOME, tests, a copy carried on a stick."""
        logs = home / "logs"
        return cls(
            data=home / "data", config=home / "config", logs=logs, crashes=logs / "crashes", cache=home / "cache"
        )

    def make(self) -> None:
        """Make every folder, readable by the owner only. Raises `StorageUnavailable`."""
        for folder in self:
            make_folder(folder)

    @property
    def database(self) -> Path:
        return self.data / "rialto.db"

    @property
    def open_payments(self) -> Path:
        """Signed payments that are not settled: a backup that is restored over the database cannot forget them."""
        return self.data / "open-payments.json"

    @property
    def backups(self) -> Path:
        return self.data / "backups"

    @property
    def vault(self) -> Path:
        """The passphrase vault; absent unless the person chose one."""
        return self.data / "secrets.vault"

    @property
    def settings(self) -> Path:
        return self.config / "settings.json"

    @property
    def accounts(self) -> Path:
        return self.config / "accounts.json"

    @property
    def lock(self) -> Path:
        """One running Rialto per data folder holds this."""
        return self.data / "rialto.lock"

    @property
    def log(self) -> Path:
        return self.logs / "rialto.jsonl"


def resources() -> Path:
    """Return the folder of icons, themes, fonts and the handbook: beside the `app` package, frozen or not."""
    return Path(__file__).resolve().parents[2] / "resources"
