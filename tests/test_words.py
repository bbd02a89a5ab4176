"""What Rialto says, held to resources/words.md: constructions that are not English, and terms that have another name.

`python -m tests.test_words` prints what breaks each rule.
"""

from __future__ import annotations

import ast
import json
import re

import pytest

from tests.words import ROOT, Text, _texts, called, is_logged, of_documents, of_sources

# What is said, and what to say instead → its pattern.
NOT_ENGLISH: dict[str, str] = {
    "stands: is, appears, comes": r"\b(stands?|standing|stood)\b(?!-in)",
    "goes on: continues": r"\b(goes|going|went|go) on\b(?! with\b)",
    "lies: is stored, is": r"\b(lies?|lying)\b",
    "a day: per day": r"(\b[Oo]nce|[\d}]) an? (day|month|hour|minute|second|turn)\b",
    "one a line: one per line": r"\bone a (line|row)\b",
    "anew: again": r"\banew\b",
    "for good: permanently": r"\bfor good\b",
    "bring back: restore": r"\b[Bb]r(ing|ings|ought) (it |them )?back\b",
    "no more: no longer": r"\b(has|have|is|are) [\w ]*\bno more\b",
    "all the same: anyway": r"\ball the same\b",
    "is to be: should, will": r"\b(is|are) to be\b",
    "whoever, whatever becomes: anyone, even if": r"\b(whoever|whatever becomes)\b",
    "beside: next to, in addition to": r"\bbeside\b",
    "thinks aloud: shows its reasoning": r"\bthink(s|ing)? aloud\b",
    "so that it can: so you can": r"\bso that (it|they) can\b",
    "such a: this kind of": r"\b(not|no) such (a )?(service|file|thing)\b",
    "turned out: is": r"\bturned out\b",
    "not any more: no longer": r"\b(not|no)\b[\w ]* any ?more\b",
    "holds: contains": r"\b([Ii]t|document|file|project) holds\b",
    "goes along: is sent": r"\b(goes|went|go) along\b",
    "take out: remove": r"\b[Tt]ake out\b",
    "words alone: words only": r"\bwords alone\b",
}
TERMS: dict[str, str] = {
    "film: video": r"\b[Ff]ilm(s|ed|ing)?\b",
    "stop texts: stop sequences": r"\b[Ss]top texts?\b",
    "left to the model: model default": r"\b[Ll]eft to the (model|service)\b",
    "keychain: system keyring": r"\bkeychain\b",
    "chain calls: blockchain calls": r"\b[Cc]hain calls?\b",
    "booking: charge": r"\b[Bb]ook(ed|ings?)\b",
    "save a copy: save as": r"\b[Ss]ave a copy\b",
    "please, oops, successfully": r"\b([Pp]lease|[Oo]ops|[Ss]uccessfully)\b",
    "exclamation mark": r"[a-z]!(\s|$)",
    "by itself: automatically": r"\bby (itself|themselves)\b",
    "what is known of: details": r"\bwhat is known of\b",
    "leave out, rub out: negative prompt, erase": r"\b([Ll]eave|[Ll]eft|[Rr]ub) out$",
    "request id: request ID": r"\b([Rr]equest|[Cc]hain|[Qq]ueue) id\b",
    "pictures: images": r"\b[Pp]ictures?\b",
    "Nobody knows: it is not clear": r"\b[Nn]obody (knows|can say)\b",
    "ended: quit": r"\bRialto (ended|ends)\b",
    "US spelling": r"\b\w*(colour|favourite|behaviour|licence|cancelled|recognis|neighbour|catalogue|centred)\w*\b",
}
# What is said to a service, not to a person; names of files and formats; quotations.
EXCEPT: tuple[str, ...] = (
    *("resources/words.md", "CHANGELOG.md"),
    *("app/sandbox/chains/evm_chain.py", "app/sandbox/chat/word_stems.py"),  # a node's wire words; words to search by
)


# What a person types, or a service says, as it is written there: neither takes typographic apostrophes and quotes.
AS_TYPED: tuple[tuple[str, str], ...] = (
    *((path, ".*") for path in ("app/sandbox/accounts/sign_in.py", "app/sandbox/accounts/account.py")),
    *((path, ".*") for path in ("app/sandbox/chains/", "app/sandbox/chat/", "app/sandbox/http/errors.py")),
    ("app/core/extra_json.py", r'Enter an object: \{"name": value}\.'),
    ("app/ui/crypto_rpc/collection_controller.py", r'Enter variables as an object: \{"address": "0x…"}\.'),
    (
        "app/ui/crypto_rpc/session/batch.py",
        r'The (protocol version must be "2\.0"|call has no "method"|"params" must.*)\.',
    ),
)
CODE = re.compile(r"`[^`]*`|<[^>]*>")


def all_texts() -> tuple[Text, ...]:
    return tuple(each for each in (*of_sources(), *of_documents()) if not each.path.startswith(EXCEPT))


def breaking(pattern: str) -> list[Text]:
    return [each for each in all_texts() if re.search(pattern, each.words)]


@pytest.mark.parametrize("rule", [*NOT_ENGLISH, *TERMS])
def test_no_text_breaks_a_rule_of_words(rule: str) -> None:
    found = breaking((NOT_ENGLISH | TERMS)[rule])
    assert not found, f"{rule} (resources/words.md):\n" + "\n".join(map(str, found))


def test_apostrophes_and_quotation_marks_are_typographic() -> None:
    found = [
        each
        for each in (*of_sources(), *of_documents())
        if re.search("['\"]", CODE.sub("", each.words))
        and not any(each.path.startswith(path) and re.fullmatch(words, each.words) for path, words in AS_TYPED)
    ]
    assert not found, "write ’ “ ” (resources/words.md):\n" + "\n".join(map(str, found))


def test_names_and_words_of_characters_are_typographic() -> None:
    characters = json.loads((ROOT / "resources/data/characters.json").read_text(encoding="utf-8"))
    shown = [each.get(field, "") for each in characters for field in ("name", "description", "greeting")]
    assert [words for words in shown if re.search("['\"]", words)] == []


def test_every_text_goes_through_the_translation() -> None:
    bare = [each for each in of_sources() if not each.translated and not each.path.startswith("app/sandbox/")]
    assert not bare, (
        "wrap it in tr() (app/translation.py), or say in tests/words.py why nobody reads it:\n"
        + "\n".join(map(str, bare))
    )


def test_no_line_of_the_log_is_translated() -> None:
    logged = (
        (file, node)
        for file in (ROOT / "app").rglob("*.py")
        for source in [file.read_text(encoding="utf-8")]
        if re.search(r"\blog\w*|\b_log\b", source)
        for node in ast.walk(ast.parse(source))
        if is_logged(node)
    )
    found = [
        f"{file.name}:{node.lineno}" for file, node in logged if any(called(each) == "tr" for each in ast.walk(node))
    ]
    assert not found


def test_the_list_finds_what_is_shown_and_leaves_out_what_is_not() -> None:
    source = '''
"""A docstring of a module."""
label.setText("ok")
button = button_of("Send anyway", f"Costs {price} per day")
log.info("not shown to anyone")
database.execute("SELECT name FROM chats WHERE id = ?")
key = row["plain key"]
title = tr("{count} chats")
'''
    found = [(each.line, each.words, each.translated) for each in _texts(ast.parse(source), "x.py", False, False)]
    assert found == [
        (3, "ok", False),
        (4, "Send anyway", False),
        (4, "Costs {…} per day", False),
        (8, "{count} chats", True),
    ]


if __name__ == "__main__":
    for name, expression in (NOT_ENGLISH | TERMS).items():
        texts = breaking(expression)
        print(f"\n{name}: {len(texts)}")
        for text in texts:
            print(f"  {text}")
