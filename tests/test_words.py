"""What Rialto says, held to resources/words.md: constructions that are not English, and terms that have another name.

A rule's number is how many texts still break it. It may only shrink: `python -m tests.test_words` prints them.
"""

from __future__ import annotations

import ast
import re

import pytest

from tests.words import Text, _texts, of_documents, of_sources

# Rule → pattern, and the most that may be left.
NOT_ENGLISH: dict[str, tuple[str, int]] = {
    "stands: is, appears, comes": (r"\b(stands?|standing|stood)\b(?!-in)", 0),
    "goes on: continues": (r"\b(goes|going|went|go) on\b(?! with)", 0),
    "lies: is stored, is": (r"\b(lies?|lying)\b", 0),
    "a day: per day": (
        r"(?<!in )(?<!for )(?<!within )(?<!once )\b\$?[\d{}…]+ an? (day|month|hour|minute|second|line|turn|image)\b",
        0,
    ),
    "one a line: one per line": (r"\bone a (line|row)\b", 0),
    "anew: again": (r"\banew\b", 0),
    "for good: permanently": (r"\bfor good\b", 0),
    "bring back: restore": (r"\b[Bb]r(ing|ings|ought) (it |them )?back\b", 0),
    "no more: no longer": (r"\b(has|have|is|are) [\w ]*\bno more\b", 0),
    "all the same: anyway": (r"\ball the same\b", 0),
    "is to be: should, will": (r"\b(is|are) to be\b", 0),
    "whoever, whatever becomes: anyone, even if": (r"\b(whoever|whatever becomes)\b", 0),
    "beside: next to, in addition to": (r"\bbeside\b", 0),
    "thinks aloud: shows its reasoning": (r"\bthink(s|ing)? aloud\b", 0),
    "so that it can: so you can": (r"\bso that (it|they) can\b", 0),
    "such a: this kind of": (r"\b(not|no) such (a )?(service|file|thing)\b", 0),
    "turned out: is": (r"\bturned out\b", 0),
}
TERMS: dict[str, tuple[str, int]] = {
    "film: video": (r"\b[Ff]ilm(s|ed|ing)?\b", 0),
    "stop texts: stop sequences": (r"\b[Ss]top texts?\b", 0),
    "left to the model: model default": (r"\b[Ll]eft to the (model|service)\b", 0),
    "keychain: system keyring": (r"\bkeychain\b", 0),
    "chain calls: blockchain calls": (r"\b[Cc]hain calls?\b", 0),
    "booking: charge": (r"\b[Bb]ook(ed|ings?)\b", 0),
    "please, oops, successfully": (r"\b([Pp]lease|[Oo]ops|[Ss]uccessfully)\b", 0),
    "exclamation mark": (r"[a-z]!(\s|$)", 0),
    "US spelling": (
        r"\b\w*(colour|favourite|behaviour|licence|cancelled|recognis|neighbour|catalogue|dialogue box|centred)\w*\b",
        0,
    ),
}
# What is said to a service, not to a person; names of files and formats; quotations.
EXCEPT: tuple[str, ...] = ("resources/words.md", "app/sandbox/", "CHANGELOG.md")


def all_texts() -> tuple[Text, ...]:
    return tuple(each for each in (*of_sources(), *of_documents()) if not each.path.startswith(EXCEPT))


def breaking(pattern: str) -> list[Text]:
    return [each for each in all_texts() if re.search(pattern, each.words)]


@pytest.mark.parametrize("rule", [*NOT_ENGLISH, *TERMS])
def test_no_text_breaks_a_rule_of_words(rule: str) -> None:
    pattern, allowed = (NOT_ENGLISH | TERMS)[rule]
    found = breaking(pattern)
    listed = "\n".join(map(str, found))
    assert len(found) <= allowed, f"{rule} (resources/words.md), {len(found)} texts, {allowed} allowed:\n{listed}"
    assert len(found) >= allowed, f"{rule}: only {len(found)} are left. Write that number: it may only shrink."


def test_the_list_finds_what_is_shown_and_leaves_out_what_is_not() -> None:
    source = '''
"""A docstring of a module."""
label.setText("ok")
button = button_of("Send anyway", f"Costs {price} per day")
log.info("not shown to anyone")
database.execute("SELECT name FROM chats WHERE id = ?")
key = row["plain key"]
title = self.tr("{count} chats")
'''
    found = [(each.line, each.words, each.translated) for each in _texts(ast.parse(source), "x.py", False, False)]
    assert found == [
        (3, "ok", False),
        (4, "Send anyway", False),
        (4, "Costs {…} per day", False),
        (8, "{count} chats", True),
    ]


if __name__ == "__main__":
    for name, (expression, _) in (NOT_ENGLISH | TERMS).items():
        texts = breaking(expression)
        print(f"\n{name}: {len(texts)}")
        for text in texts:
            print(f"  {text}")
