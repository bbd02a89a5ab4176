"""What code and documents say, checked against docs/style.md: words that are ruled out, names that do not exist.

`python -m tests.test_style` prints every place of a forbidden word.
"""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORBIDDEN = re.compile(
    r"\b(mend(s|ed|ing)?|anew|whoever|strangers?|deeds?|hitherto|upon|purses?|glimpse[sd]?|knobs?|shel(f|ves)|"
    r"as it stands|gone? on with|told of|says no|films?)\b",
    re.IGNORECASE,
)
# Places that are left to rewrite. Lower it when you rewrite some; nothing may raise it.
LEFT = 759
ELSEWHERE = {
    "JsonRpcProvider",
    "CalledProcessError",
    "AsyncHTTPTransport",
}  # classes of libraries that only documents mention
EXAMPLES = ("packaging/reruns.py", "tests/packaging/")  # paths of made-up projects
# Words on screen are for tests/test_words.py; the rest lists words to refuse, to find, or as others wrote them.
NOT_OURS = (
    *("tests/test_style.py", "tests/test_words.py", "docs/style.md", "resources/words.md", "tests/sandbox/clients/"),
    *(
        "app/sandbox/knowledge/",
        "resources/data/",
        "app/sandbox/chat/word_stems.py",
        "tests/documents/",
        "tests/fakes/",
    ),
    *("packaging/licence_texts/", "app/wallet/bip39", "LICENSE", "resources/licences/"),
)
TYPED = (".py", ".md", ".toml", ".yml", ".nsi", ".spec", ".sql", ".qss", ".svg")
PATH = re.compile(r"\b(?:app|tests|packaging|resources|docs)/[\w./-]*\w\.(?:py|md|json|sql|qss|toml|spec)\b")
NAME = re.compile(r"\b[A-Z]\w+")
CLASS = re.compile(r"`([A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+)`")


@cache
def tracked() -> tuple[str, ...]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(name for name in listed.splitlines() if name.endswith(TYPED) and (ROOT / name).is_file())


def ours() -> Iterator[tuple[str, str]]:
    for name in tracked():
        if not name.startswith(NOT_OURS):
            yield name, (ROOT / name).read_text(encoding="utf-8")


def forbidden_words() -> list[str]:
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in ours()
        for number, line in enumerate(text.splitlines(), 1)
        if FORBIDDEN.search(line)
    ]


@cache
def identifiers() -> frozenset[str]:
    """Return every capitalized name on a line of code: one that is no comment and quotes nothing in backticks."""
    found: set[str] = set()
    for name, text in ours():
        if name.endswith(".py"):
            for line in text.splitlines():
                if "`" not in line and not line.lstrip().startswith("#"):
                    found.update(NAME.findall(line))
    return frozenset(found)


def test_no_word_that_the_style_guide_rules_out() -> None:
    found = forbidden_words()
    assert len(found) <= LEFT, "see docs/style.md:\n" + "\n".join(found)


def test_paths_in_comments_and_documents_exist() -> None:
    missing = [
        f"{name}: {path}"
        for name, text in ours()
        for path in PATH.findall(text)
        if not name.startswith(EXAMPLES)
        and not (ROOT / path).exists()
        and not list(ROOT.glob(path.replace("<", "*").replace(">", "*")))
    ]
    assert missing == []


def test_classes_named_in_comments_and_documents_exist() -> None:
    known = identifiers()
    missing = [
        f"{name}: {word}" for name, text in ours() for word in CLASS.findall(text) if word not in known | ELSEWHERE
    ]
    assert missing == []


if __name__ == "__main__":
    print(*forbidden_words(), sep="\n")
