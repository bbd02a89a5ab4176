"""What is looked up before an answer: web search, links in the message, or the notice board. With its price."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from app.sandbox.chat import word_stems
from app.sandbox.chat.chat_request import Extension
from app.sandbox.chat.handbook import Section
from app.sandbox.chat.handbook_reader import excerpt, find
from app.sandbox.http.errors import Json
from app.sandbox.model_catalog import ModelEntry

if TYPE_CHECKING:
    from app.sandbox.site import Site

SEARCH_USD = Decimal("0.01")  # per request that searched
SCRAPE_USD = Decimal("0.01")  # per URL that could be read
NATIVE_SEARCH_USD = Decimal("0.01")  # per request that used the native search
MAX_URLS = 5
MAX_RESULTS = 5
RELATED_FROM = 0.3  # of the best score; what scores less shares a word or two with the question
PAGE_BYTES = 256 * 1024
PAGE_TIMEOUT_S = 3.0

_URL = re.compile(r"https?://[^\s<>()\[\]\"'`]+", re.IGNORECASE)
_QUESTION = re.compile(
    r"\?|^\W*(who|what|when|where|which|why|how|is|are|can|could|does|do|did|will|should)\b"
    r"|^\W*(tell me|show me|explain|find)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Source:
    """One search result; `section` is the passage of the handbook that it points at, when it is one."""

    title: str
    url: str
    content: str
    date: str = ""
    section: Section | None = None

    def as_json(self) -> Json:
        return {"title": self.title, "url": self.url, "content": self.content, "date": self.date}


@dataclass(frozen=True, slots=True)
class Findings:
    """`kind`: "none", "search", "native" or "scrape". `failed`: links that could not be read."""

    kind: str = "none"
    sources: tuple[Source, ...] = ()
    failed: tuple[str, ...] = ()
    charges: tuple[tuple[str, int, Decimal], ...] = ()  # sku, units, USD per unit

    def as_prompt(self) -> str | None:
        if not self.sources:
            return None
        lines = [f"[{n}] {source.title}: {source.content}" for n, source in enumerate(self.sources)]
        return "Search results:\n" + "\n".join(lines)


async def look_up(site: Site, model: ModelEntry, wanted: Extension, question: str, earlier: list[str]) -> Findings:
    """Do what the extension object asks for, in the service's order: links, then native search, then web search."""
    urls = list(dict.fromkeys(url.rstrip(".,;:!?") for url in _URL.findall(question)))
    if wanted.enable_web_scraping and urls:
        return await _scrape(site, urls[:MAX_URLS])
    if wanted.enable_x_search and model.has("supportsXSearch"):
        found = site.notices.find(question)
        return Findings("native", tuple(found), charges=(("x-search", 1, NATIVE_SEARCH_USD),))
    if not model.has("supportsWebSearch") or wanted.enable_web_search == "off":
        return Findings()
    if wanted.enable_web_search == "auto" and not _QUESTION.search(question):
        return Findings()
    hits = find(site.handbook, question, earlier, MAX_RESULTS)
    best = max((hit.score for hit in hits), default=0.0)
    sources = tuple(
        Source(hit.section.title, site.handbook.address(hit.section), excerpt(hit.section), section=hit.section)
        for hit in hits
        if hit.score >= RELATED_FROM * best
    )
    return Findings("search", sources, charges=(("web-search", 1, SEARCH_USD),))


async def _scrape(site: Site, urls: list[str]) -> Findings:
    sources: list[Source] = []
    failed: list[str] = []
    for url in urls:
        source = await _read(site, url)
        if source is None:
            failed.append(url)
        else:
            sources.append(source)
    charges = (("web-scraping", len(sources), SCRAPE_USD),) if sources else ()
    return Findings("scrape", tuple(sources), tuple(failed), charges)


async def _read(site: Site, url: str) -> Source | None:
    """Read one address on this computer; the Sandbox has no way out to other hosts and pretends none."""
    if "fail" in url.lower():
        return None
    parts = urlsplit(url)
    if url.startswith(f"{site.origin}/handbook/"):
        page = site.handbook.pages.get(unquote(parts.path).removeprefix("/handbook/"))
        if page is None:
            return None
        sections = [s for s in site.handbook.sections if s.page == page.id and parts.fragment in ("", s.anchor)]
        if not sections:
            return None
        return Source(page.title, url, excerpt(sections[0], 600), section=sections[0])
    if parts.hostname not in ("127.0.0.1", "localhost", "::1") or url.startswith(f"{site.origin}/"):
        return None
    from app.sandbox.http.client_library import httpx  # only for links to other servers on this computer

    try:
        async with (
            asyncio.timeout(PAGE_TIMEOUT_S),
            httpx.AsyncClient(trust_env=False) as http,
            http.stream("GET", url) as answer,
        ):
            if answer.status_code != 200 or not answer.headers.get("content-type", "").startswith("text/"):
                return None
            text = b""
            async for piece in answer.aiter_bytes():
                text += piece
                if len(text) >= PAGE_BYTES:
                    break
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
        return None
    visible = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", text[:PAGE_BYTES].decode(errors="replace"))
    return Source(parts.netloc + parts.path, url, " ".join(visible.split())[:600])


class Notices:
    """The notice board: short posts about using Rialto, what native search looks through."""

    def __init__(self, posts: list[Json], origin: str) -> None:
        self._posts = {str(post["id"]): post for post in posts}
        self._origin = origin

    def find(self, question: str) -> list[Source]:
        wanted = set(word_stems.terms(question))
        ranked = [
            (len(wanted & set(word_stems.terms(f"{post['title']} {post['text']}"))), post)
            for post in self._posts.values()
        ]
        hits = sorted((pair for pair in ranked if pair[0]), key=lambda pair: -pair[0])[:MAX_RESULTS]
        return [self._source(post) for _, post in hits]

    def text(self, notice_id: str) -> str | None:
        post = self._posts.get(notice_id)
        return f"{post['title']}\n{post['date']}\n\n{post['text']}\n" if post else None

    def _source(self, post: Json) -> Source:
        address = f"{self._origin}/notices/{post['id']}"
        return Source(f"Notice board: {post['title']}", address, post["text"], post["date"])
