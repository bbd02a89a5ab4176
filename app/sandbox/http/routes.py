"""Which path leads to which handler. A handler's module is imported when its first request arrives."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import NamedTuple, cast

from app.sandbox.http.call import Call
from app.sandbox.http.connections import Request, Response

API_ROOT = "/api/v1"
Handler = Callable[[Call], Awaitable[Response]]


class Route(NamedTuple):
    """`limit` names the window that counts the request; handlers without one admit it themselves."""

    methods: tuple[str, ...]
    path: tuple[str, ...]
    target: str  # "module.function" inside app.sandbox
    limit: str = ""
    public: bool = False  # served without credentials; a wrong key is still refused
    open: bool = False  # pages and images: credentials are not even looked at
    credentials: str = "any"  # "key": no wallets; "wallet": a wallet's own account; "payment": a payment header alone

    @property
    def handler(self) -> Handler:
        module, _, function = self.target.rpartition(".")
        name = f"app.sandbox.{module}"
        return cast(Handler, getattr(sys.modules.get(name) or import_module(name), function))

    def match(self, segments: tuple[str, ...]) -> dict[str, str] | None:
        if len(segments) != len(self.path):
            return None
        values: dict[str, str] = {}
        for pattern, segment in zip(self.path, segments, strict=True):
            if pattern.startswith("{"):
                if not segment:
                    return None
                values[pattern.strip("{}")] = segment
            elif pattern != segment:
                return None
        return values

    def needs_key(self, request: Request) -> bool:
        return not self.open and not (self.public and "authorization" not in request.headers)


def _api(
    method: str, path: str, target: str, limit: str = "other", *, public: bool = False, credentials: str = "any"
) -> Route:
    segments = tuple(f"{API_ROOT}{path}".strip("/").split("/"))
    return Route((method,), segments, target, limit, public, open=credentials == "payment", credentials=credentials)


def _page(path: str, target: str) -> Route:
    return Route(("GET",), tuple(path.strip("/").split("/")), target, open=True)


def _control(methods: str, path: str, target: str, *, open: bool = False) -> Route:
    return Route(tuple(methods.split()), ("sandbox", *path.strip("/").split("/")), target, open=open, credentials="key")


ROUTES = (
    _api("POST", "/chat/completions", "chat.chat.complete", limit=""),
    _api("GET", "/models", "models.list_models", public=True),
    _api("GET", "/models/traits", "models.list_traits", public=True),
    _api("GET", "/models/compatibility_mapping", "models.list_aliases", public=True),
    _api("GET", "/models/{id}", "models.one_model", public=True),
    _api("GET", "/characters", "chat.characters.search", credentials="key"),
    _api("GET", "/characters/{slug}", "chat.characters.one", credentials="key"),
    _api("GET", "/characters/{slug}/reviews", "chat.characters.reviews", credentials="key"),
    _api("GET", "/api_keys/rate_limits", "accounts.account.rate_limits", credentials="key"),
    _api("GET", "/api_keys/rate_limit_logs", "accounts.account.rate_limit_log", credentials="key"),
    _api("GET", "/api_keys/rate_limits/log", "accounts.account.rate_limit_log", credentials="key"),
    _api("GET", "/api_keys", "accounts.api_keys.listed", credentials="key"),
    _api("POST", "/api_keys", "accounts.api_keys.made", credentials="key"),
    _api("PATCH", "/api_keys", "accounts.api_keys.changed", credentials="key"),
    _api("DELETE", "/api_keys", "accounts.api_keys.revoked", credentials="key"),
    _api("GET", "/billing/balance", "accounts.account.balance", credentials="key"),
    _api("GET", "/billing/usage-history", "accounts.account.usage_history", credentials="key"),
    _api("GET", "/billing/usage-analytics", "accounts.account.usage_analytics", credentials="key"),
    _api("GET", "/billing/usage", "accounts.account.usage_is_gone", credentials="key"),
    _api("POST", "/audio/speech", "media.speech.speak", limit="audio"),
    _api("POST", "/audio/voices", "media.voices.clone", limit="audio"),
    _api("POST", "/audio/transcriptions", "media.transcription.transcribe", limit="audio"),
    _api("POST", "/x402/top-up", "accounts.x402.top_up", limit="", credentials="payment"),
    _api("GET", "/x402/balance/{address}", "accounts.wallet_account.balance", limit="", credentials="wallet"),
    _api("GET", "/x402/transactions/{address}", "accounts.wallet_account.transactions", limit="", credentials="wallet"),
    _api("GET", "/crypto/rpc/networks", "chains.crypto_rpc.list_networks", public=True),
    _api("POST", "/crypto/rpc/{network}", "chains.crypto_rpc.pass_on", limit=""),
    _api("POST", "/image/generate", "media.images.generate", limit="image"),
    _api("POST", "/images/generations", "media.images.generations", limit="image"),
    _api("GET", "/image/styles", "media.images.styles", public=True),
    _api("POST", "/image/edit", "media.images.edit", limit="image"),
    _api("POST", "/image/multi-edit", "media.images.multi_edit", limit="image"),
    _api("POST", "/image/upscale", "media.images.upscale", limit="image"),
    _api("POST", "/image/background-remove", "media.images.remove_background", limit="image"),
    _api("POST", "/embeddings", "chat.embeddings.embed", limit="embedding"),
    _api("POST", "/video/quote", "media.video.quote", public=True),
    _api("POST", "/video/queue", "media.video.queue", limit="video_queue"),
    _api("POST", "/video/retrieve", "media.video.retrieve", limit="video_retrieve"),
    _api("POST", "/video/complete", "media.video.complete"),
    Route(("GET", "DELETE"), ("downloads", "{token}"), "media.video.download", open=True),
    _api("GET", "/tee/attestation", "sealed.tee.attestation", public=True),
    _api("GET", "/tee/signature", "sealed.tee.signature", public=True),
    # Intel's lists, which its own servers have under these paths
    _page("/tdx/certification/v4/tcb", "sealed.tee.tcb"),
    _page("/tdx/certification/v4/qe/identity", "sealed.tee.qe_identity"),
    _page("/sgx/certification/v4/pckcrl", "sealed.tee.pck_crl"),
    _page("/sgx/certification/v4/rootcacrl", "sealed.tee.root_crl"),
    # and NVIDIA's check of graphics processors
    Route(("POST",), ("v3", "attest", "gpu"), "sealed.nvidia.attest_gpu", open=True),
    _page("/.well-known/jwks.json", "sealed.nvidia.keys"),
    _page("/", "http.pages.front"),
    _page("/page/{file}", "http.pages.page_file"),
    _page("/health", "http.pages.health"),
    _page("/openapi.json", "http.openapi.document"),
    _page("/handbook", "http.pages.handbook_index"),
    _page("/handbook/{page}", "http.pages.handbook_page"),
    _page("/notices/{id}", "http.pages.notice"),
    _page("/pictures/{file}", "http.pages.picture"),
    _page("/c/{slug}", "http.pages.character_page"),
    _control("GET", "/state", "http.controls.state"),
    _control("GET", "/engines", "installed_engines.listed"),
    _control("GET", "/chains", "chains.crypto_rpc.accounts"),
    _control("GET", "/rpc_audit", "chains.crypto_rpc.audit_log"),
    _control("GET", "/log", "http.controls.log"),
    _control("GET", "/log.har", "http.log_endpoints.har"),
    _control("GET", "/log.jsonl", "http.log_endpoints.json_lines"),
    _control("GET", "/log/{id}", "http.log_endpoints.details"),
    _control("GET", "/watch", "http.log_endpoints.watch"),
    _control("GET", "/prompt", "http.controls.last_prompt"),
    _control("GET DELETE", "/faults", "http.controls.faults"),
    _control("PUT POST DELETE", "/faults/{name}", "http.controls.fault"),
    _control("GET PUT POST DELETE", "/answers", "http.controls.answers"),
    _control("GET", "/answers/schema", "http.controls.answers_schema", open=True),
    _control("DELETE", "/answers/{name}", "http.controls.answer"),
    _control("PUT POST", "/clock", "http.controls.clock"),
    _control("PUT POST", "/balance", "http.controls.balance"),
    _control("PUT POST", "/settings", "http.controls.settings"),
    _control("GET PUT POST", "/wallets/{address}", "accounts.wallet_account.one_wallet"),
    _control("GET POST", "/faucet", "accounts.wallet_account.faucet", open=True),
    _control("GET", "/sealed/root", "sealed.tee.root"),
    _control("GET", "/sealed/seen", "sealed.tee.seen"),
    _control("PUT POST", "/reset", "http.controls.reset"),
)
