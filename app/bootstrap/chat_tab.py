"""The Chat tab, which is part of the first paint, and its guests: the characters, and the voice that reads answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.translation import tr
from app.ui.chat.page import ChatPage
from app.ui.chat.session.seal import NO_SPEECH, NO_SPEECH_IN_PRIVATE
from app.ui.chat.state import CharacterHead
from app.ui.shell.main_window import ClosingQuestion

if TYPE_CHECKING:
    from app.bootstrap.rialto import Rialto
    from app.service.characters import Character
    from app.ui.characters.page import CharactersPage


def make_chat_tab(rialto: Rialto) -> ChatPage:
    """Build the page; what needs the history is wired when that is open."""
    page = ChatPage(rialto.theme, rialto.chat, rialto.tasks, enter_sends=rialto.settings.value.enter_sends)
    page.characters_requested.connect(lambda: show_characters(rialto))
    page.help_requested.connect(rialto.help)
    page.handbook_requested.connect(lambda name, heading: rialto.window.overlays.show_handbook(name, heading))
    if rialto.chat.conversation is not None:
        _wire_voice(rialto, page)
    else:
        rialto.chat.started.connect(lambda: _wire_voice(rialto, page))
    page.toast_requested.connect(rialto.toast)
    rialto.window.closing_questions.append(ClosingQuestion(page.has_unsaved, page.leave_unsaved))
    rialto.chat.deprecation_found.connect(lambda sentence, chat_id: _offer(rialto, sentence, chat_id))
    if rialto.first_paint is not None and rialto.first_paint.is_over:
        page.complete()
    rialto.settings.subscribe(lambda value: page.main.composer.set_enter_sends(value.enter_sends))
    return page


def _wire_voice(rialto: Rialto, page: ChatPage) -> None:
    """Let every answer be read aloud; the speech tab is made by the first that is."""

    def act(row_id: str, action: str) -> None:
        if action == "speak" and (rialto.chat.opened.sealed or rialto.chat.opened.private):
            rialto.toast(NO_SPEECH if rialto.chat.opened.sealed else NO_SPEECH_IN_PRIVATE)
        elif action == "speak":
            from app.bootstrap.speech_tab import read_answer

            rialto.tasks.replace("read answer", read_answer, rialto, row_id)

    page.main.view.action.connect(act)


def _offer(rialto: Rialto, sentence: str, chat_id: str) -> None:
    """Say that a model is deprecated, with the way to the chat that uses it or to another model."""
    page = rialto.chat_page
    if chat_id:
        rialto.toast(sentence, tr("Show chat"), lambda: page.open_chat(chat_id))
    else:
        rialto.toast(sentence, tr("Choose…"), page.open_model_picker)


def show_characters(rialto: Rialto) -> None:
    """Show the gallery where the conversation is."""
    rialto.window.show_tab("chat")
    rialto.chat_page.show_guest(rialto.characters_page)


def make_characters_page(rialto: Rialto) -> CharactersPage:
    """Build the gallery."""
    from app.ui.characters.page import CharactersPage
    from app.ui.characters.presenter import CharactersPresenter

    presenter = CharactersPresenter(rialto.current_account, rialto.settings, rialto.tasks)
    presenter.service_cache = rialto.service_cache
    services = rialto.account_services
    page = CharactersPage(
        rialto.theme,
        presenter,
        rialto.tasks,
        network=services.network,
        asked=lambda host: services.calls.note_host(host, "images"),
        cache=rialto.paths.cache / "characters",
    )
    rialto.on_end(page.pictures.aclose)
    page.closed.connect(rialto.chat_page.show_chat)
    page.character_chosen.connect(lambda character, in_new_chat: _speak_with(rialto, character, in_new_chat))
    page.help_requested.connect(rialto.help)
    return page


def _speak_with(rialto: Rialto, character: Character, in_new_chat: bool) -> None:
    rialto.chat_page.use_character(CharacterHead.of(character), new_chat=in_new_chat)
