"""About Rialto: nobody is asked before a person asks, what the signed feed says is shown, every license can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.storage.licenses import FILE_NAME
from app.storage.settings import Settings, SettingsStore
from app.ui.settings.about.page import AboutPage, LicensesDialog
from app.ui.settings.about.presenter import NO_FEED, AboutPresenter, is_due
from app.ui.settings.accounts.form import AccountForm
from app.ui.settings.fact_card import FactCard
from app.ui.settings.rows import SettingRow
from app.ui.settings.secrets.ask import SecretsQuestion
from tests.kit.waiting import until
from tests.service.tuf_feed import TufFeed
from tests.ui.test_shell_window import nameless, press

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[TufFeed]:
    feed = TufFeed(tmp_path / "published")
    feed.publish("1.3.0")
    yield feed
    feed.close()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a built program with two licenses and no feed."""
    root = tmp_path / "rialto" / "program"  # where the harness has its program
    (root / "resources" / "updates").mkdir(parents=True)
    line = "=" * 100
    words = f"Rialto: MIT\n\nPermission is granted.\n\n{line}\n\nsomething 1.0: BSD\n\nRedistribution is fine.\n"
    (root / FILE_NAME).write_text(words, encoding="utf-8")
    monkeypatch.setattr("sys.frozen", True, raising=False)
    return root


def give_feed(program: Path, repository: TufFeed) -> None:
    feed, folder = repository.feed, program / "resources" / "updates"
    (folder / "feed.json").write_text(json.dumps({"metadata": feed.metadata, "targets": feed.targets}))
    (folder / "root.json").write_bytes(feed.root)


@pytest.fixture
async def page(harness, settings_harness, tasks, qtbot, program):
    page = AboutPage(harness.theme, settings_harness.about, tasks, "1.2.3")
    qtbot.addWidget(page)
    page.resize(800, 700)
    page.show()
    return page


async def test_without_a_feed_it_says_so_and_offers_no_look(page, tasks):
    page.shown()
    await tasks.idle()
    assert page._newest.meaning.text() == NO_FEED
    assert not page.look.isVisible() and not page._start.isVisible()


async def test_nothing_is_asked_until_the_key_is_pressed_and_then_the_newer_version_is_told(
    page, tasks, program, repository
):
    give_feed(program, repository)
    page.shown()
    await tasks.idle()
    assert repository.asked == []
    assert not page.at_start.isChecked() and page.look.isVisible()
    page.look.setFocus()
    QTest.keyClick(page.look, Qt.Key.Key_Space)
    await tasks.idle()
    assert repository.asked
    said = "Rialto 1.3.0 is available. You have 1.2.3. Rialto never installs updates automatically."
    assert page._newest.meaning.text() == said
    assert page.open_page.isVisible()
    assert nameless(page) == []


async def test_the_newest_version_and_a_refused_feed_are_said(page, tasks, program, repository):
    give_feed(program, repository)
    repository.publish("1.2.3")
    page.shown()
    await tasks.idle()
    page.look.click()
    await tasks.idle()
    assert page._newest.meaning.text() == "This is the latest version, 1.2.3."
    assert not page.open_page.isVisible()
    repository.publish("1.4.0", expires=datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=1))
    page.look.click()
    await tasks.idle()
    assert "out of date" in page._newest.meaning.text()
    assert page.look.isEnabled()


async def test_a_look_at_each_start_is_off_until_it_is_switched_on_and_then_once_a_day(
    page, settings_harness, tasks, program, repository
):
    give_feed(program, repository)
    assert await settings_harness.about.check_at_start() == ""
    assert repository.asked == []
    page.shown()
    await tasks.idle()
    page.at_start.setFocus()
    QTest.keyClick(page.at_start, Qt.Key.Key_Space)
    await tasks.idle()
    kept = SettingsStore(settings_harness.paths.settings).value
    assert kept.look_for_updates
    again = AboutPresenter(
        settings_harness.store,
        lambda: settings_harness.network,
        tasks,
        root=program,
        kept=settings_harness.paths.data / "updates",
        version="1.2.3",
    )
    assert await again.check_at_start() == "1.3.0"
    asked = len(repository.asked)
    assert await again.check_at_start() == ""
    assert len(repository.asked) == asked


@pytest.mark.parametrize(
    ("looked_at", "due"),
    [
        ("", True),
        ("nonsense", True),
        ("2026-01-01T00:00:00", True),
        (timedelta(hours=-23), False),
        (timedelta(hours=-25), True),
        (timedelta(days=400), True),
    ],
)
def test_a_start_looks_a_day_after_the_last_look(looked_at, due):
    if isinstance(looked_at, timedelta):
        looked_at = (datetime.now(UTC) + looked_at).isoformat()
    assert is_due(Settings(look_for_updates=True, updates_looked_at=looked_at)) is due
    assert not is_due(Settings(look_for_updates=False, updates_looked_at=looked_at))


async def test_every_part_is_listed_and_its_licence_can_be_read(page, tasks, qtbot):
    page.shown()
    await tasks.idle()
    card = page.findChild(FactCard)
    assert card.accessibleDescription() == "Rialto, MIT; something 1.0, BSD"
    page.read.setFocus()
    QTest.keyClick(page.read, Qt.Key.Key_Space)
    await until(lambda: page.window().findChild(LicensesDialog) is not None)
    dialog = page.window().findChild(LicensesDialog)
    assert "Permission is granted." in dialog.words.toPlainText()
    QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    assert dialog.words.toPlainText().startswith("something 1.0\nBSD\n\nRedistribution is fine.")
    assert nameless(dialog) == []
    press(dialog, "Close")
    await tasks.idle()


async def test_a_checkout_reads_the_licences_of_what_is_installed(page, settings_harness, tasks, monkeypatch):
    monkeypatch.delattr("sys.frozen")
    presenter = AboutPresenter(
        settings_harness.store,
        lambda: settings_harness.network,
        tasks,
        root=ROOT,
        kept=settings_harness.paths.data,
        version="1.2.3",
    )
    presenter.begin()
    await tasks.idle()
    parts = {part.title.partition(" ")[0].lower(): part for part in presenter.state.parts}
    assert {"rialto", "httpx", "pydantic", "qasync", "tuf"} <= set(parts)
    assert "Permission is hereby granted" in parts["rialto"].text


async def test_no_section_of_settings_shows_a_window_of_its_own_while_it_is_built(harness, settings_harness, tasks):
    """A part made visible before it has a parent is a window for a moment, and takes the keys from Rialto's own."""
    settings_harness.keychain.missing = True
    settings_harness.secrets.refresh()
    await tasks.idle()
    assert settings_harness.secrets.state.ask
    shown: list[str] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
                shown.append(type(watched).__name__)
            return False

    watch = Watch()
    QApplication.instance().installEventFilter(watch)
    try:
        question = SecretsQuestion(harness.theme, settings_harness.secrets)
        form = AccountForm(harness.theme, with_name=True)
        row = SettingRow(harness.theme, "Title", meaning="What it means")
        about = AboutPage(harness.theme, settings_harness.about, tasks, "1.2.3")
    finally:
        QApplication.instance().removeEventFilter(watch)
    assert shown == []
    for widget in (question, form, row, about):
        widget.deleteLater()
    await tasks.idle()
