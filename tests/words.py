"""Every text that a person can see, with its place: `python -m tests.words [PATH…]` prints one per line.

Found by reading the sources. A string counts when it is given to something that shows or says it (`tr`, `setText`,
a sentence of a problem), or when it reads as words: a capitalized word, or several words with spaces. Docstrings, SQL,
style sheets, HTTP headers and what goes into logs do not count. A value that is filled in prints as {…}.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "docs", "CHANGELOG.md", "resources/handbook")
FOR_DEVELOPERS = ("docs/architecture.md", "docs/style.md")  # held to docs/style.md by tests/test_style.py
# Neither shown nor said: what the Sandbox sends as a service's own words, tables of patterns, what engines are given.
NOT_SHOWN = ("app/sandbox/knowledge", "app/sandbox/media/")
SHOWS = {
    *("tr", "tr_n", "setText", "setToolTip", "setPlaceholderText", "setAccessibleName", "setTitle"),
    *("setAccessibleDescription", "setWindowTitle", "addAction", "addItem", "addTab", "setStatusTip"),
    *("setPrefix", "setSuffix", "setSpecialValueText", "Problem", "toast", "show_toast", "announce", "set_text"),
    "setInformativeText",
}
TRANSLATES = {"tr", "tr_n"}
HIDDEN_CALLS = {
    *("debug", "info", "log", "compile", "getLogger", "setStyleSheet", "setObjectName", "setProperty", "execute"),
    *("cast", "TypeVar", "import_module", "namedtuple", "AssertionError", "fullmatch", "sub", "findall", "finditer"),
    *("endswith", "startswith", "removeprefix", "removesuffix", "partition", "rpartition", "setdefault", "attrSet"),
    *("DraftAutosave", "Thread", "setStyle", "setApplicationName", "encode", "new_method_call", "show_as"),
}
LOGS = {"debug", "info", "error", "warning", "exception", "critical"}
NAMES_A_TASK = {"start", "start_unless_running", "replace", "begin", "cancel", "follow", "running", "ended", "close"}
INTERNAL_ERRORS = {
    *("TypeError", "KeyError", "AssertionError", "NotImplementedError", "AttributeError", "LookupError", "ValueError"),
    *("ConnectionResetError", "ConnectionAbortedError", "ConnectError", "gaierror", "FileNotFoundError"),
    *("InvalidTransition", "ReadTimeout"),
}
HIDDEN_ARGUMENTS = {"key", "shortcut", "siwx_statement", "objectName"}
NOT_WORDS = re.compile(
    r"^(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WITH|BEGIN|COMMIT|FROM|WHERE|ORDER|VACUUM|AND|OR|SET|REPLACE)\b"
    r"|\b(INTEGER|TEXT NOT NULL|PRIMARY KEY|IS NULL|IS NOT NULL|ORDER BY|CROSS JOIN|ON CONFLICT)\b|[;{]\s*[a-z-]+:\s"
    r"|</?[a-z]+[ >]|<!doctype|^[a-z-]+/[a-z-]+|LIKE \?|= \?|MATCH \?|\bIN \(\{…\}\)"
    r"|^Q[A-Z]|^--|\\[bdsw]|\(\?|^(import|from \w+ import|cast|curl|export [A-Z]\w+=) ?|--raw|^export [A-Z]"
    r"|\.(flac|txt|wav|png|json)$|^(Bearer|CONNECT|(Proxy-)?Authorization:?) "
)
# Names of things, keys of a keyboard and of HTTP: the same in every language.
NAMES = frozenset(
    """
    Rialto Venice Inter Fusion Opus Claude Starknet Solana Ethereum Base Accept Authorization Range Notify
    Enter Esc Del Space Return Backspace
    """.split()  # noqa: SIM905 - a line for each name would be a page
) | {
    *(
        "JetBrains Mono",
        "Ogg Vorbis",
        "Open WebUI",
        "Windows Credential Manager",
        "Windows WASAPI",
        "local machine",
        "macOS Keychain",
        "Secret Service",
    ),
    *("BNB Chain", "zkSync Era", "USD Coin", "SIL Open Font License 1.1", "Inter, JetBrains Mono"),
}
# What reads as words and is not shown, by where it is → what it is there.
NEVER_SHOWN: tuple[tuple[str, str, str], ...] = (
    ("app/__main__.py", ".*", "said before anything is loaded"),
    ("app/bootstrap/account_services.py", "Sandbox", "the name of an account, saved"),
    ("app/bootstrap/wallet_tab.py", "hard top-up", "the key of a limit"),
    ("app/core/spending_limits.py", r"(whole|tab|account) \{…\}", "keys of limits"),
    ("app/documents/archives.py", "Relationship|External|Target", "names in office files"),
    ("app/documents/office.py", "Fallback", "a name in office files"),
    ("app/documents/search.py", r"\n    a an and .*", "words of questions"),
    ("app/documents/files.py", r"\n    py .*", "endings of file names"),
    ("app/documents/limits.py", "[A-Z][A-Za-z]+", "fields of a structure of Windows"),
    ("app/sealed/chain.py", "Intel SGX Root CA|Platform", "names in certificates"),
    ("app/sealed/collateral.py", "in the future", "what a library says"),
    ("app/sealed/quote.py", "Intel TDX", "the name of a technology"),
    ("app/ui/chat/seal_dialog.py", "not checked", "an outcome of a check"),
    ("app/formats.py", ".*", "patterns"),
    ("app/service/client.py", "Rialto", "what the program calls itself to a service"),
    ("app/service/crypto_rpc.py", "signed payload, not kept", "saved in place of what is signed"),
    ("app/service/rpc_methods.py", r"[a-z]+[A-Z]?.*", "names of methods"),
    ("app/service/rpc_methods.py", "Subscribe|Unsubscribe", "names of methods"),
    ("app/service/speech_text.py", "no nos vol .*", "abbreviations"),
    ("app/storage/imports/chat_import_shapes.py", "Claude|Open WebUI", "names of programs"),
    (
        "app/storage/imports/chat_app_shapes.py",
        r"Grok|Le Chat|LM Studio|Chatbox|Cherry Studio|Google AI Studio|Gemini \(Google Takeout\)",
        "names of programs",
    ),
    ("app/ui/kit/image_metadata.py", "Comment|Description|Software", "fields of a file"),
    ("app/storage/licenses.py", "License|Classifier|Resources", "fields of a package's metadata"),
    ("app/service/rpc_methods.py", r"\n.*", "names of methods"),
    ("app/storage/search_index.py", r"\nCREATE .*", "SQL"),
    ("app/storage/chat_rows.py", "id, .*", "names of columns"),
    ("app/storage/receipt_book.py", r"POST \{…\}", "a request"),
    ("app/ui/settings/sandbox/own_code.py", "Start it and name it", "a heading of a file in English"),
    ("app/ui/chat/composer/attachment.py", r"\[\{…\} “.*", "said to a model"),
    ("app/ui/chat/composer_controller.py", r"character \{…\}", "a key"),
    ("app/ui/chat/session/export.py", r"\n.*\{.*", "a style sheet"),
    ("app/ui/chat/structure_dialog.py", r"\[\n.*", "JSON"),
    ("app/ui/crypto_rpc/contract_dialog.py", "rpc interface file", "the name of a task"),
    ("app/ui/crypto_rpc/presenter.py", "the batch draft", "the id of a command"),
    ("app/ui/crypto_rpc/response_controller.py", "rpc save", "the name of a task"),
    ("app/ui/crypto_rpc/session/batch.py", "Unterminated string.*", "what Python says of JSON"),
    ("app/ui/crypto_rpc/session/decoding.py", "function name.*", "a contract"),
    ("app/ui/crypto_rpc/session/sending.py", "signed transaction, not kept", "saved in place of what is signed"),
    ("app/ui/images/image_actions.py", "images edit draft", "the name of a task"),
    ("app/ui/images/presenter.py", r"images (call \{…\}|desk)", "names of tasks and drafts"),
    ("app/ui/images/session/image_edits.py", r"images \{…\} \{…\}", "the name of a task"),
    ("app/ui/kit/markdown/code.py", ".*", "names of programming languages"),
    ("app/ui/settings/about/page.py", r"Rialto \{…\}\n.*", "versions, for a report"),
    ("app/ui/settings/state.py", r"tab \w+", "keys of limits"),
    ("app/ui/shell/crash_reports.py", ".*", "a report for those who make the program"),
    ("app/ui/shell/overlays.py", r"undo \{…\}", "a key"),
    ("app/ui/shell/self_test.py", "How does Rialto keep.*", "asked of the Sandbox, whose handbook is English"),
    ("app/ui/shell/tour", "(A night train|Travel poster).*|.*\\?$", "asked of the Sandbox"),
    ("app/ui/speech/presenter.py", "speech (speak|desk)", "names of tasks and drafts"),
    ("app/ui/speech/session/synthesis.py", "decode speech", "the name of a thread"),
    ("app/ui/speech/session/", "at most", "one of the kinds of a price"),
    ("app/ui/speech/session/clip_actions.py", "speech (audition|open)", "names of tasks"),
    ("app/ui/speech/session/clip_library.py", "Spoken by .*", "a field of a file"),
    ("app/ui/speech/session/voice_cloning.py", "speech sample", "the name of a task"),
    ("app/ui/speech/session/voice_list.py", "(The tide|La mar|Um zw|A mar).*", "spoken by a voice of that language"),
    ("app/ui/transcription/presenter.py", r"transcribe \{…\}", "the name of a task"),
    ("app/ui/transcription/session/batch_queue.py", r"transcribe files|batch \{…\}", "names of tasks"),
    ("app/ui/transcription/session/recording_controller.py", "test microphone", "the name of a task"),
    ("app/ui/transcription/session/transcript_editor.py", r"(edit|cue) \{…\}.*", "keys"),
    ("app/ui/video/session/", "video (poll|send|desk)", "names of tasks and drafts"),
    ("app/ui/wallet/limit_fields.py", r"(account|soft|hard|low|tab) \{…\}|hard top-up", "keys of limits"),
    ("app/ui/wallet/presenter.py", r"(hard|soft) day|low \{…\}", "keys of limits"),
    ("app/ui/wallet/presenter_top_up.py", "top-up (terms|review|holds|pay)", "names of tasks"),
    ("app/ui/wallet/session/comparison.py", r"unnamed \{…\}", "a key"),
    ("app/wallet/abi.py", r"Error|Panic|hash 0x", "names in a contract"),
    ("app/wallet/networks.py", ".*", "names that are signed"),
    ("app/ui/wallet/session/wallet_keys.py", "Wallet", "the name of an account, saved"),
    (
        "app/wallet/sign_in_message.py",
        r"(Chain ID|Issued At|Expiration Time|Not Before|Request ID|Resources).*",
        "EIP-4361",
    ),
    ("app/wallet/sign_in_message.py", ".*wants you to sign in.*", "EIP-4361"),
)
# Files whose dictionaries have labels as keys.
LABELS_AS_KEYS = (
    "app/ui/chat/models/model_picker_list.py",
    "app/ui/shell/self_test.py",
    "app/ui/speech/session/session_calls.py",
)


class Text(NamedTuple):
    path: str
    line: int
    words: str
    translated: bool

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.words!r}"


def reads_as_words(words: str) -> bool:
    if NOT_WORDS.search(words) or words in NAMES:
        return False
    plain = words.replace("{…}", "0")
    return bool(
        re.search(r"[A-Za-z]{2,}[,.:;…]? (a |A )?\(?[A-Za-z]{2,}|[A-Za-z]{2,} 0|0 [a-z]{3,}|^A [a-z]{3,}", plain)
        or re.fullmatch(r"[A-Z][a-z’]{2,}(-[a-z]+)?[….:]?", plain)
    )


def value(node: ast.expr) -> str | None:
    """The text of a literal, with {…} for each value filled in; None for everything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{…}" for part in node.values)
    return None


def called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", "") or getattr(function, "id", "")


def is_logged(node: ast.AST) -> bool:
    """Whether a call writes into the log, which nobody translates: those who help read it."""
    return called(node) in LOGS and re.search(r"'_?log(ger)?'", ast.dump(node.func)) is not None  # type: ignore[attr-defined]


def is_hidden(words: str, path: str) -> bool:
    return any(path.startswith(place) and re.fullmatch(pattern, words, re.DOTALL) for place, pattern, _ in NEVER_SHOWN)


def literals(
    node: ast.AST, path: str, shows: bool = False, translated: bool = False
) -> Iterator[tuple[ast.expr, str, bool]]:
    """Each literal under `node` that is shown, its words, and whether it goes through `tr`."""
    if isinstance(node, ast.expr) and (words := value(node)) is not None:
        wordy = re.search(r"[A-Za-z]{2}", words.replace("{…}", ""))
        seems = (shows and words not in NAMES) or reads_as_words(words)
        if wordy and (translated or (seems and not is_hidden(words, path))):
            yield node, words, translated
        for part in node.values if isinstance(node, ast.JoinedStr) else ():
            if isinstance(part, ast.FormattedValue):
                yield from literals(part.value, path)
        return
    name = called(node)
    if name in HIDDEN_CALLS or isinstance(node, ast.Import | ast.ImportFrom | ast.Global | ast.Assert):
        return
    if is_logged(node):
        return
    if name == "split" and isinstance(getattr(getattr(node, "func", None), "value", None), ast.Constant):
        return
    if isinstance(node, ast.Raise) and called(node.exc or node) in INTERNAL_ERRORS:
        return
    if isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "__str__"):
        return
    if isinstance(node, ast.ClassDef) and any("Enum" in ast.dump(base) for base in node.bases):
        return
    if isinstance(node, ast.Assign) and any(
        getattr(each, "id", "") in ("__all__", "__slots__") for each in node.targets
    ):
        return
    if (
        isinstance(node, ast.keyword)
        and node.arg in HIDDEN_ARGUMENTS
        and isinstance(node.value, ast.Constant | ast.JoinedStr)
    ):
        return
    for field, child in ast.iter_fields(node):
        if field in ("annotation", "returns", "slice", "type_params", "pattern"):
            continue
        if isinstance(node, ast.Dict) and field == "keys" and not path.startswith(LABELS_AS_KEYS):
            continue
        for each in child if isinstance(child, list) else [child]:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                continue  # a docstring
            if name in NAMES_A_TASK and child and isinstance(child, list) and each is child[0]:
                continue
            if isinstance(each, ast.AST):
                direct = (
                    name in SHOWS and field in ("args", "keywords") and isinstance(each, ast.Constant | ast.JoinedStr)
                )
                through = translated or (name in TRANSLATES and field == "args")
                yield from literals(each, path, direct, through)


def _texts(node: ast.AST, path: str, shows: bool, translated: bool) -> Iterator[Text]:
    for each, words, through in literals(node, path, shows, translated):
        yield Text(path, each.lineno, words, through)


@cache
def of_sources() -> tuple[Text, ...]:
    return tuple(
        each
        for file in sorted((ROOT / "app").rglob("*.py"))
        if not (path := file.relative_to(ROOT).as_posix()).startswith(NOT_SHOWN)
        for each in _texts(ast.parse(file.read_text(encoding="utf-8")), path, False, False)
    )


@cache
def of_documents() -> tuple[Text, ...]:
    """Each line of the README, the changelog and the handbook, but for code and words to search by."""
    found = []
    for name in DOCUMENTS:
        for file in sorted((ROOT / name).glob("*.md")) if (ROOT / name).is_dir() else [ROOT / name]:
            path, code = file.relative_to(ROOT).as_posix(), False
            if path in FOR_DEVELOPERS:
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                code ^= line.lstrip().startswith("```")
                if not code and not line.startswith("<!--") and re.search(r"[A-Za-z]{2}", line):
                    found.append(Text(path, number, line.strip(), False))
    return tuple(found)


if __name__ == "__main__":
    for text in (*of_sources(), *of_documents()):
        if text.path.startswith(tuple(sys.argv[1:]) or ""):
            print(text)
