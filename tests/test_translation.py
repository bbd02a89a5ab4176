"""Texts in another language: what `app.translation` gives, and how a catalog is found."""

from __future__ import annotations

import ast
import re
import string
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path

import pytest

from app import translation
from app.translation import catalog_of, tr, tr_n

ROOT = Path(__file__).resolve().parent.parent
HEADER = "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n>1;\n"


def compiled(texts: Mapping[str, str]) -> bytes:
    """A catalog in the form that gettext reads: English → translation, with \\0 between the forms of a plural."""
    rows = sorted((key.encode(), text.encode()) for key, text in {"": HEADER, **texts}.items())
    table, body = 28, 28 + 16 * len(rows)
    keys, values, data = b"", b"", b""
    for key, _ in rows:
        keys += struct.pack("<2I", len(key), body + len(data))
        data += key + b"\0"
    for _, text in rows:
        values += struct.pack("<2I", len(text), body + len(data))
        data += text + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(rows), table, table + 8 * len(rows), 0, 0)
    return head + keys + values + data


def catalog(texts: Mapping[str, str]) -> NullTranslations:
    return GNUTranslations(BytesIO(compiled(texts)))


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    translation.use(None)


def test_english_is_the_text_itself() -> None:
    assert tr("Send anyway") == "Send anyway"
    assert tr("Costs {price} per day", price="$1") == "Costs $1 per day"
    assert tr('Enter an object: {"name": value}.') == 'Enter an object: {"name": value}.'
    assert tr("{{n}} is {n}", n=1) == "{n} is 1"


def test_whole_numbers_are_written_by_the_language_and_what_only_looks_like_one_is_not() -> None:
    assert tr("{count} of {total}", count=1284, total=10_000) == "1,284 of 10,000"
    assert tr("{count} more", count=10**15) == "– more"
    assert tr("port {port}", port="41933") == "port 41933"
    assert tr_n("{n} of {total} chat", "{n} of {total} chats", 1284, total=2000) == "1,284 of 2,000 chats"
    assert tr("on: {on}", on=True) == "on: True"


def test_the_number_chooses_the_form_and_has_its_thousands_separated() -> None:
    assert tr_n("{n} chat", "{n} chats", 1) == "1 chat"
    assert tr_n("{n} chat", "{n} chats", 0) == "0 chats"
    assert tr_n("{n} chat of {name}", "{n} chats of {name}", 1234, name="Ada") == "1,234 chats of Ada"


def test_a_catalog_translates_with_its_own_plural_rule() -> None:
    translation.use(
        catalog({"Save as {name}": "{name} speichern", "{n} chat\0{n} chats": "{n} conversation\0{n} fils"})
    )
    assert tr("Save as {name}", name="a.md") == "a.md speichern"
    assert tr_n("{n} chat", "{n} chats", 0) == "0 conversation"
    assert tr_n("{n} chat", "{n} chats", 2) == "2 fils"
    assert tr("not in the catalog") == "not in the catalog"


@pytest.mark.parametrize("broken", ["{nam} speichern", "{", "{name.first} speichern", "{0} speichern"])
def test_a_translation_with_a_wrong_field_gives_way_to_english(broken: str) -> None:
    translation.use(catalog({"Save as {name}": broken}))
    assert tr("Save as {name}", name="a.md") == "Save as a.md"


def test_a_missing_value_is_an_error_and_not_a_sentence_with_a_hole() -> None:
    with pytest.raises(KeyError):
        tr("Save as {name}", title="a.md")


def test_a_catalog_is_found_by_its_language(tmp_path: Path) -> None:
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "rialto.mo").write_bytes(compiled({"Send": "Senden"}))
    found = catalog_of("de_AT", tmp_path)
    assert found is not None
    assert found.gettext("Send") == "Senden"
    assert catalog_of("fr", tmp_path) is None
    assert catalog_of("en", tmp_path) is None


@pytest.mark.parametrize("damage", [b"", b"no catalog", b"\xde\x12\x04\x95 cut", compiled({"Send": "Senden"})[:-9]])
def test_a_damaged_catalog_leaves_the_window_in_english(damage: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "rialto.mo").write_bytes(damage)
    assert catalog_of("de", tmp_path) is None


def test_english_loads_no_library_for_languages() -> None:
    code = "import sys; import app.translation; sys.exit('gettext' in sys.modules)"
    assert subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, check=False).returncode == 0


@cache
def calls() -> tuple[tuple[str, ast.Call, list[ast.AST]], ...]:
    """Each call of tr and tr_n with its place, and what it stands in, the innermost first."""
    return tuple(_calls())


def _calls() -> Iterator[tuple[str, ast.Call, list[ast.AST]]]:
    for file in sorted((ROOT / "app").rglob("*.py")):
        source = file.read_text(encoding="utf-8")
        if not re.search(r"\btr(_n)?\b", source):
            continue
        above: dict[ast.AST, ast.AST] = {}
        nodes: list[ast.AST] = [ast.parse(source)]
        for node in nodes:
            inner = list(ast.iter_child_nodes(node))
            above.update(dict.fromkeys(inner, node))
            nodes += inner
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tr", "tr_n"):
                outer: list[ast.AST] = [node]
                while isinstance(outer[-1], ast.expr | ast.keyword) and outer[-1] in above:
                    outer.append(above[outer[-1]])
                yield f"{file.relative_to(ROOT).as_posix()}:{node.lineno}", node, outer[1:]


def test_a_text_is_one_literal_whose_fields_are_the_values_given() -> None:
    found = []
    for place, call, _ in calls():
        assert isinstance(call.func, ast.Name)
        texts = call.args[: 1 if call.func.id == "tr" else 2]
        if not all(isinstance(text, ast.Constant) and isinstance(text.value, str) for text in texts):
            found.append(f"{place} is no literal: {ast.unparse(call)}")
            continue
        given = {value.arg for value in call.keywords}
        fields = {
            field
            for text in texts
            if given or call.func.id == "tr_n"
            for _, field, _, _ in string.Formatter().parse(ast.literal_eval(text))
            if field is not None
        }
        if fields - {"n"} != given - {"n"} or None in given:
            found.append(f"{place} has the fields {fields} and the values {given}")
        if len(call.args) != len(texts) + (call.func.id == "tr_n"):
            found.append(f"{place}: values have names, so that a translator knows what they are")
    assert found == []


def is_glued(call: ast.Call, outer: list[ast.AST]) -> bool:
    """Whether a text is a part that is put together with others by its spaces and signs."""
    text = call.args[0].value if isinstance(call.args[0], ast.Constant) else ""
    if isinstance(text, str) and (text != text.strip(" ") or text[:1] in ",;"):
        return True
    parent: ast.AST = call
    for each in outer:
        if isinstance(each, ast.IfExp):
            parent = each
            continue
        joins = isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add) and not isinstance(each.right, ast.List)
        return joins or (isinstance(each, ast.AugAssign) and each.value is parent and isinstance(each.op, ast.Add))
    return False


def test_no_sentence_is_glued_from_halves() -> None:
    found = [place for place, call, outer in calls() if is_glued(call, outer)]
    assert found == [], "a sentence in halves cannot be put into another order"


def test_no_plural_is_made_by_hand() -> None:
    by_hand = re.compile(r'(?:"1 \w+"\)?|\bn)\s+if [\w.()\[\]]+ [!=]= 1\b|"" if [\w.()\[\]]+ == 1 else "s"')
    files = [*(ROOT / "app").rglob("*.py")]
    shown = [file for file in files if "sandbox" not in file.relative_to(ROOT / "app").parts[:1]]
    found = [file.name for file in shown if by_hand.search(file.read_text(encoding="utf-8"))]
    assert found == [], "tr_n chooses the form"
