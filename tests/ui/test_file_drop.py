"""Whatever takes dropped files lights up while they are over it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.chat.sidebar.chat_list import ChatListPane
from app.ui.images.gallery import Gallery
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.file_drop import FileDrop
from app.ui.speech.editor import SpeechEditor
from app.ui.transcription.canvas import Canvas
from app.ui.video.form_parts import MediaSlot
from app.ui.video.reference_media_parts import FileList

AT = (Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)


def entered(widget: QWidget, data: QMimeData) -> bool:
    event = QDragEnterEvent(QPoint(5, 5), Qt.DropAction.CopyAction, data, *AT)
    event.ignore()
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


@pytest.mark.parametrize(
    "make",
    [
        Canvas,
        lambda theme: Gallery(theme, lambda _: None, str, Path()),
        SpeechEditor,
        lambda theme: MediaSlot(theme, "Image", "*.png"),
        lambda theme: FileList(theme, "Images", "*.png"),
        ChatListPane,
    ],
)
def test_everything_that_takes_files_lights_up_while_they_are_over_it(
    theme: Theme, make: Callable[[Theme], QWidget], tmp_path: Path
) -> None:
    pane = make(theme)
    pane.show()
    widget = pane.viewport() if isinstance(pane, SpeechEditor) else pane
    drop = widget.findChild(FileDrop)
    assert drop is not None
    got: list[tuple[Path, ...]] = []
    drop.dropped.disconnect()  # who takes them is tested there
    drop.dropped.connect(got.append)
    data = QMimeData()
    data.setText("only words")
    entered(widget, data)
    assert not drop.lit
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "one.png")), QUrl("https://example.org/two.png")])
    assert entered(widget, data) and drop.lit
    QApplication.sendEvent(widget, QDragLeaveEvent())
    assert not drop.lit
    assert entered(widget, data) and drop.lit
    QApplication.sendEvent(widget, QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, *AT))
    assert not drop.lit
    assert got == [(tmp_path / "one.png",)]
