"""What the connection section shows, as frozen values. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["system", "manual", "none"]
Kind = Literal["http", "https", "socks5"]
HopState = Literal["waiting", "running", "ok", "bad", "skipped"]


@dataclass(frozen=True, slots=True)
class ProxyDraft:
    """What the form holds, as typed. `password` is "" where the one that is kept is to stay; no repr shows it."""

    mode: Mode = "system"
    kind: Kind = "http"
    host: str = ""
    port: str = ""
    has_login: bool = False
    user: str = ""
    password: str = field(default="", repr=False)
    bypass: str = ""


@dataclass(frozen=True, slots=True)
class CertificateRow:
    """One file. `problem` says why it cannot be used any more, "" when all is well."""

    path: str
    name: str
    detail: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class HopRow:
    """One step of the way to the service."""

    name: str
    title: str
    state: HopState
    sentence: str
    took: str


@dataclass(frozen=True, slots=True)
class TestState:
    """`outcome` is "" before the first test. `problem` stands under the address."""

    __test__ = False

    outcome: Literal["", "running", "ok", "bad", "stopped"] = ""
    sentence: str = ""
    hops: tuple[HopRow, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ConnectionState:
    """`kept` is what is in use; its password field is always empty. `problems` maps fields of the draft to sentences.

    `taken` goes up by one with each draft that came into use: the form forgets the password then.
    """

    kept: ProxyDraft = ProxyDraft()
    has_password: bool = False
    system: str = ""  # what the operating system says about proxies, in a sentence
    problems: Mapping[str, str] = field(default_factory=dict)
    busy: bool = False
    taken: int = 0
    certificates: tuple[CertificateRow, ...] = ()
    certificate_problem: str = ""
    test: TestState = TestState()
    address: str = ""  # what a test would reach for, unless another address is typed

    def is_for_kept(self, draft: ProxyDraft) -> bool:
        """Whether a draft means the proxy and the user that are in use: a password is for those alone."""
        return (draft.host.strip().lower(), draft.port, draft.user) == (self.kept.host, self.kept.port, self.kept.user)

    def has_password_for(self, draft: ProxyDraft) -> bool:
        return self.has_password and self.is_for_kept(draft)
