"""Decision records: one file each in docs/decisions, all of one form, and an index that lists them.

`python -m tests.test_decisions` writes the index again.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "decisions"
INDEX = FOLDER / "README.md"
SECTIONS = ["Context", "Decision", "Consequences", "What would change it"]
STATUS = re.compile(r"^- Status: (accepted|superseded.*)$", re.MULTILINE)
DATE = re.compile(r"^- Date: \d{4}-\d{2}-\d{2}$", re.MULTILINE)
INTRODUCTION = """# Decisions

Why Rialto is built the way it is: one file per decision with its context, its consequences, and what would change it.
Number a new one after the last. `python3 -m tests.test_decisions` writes this index.

"""


def records() -> list[Path]:
    return sorted(FOLDER.glob("[0-9]*.md"))


def index() -> str:
    rows = []
    for path in records():
        text = path.read_text(encoding="utf-8")
        number, title = text.split("\n", 1)[0].removeprefix("# ").split(". ", 1)
        status = STATUS.search(text)
        superseded = f" ({status[1]})" if status and status[1] != "accepted" else ""
        rows.append(f"{number}. [{title}]({path.name}){superseded}\n")
    return INTRODUCTION + "".join(rows)


def test_every_decision_has_the_same_form() -> None:
    for path in records():
        text = path.read_text(encoding="utf-8")
        number = int(path.name[:4])
        assert text.startswith(f"# {number}. "), path.name
        assert STATUS.search(text), path.name
        assert DATE.search(text), path.name
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == SECTIONS, path.name


def test_numbers_are_unique() -> None:
    numbers = [path.name[:4] for path in records()]
    assert len(numbers) == len(set(numbers))


def test_the_index_lists_every_decision() -> None:
    assert INDEX.read_text(encoding="utf-8") == index(), "run: python3 -m tests.test_decisions"


def test_decisions_count_no_lines() -> None:
    """Such a figure is wrong the next day."""
    for path in records():
        found = re.findall(
            r"\b[\d,.]+ (?:lines|files|modules|functions|classes)\b.{0,40}", path.read_text(encoding="utf-8")
        )
        assert found == [], f"{path.name}: leave the figure out, or have a test read it"


if __name__ == "__main__":
    INDEX.write_text(index(), encoding="utf-8")
