"""A small part of `python -m tests.sandbox.fuzz`: random requests to every route, from one seed."""

from __future__ import annotations

from tests.sandbox.fuzz import send
from tests.sandbox.support import Client
from tests.sandbox.test_wrong_values import PNG


def test_no_random_request_is_answered_with_500() -> None:
    statuses, broken = send(seed=4, count=1000)
    assert broken == []
    assert statuses[200] > 100 and statuses[400] > 100, "good ones and bad ones were sent"


def test_words_on_several_lines_are_drawn(sandbox: Client) -> None:
    """What the large run found."""
    for path, body in (
        ("/image/edit", {"image": PNG, "prompt": "red\nand\r\nblue\u2028sky", "model": "firered-image-edit"}),
        ("/image/generate", {"model": "rialto-canvas", "prompt": "a\nlake", "width": 64, "height": 64}),
    ):
        assert sandbox.post(path, body).status_code == 200
