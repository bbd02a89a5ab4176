"""Settings as a tab: sections at the left, one of them in the middle, this computer at the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app.core.current_account import RateLimitRemaining
from app.core.secret_storage import Secrets
from app.core.tabs import TABS
from app.core.tasks import TaskScope
from app.core.undo import UndoStack
from app.translation import tr
from app.ui.kit.build_steps import BuildSteps, at_once
from app.ui.kit.lists.filter_keys import FilterKeys
from app.ui.kit.shortcut_map import ShortcutMap
from app.ui.kit.tab import PaletteItem, TabAction, Zones
from app.ui.kit.tab_order import as_seen, leave_pane, tab_stops
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.buttons import IconButton
from app.ui.kit.widgets.header import PaneHeader
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.nav_list import NavList, Place
from app.ui.kit.widgets.scroll_pane import ScrollPane
from app.ui.kit.widgets.search_field import SearchField, results_words
from app.ui.settings.accounts.presenter import AccountsPresenter
from app.ui.settings.presenter import SettingsPresenter
from app.ui.settings.rows import SectionPage
from app.ui.settings.sandbox.state import SandboxState
from app.ui.settings.sections import SECTIONS, sections_for
from app.ui.settings.state import Choices

if TYPE_CHECKING:
    from app.ui.settings.about.presenter import AboutPresenter
    from app.ui.settings.connection.presenter import ConnectionPresenter

INFO = TABS["settings"]


class _Pane(QWidget):
    """A pane in which Tab goes by `step`, and by Qt's own order where that returns False."""

    def __init__(self, step: Callable[[bool], bool], content: QWidget | None = None) -> None:
        super().__init__()
        self._step = step
        if content is not None:
            column = QVBoxLayout(self)
            column.setContentsMargins(0, 0, 0, 0)
            column.addWidget(content)

    def focusNextPrevChild(self, following: bool) -> bool:
        return self._step(following) or super().focusNextPrevChild(following)


class SettingsPage(QObject):
    """A `TabPage`. Each section is built when it is first opened. `removal_requested`: of everything Rialto keeps."""

    changed = Signal()
    removal_requested = Signal()
    export_requested = Signal(str)  # account id: the private key of a wallet, as an encrypted file
    wallet_requested = Signal()
    name, title, icon = INFO.name, INFO.title, INFO.icon

    def __init__(
        self,
        theme: Theme,
        presenter: SettingsPresenter,
        accounts: AccountsPresenter,
        secrets: Secrets,
        keys: ShortcutMap,
        tasks: TaskScope,
        *,
        version: str,
        undo_stack: UndoStack,
        open_help: Callable[[str], None],
        connection: Callable[[], ConnectionPresenter],
        about: Callable[[], AboutPresenter],
    ) -> None:
        super().__init__()
        self._theme = theme
        self._presenter = presenter
        self._accounts = accounts
        self._secrets = secrets
        self._keys = keys
        self._tasks = tasks
        self._version = version
        self._undo_stack = undo_stack
        self._open_help = open_help
        self._connection = connection
        self._about = about
        self._pages: dict[str, tuple[SectionPage, QScrollArea]] = {}
        self._active = 0
        self._list = self._make_list()
        self._canvas = self._make_canvas()
        self._inspector: QWidget | None = None
        self._system_font = presenter.state.choices.system_font
        presenter.look_changed.connect(self._apply_look)
        theme.changed.connect(self._apply_header_theme)
        self._apply_header_theme()

    # Zones

    def _make_list(self) -> QWidget:
        theme = self._theme
        pane = _Pane(self._step)
        layout = QVBoxLayout(pane)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(PaneHeader(theme, tr("Settings")))
        self.filter = SearchField(
            theme,
            tr("Search settings"),
            results=lambda: self._nothing.text() or results_words(self.places.model().rowCount()),
            shortcut="Ctrl+F",
        )
        self.filter.setProperty("sizing", "small")
        self.filter.search_changed.connect(self._filter)
        self._filter_row = QHBoxLayout()
        self._filter_row.addWidget(self.filter)
        layout.addLayout(self._filter_row)
        self._nothing = Label(theme, "", "small", "text2", wrap=True)
        self._nothing.hide()
        self._nothing.setContentsMargins(theme.px(16), theme.px(8), theme.px(16), 0)
        layout.addWidget(self._nothing)
        self.places = NavList(theme, tr("Settings sections"))
        self.places.set_places([Place(section.key, section.title, section.icon) for section in SECTIONS])
        self.places.chosen.connect(self.show_section)
        self.filter.left.connect(lambda: self.places.setFocus(Qt.FocusReason.OtherFocusReason))
        FilterKeys(self.places, self.filter, take=lambda _event: self._go_to_places(), is_quiet=True)
        layout.addWidget(self.places, 1)
        theme.changed.connect(self._apply_theme)
        self._apply_theme()
        return pane

    def _make_canvas(self) -> QWidget:
        theme = self._theme
        pane = _Pane(self._step)
        layout = QVBoxLayout(pane)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._header = PaneHeader(theme, "")
        self.list_button = IconButton(theme, "panel-left", tr("Sections"), shortcut="Ctrl+B")
        self.list_button.hide()
        self._header.add_before_title(self.list_button)
        self._extras = QStackedWidget()
        self._extras.setSizePolicy(self._extras.sizePolicy().Policy.Maximum, self._extras.sizePolicy().Policy.Maximum)
        self._header.add(self._extras)
        self.inspector_button = IconButton(theme, "panel-right", tr("This computer"), shortcut="Ctrl+I")
        self._header.add(self.inspector_button)
        self._stack = QStackedWidget()
        layout.addWidget(self._header)
        layout.addWidget(self._stack, 1)
        return pane

    def list_pane(self) -> QWidget:
        return self._list

    def canvas(self) -> QWidget:
        return self._canvas

    def inspector(self) -> QWidget:
        if self._inspector is None:
            from app.ui.settings.this_computer import ThisComputer

            self._inspector = _Pane(self._step, ThisComputer(self._theme, self._presenter, self._secrets))
        return self._inspector

    def main_input(self) -> QWidget:
        return self.places

    def filter_field(self) -> QWidget:
        return self.filter

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        self.list_button.clicked.connect(toggle_list)
        self.inspector_button.clicked.connect(toggle_inspector)

    def set_zones(self, zones: Zones) -> None:
        self.list_button.setVisible(not zones.list_beside)

    # What the window asks

    def actions(self) -> Sequence[TabAction]:
        return (
            TabAction(
                "settings.add_account", tr("Add account"), self._add_account, "Ctrl+N", "plus", hint=tr("Settings")
            ),
        )

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        return ()  # the window lists the sections itself, before this tab is built

    def status_headroom(self) -> RateLimitRemaining | None:
        return None

    def running_work(self) -> Sequence[str]:
        return ()

    def badge(self) -> int:
        """How many test controls of the Sandbox are on: a reminder that is seen from every tab."""
        return self._active

    def retry_refused(self) -> Callable[[], object] | None:
        return None

    def handle_escape(self) -> bool:
        return False

    def activated(self) -> None:
        if not self.places.current:
            self.show_section(SECTIONS[0].key)
        else:
            self.page(self.places.current).shown()
        self._presenter.measure_data()
        self._secrets.refresh()

    def _step(self, following: bool) -> bool:
        """Go from the list through the page as it is seen to the inspector, whichever of them was made last."""
        inspector = tab_stops(self._inspector) if self._inspector is not None else []
        stops = [*tab_stops(self._list), *as_seen(self._header), *as_seen(self._stack), *inspector]
        focused = self._list.window().focusWidget()
        at = stops.index(focused) if focused in stops else -1
        if at < 0 or (at == 0 and not following):
            return False
        if following and at == len(stops) - 1:
            return leave_pane(self._canvas)
        stops[at + (1 if following else -1)].setFocus(
            Qt.FocusReason.TabFocusReason if following else Qt.FocusReason.BacktabFocusReason
        )
        return True

    # Sections

    def show_section(self, key: str) -> None:
        """Open one section. Raises KeyError for a key that is none."""
        page = self.page(key)
        section = next(section for section in SECTIONS if section.key == key)
        self.places.set_current(key)
        self._header.set_title(section.title)
        self._stack.setCurrentWidget(self._pages[key][1])
        self._show_extras(page)
        page.shown()

    def page(self, key: str) -> SectionPage:
        """The page of a section, built now if need be."""
        at_once(self.make_page(key))
        return self._pages[key][0]

    def make_page(self, key: str) -> BuildSteps[None]:
        """Build the page of a section, unless it is there, a piece at each step."""
        if key not in self._pages:
            page = self._build(key)
            scroll = ScrollPane()
            scroll.setWidget(page)
            for ground in (page, scroll.viewport()):
                ground.setAutoFillBackground(False)
            self._stack.addWidget(scroll)
            self._pages[key] = (page, scroll)
            yield
            yield from page.build()

    def _build(self, key: str) -> SectionPage:
        theme, presenter = self._theme, self._presenter
        match key:
            case "accounts":
                from app.ui.settings.accounts.page import AccountsPage

                def how() -> None:
                    self._open_help("secrets")

                accounts = AccountsPage(
                    theme, self._accounts, self._secrets, self._tasks, self._undo_stack, how, whole=False
                )
                accounts.proxy_requested.connect(self._change_proxy_password)
                accounts.export_requested.connect(self.export_requested)
                accounts.wallet_requested.connect(self.wallet_requested)
                return accounts
            case "connection":
                from app.ui.settings.connection.page import ConnectionPage

                return ConnectionPage(theme, self._connection(), self._secrets)
            case "privacy":
                from app.ui.settings.privacy import PrivacyPage

                return PrivacyPage(theme, presenter)
            case "appearance":
                from app.ui.settings.appearance import AppearancePage

                return AppearancePage(theme, presenter)
            case "keyboard":
                from app.ui.settings.keyboard import KeyboardPage

                return KeyboardPage(theme, presenter, self._keys)
            case "models":
                from app.ui.settings.models import ModelsPage

                return ModelsPage(theme, presenter)
            case "spending":
                from app.ui.settings.spending import SpendingPage

                return SpendingPage(theme, presenter)
            case "files":
                from app.ui.settings.files import FilesPage

                files = FilesPage(theme, presenter)
                files.removal_requested.connect(self.removal_requested)
                return files
            case "notifications":
                from app.ui.settings.notifications import NotificationsPage

                return NotificationsPage(theme, presenter)
            case "sandbox":
                from app.ui.settings.sandbox.page import SandboxPage

                presenter.sandbox.state_changed.connect(self._record_sandbox)
                return SandboxPage(theme, presenter.sandbox)
            case "about":
                from app.ui.settings.about.page import AboutPage

                return AboutPage(theme, self._about(), self._tasks, self._version)
        raise KeyError(key)

    def _record_sandbox(self, state: SandboxState) -> None:
        if len(state.active) != self._active:
            self._active = len(state.active)
            self.changed.emit()

    def _show_extras(self, page: SectionPage) -> None:
        """Put what the section wants into the header; its widgets are made once and moved in and out."""
        holder = page.property("headerHolder")
        if not isinstance(holder, QWidget):
            holder = QWidget()
            row = QHBoxLayout(holder)
            row.setContentsMargins(0, 0, 0, 0)
            for widget in page.header_widgets():
                row.addWidget(widget)
            page.setProperty("headerHolder", holder)
            self._extras.addWidget(holder)
        self._extras.setCurrentWidget(holder)
        self._extras.setVisible(bool(page.header_widgets()))

    def _add_account(self) -> None:
        from app.ui.settings.accounts.page import AccountsPage

        self.show_section("accounts")
        page = self.page("accounts")
        if isinstance(page, AccountsPage):
            page.open_form()

    def _change_proxy_password(self, what: str) -> None:
        from app.ui.settings.connection.page import ConnectionPage

        if what == "remove-key":
            self._connection().forget_password()
            return
        self.show_section("connection")
        page = self.page("connection")
        if isinstance(page, ConnectionPage):
            page.focus_password()

    def _filter(self, text: str) -> None:
        found = sections_for(text)
        self.places.set_places([Place(section.key, section.title, section.icon) for section in found])
        self._nothing.set_text(tr("No results for “{text}”.", text=text.strip()) if not found else "")
        self._nothing.setVisible(not found)
        if text.strip() and found and self.places.current not in {section.key for section in found}:
            self.show_section(found[0].key)

    def _go_to_places(self) -> None:
        if self.places.current:
            self.places.setFocus(Qt.FocusReason.TabFocusReason)  # with the ring that a key brings

    def _apply_theme(self) -> None:
        side = self._theme.px(12)
        self._filter_row.setContentsMargins(side, self._theme.px(10), side, self._theme.px(6))

    def _apply_header_theme(self) -> None:
        """The title stands over the cards, which have more air around them than a list."""
        layout = self._header.layout()
        if layout is not None:
            layout.setContentsMargins(self._theme.px(24), 0, self._theme.px(16), 0)

    def _apply_look(self, choices: Choices) -> None:
        """Take what was chosen; the window's own keys have applied theirs already."""
        theme = self._theme
        now = (theme.mode, theme.text_percent, theme.wants_contrast)
        if now != (choices.theme, choices.text_percent, choices.high_contrast) or self._font_changed(choices):
            theme.configure(
                mode=choices.theme,
                text_percent=choices.text_percent,
                system_font=choices.system_font,
                reduced_motion=choices.reduced_motion,
                high_contrast=choices.high_contrast,
            )
        else:
            theme.set_reduced_motion(choices.reduced_motion)

    def _font_changed(self, choices: Choices) -> bool:
        before, self._system_font = self._system_font, choices.system_font
        return before != choices.system_font
