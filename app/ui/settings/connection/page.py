"""Connection: the proxy, a connection test, and custom certificates."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from app.core.secret_storage import Secrets
from app.translation import tr
from app.ui.kit.file_dialogs import ask_for_file
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.problem_label import ProblemLabel
from app.ui.settings.connection.presenter import ConnectionPresenter
from app.ui.settings.connection.proxy_form import ProxyForm
from app.ui.settings.connection.state import CertificateRow, ConnectionState
from app.ui.settings.connection.test_card import ConnectionTestCard
from app.ui.settings.rows import RowCard, SectionPage, SettingRow
from app.ui.settings.secrets.ask import SecretsQuestion

_FILES = tr("Certificates (*.pem *.crt *.cer);;All files (*)")


class ConnectionPage(SectionPage):
    def __init__(self, theme: Theme, presenter: ConnectionPresenter, secrets: Secrets) -> None:
        super().__init__(theme)
        self._presenter = presenter
        self._secrets = secrets
        question = QWidget()
        holder = QVBoxLayout(question)
        holder.setContentsMargins(0, 0, 0, 0)
        holder.addWidget(SecretsQuestion(theme, secrets))
        self.form = ProxyForm(theme, question)
        self.form.taken.connect(presenter.use)
        self.group(tr("Proxy"), self.form)
        self.test = ConnectionTestCard(theme)
        self.test.wanted.connect(lambda address: presenter.test(self.form.draft(), address))
        self.test.stop_requested.connect(presenter.stop_test)
        self.test.failed.connect(self._bring_into_view)
        words = tr("Tests each step between this computer and the service, using the proxy above. Free.")
        self.group(tr("Test"), Label(theme, words, "small", "text2", wrap=True), self.test)
        self._certificates = RowCard(theme)
        self._shown: tuple[CertificateRow, ...] | None = None
        self.add_button = Button(theme, tr("Add a certificate…"), "plus", size="small")
        self.add_button.clicked.connect(self._choose_file)
        self._problem = ProblemLabel(theme)
        self.group(tr("Custom certificates"), self._certificates, self._problem)
        self.column.addStretch(1)
        presenter.state_changed.connect(self.show_state)
        secrets.state_changed.connect(self.form.show_place)
        self.form.show_place(secrets.state)
        self.show_state(presenter.state)

    def shown(self) -> None:
        self._secrets.refresh()
        self._presenter.refresh()

    def focus_password(self) -> None:
        """The person came to replace the proxy's password."""
        self.form.focus_password()

    def _bring_into_view(self, row: QWidget) -> None:
        """Scroll to the hop that failed, once it has its place."""
        QTimer.singleShot(0, row, lambda: _scroll_to(self, row))

    def show_state(self, state: ConnectionState) -> None:
        self.form.show_state(state)
        self.test.show_state(state)
        self._problem.set_text(state.certificate_problem)
        self._problem.setVisible(bool(state.certificate_problem))
        if state.certificates != self._shown:
            self._shown = state.certificates
            self._fill(state.certificates)

    def _fill(self, rows: tuple[CertificateRow, ...]) -> None:
        self._certificates.empty()
        for row in rows:
            remove = IconButton(self.theme, "trash", tr("Remove {name}", name=row.name), size="small")
            remove.clicked.connect(lambda _on=False, path=row.path: self._presenter.remove_certificate(path))
            line = SettingRow(self.theme, row.name, remove, meaning=row.problem or row.detail)
            line.set_meaning(row.problem or row.detail, "bad" if row.problem else "text2")
            self._certificates.add(line)
        meaning = tr("PEM files trusted in addition to the system’s. For networks that inspect TLS traffic.")
        self.add_button = Button(self.theme, tr("Add a certificate…"), "plus", size="small")
        self.add_button.clicked.connect(self._choose_file)
        title = tr("Add another…") if rows else tr("None yet")
        self._certificates.add(SettingRow(self.theme, title, self.add_button, meaning=meaning))

    def _choose_file(self) -> None:
        ask_for_file(self, tr("Add a certificate"), lambda path: self._presenter.add_certificate(str(path)), _FILES)


def _scroll_to(page: QWidget, row: QWidget) -> None:
    around = page.parentWidget()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parentWidget()
    if isinstance(around, QScrollArea):
        around.ensureWidgetVisible(row)
