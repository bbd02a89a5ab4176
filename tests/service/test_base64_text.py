"""Files in a request body: the same bytes as one string would give, and no step that holds other threads up."""

from __future__ import annotations

import base64
import json
import random

import httpx
import pytest

from app.service.calls import Call, JsonContent
from app.service.chat_body import MAX_ATTACHMENT_BYTES, chat_body
from app.service.chat_types import ChatMessage, ChatRequest, ContentPart
from app.service.errors import LimitExceeded
from app.service.exchange import curl_command
from app.service.http.base64_text import ENCODED_AT_ONCE, Base64Text
from app.service.http.json_text import write_json
from app.service.retry import CallKind
from tests.service.loopback import Watched
from tests.service.test_client import in_turn

HEAD = "data:application/pdf;base64,"


def _bytes(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.mark.parametrize("size", [0, 1, 2, 3, ENCODED_AT_ONCE - 1, ENCODED_AT_ONCE, 2 * ENCODED_AT_ONCE + 1])
def test_the_pieces_are_the_base64_of_the_bytes(size: int) -> None:
    data = _bytes(size)
    text = Base64Text.of(data, HEAD)
    assert str(text) == HEAD + base64.b64encode(data).decode()
    assert len(text) == len(str(text))
    assert 0 <= text.size - size <= 2


def _body(*parts: ContentPart) -> dict[str, object]:
    return chat_body(ChatRequest("m", (ChatMessage("user", parts),)), "extension", stream=True)


def _parts(data: bytes) -> tuple[ContentPart, ...]:
    return (
        ContentPart.of_text('What is "this"? \\ \u2603'),
        ContentPart.of_file(Base64Text.of(data, HEAD), "a.pdf"),
        ContentPart.of_audio(Base64Text.of(data[:500]), "wav"),
        ContentPart.of_image(Base64Text.of(b"", HEAD)),
    )


def test_a_body_is_the_same_as_with_strings() -> None:
    data = _bytes(3 * ENCODED_AT_ONCE + 7)
    pieces = write_json(_body(*_parts(data)))
    same = json.loads(json.dumps(_body(*_parts(data)), default=str))
    assert json.loads(b"".join(pieces)) == same
    assert max(map(len, pieces)) <= ENCODED_AT_ONCE * 4 // 3


async def test_a_body_in_pieces_is_sent_with_its_length_and_again_after_a_lost_connection() -> None:
    data = _bytes(2 * ENCODED_AT_ONCE + 1)
    bodies = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content)
        assert int(request.headers["Content-Length"]) == len(request.content)
        assert "Transfer-Encoding" not in request.headers
        return handler(request)

    handler = in_turn(httpx.ConnectError("lost"), httpx.Response(200, json={}))
    async with Watched(handler=answer) as watched:
        call = Call("POST", "/x", CallKind.PAID, "chat", content=JsonContent(_body(*_parts(data))))
        async with watched.client.fetch(call):
            pass
        command = curl_command(watched.exchanges[0].request)
    assert bodies[0] == bodies[1]
    assert json.loads(bodies[0])["messages"][0]["content"][1]["file"]["file_data"] == str(Base64Text.of(data, HEAD))
    assert "Content-Length" not in command  # curl writes the body with other spaces


def test_what_is_too_large_is_refused_by_its_decoded_size() -> None:
    with pytest.raises(LimitExceeded, match="25 MB"):
        _body(ContentPart.of_file(Base64Text.of(bytes(MAX_ATTACHMENT_BYTES + 3), HEAD)))


def test_sound_goes_along_bare() -> None:
    with pytest.raises(LimitExceeded, match="bare base64"):
        _body(ContentPart.of_audio(Base64Text.of(b"sound", "data:audio/wav;base64,")))
