"""Nothing that can be pressed moves under a still pointer when a tab goes from one state to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.core.problems import ActionSpec, Problem
from app.ui.crypto_rpc.canvas import Canvas
from app.ui.crypto_rpc.session.jobs import JobView
from app.ui.images.gallery import Gallery
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.receipt_line import Run
from app.ui.speech.canvas import SpeechCanvas
from app.ui.speech.state import PlayerView
from app.ui.transcription.export_page import ExportPage
from app.ui.transcription.session.exporting import FORMATS
from app.ui.transcription.sound_view import SoundView
from app.ui.transcription.state import ExportChoice, Head, Sound
from app.ui.wallet.list_pane import WalletListPane
from app.ui.wallet.state import AccountCard

REFUSED = Problem("The service did not answer", "Nothing was charged.", ActionSpec("retry", "Try again"))

Steps: TypeAlias = tuple[QWidget, list[Callable[[], None]]]


def speech(theme: Theme) -> Steps:
    canvas = SpeechCanvas(theme)
    part = tuple(Run(words) for words in ("Part 1", "first sound 0.6 s", "MP3 24 kHz", "3,987 characters", "$0.0120"))
    told = (*part, Run("play money"), Run("req 0123456789abcdef0123456789abcdef"))
    views = (
        PlayerView(ready=True),
        PlayerView(ready=True, receipts=(told,)),
        PlayerView(ready=True, receipts=(told,) * 4),
    )
    return canvas, [lambda view=view: canvas.show_player(view, is_speaking=False) for view in views]


def large_file(theme: Theme) -> Steps:
    view = SoundView(theme)
    sound = Sound("talk.wav", "WAV", 47_000_000, 500.0, too_large=True, is_over_limit=True)
    heads = [Head("sound", "1", sound=sound, treatment=each) for each in ("flac", "split", "compress")]
    return view, [lambda head=head: view.show_head(head) for head in heads]


def nearly_large_file(theme: Theme) -> Steps:
    view = SoundView(theme)
    sound = Sound("talk.wav", "WAV", 25_500_000, 270.0, too_large=True)
    heads = [Head("sound", "1", sound=sound, treatment=each) for each in ("", "flac", "compress")]
    return view, [lambda head=head: view.show_head(head) for head in heads]


def export(theme: Theme) -> Steps:
    page = ExportPage(theme)
    return page, [lambda kind=kind: page.show_choice(ExportChoice(kind)) for kind in FORMATS]


def accounts(theme: Theme) -> Steps:
    pane = WalletListPane(theme, str)
    box = AccountCard("box", "Sandbox", "sandbox", "127.0.0.1", True, True)
    paid = AccountCard("paid", "Paid", "api_key", "api.example", False, False)
    other = AccountCard("other", "Other", "api_key", "other.example", False, False)
    paid = replace(paid, is_locked=True)
    after = (replace(box, in_use=False), other, replace(paid, in_use=True))
    return pane, [lambda cards=cards: pane.show_accounts(cards) for cards in ((box, other, paid), after)]


@pytest.mark.parametrize("make", [speech, large_file, nearly_large_file, export, accounts])
def test_no_control_moves_between_the_states_of_a_tab(theme: Theme, make: Callable[[Theme], Steps]) -> None:
    pane, steps = make(theme)
    pane.resize(theme.px(560 if make is not export else 320), theme.px(1000))
    pane.show()
    before: dict[str, QPoint] = {}
    for step in steps:
        step()
        QApplication.processEvents()
        now = {
            button.accessibleName() or button.text(): button.mapTo(pane, QPoint())
            for button in pane.findChildren(QAbstractButton)
            if button.isVisible()
        }
        assert {name: now[name] for name in now if name in before and now[name] != before[name]} == {}
        before |= now
    assert before
    pane.close()


def test_a_problem_of_the_console_or_of_images_leaves_what_is_above_it_in_its_place(
    theme: Theme, tmp_path: Path
) -> None:
    canvas = Canvas(theme, lambda *_: None, lambda *_: False)
    gallery = Gallery(theme, lambda _: None, str, tmp_path)

    def fail() -> None:
        canvas.problem.set_problem(REFUSED)
        canvas.problem.show()
        gallery.show_problem(REFUSED)

    for pane, parts in ((canvas, (canvas.send, canvas.request.mode, canvas.request.add)), (gallery, (gallery.places,))):
        pane.resize(theme.px(1100), theme.px(800))
        pane.show()
        QApplication.processEvents()
        before = [part.mapTo(pane, QPoint()) for part in parts]
        fail()
        QApplication.processEvents()
        assert [part.mapTo(pane, QPoint()) for part in parts] == before
        pane.close()


def test_a_job_of_the_console_leaves_what_is_above_it_in_its_place(theme: Theme) -> None:
    canvas = Canvas(theme, lambda *_: None, lambda *_: False)
    canvas.resize(theme.px(1100), theme.px(800))
    canvas.show()
    parts = (canvas.send, canvas.network, canvas.request.mode, canvas.request.add, canvas.request.method)
    places = []
    for job in (None, JobView("Watching chain heads", 2, 10, 40, 200)):
        canvas.job.show_job(job)
        QApplication.processEvents()
        places.append([part.mapTo(canvas, QPoint()) for part in parts])
    assert canvas.job.isVisible()
    assert places[0] == places[1]
    canvas.close()
