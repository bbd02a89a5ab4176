"""Everything in the tab says its name, and everything can be reached and done by keyboard."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.core.time_format import position
from app.ui.kit.sound.player_bar import PlayerBar
from app.ui.kit.sound.waveform_view import WaveformView
from app.ui.kit.theme import Theme
from tests.kit.speech import SpeechHarness


def nameless(root: QWidget) -> list[str]:
    found = []
    for widget in (root, *root.findChildren(QWidget)):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or not widget.isVisibleTo(root):
            continue
        if widget.objectName() == "qt_scrollarea_viewport" or isinstance(widget.parent(), QAbstractScrollArea):
            continue
        face = QAccessible.queryAccessibleInterface(widget)
        if face is None or not face.text(QAccessible.Text.Name):
            found.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
    return found


async def test_every_stop_of_the_keyboard_has_a_name(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "af_sky")
    speech.write("Hello there. This is a line.")
    await speech.spoken()
    for pane in (speech.page.list, speech.page.main, speech.page.side):
        assert nameless(pane) == []
    speech.page.clip_actions.compare(tuple(speech.keys))
    assert nameless(speech.comparison) == []


async def test_rows_say_aloud_what_they_show(speech: SpeechHarness) -> None:
    speech.presenter.use_voice("tts-kokoro", "bf_emma")
    speech.write("Hello there.")
    await speech.spoken()
    (row,) = speech.rows
    assert row.spoken.startswith("Hello there., Emma · Kokoro, 0:0")
    voices = speech.voice_rows
    spoken = voices.data(voices.index_of(("tts-kokoro", "bf_emma")), Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Emma, bf_emma, Kokoro, English (UK), female"


async def test_every_action_has_a_name_and_a_state(speech: SpeechHarness) -> None:
    actions = speech.page.actions()
    assert len({action.id for action in actions}) == len(actions)
    assert all(action.text and isinstance(action.enabled(), bool) for action in actions)
    assert speech.page.running_work() == [] and speech.page.badge() == 0
    speech.page.set_zones(speech.page.zones)
    items = speech.page.palette_items("emma", 5)
    assert any(item.title == "Emma" for item in items)


def test_the_player_bar_is_worked_by_keys(theme: Theme, qtbot: QtBot) -> None:
    bar = PlayerBar(theme)
    qtbot.addWidget(bar)
    bar.show()
    asked: list[object] = []
    bar.play_pressed.connect(lambda: asked.append("play"))
    bar.skip_requested.connect(asked.append)
    bar.segment_requested.connect(asked.append)
    bar.speed_chosen.connect(asked.append)
    qtbot.keyClick(bar, Qt.Key.Key_Space)
    assert asked == [], "without a sound there is nothing to play"
    bar.set_ready(True)
    for key in (Qt.Key.Key_Space, Qt.Key.Key_J, Qt.Key.Key_L, Qt.Key.Key_BracketRight, Qt.Key.Key_Greater):
        qtbot.keyClick(bar, key)
    assert asked == ["play", -5.0, 5.0, 1, 1.25]
    bar._open_sound()
    assert bar.output.text() == "System default"
    bar._sound_card.close()


def test_the_waveform_is_a_slider_that_tells_its_place(theme: Theme, qtbot: QtBot) -> None:
    import numpy as np

    view = WaveformView(theme)
    qtbot.addWidget(view)
    view.resize(400, 52)
    view.show()
    view.set_sound(np.full((500, 2), 60, np.int8), 10.0, 20.0, (5.0,))
    view.set_position(4.0)
    assert view.accessibleDescription() == "0:04 of 0:20"
    wanted: list[float] = []
    view.seek_requested.connect(wanted.append)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.rect().center())
    assert wanted[0] == 9.0 and abs(wanted[1] - 10.0) < 0.2
    QApplication.processEvents()
    assert (position(6), position(287), position(3729)) == ("0:06", "4:47", "1:02:09")
