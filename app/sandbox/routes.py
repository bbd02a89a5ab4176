"""Which path leads to which handler. A handler's module is imported when its first request arrives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from app.sandbox.call import Call
from app.sandbox.http import Answer, Request

API_ROOT = "/api/v1"
Handler = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Route:
    """`limit` names the window that counts the request; handlers without one admit it themselves."""

    methods: tuple[str, ...]
    path: tuple[str, ...]
    target: str  # "module.function" inside app.sandbox
    limit: str = ""
    public: bool = False  # served without credentials; a wrong key is still refused
    open: bool = False  # pages and pictures: credentials are not even looked at
    credentials: str = "any"  # "key": no wallets; "wallet": a wallet's own account; "payment": a payment header alone

    @property
    def handler(self) -> Handler:
        module, _, function = self.target.partition(".")
        return cast(Handler, getattr(import_module(f"app.sandbox.{module}"), function))

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
    _api("POST", "/chat/completions", "chat.complete", limit=""),
    _api("GET", "/models", "models.list_models", public=True),
    _api("GET", "/models/traits", "models.list_traits", public=True),
    _api("GET", "/models/compatibility_mapping", "models.list_aliases", public=True),
    _api("GET", "/models/{id}", "models.one_model", public=True),
    _api("GET", "/characters", "characters.search", credentials="key"),
    _api("GET", "/characters/{slug}", "characters.one", credentials="key"),
    _api("GET", "/characters/{slug}/reviews", "characters.reviews", credentials="key"),
    _api("GET", "/api_keys/rate_limits", "account.rate_limits", credentials="key"),
    _api("GET", "/api_keys/rate_limit_logs", "account.rate_limit_log", credentials="key"),
    _api("GET", "/api_keys/rate_limits/log", "account.rate_limit_log", credentials="key"),
    _api("GET", "/api_keys", "api_keys.listed", credentials="key"),
    _api("POST", "/api_keys", "api_keys.made", credentials="key"),
    _api("DELETE", "/api_keys", "api_keys.revoked", credentials="key"),
    _api("GET", "/billing/balance", "account.balance", credentials="key"),
    _api("GET", "/billing/usage-history", "account.usage_history", credentials="key"),
    _api("GET", "/billing/usage-analytics", "account.usage_analytics", credentials="key"),
    _api("GET", "/billing/usage", "account.usage_is_gone", credentials="key"),
    _api("POST", "/audio/speech", "speech.speak", limit="audio"),
    _api("POST", "/audio/voices", "voices.clone", limit="audio"),
    _api("POST", "/audio/transcriptions", "transcription.transcribe", limit="audio"),
    _api("POST", "/x402/top-up", "x402.top_up", limit="", credentials="payment"),
    _api("GET", "/x402/balance/{address}", "wallets_account.balance", limit="", credentials="wallet"),
    _api("GET", "/x402/transactions/{address}", "wallets_account.transactions", limit="", credentials="wallet"),
    _api("GET", "/crypto/rpc/networks", "crypto_rpc.list_networks", public=True),
    _api("POST", "/crypto/rpc/{network}", "crypto_rpc.pass_on", limit=""),
    _api("POST", "/image/generate", "images.generate", limit="image"),
    _api("POST", "/images/generations", "images.generations", limit="image"),
    _api("GET", "/image/styles", "images.styles", public=True),
    _api("POST", "/image/edit", "images.edit", limit="image"),
    _api("POST", "/image/multi-edit", "images.multi_edit", limit="image"),
    _api("POST", "/image/upscale", "images.upscale", limit="image"),
    _api("POST", "/image/background-remove", "images.remove_background", limit="image"),
    _api("POST", "/embeddings", "embeddings.embed", limit="embedding"),
    _api("POST", "/video/quote", "video.quote", public=True),
    _api("POST", "/video/queue", "video.queue", limit="video_queue"),
    _api("POST", "/video/retrieve", "video.retrieve", limit="video_retrieve"),
    _api("POST", "/video/complete", "video.complete"),
    Route(("GET", "DELETE"), ("downloads", "{token}"), "video.download", open=True),
    _page("/", "pages.front"),
    _page("/handbook", "pages.handbook_index"),
    _page("/handbook/{page}", "pages.handbook_page"),
    _page("/notices/{id}", "pages.notice"),
    _page("/pictures/{file}", "pages.picture"),
    _page("/c/{slug}", "pages.character_page"),
    _control("GET", "/state", "controls.state"),
    _control("GET", "/engines", "equipment.listed"),
    _control("GET", "/chains", "crypto_rpc.accounts"),
    _control("GET", "/rpc_audit", "crypto_rpc.audit_log"),
    _control("GET", "/log", "controls.log"),
    _control("GET", "/log/{id}", "watching.details"),
    _control("GET", "/watch", "watching.watch"),
    _control("GET", "/prompt", "controls.last_prompt"),
    _control("GET DELETE", "/faults", "controls.faults"),
    _control("PUT POST DELETE", "/faults/{name}", "controls.fault"),
    _control("PUT POST", "/clock", "controls.clock"),
    _control("PUT POST", "/balance", "controls.balance"),
    _control("PUT POST", "/settings", "controls.settings"),
    _control("GET PUT POST", "/wallets/{address}", "wallets_account.one_wallet"),
    _control("GET POST", "/faucet", "wallets_account.faucet", open=True),
    _control("PUT POST", "/reset", "controls.reset"),
)
