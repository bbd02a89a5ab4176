"""The mask: seen on every image, and its brush changes with the wheel."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication

from app.ui.images.mask_editor import MaskEditor
from app.ui.kit.theme import Theme


def wheel(editor: MaskEditor, steps: int) -> None:
    held = (Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False)
    event = QWheelEvent(QPointF(9, 9), QPointF(9, 9), QPoint(), QPoint(0, 120 * steps), *held)
    QApplication.sendEvent(editor, event)


def test_the_wheel_changes_the_size_of_the_brush(theme: Theme) -> None:
    editor = MaskEditor(theme)
    editor.show_image(QImage(400, 300, QImage.Format.Format_RGB32))
    before = editor.brush
    wheel(editor, 2)
    assert editor.brush == before + 16
    wheel(editor, -3)
    assert editor.brush == before - 8


def test_what_is_painted_is_seen_on_an_image_in_the_color_of_the_theme(theme: Theme) -> None:
    image = QImage(400, 300, QImage.Format.Format_RGB32)
    image.fill(theme.color("accent"))
    editor = MaskEditor(theme)
    editor.show_image(image)
    editor.resize(400, 300)
    editor.painting.fill(QColor("white"))
    shown = editor.grab().toImage().pixelColor(350, 20)
    accent = theme.color("accent")
    assert sum(abs(a - b) for a, b in zip(shown.getRgb()[:3], accent.getRgb()[:3], strict=True)) > 200
