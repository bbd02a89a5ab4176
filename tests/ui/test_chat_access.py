"""A walk over everything that stands around a chat: what takes the keyboard has a name, a role and room to be hit."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget

from app.sandbox.server import RunningSandbox
from app.ui.chat.export_dialog import ExportDialog
from app.ui.chat.structure_dialog import StructureDialog
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.dialogs import Dialog
from tests.kit.chat import SandboxChatHarness, dropped, open_sandbox_chat
from tests.kit.waiting import until
from tests.ui.test_chat_attachments import picture

LEAST_PX = 24


def stops(top: QWidget) -> list[QWidget]:
    """What the Tab key can reach, or a hand press, inside a widget that is shown."""
    found = [each for each in top.findChildren(QWidget) if each.isVisibleTo(top) and each.isEnabled()]
    own = [each for each in found if not each.objectName().startswith("qt_")]
    return [each for each in own if each.focusPolicy() & Qt.FocusPolicy.TabFocus]


def is_scrolled(widget: QWidget) -> bool:
    """Qt gives an area that is scrolled by keys no role of its own; its name and what is in it are told."""
    return isinstance(widget, QAbstractScrollArea)


def complaints(top: QWidget) -> list[str]:
    """What a screen reader or a finger would miss."""
    missing = []
    for widget in stops(top):
        interface = QAccessible.queryAccessibleInterface(widget)
        kind = type(widget).__name__
        if interface is None:
            missing.append(f"{kind} is not known to screen readers")
            continue
        name = interface.text(QAccessible.Text.Name).strip()
        if not name:
            missing.append(f"{kind} has no name")
        if interface.role() in (QAccessible.Role.NoRole, QAccessible.Role.Client) and not is_scrolled(widget):
            missing.append(f"{kind} “{name}” has no role")
        hit = getattr(widget, "ring_widget", widget)  # a click beside the text means the text
        if min(hit.width(), hit.height()) < LEAST_PX:
            missing.append(f"{kind} “{name}” is {widget.width()} × {widget.height()} px")
    return missing


async def dialog_of(box: SandboxChatHarness, kind: type[Dialog]) -> Dialog:
    await until(lambda: any(each.isVisible() for each in box.canvas.findChildren(kind)))
    return next(each for each in box.canvas.findChildren(kind) if each.isVisible())


async def test_the_box_with_everything_in_it(theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox) -> None:
    """Chips with and without a refusal, the note of links, the reason why nothing goes, the list behind a slash."""
    file = tmp_home / "large.png"
    file.write_bytes(picture(5000, 300))
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-vision") as box:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(file))])
        assert dropped(box.page.main, mime)
        await box.settle()
        assert complaints(box.composer) == []
        box.presenter.use_model("rialto-handbook")
        box.presenter.set_option("read_links", True)
        await box.type("Read https://example.org/page", send=False)
        await box.settle()
        (chip,) = box.composer.strip.chips.values()
        assert complaints(box.composer) == []
        assert "cannot see images" in QAccessible.queryAccessibleInterface(chip).text(QAccessible.Text.Name)
        assert box.composer.links_note.text().startswith("Reads this link")


@pytest.mark.parametrize("percent", [100, 200])
async def test_every_page_of_the_inspector(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox, percent: int
) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-reasoning") as box:
        theme.set_text_percent(percent)
        await box.type("Where is my key kept?")
        for page in range(3):
            box.side.show_page(page)
            await box.settle()
            assert complaints(box.side) == []
        theme.set_text_percent(100)


async def test_what_opens_over_the_window(theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-reasoning") as box:
        await box.type("Where is my key kept?")
        harness = box.page.box
        picker = box.page.open_model_picker()
        assert complaints(picker) == []
        picker.close()
        for opens, popover in ((harness.open_prompts, harness.prompts), (harness.open_presets, harness.presets)):
            opens()
            assert complaints(popover) == []
            popover.close()
        compare = box.page.controller.open_comparing()
        assert complaints(compare) == []
        compare.close()
        for opens_dialog, kind in (
            (box.page.controller.export, ExportDialog),
            (box.page.controller.open_structure, StructureDialog),
        ):
            opens_dialog()
            dialog = await dialog_of(box, kind)
            assert complaints(dialog) == []
            dialog.reject()
            await box.settle()


async def test_the_panes_in_place_of_the_list(theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox) -> None:
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-reasoning") as box:
        await box.type("Where is my key kept?")
        box.page.controller.open_search()
        await box.type("", send=False)
        box.search_dialog.field.setText("key")
        await box.settle()
        assert complaints(box.page.list_pane()) == []
        spoken = box.search_dialog.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        assert "Where is my key kept?" in spoken
        box.page.controller.leave_list()
        box.presenter.move_to_trash((box.presenter.opened.chat_id or "",))
        await box.settle()
        box.page.controller.open_trash()
        await box.settle()
        assert complaints(box.page.list_pane()) == []
        assert box.trash_pane is not None
        spoken = box.trash_pane.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
        assert "Where is my key kept?" in spoken and "2 messages" in spoken


async def test_tab_walks_from_the_box_through_every_control_and_back(
    theme: Theme, tmp_home: Path, swift_sandbox: RunningSandbox
) -> None:
    """No trap on the way: Tab comes round to where it began."""
    async with open_sandbox_chat(theme, tmp_home, swift_sandbox, "rialto-reasoning") as box:
        await box.type("Where is my key kept?")
        keep = box.parameters.more.keep
        await box.settle()
        box.window.activateWindow()
        box.message_box.setFocus()
        seen: list[QWidget] = []
        for _ in range(200):
            focused = QApplication.focusWidget()
            assert focused is not None
            seen.append(focused)
            QTest.keyClick(focused, Qt.Key.Key_Tab)
            if QApplication.focusWidget() is box.message_box and len(seen) > 1:
                break
        assert QApplication.focusWidget() is box.message_box, f"Tab does not come back from {type(seen[-1]).__name__}"
        for place in (box.composer.send, box.composer.attach, box.composer.web, box.chat_list.filter):
            assert place in seen
        assert box.header.model in seen
        assert keep in seen
