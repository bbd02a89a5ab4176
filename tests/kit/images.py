"""An Images tab with everything under it: real storage, the real Sandbox at the other end."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.core.current_account import CurrentAccount
from app.core.receipt_recorder import ReceiptRecorder
from app.core.spending_limits import Question, SpendingLimits
from app.core.tabs import tab_of
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.credentials.accounts import Account
from app.sandbox.server import RunningSandbox
from app.service.auth import ApiKeyAuth
from app.service.exchange import Exchange
from app.service.service import open_service
from app.storage.database import Database
from app.storage.form_drafts import FormDraftStore as DraftTable
from app.storage.images import StoredImage
from app.storage.paid_call_intents import Intents
from app.storage.receipts import Receipts
from app.storage.service_cache import ServiceCache
from app.ui.images.page import ImagesPage
from app.ui.images.presenter import ImagesPresenter
from app.ui.images.session.image_edits import ImageEdits
from app.ui.kit.theme import Theme
from tests.kit.sandbox import OnSandbox
from tests.kit.tasks import CheckedTasks
from tests.kit.waiting import until
from tests.kit.windows import styled_at_the_end

Shown = TypeVar("Shown", bound=QWidget)
SANDBOX = Account(id="box", name="Sandbox", base_url="http://127.0.0.1", kind="sandbox")


@dataclass
class ImagesHarness(OnSandbox):
    page: ImagesPage
    presenter: ImagesPresenter
    changes: ImageEdits
    tasks: TaskScope
    current_account: CurrentAccount
    database: Database
    sandbox: RunningSandbox
    home: Path
    undo_stack: UndoStack
    toasts: list[tuple[str]] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    @property
    def rows(self) -> Mapping[str, StoredImage]:
        return self.presenter.library.rows

    @property
    def folder(self) -> Path:
        return self.presenter.files.folder

    def path_of(self, image: StoredImage) -> Path:
        return self.presenter.files.path(image)

    async def saved_draft(self) -> dict[str, Any]:
        """What a restart would find of what is typed and not sent."""
        await self.presenter._autosave.save()
        return dict(await DraftTable(self.database, "images").read())

    # -- the form -------------------------------------------------------------------------------------------------

    @property
    def make_button(self) -> QPushButton:
        return self.page.form.make

    @property
    def stop_button(self) -> QPushButton:
        return self.page.form.stop

    @property
    def more_options(self) -> Any:
        """The part of the form that unfolds."""
        return self.page.form.more

    @property
    def model_field(self) -> Any:
        return self.page.form.model

    @property
    def extra(self) -> Any:
        """The field for extra JSON."""
        return self.more_options.extra

    @property
    def request_pane(self) -> Any:
        return self.page.side.request

    @property
    def references(self) -> Any:
        """The list of images whose style is taken."""
        return self.more_options.references

    def can_make(self) -> bool:
        return self.make_button.isEnabled()

    def press_make(self) -> None:
        self.make_button.click()

    def prompt_text(self) -> str:
        return self.page.form.prompt.toPlainText()

    def price_text(self) -> str:
        """The line below the button: a price, or why there is none."""
        return self.page.form.sum.text()

    def seed_text(self) -> str:
        return self.more_options.seed.text()

    def count_chosen(self) -> str:
        return self.page.form.count.current

    # -- the gallery ----------------------------------------------------------------------------------------------

    @property
    def tiles(self) -> tuple[Any, ...]:
        return tuple(self.page.gallery_state.tiles)

    @property
    def tiles_in_all(self) -> int:
        """With those that the search or the scope leaves out."""
        return self.page.gallery_state.total

    @property
    def gallery_view(self) -> QWidget:
        return self.page.gallery.view

    @property
    def error_card(self) -> Any:
        return self.page.gallery.problem

    @property
    def usage_label(self) -> Any:
        return self.page.gallery.usage

    def select(self, image_id: str) -> None:
        self.page.gallery.select(image_id)

    def selected_id(self) -> str | None:
        return self.page.gallery.current()

    def search(self, text: str) -> None:
        self.page.gallery.search.setText(text)

    def clear_search(self) -> None:
        """Press the button of the words that nothing was found."""
        self.page.gallery.nothing.action.emit("clear")

    def show_scope(self, name: str) -> None:
        self.page.gallery.scope_chosen.emit(name)

    def use_example(self, prompt: str) -> None:
        self.page.gallery.example_requested.emit(prompt)

    def is_empty(self) -> bool:
        """Whether the gallery shows what it shows before the first image."""
        return self.page.gallery.places.currentWidget() is self.page.gallery.empty

    def tile_data(self, image_id: str, role: int) -> Any:
        return self.page.gallery.model.index_of(image_id).data(role)

    def title_text(self) -> str:
        return self.page.gallery.header.title.text()

    def count_text(self) -> str:
        return self.page.gallery.count.text()

    def nothing_found_text(self) -> str:
        return self.page.gallery.nothing.title.text()

    def waiting_text(self, image_id: str) -> str:
        """What a tile without its image says."""
        return self.page._waiting_words(image_id)

    # -- one image ------------------------------------------------------------------------------------------------

    @property
    def details(self) -> Any:
        """What the inspector shows of the chosen image."""
        return self.page.side.image

    def policy_text(self) -> str:
        return self.details._policy_words.text()

    def request_text(self) -> str:
        record = self.page.side.request.record
        return f"{record.method} {record.path}" if record is not None else ""

    def request_headers(self) -> dict[str, str]:
        return dict(self.page.side.request.rows)

    def request_body_text(self) -> str:
        return self.page.side.request.body.toPlainText()

    def do(self, image_id: str, action: str) -> None:
        """What the menu of an image does."""
        self.page.image_actions.do(image_id, action)

    def press_to_chat(self) -> None:
        self.page.image_actions.to_chat()

    def open_menu(self) -> QMenu:
        gallery = self.page.gallery
        return self.page.open_menu(gallery.mapToGlobal(gallery.rect().center()))

    def dialogs(self, kind: type[Shown]) -> list[Shown]:
        """With those that are closed and about to go."""
        return self.page.gallery.findChildren(kind)

    async def dialog(self, kind: type[Shown]) -> Shown:
        """Wait until such a dialog is open."""
        await until(lambda: any(found.isVisible() for found in self.dialogs(kind)), f"a {kind.__name__}")
        return next(found for found in self.dialogs(kind) if found.isVisible())

    # -- what a person does ---------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Type a prompt."""
        self.page.form.prompt.setPlainText(text)
        self.page.form.flush()

    async def made(self) -> list[StoredImage]:
        """Press the button, wait for the end of it, and return what is new."""
        before = set(self.rows)
        self.press_make()
        await until(lambda: set(self.rows) - before or self.presenter.problem)
        await self.still()
        return [image for key, image in self.rows.items() if key not in before]

    async def still(self) -> None:
        """Wait until no call is on its way."""
        await until(lambda: self.presenter.calls == 0 and not self._plans())

    def _plans(self) -> bool:
        return any(image.state == "sending" for image in self.rows.values())

    @property
    def paid(self) -> list[Exchange]:
        """The paid calls, without lists of models and styles."""
        return [each for each in self.exchanges if each.request.method == "POST"]

    def file_of(self, image: StoredImage) -> bytes:
        return self.path_of(image).read_bytes()


@asynccontextmanager
async def open_images(
    home: Path, sandbox: RunningSandbox, theme: Theme, *, models: bool = True, limits: Mapping[str, str] | None = None
) -> AsyncIterator[ImagesHarness]:
    """A started tab on the data folder `home`. Fails when any of its tasks crashed.

    `limits`: what may be spent, as the settings keep it; the numbers of the window follow each answer.
    """
    exchanges: list[Exchange] = []
    tasks = CheckedTasks()
    current_account = CurrentAccount()

    key = f"{sandbox.api_key}-{secrets.token_hex(4)}"  # the Sandbox counts 20 images a minute for each key

    async def read_key() -> str:
        return key

    async def ask(_question: Question) -> bool:
        return False

    spending_limits = SpendingLimits(lambda: limits or {}, lambda: current_account.models, ask, tab_of)
    receipt_recorder = ReceiptRecorder(current_account, tasks, spending_limits=spending_limits)
    record = receipt_recorder.recorder(SANDBOX)

    def keep(exchange: Exchange) -> None:
        exchanges.append(exchange)
        record(exchange)

    service = open_service(sandbox.base_url, "service", ApiKeyAuth(read_key), keep, gate=spending_limits.gate(SANDBOX))
    database = await Database.open(home / "rialto.sqlite3")
    await receipt_recorder.start(Receipts(database))
    await Intents(database).settle_after_start()  # as the window does before it hands the database on
    presenter = ImagesPresenter(current_account, tasks, home / "data", undo_stack := UndoStack(tasks))
    changes = ImageEdits(presenter)
    with styled_at_the_end():
        page = ImagesPage(theme, presenter, changes, tasks, home / "cache")
    harness = ImagesHarness(
        page, presenter, changes, tasks, current_account, database, sandbox, home, undo_stack, exchanges=exchanges
    )
    page.toast_requested.connect(lambda *words: harness.toasts.append(words))
    panes = ((page.form, (324, 800)), (page.gallery, (760, 800)), (page.side, (312, 800)))
    try:
        current_account.use(SANDBOX, service)
        await presenter.start(database, ServiceCache(database))
        if models:
            await until(lambda: presenter.styles)
        for pane, size in panes:
            pane.resize(*size)
            pane.show()
        yield harness
    finally:
        page.form.flush()
        await presenter.aclose()
        await tasks.aclose()
        await service.aclose()
        await database.close()
        for pane, _ in panes:
            pane.close()
            pane.deleteLater()
    tasks.check()
