"""Every action of the window by name: one list behind the menus, the palette, the keys and Settings.

QAction and QKeySequence only; nothing here knows a widget but the window that the shortcuts belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import QKeyCombination, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.translation import tr
from app.ui.kit.discard import discard
from app.ui.kit.key_text import native_text
from app.ui.kit.shortcut_map import ShortcutRefused, ShortcutRow
from app.ui.kit.tab import TabAction

WINDOW = "window"  # the scope of actions that work in every tab

# Keys that systems take for themselves, or that type a character on some layouts (Ctrl+Alt is AltGr).
_SYSTEM_KEYS = frozenset({"Ctrl+Space", "Ctrl+H", "Ctrl+M", "Ctrl+Shift+Q", "Ctrl+Shift+U"})


class Entry:
    """One action, where it works, and the key it has now."""

    def __init__(self, action: TabAction, scope: str, scope_title: str, shortcut: str, q_action: QAction) -> None:
        self.action = action
        self.scope = scope  # WINDOW or a tab's name
        self.scope_title = scope_title
        self.shortcut = shortcut
        self.q_action = q_action

    @property
    def id(self) -> str:
        return self.action.id

    @property
    def is_changed(self) -> bool:
        return self.shortcut != self.action.shortcut


class ActionRegistry(QObject):
    """All actions, in the order they were added. `changed` follows every added action and every changed key."""

    changed = Signal()
    begins = Signal(str)  # the action's id, before it runs

    def __init__(
        self,
        window: QWidget,
        *,
        overrides: Mapping[str, str] | None = None,
        save: Callable[[dict[str, str]], None] | None = None,
        go_to_scope: Callable[[str], None] | None = None,
    ) -> None:
        """`overrides` maps action ids to keys ("" takes a key away); `save` gets the whole map after each change."""
        super().__init__(window)
        self._window = window
        self._overrides = dict(overrides or {})
        self._save = save
        self._go_to_scope = go_to_scope
        self._entries: dict[str, Entry] = {}
        self._scope = ""
        self._is_covered = False

    def add(self, actions: Iterable[TabAction], *, scope: str = WINDOW, scope_title: str = "Rialto") -> None:
        """Add actions; an id that exists already is replaced, so a rebuilt tab may add its own again."""
        for action in actions:
            old = self._entries.pop(action.id, None)
            if old is not None:
                self._window.removeAction(old.q_action)
                discard(old.q_action)
            shortcut = self._overrides.get(action.id, action.shortcut)
            entry = Entry(action, scope, scope_title, shortcut, self._q_action(action, shortcut))
            entry.q_action.setEnabled(self._works_now(entry))
            self._entries[action.id] = entry
        self.changed.emit()

    def _q_action(self, action: TabAction, shortcut: str) -> QAction:
        q_action = QAction(action.text, self._window)
        _set_keys(q_action, action, shortcut)
        q_action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        q_action.setMenuRole(_menu_role(action.id))
        q_action.setCheckable(action.checked is not None)
        q_action.triggered.connect(lambda _checked=False, name=action.id: self.run(name))
        self._window.addAction(q_action)
        return q_action

    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries.values())

    def entry(self, action_id: str) -> Entry:
        """Raises KeyError for an id that no tab has added."""
        return self._entries[action_id]

    def __contains__(self, action_id: str) -> bool:
        return action_id in self._entries

    def set_scope(self, scope: str) -> None:
        """The tab that is shown now: its keys work, those of the other tabs rest."""
        self._scope = scope
        self._enable()

    def set_covered(self, on: bool) -> None:
        """While a layer covers the window, only the keys that act on what is over it work."""
        self._is_covered = on
        self._enable()

    def _enable(self) -> None:
        for entry in self._entries.values():
            entry.q_action.setEnabled(self._works_now(entry))

    def _works_now(self, entry: Entry) -> bool:
        return entry.scope in (WINDOW, self._scope) and (entry.action.over_layers or not self._is_covered)

    def run(self, action_id: str) -> bool:
        """Run an action as if its key was pressed, going to its tab first. False when it cannot run now."""
        entry = self._entries[action_id]
        if entry.scope not in (WINDOW, self._scope) and self._go_to_scope is not None:
            self._go_to_scope(entry.scope)
        if not entry.action.enabled():
            return False
        self.begins.emit(action_id)
        entry.action.run()
        self.refresh(action_id)
        return True

    def refresh(self, action_id: str | None = None) -> None:
        """Make checks and greying agree with the truth; called when a menu opens."""
        for entry in [self._entries[action_id]] if action_id in self._entries else self._entries.values():
            if entry.action.checked is not None:
                entry.q_action.setChecked(entry.action.checked())

    def can_run(self, entry: Entry) -> bool:
        return entry.action.enabled()

    # Keys: this part is `app.ui.kit.shortcut_map.ShortcutMap`

    def rows(self) -> tuple[ShortcutRow, ...]:
        return tuple(
            ShortcutRow(entry.id, entry.action.text, entry.scope_title, entry.shortcut, entry.action.shortcut)
            for entry in self._entries.values()
        )

    def conflict(self, action_id: str, shortcut: str) -> Entry | None:
        """The other action that has this key where `action_id` works, or None."""
        mine = self._entries[action_id]
        wanted = QKeySequence(shortcut)
        if wanted.isEmpty():
            return None
        for other in self._entries.values():
            overlaps = WINDOW in (mine.scope, other.scope) or mine.scope == other.scope
            taken = any(QKeySequence(key) == wanted for key in (other.shortcut, *other.action.also))
            if other.id != action_id and overlaps and taken:
                return other
        return None

    def set_shortcut(self, action_id: str, shortcut: str) -> None:
        """Give an action a key, or none with "". Raises `ShortcutRefused` with the sentence to show."""
        text = QKeySequence(shortcut).toString(QKeySequence.SequenceFormat.PortableText)
        if shortcut:
            _check_usable(text)
        other = self.conflict(action_id, text)
        if other is not None:
            shown = native_text(text)
            raise ShortcutRefused(
                tr(
                    "{shown} is already used for “{text}”. Change that shortcut first.",
                    shown=shown,
                    text=other.action.text,
                )
            )
        entry = self._entries[action_id]
        entry.shortcut = text
        _set_keys(entry.q_action, entry.action, text)
        if text == entry.action.shortcut:
            self._overrides.pop(action_id, None)
        else:
            self._overrides[action_id] = text
        self._saved()

    def reset_shortcut(self, action_id: str) -> None:
        """Back to the key it came with. Raises `ShortcutRefused` when another action took that key meanwhile."""
        self.set_shortcut(action_id, self._entries[action_id].action.shortcut)

    def reset_all(self) -> None:
        """Every action back to its own key."""
        self._overrides.clear()
        for entry in self._entries.values():
            entry.shortcut = entry.action.shortcut
            _set_keys(entry.q_action, entry.action, entry.shortcut)
        self._saved()

    def _saved(self) -> None:
        if self._save is not None:
            self._save(dict(self._overrides))
        self.changed.emit()


def _set_keys(q_action: QAction, action: TabAction, shortcut: str) -> None:
    """The keypad's Enter does what the large one does."""
    written = [key for key in (shortcut, *action.also) if key]
    keypad = [key.replace("Return", "Enter") for key in written if "Return" in key]
    q_action.setShortcuts([QKeySequence(key) for key in (*written, *keypad)])


def _check_usable(text: str) -> None:
    """Refuse what a system takes or what would swallow typing. `text` is portable text."""
    combination = QKeySequence(text)
    if combination.count() != 1:
        raise ShortcutRefused(tr("Press a key together with Ctrl, Alt or Shift."))
    keys: QKeyCombination = combination[0]  # type: ignore[index]  # the stubs leave out __getitem__
    held = keys.keyboardModifiers()
    control, alt = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
    shown = native_text(text)
    if held & control and held & alt:
        raise ShortcutRefused(tr("{shown} types a character on some keyboards.", shown=shown))
    if text in _SYSTEM_KEYS or (held & control and text.startswith("Ctrl+Shift+") and text[-1:].isdigit()):
        raise ShortcutRefused(tr("{shown} is reserved by the system on some computers.", shown=shown))
    typed = 0x20 <= keys.key() < Qt.Key.Key_Escape
    if typed and not held & (control | alt):
        raise ShortcutRefused(tr("{shown} is needed for typing. Add Ctrl or Alt.", shown=shown))


def _menu_role(action_id: str) -> QAction.MenuRole:
    """macOS moves three well-known entries into its application menu."""
    roles = {
        "window.settings": QAction.MenuRole.PreferencesRole,
        "window.quit": QAction.MenuRole.QuitRole,
        "window.about": QAction.MenuRole.AboutRole,
    }
    return roles.get(action_id, QAction.MenuRole.NoRole)


def key_parts(shortcut: str) -> tuple[str, ...]:
    """ "Ctrl+Shift+R" → ("Ctrl", "Shift", "R"), in this system's own words; "Ctrl++" keeps its plus."""
    shown = native_text(shortcut)
    if not shown:
        return ()
    if "+" not in shown:  # macOS writes signs without a plus between them
        return (shown,)
    head, plus, last = shown.rpartition("+")
    if last == "":
        return (*[part for part in head.split("+") if part], plus)
    return (*[part for part in head.split("+") if part], last)
