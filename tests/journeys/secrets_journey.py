"""A key is used for a whole chat against another address and is found nowhere afterwards but where it belongs."""

import base64
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication

from app.sandbox.server import Options, start_sandbox
from app.storage.paths import resources
from app.ui.settings.accounts.presenter import AccountDraft
from tests.kit.settings import change_settings
from tests.kit.waiting import until

KEY = "journey-key-7Qk2mZ84pLxW93vT"


def places_of(key: str, folder: Path) -> list[Path]:
    """Every file below `folder` that holds the key in plain, hexadecimal or base64 form."""
    forms = [key.encode(), key.encode().hex().encode(), base64.b64encode(key.encode()).rstrip(b"=")]
    return [path for path in folder.rglob("*") if path.is_file() and any(form in path.read_bytes() for form in forms)]


@pytest.mark.parametrize("place", ["session", "passphrase"])
async def test_no_file_log_or_command_line_holds_the_key(start: Callable[[], Any], tmp_path: Path, place: str) -> None:
    options = Options(tokens_per_second=0, local_ports={})
    with start_sandbox(tmp_path / "elsewhere", resources(), api_key=KEY, options=options) as service:
        async with start() as rialto:
            await until(lambda: rialto.places.state.kind or rialto.places.state.sentence)
            if place == "session":
                rialto.places.keep_for_session()
            else:
                rialto.places.keep_in_file("a long passphrase of four words", "a long passphrase of four words")
            # by its kind: a keychain that is there is ready before the person has chosen another place
            await until(lambda: rialto.places.state.kind == place and rialto.places.state.is_ready)
            rialto.accounts.add(AccountDraft(service.base_url, KEY, name="Elsewhere"))
            try:
                await until(
                    lambda: (
                        rialto.current_account.service is not None and rialto.current_account.account.kind == "api_key"
                    )
                )
            except TimeoutError:
                pytest.fail(f"the account is not in use: {rialto.accounts.state}, {rialto.places.state}")
            await until(lambda: rialto.chat.head().model_id)
            change_settings(rialto.settings, welcome_done=True)
            rialto.window.show_tab("chat")
            rialto.chat_page.send("How does Rialto keep my API key safe?")
            await until(lambda: any(row.state == "complete" and row.text for row in answers(rialto)))
            rialto.chat_page.open_request()
            await until(lambda: rialto.chat_page.side.request.curl.isVisible())
            rialto.chat_page.side.request.copy_curl()
            assert "$RIALTO_API_KEY" in QGuiApplication.clipboard().text()
            assert KEY not in QGuiApplication.clipboard().text()
            assert KEY not in repr(rialto.current_account.service)
        assert places_of(KEY, tmp_path / "home") == []
        assert KEY not in " ".join(sys.argv)
        if sys.platform == "linux":
            assert KEY.encode() not in Path(f"/proc/{os.getpid()}/cmdline").read_bytes()


def answers(rialto: Any) -> list[Any]:
    return [row for row in rialto.chat_page.rows() if row.role == "assistant"]
