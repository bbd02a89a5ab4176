"""The status bar says who we call as, what is left and what it costs; it reads nothing but the caller."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from app.core.current_account import RateLimitRemaining
from app.credentials.accounts import Account
from app.ui.kit.tab import LiveWork

LIVE = Account("a", "Main account", "https://api.example.com/v1")
CHAT = RateLimitRemaining(68, 75, 741_000, 750_000, of="Chat")
SANDBOX = Account("s", "Sandbox", "http://127.0.0.1", kind="sandbox")


async def test_a_live_account_shows_host_limits_spend_and_balance(harness):
    harness.current_account.use(LIVE, None)
    harness.current_account.set_numbers(
        balance=Decimal("18.42"),
        spent_today=Decimal("1.15"),
        daily_limit=Decimal(10),
        latency_ms=84,
    )
    status = harness.window.status
    status.set_headroom(CHAT)
    assert status.chip.text() == "Main account"
    assert status.host.text() == "api.example.com  84 ms"
    assert status.limits.text() == "Chat 68 of 75 requests  741K of 750K tokens left"
    assert status.spent.text() == "Today $1.15 of $10"
    assert status.balance.text() == "Balance $18.42"


async def test_a_service_that_cannot_be_reached_has_no_green_dot_and_no_latency(harness):
    harness.current_account.use(LIVE, None)
    harness.current_account.set_numbers(latency_ms=84)
    status = harness.window.status
    assert status.chip.accessibleName() == "Account: Main account"
    harness.current_account.set_reach("dns")
    assert status.chip.accessibleName() == "Account: Main account, not reachable"
    assert status.host.text() == "api.example.com"
    harness.current_account.set_reach("")
    assert status.host.text() == "api.example.com  84 ms"


async def test_an_account_named_like_its_host_is_named_once(harness):
    harness.current_account.use(Account("a", "api.example.com", "https://api.example.com/v1"), None)
    harness.current_account.set_numbers(latency_ms=84)
    assert harness.window.status.chip.text() == "api.example.com"
    assert harness.window.status.host.text() == "84 ms"


async def test_play_money_is_called_so(harness):
    harness.current_account.use(SANDBOX, None)
    harness.current_account.set_numbers(balance=Decimal(100))
    status = harness.window.status
    assert status.balance.text() == "$100.00 play money"
    assert status.host.text() == "Built-in service"
    assert status.spent.isHidden()


async def test_a_recording_stands_in_red_behind_a_dot_in_every_width(harness):
    harness.current_account.use(SANDBOX, None)
    status = harness.window.status
    status.set_work(["A clip is being spoken", LiveWork("Recording 02:17")])
    assert status.work.text() == "Recording 02:17  and 1 more running"
    assert status.work.accessibleName() == "Running: Recording 02:17  and 1 more running"
    red = harness.theme.color("bad").rgb()
    image = status.work.grab().toImage()
    middle = image.height() // 2
    assert red in {image.pixelColor(x, middle).rgb() for x in range(harness.theme.px(8), harness.theme.px(15))}
    harness.window.resize(900, 600)
    assert status.work.text() == "Recording 02:17"
    status.set_work([])
    assert status.work.isHidden()


async def test_a_narrow_window_or_large_text_keeps_account_today_and_balance(harness):
    harness.current_account.use(LIVE, None)
    harness.current_account.set_numbers(balance=Decimal("18.42"), spent_today=Decimal("1.15"), latency_ms=84)
    harness.window.resize(900, 600)
    status = harness.window.status
    status.set_headroom(CHAT)
    assert status.limits.isHidden()
    assert status.spent.text() == "Today $1.15"
    assert status.balance.text() == "$18.42"
    assert status.host.isHidden()
    harness.window.resize(1440, 900)
    assert not status.limits.isHidden()
    harness.theme.configure(mode="light", text_percent=200, reduced_motion=True)
    assert status.limits.isHidden() and not status.spent.isHidden()


async def test_a_limit_says_of_what_and_goes_when_it_resets(harness, qtbot):
    harness.current_account.use(LIVE, None)
    status = harness.window.status
    soon = datetime.now(UTC) + timedelta(seconds=1)
    status.set_headroom(RateLimitRemaining(19, 20, resets_at=soon, of="Images"))
    assert status.limits.text() == "Images 19 of 20 requests left"
    assert status.limits.accessibleName() == "Rate limits: Images 19 of 20 requests left"
    qtbot.waitUntil(status.limits.isHidden, timeout=60_000)
    assert datetime.now(UTC) >= soon


async def test_each_tab_tells_of_its_own_limit_only(harness):
    harness.current_account.use(LIVE, None)
    harness.current_account.set_numbers(headroom=RateLimitRemaining(999, 1000, of="Chat"), balance=Decimal("18.42"))
    assert harness.window.status.limits.isHidden(), "nothing told of a limit of this tab"


async def test_without_an_account_nothing_is_made_up(harness):
    status = harness.window.status
    assert status.chip.accessibleName() == "Account: No account"
    assert status.balance.isHidden()
    assert status.limits.isHidden()


async def test_numbers_are_read_aloud_in_words(harness):
    harness.current_account.use(LIVE, None)
    harness.window.status.set_headroom(CHAT)
    words = "Rate limits: Chat 68 of 75 requests, 741,000 of 750,000 tokens left"
    assert harness.window.status.limits.accessibleName() == words


async def test_pressing_an_item_opens_its_page(harness):
    harness.current_account.use(LIVE, None)
    harness.current_account.set_numbers(balance=Decimal("18.42"))
    asked: list[str] = []
    harness.window.status_page_requested.connect(asked.append)
    harness.window.status.balance.click()
    assert asked == ["balance"]
