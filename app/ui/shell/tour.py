"""The tour: Rialto does its main job by itself and leaves a screenshot of each step.

For computers without a display, for the README's images and as a test of the whole program. Each act runs in a
process of its own, so that the second one finds in the history what the first one left there.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest

from app.translation import tr
from app.ui.characters.page import CharactersPage
from app.ui.shell.tour_guide import LOOK_EVERY_S, PICTURE, StepFailed, TourGuide, place_is_known
from app.ui.shell.tour_processes import TourProcesses

if TYPE_CHECKING:
    from app.ui.chat.page import ChatPage
    from app.ui.shell.main_window import MainWindow

SIZE = QSize(1440, 900)
FAILED = "failed.png"
ACT_WITHIN_S = 300.0


def guide(folder: Path, theme: str) -> int:
    """Run every act in a data folder made for it; return 0, or 1 after the first step that failed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(tr("The screenshots cannot be saved in {folder}: {strerror}.", folder=folder, strerror=error.strerror))
        return 1
    environ = dict(os.environ)
    if sys.platform.startswith("linux") and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        environ["QT_QPA_PLATFORM"] = "offscreen"
    for old in folder.glob("*.png"):
        if old.name == FAILED or PICTURE.fullmatch(old.name):
            old.unlink()
    with TourProcesses("rialto-tour-") as acts:
        for act in TOUR:
            title = tr("The {act} part of the tour", act=act)
            if not acts.play(act, folder, environ, title=title, theme=theme or "light", within_s=ACT_WITHIN_S):
                return 1
    print(tr("The tour is complete. The screenshots are in {folder}.", folder=folder))
    return 0


async def perform(act: str, window: MainWindow, chat: ChatPage, folder: Path) -> int:
    """Run one act; return the exit code."""
    guide = TourGuide(window, chat, folder)
    window.resize(SIZE)
    try:
        await ACTS[act](guide)
    except StepFailed as failure:
        print(tr("The tour stopped: {failure}.", failure=failure), flush=True)
        window.grab().save(str(folder / FAILED))
        return 1
    return 0


async def _first_act(guide: TourGuide) -> None:
    """A newcomer's first minutes, in the Sandbox."""
    window, chat = guide.window, guide.chat
    main = chat.main
    await guide.until(tr("the welcome page"), lambda: window.focusWidget() is not None)
    await guide.until(tr("the key storage to be known"), lambda: place_is_known(window))
    await guide.picture("welcome", tr("The welcome page offers three ways to start; the Sandbox needs no account."))

    guide.press(window.focusWidget() or window, Qt.Key.Key_Return)
    await guide.until(
        tr("the Sandbox"), lambda: window.current_account.is_sandbox and window.current_account.service is not None
    )
    await guide.until(tr("its models"), lambda: chat.presenter.head().model_name)
    await guide.picture(
        "first-chat",
        tr("The Sandbox runs; {model_name} is ready to answer.", model_name=chat.presenter.head().model_name),
    )

    guide.click(chat.list.characters)
    await guide.until(tr("the character browser"), lambda: chat.guest is not None)
    browser = chat.guest
    assert isinstance(browser, CharactersPage)
    characters = browser.presenter
    await guide.until("characters", lambda: characters.state.rows)
    await guide.picture("characters", tr("The browser shows {count} characters.", count=len(characters.state.rows)))
    QTest.keyClicks(browser.search, "harbour")
    await guide.until(tr("the search to narrow"), lambda: 0 < len(characters.state.rows) < 20)
    characters.select(characters.state.rows[0].slug)
    await guide.until(tr("the character’s details"), lambda: browser.details.start.isVisible())
    guide.click(browser.details.start)
    await guide.until(tr("a chat with the character"), lambda: chat.guest is None and chat.presenter.head().character)
    character = chat.presenter.head().partner

    for _ in ("off", "auto", "on"):  # the pill goes round; where it begins is the chat's default
        if chat.presenter.opened.options.web_search != "on":
            guide.click(main.composer.web)
    if chat.presenter.opened.options.web_search != "on":
        raise StepFailed(tr("web search was not turned on"))
    if not chat.presenter.opened.options.citations:
        guide.click(main.composer.citations)
    await guide.picture(
        "character-chosen", tr("{character} is chosen, web search is on, sources are cited.", character=character)
    )

    await guide.ask("How does Rialto keep my API key safe, and what if there is no keyring?")
    await guide.until(tr("the first words"), lambda: len(guide.answer().text) > 40)
    grown = [len(guide.answer().text)]
    while guide.answer().state == "streaming" and len(grown) < 2000:
        if len(guide.answer().text) > grown[-1]:
            grown.append(len(guide.answer().text))
            if len(grown) == 8:
                await guide.picture("streaming", tr("The answer streams in, with Stop in reach."))
        await asyncio.sleep(LOOK_EVERY_S)
    answer = guide.answer()
    if answer.state != "complete" or len(grown) < 8:
        raise StepFailed(
            tr("the answer ended as {state} after growing {count} times", state=answer.state, count=len(grown))
        )
    if not answer.sources or "[REF]" not in answer.text:
        raise StepFailed(tr("the answer cites no source"))
    receipt = " ".join(run.text for run in answer.receipt)
    if tr("play money") not in receipt:
        raise StepFailed(tr("the receipt does not say that play money paid: {receipt}", receipt=receipt))
    saw = tr(
        "{count} characters came in {count2} steps, with {count3} sources. {receipt}.",
        count=len(answer.text),
        count2=len(grown),
        count3=len(answer.sources),
        receipt=receipt,
    )
    await guide.picture("answer", saw)

    await guide.ask("Which keyboard shortcuts are there?")
    await guide.until(tr("some words"), lambda: guide.answer().state == "streaming" and len(guide.answer().text) > 200)
    guide.press(main.composer.box, Qt.Key.Key_Escape)
    await guide.until(tr("the answer to stop"), lambda: guide.answer().state == "stopped")
    await guide.picture("stopped", tr("Stopped halfway; {count} characters are kept.", count=len(guide.answer().text)))


async def _second_act(guide: TourGuide) -> None:
    """The program has been started again; everything is there."""
    window, chat = guide.window, guide.chat
    await guide.until(tr("the chats"), lambda: chat.presenter.library is not None and chat.list.model.rowCount() > 0)
    await guide.until(tr("the last chat"), lambda: len(guide.chat.rows()) == 4)
    answers = [row for row in chat.rows() if row.role == "assistant"]
    if [row.state for row in answers] != ["complete", "stopped"]:
        raise StepFailed(tr("the answers came back as {answers}", answers=", ".join(row.state for row in answers)))
    await guide.until(
        tr("the Sandbox"), lambda: window.current_account.service is not None and chat.presenter.head().model_name
    )
    await guide.picture(
        "after-restart", tr("After a restart both answers are in the history, the second marked as stopped.")
    )

    chat.open_request(answers[0].id)
    await guide.picture("request", tr("The Request page shows what was sent, without the key."))
    window.open_palette()
    await guide.picture("palette", tr("The command palette finds actions, chats, models and settings."))
    guide.press(window.focusWidget() or window, Qt.Key.Key_Escape)
    window.open_settings("accounts")
    await guide.picture("settings", tr("Settings lists the accounts and where secrets are stored."))


async def _third_act(guide: TourGuide) -> None:
    from app.ui.shell import tour_tabs  # every tab of the program: only this act needs them

    await tour_tabs.act(guide)


async def _self_test(guide: TourGuide) -> None:
    from app.ui.shell import self_test

    await self_test.act(guide)


TOUR = ("first", "second", "third")
ACTS: dict[str, Callable[[TourGuide], Awaitable[None]]] = {
    "first": _first_act,
    "second": _second_act,
    "third": _third_act,
    "self-test": _self_test,
}
