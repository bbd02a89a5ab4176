"""Embeds the passages of a project when the person says so, and then its questions: paid calls, one after the other.

What a batch brought is on the disk before the next one leaves. One that was under way when Rialto quit is not sent
again by itself: `Offer.maybe_paid` says how many passages it had, and going on is what the person decides.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sqlite3
from array import array
from collections.abc import Callable, Mapping, Sequence, Set
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.core.model_lists import list_models, saved_models
from app.core.paid_call import paid_call
from app.core.problems import describe
from app.core.spending_limits import call_group, spending_in
from app.documents.index import remove
from app.documents.vectors import (
    OtherModel,
    VectorStoreInfo,
    about,
    begin,
    forget_missing,
    keep,
    missing,
    packed,
    switch,
    texts_of,
    unpack,
    vectors_beside,
)
from app.service.embeddings import most_tokens
from app.service.errors import RateLimited, ServiceError
from app.service.pricing import embedding_cost
from app.storage.paid_call_intents import Intents
from app.translation import tr

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.shown_call import ShownCall
    from app.service.embeddings import Embeddings
    from app.service.models import Model
    from app.service.service import Service
    from app.storage.database import Database
    from app.storage.service_cache import ServiceCache

KIND = "embeddings"  # of its paid calls
MODELS = "embedding"  # the kind of model
MOST_TEXTS = 32  # of one call
MOST_BYTES = 200_000
QUESTION_TOKENS = 200  # a long one; for saying what a question costs
WAIT_S = 30.0  # after a limit whose end the service did not tell
DISK = tr("The embeddings could not be saved. They are in memory. Free some disk space, then continue.")
UNCHANGED = tr("The embeddings on this computer could not be changed. Free some disk space, then try again.")
OTHER_MODEL = tr("A different model answered this time. Delete the embeddings to start over with it.")


class Offer(NamedTuple):
    """What embedding would come to. `price` is the most in USD, None where the model states no price."""

    passages: int
    tokens: int
    price: Decimal | None
    question: Decimal | None
    maybe_paid: int = 0  # of `passages`: they were under way when Rialto quit


class Embedding(NamedTuple):
    """Where the embedding of a project is. `note` says why it stands or waits."""

    about: VectorStoreInfo | None = None
    running: bool = False
    done: int = 0
    of: int = 0
    note: str = ""
    fits: bool = True  # the vectors are of the service in use


class DocumentEmbeddings(QObject):
    """One for the tab. `index` names a project's index; `run` starts work that belongs to the tab."""

    changed = Signal(str)  # the id of a project

    def __init__(self, database: Database, index: Callable[[str], Path]) -> None:
        super().__init__()
        self._intents = Intents(database)
        self._index = index
        self._states: dict[str, Embedding] = {}
        self._stops: dict[str, asyncio.Event] = {}  # of what runs; set to end it behind its batch
        self._unkept: dict[str, tuple[Sequence[bytes], Embeddings]] = {}  # paid for, and refused by the disk
        self._models: tuple[Model, ...] = ()
        self._asked: dict[str, tuple[str, array[float]]] = {}  # by project: the last question and its vector

    def start(
        self, run: Callable[..., None], current_account: CurrentAccount, service_cache: ServiceCache | None
    ) -> None:
        self._run = run
        self._current_account = current_account
        self._service_cache = service_cache
        current_account.account_changed.connect(self._account_changed)

    def _account_changed(self) -> None:
        self._models = ()
        self._asked.clear()
        for stop in self._stops.values():
            stop.set()
        for project_id in self._states:
            self.changed.emit(project_id)

    # What there is

    def state(self, project_id: str) -> Embedding:
        """As it was read last; `read` brings it up to date."""
        state = self._states.get(project_id, Embedding())
        return state._replace(fits=state.about is None or state.about.place == self._place)

    async def read(self, project_id: str) -> Embedding:
        """Read what is on the disk."""
        try:
            found = await asyncio.to_thread(about, vectors_beside(self._index(project_id)))
        except (sqlite3.Error, OSError):
            found = None
        self._set(project_id, about=found)
        return self.state(project_id)

    async def prepare(self, project_id: str) -> None:
        """See to it that `question_cost` knows what there is."""
        state = await self.read(project_id)
        if state.about is not None and state.about.is_on and not self._models:
            await self.models()
            self.changed.emit(project_id)

    def question_cost(self, project_id: str, text: str) -> Decimal | None:
        """The most in USD that embedding a question costs; None where none is embedded, or no price is known."""
        state = self.state(project_id)
        if state.about is None or not (state.about.is_on and state.about.count and state.fits):
            return None
        model = self._model(state.about.model)
        return embedding_cost(model.model_spec.pricing, most_tokens(len(text.encode()))) if model is not None else None

    def _model(self, model_id: str) -> Model | None:
        return next((each for each in self._models if each.id == model_id), None)

    @property
    def last_call(self) -> ShownCall | None:
        """The last call that embedded something for the account in use; None before there was one."""
        return self._current_account.latest.get("embeddings")

    async def models(self) -> tuple[Model, ...]:
        """The embedding models of the account in use, the one to begin with first: private, cheap, of all languages."""
        account = self._current_account.account
        if not self._models and account is not None:
            try:
                found = await list_models(self._current_account, self._service_cache, MODELS)
            except ServiceError:
                found, _ = await saved_models(self._service_cache, account.id, MODELS)
            self._models = tuple(sorted(found or (), key=_rank))
        return self._models

    async def offer(self, project_id: str, model: Model) -> Offer:
        """What it costs to embed what has no vector of this model yet."""
        sizes = await asyncio.to_thread(self._missing, project_id, model)
        tokens = sum(most_tokens(size) for _, size in sizes)
        waiting = {name for name, _ in sizes}
        under_way = await self._under_way(project_id)
        pricing = model.model_spec.pricing
        return Offer(
            len(sizes),
            tokens,
            embedding_cost(pricing, tokens),
            embedding_cost(pricing, QUESTION_TOKENS),
            len(waiting & under_way),
        )

    def _missing(self, project_id: str, model: Model) -> list[tuple[bytes, int]]:
        index = self._index(project_id)
        try:
            known = about(vectors_beside(index))
            others = known is not None and (known.model, known.place) != (model.id, self._place)
            return missing(index, of_all=others)
        except (sqlite3.Error, OSError):
            return []

    async def _under_way(self, project_id: str) -> set[bytes]:
        calls = await self._intents.pending(KIND)
        return {
            bytes.fromhex(name)
            for call in calls
            if call.state == "unknown" and call.request.get("project") == project_id
            for name in call.request.get("passages", ())
        }

    @property
    def _place(self) -> str:
        """Whose vectors: a service by a hash of its address, which may be private and goes into exported files.

        Every Sandbox alike, whose address is another at each start.
        """
        account = self._current_account.account
        if account is None:
            return ""
        return "sandbox" if account.is_sandbox else hashlib.sha256(account.base_url.encode()).hexdigest()

    # What the person does

    def embed(self, project_id: str, model: Model) -> None:
        """Embed everything that has no vector yet, and from now on the questions. The price was shown before."""
        if not self.state(project_id).running:
            self._set(project_id, running=True, done=0, of=0, note="")
            self._run(self._embed, project_id, model)

    def stop(self, project_id: str) -> None:
        """Stop behind the batch that is under way. What came stays."""
        if project_id in self._stops:
            self._stops[project_id].set()

    def switch(self, project_id: str, *, on: bool) -> None:
        """Embed questions, or no longer."""
        self._run(self._change, project_id, partial(switch, on=on))

    def forget(self, project_id: str) -> None:
        """Delete the vectors."""
        self._unkept.pop(project_id, None)
        self._run(self._change, project_id, remove)

    async def packed(self, project_id: str) -> dict[str, object] | None:
        """Return all vectors for the file of a project; None where there are none, or too many for it."""
        try:
            return await asyncio.to_thread(packed, vectors_beside(self._index(project_id)))
        except (sqlite3.Error, OSError):
            return None

    async def take(self, project_id: str, told: Mapping[str, object]) -> bool:
        """Keep the vectors of an imported project; no question is embedded before that is switched on.

        Return False for what is damaged and was not kept. A disk that refuses is told in the project's state.
        """
        is_damaged = False

        def keep(path: Path) -> None:
            nonlocal is_damaged
            is_damaged = not unpack(path, told)

        await self._change(project_id, keep)
        return not is_damaged

    def forget_missing(self, project_id: str, names: Set[bytes]) -> None:
        """Delete the vectors of those of these texts that the project no longer has."""
        self._run(self._change, project_id, lambda _path: forget_missing(self._index(project_id), names))

    async def _change(self, project_id: str, change: Callable[[Path], object]) -> None:
        try:
            await asyncio.to_thread(change, vectors_beside(self._index(project_id)))
        except (sqlite3.Error, OSError):
            self._set(project_id, note=UNCHANGED)
        self._asked.pop(project_id, None)
        await self.read(project_id)

    # The work

    async def _embed(self, project_id: str, model: Model) -> None:
        index = self._index(project_id)
        note = ""
        self._stops[project_id] = asyncio.Event()
        try:
            await asyncio.to_thread(begin, vectors_beside(index), model.id, self._place)
            await self._keep_again(project_id)
            batches = _batches(await asyncio.to_thread(missing, index))
            self._set(project_id, of=sum(map(len, batches)))
            prices = [_price(model, batch) for batch in batches]
            with spending_in(project_id), call_group(prices, "batches"):
                note = await self._embed_all(project_id, model, batches)
            if not note:
                for call in await self._intents.pending(KIND):
                    if call.state == "unknown" and call.request.get("project") == project_id:
                        await self._intents.acknowledge(call.id)
        except OtherModel:
            note = OTHER_MODEL
        except (sqlite3.Error, OSError):
            note = DISK
        except ServiceError as error:
            note = str(describe(error, subject=""))
        finally:
            del self._stops[project_id]
            self._set(project_id, running=False, note=note)
        await self.read(project_id)

    async def _embed_all(self, project_id: str, model: Model, batches: list[list[tuple[bytes, int]]]) -> str:
        """Send one batch after the other. Return why it stopped before the end; "" at the end."""
        size = MOST_TEXTS
        waiting = [each for batch in reversed(batches) for each in reversed(batch)]
        while waiting:
            if self._stops[project_id].is_set() or self._current_account.service is None:
                return tr("Stopped.")
            batch = _next_batch(waiting, size)
            try:
                await self._send(project_id, model, [name for name, _ in batch])
            except RateLimited as error:
                waiting += reversed(batch)
                size = max(1, len(batch) // 2)
                await self._wait(project_id, error.retry_after_s or WAIT_S)
                continue
            state = self.state(project_id)
            self._set(project_id, done=state.done + len(batch), note="")
        return ""

    async def _wait(self, project_id: str, seconds: float) -> None:
        words = tr("Limit reached. Continues in {seconds} s.", seconds=round(seconds))
        self._set(project_id, note=words)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stops[project_id].wait()

    async def _send(self, project_id: str, model: Model, names: Sequence[bytes]) -> None:
        service, account = self._current_account.service, self._current_account.account
        assert service is not None and account is not None
        texts = await asyncio.to_thread(texts_of, self._index(project_id), names)
        names = [name for name in names if name in texts]  # the others changed meanwhile
        if not names:
            return
        request = {"project": project_id, "model": model.id, "passages": [name.hex() for name in names]}
        async with paid_call(self._intents, KIND, account.id, request) as paid:
            await paid.sent()
            answer = await _embedded(service, model, [texts[name] for name in names])
            self._unkept[project_id] = names, answer
            await paid.keep(self._keep_again(project_id), project_id, answer.exchange.id)

    async def _keep_again(self, project_id: str) -> None:
        """Put on the disk what came last, unless it is there."""
        if project_id in self._unkept:
            names, answer = self._unkept[project_id]
            path = vectors_beside(self._index(project_id))
            await asyncio.to_thread(keep, path, answer.model, list(zip(names, answer.vectors, strict=True)))
            self._unkept.pop(project_id, None)

    async def question(self, project_id: str, text: str) -> tuple[array[float] | None, str]:
        """Embed a question. Return its vector, or None and why words alone are searched; None and "" where that was
        the wish.

        The same question is paid for once.
        """
        state = await self.read(project_id)
        known, service, account = state.about, self._current_account.service, self._current_account.account
        if known is None or not known.is_on or not known.count:
            return None, ""
        if service is None or account is None:
            return None, tr("Found by words only: no account is in use.")
        if not state.fits:
            return None, tr("Found by words only: the embeddings are from another service.")
        if project_id in self._asked and self._asked[project_id][0] == text:
            return self._asked[project_id][1], ""
        await self.models()
        model = self._model(known.model)
        if model is None:
            return None, tr("Found by words only: this account does not have the embedding model.")
        request = {"project": project_id, "model": model.id, "question": True}
        try:
            with spending_in(project_id):
                async with paid_call(self._intents, KIND, account.id, request) as paid:
                    await paid.sent()
                    answer = await _embedded(service, model, [text])
                    await paid.answered(project_id, answer.exchange.id)
        except ServiceError as error:
            return None, tr("Found by words only. {why}", why=str(describe(error, subject="")))
        if (answer.model, answer.dimensions) != (known.served, known.dimensions):
            return None, OTHER_MODEL
        self._asked[project_id] = text, answer.vectors[0]
        return answer.vectors[0], ""

    def _set(self, project_id: str, **changes: object) -> None:
        before = self._states.get(project_id, Embedding())
        state = before._replace(**changes)  # type: ignore[arg-type]  # each is the field's own type
        if state != before or project_id not in self._states:
            self._states[project_id] = state
            self.changed.emit(project_id)


def _rank(model: Model) -> tuple[object, ...]:
    """Private before others, of all languages before English alone, then by price, then by what vectors take up."""
    words = model.id.lower().split("-")
    price = model.price_input
    return (
        model.privacy != "private",
        "en" in words,
        price is None,
        price or Decimal(0),
        model.model_spec.embedding_dimensions or 0,
        -(model.model_spec.max_input_tokens or 0),
        model.id,
    )


def _batches(sizes: Sequence[tuple[bytes, int]]) -> list[list[tuple[bytes, int]]]:
    waiting = list(reversed(sizes))
    batches = []
    while waiting:
        batches.append(_next_batch(waiting, MOST_TEXTS))
    return batches


def _next_batch(waiting: list[tuple[bytes, int]], most: int) -> list[tuple[bytes, int]]:
    """Take a batch from the end."""
    batch = [waiting.pop()]
    size = batch[0][1]
    while waiting and len(batch) < most and size + waiting[-1][1] <= MOST_BYTES:
        batch.append(waiting.pop())
        size += batch[-1][1]
    return batch


def _price(model: Model, batch: Sequence[tuple[bytes, int]]) -> Decimal | None:
    return embedding_cost(model.model_spec.pricing, sum(most_tokens(size) for _, size in batch))


async def _embedded(service: Service, model: Model, texts: Sequence[str]) -> Embeddings:
    limit, price = model.model_spec.max_input_tokens, partial(embedding_cost, model.model_spec.pricing)
    return await service.embeddings.embed(tuple(_fitted(text, limit) for text in texts), model.id, price=price)


def _fitted(text: str, limit: int | None) -> str:
    """Cut what a model would refuse as too long; its beginning says what a passage is about."""
    tokens = most_tokens(len(text.encode(errors="replace")))
    return text if limit is None or tokens <= limit else text[: len(text) * limit // tokens]
