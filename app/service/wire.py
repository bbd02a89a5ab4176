"""How answers become models: unknown keys are kept, missing and odd ones fall back to their defaults.

Much of what the service sends is preview or beta. A field that changed its type must not take a whole list with it
(R-CHAR-40), so a model first reads strictly, which is fast, and only where that fails reads again without the fields
that did not fit. A number or a moment that cannot be meant fits nowhere: whoever shows it, or reckons with it, gets
values that can be written, added up and told as a day, and texts that read as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Generic, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator

from app.service.amounts import MAX_NUMBER, is_plausible
from app.service.errors import BadResponse
from app.service.http.sanitize import sanitize_line, sanitize_text
from app.translation import tr

Name = Annotated[str, AfterValidator(sanitize_line)]
"""What a service calls something: on one line."""

MAX_LIST_ITEMS = 10_000
MIN_YEAR, MAX_YEAR = 1970, 2200  # no clock, no calendar and no time zone fails on a moment between them


class WireModel(BaseModel):
    """A JSON object of the service. Give every field but the identifying ones a default."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, protected_namespaces=())

    @model_validator(mode="wrap")
    @classmethod
    def _tolerate(cls, content: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return cls.plausible_only(read(content))
        except ValidationError as error:
            if not isinstance(content, Mapping):
                raise
            odd = {detail["loc"][0] for detail in error.errors(include_url=False) if detail["loc"]}
            names = {name: field for name, field in cls.model_fields.items() if not field.is_required()}
            optional = {alias for name, field in names.items() for alias in (name, field.alias)}
            if not odd or not odd <= optional:
                raise
            return cls.plausible_only(read({key: value for key, value in content.items() if key not in odd}))

    @classmethod
    def plausible_only(cls, made: Self) -> Self:
        """Give each field that holds an implausible value its default. Raises `ValueError` where it has none."""
        changes: dict[str, object] = {}
        for name, value in made.__dict__.items():
            check = _CHECKS.get(type(value))
            checked = value if check is None else check(value)
            if checked is _IMPLAUSIBLE:
                field = cls.model_fields[name]
                if field.is_required():
                    raise ValueError(name)
                checked = field.get_default(call_default_factory=True)
            if checked is not value:
                changes[name] = checked
        return made.model_copy(update=changes) if changes else made


_IMPLAUSIBLE: Final = object()


def _number(value: Any) -> object:
    return value if -MAX_NUMBER <= value <= MAX_NUMBER else _IMPLAUSIBLE  # NaN compares as neither


def _decimal(value: Any) -> object:
    return value if is_plausible(value) else _IMPLAUSIBLE


def _moment(value: Any) -> object:
    """A time of day without a zone is UTC, as everything else that the service says."""
    if not MIN_YEAR <= value.year < MAX_YEAR:
        return _IMPLAUSIBLE
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)


def _each_text(values: Any) -> object:
    if not any(isinstance(value, str) and sanitize_text(value) is not value for value in values):
        return values
    return tuple(sanitize_text(value) if isinstance(value, str) else value for value in values)


def _each_value(values: Any) -> object:
    """An object loses what is implausible in it, and keeps the rest."""
    odd = [
        key for key, value in values.items() if type(value) in _CHECKS and _CHECKS[type(value)](value) is _IMPLAUSIBLE
    ]
    return {key: value for key, value in values.items() if key not in odd} if odd else values


_CHECKS: dict[type, Callable[[Any], object]] = {
    int: _number,
    float: _number,
    Decimal: _decimal,
    datetime: _moment,
    str: sanitize_text,
    tuple: _each_text,
    dict: _each_value,
}
M = TypeVar("M", bound=WireModel)


def read_model(model: type[M], content: object) -> M:
    """Read one object. Raises `BadResponse` when what identifies it is missing."""
    try:
        return model.model_validate(content)
    except ValidationError:
        raise BadResponse(tr("The service’s response is not a {name}.", name=model.__name__.lower())) from None
    except RecursionError:
        raise BadResponse(tr("The service’s response is nested too deeply.")) from None


class ListEnvelope(Generic[M]):
    """`{"data": […], "object": "list"}`, element by element. `broken` counts elements that could not be read."""

    def __init__(self, data: tuple[M, ...], broken: int, content: Mapping[str, object]) -> None:
        self.data = data
        self.broken = broken
        self.content = content

    @classmethod
    def read(cls, model: type[M], content: object) -> ListEnvelope[M]:
        """Raises `BadResponse` when there is no list at all, or nothing in it that can be read."""
        elements = content.get("data") if isinstance(content, Mapping) else None
        if not isinstance(content, Mapping) or not isinstance(elements, list):
            raise BadResponse(tr("The service’s response is not a list."))
        data = tuple(_readable(model, elements[:MAX_LIST_ITEMS]))
        if elements and not data:
            raise BadResponse(tr("The service sent a list that cannot be read."))
        return cls(data, len(elements) - len(data), content)


def _readable(model: type[M], elements: list[object]) -> Iterator[M]:
    for element in elements:
        try:
            yield read_model(model, element)
        except BadResponse:
            continue
