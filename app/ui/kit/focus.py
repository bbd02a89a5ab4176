"""Where the person goes on typing after a dialog, a picker, a menu or a notice: where they typed before it opened."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QWidget

from app.ui.kit.qt_workarounds.alive import alive
from app.ui.kit.widgets.announce import tell_focus_again


class FocusReturn:
    """Remembers the focused widget when `part` opens, and gives it the focus back when `part` closes."""

    def __init__(self, part: QWidget) -> None:
        self._part = part
        self._widget: QWidget | None = None

    def remember(self, widget: QWidget | None) -> None:
        """Take note of the widget that has the focus now; None where nobody has it."""
        self._widget = widget

    def give_back(self, otherwise: QWidget | None = None) -> bool:
        """Focus the remembered widget, or `otherwise` where it is gone, hidden or off, or what the window names.

        False when none of them can have it.
        """
        remembered, self._widget = self._widget, None
        for widget in (remembered, otherwise):
            if widget is not None and can_take_focus(widget):
                widget.setFocus(Qt.FocusReason.PopupFocusReason)
                return True
        return replace_focus(self._part)


def replace_focus(lost: QWidget) -> bool:
    """Focus what the window of `lost` names in its place; False where it names nothing."""
    window: QWidget | None = lost.window()
    while window is not None:
        replace = getattr(window, "replace_focus", None)
        if replace is not None:
            return bool(replace(lost))
        parent = window.parentWidget()
        window = parent.window() if parent is not None else None
    return False


def forget_hover(window: QWidget) -> None:
    """Let no button look hovered from which the pointer went while a menu or a dialog was over it: Qt was not told."""
    QTimer.singleShot(0, lambda: _forget_hover(window))  # Qt looks where the pointer was once more when they close


def _forget_hover(window: QWidget) -> None:
    if not alive(window):
        return
    for button in window.findChildren(QAbstractButton):
        if button.underMouse() and not button.rect().contains(button.mapFromGlobal(QCursor.pos())):
            button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
            QApplication.sendEvent(button, QEvent(QEvent.Type.Leave))
            button.update()


def enter_menu(menu: QMenu) -> None:
    """Go to the first entry that can be chosen, which a screen reader then says."""
    entries = (each for each in menu.actions() if each.isEnabled() and each.isVisible() and not each.isSeparator())
    first = next(entries, None)
    if first is not None:
        menu.setActiveAction(first)


def enter_open_menu() -> None:
    """Enter a menu that a key has opened and Qt has made, as that of a text field: it opens on no entry, in silence."""
    menu = QApplication.activePopupWidget()
    if isinstance(menu, QMenu) and menu.activeAction() is None:
        menu.aboutToHide.connect(tell_focus_soon)
        enter_menu(menu)


def tell_focus_soon() -> None:
    """Tell screen readers where the keyboard is once a menu has closed, unless what was chosen takes it elsewhere."""
    QTimer.singleShot(0, partial(_tell_focus_at, QApplication.focusWidget()))


def _tell_focus_at(widget: QWidget | None) -> None:
    if widget is QApplication.focusWidget():
        tell_focus_again()


class AwaitedFocus:
    """Keeps the keyboard for a control of `part` that is disabled while its work lasts.

    Qt would hand it on from one control that is disabled to the next, and a screen reader would read them all.
    """

    def __init__(self, part: QWidget) -> None:
        self._part = part
        self._awaited: QWidget | None = None

    def before(self, controls: Collection[QWidget], *, enabled: bool) -> None:
        """These controls of the part are enabled or disabled next."""
        focused = self._part.window().focusWidget()
        if not enabled and focused in controls and let_go(self._part):
            self._awaited = focused

    def after(self, *, enabled: bool, otherwise: QWidget) -> None:
        """They were: what had the keyboard gets it back, or `otherwise` where it stays disabled.

        Where somebody went elsewhere meanwhile, the keyboard stays there.
        """
        if not enabled or self._awaited is None:
            return
        awaited, self._awaited = self._awaited, None
        if self._part.isVisible() and self._part.window().focusWidget() is None:
            (awaited if can_take_focus(awaited) else otherwise).setFocus(Qt.FocusReason.OtherFocusReason)


def can_take_focus(widget: QWidget | None, *, inside: QWidget | None = None) -> bool:
    """Whether a remembered widget still lives, can be seen and used, and is where it was."""
    if widget is None or not alive(widget):
        return False
    return (
        widget.isVisible()
        and widget.isEnabled()
        and (inside is None or inside is widget or inside.isAncestorOf(widget))
    )


def let_go(part: QWidget) -> bool:
    """Take the focus from inside `part`, which is hidden or changes now; False where it has none.

    Qt would hand it on from one widget that goes to the next, and a screen reader would read them all. It counts also
    while another window has the keyboard, as that for files.
    """
    focused = part.window().focusWidget()
    if focused is None or not part.isAncestorOf(focused):
        return False
    focused.clearFocus()
    return True


def turn(button: QWidget, *, on: bool) -> None:
    """Turn a button on or off. While it is only busy, the keyboard waits for it and goes to nothing else."""
    if not on and button.hasFocus():
        button.setProperty("awaited", True)
        button.clearFocus()
    button.setEnabled(on)
    if on and button.property("awaited"):
        button.setProperty("awaited", False)
        if button.window().focusWidget() is None:
            button.setFocus(Qt.FocusReason.OtherFocusReason)


def leave_focus(*buttons: QWidget) -> None:
    """Let a click on these keep the focus where the person types. Tab still reaches them."""
    for button in buttons:
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)


def reveal(widget: QWidget) -> None:
    """Show a widget whose place another part has now: each holder that has `reveal_widget` is asked."""
    holder = widget.parentWidget()
    while holder is not None:
        show = getattr(holder, "reveal_widget", None)
        if show is not None:
            show(widget)
        holder = holder.parentWidget()
