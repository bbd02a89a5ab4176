"""Request parameters that have no field of their own, typed as a JSON object (R-GEN-15, R-GEN-16)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from app.translation import tr


def parse_extra_json(text: str, fields: Mapping[str, str] | None = None) -> tuple[dict[str, object], str]:
    """Return the object in `text`, and a sentence when it cannot be sent; the object is then empty.

    `fields` are wire names that have a field of their own, with its title: they are refused, so that the price and
    whatever else depends on a field is never different from what it shows.
    """
    if not text.strip():
        return {}, ""
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        return {}, tr("This is nested too deeply.")
    except json.JSONDecodeError as error:
        return {}, tr(
            "Line {lineno}, column {colno}: {msg}{msg2}.",
            lineno=error.lineno,
            colno=error.colno,
            msg=error.msg[:1].lower(),
            msg2=error.msg[1:],
        )
    except UnicodeEncodeError:
        return {}, tr("A text in it has half of a character (\\ud800 to \\udfff).")
    except _NotFinite:
        return {}, tr("JSON does not allow NaN or Infinity.")
    except ValueError:
        return {}, tr("A number in it has too many digits.")
    if not isinstance(value, dict):
        return {}, tr('Enter an object: {"name": value}.')
    taken = next((name for name in value if name in (fields or {})), None)
    if fields is not None and taken is not None:
        return {}, tr("Set “{name}” in its own field, {field}.", name=taken, field=fields[taken])
    return value, ""


def extra_json_fault(text: str, fields: Mapping[str, str] | None = None) -> str:
    """Return what is wrong with `text` as a sentence for a place away from its field, "" for nothing."""
    fault = parse_extra_json(text, fields)[1]
    return tr("Extra JSON: {fault}", fault=fault) if fault else ""


def write_extra_json(extra: object) -> str:
    """Return the text for the field that `parse_extra_json` reads as `extra`."""
    return json.dumps(extra, ensure_ascii=False, indent=2) if isinstance(extra, dict) and extra else ""


class _NotFinite(ValueError):
    pass


def _refuse(name: str) -> object:
    raise _NotFinite(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotFinite(text)
    return number
