"""What is made of an image that is there: edited, combined, enlarged, freed from its background, made once more.

Every deed names its price and, before anything is sent, the limit that forbids it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from app.core.problems import Problem
from app.formats import format_number
from app.service.client import OnWait
from app.service.http.size_limits import LIMIT_WORDS
from app.service.images import MAX_EDIT_PROMPT_CHARS, MAX_INPUT_BYTES, EditRequest, GeneratedImages
from app.service.models import Model
from app.service.pricing import UPSCALE_USD, edit_cost, usd
from app.storage.errors import NoHistory, StorageError, unavailable
from app.storage.images import ImageKind, StoredImage, title_of
from app.translation import tr, tr_n
from app.ui.images.form import form_from, view_of
from app.ui.images.image_processing import composite_with_mask
from app.ui.images.session.image_files import Finish
from app.ui.images.session.image_maker import Order
from app.ui.images.session.tiles import details_of
from app.ui.images.state import Details, EditModel, PaidAction

if TYPE_CHECKING:
    from app.ui.images.presenter import ImagesPresenter

BACKGROUND_USD = Decimal("0.02")
MIN_EDIT_PIXELS, MAX_EDIT_PIXELS = 65_536, 33_177_600
MAX_RESULT_PIXELS = 16_777_216
Work = Callable[[bytes, OnWait], Awaitable[GeneratedImages]]


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


@dataclass(frozen=True, slots=True)
class EditChoice:
    """What an edit asks for. `mask` is a PNG, painted where the image may change; None: everywhere."""

    model: str
    prompt: str
    aspect_ratio: str = ""
    resolution: str = ""
    quality: str = ""  # only where several are combined
    output_format: str = ""
    safe_mode: bool = True
    enhance_prompt: bool = False
    mask: bytes | None = None
    others: tuple[str, ...] = ()  # ids of further images that are combined with the first


@dataclass(frozen=True, slots=True)
class _Facts:
    """What an edit has that other deeds have not. `read_others` reads the further images; runs in a thread."""

    prompt: str = ""
    model: Model | None = None
    mask: bytes | None = None
    read_others: Callable[[], None] = lambda: None


class ImageEdits:
    """Acts on images of the library for the page."""

    def __init__(self, presenter: ImagesPresenter) -> None:
        self._presenter = presenter

    # -- what is possible, and for how much -----------------------------------------------------------------------

    def details(self, image_id: str) -> Details | None:
        """Return what stands beside the gallery, with every deed and its price."""
        library = self._presenter.library
        image = library.one(image_id)
        return None if image is None else details_of(image, library.path(image_id), self.paid_actions(image))

    def paid_actions(self, image: StoredImage) -> tuple[PaidAction, ...]:
        if not image.has_file or image.trashed_at is not None:
            return ()
        found = [PaidAction("edit", tr("Edit…"), self.edit_price(), self._why_not_edit(image), asks_first=True)]
        for scale in (2, 4):
            price = self._upscale_price(image, scale)
            found.append(
                PaidAction(f"upscale-{scale}", tr("Upscale {scale}×", scale=scale), price, self._why_not_enlarge(image))
            )
        found.append(PaidAction("enlarge", tr("Custom upscale…"), None, self._why_not_enlarge(image), asks_first=True))
        found.append(PaidAction("background", tr("Remove background"), BACKGROUND_USD, self._too_large(image)))
        if image.kind == "generate":
            for count in (1, 4):
                words = tr_n("Generate one variation", "Generate {n} variations", count)
                found.append(PaidAction(f"vary-{count}", words, self._vary_price(image, count)))
        return tuple(found)

    def edit_model(self, model_id: str = "") -> Model | None:
        models = self._presenter.edit_models
        return next((model for model in models if model.id == model_id), models[0] if models else None)

    def edit_choices(self) -> tuple[EditModel, ...]:
        """Return the models that edit, as the dialog needs them."""
        return tuple(
            EditModel(
                model.id,
                model.name,
                _texts(model.model_spec.constraints.get("aspectRatios")),
                _texts(model.model_spec.constraints.get("resolutions")),
                self.edit_prompt_limit(model.id),
                _texts(model.model_spec.constraints.get("qualities")),
                self.most_inputs(model.id),
                model.model_spec.constraints.get("singleImageAspectRatio") is not False,
                str(model.model_spec.constraints.get("defaultResolution") or ""),
                str(model.model_spec.constraints.get("defaultQuality") or ""),
            )
            for model in self._presenter.edit_models
        )

    def edit_price(
        self, model_id: str = "", *, inputs: int = 1, resolution: str = "", quality: str = ""
    ) -> Decimal | None:
        model = self.edit_model(model_id)
        pricing = model.model_spec.pricing if model is not None else None
        return edit_cost(pricing, inputs=inputs, resolution=resolution or None, quality=quality or None)

    def most_inputs(self, model_id: str) -> int:
        """How many images the model combines; three where its record does not say how many."""
        model = self.edit_model(model_id)
        constraints = model.model_spec.constraints if model is not None else {}
        told, combines = constraints.get("maxInputImages"), constraints.get("combineImages")
        if combines is False:
            return 1
        return told if isinstance(told, int) and told > 0 else 3 if combines is True else 1

    def edit_prompt_limit(self, model_id: str) -> int:
        model = self.edit_model(model_id)
        told = model.model_spec.constraints.get("promptCharacterLimit") if model is not None else None
        return min(told, MAX_EDIT_PROMPT_CHARS) if isinstance(told, int) and told > 0 else MAX_EDIT_PROMPT_CHARS

    def _upscale_price(self, image: StoredImage, scale: int) -> Decimal | None:
        model = next((model for model in self._presenter.models if model.id == image.model), None)
        told = usd(model.model_spec.pricing, "upscale", f"{scale}x") if model is not None else None
        return told if told is not None else UPSCALE_USD[scale]

    def _vary_price(self, image: StoredImage, count: int) -> Decimal | None:
        model = next((model for model in self._presenter.models if model.id == image.model), None)
        if model is None:
            return None
        each = view_of(replace(form_from(image.options), model=image.model), model).price_each
        return None if each is None else each * count

    def _too_large(self, image: StoredImage) -> str:
        return (
            tr("The service takes images smaller than {limit_words}.", limit_words=LIMIT_WORDS)
            if image.size_bytes >= MAX_INPUT_BYTES
            else ""
        )

    def _why_not_edit(self, image: StoredImage) -> str:
        pixels = image.width * image.height
        if not self._presenter.edit_models:
            return tr("The service has no model for editing images.")
        if pixels < MIN_EDIT_PIXELS:
            return tr(
                "An edit needs at least {min_edit_pixels} pixels. This image has {pixels}.",
                min_edit_pixels=format_number(MIN_EDIT_PIXELS),
                pixels=format_number(pixels),
            )
        if pixels > MAX_EDIT_PIXELS:
            return tr(
                "An edit takes up to {max_edit_pixels} pixels. This image has {pixels}.",
                max_edit_pixels=format_number(MAX_EDIT_PIXELS),
                pixels=format_number(pixels),
            )
        return self._too_large(image)

    def _why_not_enlarge(self, image: StoredImage) -> str:
        if image.width * image.height >= MAX_RESULT_PIXELS:
            return tr(
                "This image already has the maximum of {max_result_pixels} pixels.",
                max_result_pixels=format_number(MAX_RESULT_PIXELS),
            )
        return self._too_large(image)

    # -- doing it -------------------------------------------------------------------------------------------------

    def do(self, image_id: str, deed_id: str) -> bool:
        """Carry out a deed of `paid_actions`, except an edit, which asks for words first. False when it is not
        possible."""
        image = self._presenter.library.one(image_id)
        action = (
            next((action for action in self.paid_actions(image) if action.id == deed_id), None)
            if image is not None
            else None
        )
        if image is None or action is None:
            return False
        if action.why_not:
            self._presenter.set_problem(Problem(tr("Not sent"), action.why_not, severity="warn", icon="warning"))
            return False
        if deed_id.startswith("vary-"):
            form = replace(form_from(image.options), model=image.model, seed=None, in_one_call=False)
            return self._presenter.make(replace(form, count=int(deed_id[-1])))
        service = self._presenter.service
        if service is None:
            self._presenter.make(form_from(image.options))  # says that there is no account
            return False
        images, price = service.images, action.price
        if deed_id == "background":
            return self._order(
                "background",
                image,
                {},
                lambda data, wait: images.remove_background(data, price_usd=price, on_wait=wait),
                price,
            )
        return self.enlarge(image_id, int(deed_id[-1]))

    def enlarged_size(self, image_id: str, scale: int) -> tuple[int, int, bool]:
        """Return width and height of what comes out, and whether the service makes it smaller than asked for."""
        image = self._presenter.library.one(image_id)
        wide, high = (image.width, image.height) if image is not None else (0, 0)
        pixels = wide * high * scale**2
        factor = scale * min(1.0, math.sqrt(MAX_RESULT_PIXELS / pixels)) if pixels else 0.0
        return int(wide * factor), int(high * factor), pixels > MAX_RESULT_PIXELS

    def enlarge_price(self, image_id: str, scale: int) -> Decimal | None:
        image = self._presenter.library.one(image_id)
        return self._upscale_price(image, scale) if image is not None else None

    def enlarge(self, image_id: str, scale: int, creativity: float | None = None) -> bool:
        """Enlarge an image 2 or 4 times; `creativity` 0 to 0.02, None leaves it to the service."""
        image, service = self._presenter.library.one(image_id), self._presenter.service
        if image is None or service is None:
            return False
        images, price = service.images, self._upscale_price(image, scale)
        told = {"scale": scale} | ({"creativity": creativity} if creativity is not None else {})

        def ask(data: bytes, wait: OnWait) -> Awaitable[GeneratedImages]:
            return images.upscale(data, scale=scale, creativity=creativity, price_usd=price, on_wait=wait)

        return self._order("upscale", image, told, ask, price)

    def edit(self, image_id: str, choice: EditChoice) -> bool:
        """Change an image by words, behind a mask where one was painted. The page has shown the price."""
        image, service = self._presenter.library.one(image_id), self._presenter.service
        model = self.edit_model(choice.model)
        if image is None or service is None or model is None or not choice.prompt.strip():
            return False
        others = choice.others[: self.most_inputs(model.id) - 1]
        quality = choice.quality if others else ""
        price = self.edit_price(model.id, inputs=1 + len(others), resolution=choice.resolution, quality=quality)
        images, limit = service.images, self.edit_prompt_limit(model.id)
        told = {
            "model": model.id,
            "prompt": choice.prompt,
            "aspect_ratio": choice.aspect_ratio,
            "resolution": choice.resolution,
            "quality": quality,
            "output_format": choice.output_format,
            "safe_mode": choice.safe_mode,
            "enhance_prompt": choice.enhance_prompt,
            "others": list(others),
            "masked": choice.mask is not None,
        }

        more: list[bytes] = []

        def read_others() -> None:
            more.extend(self._read(key) for key in others)

        async def ask(data: bytes, wait: OnWait) -> GeneratedImages:
            request = EditRequest(
                model.id,
                choice.prompt,
                (data, *more),
                aspect_ratio=choice.aspect_ratio or None,
                resolution=choice.resolution or None,
                quality=quality or None,
                output_format=choice.output_format or None,
                safe_mode=choice.safe_mode,
                enhance_prompt=choice.enhance_prompt,
                prompt_limit=limit,
            )
            return await images.edit(request, price_usd=price, on_wait=wait)

        facts = _Facts(choice.prompt, model, choice.mask, read_others)
        return self._order("edit", image, told, ask, price, facts)

    def _read(self, image_id: str) -> bytes:
        """Runs in a thread."""
        path = self._presenter.library.path(image_id)
        if path is None:
            raise unavailable(FileNotFoundError(), self._presenter.files.folder / image_id, tr("Reading the image"))
        try:
            return path.read_bytes()
        except OSError as error:
            raise unavailable(error, path, tr("Reading the image")) from error

    def _order(
        self,
        kind: ImageKind,
        image: StoredImage,
        told: dict[str, Any],
        work: Work,
        price: Decimal | None,
        facts: _Facts | None = None,
    ) -> bool:
        name = f"images {kind} {image.id}"
        return self._presenter.tasks.start_unless_running(
            name, self._begin, kind, image, told, work, price, facts or _Facts()
        )

    async def _begin(
        self,
        kind: ImageKind,
        image: StoredImage,
        told: dict[str, Any],
        work: Work,
        price: Decimal | None,
        facts: _Facts,
    ) -> None:
        presenter, model = self._presenter, facts.model
        if presenter.maker is None:
            raise NoHistory
        try:
            data = await asyncio.to_thread(self._read, image.id)
            await asyncio.to_thread(facts.read_others)
        except StorageError as error:
            presenter.set_problem(Problem(tr("The image could not be read"), error.sentence))
            return
        finish: Finish | None = None
        if facts.mask is not None:
            shape = facts.mask

            def finish(after: bytes) -> bytes:
                return composite_with_mask(data, after, shape)

        (planned,) = presenter.maker.plan(
            kind,
            count=1,
            in_one_call=True,
            seeds=[None],
            price_each=price,
            title=image.title or title_of(image.prompt),
            prompt=facts.prompt or image.prompt,
            model=model.id if model is not None else "",
            model_name=model.name if model is not None else "",
            account_id=presenter.account_id,
            options=told,
            source_id=image.id,
            charged=not presenter.in_sandbox,
        )

        async def ask() -> GeneratedImages:
            return await work(data, presenter.waits_of(planned))

        presenter.set_problem(None)
        presenter.selected.emit(planned[0].id)
        presenter.order([Order(kind, {**told, "image": image.id}, ask, planned, finish)])
