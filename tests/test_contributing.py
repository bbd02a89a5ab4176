"""The page for newcomers and the one on accessibility name files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = "".join((ROOT / page).read_text(encoding="utf-8") for page in ("CONTRIBUTING.md", "docs/accessibility.md"))
PATHS = sorted(
    set(re.findall(r"\b(?:app|tests|packaging|resources)/[\w/.-]*\w", PAGE)) | set(re.findall(r"\b[A-Z]+\.md\b", PAGE))
)


@pytest.mark.parametrize("path", PATHS)
def test_what_the_page_names_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_page_names_the_house() -> None:
    assert len(PATHS) > 40
