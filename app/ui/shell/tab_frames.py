"""The frames of the tabs: each built when it is first wanted, or before that, a piece at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget

from app.core.tabs import TabInfo
from app.storage.settings import SettingsStore
from app.ui.kit.build_steps import BuildSteps
from app.ui.kit.discard import discard
from app.ui.kit.tab import TabPage, TabPieces
from app.ui.kit.theme import Theme
from app.ui.kit.widgets.announce import nothing_said
from app.ui.shell.zones import PaneChoice, ZoneFrame

Maker = Callable[[], TabPage | TabPieces]


class TabFrames(QObject):
    """`built` comes once for every tab, `wanted` once when it is looked at or asked for by another part."""

    built = Signal(str)
    wanted = Signal(str)

    def __init__(
        self, theme: Theme, settings: SettingsStore, pages: QStackedWidget, width: Callable[[], float]
    ) -> None:
        """`pages` is where the frames go; `width` tells the effective width of the window."""
        super().__init__(pages)
        self._theme = theme
        self._settings = settings
        self._pages = pages
        self._width = width
        self._infos: dict[str, TabInfo] = {}
        self._makers: dict[str, Maker] = {}
        self._begun: dict[str, BuildSteps[ZoneFrame]] = {}
        self._wanted: set[str] = set()
        self.by_name: dict[str, ZoneFrame] = {}

    def add(self, info: TabInfo, make: Maker) -> None:
        self._infos[info.name] = info
        self._makers[info.name] = make

    @property
    def infos(self) -> list[TabInfo]:
        """Every tab by rail order, top to bottom."""
        return sorted(self._infos.values(), key=lambda info: info.at_bottom)

    def info(self, name: str) -> TabInfo:
        """What the rail knows of a tab. Raises KeyError for one that was never added, as every method here does."""
        return self._infos[name]

    def has(self, name: str) -> bool:
        return name in self._infos

    def is_wanted(self, name: str) -> bool:
        """False while a tab is only built ahead: it may not ask the service for anything yet."""
        return name in self._wanted

    def frame(self, name: str) -> ZoneFrame:
        """The frame of a tab that somebody wants now; what is not built yet is built at once."""
        if name not in self._wanted:
            self._wanted.add(name)
            try:
                while self.build_some(name):
                    pass
            except BaseException:
                self._wanted.discard(name)
                raise
            self.wanted.emit(name)
        return self.by_name[name]

    def build_some(self, name: str) -> bool:
        """Build the next piece of a tab; False when it is all there."""
        if name in self.by_name:
            return False
        begun = self._begun.pop(name, None) or self._build(self._infos[name], self._makers[name])
        try:
            with nothing_said():
                next(begun)
        except StopIteration as ended:
            self.by_name[name] = ended.value
            self.built.emit(name)
            return False
        self._begun[name] = begun
        return True

    def _build(self, info: TabInfo, make: Maker) -> BuildSteps[ZoneFrame]:
        made = make()
        frame: ZoneFrame | None = None
        try:
            for page in made if isinstance(made, Generator) else (made,):
                if page is not None:
                    frame = self._frame_for(info, page)
                    yield
                    yield from frame.fill()
                yield
        except Exception:
            if frame is not None:
                discard(frame)  # the next try makes another
            raise
        assert frame is not None, f"the maker of {info.name} never yielded its page"
        frame.begin()
        self._pages.addWidget(frame)
        return frame

    def _frame_for(self, info: TabInfo, tab: TabPage) -> ZoneFrame:
        choice = PaneChoice.read(self._settings.value.panes.get(info.name, {}))
        return ZoneFrame(self._theme, info, tab, choice, self._width(), self._pages)
