"""What takes how much of the disk."""

from pathlib import Path

from app.storage.disk_usage import shares
from app.storage.paths import Paths


def test_every_kind_is_counted_once(tmp_path: Path) -> None:
    paths = Paths.below(tmp_path)
    paths.make()
    sizes = {
        paths.data / "videos" / "a.mp4": 1000,
        paths.data / "recordings" / "b.wav": 200,
        paths.data / "speech" / "take" / "part-01.mp3": 30,
        paths.data / "voices" / "sample.wav": 4,
        paths.data / "images" / "c.png": 500,
        paths.database: 60,
        paths.data / "attachments" / "d": 7,
        paths.backups / "rialto.db": 80,
        paths.cache / "models.json": 9,
        paths.log: 1,
    }
    for path, size in sizes.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    (paths.data / "videos" / "elsewhere").symlink_to(paths.database)
    found = {share.kind: share.size_bytes for share in shares(paths)}
    assert found == {
        "videos": 1000,
        "recordings": 200,
        "speech": 34,
        "images": 500,
        "documents": 0,
        "chats": 60 + 7 + 1,
        "backups": 80,
        "cache": 9,
    }
    assert sum(found.values()) == sum(sizes.values())


def test_a_folder_that_is_not_there_yet_takes_nothing(tmp_path: Path) -> None:
    assert {share.size_bytes for share in shares(Paths.below(tmp_path))} == {0}
