"""The line under everything: who we call as, where, what is left and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from string import Formatter

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QSizePolicy, QWidget

from app.core.current_account import CurrentAccount, RateLimitRemaining
from app.core.money import money, spent, whole_money
from app.core.number_format import count, short_count
from app.translation import tr
from app.ui.kit import icons
from app.ui.kit.key_text import set_tip
from app.ui.kit.plain_tooltip import tip_while_cut
from app.ui.kit.tab import LiveWork
from app.ui.kit.theme import Theme
from app.ui.kit.timers import start_in
from app.ui.kit.widgets.frames import dashed_frame, solid_frame
from app.ui.kit.widgets.key_hint import KeyHint
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.surfaces import rule

HEIGHT = 28
_NARROW = 1000  # effective width below which only account, what today cost and the balance stay

_REQUESTS = (tr("{left} of {limit} requests"), tr("requests: {left}"))
_REQUESTS_LEFT = (tr("{left} of {limit} requests left"), tr("requests left: {left}"))
_TOKENS_LEFT = (tr("{left} of {limit} tokens left"), tr("tokens left: {left}"))

Run = tuple[str, str, int]  # text, color role, weight


class AccountChip(QAbstractButton):
    """The account in use: solid with a dot, or violet and dashed with a cube in the Sandbox."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._sandbox = False
        self._state = "ok"
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        set_tip(self, tr("Switch account"), "Ctrl+Shift+A")
        theme.changed.connect(self.updateGeometry)

    def show_account(self, name: str, *, sandbox: bool, state: str = "ok") -> None:
        """`state` colors the dot: "ok", "warn" while calls are held, "locked" without its key,
        "away" while its service does not answer, "control" for none.
        """
        self._sandbox = sandbox
        self._state = state
        self.setText(name)
        spoken = {
            "warn": tr("Account: {name}, requests are paused", name=name),
            "locked": tr("Account: {name}, its key is locked", name=name),
            "away": tr("Account: {name}, not reachable", name=name),
        }
        self.setAccessibleName(spoken.get(state, tr("Account: {name}", name=name)))
        self.updateGeometry()
        self.update()

    def ring_radius(self) -> float:
        return self.height() / 2

    def _font_size(self) -> QFontMetricsF:
        return QFontMetricsF(self._theme.font("caption", 600))

    def sizeHint(self) -> QSize:
        theme = self._theme
        mark = theme.icon_px(13) if self._sandbox else theme.px(7)
        width = self._font_size().horizontalAdvance(self.text()) + mark + theme.px(5 + 16) + 2
        return QSize(min(round(width), theme.type_px(240)), theme.height_px(24, 16))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.type_px(72), self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        if self._sandbox:
            dashed_frame(painter, theme, box, box.height() / 2, "sandbox_tint", "sandbox")
        else:
            fill = "hover" if self.underMouse() else "surface"
            solid_frame(painter, theme, box, box.height() / 2, fill, "line2")
        left = theme.px(7)
        if self._sandbox:
            size = theme.icon_px(13)
            mark = QRectF(left, (self.height() - size) / 2, size, size)
            icons.paint(painter, theme, "cube", self._mirrored(mark), "sandbox")
        else:
            size = theme.px(7)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color({"locked": "warn", "away": "control"}.get(self._state, self._state)))
            painter.drawEllipse(self._mirrored(QRectF(left, (self.height() - size) / 2, size, size)))
        left += size + theme.px(5)
        room = self.width() - left - theme.px(9)
        painter.setFont(theme.font("caption", 600))
        painter.setPen(theme.color("sandbox" if self._sandbox else "text"))
        shown = self._font_size().elidedText(self.text(), Qt.TextElideMode.ElideRight, room + 1)
        words = self._mirrored(QRectF(left, 0, room + 1, self.height()))
        painter.drawText(words, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading), shown)

    def _mirrored(self, box: QRectF) -> QRectF:
        if self.isRightToLeft():
            box.moveLeft(self.width() - box.right())
        return box


class StatusItem(QAbstractButton):
    """A few words in several weights; pressing them opens the page they belong to."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._name = name
        self._runs: tuple[Run, ...] = ()
        self._spoken = self._dot = ""
        self.setAccessibleName(name)
        self.hide()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def set_runs(self, runs: Sequence[Run], spoken: str = "", dot: str = "") -> None:
        """Show runs of (text, color role, weight), behind a dot of the role `dot`; nothing to show hides the item."""
        if (tuple(runs), spoken, dot) == (self._runs, self._spoken, self._dot):
            return
        self._runs, self._spoken, self._dot = tuple(runs), spoken, dot
        text = "".join(run[0] for run in self._runs)
        self.setText(text)
        self.setAccessibleName(f"{self._name}: {spoken or text}" if text else self._name)
        self.setVisible(bool(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = sum(self._metrics(run[2]).horizontalAdvance(run[0]) for run in self._runs)
        return QSize(round(width + 0.5) + 2 * self._theme.px(8) + self._dot_room(), self._theme.height_px(24, 16))

    def _dot_room(self) -> int:
        return self._theme.px(7) + self._theme.px(6) if self._dot else 0

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _metrics(self, weight: int) -> QFontMetricsF:
        return QFontMetricsF(self._theme.font("small", weight, tabular=True))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.isDown():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("hover" if not self.isDown() else "line"))
            painter.drawRoundedRect(self.rect(), 4, 4)
        at = float(theme.px(8))
        if self._dot:
            side = theme.px(7)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color(self._dot))
            painter.drawEllipse(QRectF(at, (self.height() - side) / 2, side, side))
            at += self._dot_room()
        tip_while_cut(self, self.text(), self.width() < self.sizeHint().width())
        for text, role, weight in self._runs:
            painter.setFont(theme.font("small", weight, tabular=True))
            painter.setPen(theme.color(role))
            width = self._metrics(weight).horizontalAdvance(text)
            room = self.width() - theme.px(8) - at
            shown = self._metrics(weight).elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, room) + 1)
            box = QRectF(at, 0, width + 1, self.height())
            painter.drawText(box, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip), shown)
            at += width


class StatusBar(QFrame):
    """`page_requested` names what a press is about: "accounts", "limits", "spending", "balance", "work"."""

    page_requested = Signal(str)
    account_menu_requested = Signal()
    palette_requested = Signal()
    shortcuts_requested = Signal()

    def __init__(self, theme: Theme, current_account: CurrentAccount) -> None:
        super().__init__()
        self._theme = theme
        self._current_account = current_account
        self._headroom: RateLimitRemaining | None = None
        self._work: tuple[str, ...] = ()
        self._reset = QTimer(self)
        self._reset.setSingleShot(True)
        self._reset.timeout.connect(self.refresh)
        self.setProperty("part", "status")
        self.setAccessibleName(tr("Status"))
        self.chip = AccountChip(theme)
        self.chip.clicked.connect(self.account_menu_requested)
        self.host = self._item(tr("Service"), "accounts")
        self.work = self._item(tr("Running"), "work")
        self.limits = self._item(tr("Rate limits"), "limits")
        self.spent = self._item(tr("Spent today"), "spending")
        self.balance = self._item(tr("Balance"), "balance")
        self.hints = _KeyHints(theme)
        self.hints.commands.clicked.connect(self.palette_requested)
        self.hints.shortcuts.clicked.connect(self.shortcuts_requested)
        self._rules = (rule(vertical=True), rule(vertical=True), rule(vertical=True))
        layout = QHBoxLayout(self)
        at_start: tuple[QWidget, ...] = (self.chip, self.host, self._rules[2], self.work)
        at_end: tuple[QWidget, ...] = (
            self.limits,
            self._rules[0],
            self.spent,
            self._rules[1],
            self.balance,
            self.hints,
        )
        for widget in at_start:
            layout.addWidget(widget)
        layout.addStretch(1)
        for widget in at_end:
            layout.addWidget(widget)
        current_account.account_changed.connect(self.refresh)
        current_account.numbers_changed.connect(self.refresh)
        current_account.budget_changed.connect(self.refresh)
        current_account.lock_changed.connect(self.refresh)
        current_account.reach_changed.connect(self.refresh)
        theme.changed.connect(self._restyle)
        self._restyle()
        self.refresh()

    def _item(self, name: str, page: str) -> StatusItem:
        item = StatusItem(self._theme, name)
        item.clicked.connect(lambda: self.page_requested.emit(page))
        return item

    def set_headroom(self, headroom: RateLimitRemaining | None) -> None:
        """Show the limit of the tab in front until it resets; None shows nothing."""
        self._headroom = headroom
        self.refresh()

    def set_work(self, work: Sequence[str]) -> None:
        """Show what is running, in words."""
        if tuple(work) != self._work:
            self._work = tuple(work)
            self.refresh()

    def set_hints_visible(self, visible: bool) -> None:
        """The first page shows the two keys worth knowing instead of numbers that do not exist yet."""
        self.hints.setVisible(visible)
        self.refresh()

    def refresh(self) -> None:
        """Make every item agree with the caller."""
        current_account = self._current_account
        wide = self._is_wide()
        numbers = self.hints.isHidden()
        name = current_account.account.name if current_account.account is not None else tr("No account")
        holding = current_account.budget is not None and current_account.budget.holding
        state = (
            "control"
            if current_account.account is None
            else "locked"
            if current_account.is_locked
            else "warn"
            if holding
            else "away"
            if current_account.reach
            else "ok"
        )
        self.chip.show_account(name, sandbox=current_account.is_sandbox, state=state)
        self.host.set_runs(self._host_runs() if wide else ())
        self.work.set_runs(*self._work_runs(wide))
        self._rules[2].setVisible(not self.host.isHidden() and not self.work.isHidden())
        self.limits.set_runs(*self._limit_runs() if numbers and wide else ((), ""))
        self.spent.set_runs(self._spent_runs() if numbers and current_account.account is not None else ())
        self.balance.set_runs(self._balance_runs(wide) if numbers else ())
        shown = [not item.isHidden() for item in (self.limits, self.spent, self.balance)]
        self._rules[0].setVisible(shown[0] and (shown[1] or shown[2]))
        self._rules[1].setVisible(shown[1] and shown[2])

    def _host_runs(self) -> list[Run]:
        current_account = self._current_account
        if current_account.is_sandbox or current_account.account is None:
            return [(tr("Built-in service"), "text2", 400)] if current_account.account is not None else []
        named_so = current_account.account.name == current_account.host  # the chip beside it says it
        runs: list[Run] = [] if named_so else [(current_account.host, "text2", 400)]
        if current_account.latency_ms is not None and not current_account.reach:
            runs.append((f"{'  ' if runs else ''}{current_account.latency_ms} ms", "text3", 400))
        return runs

    def _work_runs(self, wide: bool) -> tuple[list[Run], str, str]:
        """What runs; a microphone that is open is told of in every width."""
        live = next((line for line in self._work if isinstance(line, LiveWork)), None)
        if live is None:
            return ([(_work_text(self._work), "text2", 400)] if self._work and wide else []), "", ""
        others = len(self._work) - 1
        first: Run = (live, "bad", 500)
        runs = _runs(tr("{work}  and {others} more running"), "text2", work=first, others=str(others))
        return runs if others and wide else [first], "", "bad"

    def _limit_runs(self) -> tuple[list[Run], str]:
        """What is left of the limit, until it resets; the timer wakes once, for that."""
        limit = self._headroom
        self._reset.stop()
        if limit is None or limit.requests_left is None:
            return [], ""
        if limit.resets_at is not None:
            left_s = (limit.resets_at - datetime.now(UTC)).total_seconds()
            if left_s <= 0:
                return [], ""
            start_in(self._reset, left_s + 0.001)
        spoken = "".join(text for text, _, _ in _limit_words(limit, count)).replace("  ", ", ")
        return _limit_words(limit, short_count), spoken

    def _spent_runs(self) -> list[Run]:
        current_account = self._current_account
        if current_account.is_sandbox and not current_account.spent_today:
            return []
        today: Run = (spent(current_account.spent_today, current_account.possible_today), "text", 500)
        if current_account.daily_limit is None:
            return _runs(tr("Today {spent}"), "text3", spent=today)
        near = current_account.spent_today >= current_account.daily_limit * 8 / 10
        limit: Run = (whole_money(current_account.daily_limit), "warn" if near else "text3", 400)
        return _runs(tr("Today {spent} of {limit}"), "text3", spent=today, limit=limit)

    def _balance_runs(self, wide: bool) -> list[Run]:
        current_account = self._current_account
        if current_account.balance is None:
            return []
        amount: Run = (money(current_account.balance), "text", 500)
        if current_account.is_sandbox:
            return _runs(tr("{amount} play money"), "text3", amount=amount)
        return _runs(tr("Balance {amount}"), "text3", amount=amount) if wide else [amount]

    def _is_wide(self) -> bool:
        return self.window().width() / self._theme.scale >= _NARROW

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh()

    def _restyle(self) -> None:
        theme = self._theme
        layout = self.layout()
        assert layout is not None
        layout.setContentsMargins(theme.px(12), 0, theme.px(8), 0)
        layout.setSpacing(theme.px(2))
        self.setFixedHeight(theme.height_px(HEIGHT, 16))
        for line in self._rules:
            line.setFixedHeight(theme.height_px(16, 16))
        self.refresh()


class _KeyHints(QWidget):
    """Two keys worth knowing on the first day."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        line = rule(vertical=True)
        line.setFixedHeight(theme.height_px(16, 16))
        self.commands = _HintButton(theme, tr("Commands"), "Ctrl+K")
        self.shortcuts = _HintButton(theme, tr("All shortcuts"), "Ctrl+/")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.px(2))
        layout.addWidget(self.commands)
        layout.addWidget(line)
        layout.addWidget(self.shortcuts)
        self.hide()


class _HintButton(QAbstractButton):
    """A quiet word and its key; pressing does what the key does."""

    def __init__(self, theme: Theme, text: str, shortcut: str) -> None:
        super().__init__()
        self._theme = theme
        self.setText(text)
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.px(8), 0, theme.px(8), 0)
        layout.setSpacing(theme.px(6))
        label = Label(theme, text, "small", "text3")
        label.setForegroundRole(QPalette.ColorRole.WindowText)  # inside a button it would be the button's own
        for widget in (label, KeyHint(theme, shortcut)):
            widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            layout.addWidget(widget)

    def sizeHint(self) -> QSize:
        layout = self.layout()
        assert layout is not None
        return layout.sizeHint().expandedTo(QSize(0, self._theme.height_px(24, 16)))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.underMouse():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("hover"))
            painter.drawRoundedRect(self.rect(), 4, 4)


def _runs(words: str, role: str, **values: Run | str) -> list[Run]:
    """A translated sentence with its fields still in braces as runs: its words in `role`, each value in its own."""
    runs: list[Run] = []
    for text, field, _, _ in Formatter().parse(words):
        value = values.get(field or "", "")
        runs += [(text, role, 400), value if isinstance(value, tuple) else (value, role, 400)]
    return [run for run in runs if run[0]]


def _of(left: int, limit: int | None, words: tuple[str, str], written: Callable[[int], str]) -> list[Run]:
    """ "68 of 75 requests"; what is left turns to a warning at a tenth. `words` are those with a limit and without."""
    low = limit is not None and limit > 0 and left * 10 <= limit
    number: Run = (written(left), "warn" if low else "text", 500)
    of = "" if limit is None else written(limit)
    return _runs(words[1] if limit is None else words[0], "text2", left=number, limit=of)


def _limit_words(limit: RateLimitRemaining, written: Callable[[int], str]) -> list[Run]:
    """ "Chat 68 of 75 requests  741K of 750K tokens left": `written` is how tokens are written."""
    runs: list[Run] = [(f"{limit.of} ", "text3", 400)]
    if limit.requests_left is None:
        return runs
    if limit.tokens_left is None:
        return runs + _of(limit.requests_left, limit.requests_limit, _REQUESTS_LEFT, count)
    requests = _of(limit.requests_left, limit.requests_limit, _REQUESTS, count)
    return [*runs, *requests, ("  ", "text3", 400), *_of(limit.tokens_left, limit.tokens_limit, _TOKENS_LEFT, written)]


def _work_text(work: Sequence[str]) -> str:
    return work[0] if len(work) == 1 else tr("{count} running", count=len(work))
