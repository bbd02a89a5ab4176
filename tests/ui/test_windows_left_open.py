"""What one test leaves on the screen is not styled again in all that follow."""

import shiboken6
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from tests.ui.conftest import windows_deleted


def test_a_window_that_is_left_open_is_deleted_and_one_from_before_is_not(qapp: QApplication) -> None:
    from_before = QWidget()
    with windows_deleted():
        left = QWidget()
        left.show()
        dialog = QDialog(from_before)
    assert not shiboken6.isValid(left)
    assert shiboken6.isValid(from_before)
    assert shiboken6.isValid(dialog)


def test_without_an_application_there_is_nothing_to_delete(monkeypatch) -> None:
    monkeypatch.setattr(QApplication, "instance", lambda: None)
    with windows_deleted():
        pass
