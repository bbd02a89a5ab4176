"""The box under the conversation: text, toggles that mirror the inspector, the price, and Send or Stop."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from app.translation import tr, tr_n
from app.ui.chat.composer.input_box import MessageBox
from app.ui.chat.session.chat_options import MAX_LINKS_READ, WEB_SEARCH
from app.ui.chat.session.seal import SealIndicator, SealState
from app.ui.kit.focus import leave_focus
from app.ui.kit.plain_tooltip import plain_tip
from app.ui.kit.text_area import commit_composed
from app.ui.kit.widgets.announce import announce
from app.ui.kit.widgets.buttons import Button, IconButton
from app.ui.kit.widgets.label import Label
from app.ui.kit.widgets.menu import Menu
from app.ui.kit.widgets.pill import CyclePill, PillButton
from app.ui.kit.widgets.surfaces import STAY_ABOVE, set_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.ui.chat.composer.attachment_strip import AttachmentStrip
    from app.ui.chat.session.chat_options import Control
    from app.ui.chat.state import AttachmentView, ChatHead, CostNote
    from app.ui.kit.theme import Theme

# What folds away first when the row is narrow; Web stays longest because it costs money.
TONES = {SealState.REFUSED: "bad", SealState.OPEN: "warn"}
_WEB_WORDS = {"off": tr("Off"), "auto": tr("Auto"), "on": tr("On")}
_FOLD_ORDER = (("read_links", "citations"), ("thinking",), ("documents",), ("web_search",))


class Composer(QWidget):
    """Reports what the person wants; the presenter decides. Typed text stays until the presenter takes it."""

    send_requested = Signal(str)
    stop_requested = Signal()
    text_edited = Signal(str)
    option_changed = Signal(str, object)  # the option's name in ChatOptions, its new value
    recall_requested = Signal()
    attach_requested = Signal()  # ask for files
    structure_requested = Signal()  # see or change the schema and the functions of this chat
    seal_requested = Signal(bool)
    files_given = Signal(object)  # list[Path]
    image_given = Signal(object)  # QImage

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._writing = False
        self._why_not = ""  # can nothing be sent now
        self._saves = False  # the box holds an answer, which is kept and sent to nobody
        self._has_attachments = False
        self._chip_says_why = False
        self._folded: frozenset[str] = frozenset()
        self._structure = ""  # the words of its pill, which gives them up last

        self.frame = ComposerFrame(theme)
        self.box = MessageBox(theme, self.frame)
        self.frame.follow(self.box)
        self.web = CyclePill(
            theme,
            tuple(zip(WEB_SEARCH, (tr("Web"), tr("Web: auto"), tr("Web: on")), strict=True)),
            "globe",
            shortcut="Ctrl+Shift+B",
        )
        self.citations = PillButton(theme, tr("Citations"), "quote", shortcut="Ctrl+Shift+X")
        self.thinking = PillButton(theme, tr("Reasoning"), "bulb", shortcut="Ctrl+Shift+T")
        self.links = PillButton(theme, tr("Read links"), "link", shortcut="Ctrl+Shift+K")
        self.documents = PillButton(theme, tr("Documents"), "document")
        self.documents.setAccessibleDescription(tr("Show passages from the project’s documents before you send"))
        self.documents.hide()
        self.structure = PillButton(theme, "", "wrench", checked=True)
        self.structure.setAccessibleDescription(tr("JSON output and functions"))
        self.structure.hide()
        self.more = PillButton(theme, "", "chevron-up")
        self.more.setCheckable(False)
        self.more.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow behind the words
        self.more.setAccessibleDescription(tr("More options"))
        self.lock = PillButton(theme, "", "unlock")  # the switch of the seal, beside Send
        self._lock = SealIndicator()
        self.attach = IconButton(theme, "attach", tr("Attach files"), shortcut="Ctrl+O")
        self._pills: dict[str, PillButton] = {
            "web_search": self.web,
            "citations": self.citations,
            "thinking": self.thinking,
            "read_links": self.links,
            "documents": self.documents,
        }
        self._absent = {"documents"}  # pills that say nothing in this chat
        self.tokens = Label(theme, "", "small", "text3", tabular=True)
        self.tokens.hide()
        self.cost = Label(theme, "", "small", "text3", tabular=True)
        self.send = Button(theme, tr("Send"), "arrow-up", kind="primary", hint="Enter")
        self.stop = Button(theme, tr("Stop"), "stop", hint="Esc")
        self.stop.hide()

        self._build()
        self._connect()
        theme.changed.connect(self._apply_theme)
        self._apply_theme()

    # Building

    def _build(self) -> None:
        self._row = QHBoxLayout()
        self._row.addWidget(self.attach)
        for pill in (*self._pills.values(), self.structure, self.more):
            self._row.addWidget(pill)
        self._row.addStretch(1)
        for widget in (self.tokens, self.lock, self.cost, self.send, self.stop):
            self._row.addWidget(widget)
        self._inside = QVBoxLayout(self.frame)
        self._inside.addWidget(self.box)
        self._inside.addStretch(1)
        self._inside.addLayout(self._row)
        self._outside = QHBoxLayout(self)
        self._outside.addWidget(self.frame)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.more.hide()

    def _connect(self) -> None:
        leave_focus(self.attach, self.structure, self.more, self.lock, self.send, self.stop, *self._pills.values())
        self.box.edited.connect(self.text_edited)
        self.box.send_requested.connect(self._send)
        self.box.recall_requested.connect(self.recall_requested)
        self.box.files_given.connect(self.files_given)
        self.box.image_given.connect(self.image_given)
        self.attach.clicked.connect(self.attach_requested)
        self.send.clicked.connect(self._send)
        self.stop.clicked.connect(self.stop_requested)
        self.web.changed.connect(lambda mode: self.option_changed.emit("web_search", mode))
        self.citations.clicked.connect(lambda on: self.option_changed.emit("citations", on))
        self.thinking.clicked.connect(lambda on: self.option_changed.emit("thinking", on))
        self.links.clicked.connect(lambda on: self.option_changed.emit("read_links", on))
        self.documents.clicked.connect(lambda on: self.option_changed.emit("documents", on))
        self.structure.clicked.connect(self._open_structure)
        self.lock.clicked.connect(self._switch_seal)
        self.more.clicked.connect(self.open_more)

    def _apply_theme(self) -> None:
        theme = self._theme
        self._outside.setContentsMargins(0, 0, 0, 0)
        self._inside.setContentsMargins(theme.px(14), theme.px(12), theme.px(8), theme.px(8))
        self._inside.setSpacing(theme.px(9))
        self._row.setContentsMargins(theme.px(-6), 0, 0, 0)
        self._row.setSpacing(theme.px(6))
        self._fold()

    # What the page tells

    def show_head(self, head: ChatHead) -> None:
        """Make every control agree with the open chat."""
        if head.placeholder != self.box.placeholderText():
            self.box.setPlaceholderText(head.placeholder)
            if self.box.isVisible():
                self.box.viewport().update()  # Qt repaints only when the words appear, not when they change
        options, controls = head.options, head.controls
        self.web.set_current(options.web_search)
        self.citations.setChecked(options.citations and controls.citations.usable)
        self.thinking.setChecked(options.thinking and controls.thinking.usable)
        self.links.setChecked(options.read_links and controls.read_links.usable)
        self.documents.setChecked(options.documents and controls.documents.usable)
        self._absent = set() if head.has_documents else {"documents"}
        for name, pill in self._pills.items():
            control: Control = getattr(controls, name)
            pill.set_usable(control.usable, control.why)
        self._structure = head.structure
        self.structure.setAccessibleName(head.structure)
        self.structure.setToolTip(plain_tip(tr("JSON output and functions: {what}", what=head.structure)))
        self.structure.setVisible(bool(head.structure))
        self._show_lock(head.lock, head.controls.cache_attachments)
        self._writing = head.writing
        self._why_not = head.why_not
        if head.edits_answer != self._saves:
            self._saves = head.edits_answer
            self.send.setText(tr("Save") if self._saves else tr("Send"))
            self.send.set_icon("check" if self._saves else "arrow-up")
        self.send.setVisible(not head.writing)
        self.stop.setVisible(head.writing)
        self.send.setEnabled(head.can_send)
        self.send.setToolTip(plain_tip(head.why_not))
        self._show_why(head.why_not if head.says_why_not else "")
        self._fold()

    def _show_lock(self, lock: SealIndicator, attaching: Control) -> None:
        if lock.is_on and lock.state is not self._lock.state:
            is_refused = lock.state is SealState.REFUSED
            announce(self, f"{lock.words}. {lock.detail}" if is_refused else lock.words, urgent=is_refused)
        self._lock = lock
        self.lock.set_icon(lock.icon, TONES.get(lock.state, "accent"))
        self.lock.setChecked(lock.is_on)
        self.lock.set_usable(not lock.why_not, f"{lock.detail} {lock.why_not}")
        self.lock.setAccessibleName(lock.words)
        if not lock.why_not:
            self.lock.setToolTip(plain_tip(f"{lock.words}\n{lock.detail}"))
            self.lock.setAccessibleDescription(lock.detail)
        if attaching.usable != self.attach.isEnabled():
            self.attach.setEnabled(attaching.usable)
            self.attach.set_icon("attach" if attaching.usable else "attach-off")
            self.attach.rename(tr("Attach files"), "Ctrl+O")
            self.attach.setAccessibleDescription(attaching.why)
            if attaching.why:
                self.attach.setToolTip(plain_tip(attaching.why))

    def _switch_seal(self) -> None:
        self.lock.setChecked(self._lock.is_on)  # as long as nobody has changed it
        self.seal_requested.emit(not self._lock.is_on)

    def show_cost(self, note: CostNote) -> None:
        """The most that the next turn can cost."""
        self._show_links(note.links)
        has_same_words = (self.tokens.text(), self.cost.text()) == (note.tokens, note.text)
        self.tokens.set_text(note.tokens)
        self.tokens.setToolTip(tr("Estimated tokens of your message and attachments"))
        self.cost.set_text(note.text)
        self.cost.set_role("warn" if note.warns else "text3")
        self.cost.setToolTip(plain_tip(note.detail))
        self.cost.setAccessibleDescription(note.detail)
        if not has_same_words:
            self._fold()

    @cached_property
    def strip(self) -> AttachmentStrip:
        """The attachments over the box, made with the first one."""
        from app.ui.chat.composer.attachment_strip import AttachmentStrip

        strip = AttachmentStrip(self._theme)
        self._inside.insertWidget(0, strip)
        return strip

    @cached_property
    def links_note(self) -> Label:
        """Which links of the text the service will read."""
        note = Label(self._theme, "", "small", "text2", wrap=True)
        self._inside.insertWidget(self._inside.indexOf(self.box) + 1, note)
        return note

    def show_attachments(self, views: Sequence[AttachmentView]) -> None:
        """Show what goes along with the text. Who takes the last one away goes on typing."""
        if views or "strip" in self.__dict__:
            was_in_strip = any(chip.is_inside() for chip in self.strip.chips.values())
            self.strip.show_attachments(views)
            if was_in_strip and not views:
                self.box.setFocus(Qt.FocusReason.OtherFocusReason)
        self._has_attachments = any(not view.refusal and not view.busy for view in views)
        self._chip_says_why = any(view.refusal for view in views)

    @cached_property
    def why_note(self) -> Label:
        """Why the message stays in the box, where the reason is not to be seen elsewhere."""
        note = Label(self._theme, "", "small", "warn", wrap=True)
        self._inside.insertWidget(self._inside.count() - 1, note)
        return note

    def _show_why(self, why: str) -> None:
        if why or "why_note" in self.__dict__:
            self.why_note.set_text(why)
            self.why_note.setVisible(bool(why))

    def _show_links(self, links: tuple[str, ...]) -> None:
        if not links and "links_note" not in self.__dict__:
            return
        read, count = links[:MAX_LINKS_READ], len(links)
        number = (
            tr("Reads the first {most} of {count} links", most=MAX_LINKS_READ, count=count)
            if count > MAX_LINKS_READ
            else tr_n("Reads this link", "Reads these {n} links", count)
        )
        self.links_note.set_text(f"{number}: {', '.join(short_link(link) for link in read)}")
        self.links_note.setToolTip(plain_tip("\n".join(read)))
        self.links_note.setVisible(bool(links))

    def set_text(self, text: str) -> None:
        """Show another text, such as a draft, without reporting it as typed."""
        self.box.set_text(text)

    def text(self) -> str:
        return self.box.toPlainText()

    def set_enter_sends(self, on: bool) -> None:
        """Whether Enter sends and Shift+Enter breaks the line, or the other way round."""
        self.box.enter_sends = on
        self.send.set_hint("Enter" if on else "Shift+Enter")

    # Inside

    def _send(self) -> None:
        commit_composed()
        text = self.box.toPlainText()
        if not text.strip() and not self._has_attachments:
            self.box.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self._why_not:
            if not self._chip_says_why:
                self._show_why(self._why_not)
            announce(self, self._why_not)
        else:
            self.send_requested.emit(text)

    def open_more(self) -> QMenu:
        """Show the folded toggles as a menu over their pill."""
        menu = Menu(self._theme, self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name, pill in self._pills.items():
            if name not in self._folded - self._absent:
                continue
            if pill is self.web:
                sub_menu = menu.addMenu(pill.text())
                for mode in WEB_SEARCH:
                    self._add(sub_menu, _WEB_WORDS[mode], mode == self.web.current, pill, ("web_search", mode))
            else:
                self._add(menu, pill.text(), pill.isChecked(), pill, (name, not pill.isChecked()))
        height = menu.sizeHint().height()
        menu.popup(self.more.mapToGlobal(self.more.rect().topLeft()) - QPoint(0, height + self._theme.px(4)))
        return menu

    def _open_structure(self) -> None:
        self.structure.setChecked(True)  # a press opens what it stands for and switches nothing
        self.structure_requested.emit()

    def _add(self, menu: QMenu, text: str, on: bool, pill: PillButton, change: tuple[str, object]) -> None:
        action = QAction(text, menu, checkable=True, checked=on)
        action.setEnabled(pill.isEnabled())
        action.setToolTip(pill.toolTip())
        action.triggered.connect(lambda _on=False: self.option_changed.emit(*change))
        menu.addAction(action)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def _fold(self) -> None:
        """Hide pills behind "2 more" until the row fits. The price and Send always stay."""
        margins = self._inside.contentsMargins()
        room = self.frame.width() - margins.left() - margins.right() - self._row.contentsMargins().left()
        gap = self._row.spacing()
        fixed = self.cost.sizeHint().width() + self.attach.sizeHint().width() + gap * 4
        fixed += (self.stop if self._writing else self.send).sizeHint().width()
        self.lock.setText("" if self._lock.is_quiet else self._lock.words)
        fixed += self.lock.sizeHint().width() + gap
        self.structure.setText(self._structure)
        if self._structure:
            fixed += self.structure.sizeHint().width() + gap
        folded: set[str] = set()
        for names in ((), *_FOLD_ORDER):
            folded.update(names)
            hidden = folded | self._absent
            shown = [pill.sizeHint().width() + gap for name, pill in self._pills.items() if name not in hidden]
            if folded:
                self.more.setText(tr("{folded} more", folded=len(folded - self._absent)))
                shown.append(self.more.sizeHint().width() + gap)
            if fixed + sum(shown) <= room:
                break
        if self._structure and fixed + sum(shown) > room:
            fixed -= self.structure.sizeHint().width()
            self.structure.setText("")  # its icon stays
            fixed += self.structure.sizeHint().width()
        if fixed + sum(shown) > room:
            fixed -= self.lock.sizeHint().width()
            self.lock.setText("")  # its icon stays
            fixed += self.lock.sizeHint().width()
        self._folded = frozenset(folded)
        for name, pill in self._pills.items():
            pill.setVisible(name not in folded | self._absent)
        self.more.setVisible(bool(folded))
        has_room = fixed + sum(shown) + self.tokens.sizeHint().width() + gap * 2 <= room
        self.tokens.setVisible(bool(self.tokens.text()) and has_room)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(200), super().minimumSizeHint().height())


def short_link(link: str, most: int = 48) -> str:
    """An address without its scheme, cut in the middle when it is long."""
    text = link.split("://", 1)[-1].rstrip("/")
    return text if len(text) <= most else f"{text[: most - 12]}…{text[-11:]}"


class ComposerFrame(QFrame):
    """The border around box and row. The focus ring goes around it while the box has focus."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("part", "composer")
        self.setObjectName(STAY_ABOVE)

    def follow(self, box: QWidget) -> None:
        """Tell the focus ring to draw around this frame instead of around the bare box."""
        box.ring_widget = self  # type: ignore[attr-defined]  # read by the focus ring, absent on plain widgets

    def set_target(self, on: bool) -> None:
        """Show that what is dragged over the conversation would land here."""
        set_property(self, "state", "target" if on else "")
        box = self.findChild(MessageBox)
        if box is not None:
            box.set_ground("accent_tint" if on else "surface")

    def ring_rect(self) -> QRectF:
        return QRectF(self.rect())

    def ring_radius(self) -> float:
        return float(self._theme.px(10))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click beside the text means the text."""
        box = self.findChild(MessageBox)
        if box is not None:
            box.setFocus(Qt.FocusReason.MouseFocusReason)
