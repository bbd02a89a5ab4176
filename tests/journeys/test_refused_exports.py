"""A folder that takes nothing: each export says so once, leaves what was there as it was, and works afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.bootstrap.rialto import Rialto
from app.core.file_saving import save_file
from app.ui.chat.session.export import HTML, JSON, MARKDOWN, ExportForm
from app.ui.kit.widgets.error_card import ErrorCard
from tests.journeys.conftest import settled
from tests.journeys.paying_tabs import PAID_ACTIONS, console, images, speech, transcription, video
from tests.journeys.test_wallet import in_the_sandbox, wallet_page
from tests.kit.waiting import until
from tests.read_only import read_only

TABS = ("chat", "speech", "transcription", "images", "crypto_rpc", "video")


def chat_as(kind: str) -> Callable[[Rialto, Path], object]:
    return lambda rialto, path: rialto.chat.transfers.export(rialto.chat.opened.chat_id, path, ExportForm(kind))


def code(rialto: Rialto, path: Path) -> None:
    controller = rialto.chat_page.controller
    rialto.tasks.start_unless_running(
        "save code", controller._save_file, path, lambda place: place.write_text("print(1)")
    )


def clip(rialto: Rialto, path: Path) -> None:
    page = speech(rialto)
    library = page.presenter.clip_library
    assert library is not None
    page.clip_actions.export(library.rows[0].id, path)


def film(rialto: Rialto, path: Path) -> None:
    source = rialto.paths.data / "film.mp4"
    source.write_bytes(b"a film")
    video(rialto).presenter.save_copy(source, path)


def answer(rialto: Rialto, path: Path) -> None:
    run = console(rialto).presenter.run
    assert run is not None

    async def save() -> None:
        rialto.toast(await save_file(path, lambda place: place.write_bytes(run.body)))

    rialto.tasks.start_unless_running("save answer", save)


EXPORTS: dict[str, tuple[str, str, Callable[[Rialto, Path], object]]] = {
    "a chat": ("chat", "chat.md", chat_as(MARKDOWN)),
    "a chat as a page": ("chat", "chat.html", chat_as(HTML)),
    "a chat as data": ("chat", "chat.json", chat_as(JSON)),
    "code": ("chat", "code.py", code),
    "presets": ("chat", "presets.json", lambda rialto, path: rialto.chat_page.box.presets.target_chosen.emit(path)),
    "a clip": ("speech", "clip.wav", clip),
    "a transcript": ("transcription", "talk.srt", lambda r, path: transcription(r).presenter.exports.save(path)),
    "a recording": ("transcription", "talk.wav", lambda r, path: transcription(r).presenter.exports.save_sound(path)),
    "an image": (
        "images",
        "image.png",
        lambda r, path: images(r).presenter.library.save_as([images(r).gallery_state.tiles[0].id], path),
    ),
    "an answer": ("crypto_rpc", "answer.json", answer),
    "a video": ("video", "film.mp4", film),
    "receipts": ("wallet", "receipts.csv", lambda rialto, path: wallet_page(rialto).receipts.export(path)),
}


def told(rialto: Rialto) -> list[str]:
    cards = [card.problem.what for card in rialto.window.findChildren(ErrorCard) if card.isVisible() and card.problem]
    return [toast.accessibleName() for toast in rialto.window.overlays.toasts.toasts] + cards


def hear_nothing(rialto: Rialto) -> None:
    for toast in rialto.window.overlays.toasts.toasts:
        toast.close_toast()


async def test_what_cannot_be_saved_elsewhere_is_said_once_and_can_be_saved_later(start: Any, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    async with start() as rialto:
        await in_the_sandbox(rialto)
        for tab in TABS[:-1]:
            rialto.window.show_tab(tab)
            await PAID_ACTIONS[tab].prepare(rialto, tmp_path)
            PAID_ACTIONS[tab].begin(rialto)
            await until(lambda tab=tab: PAID_ACTIONS[tab].done(rialto), tab)
        for tab in ("video", "wallet"):
            rialto.window.show_tab(tab)
        await settled(rialto)
        for name, (tab, file, save) in EXPORTS.items():
            path = folder / file
            rialto.window.show_tab(tab)
            path.write_text("what was there")
            hear_nothing(rialto)
            with read_only(folder):
                save(rialto, path)
                await until(lambda: told(rialto), name)
                await settled(rialto)
                said = told(rialto)
            assert len(said) == 1 and "Saved" not in said[0], (name, said)
            assert path.read_text() == "what was there", name
            hear_nothing(rialto)
            save(rialto, path)
            await until(lambda path=path: path.read_bytes() != b"what was there", name)
            await settled(rialto)
            assert [each.name for each in folder.iterdir()] == [file], name
            path.unlink()
