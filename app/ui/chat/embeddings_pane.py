"""Embeddings in the window of a project's documents: which model, what it costs, how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.money import money, priced
from app.core.number_format import size as file_size
from app.formats import format_number
from app.translation import tr, tr_n
from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.widgets.buttons import Button, LinkButton
from app.ui.kit.widgets.fields import ChoiceField
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import retain_size_when_hidden

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.service.models import Model
    from app.ui.chat.session.document_embeddings import DocumentEmbeddings, Embedding, Offer
    from app.ui.kit.theme import Theme

NOTE_LINES = 2  # that there is always room for
LATER_MS = 100  # what comes within this is shown together


class EmbeddingsPane(QWidget):
    """Nothing is sent before its button is pressed, which says the price. `refresh` when the passages changed."""

    grown = Signal()  # it may need more or less height

    def __init__(self, theme: Theme, embeddings: DocumentEmbeddings, project_id: str, tasks: TaskScope) -> None:
        super().__init__()
        self._theme = theme
        self._embeddings = embeddings
        self._project_id = project_id
        self._tasks = tasks
        self._models: tuple[Model, ...] = ()
        self.note = Label(theme, "", "small", "text2", wrap=True)
        self.choice = ChoiceField(theme, tr("Embedding model"))
        self.choice.activated.connect(lambda _: self.refresh())
        self.start = Button(theme, tr("Embed"))
        self.start.hide()  # until it is known what there is to embed
        self.start.clicked.connect(self._start)
        self.price = Label(theme, "", "small", "text2", wrap=True)
        self.stop = LinkButton(theme, tr("Stop"))
        self.stop.clicked.connect(lambda: embeddings.stop(project_id))
        self.switch = LinkButton(theme, "")
        self.switch.clicked.connect(self._switch)
        self.delete = LinkButton(theme, tr("Delete embeddings"))
        self.delete.clicked.connect(lambda: embeddings.forget(project_id))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(Label(theme, tr("Search by meaning"), weight=600))
        column.addWidget(self.note)
        row = QHBoxLayout()
        row.addWidget(self.choice, 1)
        row.addWidget(self.start)
        column.addLayout(row)
        column.addWidget(self.price)
        for each in (self.start, self.price, self.stop):
            retain_size_when_hidden(each)
        for each in (self.note, self.price):
            each.setMinimumHeight(NOTE_LINES * theme.line_px("small"))
        self.request = LinkButton(theme, tr("Show request"))
        self.request.clicked.connect(lambda: tasks.start_unless_running("embeddings request", self._show_request))
        links = QHBoxLayout()
        for link in (self.switch, self.delete, self.stop, self.request):
            links.addWidget(link)
            link.hide()
        links.addStretch(1)
        column.addLayout(links)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(LATER_MS)
        self._later.timeout.connect(lambda: self._tasks.replace("embeddings", self._show))
        embeddings.changed.connect(self._changed)
        self._changed(project_id)

    def refresh(self) -> None:
        """Count again what is to be embedded, and what that costs."""
        if not self._later.isActive():
            self._later.start()

    def _changed(self, project_id: str) -> None:
        if project_id == self._project_id:
            self._show_state(self._embeddings.state(project_id))
            if not self._embeddings.state(project_id).running:
                self.refresh()

    async def _show_request(self) -> None:
        from app.ui.kit.call_dialog import CallDialog

        await CallDialog(self._theme, self, self._embeddings.last_call).answer()

    def _model(self) -> Model | None:
        return next((each for each in self._models if each.id == self.choice.currentData()), None)

    async def _show(self) -> None:
        state = await self._embeddings.read(self._project_id)
        models = await self._embeddings.models()
        if not alive(self):  # closed meanwhile
            return
        if models != self._models:
            self._models = models
            self.choice.clear()
            for each in models:
                self.choice.addItem(_words_of(each), each.id)
            at = self.choice.findData(state.about.model if state.about is not None else None)
            self.choice.setCurrentIndex(max(0, at))
        model = self._model()
        offer = await self._embeddings.offer(self._project_id, model) if model is not None else None
        if not alive(self):
            return
        self._show_state(self._embeddings.state(self._project_id))
        self._show_offer(self._embeddings.state(self._project_id), model, offer)

    def _show_state(self, state: Embedding) -> None:
        known = state.about
        self.stop.setVisible(state.running)
        self.choice.setEnabled(not state.running and self.choice.count() > 0)
        if state.running:
            self.start.hide()
        self.price.setVisible(not state.running)
        self.request.setVisible(self._embeddings.last_call is not None)
        for link in (self.switch, self.delete):
            link.setVisible(known is not None and known.count > 0 and not state.running)
        is_on = known is not None and known.is_on
        self.switch.setText(tr("Turn off") if is_on else tr("Turn on"))
        if state.running:
            words = tr("Embedding {done} of {of}", done=format_number(state.done), of=format_number(state.of))
        elif known is None or not known.count:
            words = tr(
                "Embeddings find passages that say the same thing in other words or another language. The service"
                " reads each passage once, and each question you ask in this project’s chats."
            )
        elif not state.fits:
            words = tr(
                "These embeddings are from another service. Until you create them again, Rialto searches by words only."
            )
        else:
            count = tr_n("{n} passage is embedded", "{n} passages are embedded", known.count)
            size = file_size(known.size_bytes)
            words = (
                tr("{count}, {size}. Each question in this project’s chats is embedded too.", count=count, size=size)
                if known.is_on
                else tr("{count}, {size}. Not used: Rialto searches by words only.", count=count, size=size)
            )
        self.note.set_text(f"{words} {state.note}".strip())
        self.grown.emit()

    def _show_offer(self, state: Embedding, model: Model | None, offer: Offer | None) -> None:
        if model is None or offer is None:
            self.start.hide()
            self.price.set_text(tr("This account has no embedding models."))
            self.grown.emit()
            return
        self.start.setVisible(offer.passages > 0 and not state.running)
        words = tr("Embed")
        self.start.setText(priced(words, offer.price) if offer.price is not None else words)
        self.price.set_text(" ".join(_offer_words(state, model, offer)))
        self.grown.emit()

    def _start(self) -> None:
        model = self._model()
        if model is not None:
            self._embeddings.embed(self._project_id, model)

    def _switch(self) -> None:
        known = self._embeddings.state(self._project_id).about
        self._embeddings.switch(self._project_id, on=known is None or not known.is_on)


def _words_of(model: Model) -> str:
    price = model.price_input
    parts = [model.name, tr("private") if model.privacy == "private" else tr("anonymous")]
    parts += [tr("{price} per million tokens", price=money(price))] if price is not None else []
    return ", ".join(parts)


def _offer_words(state: Embedding, model: Model, offer: Offer) -> list[str]:
    question = money(offer.question) if offer.question is not None else ""
    each = [tr("A long question costs up to {price}.", price=question)] if question else []
    if not offer.passages:
        return each
    passages = tr_n("{n} passage", "{n} passages", offer.passages)
    tokens = tr_n("about {n} token", "about {n} tokens", offer.tokens)
    price = tr("up to {price}", price=money(offer.price)) if offer.price is not None else tr("no price is stated")
    words = [tr("{passages} to embed, {tokens}: {price}.", passages=passages, tokens=tokens, price=price)]
    if offer.maybe_paid:
        words.append(
            tr_n(
                "{n} of them was being sent when Rialto quit and may already have been charged.",
                "{n} of them were being sent when Rialto quit and may already have been charged.",
                offer.maybe_paid,
            )
        )
    if state.about is not None and state.about.count and state.about.model != model.id:
        words.append(tr("This deletes the other model’s embeddings."))
    return words + each
