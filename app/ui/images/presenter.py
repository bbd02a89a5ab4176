"""The presenter of the Images tab: the form, the model, the price, and what its controls do. QtCore only."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from app.core.calling_presenter import CallingPresenter
from app.core.current_account import RateLimitRemaining
from app.core.draft_autosave import DraftAutosave, with_kept
from app.core.leaving_models import FormModel
from app.core.model_lists import add_model, list_models, replaced_in, saved_models
from app.core.other_model import OtherModel, look_up_model
from app.core.preset_library import PresetLibrary
from app.core.problems import Problem, describe, for_account
from app.core.spending_limits import call_group
from app.core.typed_text import UndoableForm
from app.service.errors import ContentRefused, LimitExceeded, ServiceError
from app.service.images import ImageRequest
from app.service.models import Model
from app.storage.errors import NoHistory, StorageError, unavailable
from app.storage.form_drafts import FormDraftStore
from app.storage.images import ImageFiles, Images, StoredImage, title_of
from app.storage.paid_call_intents import Intents
from app.storage.presets import Presets
from app.translation import tr, tr_n
from app.ui.images.form import FormView, ImageForm, Reference, form_from, requests_of, view_of
from app.ui.images.session.image_library import ImageLibrary
from app.ui.images.session.image_maker import ImageMaker, Order, expected_cost
from app.ui.images.session.tiles import tile_of
from app.ui.images.state import EditDraft, Refused

if TYPE_CHECKING:
    from app.core.current_account import CurrentAccount
    from app.core.tasks import TaskScope
    from app.core.undo import UndoStack
    from app.service.chat_types import RetryWait
    from app.service.exchange import Exchange
    from app.storage.database import Database
    from app.storage.service_cache import ServiceCache

EDIT = "edit:"  # before the id of an image, in what is kept of the tab
NO_ACCOUNT = Problem(tr("No account"), tr("Choose the Sandbox or add a key in Settings."))


class ImagesPresenter(CallingPresenter):
    """What the page shows, signal by signal. `start` hands it the database; without one nothing can be made."""

    form_changed = Signal(object)  # FormView
    replacing = Signal()  # the form is about to be replaced: what was typed a moment ago is told now
    form_replaced = Signal(object)  # ImageForm: the fields themselves are to be filled anew
    models_changed = Signal()
    problem_changed = Signal(object)  # Problem or None
    request_changed = Signal(object)  # Exchange
    busy_changed = Signal()
    arrived = Signal(int)  # images that came since none was on its way
    balance_changed = Signal()
    notice = Signal(object)  # a sentence; `SavedFile` for a file that was written
    selected = Signal(str)  # the id of an image that came to be looked at

    def __init__(self, current_account: CurrentAccount, tasks: TaskScope, folder: Path, undo_stack: UndoStack) -> None:
        """`folder` is the person's own data folder."""
        super().__init__(current_account)
        self.tasks = tasks
        self.files = ImageFiles(folder / "images")
        self.library = ImageLibrary(tasks, undo_stack, self.files)
        self.library.mark_of = current_account.mark_of
        self.prompts = PresetLibrary(
            "images", lambda work, *args: tasks.replace(f"images {work.__name__}", work, *args), undo_stack
        )
        self.maker: ImageMaker | None = None
        self.form = ImageForm()
        self.models: tuple[Model, ...] = ()
        self.edit_models: tuple[Model, ...] = ()
        self.styles: tuple[str, ...] = ()
        self.problem: Problem | None = None
        self._models_asked = False  # the service has said which it has
        self.lacks_models = False  # the problem is that of their list
        self.view = FormView(self.form, view_of(self.form, None).limits)
        self.ready = asyncio.Event()
        self._edits: dict[str, EditDraft] = {}  # by the image that is to be edited
        self._service_cache: ServiceCache | None = None
        self._autosave = DraftAutosave(tasks, "images draft")
        self._undoable = UndoableForm(
            "images",
            undo_stack,
            read=self._form_with_last_key,
            write=self._use_form,
            is_empty=lambda form: form == ImageForm(model=form.model),
        )
        self._calls = 0
        self._arrived: set[str] = set()
        self._left: RateLimitRemaining | None = None
        self.refused: Refused | None = None
        current_account.account_changed.connect(self._account_changed)
        current_account.numbers_changed.connect(self.balance_changed)
        self.library.notice.connect(self.notice)
        self.leaving.add_user(
            FormModel(tr("Images"), lambda: self.model_id, lambda model_id: self.set_field("model", model_id))
        )
        self.library.deleted.connect(lambda image_id: self.keep_edit(image_id, EditDraft()))

    # -- beginning and end ----------------------------------------------------------------------------------------

    async def start(self, database: Database, service_cache: ServiceCache | None = None) -> None:
        """Take the open database: images, form, and what a killed program left. Raises `StorageError`."""
        images = Images(database)
        self._service_cache = service_cache
        self.maker = ImageMaker(images, self.files, Intents(database))
        self.maker.changed.connect(self._image_changed)
        self.maker.dropped.connect(self.library.drop)
        self.maker.asked.connect(self._record_exchange)
        found, unknown = await self.maker.settle()
        kept = await self._autosave.open(FormDraftStore(database, "images"))
        self.replacing.emit()
        typed, self.form = self.form, form_from(kept.get("form"))
        self.form = replace(
            self.form,
            prompt=with_kept(typed.prompt, self.form.prompt, " "),
            negative_prompt=with_kept(typed.negative_prompt, self.form.negative_prompt, ", "),
        )
        if typed.prompt or typed.negative_prompt:
            self.save_soon(form=self.form.to_json())
        self.form_replaced.emit(self.form)
        self.library.pattern = str(kept.get("pattern") or "")
        self._edits = {key.removeprefix(EDIT): _draft_from(kept[key]) for key in kept if key.startswith(EDIT)}
        await self._load_saved()
        await self.library.start(images)
        await self.library.read_these(self.form.references)
        await self.prompts.start(Presets(database))
        self._look()
        self._say_left(found, unknown)
        self.refresh_models()
        self.ready.set()

    def _say_left(self, found: int, unknown: int) -> None:
        if found:
            what = tr_n("An image had", "{n} images had", found)
            self.notice.emit(tr("{what} arrived just as Rialto quit. Nothing was lost.", what=what))
        if unknown:
            what = tr_n("An image was", "{n} images were", unknown)
            self.notice.emit(
                tr("{what} still being sent when Rialto quit. It is not clear whether this was charged.", what=what)
            )

    async def aclose(self) -> None:
        """Save what is being written."""
        await self._autosave.save()

    def save_soon(self, **values: Any) -> None:
        """Save these values of the form a moment later, at the next pause."""
        self._autosave.save_soon(**values)

    # -- models and styles ----------------------------------------------------------------------------------------

    @property
    def left(self) -> str:
        """What the order in the form leaves of the balance, "" where nobody knows."""
        return self.left_after(self.view.price) if self.view.price is not None else ""

    @property
    def model(self) -> Model | None:
        chosen = next((model for model in self.models if model.id == self.form.model), None)
        return chosen or (self.models[0] if self.models else None)

    @property
    def model_id(self) -> str:
        """The model that the next images are made with, "" while none is known."""
        return self.model.id if self.model is not None else ""

    def _account_changed(self) -> None:
        self.models, self.edit_models, self.styles = (), (), ()
        self._left = None
        self.models_changed.emit()
        self._look()
        self.library.publish()
        self.refresh_models()

    def refresh_models(self) -> None:
        """Ask the service what makes images, and in which styles."""
        if self.service is not None and self.maker is not None:
            self.tasks.replace("images models", self._read_models)

    async def _load_saved(self) -> None:
        saved, _ = await saved_models(self._service_cache, self.account_id, "image", self.leaving)
        self.models = self.models or saved
        saved, _ = await saved_models(self._service_cache, self.account_id, "inpaint", self.leaving)
        self.edit_models = self.edit_models or saved

    async def _read_models(self) -> None:
        service = self.service
        if service is None:
            return
        self._models_asked = False
        await self._load_saved()
        try:
            account, service_cache = self._current_account, self._service_cache
            found = await list_models(account, service_cache, "image", background=True)
            self.models, self._models_asked = found or (), found is not None
            self.edit_models = await list_models(account, service_cache, "inpaint", background=True) or ()
            with suppress(ServiceError):  # a service without styles still makes images
                self.styles = await service.images.styles()
        except ServiceError as error:
            if not self.models:
                self.set_problem(describe(error, subject=""))
                self.lacks_models = True
        else:
            if self.lacks_models:
                self.set_problem(None)
        self.models_changed.emit()
        self._look()

    async def look_up_model(self, text: str) -> OtherModel:
        """Ask the service for a model by its id. Raises `NotAModel`."""
        return await look_up_model(self._current_account, text, "image")

    async def use_other_model(self, other: OtherModel) -> None:
        """Make images with a model that the list need not have."""
        self.models = replaced_in(self.models, other.model)
        await add_model(self._service_cache, self.account_id, "image", other.model)
        self.models_changed.emit()
        self.set_field("model", other.model.id)

    def price_each(self, model_id: str) -> Decimal | None:
        """What one image of a model costs with what it does unasked."""
        model = next((model for model in self.models if model.id == model_id), None)
        return view_of(ImageForm(model=model_id), model).price_each

    # -- the form -------------------------------------------------------------------------------------------------

    def set_field(self, name: str, value: object) -> None:
        """Set one of the fields of `ImageForm`; priced at once, saved at the next pause."""
        self.form = replace(self.form, **{name: value})  # type: ignore[arg-type]  # the page names our own fields
        self.save_soon(form=self.form.to_json())
        self._look()

    def set_references(self, pairs: Sequence[tuple[str, float]]) -> None:
        """Take the style of these images of the library, each as strongly as its number says."""
        self.set_field("references", tuple(key for key, _ in pairs))
        self.set_field("strengths", tuple(strength for _, strength in pairs))

    def _references_of(self, form: ImageForm) -> tuple[Reference, ...]:
        found = []
        for image_id, strength in zip(form.references, form.strengths, strict=False):
            image = self.library.one(image_id)
            there = image is not None and image.has_file
            title = tile_of(image).title if image is not None else tr("An image")
            found.append(
                Reference(image_id, title, strength, image.size_bytes if image is not None and there else None)
            )
        return tuple(found)

    def use_form(self, form: ImageForm, done: str) -> None:
        """Fill in another form. `done` is offered with Undo: "Settings reused"."""
        self._undoable.replace(form, done)

    def _form_with_last_key(self) -> ImageForm:
        self.replacing.emit()
        return self.form

    def _use_form(self, form: ImageForm) -> None:
        self.form = form
        self.save_soon(form=form.to_json())
        self.form_replaced.emit(form)
        self._look()
        if form.references and self.library.images is not None:
            self.tasks.replace("images references", self._read_references, form.references)

    async def _read_references(self, image_ids: Sequence[str]) -> None:
        await self.library.read_these(image_ids)
        self._look()

    def clear(self) -> None:
        """Empty the form; the model stays."""
        self.use_form(ImageForm(model=self.form.model), tr("Form cleared"))

    def _look(self) -> None:
        references = self._references_of(self.form)
        self.view = view_of(self.form, self.model, self.styles, references, asked=self._models_asked)
        self.form_changed.emit(self.view)

    # -- making ---------------------------------------------------------------------------------------------------

    @property
    def calls(self) -> int:
        """How many paid calls are on their way."""
        return self._calls

    def make(self, form: ImageForm | None = None, *, are_references_read: bool = False) -> bool:
        """Ask for the images of the form. False when that is not possible; then the reason is told."""
        form = form or self.form
        unknown = [] if are_references_read else [key for key in form.references if self.library.one(key) is None]
        if unknown and self.maker is not None:  # older than what was read
            self.tasks.start_unless_running("images make with references", self._read_references_and_make, form)
            return True
        model = next((model for model in self.models if model.id == form.model), None) or self.model
        view = view_of(form, model, self.styles, self._references_of(form))
        if view.why_not or view.refusals or model is None:
            sentence = view.refusals[0][1] if view.refusals else view.why_not
            if sentence:
                self.set_problem(
                    Problem(tr("Not sent"), sentence, severity="warn", icon="warning", fields=view.refusals)
                )
            return False
        if self.service is None:
            self.set_problem(NO_ACCOUNT)
            return False
        if self.maker is None:
            raise NoHistory
        self.set_problem(None)
        self.tasks.start_unless_running(f"images plan {secrets.token_hex(4)}", self._make, form, model, view)
        return True

    async def _read_references_and_make(self, form: ImageForm) -> None:
        await self.library.read_these(form.references)
        self.make(form, are_references_read=True)

    async def _make(self, form: ImageForm, model: Model, view: FormView) -> None:
        if self.maker is None:
            raise NoHistory
        try:
            references = await asyncio.to_thread(self._references, form)
        except StorageError as error:
            self.set_problem(Problem(tr("The style image could not be read"), error.sentence))
            return
        first = form.seed if form.seed is not None else secrets.randbelow(900_000_000)
        try:
            requests = requests_of(form, model, first, references)
            bodies = [request.to_body() for request in requests]
        except LimitExceeded as error:  # a limit of the service that the model's record does not tell
            self.set_problem(describe(error, subject=tr("image")))
            return
        planned = self.maker.plan(
            "generate",
            count=form.count,
            in_one_call=form.in_one_call and form.count > 1,
            seeds=[request.seed for request in requests],
            price_each=view.price_each,
            title=title_of(form.prompt),
            prompt=form.prompt,
            model=model.id,
            model_name=model.name,
            account_id=self.account_id,
            options=form.to_json(),
            charged=not self.in_sandbox,
        )
        orders = []
        for request, body, images in zip(requests, bodies, planned, strict=True):
            told = {name: value for name, value in body.items() if name != "style_references"}
            orders.append(Order("generate", told, self._asking(request, view.price_each, images), images))
        self.selected.emit(planned[0][0].id)
        self.order(orders)

    def _asking(self, request: ImageRequest, each: Decimal | None, images: Sequence[StoredImage]) -> Any:
        service = self.service
        assert service is not None
        price = None if each is None else each * request.variants

        async def ask() -> Any:
            return await service.images.generate(request, price_usd=price, on_wait=self.waits_of(images))

        return ask

    def waits_of(self, images: Sequence[StoredImage]) -> Callable[[RetryWait], None]:
        """Return what hears of the waits of one call, so that its tiles can say why nothing comes yet."""

        def wait(told: RetryWait) -> None:
            if self.maker is not None and told.reason in ("rate_limit", "pace", "held"):
                self.maker.hold_back(images, told.wait_s)

        return wait

    def _references(self, form: ImageForm) -> tuple[tuple[str, float], ...]:
        """Runs in a thread: the images whose style is taken, as base64. Raises `StorageError`."""
        found = []
        for image_id, strength in zip(form.references, form.strengths, strict=False):
            path = self.library.path(image_id)
            if path is None:
                continue
            try:
                data = path.read_bytes()
            except OSError as error:
                raise unavailable(error, path, tr("Reading the image")) from error
            found.append((base64.b64encode(data).decode(), strength))
        return tuple(found)

    def order(self, orders: list[Order]) -> None:
        """Carry out the paid calls of one press, each in a task of its own."""
        self._calls += len(orders)
        self.tasks.start_unless_running(f"images order {orders[0].images[0].call_id}", self._carry_out_all, orders)
        self.busy_changed.emit()

    async def _carry_out_all(self, orders: list[Order]) -> None:
        """The spending limits are asked for all of them before the first one leaves."""
        names = [f"images call {order.images[0].call_id}" for order in orders]
        with call_group(map(expected_cost, orders), "images"):
            for name, order in zip(names, orders, strict=True):
                self.tasks.start_unless_running(name, self._carry_out, order)
            await self.tasks.ended(*names)

    async def _carry_out(self, order: Order) -> None:
        if self.maker is None:
            raise NoHistory
        try:
            await self.maker.carry_out(order)
        except ServiceError as error:
            if isinstance(error, ContentRefused):
                image = order.images[0]
                self.refused = Refused(image.prompt, error.suggested_prompt, image.source_id)
            self.set_problem(describe(error, subject=tr("image")))
        except StorageError as error:
            self.set_problem(Problem(tr("An image could not be saved"), error.sentence))
            if error.unsaved:
                self.tasks.report(error)
        finally:
            self._calls -= 1
            self.busy_changed.emit()
            if self._arrived and not self._calls:
                self.arrived.emit(len(self._arrived))
                self._arrived.clear()

    def stop(self) -> bool:
        """Stop waiting for what is on its way; False when nothing is. It may still be made and charged."""
        calls = {image.call_id for image in self.library.rows.values() if image.state == "sending"}
        stopped = [self.tasks.cancel(f"images call {call_id}") for call_id in calls]
        return any(stopped)

    def rerun(self, image_id: str, *, vary: bool = False) -> bool:
        """Put what an image was made with into the form; `vary` leaves the seed to chance. Nothing is sent."""
        image = self.library.one(image_id)
        if image is None or image.kind != "generate":
            return False
        form = form_from(image.options)
        form = replace(form, model=image.model, count=1, in_one_call=False, seed=None if vary else image.seed)
        self.use_form(form, tr("Settings reused"))
        return True

    def _record_exchange(self, exchange: Exchange) -> None:
        told = RateLimitRemaining.told(exchange.info, tr("Images"))
        self._left = told.after(self._left) if told is not None else None
        self.request_changed.emit(exchange)

    def headroom(self) -> RateLimitRemaining | None:
        """How many images may still be asked for this minute, as the last answer told."""
        return self._left

    # -- telling --------------------------------------------------------------------------------------------------

    def _image_changed(self, image: StoredImage) -> None:
        self.library.put(image)
        if image.state == "saved" and self._calls:
            self._arrived.add(image.id)
        if image.kind == "edit" and image.state == "saved" and self.edit_draft(image.source_id).prompt == image.prompt:
            self.keep_edit(image.source_id, EditDraft())

    # -- edits that are not made yet ------------------------------------------------------------------------------

    def edit_draft(self, image_id: str) -> EditDraft:
        """What was written and painted for an image the last time, also before a restart."""
        return self._edits.get(image_id, EditDraft())

    def keep_edit(self, image_id: str, draft: EditDraft) -> None:
        """Keep what is written and painted for an image; an empty draft forgets it."""
        if draft == self.edit_draft(image_id):
            return
        self._edits[image_id] = draft
        empty = draft == EditDraft()
        mask = base64.b64encode(draft.mask).decode()
        self.save_soon(**{f"{EDIT}{image_id}": None if empty else {"prompt": draft.prompt, "mask": mask}})

    def set_problem(self, problem: Problem | None) -> None:
        self.lacks_models = False
        self.problem = for_account(problem, self._current_account.account) if problem is not None else None
        self.problem_changed.emit(self.problem)


def _draft_from(kept: object) -> EditDraft:
    """Read what `keep_edit` wrote, as far as it can be read."""
    values = kept if isinstance(kept, dict) else {}
    try:
        mask = base64.b64decode(str(values.get("mask") or ""), validate=True)
    except ValueError:
        mask = b""
    return EditDraft(str(values.get("prompt") or ""), mask)
