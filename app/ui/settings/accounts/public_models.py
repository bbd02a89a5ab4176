"""The models and prices of a service, shown before there is an account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.core.other_model import prices_of
from app.translation import tr, tr_n
from app.ui.kit.lists.plain_table import PlainTable
from app.ui.kit.lists.search_terms import SearchTerms
from app.ui.kit.widgets.dialogs import Dialog
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.search_field import SearchField

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.service.models import Model
    from app.ui.kit.theme import Theme
    from app.ui.settings.accounts.state import PublicModels

KIND_WORDS = {
    "text": tr("Chat"),
    "image": tr("Images"),
    "inpaint": tr("Image editing"),
    "upscale": tr("Enlarging"),
    "video": tr("Video"),
    "tts": tr("Speech"),
    "asr": tr("Transcription"),
    "embedding": tr("Embeddings"),
    "music": tr("Music"),
}
WIDTH, HEIGHT = 760, 300  # px at 100 %


async def show_models(theme: Theme, parent: QWidget, found: PublicModels) -> None:
    """Show every model with its prices, and find some by their words."""
    dialog = Dialog(theme, parent, tr("Models at {host}", host=found.host), width=WIDTH)
    count = Label(theme, "", "small", "text2", tabular=True)
    filter_field = SearchField(theme, tr("Filter models"), results=count.text)
    table = PlainTable(theme, tr("Models and prices"), (tr("Model"), tr("For"), tr("Price")), (240, 110, 0))
    table.setMinimumHeight(theme.px(HEIGHT))
    lines = _lines(found.models)

    def show(text: str) -> None:
        terms = SearchTerms(text)
        shown = [line for line in lines if not terms or terms.are_in(*line)]
        table.rows.set_lines(shown)
        count.set_text(tr_n("{n} model", "{n} models", len(shown)))

    filter_field.textChanged.connect(show)
    show("")
    for part in (filter_field, count, table):
        dialog.body.addWidget(part)
    dialog.add_button(tr("Close"), kind="primary", accepts=True, default=True)
    filter_field.setFocus()
    await dialog.answer()


def _lines(models: Sequence[Model]) -> list[tuple[str, str, str]]:
    """Name, what it is for, and its prices; by what they are for, then by name."""
    kinds = list(KIND_WORDS)
    order = sorted(
        models, key=lambda each: (kinds.index(each.type) if each.type in kinds else len(kinds), each.name.casefold())
    )
    return [(each.name, KIND_WORDS.get(each.type, each.type), ", ".join(prices_of(each))) for each in order]
