"""How values look in JSON-RPC: hex quantities, hex data, block names; and the errors a node answers with."""

from __future__ import annotations

from app.sandbox.http.errors import Json

INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
SERVER_ERROR = -32000
REVERTED = 3


class RpcError(Exception):
    """A JSON-RPC error object. `data` is left out when it is ""."""

    def __init__(self, code: int, message: str, data: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data

    def as_json(self) -> Json:
        error: Json = {"code": self.code, "message": self.message}
        return {**error, "data": self.data} if self.data else error


def invalid(message: str) -> RpcError:
    return RpcError(INVALID_PARAMS, f"invalid params: {message}")


def hexed(data: bytes) -> str:
    return "0x" + data.hex()


def quantity(value: object, what: str = "quantity", otherwise: int | None = None) -> int:
    """Return the number in `0x1f`; `otherwise`, when given, for an absent value. Raises `RpcError`."""
    if value is None and otherwise is not None:
        return otherwise
    if isinstance(value, str) and value.startswith("0x") and len(value) > 2:
        try:
            return int(value, 16)
        except ValueError:
            pass
    raise invalid(f"{what} must be a hex quantity, received {value!r}")


def number(value: object, what: str, bits: int, otherwise: int | None = None) -> int:
    """Return a quantity that fits into so many bits. Raises `RpcError`."""
    found = quantity(value, what, otherwise)
    if not 0 <= found < 1 << bits:
        raise invalid(f"{what} does not fit into {bits} bits")
    return found


def data_bytes(value: object, what: str = "data", length: int | None = None) -> bytes:
    """Return the bytes in `0x00ff`. Raises `RpcError` for other lengths than `length`, when given."""
    if isinstance(value, str) and value.startswith("0x") and len(value) % 2 == 0:
        try:
            raw = bytes.fromhex(value[2:])
        except ValueError:
            raw = None
        if raw is not None and (length is None or len(raw) == length):
            return raw
    expected = "hex data" if length is None else f"{length} bytes of hex data"
    raise invalid(f"{what} must be {expected}, received {value!r}")


def address(value: object, what: str = "address") -> bytes:
    return data_bytes(value, what, 20)


def at(params: object, index: int, otherwise: object = None) -> object:
    """Return one positional parameter. Raises `RpcError` when the parameters are no list."""
    if params is None:
        return otherwise
    if not isinstance(params, list):
        raise invalid("expected an array")
    return params[index] if len(params) > index and params[index] is not None else otherwise


def listed(value: object) -> list[object]:
    """Return an array; an empty one for what is absent. Raises `RpcError`."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise invalid("expected an array")
    return value


def record(value: object, what: str) -> Json:
    if not isinstance(value, dict):
        raise invalid(f"{what} must be an object")
    return value
