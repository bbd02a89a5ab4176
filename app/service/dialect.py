"""The names a service gives to things: one record per dialect, so that no other module spells them out.

A deployment speaks one dialect. We send its names and, when reading, accept those of every dialect, because
gateways and older versions mix them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Dialect:
    """Every name that differs between deployments. `None` means: comes from the account, not from the dialect."""

    name: str
    base_url: str | None  # already ends at the version segment; never append another one
    extension_object: str  # key of the extra chat options in a request body
    header_prefix: str  # of response headers, lower case
    rpc_header_prefix: str
    tee_header_prefix: str  # of the headers of a sealed request
    siwx_header: str
    payment_header: str
    siwx_domain: str | None
    siwx_uri: str | None
    siwx_statement: str
    rate_limit_log_path: str
    model_by_id: bool  # whether `GET /models/{id}` exists
    documents_tool_names: tuple[str, ...]  # tool calls that are really search results; never executed
    citation_styles: tuple[str, ...]  # "ref": [REF]0[/REF], counted from 0; "caret": ^1^, counted from 1

    def tee_headers(self, client_key: bytes, model_key: bytes) -> tuple[tuple[str, str], ...]:
        """The three headers that make a request a sealed one; services take one that lacks any for an open one."""
        prefix = self.tee_header_prefix
        return (
            (f"{prefix}Client-Pub-Key", client_key.hex()),
            (f"{prefix}Model-Pub-Key", model_key.hex()),
            (f"{prefix}Signing-Algo", "ecdsa"),
        )

    def header_value(self, headers: Mapping[str, str], name: str) -> str | None:
        """Return the branded response header `name` ("version", "rpc-credits"), our own prefix first.

        `headers` must compare names without case or hold them in lower case.
        """
        for prefix in (self.header_prefix, *HEADER_PREFIXES):
            value = headers.get(prefix + name)
            if value is not None:
                return value
        return None

    def branded(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return all branded headers without their prefix, from names in lower case; our own prefix wins."""
        found: dict[str, str] = {}
        for prefix in (self.header_prefix, *HEADER_PREFIXES):
            for name, value in headers.items():
                if name.startswith(prefix):
                    found.setdefault(name[len(prefix) :], value)
        return found


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        "service": Dialect(
            name="service",
            base_url=None,
            extension_object="service_parameters",
            header_prefix="x-service-",
            rpc_header_prefix="X-Service-RPC-",
            tee_header_prefix="X-Service-TEE-",
            siwx_header="X-Sign-In-With-X",
            payment_header="X-402-Payment",
            siwx_domain=None,
            siwx_uri=None,
            siwx_statement="Sign in to the service",
            rate_limit_log_path="/api_keys/rate_limit_logs",
            model_by_id=True,
            documents_tool_names=("venice_web_search_documents",),
            citation_styles=("ref",),
        ),
        "venice": Dialect(
            name="venice",
            base_url="https://api.venice.ai/api/v1",
            extension_object="venice_parameters",
            header_prefix="x-venice-",
            rpc_header_prefix="X-Venice-RPC-",
            tee_header_prefix="X-Venice-TEE-",
            siwx_header="SIGN-IN-WITH-X",
            payment_header="PAYMENT-SIGNATURE",
            siwx_domain="api.venice.ai",
            siwx_uri="https://api.venice.ai",
            siwx_statement="Sign in to Venice AI",
            rate_limit_log_path="/api_keys/rate_limits/log",
            model_by_id=False,
            documents_tool_names=("venice_web_search_documents", "web_search"),
            citation_styles=("ref", "caret"),
        ),
    }
)

HEADER_PREFIXES: tuple[str, ...] = tuple(dialect.header_prefix for dialect in DIALECTS.values())
EXTENSION_OBJECTS: tuple[str, ...] = tuple(dialect.extension_object for dialect in DIALECTS.values())
SEARCH_RESULT_KEYS: tuple[str, ...] = ("service_search_results", "venice_search_results")


def guess_dialect(address: str) -> str:
    """Return the name of the dialect whose own host `address` is at, else the neutral one's."""
    host = (urlsplit(address).hostname or "").lower()
    for name, dialect in DIALECTS.items():
        own = (urlsplit(dialect.base_url).hostname or "") if dialect.base_url else ""
        domain = ".".join(own.split(".")[-2:])
        if own and (host == domain or host.endswith(f".{domain}")):
            return name
    return "service"
