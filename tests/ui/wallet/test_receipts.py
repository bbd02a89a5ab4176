"""The ledger of all tabs: filters, sums, the chart and its table, export, and the comparison with the service."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.service.api_keys import KeyTerms
from app.service.billing import UsageAnalytics
from app.service.x402 import TransactionPage, X402Resource
from app.storage.paths import resources
from app.storage.receipts import OUTCOMES, Receipt, Receipts, receipt_of
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import LinkButton
from app.ui.kit.widgets.flow import ScaledBox
from app.ui.wallet.bookings_and_signatures import ComparePage
from app.ui.wallet.receipts_table import COST, DETAIL, ESTIMATE, OUTCOME, ReceiptTable
from app.ui.wallet.session.comparison import Booking, compare, compare_sums, service_bookings
from app.ui.wallet.state import BookRow, Difference, Totals, UsageSums
from app.ui.wallet.usage_chart import scale_of
from tests.kit.waiting import until
from tests.kit.wallet import WalletHarness
from tests.ui.wallet.test_spending_limits import QUESTION, spend


async def fill(wallet: WalletHarness, count: int = 6) -> None:
    """So many receipts of two tabs, one a day."""
    receipts = Receipts(wallet.database)
    for number in range(count):
        await receipts.add(
            receipt_of(
                id=f"r{number}",
                at=datetime.now(UTC) - timedelta(days=number),
                account_id=wallet.sandbox_account.id,
                tab=("chat", "speech")[number % 2],
                endpoint="POST /x",
                model=("one", "two")[number % 2],
                cost_usd=Decimal("0.10"),
                cost_source="stated",
                estimate_usd=Decimal("0.25"),
                request_id=f"=request {number}",
                outcome=("ok", "error")[number % 2],
                charged=False,
            )
        )
    wallet.receipts.reload()
    await wallet.tasks.idle()


def shown(wallet: WalletHarness, column: int) -> list[str]:
    rows = wallet.receipts_table.rows
    return [str(rows.index(place, column).data() or "") for place in range(rows.rowCount())]


async def test_a_call_that_never_reached_the_service_was_not_sent_rather_than_refused(wallet: WalletHarness) -> None:
    receipts = Receipts(wallet.database)
    for number, outcome in enumerate(OUTCOMES):
        at = datetime.now(UTC) - timedelta(days=number)
        await receipts.add(
            receipt_of(id=outcome, at=at, account_id="a", tab="chat", endpoint="POST /x", outcome=outcome)
        )
    wallet.receipts.reload()
    await wallet.tasks.idle()
    words = ["Answered", "Refused", "Not sent", "Interrupted", "Stopped", "Unknown", "In progress"]
    assert shown(wallet, OUTCOME) == words


async def test_the_latest_calls_are_painted_as_soon_as_they_are_read(wallet: WalletHarness, qtbot: QtBot) -> None:
    latest = wallet.latest
    await fill(wallet, count=12)  # more than the ten that the first page shows
    with qtbot.waitSignal(latest.rows.dataChanged, timeout=60_000) as painted:
        wallet.receipts.reload()
        await wallet.tasks.idle()
        latest.rows.index(0, DETAIL).data()  # as a table does that is painted; the row is not read yet
        await wallet.tasks.idle()
    first, last, *_ = painted.args
    assert (latest.rows.rowCount(), first.row(), last.row()) == (10, 0, 9)
    assert [latest.rows.index(place, DETAIL).data() for place in range(10)].count(None) == 0


async def test_a_wallet_without_requests_says_what_appears_there(wallet: WalletHarness) -> None:
    overview = wallet.overview
    parts = (overview.nothing, overview.latest, overview.show_all)
    today = (date(2026, 11, 27),)
    hidden = []
    for totals in (Totals(), Totals(days=today), Totals(count=1, days=today)):  # the first: nothing was read yet
        overview.show_totals(totals)
        hidden.append([part.isHidden() for part in parts])
    assert hidden == [[True, False, True], [False, True, True], [True, False, False]]
    assert overview.show_all.text() == "Show all 1"


async def test_filters_narrow_rows_and_sums_alike(wallet: WalletHarness) -> None:
    await fill(wallet)
    before = wallet.receipts.totals.count
    wallet.show_page("receipts")
    wallet.receipts.set_filter(tab="speech")
    await wallet.tasks.idle()
    assert wallet.receipts.totals.play == Decimal("0.30")
    assert "3 receipts" in wallet.sums_text()
    assert "up to $0.75, actual $0.30" in wallet.sums_text()
    shown(wallet, COST)
    await wallet.tasks.idle()
    assert shown(wallet, COST) == ["$0.10"] * 3
    assert shown(wallet, ESTIMATE) == ["$0.25"] * 3
    for changes, count in (({"outcome": "ok"}, 0), ({"outcome": "", "tab": "", "model": "one"}, 3), ({"days": 1}, 1)):
        wallet.receipts.set_filter(**changes)
        await wallet.tasks.idle()
        assert wallet.receipts.totals.count == count, changes
    wallet.clear_filters()
    await wallet.tasks.idle()
    assert wallet.receipts.totals.count == before


async def test_receipts_that_come_leave_a_list_that_is_open_at_its_row(wallet: WalletHarness) -> None:
    await fill(wallet)
    wallet.show_page("receipts")
    await wallet.tasks.idle()
    field = wallet.filter_fields["model"]
    assert [field.itemText(at) for at in range(field.count())] == ["All models", "one", "two"]
    field.showPopup()
    field.view().setCurrentIndex(field.model().index(2, 0))
    wallet.receipts.reload()
    await wallet.tasks.idle()
    assert field.view().currentIndex().row() == 2
    field.hidePopup()


async def test_days_of_the_chart_that_large_text_hides_are_commands(wallet: WalletHarness, theme: Theme) -> None:
    main, commands = wallet.page.main, {action.text: action for action in wallet.page.actions()}
    main.resize(900, 600)
    main.show()
    assert main.span.isVisible()
    theme.set_text_percent(200)
    main.resize(901, 600)
    assert main.span.isHidden()
    for days in (7, 30, 14):
        main.show_page("receipts")
        commands[f"Usage for {days} days"].run()
        await wallet.tasks.idle()
        assert (main.page, wallet.receipts.filter.days, len(wallet.receipts.totals.days)) == ("overview", days, days)
    main.hide()


async def test_calls_that_are_never_charged_are_shown_when_they_are_asked_for(wallet: WalletHarness) -> None:
    wallet.presenter.refresh()
    await wallet.tasks.idle()
    assert wallet.receipts.totals.count == 0
    field = wallet.filter_fields["free"]
    field.setCurrentIndex(1)
    field.activated.emit(1)
    await wallet.tasks.idle()
    assert wallet.receipts.totals.count >= 2
    shown(wallet, DETAIL)
    await wallet.tasks.idle()
    assert "Limits and balance" in shown(wallet, DETAIL)


async def test_receipts_that_come_while_another_tab_is_in_front_are_read_when_the_wallet_is(
    wallet: WalletHarness,
) -> None:
    wallet.receipts.set_filter(free="all")
    await wallet.tasks.idle()
    read: list[Totals] = []
    wallet.receipts.totals_changed.connect(read.append)
    wallet.page.main.hide()
    wallet.presenter.refresh()
    await wallet.tasks.idle()
    assert read == []
    wallet.page.main.show()
    await wallet.tasks.idle()
    assert [totals.count for totals in read] == [len(await Receipts(wallet.database).recent())]
    wallet.page.main.hide()
    wallet.page.main.show()
    await wallet.tasks.idle()
    assert len(read) == 1, "nothing came"


async def test_a_long_book_is_read_only_where_it_is_looked_at(wallet: WalletHarness) -> None:
    await fill(wallet, 1)
    wallet.forget_pages()
    wallet.receipts_table.rows.set_count(100_000)
    assert wallet.receipts.row(0) is None
    await wallet.tasks.idle()
    assert wallet.receipts.row(0) is not None
    assert list(wallet.pages_in_memory) == [0]


async def test_the_chart_and_its_table_tell_the_same(wallet: WalletHarness) -> None:
    await fill(wallet)
    overview = wallet.overview
    table = overview.table
    last = table.item(table.rowCount() - 1, table.columnCount() - 1)
    assert last is not None
    assert last.text() == "$0.60"
    assert "$0.60" in overview.sum.text()
    overview.chart.mark(len(wallet.receipts.days()) - 1)
    assert "Chat $0.10" in overview.chart.accessibleDescription()
    wallet.page.show_day(wallet.receipts.days()[-1])
    await wallet.tasks.idle()
    assert wallet.shown_page == "receipts"
    assert wallet.receipts.totals.play == Decimal("0.10")


def test_the_axis_reaches_above_the_highest_day() -> None:
    for most in ("0.0001", "0.031", "1.15", "2.03", "9.99", "123"):
        step, steps = scale_of(Decimal(most))
        assert step * steps >= Decimal(most)
        assert 2 <= steps <= 5


@pytest.mark.parametrize("days", [7, 30])
async def test_the_days_of_the_chart_are_chosen_without_the_header_too(wallet: WalletHarness, days: int) -> None:
    await fill(wallet)
    action = next(each for each in wallet.page.actions() if each.id == f"wallet.days_{days}")
    action.run()
    await wallet.tasks.idle()
    assert len(wallet.receipts.days()) == days


async def test_the_axis_rounds_no_line_away(wallet: WalletHarness) -> None:
    await spend(wallet, "0.11")
    wallet.receipts.reload()
    await wallet.tasks.idle()
    assert wallet.chart_axis() == ["$0", "$0.025", "$0.050", "$0.075", "$0.100", "$0.125"]


async def test_receipts_are_exported_as_csv_and_json_and_no_cell_is_a_formula(
    wallet: WalletHarness, tmp_path: Path
) -> None:
    await fill(wallet)
    wallet.receipts.set_filter(tab="chat")
    await wallet.tasks.idle()
    for name in ("book.csv", "book.json"):
        wallet.receipts.export(tmp_path / name)
        await wallet.tasks.idle()
    with (tmp_path / "book.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["cost_usd"] for line in lines] == ["0.10"] * 3
    assert all(line["request_id"].startswith("'=") for line in lines)
    kept = json.loads((tmp_path / "book.json").read_text())["receipts"]
    assert [each["account"] for each in kept] == ["Sandbox"] * 3
    assert kept[0]["request_id"] == "=request 0"


async def test_receipts_are_held_against_the_services_own_book(wallet: WalletHarness) -> None:
    service = wallet.current_account.service
    assert service is not None
    await service.chat.complete(QUESTION)
    await wallet.tasks.idle()
    wallet.press_compare()
    await wallet.tasks.idle()
    assert wallet.verdict_text() == "The charge matches", wallet.compared_lines()
    await fill(wallet, 1)
    wallet.press_compare()
    await wallet.tasks.idle()
    assert "1 of" in wallet.verdict_text()
    assert wallet.compared_lines()[0][-1] == "Only in Rialto’s receipts"


async def test_a_page_of_bookings_without_any_ends_the_reading(
    wallet: WalletHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing_and_more(self: X402Resource, address: str, **_: int) -> TransactionPage:
        return TransactionPage((), None, has_more=True, broken=100)

    account = await wallet.faucet_wallet()
    service = wallet.current_account.service
    assert service is not None
    monkeypatch.setattr(X402Resource, "transactions", nothing_and_more)
    assert await service_bookings(service, account, datetime.now(UTC)) == ()


async def test_limits_are_read_also_when_a_call_of_another_tab_has_told_the_balance(wallet: WalletHarness) -> None:
    wallet.current_account.set_numbers(balance=Decimal("99.5"))
    wallet.presenter.activate()
    await until(lambda: any(gauge.name == "Text tokens, tier L" for gauge in wallet.presenter.gauges()))


async def test_balances_gauges_and_the_warning_follow_the_service(wallet: WalletHarness) -> None:
    account = await wallet.faucet_wallet()
    await wallet.control(f"/wallets/{account.address}", "PUT", usd="0.80")
    wallet.presenter.set_limit(f"low {account.id}", "1")
    wallet.refresh_button.click()
    await wallet.tasks.idle()
    card = wallet.presenter.card(account.id)
    assert card is not None
    assert (card.usd, card.is_low) == (Decimal("0.80"), True)
    assert any("below the $1.00" in toast[0] and toast[1:] == (True,) for toast in wallet.toasts)
    names = [gauge.name for gauge in wallet.presenter.gauges()]
    for name in ("Text requests, tier S", "Text tokens, tier L", "Images", "Audio", "Embeddings", "Video queue"):
        assert name in names
    service = wallet.current_account.service
    assert service is not None
    await service.chat.complete(QUESTION)
    await wallet.tasks.idle()
    used = [gauge for gauge in wallet.presenter.gauges() if gauge.name.startswith("Text") and gauge.left < gauge.limit]
    assert used
    assert all(gauge.resets_at is not None for gauge in used)


async def test_the_page_of_the_key_names_its_limits(wallet: WalletHarness) -> None:
    wallet.show_page("key")
    await wallet.tasks.idle()
    assert "Can make requests: yes" in wallet.key_facts_text()
    assert wallet.key_limits_count() > 3


@pytest.mark.parametrize(("source", "sign", "words"), [("estimated", "~$", "about $"), ("possible", "≤$", "up to $")])
def test_a_call_is_read_whole_without_scrolling_across(
    source: str, sign: str, words: str, qtbot: QtBot, theme: Theme
) -> None:
    tiny, detail = Decimal("0.0000125"), "ethereum-mainnet, 20 credits"
    yesterday = datetime.now(UTC) - timedelta(days=1)
    row = BookRow(
        "r",
        yesterday,
        "transcription",
        detail,
        "Pocket wallet",
        "cut",
        tiny,
        source,
        tiny,
        Decimal(98),
        True,
        "8" * 9,
    )
    table = ReceiptTable(theme, lambda _place: row, name="Calls")
    qtbot.addWidget(table)
    table.rows.set_count(1)
    table.resize(980, 300)  # what a window of 1440 px leaves
    table.show()
    for column in range(table.rows.columnCount()):
        assert table.sizeHintForColumn(column) <= table.columnWidth(column), column
    assert str(table.rows.index(0, COST).data()).startswith(sign), "what is not certain says so in front of the amount"
    assert str(table.rows.index(0, COST).data(Qt.ItemDataRole.AccessibleTextRole)).startswith(words)
    assert not table.horizontalScrollBar().maximum()


async def test_receipts_from_before_the_sandboxs_start_are_told_apart_and_are_no_difference(
    wallet: WalletHarness,
) -> None:
    service = wallet.current_account.service
    assert service is not None
    await service.chat.complete(QUESTION)
    await fill(wallet, 4)  # one of now, three of the days before
    wallet.press_compare()
    await wallet.tasks.idle()
    verdict = wallet.verdict_text()
    assert verdict.startswith("1 of 2 charges differs. 3 receipts are older than the Sandbox’s records"), verdict
    assert [line[-1] for line in wallet.compared_lines()].count("Older than the service’s records") == 3
    await wallet.control("/reset", "POST")
    wallet.press_compare()
    await wallet.tasks.idle()
    assert wallet.verdict_text().startswith("5 receipts are older than the Sandbox’s records"), wallet.verdict_text()


async def test_calls_to_chains_agree_in_the_comparison_of_a_key(wallet: WalletHarness) -> None:
    """The service's book names no id that their answers told; nothing is told twice or as a difference."""
    service = wallet.current_account.service
    assert service is not None
    await service.chat.complete(QUESTION)
    for _ in range(2):  # two of the same amount
        await service.crypto_rpc.call("ethereum-mainnet", "eth_chainId")
    await service.crypto_rpc.call("base-mainnet", "eth_blockNumber")
    await wallet.tasks.idle()
    wallet.press_compare()
    await wallet.tasks.idle()
    assert wallet.verdict_text() == "All 4 charges match", wallet.compared_lines()
    assert sorted(line[-1] for line in wallet.compared_lines()) == ["Matches by amount"] * 4


async def test_r_ep_16_the_services_sums_stand_beside_rialtos_by_day_model_and_key(
    wallet: WalletHarness, tmp_path: Path
) -> None:
    service = wallet.current_account.service
    assert service is not None
    await service.chat.complete(QUESTION)
    made = await service.api_keys.make("INFERENCE", KeyTerms("Night work"))
    key = made.secret.get_secret_value()
    body = {"model": QUESTION.model, "messages": [{"role": "user", "content": "hello"}]}
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:
        assert (await http.post(f"{service.client.base_url}/chat/completions", json=body)).status_code == 200
    await wallet.tasks.idle()
    wallet.press_compare()
    await wallet.tasks.idle()
    for part, name in (("days", datetime.now(UTC).date().isoformat()), ("models", QUESTION.model)):
        wallet.compare_by(part)
        ((_, what, ours, theirs, verdict),) = wallet.compared_lines()
        assert (what, wallet.verdict_text()) == (name, "1 sum differs")
        assert ours != theirs
        assert verdict.endswith("more at the service"), "another program called with another key"
    wallet.compare_by("keys")
    assert {line[1] for line in wallet.compared_lines()} == {"Sandbox key", "Night work"}
    path = tmp_path / "charges.csv"
    wallet.receipts.export_bookings(path)
    await wallet.tasks.idle()
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert len(rows) >= 2
    assert {row["currency"] for row in rows} == {"USD"}
    assert any("charges.csv" in str(toast) for toast, *_ in wallet.toasts)


async def test_a_service_that_keeps_no_sums_for_this_key_says_so(wallet: WalletHarness) -> None:
    found = compare_sums([], UsageAnalytics())
    assert found == UsageSums()
    page = wallet.page.main.compare
    page.show_sums(UsageSums(problem="This needs an admin key."))
    wallet.compare_by("models")
    assert (page.verdict.text(), page.verdict.isVisibleTo(page)) == ("This needs an admin key.", True)


def test_a_booking_of_another_amount_is_a_difference_and_one_without_a_receipt_another() -> None:
    at = datetime(2026, 8, 22, 12, tzinfo=UTC)

    def receipt(model: str, cost: str, second: int, endpoint: str = "POST /audio/speech") -> Receipt:
        moment = at + timedelta(seconds=second)
        return receipt_of(
            id=f"{second}",
            at=moment,
            account_id="a",
            tab="speech",
            endpoint=endpoint,
            model=model,
            cost_usd=Decimal(cost),
        )

    def booking(what: str, spent: str, second: int, currency: str = "USD") -> Booking:
        return Booking(at + timedelta(seconds=second), what, "", Decimal(spent), currency)

    found = compare(
        [receipt("m", "0.10", 0), receipt("m", "0.10", 1), receipt("", "0.02", 2, "POST /image/upscale")],
        [
            booking("m-characters", "0.10", 1),
            booking("m-characters", "0.06", 2, "DIEM"),
            booking("m-characters", "0.04", 2),
            booking("other-2x", "0.02", 3),
            booking("m-characters", "0.30", 4),
        ],
    )
    assert [(each.verdict, each.theirs) for each in found] == [
        ("Only in the service’s records", Decimal("0.30")),
        ("Matches by amount", Decimal("0.02")),
        ("Matches by amount", Decimal("0.10")),
        ("Matches by amount", Decimal("0.10")),
    ]
    (only,) = compare([receipt("m", "0.10", 0)], [booking("m-characters", "0.12", 0)])
    assert (only.verdict, only.ours, only.theirs) == ("The amounts differ", Decimal("0.10"), Decimal("0.12"))
    alone = compare([receipt("", "0.02", 0, "POST /image/upscale")], [booking("other", "0.03", 0)])
    assert sorted(each.verdict for each in alone) == ["Only in Rialto’s receipts", "Only in the service’s records"]


def test_amounts_of_the_comparison_are_at_the_right_of_their_columns(qtbot: QtBot, theme: Theme) -> None:
    page = ComparePage(theme)
    qtbot.addWidget(page)
    page.show_differences((Difference(None, "Chat", Decimal("0.02"), Decimal("12.5"), "Agrees", False),), "")
    rows = page.table.rows
    for column, side in ((1, Qt.AlignmentFlag.AlignLeft), (2, Qt.AlignmentFlag.AlignRight)):
        for shown in (
            rows.index(0, column).data(Qt.ItemDataRole.TextAlignmentRole),
            rows.headerData(column, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole),
        ):
            assert shown & int(side)


async def test_the_margins_of_every_page_follow_the_size_of_the_text(wallet: WalletHarness, theme: Theme) -> None:
    boxes = wallet.page.main.findChildren(ScaledBox) + wallet.page.list.findChildren(ScaledBox)
    before = [box.contentsMargins().left() for box in boxes]
    theme.set_text_percent(200)
    after = [box.contentsMargins().left() for box in boxes]
    assert theme.px(24) > 24 and set(before) >= {16, 20, 24}
    assert after == [theme.px(margin) for margin in before]


async def test_r_auth_12_daily_credits_say_where_they_come_from(wallet: WalletHarness) -> None:
    await wallet.control("/balance", "PUT", diem="2")
    wallet.presenter.refresh()
    await wallet.tasks.idle()
    told: list[tuple[str, str]] = []
    wallet.page.handbook_requested.connect(lambda *place: told.append(place))
    cards = wallet.page.list_pane().findChildren(LinkButton)
    next(each for each in cards if each.text() == "From staking, 1 credit pays for $1").click()
    assert told == [("07-costs.md", "daily-credits")]
    text = (resources() / "handbook" / told[0][0]).read_text(encoding="utf-8")
    assert "## Daily credits" in text
