"""Everything known before the window exists: options, paths, settings, accounts.

Made while most of the program is not even imported, so that the Sandbox can start beside all that follows.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from app.bootstrap.sandbox_process import SandboxProcess
from app.credentials.accounts import Accounts
from app.storage.atomic_files import StoredFile
from app.storage.settings import SettingsStore

if TYPE_CHECKING:
    from app.bootstrap.options import Options
    from app.credentials.accounts import Account
    from app.credentials.redaction import Redactor
    from app.storage.paths import Paths
    from app.ui.shell.crash_reports import CrashReporter
    from app.ui.shell.single_instance import SingleInstance


class StartupContext:
    """One per start, made after the data folder was locked."""

    def __init__(
        self,
        options: Options,
        paths: Paths,
        instance: SingleInstance,
        secrets: Redactor,
        crashes: CrashReporter,
    ) -> None:
        self.options = options
        self.paths = paths
        self.instance = instance
        self.secrets = secrets
        self.crashes = crashes
        self.settings = SettingsStore(paths.settings)
        self.accounts_file = StoredFile(paths.accounts, keeps_copy=True)
        self.sandbox = SandboxProcess(paths)

    @cached_property
    def accounts(self) -> Accounts:
        """The accounts on this computer. Raises `StorageUnavailable` when their file cannot be read."""
        file = self.accounts_file
        return Accounts(file.load, file.save, file.set_aside)

    def account_in_use(self) -> Account | None:
        """Who the program calls as from its first frame on; None before the welcome is over."""
        return self.accounts.active if self.settings.value.welcome_done else None

    def begin_sandbox(self) -> None:
        """Start the Sandbox beside everything else, where it is what will be called."""
        account = self.account_in_use()
        if account is not None and account.kind == "sandbox":
            self.sandbox.begin()
