"""Parts of the service that may change are marked as such where they are used."""

from __future__ import annotations

from app.ui.kit.theme import Theme
from app.ui.kit.widgets.badge import Badge
from app.ui.speech.clip_list import ClipListPane
from app.ui.transcription.sound_view import SoundView
from app.ui.transcription.state import Head


def test_r_ver_06_r_tts_01_speech_is_marked_beta(qtbot: object, theme: Theme) -> None:
    pane = ClipListPane(theme)
    (badge,) = [each for each in pane.findChildren(Badge) if each.text() == "Beta"]
    assert badge.isVisibleTo(pane)
    assert badge.toolTip() == "Beta: this part of the service may change."
    pane.deleteLater()


def test_r_ver_06_r_stt_01_transcription_says_that_it_is_beta_before_anything_is_sent(
    qtbot: object, theme: Theme
) -> None:
    view = SoundView(theme)
    view.show_head(Head(view="sound"))
    assert view.beta.isVisibleTo(view)
    assert view.beta.text().endswith("This feature is in beta.")
    view.deleteLater()
