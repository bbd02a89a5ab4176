"""A new theme or text size, and another tab, are no edits: no field of the whole window reports one."""

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager

from PySide6.QtCore import QMetaMethod, QObject
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from app.bootstrap.rialto import Rialto
from tests.journeys.conftest import settled
from tests.journeys.test_wallet import in_the_sandbox
from tests.kit.waiting import until

Start = Callable[..., AbstractAsyncContextManager[Rialto]]


def reports_of(each: QObject) -> Iterator[str]:
    """The names of the signals by which an object reports an edit."""
    of_class = each.metaObject()
    for place in range(of_class.methodCount()):
        method = of_class.method(place)
        name = bytes(method.name().data()).decode()
        if method.methodType() == QMetaMethod.MethodType.Signal and "edited" in name.lower():
            yield name


@contextmanager
def edits_reported(window: QWidget) -> Iterator[list[str]]:
    """Every report of an edit in the window, by any object of it."""
    found: list[str] = []
    connected = []
    for each in [window, *window.findChildren(QObject)]:
        for name in set(reports_of(each)):
            words = f"{type(each).__name__} {each.objectName()}.{name}"
            signal = getattr(each, name)

            def report(*_values: object, words: str = words) -> None:
                found.append(words)

            signal.connect(report)
            connected.append((signal, report))
    try:
        yield found
    finally:
        for signal, report in connected:
            signal.disconnect(report)


def fields_of(window: QWidget) -> list[QLineEdit | QPlainTextEdit | QTextEdit]:
    found: list[QLineEdit | QPlainTextEdit | QTextEdit] = []
    for kind in (QLineEdit, QPlainTextEdit, QTextEdit):
        found += [each for each in window.findChildren(kind) if each.isVisible() and not each.isReadOnly()]
    return found


async def test_a_new_look_is_no_edit_in_any_field(start: Start) -> None:
    async with start() as rialto:
        window, theme = rialto.window, rialto.theme
        window.resize(1440, 900)
        await in_the_sandbox(rialto)
        typed_in = set()
        for tab in window.tab_names():
            window.show_tab(tab)
            await settled(rialto)
            for field in fields_of(window):
                if isinstance(field, (QPlainTextEdit, QTextEdit)):
                    QTest.keyClicks(field, "[7]")
                    typed_in.add(tab)
            await settled(rialto)
        assert typed_in >= {"chat", "speech", "images", "video", "crypto_rpc"}
        looks: list[int] = []
        theme.changed.connect(lambda: looks.append(0))

        async def changed(change: Callable[[], None]) -> None:
            looks.clear()
            change()
            await until(lambda: bool(looks))
            await settled(rialto)

        with edits_reported(window) as found:
            for tab in ("crypto_rpc", "images"):  # one that is seen and one that is not
                window.show_tab(tab)
                await changed(lambda: theme.set_mode("dark"))
                await changed(lambda: theme.set_text_percent(150))
                await changed(lambda: theme.configure(mode="dark", text_percent=110, high_contrast=True))
                await changed(lambda: theme.configure(mode="light", text_percent=100))
            for tab in window.tab_names():
                window.show_tab(tab)
                await settled(rialto)
        assert found == []


async def test_the_walk_hears_a_person_type(start: Start) -> None:
    async with start() as rialto:
        rialto.window.resize(1440, 900)
        await in_the_sandbox(rialto)
        rialto.window.show_tab("images")
        await settled(rialto)
        with edits_reported(rialto.window) as found:
            for field in fields_of(rialto.window):
                QTest.keyClicks(field, "a")
        assert {name.partition(" ")[0] for name in found} >= {"TextArea"}
