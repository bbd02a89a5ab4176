"""The real program, whose display goes away once it lives: Qt then stops its loop, as here.

`python -m tests.journeys.lost_display`, with RIALTO_HOME set.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.ui.kit.qt_workarounds.pyside_features import read_no_sources
from app.ui.kit.qt_workarounds.qt_exception_guard import install_exception_guard

read_no_sources()  # as `main` does, before anything else is imported
install_exception_guard()

from app.__main__ import main  # noqa: E402
from app.bootstrap.rialto import Rialto  # noqa: E402
from app.credentials.keyring_store import KeyringStore  # noqa: E402
from tests.journeys.conftest import no_keychain  # noqa: E402
from tests.kit.waiting import until  # noqa: E402


def drive() -> None:
    live = Rialto.live

    async def live_and_lose(rialto: Rialto) -> int:
        async def lose() -> None:
            await until(lambda: rialto.chat.library is not None)
            rialto.chat.set_draft("Typed before the logout")
            rialto.window.show_tab("wallet")
            QCoreApplication.exit(1)

        rialto.tasks.start_unless_running("display", lose)
        return await live(rialto)

    Rialto.live = live_and_lose  # type: ignore[method-assign]


if __name__ == "__main__":
    KeyringStore.__init__.__kwdefaults__ = no_keychain()  # for this process alone
    drive()
    raise SystemExit(main())
