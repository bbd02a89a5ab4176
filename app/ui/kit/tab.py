"""What the window knows about a tab: a name on the rail, three zones, some actions and what it is busy with.

A feature writes one class that satisfies `TabPage`; the window draws the frame around it. Features never import the
window, so everything that crosses between the two is a plain value from this file. Named tuples, here and wherever the
first paint waits: making such a class takes a ninth of the time that a frozen dataclass takes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from PySide6.QtCore import SignalInstance
    from PySide6.QtWidgets import QWidget

    from app.core.current_account import RateLimitRemaining


def _always() -> bool:
    return True


class LiveWork(str):
    """A line of running work that must not be overlooked, such as a recording: red, with a dot before it."""

    __slots__ = ()


class TabAction(NamedTuple):
    """One thing a person can do: in the menus, in the palette, on a key, all from this one value.

    `id` is lasting, such as "chat.new": changed shortcuts are stored under it. `shortcut` is Qt's portable text
    ("Ctrl+Shift+B"); on macOS Qt reads Ctrl as Command. A tab's shortcut works while that tab is shown, so two tabs
    may both use Ctrl+N. `enabled` and `checked` are asked when a menu opens and when the key is pressed.
    """

    id: str
    text: str
    run: Callable[[], None]
    shortcut: str = ""
    icon: str = ""
    menu: str = "tab"  # "file", "edit", "view", "go", "help", or "tab" for the menu named after the tab
    hint: str = ""  # the quiet second part of its row in the palette
    enabled: Callable[[], bool] = _always
    checked: Callable[[], bool] | None = None
    in_palette: bool = True
    words: str = ""  # what else people call it: the palette finds it by these, too
    also: tuple[str, ...] = ()  # further keys that always work, such as Ctrl++ beside Ctrl+=
    over_layers: bool = False  # whether the key works while a layer covers the window, such as the palette or a dialog


class PaletteItem(NamedTuple):
    """Something the palette can open: a chat, a model, a character."""

    key: str  # lasting and unique, such as "chat:17"; remembered under recently used
    title: str
    hint: str
    icon: str
    kind: str  # "open", "model", "character", "setting"
    run: Callable[[], None]


class Zones(NamedTuple):
    """Where the side panes are now. An overlay slides over the canvas; a closed pane is not to be seen."""

    list_overlay: bool = False
    inspector_overlay: bool = False
    list_open: bool = True
    inspector_open: bool = True

    @property
    def list_beside(self) -> bool:
        return self.list_open and not self.list_overlay

    @property
    def inspector_beside(self) -> bool:
        return self.inspector_open and not self.inspector_overlay


class TabPage(Protocol):
    """One tab. Every method is called on the UI thread; widgets are made once and kept.

    `changed` says that the title, the badge, the running work or the headroom is to be read again.
    """

    name: str
    title: str
    icon: str

    @property
    def changed(self) -> SignalInstance: ...

    def list_pane(self) -> QWidget | None:
        """The left zone, or None where the tab has none. Starts with a `PaneHeader` so that the lines meet."""

    def canvas(self) -> QWidget:
        """The work itself; at least 420 wide at 100 %."""

    def inspector(self) -> QWidget | None:
        """The right zone, or None."""

    def main_input(self) -> QWidget | None:
        """Where Ctrl+L goes, and where the focus lands when the tab is first shown."""

    def filter_field(self) -> QWidget | None:
        """Where Ctrl+F goes when no text has focus."""

    def actions(self) -> Sequence[TabAction]:
        """Everything this tab can do; asked once, after the tab was built."""

    def palette_items(self, text: str, limit: int) -> Sequence[PaletteItem]:
        """What of this tab the palette can open, best first. Must answer from memory, within 10 ms."""

    def status_headroom(self) -> RateLimitRemaining | None:
        """The limit that matters here, for the status bar; None where no answer told of it."""

    def running_work(self) -> Sequence[str]:
        """One line for each thing that quitting would cut short, such as "An answer in “Release notes”"."""

    def badge(self) -> int:
        """How many jobs run here; 0 shows no badge."""

    def retry_refused(self) -> Callable[[], object] | None:
        """What asks once more for what is shown now and was refused for lack of credits; None where nothing was.

        It names that thing itself, so that it is right whatever is looked at when the credits have come.
        """

    def handle_escape(self) -> bool:
        """Stop or close the innermost thing; True when something was done."""

    def set_zones(self, zones: Zones) -> None:
        """The window says which panes are beside the canvas and which slide over it; called after every change.

        A tab shows its own "show list" button in the canvas header exactly while the list is not beside it.
        """

    def connect_zones(self, toggle_list: Callable[[], None], toggle_inspector: Callable[[], None]) -> None:
        """What the header's two pane buttons call. Called once, before `set_zones`."""

    def activated(self) -> None:
        """The tab has come to the front."""


# What makes a tab a piece at a time. It yields the page as soon as the panes are there, empty, so that they are filled
# in their places; and None wherever else it may be interrupted.
TabPieces: TypeAlias = Generator[TabPage | None, None, TabPage]
