"""How answers become models: unknown keys are kept, missing and odd ones fall back to their defaults.

Much of what the service sends is preview or beta. A field that changed its type must not take a whole list with it
(R-CHAR-40), so a model first reads strictly, which is fast, and only where that fails reads again without the fields
that did not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator

from app.service.errors import BadAnswer

MAX_LIST_ITEMS = 10_000


class WireModel(BaseModel):
    """A JSON object of the service. Give every field but the identifying ones a default."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, protected_namespaces=())

    @model_validator(mode="wrap")
    @classmethod
    def _tolerate(cls, content: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return read(content)
        except ValidationError as error:
            if not isinstance(content, Mapping):
                raise
            odd = {detail["loc"][0] for detail in error.errors(include_url=False) if detail["loc"]}
            names = {name: field for name, field in cls.model_fields.items() if not field.is_required()}
            optional = {alias for name, field in names.items() for alias in (name, field.alias)}
            if not odd or not odd <= optional:
                raise
            return read({key: value for key, value in content.items() if key not in odd})


M = TypeVar("M", bound=WireModel)


def read_model(model: type[M], content: object) -> M:
    """Read one object. Raises `BadAnswer` when what identifies it is missing."""
    try:
        return model.model_validate(content)
    except ValidationError:
        raise BadAnswer(f"The service sent something that is not a {model.__name__.lower()}.") from None
    except RecursionError:
        raise BadAnswer("The service sent something nested too deeply.") from None


class ListEnvelope(Generic[M]):
    """`{"data": […], "object": "list"}`, element by element. `broken` counts elements that could not be read."""

    def __init__(self, data: tuple[M, ...], broken: int, content: Mapping[str, object]) -> None:
        self.data = data
        self.broken = broken
        self.content = content

    @classmethod
    def read(cls, model: type[M], content: object) -> ListEnvelope[M]:
        """Raises `BadAnswer` only when there is no list at all."""
        elements = content.get("data") if isinstance(content, Mapping) else None
        if not isinstance(content, Mapping) or not isinstance(elements, list):
            raise BadAnswer("The service sent something that is not a list.")
        data = tuple(_readable(model, elements[:MAX_LIST_ITEMS]))
        return cls(data, len(elements) - len(data), content)


def _readable(model: type[M], elements: list[object]) -> Iterator[M]:
    for element in elements:
        try:
            yield read_model(model, element)
        except BadAnswer:
            continue
