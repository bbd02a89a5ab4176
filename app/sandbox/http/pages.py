"""What a browser may open without a key: the Sandbox's own page, and handbook pages, notices and images.

The own page is three files that never change and hold nothing of a request; all else is plain text.
"""

from __future__ import annotations

from app.sandbox.chat.drawn_images import draw
from app.sandbox.http.call import Call, json_answer, text_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import HttpError

PAGE_FILES = {"page.css": "text/css", "page.js": "text/javascript"}
# Nothing but these files and calls to this address: a request that finds its way into the page can do nothing there.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


async def front(call: Call) -> Response:
    """`GET /`: what answers here, for somebody who opens the address: a browser gets a page, all else plain text."""
    origin = call.site.origin
    if "text/html" in call.request.headers.get("accept", ""):
        return _file(call, "page.html", "text/html")
    return text_answer(
        "This is Rialto’s Sandbox: a stand-in for the service, on this computer only. It is not the service.\n"
        "Its answers come from small engines and from Rialto’s handbook, not from language, image or video models.\n"
        "Balances and charges are play money, and its chains hold nothing of value. Nothing here costs anything.\n"
        "\n"
        f"Base address for clients: {origin}/api/v1\n"
        f"Handbook:                 {origin}/handbook\n"
        f"Test controls (with key): {origin}/sandbox/state\n"
    )


async def page_file(call: Call) -> Response:
    name = call.path_values["file"]
    if name not in PAGE_FILES:
        raise HttpError(404)
    return _file(call, name, PAGE_FILES[name])


def _file(call: Call, name: str, kind: str) -> Response:
    headers = {"Content-Type": f"{kind}; charset=utf-8", **PAGE_HEADERS}
    return Response(200, headers, (call.site.page_files / name).read_bytes())


async def health(_call: Call) -> Response:
    """For whoever waits until requests are answered: a container, a test runner."""
    return json_answer({"status": "ok"})


async def handbook_index(call: Call) -> Response:
    pages = call.site.handbook.pages.values()
    return text_answer("".join(f"{page.title}: {call.site.origin}/handbook/{page.id}\n" for page in pages))


async def handbook_page(call: Call) -> Response:
    page = call.site.handbook.pages.get(call.path_values["page"])
    if page is None:
        raise HttpError(404)
    return text_answer(page.text)


async def notice(call: Call) -> Response:
    text = call.site.notices.text(call.path_values["id"])
    if text is None:
        raise HttpError(404)
    return text_answer(text)


async def picture(call: Call) -> Response:
    slug = call.path_values["file"].removesuffix(".png")
    character = call.site.characters.find(slug)
    if character is None or not character.has_image:
        raise HttpError(404)
    headers = {"Content-Type": "image/png", "Cache-Control": "max-age=86400"}
    return Response(200, headers, draw(slug))


async def character_page(call: Call) -> Response:
    character = call.site.characters.find(call.path_values["slug"])
    if character is None:
        raise HttpError(404)
    return text_answer(
        f"{character.name}\n\n{character.description or ''}\n\n“{character.greeting}”\n".replace("\n\n\n\n", "\n\n")
    )
