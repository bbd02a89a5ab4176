"""Says a stored image in the words of the gallery and of the pane beside it."""

from __future__ import annotations

from pathlib import Path

from app.core import money, number_format, time_format
from app.formats import format_number
from app.storage.images import StoredImage
from app.translation import tr
from app.ui.images.form import FORMAT_TITLES
from app.ui.images.state import KIND_WORDS, Details, PaidAction, Tile

NO_REMARKS = tr("No issues")


def cost_words(image: StoredImage) -> str:
    if image.state == "sending":
        return (
            tr("estimate {estimate_usd}", estimate_usd=money.money(image.estimate_usd))
            if image.estimate_usd is not None
            else ""
        )
    if image.state == "failed":
        return ""
    if image.cost_usd is not None:
        return money.money(image.cost_usd)
    if image.state == "unknown" and image.estimate_usd is not None:
        return tr("possibly {estimate_usd}", estimate_usd=money.money(image.estimate_usd))
    return ""


def tile_of(image: StoredImage) -> Tile:
    title = image.title or KIND_WORDS.get(image.kind, tr("Image"))
    if image.total > 1:
        title = tr("{title}, {number} of {total}", title=title, number=image.number, total=image.total)
    elif image.kind in KIND_WORDS:
        title = f"{title}, {KIND_WORDS[image.kind].lower()}"
    facts = [image.model_name or image.model, f"{image.width} × {image.height}" if image.width else ""]
    return Tile(
        id=image.id,
        title=title,
        cost=cost_words(image),
        state=image.state,
        note=tr("Blurred") if image.blurred else "" if image.state in ("saved", "sending") else image.note,
        starred=image.starred,
        blurred=image.blurred,
        second_line=" · ".join(fact for fact in facts if fact),
        at=image.created_at,
    )


def details_of(image: StoredImage, path: Path | None, paid_actions: tuple[PaidAction, ...]) -> Details:
    """Return what stands beside the gallery."""
    seed = f"{image.seed:,}".replace(",", " ") if image.seed is not None else ""  # no amount: copied as it is
    if image.total > 1 and image.seed is None and image.kind == "generate":
        seed = tr("unknown for image {number} of one request", number=image.number)
    cost = cost_words(image)
    if cost and not image.charged and image.state != "sending":
        cost += f", {money.PLAY_MONEY}"
    facts = (
        (tr("Model"), image.model_name or image.model),
        (tr("Size"), f"{format_number(image.width)} × {format_number(image.height)}" if image.width else ""),
        (tr("Seed"), seed),
        (tr("Style"), str(image.options.get("style") or "")),
        (tr("Negative prompt"), str(image.options.get("negative_prompt") or "")),
        (tr("Cost"), cost),
        (tr("Time"), time_format.duration(image.duration_s) if image.duration_s else ""),
        (
            tr("File"),
            f"{FORMAT_TITLES.get(image.form, image.form)}, {number_format.size(image.size_bytes)}"
            if image.file
            else "",
        ),
        (tr("Created"), time_format.moment(image.created_at)),
        (tr("Request ID"), image.request_id),
    )
    return Details(
        id=image.id,
        title=tile_of(image).title,
        state=image.state,
        note=image.note,
        path=path,
        prompt=image.prompt,
        enhanced_prompt=image.enhanced_prompt,
        facts=tuple((label, value) for label, value in facts if value),
        policy=_policy(image),
        policy_ok=not image.blurred and image.state != "withheld",
        starred=image.starred,
        trashed=image.trashed_at is not None,
        can_rerun=image.kind == "generate",
        paid_actions=paid_actions,
        width=image.width,
        height=image.height,
    )


def _policy(image: StoredImage) -> str:
    if image.state == "withheld":
        return tr("Withheld")
    if image.blurred:
        return tr("Blurred")
    return NO_REMARKS if image.state == "saved" and image.kind != "import" else ""
