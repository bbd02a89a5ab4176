"""Names for files: every system takes them, and nobody is misled by them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage.file_names import MAX_BYTES, file_name, is_reserved


@pytest.mark.parametrize("title", ["東京の天気" * 30, "é" * 300, "😀" * 100, "word " * 200])
def test_a_long_title_is_cut_by_bytes_between_characters(title: str) -> None:
    name = file_name(title, ".mp3", otherwise="Clip")
    assert MAX_BYTES - 4 < len(name.encode()) <= MAX_BYTES
    assert name.endswith(".mp3") and title.startswith(name[:-4])


@pytest.mark.parametrize("title", ["Con", "nul", "COM1", "lpt9", "aux ", "con.fidential", "NUL.tar"])
def test_a_name_that_windows_keeps_for_itself_is_changed(title: str) -> None:
    name = file_name(title, ".md", otherwise="Chat")
    assert not is_reserved(name)
    assert name.removeprefix("_").startswith(title.strip())


@pytest.mark.parametrize("title", ["Console", "Nullable", "Auxiliary", "company", "com", "Prnt"])
def test_a_name_that_only_begins_like_one_of_these_stays(title: str) -> None:
    assert file_name(title, ".md", otherwise="Chat") == f"{title}.md"


def test_what_changes_the_direction_of_a_name_is_left_out() -> None:
    assert file_name("invoice\u202egnp.exe", ".html", otherwise="Chat") == "invoice gnp.exe.html"


def test_joined_signs_stay_joined() -> None:
    assert file_name("👨\u200d👩\u200d👧", ".png", otherwise="Image") == "👨\u200d👩\u200d👧.png"


@pytest.mark.parametrize("title", ["", "...", "///", "\n\t", "\ud800", "\u202e"])
def test_a_title_of_which_nothing_is_left_gives_way(title: str) -> None:
    assert file_name(title, ".wav", otherwise="Clip") == "Clip.wav"


@given(title=st.text(max_size=400))
def test_every_title_makes_a_name_that_the_disk_takes(tmp_path_factory: pytest.TempPathFactory, title: str) -> None:
    name = file_name(title, ".mp3", otherwise="Clip")
    assert len(name.encode()) <= MAX_BYTES
    assert Path(name).name == name and not is_reserved(name)
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(b"")
    assert path.is_file()
    path.unlink()
