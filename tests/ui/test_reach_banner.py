"""What the window says while the service cannot be reached, and that it takes it back by itself."""

import pytest

from app.credentials.accounts import SANDBOX_ADDRESS, new_account
from app.ui.shell.overlays import AccountChoice

LIVE = new_account("Main", "https://api.example.com/v1")
SANDBOX = new_account("Sandbox", SANDBOX_ADDRESS, kind="sandbox")


@pytest.fixture
def live(harness):
    """The window as it is for a person who calls a real service, with the Sandbox in the list of accounts."""
    harness.current_account.use(LIVE, None)
    harness.window.overlays.accounts = lambda: (
        AccountChoice(LIVE.id, LIVE.name, "api_key", True),
        AccountChoice(SANDBOX.id, SANDBOX.name, "sandbox", False),
    )
    return harness


@pytest.mark.parametrize("code", ["dns", "network", "timeout"])
async def test_a_lost_network_is_said_over_the_window_until_a_call_works(live, code):
    host = live.window.overlays.banner
    live.current_account.set_reach(code)
    assert host.isVisible()
    assert host.banner.accessibleName() == "You are offline. History and drafts still work."
    live.current_account.set_reach("")
    assert not host.isVisible()


async def test_a_service_that_is_down_is_not_called_a_lost_network(live):
    live.current_account.set_reach("refused")
    assert live.window.overlays.banner.banner.accessibleName().startswith("api.example.com is not responding.")


async def test_another_account_begins_without_the_banner(live):
    live.current_account.set_reach("dns")
    live.current_account.use(SANDBOX, None)
    assert not live.window.overlays.banner.isVisible()


async def test_the_sandbox_is_never_offline(live):
    live.current_account.use(SANDBOX, None)
    live.current_account.set_reach("refused")
    assert not live.window.overlays.banner.isVisible()


async def test_the_banner_offers_to_try_again_and_to_work_in_the_sandbox(live):
    chosen: list[str] = []
    tried: list[bool] = []
    live.window.account_chosen.connect(chosen.append)
    live.window.refresh_requested.connect(lambda: tried.append(True))
    live.current_account.set_reach("network")
    live.window.overlays.banner.action.emit("reach", "try")
    live.window.overlays.banner.action.emit("reach", "sandbox")
    assert (tried, chosen) == ([True], [SANDBOX.id])
