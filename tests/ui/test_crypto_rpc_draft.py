"""What the Console's editors show is what is sent, after every kind of change."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core.tasks import TaskScope
from app.ui.kit.theme import Theme
from tests.kit.console import ConsoleHarness, call, open_console

ALICE, BOB = "0x" + "11" * 20, "0x" + "22" * 20


@pytest.fixture
async def window(tmp_path: Path, tasks: TaskScope, theme: Theme) -> AsyncIterator[ConsoleHarness]:
    async with open_console(tmp_path, tasks, theme) as window:
        window.resize(1368, 848)
        yield window


def shown(window: ConsoleHarness) -> tuple[str, object]:
    """The method and the parameters of the selected call, as the window shows them."""
    request = window.request
    if window.draft.mode == "json":
        item = json.loads(request.text.toPlainText())
        return item["method"], item["params"]
    return request.method.text(), json.loads(request.params.toPlainText())


async def sent(window: ConsoleHarness) -> tuple[str, object]:
    """Send the request and return what is noted on the disk as sent."""
    before = await window.database.fetch("SELECT count(*) FROM rpc_calls")
    await window.send()
    ((count,),) = await window.database.fetch("SELECT count(*) FROM rpc_calls")
    assert count == before[0][0] + 1
    ((text,),) = await window.database.fetch("SELECT items FROM rpc_calls ORDER BY seq DESC LIMIT 1")
    item = json.loads(str(text))
    item = item[0] if isinstance(item, list) else item
    return item["method"], item["params"]


async def same_everywhere(window: ConsoleHarness, params: object) -> None:
    """Compare the editor, the form, the row and what is sent."""
    row = window.draft.current
    assert shown(window) == (row.method, list(row.params)) == ("eth_getBalance", params)
    if window.request.form.isVisible():
        assert [line.text() for line in window.request.form.inputs] == params
    assert await sent(window) == ("eth_getBalance", params)


def type_params(window: ConsoleHarness, text: str) -> None:
    window.request.params.setFocus()
    window.request.params.selectAll()
    QTest.keyClicks(window.request.params, text)


async def test_what_is_shown_is_sent_after_every_kind_of_change(window: ConsoleHarness, theme: Theme) -> None:
    window.type_json(call("eth_getBalance", ALICE, "latest"))
    await same_everywhere(window, [ALICE, "latest"])
    window.key("Ctrl+Shift+J")
    type_params(window, f'["{BOB}", "earliest"]')
    for form in (False, True):
        window.request.as_form.setChecked(form)
        theme.set_mode("dark")
        await same_everywhere(window, [BOB, "earliest"])
        theme.set_text_percent(150)
        await same_everywhere(window, [BOB, "earliest"])
        theme.set_text_percent(100)
        theme.set_mode("light")
        window.window.hide()  # another tab
        theme.set_mode("dark")
        theme.set_mode("light")
        window.window.show()
        await same_everywhere(window, [BOB, "earliest"])
        window.key("Ctrl+Shift+J")
        theme.set_mode("dark")
        await same_everywhere(window, [BOB, "earliest"])
        window.key("Ctrl+Shift+J")
        await same_everywhere(window, [BOB, "earliest"])
        theme.set_mode("light")
    window.request.form.inputs[0].setFocus()
    window.request.form.inputs[0].selectAll()
    QTest.keyClicks(window.request.form.inputs[0], ALICE)
    await same_everywhere(window, [ALICE, "earliest"])
    window.request.params.setFocus()
    QTest.keyClick(window.request.params, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(window.request.params, "  ")
    QTest.keyClick(window.request.params, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await same_everywhere(window, [ALICE, "earliest"])
    window.presenter.edit(lambda draft: draft.duplicate(0))
    type_params(window, f'["{BOB}", "latest"]')
    window.presenter.remove_calls([0])
    await same_everywhere(window, [BOB, "latest"])
    window.undo()
    window.presenter.remove_calls([1])
    await same_everywhere(window, [ALICE, "earliest"])
    restarted = await window.restart()  # as for another language
    assert restarted.draft.rows == window.draft.rows


async def test_another_call_is_shown_in_the_form_with_the_keyboard_in_it(window: ConsoleHarness) -> None:
    window.type_json([call("eth_getBalance", ALICE, "latest"), call("eth_getBalance", BOB, "earliest", id=2)])
    window.key("Ctrl+Shift+J")
    window.request.as_form.setChecked(True)
    window.request.form.inputs[0].setFocus()
    window.presenter.edit(lambda draft: draft.select(1))
    assert [line.text() for line in window.request.form.inputs] == [BOB, "earliest"]


async def test_nothing_is_sent_while_the_form_has_a_fault(window: ConsoleHarness) -> None:
    window.type_json(call("eth_getBalance", ALICE, "latest"))
    window.key("Ctrl+Shift+J")
    window.request.as_form.setChecked(True)
    field = window.request.form.inputs[0]
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "nobody")
    assert field.text() == "nobody"
    assert not window.can_send()
    assert window.request.fault.text()
    await window.send()
    assert window.entries == []
    restarted = await window.restart()
    restarted.draft.form = True
    selected = restarted.view().selected
    assert selected is not None
    assert selected.fields[0].text == "nobody"
    window.request.as_form.setChecked(False)  # the JSON is what is shown
    assert window.can_send()
    await same_everywhere(window, [ALICE, "latest"])


async def test_nothing_can_be_typed_while_the_request_is_sent(window: ConsoleHarness) -> None:
    window.request.as_form.setChecked(True)
    window.main.show_draft(replace(window.presenter.view(), sending=True), "")
    fields = (window.request.method, window.request.params, window.request.text, window.request.key)
    assert all(field.isReadOnly() for field in (*fields, *window.request.form.inputs))
