"""The layers are law: every import in app/ against one table, first match wins."""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
INNER = ("app.service", "app.audio", "app.wallet", "app.credentials", "app.storage", "app.sealed", "app.documents")
SHARED = {"kit", "conversation", "shell"}
FEATURES = sorted({each.parent.name for each in (ROOT / "app/ui").glob("*/__init__.py")} - SHARED)
SHOWS = {"chat": ("app.ui.conversation",)}

SHARED_BY_LAYERS = ("app.files", "app.formats", "app.media_types", "app.translation", "app.text_encoding")

# Widening a row is a decision: say why in the commit that does it.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    # pyside_features before any other import; the Sandbox in a process of its own, which loads nothing of the window
    # pyside_features before any other import; the other four are run instead of a window, in processes of their own
    "app.__main__": (
        "app.bootstrap",
        "app.ui.kit.qt_workarounds.qt_exception_guard",  # before any class of the window is made
        "app.ui.kit.qt_workarounds.pyside_features",
        "app.ui.kit.markdown.formula_worker",
        "app.sandbox.child_process",
        "app.sandbox.crash_dumps",
        "app.documents.worker",
        "app.storage.imports.export_reading",
    ),
    "app.bootstrap*": ("",),  # the composition root may import everything; only __main__ may import it
    # dcap_qvl: firmware levels and revocation, by Intel's lists
    "app.sealed.collateral": ("app.sealed", "dcap_qvl"),
    # pypdfium2: PDF; python_calamine: XLS, XLSB, ODS; nh3: HTML; watchfiles: changes in folders. Loaded in the process
    # that reads, by the first that needs them
    "app.documents.pdf": ("app.documents", "pypdfium2"),
    "app.documents.spreadsheets": ("app.documents", "python_calamine"),
    "app.documents.markup": ("app.documents", "nh3"),
    "app.documents.worker": ("app.documents", "watchfiles"),
    "app.documents*": ("app.documents", "numpy"),
    "app.sealed.secp256k1": ("coincurve", "cryptography", "eth_keys", "eth_utils"),
    # cryptography: the signatures of a quote, and AES; Crypto: keccak, for addresses
    "app.sealed*": ("app.sealed", "cryptography", "Crypto"),
    "app.service.http.certificates": ("app.service", "cryptography"),  # reads certificates to say whose they are
    # docs/decisions/0061: these two files are all that a move to httpx2 changes
    "app.service.http.client_library": ("httpx", "httpcore"),
    "app.sandbox.http.client_library": ("httpx",),
    "app.service.http.network_*": ("app.service", "h11"),  # what httpcore reads chunks with
    "app.service.updates": ("app.service", "tuf"),  # reads a signed feed; its connections are ours
    "app.service*": ("app.service", "app.sealed", "pydantic", "msgspec", "truststore"),
    # FFmpeg, where it is installed: AAC, M4A, MP4 and WebM, and compressed sound while it arrives
    "app.audio.*_av": ("app.audio", "numpy", "av"),
    "app.audio*": ("app.audio", "numpy", "sounddevice", "soundfile"),
    # cryptography: Ed25519 and nothing else; the rest are parts of eth_account's own set: Crypto for keccak, eth_abi
    # for what contracts say, rlp for what transactions say
    "app.wallet*": ("app.wallet", "eth_account", "eth_abi", "rlp", "cryptography", "Crypto"),
    # secretstorage (part of keyring on Linux): whether the keyring is locked, without opening its unlock window;
    # idna (part of httpx): what a host is really called
    "app.credentials*": ("app.credentials", "keyring", "secretstorage", "cryptography", "pydantic", "idna"),
    # read in the bounded process of app.documents; msgspec: finds the entries of a file without decoding them
    "app.storage.imports*": ("app.storage", "app.documents", "msgspec"),
    "app.storage*": ("app.storage", "pydantic", "platformdirs", "aiosqlite"),
    # The Sandbox's engines, one file each; nothing else in it may name them.
    "app.sandbox.http.form": ("app.sandbox", "python_multipart"),
    "app.sandbox.http.scripted_responses": ("app.sandbox", "ruamel"),  # of a file in YAML
    "app.sandbox.store": ("app.sandbox", "msgspec"),  # what outlives the process, imported only where something does
    "app.sandbox.media.sound": ("app.sandbox", "numpy", "soundfile", "av"),
    "app.sandbox.media.pitch": ("app.sandbox", "numpy"),
    "app.sandbox.media.speaking": ("app.sandbox", "numpy"),
    "app.sandbox.media.speech_engine": ("app.sandbox", "numpy", "espeakng_loader"),
    "app.sandbox.media.transcription_engine": ("app.sandbox", "numpy", "pocketsphinx"),
    # eth_account and eth_keys: whose signature it is; cryptography: the same by Ed25519; Crypto: keccak, for addresses
    "app.sandbox.accounts.signatures": ("app.sandbox", "eth_account", "eth_keys", "cryptography"),
    "app.sandbox.accounts.wallet_address": ("app.sandbox", "Crypto"),
    "app.sandbox.accounts.x402_chain": (
        "app.sandbox",
        "eth_account",
        "eth_typing",
    ),  # the faucet signs what it pays for
    # py-evm and the parts of the Ethereum stack that it brings
    "app.sandbox.chains.evm_chain": ("app.sandbox", "eth", "eth_typing", "eth_utils", "rlp"),
    "app.sandbox.chains.networks": ("app.sandbox", "eth_account", "eth_utils"),
    "app.sandbox.chains.node_methods": ("app.sandbox", "eth", "eth_typing", "eth_utils"),
    "app.sandbox.chains.state_proofs": ("app.sandbox", "eth", "eth_utils", "rlp", "trie"),
    "app.sandbox.chains.crypto_rpc": ("app.sandbox", "eth_utils"),
    # cryptography: certificates, quotes, opening; coincurve: sealing; eth_keys and eth_utils: receipts
    "app.sandbox.sealed*": ("app.sandbox", "cryptography", "coincurve", "eth_keys", "eth_utils"),
    "app.sandbox.media.image_engine": ("app.sandbox", "PIL"),
    "app.sandbox.media.images": ("app.sandbox", "PIL.Image"),  # the type of an image, nothing that runs
    "app.sandbox.media.video_engine": ("app.sandbox", "PIL.Image", "av", "numpy"),
    "app.sandbox.media.video_enlarging": ("app.sandbox", "av"),
    "app.sandbox.pytest_plugin": ("app.sandbox", "pytest"),  # loaded by pytest alone
    # h11: the framing of HTTP
    "app.sandbox*": ("app.sandbox", "app.__version__", "h11", "multipart"),
    # runs in a process of its own and draws nothing: LaTeX to SVG
    "app.ui.kit.markdown.formula_worker": ("ziamath", "ziafont", "latex2mathml"),
    "app.ui.kit.markdown*": ("app.ui.kit", "PySide6", "markdown_it", "linkify_it", "pygments"),
    # What a tab does beside its presenter is in its `session` folder, where there is one: plain values, no widgets.
    # Settings is several features behind one tab; each of its folders has a presenter of its own.
    **{
        pattern: (*INNER, "app.core", "app.ui.kit", *SHOWS.get(feature, ()), f"app.ui.{feature}", "PySide6.QtCore")
        for feature in FEATURES
        for pattern in (f"app.ui.{feature}.presenter*", f"app.ui.{feature}.*.presenter", f"app.ui.{feature}.session*")
    },
    "app.ui.wallet.qr_view": ("app.ui.kit", "PySide6", "segno"),
    "app.ui.kit.qt_workarounds.layout_items": ("PySide6", "shiboken6"),  # takes wrappers out of PySide's map
    "app.ui.kit.qt_workarounds.alive": ("PySide6", "shiboken6"),  # asks PySide itself whether an object still lives
    "app.ui.kit.accessible_interfaces": ("app.ui.kit", "PySide6", "shiboken6"),  # a pointer to nothing
    "app.ui.kit.qt_workarounds.qt_exception_guard": ("PySide6", "shiboken6"),  # the same
    # jeepney (part of keyring on Linux): the desktop's notifications over D-Bus
    "app.ui.kit.notifications_bus": ("jeepney",),
    "app.ui.kit.notifications": ("app.ui.kit", "PySide6", "desktop_notifier"),  # those of Windows and macOS
    "app.ui.kit.system_motion": ("jeepney",),
    "app.ui.kit.older_screen_readers": ("jeepney", "app.ui.kit", "PySide6"),
    "app.ui.kit*": ("app.service", "app.audio", "app.storage.file_names", "app.core", "app.ui.kit", "PySide6"),
    "app.ui.conversation*": (
        "app.service.http.sanitize",
        "app.core",
        "app.ui.kit",
        "app.ui.conversation",
        "PySide6",
    ),
    # joins the layers below the window: spending, receipts, calls that cost; no widget
    "app.core*": (*INNER, "app.core", "PySide6.QtCore"),
    "app.ui.shell*": ("app.ui", "app.core", *INNER, "PySide6"),
    **{
        f"app.ui.{feature}*": (
            "app.service",
            "app.core",
            "app.ui.kit",
            *SHOWS.get(feature, ()),
            f"app.ui.{feature}",
            "PySide6",
        )
        for feature in FEATURES
    },
    "app.files": ("app.translation",),
    "app.media_types": (),
    "app.text_encoding": ("chardet",),  # guesses the encoding of text that is not UTF-8
    "app.formats": (),
    "app.translation": ("app.formats",),
    "app.ui": (),
    "app": (),
}


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All of a file, its module first: walked once for all tests."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module", autouse=True)
def _forget_the_nodes() -> Iterator[None]:
    """Millions of objects: the collector would look at each of them for as long as the tests run."""
    yield
    nodes_of.cache_clear()


def docstring_of(path: Path) -> str:
    module = nodes_of(path)[0]
    assert isinstance(module, ast.Module)
    return ast.get_docstring(module) or ""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> list[str]:
    names: list[str] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            module = node.module or ""
            named = module in ("app", "app.ui", "PySide6")
            names += [f"{module}.{alias.name}" if named else module for alias in node.names]
    return names


def allowed(module: str, name: str) -> bool:
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or name == "__future__":
        return True
    # any layer may show text to a user, judge text and move files; the Sandbox is a service and a package of its own
    if name in SHARED_BY_LAYERS:
        return not module.startswith("app.sandbox")
    row = next((row for pattern, row in MAY_IMPORT.items() if fnmatchcase(module, pattern)), None)
    assert row is not None, f"{module} is in no layer: give it a row or move it"
    return any(prefix == "" or name == prefix or name.startswith(prefix + ".") for prefix in row)


def violations() -> list[str]:
    return [
        f"{module_name(path)} imports {name}"
        for path in sorted((ROOT / "app").rglob("*.py"))
        for name in imported(path)
        if not allowed(module_name(path), name)
    ]


def test_every_import_follows_the_table() -> None:
    assert violations() == []


def test_only_main_imports_the_composition_root() -> None:
    importers = {
        module_name(path)
        for path in (ROOT / "app").rglob("*.py")
        if any(name == "app.bootstrap" or name.startswith("app.bootstrap.") for name in imported(path))
    }
    assert {name for name in importers if not name.startswith("app.bootstrap")} <= {"app.__main__"}


def test_the_table_refuses_what_it_should() -> None:
    assert not allowed("app.service.client", "httpx")
    assert not allowed("app.sealed.keys", "coincurve")
    assert not allowed("app.service.chat", "PySide6.QtCore")
    assert not allowed("app.sealed.envelope", "httpx")
    assert not allowed("app.sealed.envelope", "app.service.errors")
    assert not allowed("app.ui.chat.page", "app.storage.chat_store")
    assert not allowed("app.ui.chat.page", "app.ui.characters.page")
    assert not allowed("app.sandbox.server", "app.service.errors")
    assert allowed("app.ui.chat.presenter", "app.storage.chat_store")
    assert not allowed("app.core.receipt_recorder", "PySide6.QtWidgets")
    assert not allowed("app.core.receipt_recorder", "app.ui.kit.theme")
    assert not allowed("app.ui.conversation.view", "app.ui.chat.page")
    assert not allowed("app.ui.chat.session.message_rows", "PySide6.QtWidgets")
    assert allowed("app.ui.chat.page", "app.ui.kit.theme")
    assert allowed("app.service.chat", "app.translation")
    assert not allowed("app.sandbox.server", "app.translation")
    assert not allowed("app.translation", "app.core.money")


# What has one form for all tabs, and the modules that may name it.
ONE_PLACE = {
    "QFileDialog": {"app/ui/kit/file_dialogs.py"},  # names that every system takes and that say what is in the file
    "curl_command": {  # a call as a command, without its key
        "app/service/exchange.py",
        "app/ui/crypto_rpc/session/exporting.py",
        "app/ui/kit/call_pane.py",
    },
    "models.list(": {  # saved, and guarded against a switch; the last one asks for nobody's account
        "app/core/account_switch.py",
        "app/core/model_lists.py",
        "app/bootstrap/account_services.py",
    },
    "export_pieces(": {  # a file that others wrote, in a process that is bounded in memory and time
        "app/storage/imports/chat_import.py",
        "app/storage/imports/export_reading.py",
    },
    "QNetworkAccessManager": set(),  # app/service/http knows proxies, certificates and the list of hosts
    "QImage.fromData": set(),  # it takes SVG, and any number of pixels
    "loadFromData": set(),
    "QImageReader": {"app/ui/kit/image_decoding.py"},  # images of others, in bounds
    "NetworkTransport(": {  # every connection of the program
        "app/service/client.py",
        "app/service/http/anonymous_client.py",
        "app/service/http/network_transport.py",
    },
    "aiter_bytes()": {  # httpx inflates a piece whole; app/service/http/bodies.py counts. These two ask a model or a
        "app/sandbox/chat/augmentation.py",  # service that the person named
        "app/sandbox/http/recording.py",
    },
    "FailureBudget(": {"app/service/key_limits.py"},  # one count of failures an account, whoever calls
}


@pytest.mark.parametrize("text", ONE_PLACE)
def test_what_has_one_form_is_named_in_one_place(text: str) -> None:
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "app").rglob("*.py")
        if text in path.read_text(encoding="utf-8")
    }
    assert naming == ONE_PLACE[text], f"{text}: use what is there, or say here why it needs another place"


# Each gives a wrapper of what Qt owns and deletes without telling Python. From PySide6 6.10 on a dead one in its map
# ends the process when the next object at that address goes (tests/ui/test_layout_items.py, decision 1).
OWNED_BY_QT = frozenset(
    """
    itemAt itemAtPosition takeAt spacerItem replaceWidget
    takeItem itemFromIndex findItems currentItem selectedItems
    topLevelItem takeTopLevelItem invisibleRootItem headerItem horizontalHeaderItem verticalHeaderItem
    backingStore paintEngine userData handlerForObject
    """.split()  # noqa: SIM905 - a line for each name would be a page
)
MAY_TOUCH_ITEMS = ("app.ui.kit.qt_workarounds.layout_items",)  # takes them out of the map


def calls_in(path: Path) -> list[tuple[str, int]]:
    """The name of each method that is called, and its line."""
    return [
        (node.func.attr, node.lineno)
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]


def test_nothing_asks_qt_for_items_that_it_deletes_without_a_word() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} calls {name}: keep a list of your own (app/ui/kit/discard.py says why)"
        for path in sorted((ROOT / "app").rglob("*.py"))
        for name, line in calls_in(path)
        if name in OWNED_BY_QT and module_name(path) not in MAY_TOUCH_ITEMS
    ]
    assert found == []


def test_objects_are_removed_in_one_way() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} calls deleteLater: use discard() or a WidgetList of app/ui/kit/discard.py"
        for path in sorted((ROOT / "app").rglob("*.py"))
        for name, line in calls_in(path)
        if name == "deleteLater" and module_name(path) != "app.ui.kit.discard"
    ]
    assert found == []


# What Windows lacks of the standard library. Inside a function or below a condition it is a test's own matter.
NOT_ON_WINDOWS = {
    "": {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"},
    "os": {"O_NOFOLLOW", "O_NONBLOCK", "chown", "fork", "geteuid", "getuid", "killpg", "mkfifo", "nice", "setsid"},
    "select": {"epoll", "poll"},
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGSTOP", "SIGUSR1", "SIGUSR2"},
    "socket": {"AF_UNIX"},
    "time": {"tzset"},
}


def test_every_test_can_be_imported_on_windows() -> None:
    """One name that is missing there takes all tests of its module away."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path.parent.name != "bench"
        for node in run_by_import(ast.parse(path.read_text(encoding="utf-8")))
        for name in absent_on_windows(node)
    ]
    assert found == []


def test_a_test_for_posix_alone_says_so() -> None:
    """`tests/kit/portable.py` has the kill, the permissions and the mark that every system takes."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {', '.join(sorted(names))}"
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for tree in [ast.parse(path.read_text(encoding="utf-8"))]
        if "skip" not in "".join(ast.unparse(node) for node in tree.body if "pytestmark" in ast.unparse(node)[:10])
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if (names := {name for each in ast.walk(node) for name in absent_on_windows(each)})
        if not re.search(r"skip|not_on_windows|sys\.platform|os\.name|hasattr", ast.unparse(node))
    ]
    assert found == []


def run_by_import(parent: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """The nodes that run when a module is imported, except what depends on a condition."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield part
                yield from run_by_import(part)
        elif not isinstance(node, ast.If | ast.IfExp | ast.Lambda):
            if isinstance(node, ast.expr | ast.stmt):
                yield node
            yield from run_by_import(node)


def absent_on_windows(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names} & NOT_ON_WINDOWS[""]
    if isinstance(node, ast.ImportFrom):
        return {node.module} & NOT_ON_WINDOWS[""]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return {node.attr} & NOT_ON_WINDOWS.get(node.value.id, set())
    return set()


def test_files_are_replaced_in_one_way() -> None:
    """Windows refuses while a virus scanner looks at a new file: `app.files.replace` waits for that."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} replaces a file by itself: use app.files.replace"
        for path in sorted((ROOT / "app").rglob("*.py"))
        if not module_name(path).startswith(("app.files", "app.sandbox"))  # the Sandbox shares no module with Rialto
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and is_file_replacement(node)
    ]
    assert found == []


def test_connections_to_databases_are_closed() -> None:
    """`with` on a connection ends a transaction and leaves the file open, which Python 3.13 reports."""
    found = [
        f"{path.relative_to(ROOT)}:{item.context_expr.lineno} stays open: use contextlib.closing"
        for folder in ("app", "tests", "packaging")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.With)
        for item in node.items
        if isinstance(item.context_expr, ast.Call) and ast.unparse(item.context_expr.func) == "sqlite3.connect"
    ]
    assert found == []


def is_file_replacement(node: ast.Call) -> bool:
    """`path.replace(target)`, `os.replace`, `os.rename` or `shutil.move`. The `replace` of text takes two arguments."""
    if ast.unparse(node.func) in ("os.replace", "os.rename", "os.renames", "shutil.move"):
        return True
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "replace"
    return is_method and len(node.args) == 1 and not node.keywords


def is_plain_tip(node: ast.expr) -> bool:
    """Words of our own, or what `plain_tip` made of any others."""
    match node:
        case ast.Constant(value=str()):
            return True
        case ast.IfExp():
            return is_plain_tip(node.body) and is_plain_tip(node.orelse)
        case ast.Call(func=ast.Name(id="tr"), keywords=values):
            return not values
        case ast.Call(func=ast.Name(id=name)):
            return name == "plain_tip"
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in ("toolTip", "tr")
    return False


def test_fields_of_many_lines_are_made_in_one_way() -> None:
    """Qt draws the placeholder of a plain one over the text that an input method composes in it."""
    named = ("app/ui/kit/text_area.py", "app/ui/kit/widgets/focus_ring.py", "app/ui/kit/widgets/fields.py")
    found = [
        f"{path.relative_to(ROOT)}: {node.lineno}"
        for path in sorted((ROOT / "app").rglob("*.py"))
        if path.relative_to(ROOT).as_posix() not in named
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and any(each.name == "QPlainTextEdit" for each in node.names)
    ]
    assert not found, "use TextArea of app/ui/kit/text_area.py: " + ", ".join(found)


def test_no_tooltip_is_taken_for_html() -> None:
    """Qt would load the image that a stranger names in the title of a chat."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} gives a tooltip that may be HTML: use plain_tip()"
        for path in sorted((ROOT / "app").rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if (node.func.attr == "setToolTip" and not is_plain_tip(node.args[-1]))
        or (ast.unparse(node.func) == "QToolTip.showText" and not is_plain_tip(node.args[1]))
    ]
    assert found == []


# Two tabs whose names mean nothing else; what else is said of a tab is a row of these files.
TAB_NAMED_IN = ("app/bootstrap/tabs.py", "app/core/tabs.py", "app/ui/shell/self_test.py", "app/ui/shell/tour_tabs.py")


@pytest.mark.parametrize("tab", ["transcription", "crypto_rpc"])
def test_a_new_tab_touches_at_most_four_files_outside_its_own(tab: str) -> None:
    own = (f"app/ui/{tab}/", f"app/bootstrap/{tab}_tab.py", "app/service/", "app/sandbox/", "app/storage/")
    naming = [
        path
        for path in sorted(each.relative_to(ROOT).as_posix() for each in (ROOT / "app").rglob("*.py"))
        if f'"{tab}"' in (ROOT / path).read_text(encoding="utf-8") and not path.startswith(own)
    ]
    assert set(naming) <= set(TAB_NAMED_IN), "say it in app/core/tabs.py, or let the page answer (app/ui/kit/tab.py)"


# Tests say what a person does and sees; where that is in a page, the harnesses of tests/kit know alone.
SPOKEN_THROUGH_A_HARNESS = (
    "tests/ui/images/*",
    "tests/ui/speech/*",
    "tests/ui/video/*",
    "tests/ui/wallet/*",
    "tests/ui/test_transcription*",
    "tests/ui/test_chat*",
    "tests/ui/test_crypto_rpc*",
    "tests/ui/test_model_picker*",
)
MOST_NAMES = 3  # from `page` or `view` on
LONG_CHAINS_ELSEWHERE = 255  # in tests that have no harness yet; this and the next number may only become smaller
PRIVATE_NAMES = 270  # of objects that are not `self`, in all tests


def files_of_tests() -> list[Path]:
    return [path for path in sorted((ROOT / "tests").rglob("*.py")) if path.parent.name not in ("kit", "bench")]


def long_chains(path: Path) -> list[str]:
    """Each walk through the widgets of a page, as it is written."""
    found = []
    for node in nodes_of(path):
        names: list[str] = []
        part: ast.AST = node
        while isinstance(part, ast.Attribute):
            names.insert(0, part.attr)
            part = part.value
        if not isinstance(part, ast.Name) or not names:
            continue
        names.insert(0, part.id)
        begin = min((names.index(name) for name in ("page", "view") if name in names), default=len(names))
        if len(names) - begin == MOST_NAMES + 1:  # longer ones hold one of this length
            found.append(f"{path.relative_to(ROOT)}:{node.lineno} {'.'.join(names)}")  # type: ignore[attr-defined]
    return found


def test_tests_of_a_tab_with_a_harness_do_not_walk_through_its_widgets() -> None:
    walked: dict[bool, list[str]] = {True: [], False: []}
    for path in files_of_tests():
        name = path.relative_to(ROOT).as_posix()
        walked[any(fnmatchcase(name, pattern) for pattern in SPOKEN_THROUGH_A_HARNESS)] += long_chains(path)
    assert walked[True] == [], "give the harness in tests/kit a verb or a property"
    assert len(walked[False]) <= LONG_CHAINS_ELSEWHERE, walked[False]


def test_tests_touch_fewer_and_fewer_private_names() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.attr}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in ("_replace", "_fields", "_field_defaults")  # of every named tuple, for everybody
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert len(found) <= PRIVATE_NAMES, found


def test_tests_wait_in_one_way() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: wait with tests/kit/waiting.py"
        for path in files_of_tests()
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in ("until", "wait_until")
    ]
    assert found == []


MOST_MODULES = 40


def test_no_folder_is_too_full_to_find_anything_in() -> None:
    folders = Counter(path.parent for path in (ROOT / "app").rglob("*.py") if path.name != "__init__.py")
    full = {str(folder.relative_to(ROOT)): count for folder, count in folders.items() if count > MOST_MODULES}
    assert full == {}, "give what belongs together a folder of its own, or merge modules that only one other uses"


def modules() -> dict[str, Path]:
    return {module_name(path): path for path in sorted((ROOT / "app").rglob("*.py"))}


def name_in(node: ast.expr) -> str:
    """The last name of `module.Class[Kind]`: "Class"."""
    match node:
        case ast.Subscript(value=value):
            return name_in(value)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def test_no_class_is_written_only_to_be_continued_in_another_file() -> None:
    made: set[str] = set()
    homes: dict[str, str] = {}
    children: dict[str, list[str]] = defaultdict(list)
    for name, path in modules().items():
        package = ".".join(name.split(".")[: 3 if name.startswith("app.ui.") else 2])
        for node in nodes_of(path):
            if isinstance(node, ast.Call):
                made.add(name_in(node.func))
            elif isinstance(node, ast.ClassDef):
                homes[node.name] = f"{package} {name}"
                for base in node.bases:
                    children[name_in(base)].append(f"{package} {name}")
    continued = {
        each
        for each, below in children.items()
        if each in homes and each not in made and len(below) == 1 and below[0] != homes[each]
        if below[0].partition(" ")[0] == homes[each].partition(" ")[0]
    }
    assert continued == set(), "a page break is no reason to inherit: one class, or parts that it holds"


# What is loaded before the first paint, or right after it while somebody may type already, may import in functions.
# Their number may become smaller, and so may those below.
AT_THE_START = (
    "app.__main__",
    "app.bootstrap*",
    "app.core*",
    "app.ui.chat*",
    "app.ui.conversation*",
    "app.ui.kit*",
    "app.ui.shell*",
)
LATE_IMPORTS_AT_THE_START = 172
LATE_IMPORTS = {
    "app.audio.decoding": 2,  # PyAV may be missing
    "app.audio.encoding": 1,
    "app.translation": 1,  # gettext: English needs none of it
    "app.credentials.redaction": 1,  # loaded before the first paint
    "app.sandbox.accounts.x402_chain": 2,  # from here to `voices`: engines, loaded by the first call that needs one
    "app.sandbox.accounts.x402_settlement": 1,
    "app.sandbox.accounts.x402_terms": 1,
    "app.sandbox.chains.networks": 2,
    "app.sandbox.http.middleware": 2,
    "app.sandbox.http.connections": 1,
    "app.sandbox.media.images": 6,
    "app.sandbox.media.speech": 3,
    "app.sandbox.media.transcription": 2,
    "app.sandbox.media.video": 3,
    "app.sandbox.media.video_jobs": 2,
    "app.sandbox.media.voices": 4,
    "app.sandbox.server": 9,  # its start is the window's, where somebody works in the Sandbox
    "app.sandbox.chat.chat": 1,  # sealed chats: cryptography and more
    "app.sandbox.site": 7,
    "app.sandbox.world": 1,
    "app.service.service": 11,  # what a tab offers is loaded with the tab
    "app.storage.log": 1,  # loaded before the first paint
    "app.ui.settings.connection.presenter": 3,  # cryptography
    "app.ui.settings.page": 14,  # a section is loaded when it is shown
    "app.ui.video.video_player": 1,  # QtMultimedia
    "app.ui.wallet.wallet_dialogs": 1,  # segno
    "app.wallet.signer": 1,  # eth_account
}
# Libraries that nothing loads before it needs them.
LOADED_LATE = frozenset(
    """
    numpy soundfile sounddevice av keyring secretstorage cryptography truststore tuf segno python_multipart
    eth_account eth_abi eth eth_keys eth_utils eth_typing rlp Crypto dcap_qvl
    markdown_it linkify_it pygments ziamath ziafont latex2mathml PIL pocketsphinx espeakng_loader
    pypdfium2 python_calamine nh3 chardet watchfiles app.documents.pdf app.documents.spreadsheets app.documents.worker
    app.storage.imports.export_reading app.sandbox.http.client_library importlib.metadata email idna
    ruamel httpx pydantic msgspec qasync aiosqlite platformdirs PySide6.QtNetwork PySide6.QtMultimedia PySide6.QtSvg
    """.split()  # noqa: SIM905 - a line for each name would be a page
)


def late_imports(path: Path) -> set[int]:
    """The lines of imports inside functions, without those of `LOADED_LATE` and of dialogs, loaded when they open."""
    found = set()
    for function in nodes_of(path):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom):
                name = str(node.module) if isinstance(node, ast.ImportFrom) else node.names[0].name
                is_heavy = name in LOADED_LATE or name.partition(".")[0] in LOADED_LATE
                if not is_heavy and not name.endswith(("_dialog", "_dialogs")):
                    found.add(node.lineno)
    return found


def test_imports_stand_at_the_top_where_a_late_one_buys_nothing() -> None:
    late = {name: count for name, path in modules().items() if (count := len(late_imports(path)))}
    at_the_start = {name for name in late if any(fnmatchcase(name, pattern) for pattern in AT_THE_START)}
    elsewhere = {name: count for name, count in late.items() if name not in at_the_start}
    more = {name: count for name, count in elsewhere.items() if count > LATE_IMPORTS.get(name, 0)}
    assert more == {}, "import at the top: tabs are loaded in quiet time, one module after another"
    assert elsewhere == LATE_IMPORTS, "there are fewer: write the smaller number"
    assert sum(late[name] for name in at_the_start) <= LATE_IMPORTS_AT_THE_START, "import at the top where you can"


LONG_ENOUGH = 60  # lines
REASON = "a module of its own"  # how a docstring begins to say why


def importers() -> dict[str, set[str]]:
    """Who names a module of ours in an import, wherever it stands in the file."""
    known = modules()
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in known.items():
        for node in nodes_of(path):
            if isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                wanted = [each if each in known else str(node.module) for each in inside]
            else:
                continue
            for each in known.keys() & set(wanted):
                found[each].add(name)
    return found


def test_a_short_module_with_one_user_says_why_it_stands_alone() -> None:
    used_by = importers()
    found = []
    for name, path in modules().items():
        text = path.read_text(encoding="utf-8")
        if path.name == "__init__.py" or text.count("\n") >= LONG_ENOUGH or len(used_by[name]) != 1:
            continue
        if REASON not in docstring_of(path).lower():
            found.append(f"{name}, used by {next(iter(used_by[name]))}")
    assert found == [], f"put it where it is used, or say why not in its docstring: {REASON!r} …"


def test_migrations_are_numbered_one_after_the_other() -> None:
    numbers = sorted(path.name[:4] for path in (ROOT / "app" / "storage" / "migrations").glob("*.sql"))
    assert numbers == [f"{number:04}" for number in range(1, len(numbers) + 1)]
