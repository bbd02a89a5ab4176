"""Asks for the consent that the service requires for faces; nothing is sent before it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from app.translation import tr
from app.ui.kit.text_area import TextArea
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.fields import CheckBox
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.links import LinkOpener

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.core.tasks import TaskScope
    from app.ui.kit.theme import Theme
    from app.ui.video.consent import Consent

WIDTH = 500
LINES = 6
STATEMENTS = (
    tr("Every face in it is mine, or the person has agreed."),
    tr("I accept the service’s terms and privacy policy."),
    tr("I understand that it is reviewed before it is used."),
)


class ConsentDialog(Dialog):
    """Can be agreed to only when each statement is ticked, one by one."""

    def __init__(self, theme: Theme, parent: QWidget, tasks: TaskScope, consent: Consent, price: str) -> None:
        super().__init__(theme, parent, tr("Consent for faces"), width=WIDTH)
        said = tr("The service found a face in this job’s files and asks for your consent before using it.")
        where = tr("Found in {where}.", where=consent.where) if consent.where else ""
        self.said = Label(
            theme, tr("{said}{where} Nothing was charged.", said=said, where=where), role="text2", wrap=True
        )
        self.policy = TextArea(consent.text or tr("The service sent no further text."))
        self.policy.setReadOnly(True)
        self.policy.setTabChangesFocus(True)
        self.policy.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.policy.setAccessibleName(tr("Consent text"))
        self.policy.setFixedHeight(theme.type_px(19) * LINES + theme.px(14))
        self.body.addWidget(self.said)
        self.body.addWidget(self.policy)
        self.more = LinkButton(theme, tr("Learn more…"))
        self.more.setVisible(bool(consent.more_at))
        self._opener = LinkOpener(theme, self, tasks)
        self.more.clicked.connect(lambda: self._opener.ask(consent.more_at))
        self.body.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeading)
        self.boxes = tuple(CheckBox(statement) for statement in STATEMENTS)
        for box in self.boxes:
            self.body.addWidget(box)
            box.toggled.connect(lambda _on: self._agree())
        words = [tr("It applies only to this job.")]
        if consent.version:
            words.append(tr("Version {version} of the text is saved with the job.", version=str(consent.version)))
        self.body.addWidget(Label(theme, " ".join(words), "small", "text3", wrap=True))
        self.add_button(tr("Not now"), accepts=False)
        self.go = self.add_button(
            tr("Agree and queue for {price}", price=price) if price else tr("Agree and queue"),
            kind="primary",
            accepts=True,
        )
        self._agree()

    def _agree(self) -> None:
        self.go.setEnabled(all(box.isChecked() for box in self.boxes))
