"""Every place that shows why a list is missing, with every error that can be the reason: the words are that error's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.core.current_account import CurrentAccount
from app.core.problems import describe
from app.core.tasks import TaskScope
from app.sandbox.server import RunningSandbox
from app.service import errors
from app.service.client import ServiceClient
from app.ui.kit.theme import Theme
from app.ui.wallet.presenter_api_keys import ApiKeysPresenter
from tests.kit.characters import open_characters
from tests.kit.chat import open_chat_presenter
from tests.kit.images import open_images
from tests.kit.sandbox import controls_of
from tests.kit.speech import open_speech
from tests.kit.transcription import open_transcription_presenter
from tests.kit.video import open_video_presenter
from tests.ui.test_problems import every_error

KINDS = every_error()


@dataclass
class Place:
    """Somewhere on screen: how its list is asked for again, and what it shows instead of it."""

    refresh: Callable[[], object]
    shown: Callable[[], str]
    tasks: TaskScope


def to_another_account(current_account: CurrentAccount) -> None:
    """Use an account whose models nobody has listed yet."""
    account = current_account.account
    assert account is not None
    current_account.use(account._replace(id="another"), current_account.service)


@asynccontextmanager
async def chat(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Place]:
    async with open_chat_presenter(home, with_models=False) as tab:
        presenter = tab.presenter
        yield Place(presenter.refresh_models, lambda: str(presenter.head().problem or ""), tab.tasks)


@asynccontextmanager
async def transcription(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Place]:
    async with open_transcription_presenter(home) as tab:
        presenter = tab.presenter
        yield Place(presenter.refresh_models, lambda: str(presenter.head().problem or ""), tab.tasks)


@asynccontextmanager
async def speech(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Place]:
    async with open_speech(home, sandbox, theme) as tab:
        presenter = tab.presenter
        to_another_account(tab.current_account)
        yield Place(presenter.refresh_models, lambda: str(presenter.problem or ""), tab.tasks)


@asynccontextmanager
async def images(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Place]:
    async with open_images(home, sandbox, theme, models=False) as tab:
        presenter = tab.presenter
        yield Place(presenter.refresh_models, lambda: str(presenter.problem or ""), tab.tasks)


@asynccontextmanager
async def video(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Place]:
    async with open_video_presenter(home, controls_of(sandbox)) as tab:
        form = tab.presenter.form
        to_another_account(tab.current_account)
        form.forget_models()
        yield Place(form.refresh_models, lambda: form.view().note, tab.tasks)


@asynccontextmanager
async def characters(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Place]:
    async with open_characters(home) as tab:
        yield Place(tab.presenter.try_again, lambda: str(tab.state.problem or ""), tab.tasks)


@asynccontextmanager
async def api_keys(home: Path, sandbox: RunningSandbox, theme: Theme) -> AsyncIterator[Place]:
    async with open_chat_presenter(home, with_models=False) as tab:
        keys = ApiKeysPresenter(tab.current_account, tab.tasks)
        yield Place(keys.load, lambda: keys.page.problem, tab.tasks)


@pytest.mark.parametrize("open_place", [chat, transcription, speech, images, video, characters, api_keys])
async def test_every_error_is_shown_in_its_own_words(
    open_place: Callable[[Path, RunningSandbox, Theme], AbstractAsyncContextManager[Place]],
    tmp_home: Path,
    swift_sandbox: RunningSandbox,
    theme: Theme,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind: type[errors.ServiceError] = errors.NotFound

    async def refuse(*_: object) -> None:
        raise kind("It said so")

    async with open_place(tmp_home, swift_sandbox, theme) as place:
        monkeypatch.setattr(ServiceClient, "_answer", refuse)
        wrong = []
        for kind in KINDS:
            place.refresh()
            await place.tasks.idle()
            what = describe(kind("It said so"), subject="").what
            if what not in place.shown():
                wrong.append(f"{kind.__name__}: “{place.shown()}” instead of “{what}”")
        assert not wrong, "\n".join(wrong)
