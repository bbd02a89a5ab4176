import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.storage import atomic_files
from app.storage.errors import StorageUnavailable
from app.storage.settings import SECRET_STORES, THEMES, Settings, SettingsStore, settings_from, settings_to
from tests.kit.portable import has_mode
from tests.kit.settings import change_settings

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
names = st.sampled_from(sorted(settings_to(Settings())))


def test_settings_survive_being_written_and_read(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path / "settings.json")
    assert (store.value, store.note) == (Settings(), "")
    change_settings(store, theme="dark", text_percent=150, panes={"chat": {"list": 280, "inspector_open": True}})
    again = SettingsStore(tmp_path / "settings.json")
    assert again.value == store.value
    assert again.value.panes["chat"] == {"list": 280, "inspector_open": True}
    assert has_mode(tmp_path / "settings.json", 0o600)


def test_keys_of_a_newer_version_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"theme": "light", "hologram": {"depth": 3}}')
    change_settings(SettingsStore(path), theme="dark")
    assert json.loads(path.read_text())["hologram"] == {"depth": 3}
    assert json.loads(path.read_text())["theme"] == "dark"


@pytest.mark.parametrize("gone", ["active_account", "confirm_links"])
def test_a_key_of_an_earlier_version_is_left_behind(gone: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({gone: False, "theme": "dark"}))
    store = SettingsStore(path)
    change_settings(store, text_percent=110)
    assert (store.value.theme, store.value.unknown) == ("dark", {})
    assert gone not in path.read_text()


@pytest.mark.parametrize("broken", [b"", b"{", b"\xff\xfe", b"[1]", b'"text"', b"[" * 100_000])
def test_a_broken_file_is_set_aside_and_told(broken: bytes, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(broken)
    store = SettingsStore(path)
    assert store.value == Settings()
    assert "settings file" in store.note
    (aside,) = tmp_path.iterdir()
    assert aside.name in store.note
    assert aside.read_bytes() == broken
    change_settings(store, theme="dark")
    assert SettingsStore(path).value.theme == "dark"


def test_an_unreadable_file_is_told_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.mkdir()  # reading it fails, and it is no file to be renamed away
    store = SettingsStore(path)
    assert store.value == Settings()
    assert "Reading settings.json failed" in store.note
    assert path.is_dir()


def test_a_disk_that_refuses_is_an_error_and_the_value_holds_for_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SettingsStore(tmp_path / "settings.json")

    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic_files.os, "fsync", refuse)
    with pytest.raises(StorageUnavailable, match="disk is full"):
        change_settings(store, theme="dark")
    assert store.value.theme == "dark"
    monkeypatch.undo()
    store.save()
    assert SettingsStore(store.path).value.theme == "dark"


def test_remembered_changes_wait_for_a_save(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path / "settings.json")
    for width in range(200, 300):
        store.remember(panes={"chat": {"list": width}})
    assert not store.path.exists()
    store.save()
    assert SettingsStore(store.path).value.panes == {"chat": {"list": 299}}


def test_listeners_hear_of_real_changes_only(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path / "settings.json")
    heard: list[str] = []
    store.subscribe(lambda settings: heard.append(settings.theme))
    change_settings(store, theme="dark")
    change_settings(store, theme="dark")
    change_settings(store, theme="light")
    assert heard == ["dark", "light"]


def test_a_name_that_is_no_setting_is_our_mistake(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        change_settings(SettingsStore(tmp_path / "settings.json"), color="red")


@given(st.dictionaries(names | st.text(), anything) | anything)
def test_anything_at_all_reads_as_usable_settings(body: Any) -> None:
    settings = settings_from(body)
    assert settings.theme in THEMES
    assert settings.secret_store in SECRET_STORES
    assert 80 <= settings.text_percent <= 200
    assert isinstance(settings.enter_sends, bool)
    assert all(isinstance(key, str) and isinstance(value, str) for key, value in settings.shortcuts.items())
    written = json.dumps(settings_to(settings))
    assert settings_to(settings_from(json.loads(written))) == json.loads(written) or "NaN" in written


@given(st.integers())
def test_a_text_size_out_of_range_moves_to_the_nearest_end(percent: int) -> None:
    assert settings_from({"text_percent": percent}).text_percent == min(max(percent, 80), 200)


def test_values_of_other_types_are_announced_and_their_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    written = b'{"theme": "dark", "text_percent": "large", "favourite_models": {"a": 1}}'
    path.write_bytes(written)
    store = SettingsStore(path)
    assert (store.value.theme, store.value.text_percent) == ("dark", 100)
    (aside,) = tmp_path.iterdir()
    assert aside.read_bytes() == written
    assert aside.name in store.note and "Some settings could not be read" in store.note


def test_values_out_of_range_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"text_percent": 5000, "theme": "sepia", "proxy_port": 1e9}')
    assert SettingsStore(path).note == ""
    assert path.exists()
