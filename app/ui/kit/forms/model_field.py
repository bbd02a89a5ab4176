"""The field of a form that chooses one of its models, or any other by its id."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QStandardItemModel

from app.translation import tr
from app.ui.kit.forms.other_model_dialog import OTHER_MODEL
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.fields import ChoiceField


class ModelField(ChoiceField):
    """`chosen` has a model's id. Call `offer_other` once the models are in it.

    The last entry opens a dialog, so that only the open list can choose it: stepping with the arrows never does.
    """

    chosen = Signal(str)
    other_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Model"))
        self._other = -1
        self._before = -1  # what was chosen when the list opened
        self.activated.connect(self._choose)

    def offer_other(self) -> None:
        """Put the entry for any other model at the end."""
        self.insertSeparator(self.count())
        self._other = self.count()
        self.addItem(OTHER_MODEL)
        self._enable_other(False)

    def showPopup(self) -> None:
        self._before = self.currentIndex()
        self._enable_other(True)
        super().showPopup()

    def hidePopup(self) -> None:
        super().hidePopup()
        self._enable_other(False)

    def _enable_other(self, on: bool) -> None:
        items = self.model()
        if isinstance(items, QStandardItemModel) and 0 <= self._other < items.rowCount():
            items.item(self._other).setEnabled(on)

    def _choose(self, index: int) -> None:
        if index != self._other or self._other < 0:
            self.chosen.emit(str(self.itemData(index) or ""))
            return
        with QSignalBlocker(self):
            self.setCurrentIndex(self._before)
        self.other_requested.emit()
