"""What a browser may open: handbook pages, notices, images and character pages. Plain text, no HTML, no key."""

from __future__ import annotations

from app.sandbox.chat.drawn_images import draw
from app.sandbox.http.call import Call, json_answer, text_answer
from app.sandbox.http.connections import Response
from app.sandbox.http.errors import Refusal


async def front(call: Call) -> Response:
    """`GET /`: what answers here, for somebody who opens the address in a browser."""
    origin = call.site.origin
    return text_answer(
        "This is Rialto’s Sandbox: a stand-in for the service, on this computer only. It is not the service.\n"
        "Its answers come from small engines and from Rialto’s handbook, not from language, image or video models.\n"
        "Balances and charges are play money, and its chains hold nothing of value. Nothing here costs anything.\n"
        "\n"
        f"Base address for clients: {origin}/api/v1\n"
        f"Handbook:                 {origin}/handbook\n"
        f"Test controls (with key): {origin}/sandbox/state\n"
    )


async def health(_call: Call) -> Response:
    """For whoever waits until requests are answered: a container, a test runner."""
    return json_answer({"status": "ok"})


async def handbook_index(call: Call) -> Response:
    pages = call.site.handbook.pages.values()
    return text_answer("".join(f"{page.title}: {call.site.origin}/handbook/{page.id}\n" for page in pages))


async def handbook_page(call: Call) -> Response:
    page = call.site.handbook.pages.get(call.path_values["page"])
    if page is None:
        raise Refusal(404)
    return text_answer(page.text)


async def notice(call: Call) -> Response:
    text = call.site.notices.text(call.path_values["id"])
    if text is None:
        raise Refusal(404)
    return text_answer(text)


async def picture(call: Call) -> Response:
    slug = call.path_values["file"].removesuffix(".png")
    character = call.site.characters.find(slug)
    if character is None or not character.has_image:
        raise Refusal(404)
    headers = {"Content-Type": "image/png", "Cache-Control": "max-age=86400"}
    return Response(200, headers, draw(slug))


async def character_page(call: Call) -> Response:
    character = call.site.characters.find(call.path_values["slug"])
    if character is None:
        raise Refusal(404)
    return text_answer(
        f"{character.name}\n\n{character.description or ''}\n\n“{character.greeting}”\n".replace("\n\n\n\n", "\n\n")
    )
