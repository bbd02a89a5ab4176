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
        print(f"The screenshots cannot be saved in {folder}: {error.strerror}.")
        return 1
    environ = dict(os.environ)
    if sys.platform.startswith("linux") and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        environ["QT_QPA_PLATFORM"] = "offscreen"
    for old in folder.glob("*.png"):
        if old.name == FAILED or PICTURE.fullmatch(old.name):
            old.unlink()
    with TourProcesses("rialto-tour-") as acts:
        for act in TOUR:
            title = f"The {act} part of the tour"
            if not acts.play(act, folder, environ, title=title, theme=theme or "light", within_s=ACT_WITHIN_S):
                return 1
    print(f"The tour is over. The screenshots are in {folder}.")
    return 0


async def perform(act: str, window: MainWindow, chat: ChatPage, folder: Path) -> int:
    """Run one act; return the exit code."""
    guide = TourGuide(window, chat, folder)
    window.resize(SIZE)
    try:
        await ACTS[act](guide)
    except StepFailed as failure:
        print(f"The tour stopped: {failure}.", flush=True)
        window.grab().save(str(folder / FAILED))
        return 1
    return 0


async def _first_act(guide: TourGuide) -> None:
    """A newcomer's first minutes, in the Sandbox."""
    window, chat = guide.window, guide.chat
    main = chat.main
    await guide.until("the welcome page", lambda: window.focusWidget() is not None)
    await guide.until("the key storage to be known", lambda: place_is_known(window))
    await guide.picture("welcome", "The welcome page offers three ways to start; the Sandbox needs no account.")

    guide.press(window.focusWidget() or window, Qt.Key.Key_Return)
    await guide.until(
        "the Sandbox", lambda: window.current_account.is_sandbox and window.current_account.service is not None
    )
    await guide.until("its models", lambda: chat.presenter.head().model_name)
    await guide.picture("first-chat", f"The Sandbox runs; {chat.presenter.head().model_name} is ready to answer.")

    guide.click(chat.list.characters)
    await guide.until("the character browser", lambda: chat.guest is not None)
    browser = chat.guest
    assert isinstance(browser, CharactersPage)
    characters = browser.presenter
    await guide.until("characters", lambda: characters.state.rows)
    await guide.picture("characters", f"The browser shows {len(characters.state.rows)} characters.")
    QTest.keyClicks(browser.search, "harbour")
    await guide.until("the search to narrow", lambda: 0 < len(characters.state.rows) < 20)
    characters.select(characters.state.rows[0].slug)
    await guide.until("the character's details", lambda: browser.details.start.isVisible())
    guide.click(browser.details.start)
    await guide.until("a chat with the character", lambda: chat.guest is None and chat.presenter.head().character)
    character = chat.presenter.head().partner

    for _ in ("off", "auto", "on"):  # the pill goes round; where it begins is the chat's default
        if chat.presenter.opened.options.web_search != "on":
            guide.click(main.composer.web)
    if chat.presenter.opened.options.web_search != "on":
        raise StepFailed("web search was not switched on")
    if not chat.presenter.opened.options.citations:
        guide.click(main.composer.citations)
    await guide.picture("character-chosen", f"{character} is chosen, web search is on, sources are cited.")

    await guide.ask("How does Rialto keep my API key safe, and what if there is no keyring?")
    await guide.until("the first words", lambda: len(guide.answer().text) > 40)
    grown = [len(guide.answer().text)]
    while guide.answer().state == "streaming" and len(grown) < 2000:
        if len(guide.answer().text) > grown[-1]:
            grown.append(len(guide.answer().text))
            if len(grown) == 8:
                await guide.picture("streaming", "The answer streams in, with Stop in reach.")
        await asyncio.sleep(LOOK_EVERY_S)
    answer = guide.answer()
    if answer.state != "complete" or len(grown) < 8:
        raise StepFailed(f"the answer ended as {answer.state} after growing {len(grown)} times")
    if not answer.sources or "[REF]" not in answer.text:
        raise StepFailed("the answer cites no source")
    receipt = " ".join(run.text for run in answer.receipt)
    if "play money" not in receipt:
        raise StepFailed(f"the receipt does not say that play money paid: {receipt}")
    saw = f"{len(answer.text)} characters came in {len(grown)} steps, with {len(answer.sources)} sources. {receipt}."
    await guide.picture("answer", saw)

    await guide.ask("Which keyboard shortcuts are there?")
    await guide.until("some words", lambda: guide.answer().state == "streaming" and len(guide.answer().text) > 200)
    guide.press(main.composer.box, Qt.Key.Key_Escape)
    await guide.until("the answer to stop", lambda: guide.answer().state == "stopped")
    await guide.picture("stopped", f"Stopped halfway; {len(guide.answer().text)} characters are kept.")


async def _second_act(guide: TourGuide) -> None:
    """The program has been started again; everything is there."""
    window, chat = guide.window, guide.chat
    await guide.until("the chats", lambda: chat.presenter.library is not None and chat.list.model.rowCount() > 0)
    await guide.until("the last chat", lambda: len(guide.chat.rows()) == 4)
    answers = [row for row in chat.rows() if row.role == "assistant"]
    if [row.state for row in answers] != ["complete", "stopped"]:
        raise StepFailed(f"the answers came back as {', '.join(row.state for row in answers)}")
    await guide.until(
        "the Sandbox", lambda: window.current_account.service is not None and chat.presenter.head().model_name
    )
    await guide.picture(
        "after-restart", "After a restart both answers are in the history, the second marked as stopped."
    )

    chat.open_request(answers[0].id)
    await guide.picture("request", "The Request page shows what was sent, without the key.")
    window.open_palette()
    await guide.picture("palette", "The command palette finds actions, chats, models and settings.")
    guide.press(window.focusWidget() or window, Qt.Key.Key_Escape)
    window.open_settings("accounts")
    await guide.picture("settings", "Settings lists the accounts and where secrets are stored.")


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
