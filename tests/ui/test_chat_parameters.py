"""Parameters, prompts and presets in the page, by keyboard, on the real Sandbox: from the inspector to the request."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.sandbox.server import RunningSandbox
from app.ui.kit.theme import Theme
from tests.kit.chat import answer_dialog, open_sandbox_chat, press


async def test_every_parameter_reaches_the_request_and_the_sandbox_takes_it(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-reasoning") as box:
        page = box.parameters
        more = page.more
        box.presenter.set_option("web_search", "on")
        for switch in (page.service_prompt, more.in_stream, more.cache, more.keep):
            switch.setFocus()
            press(switch, Qt.Key.Key_Space)
        more.documents.setFocus()
        press(more.documents, Qt.Key.Key_Space)
        more.effort.setFocus()
        QTest.keyClicks(more.effort, "h")
        more.effort.activated.emit(more.effort.currentIndex())
        more.seed.setFocus()
        more.seed.lineEdit().selectAll()
        QTest.keyClicks(more.seed, "7")
        press(more.seed, Qt.Key.Key_Return)
        more.stop.setFocus()
        QTest.keyClicks(more.stop, "ENDE")
        more.extra.setFocus()
        QTest.keyClicks(more.extra.box, '{"top_k": 40}')
        page.prompt.setFocus()
        QTest.keyClicks(page.prompt, "Answer tersely.")
        box.message_box.setFocus()
        await box.type("Where is my key kept?")
        row = box.rows[-1]
        assert row.problem is None, row.problem
        assert row.state == "complete"
        assert row.sources, "results that come as a function call are shown as sources"
        assert row.calls == ()
        body = box.presenter.answers.exchange_of(row.id).request.body
        assert {
            name: body[name] for name in ("reasoning_effort", "seed", "stop", "prompt_cache_retention", "top_k")
        } == {
            "reasoning_effort": "high",
            "seed": 7,
            "stop": ["ENDE"],
            "prompt_cache_retention": "24h",
            "top_k": 40,
        }
        extension = body["service_parameters"]
        assert extension["include_venice_system_prompt"] is False
        assert extension["return_search_results_as_documents"] is True
        assert "include_search_results_in_stream" not in extension
        assert body["messages"][0] == {"role": "system", "content": "Answer tersely."}


async def test_new_chats_begin_with_the_defaults_of_settings_and_send_them(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        settings = box.presenter.account_models.settings
        assert box.parameters.web.current == "auto"
        settings.remember(chat_defaults={"system_prompt": "Answer tersely.", "web_search": "off", "top_p": 0.5})
        assert box.parameters.prompt.toPlainText() == "Answer tersely.", "a chat not begun yet follows"
        assert box.parameters.web.current == "off"
        await box.type("Where is my key kept?")
        body = box.presenter.answers.exchange_of(box.rows[-1].id).request.body
        assert body["messages"][0] == {"role": "system", "content": "Answer tersely."}
        assert body["top_p"] == 0.5
        settings.remember(chat_defaults={"web_search": 3, "temperature": 0.25})
        assert box.parameters.prompt.toPlainText() == "Answer tersely.", "a chat that was begun keeps its own"
        box.page.new_chat()
        await box.settle()
        assert box.parameters.prompt.toPlainText() == ""
        assert box.presenter.opened.options.temperature == 0.25
        assert box.presenter.opened.options.web_search == "off", "what is no mode is none"
        box.presenter.set_option("thinking", False)
        await box.settle()
        settings.remember(chat_defaults={"top_p": 0.75})
        assert box.presenter.opened.options.top_p is None, "a chat with parameters of its own keeps them"


async def test_what_the_model_ignores_says_so_in_its_row(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-vision") as box:
        page = box.parameters
        rows = (
            page._web_row,
            page._social_row,
            page._thinking_row,
            page.more.effort_row,
            page.more.in_stream_row,
            page.more.keep_row,
        )
        for row in rows:
            assert not row.control.isEnabled()
            assert row.control.accessibleDescription()
        box.presenter.use_model("rialto-search")
        await box.settle()
        assert page.social.isEnabled()
        page.social.click()
        await box.settle()
        assert not page.web.isEnabled()
        assert "own search replaces" in page.web.accessibleDescription()


async def test_extra_json_that_is_not_complete_holds_the_message_and_says_where(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        more = box.parameters.more
        QTest.keyClicks(more.extra.box, '{"top_k": ')
        box.message_box.setFocus()
        await box.type("Hello")
        assert box.rows == ()
        assert more.extra.note.text().startswith("Line 1, column")
        assert box.composer.text() == "Hello"
        assert box.composer.send.toolTip() == "Extra JSON in Parameters is incomplete."


async def test_a_prompt_is_saved_found_used_renamed_and_removed_by_keyboard(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        presenter = box.presenter
        presenter.set_option("system_prompt", "Review network code.")
        library = box.page.box.prompts
        box.page.box.open_prompts()
        assert library.isVisible()
        library.save.click()
        await answer_dialog(box, "Reviewer")
        presenter.set_option("system_prompt", "")
        box.page.box.open_prompts()
        QTest.keyClicks(library.search, "netw")
        press(library.search, Qt.Key.Key_Return)
        assert presenter.opened.options.system_prompt == "Review network code."
        assert not library.isVisible()
        box.page.box.open_prompts()
        press(library.search, Qt.Key.Key_F2)
        await answer_dialog(box, "Strict reviewer")
        assert [row.name for row in presenter.presets.rows("prompt")] == ["Strict reviewer"]
        box.page.box.open_prompts()
        library.list.setFocus()
        press(library.list, Qt.Key.Key_Delete)
        await box.settle()
        assert presenter.presets.rows() == ()
        press(library.list, Qt.Key.Key_Delete)
        QTest.keyClick(library.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        await box.settle()
        assert len(presenter.presets.rows()) == 1
        library.close()
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox) as box:
        assert [row.name for row in box.presenter.presets.rows()] == ["Strict reviewer"], "kept on the disk"


async def test_a_preset_brings_model_and_parameters_back_and_travels_in_a_file(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    file = tmp_home / "presets.json"
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-reasoning") as box:
        presenter = box.presenter
        presenter.set_option("temperature", 0.2)
        presenter.set_option("effort", "high")
        box.page.box.open_presets()
        box.presets_popover.save.click()
        await answer_dialog(box, "Careful")
        presenter.presets.export(file)
        await box.settle()
        presenter.new_chat()
        await box.settle()
        presenter.use_model("rialto-handbook")
        (row,) = presenter.presets.rows("preset")
        assert row.detail == "rialto-reasoning, web auto, temperature 0.2"
        presenter.presets.use(row.id)
        await box.settle()
        head = presenter.head()
        assert (head.model_id, head.options.temperature, head.options.effort) == ("rialto-reasoning", 0.2, "high")
    other = tmp_home / "other"
    async with open_sandbox_chat(theme, other, swift_sandbox) as box:
        box.presenter.presets.import_file(file)
        await box.settle()
        assert [row.name for row in box.presenter.presets.rows()] == ["Careful"]
        told: list[str] = []
        box.presenter.presets.notice.connect(told.append)
        file.write_text("{}")
        box.presenter.presets.import_file(file)
        await box.settle()
        assert told == ["This file contains no Rialto prompts or presets."]
