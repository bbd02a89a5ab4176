"""The dialogs of the Console's longer work, and the line that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QGridLayout

from app.translation import tr
from app.ui.crypto_rpc.session.job_plans import log_plan, repeat_plan, sheet_plan, watch_plan
from app.ui.crypto_rpc.session.methods import SANDBOX_CONTRACT
from app.ui.crypto_rpc.session.networks import network_title
from app.ui.kit.widgets.fields import CheckBox

if TYPE_CHECKING:
    from app.core.tasks import TaskScope
    from app.ui.crypto_rpc.page import CryptoRpcPage
    from app.ui.crypto_rpc.tool_dialog import ToolDialog
    from app.ui.kit.theme import Theme

USUAL_BLOCKS, USUAL_REQUESTS = "2000", "100"
USUAL_PAUSE, USUAL_ROUNDS = "12", "20"
BOXES_IN_A_ROW = 2


class ToolController(QObject):
    """Nothing begins before its price was read and agreed to."""

    def __init__(self, page: CryptoRpcPage, theme: Theme, tasks: TaskScope) -> None:
        super().__init__(page)
        self._page = page
        self._theme = theme
        self._tasks = tasks
        jobs, bar = page.presenter.jobs, page.main.job
        jobs.changed.connect(bar.show_job)
        jobs.changed.connect(lambda _view: page.changed.emit())
        bar.stop_requested.connect(jobs.stop)
        bar.close_requested.connect(jobs.close)
        page.main.left_screen.connect(jobs.hidden)

    def search_logs(self) -> None:
        self._tasks.start_unless_running("rpc tool", self._search_logs)

    def read_balances(self) -> None:
        self._tasks.start_unless_running("rpc tool", self._read_balances)

    def watch_heads(self) -> None:
        self._tasks.start_unless_running("rpc tool", self._watch_heads)

    def repeat(self) -> None:
        self._tasks.start_unless_running("rpc tool", self._repeat)

    def _dialog(self, title: str, words: str, action: str) -> ToolDialog:
        from app.ui.crypto_rpc.tool_dialog import ToolDialog

        return ToolDialog(self._theme, self._page.main, title, words, action)

    async def _agree(self, dialog: ToolDialog) -> None:
        if not await dialog.answer() or dialog.plan is None:
            return
        if not self._page.presenter.tools.start(dialog.plan):
            self._page.toast_requested.emit(tr("Another job is still running. Nothing was sent."))

    async def _search_logs(self) -> None:
        network, asked = self._page.presenter.draft.network, self._filter()
        dialog = self._dialog(
            tr("Search logs over many blocks"),
            tr(
                "On {network_title}. Ranges too wide for the node are split automatically. Results are merged into "
                "one table and one file. Address and topics come from the selected eth_getLogs call.",
                network_title=network_title(network),
            ),
            tr("Search"),
        )
        usual = SANDBOX_CONTRACT if self._page.presenter.in_sandbox and not asked else ""
        named = _text(asked.get("address")) or usual
        address = dialog.line(tr("Contract address"), named, tr("0x…, or empty for all"))
        first = dialog.line(tr("First block"), _block(asked.get("fromBlock")), "0")
        last = dialog.line(tr("Last block"), _block(asked.get("toBlock")) or "latest", "latest")
        step = dialog.line(tr("Blocks per request"), USUAL_BLOCKS)
        most = dialog.line(tr("Maximum requests"), USUAL_REQUESTS)

        def wanted() -> dict[str, object]:
            others = {name: value for name, value in asked.items() if name != "address"}
            typed = address.text().strip()
            return {**others, "address": asked.get("address") if typed == _text(asked.get("address")) else typed}

        def held() -> dict[str, object]:
            return {name: value for name, value in wanted().items() if value not in (None, "")}

        dialog.begin(lambda: log_plan(network, held(), first.text(), last.text(), step.text(), most.text()))
        first.setFocus()
        await self._agree(dialog)

    def _filter(self) -> Mapping[str, object]:
        row = self._page.presenter.draft.current
        if row is None or row.method != "eth_getLogs" or not isinstance(row.params, Sequence) or not row.params:
            return {}
        first = row.params[0]
        return first if isinstance(first, Mapping) else {}

    async def _read_balances(self) -> None:
        network = self._page.presenter.draft.network
        dialog = self._dialog(
            tr("Balances of many addresses"),
            tr(
                "On {network_title}, as batches of up to 100 calls. One address per line, or all in one line.",
                network_title=network_title(network),
            ),
            tr("Read balances"),
        )
        addresses = dialog.lines(tr("Addresses"))
        tokens = dialog.lines(tr("Token contracts (leave empty for the native coin only)"))
        dialog.begin(lambda: sheet_plan(network, addresses.toPlainText(), tokens.toPlainText()))
        addresses.setFocus()
        await self._agree(dialog)

    async def _watch_heads(self) -> None:
        presenter = self._page.presenter
        rows = presenter.networks()
        offered = [row.slug for row in rows if row.is_favorite or row.is_current]
        offered += [row.slug for row in rows if row.slug not in offered and row.slug.endswith("-mainnet")]
        dialog = self._dialog(
            tr("Watch chain heads"),
            tr("Polls the latest block of each network while the Console is open."),
            tr("Watch"),
        )
        boxes: dict[str, CheckBox] = {}
        grid = QGridLayout()
        dialog.body.addLayout(grid)
        for slug in offered:
            box = CheckBox(network_title(slug))
            box.setAccessibleName(network_title(slug))
            box.setChecked(slug == presenter.draft.network)
            box.toggled.connect(dialog.edited)
            grid.addWidget(box, *divmod(len(boxes), BOXES_IN_A_ROW))
            boxes[slug] = box
        pause = dialog.line(tr("Interval in seconds"), USUAL_PAUSE)
        rounds = dialog.line(tr("Rounds"), USUAL_ROUNDS)
        dialog.begin(
            lambda: watch_plan([slug for slug, box in boxes.items() if box.isChecked()], pause.text(), rounds.text())
        )
        first = next(iter(boxes.values()), None)  # none while the list of networks is still loading
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)
        await self._agree(dialog)

    async def _repeat(self) -> None:
        draft = self._page.presenter.draft
        dialog = self._dialog(
            tr("Repeat request"),
            tr(
                "Uses a new key each time, so every request reaches the node and is charged. Stops when you leave "
                "the Console."
            ),
            tr("Repeat"),
        )
        pause = dialog.line(tr("Interval in seconds"), USUAL_PAUSE)
        times = dialog.line(tr("Number of times"), USUAL_ROUNDS)
        rows, batch, network = draft.filled(), draft.batch, draft.network
        dialog.begin(lambda: repeat_plan(network, rows, batch, pause.text(), times.text()))
        pause.setFocus()
        await self._agree(dialog)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _block(value: object) -> str:
    """A block of a filter as a person reads it; a tag stays away."""
    if isinstance(value, str) and value.startswith("0x"):
        try:
            return str(int(value, 16))
        except ValueError:
            return ""
    return ""
