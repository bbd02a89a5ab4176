"""What a person sees in a widget and presses there."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget


def words(widget: QWidget) -> str:
    """All texts that a widget shows."""
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


def button(inside: QWidget, text: str) -> QAbstractButton:
    """The first button on show whose words begin so."""
    shown = [one for one in inside.findChildren(QAbstractButton) if one.isVisibleTo(inside)]
    found = next((one for one in shown if one.text().startswith(text)), None)
    assert found is not None, f"no {text!r} among {[one.text() for one in shown]}"
    return found


def press(inside: QWidget, text: str) -> None:
    button(inside, text).click()
