"""Appearance, privacy and data: what the pages of Settings show and what their controls mean."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.core.call_log import CallLog
from app.core.current_account import CurrentAccount
from app.core.spending_limits import with_limit
from app.core.tasks import TaskScope
from app.storage.backups import backups_in
from app.storage.disk_usage import shares
from app.storage.errors import StorageUnavailable
from app.storage.settings import Settings, SettingsStore
from app.translation import tr
from app.ui.settings.sandbox.presenter import SandboxPresenter
from app.ui.settings.state import Choices, ModelChoices, SettingsState, UsageRow

if TYPE_CHECKING:
    from app.storage.paths import Paths
    from app.ui.settings.sandbox.presenter import SandboxRunner


Notify = Callable[[str, str], Awaitable[str]]
"""Shows a title and a text outside the window; returns why that was not possible, "" when it was."""

_KINDS: Mapping[str, tuple[str, str]] = {
    "videos": (tr("Videos"), "chart_video"),
    "recordings": (tr("Recordings"), "chart_transcribe"),
    "speech": (tr("Speech clips and voices"), "chart_speech"),
    "images": (tr("Images"), "chart_images"),
    "documents": (tr("Document index"), "accent"),
    "chats": (tr("Chats, calls, receipts, log"), "chart_chat"),
    "backups": (tr("Backups"), "chart_console"),
    "cache": (tr("Cache (safe to delete)"), "line2"),
}


class SettingsPresenter(QObject):
    """`look_changed` says that theme, text size, font or motion are to be applied."""

    state_changed = Signal(object)  # SettingsState
    look_changed = Signal(object)  # Choices

    def __init__(
        self,
        settings_store: SettingsStore,
        paths: Paths,
        current_account: CurrentAccount,
        sandbox: SandboxRunner,
        tasks: TaskScope,
        *,
        calls: CallLog | None = None,
    ) -> None:
        super().__init__()
        self._store = settings_store
        self._paths = paths
        self._current_account = current_account
        self._sandbox = sandbox
        self._tasks = tasks
        self._calls = calls
        self.notify: Notify = _nobody
        self.state = SettingsState(
            choices=_choices(settings_store.value), folder=str(paths.data), problem=settings_store.note
        )
        settings_store.subscribe(self._settings_changed)
        if calls is not None:
            calls.changed.connect(lambda _account: self._show_hosts())
            self._show_hosts()

    # Choices

    def choose(self, **choices: Any) -> None:
        """Take changed choices (fields of `Choices`), show them at once and write them down."""
        self._store.remember(**choices)
        self._tasks.replace("save settings", self._save)

    def set_limit(self, key: str, text: str) -> str:
        """Keep a spending limit, or none for empty text; return what is wrong with it, "" when it was kept."""
        budgets = with_limit(self._store.value.budgets, key, text)
        if budgets is None:
            return tr("Enter an amount in USD, such as 1.50.")
        self.choose(budgets=budgets)
        return ""

    # Models

    def refresh_models_page(self) -> None:
        """Show the models of the account in use, as far as they are known."""
        current_account, settings = self._current_account, self._store.value
        account = current_account.account
        names = {model.id: model.model_spec.name or model.id for model in current_account.models if not model.offline}
        default = settings.default_model.get(account.id, "") if account is not None else ""
        self._change(
            models=ModelChoices(
                account.name if account is not None else "",
                names,
                default,
                tuple(settings.favourite_models),
                current_account.is_sandbox,
            )
        )

    def choose_default_model(self, model_id: str) -> None:
        """Begin new chats of the account in use with this model, "" for the one that its service suggests."""
        account = self._current_account.account
        if account is None:
            return
        others = {key: value for key, value in self._store.value.default_model.items() if key != account.id}
        self.choose(default_model={**others, account.id: model_id} if model_id else others)
        self.refresh_models_page()

    def choose_chat_default(self, option: str, value: object) -> None:
        """Begin new chats with this value of an option (a field of `ChatOptions`), None for the usual one."""
        others = {name: each for name, each in self._store.value.chat_defaults.items() if name != option}
        self.choose(chat_defaults=others if value is None else {**others, option: value})

    def remove_favorite(self, model_id: str) -> None:
        """Let a model be like all others."""
        self.choose(favourite_models=tuple(each for each in self._store.value.favourite_models if each != model_id))
        self.refresh_models_page()

    # Notifications

    def try_notification(self) -> None:
        """Show one outside the window, whether or not the window is in front."""
        self._tasks.replace("try notification", self._try_notification)

    async def _try_notification(self) -> None:
        problem = await self.notify("Rialto", tr("This is what a Rialto notification looks like."))
        self._change(notification_problem=problem)

    async def _save(self) -> None:
        try:
            await asyncio.to_thread(self._store.save)
        except StorageUnavailable as error:
            self._change(problem=tr("{sentence}. Your change lasts until you quit Rialto.", sentence=error.sentence))

    def _settings_changed(self, settings: Settings) -> None:
        before, after = self.state.choices, _choices(settings)
        if before != after:
            self._change(choices=after)
            if _look(before) != _look(after):
                self.look_changed.emit(after)

    # Data

    def measure_data(self) -> None:
        """Measure the folders and find the last good copy; in a worker, because folders may be large."""
        self._tasks.replace("look at data", self._measure_data)

    async def _measure_data(self) -> None:
        usage, last_backup = await asyncio.to_thread(_measure, self._paths)
        self._change(usage=usage, last_backup=last_backup, looked=True)

    def _show_hosts(self) -> None:
        self._change(hosts=self._calls.hosts if self._calls is not None else ())

    # Sandbox

    @cached_property
    def sandbox(self) -> SandboxPresenter:
        """What is behind its section; made when that is first opened."""
        return SandboxPresenter(self._sandbox, self._current_account, self._tasks)

    async def aclose(self) -> None:
        """End what the sections follow."""
        if "sandbox" in self.__dict__:
            await self.sandbox.aclose()

    def _change(self, **changes: Any) -> None:
        self.state = replace(self.state, **changes)
        self.state_changed.emit(self.state)


async def _nobody(_title: str, _text: str) -> str:
    return tr("Notifications are not ready yet.")


def _choices(settings: Settings) -> Choices:
    return Choices(
        theme=settings.theme,  # type: ignore[arg-type]  # the settings file's reader lets only these three pass
        text_percent=settings.text_percent,
        system_font=settings.system_font,
        reduced_motion=settings.reduced_motion,
        high_contrast=settings.high_contrast,
        notice_seconds=settings.notice_seconds,
        enter_sends=settings.enter_sends,
        load_remote_pictures=settings.load_remote_pictures,
        anon_user_id=settings.anon_user_id,
        ask_intel=settings.ask_intel,
        ask_nvidia=settings.ask_nvidia,
        show_adult=settings.show_adult,
        notify=settings.notify,
        budgets=settings.budgets,
        chat_defaults=settings.chat_defaults,
    )


def _look(choices: Choices) -> tuple[object, ...]:
    return (
        choices.theme,
        choices.text_percent,
        choices.system_font,
        choices.reduced_motion,
        choices.high_contrast,
    )


def _measure(paths: Paths) -> tuple[tuple[UsageRow, ...], datetime | None]:
    """Sizes of what Rialto keeps, and when the newest checked copy was made. Runs in a worker."""
    copies = backups_in(paths.backups)
    rows = []
    for share in shares(paths):
        title, color = _KINDS[share.kind]
        title = f"{title}, {len(copies)}" if share.kind == "backups" else title
        rows.append(UsageRow(title, share.size_bytes, color, str(share.folder), share.folder.is_dir()))
    return tuple(rows), copies[0].at if copies else None
