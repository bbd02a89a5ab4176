import errno
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.storage import log_file
from app.storage.errors import StorageUnavailable
from app.storage.log import setup_logging, stop_logging
from app.storage.paths import Paths
from tests.kit.portable import has_mode

SECRET = "sk-do-not-write-me-0123456789"


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[Paths]:
    paths = Paths.below(tmp_path)
    handler = setup_logging(paths, lambda text: text.replace(SECRET, "[hidden]"))
    yield paths
    stop_logging(handler)


def lines(paths: Paths) -> list[dict[str, Any]]:
    return [json.loads(line) for line in paths.log.read_text().splitlines()]


def test_every_line_is_one_json_object(paths: Paths) -> None:
    logging.getLogger("app.test").info("opened %s\nin %d ms", "Chat", 12)
    (line,) = lines(paths)
    assert (line["level"], line["logger"], line["message"]) == ("info", "app.test", "opened Chat\nin 12 ms")
    assert line["at"].endswith("+00:00")
    assert has_mode(paths.log, 0o600)


def test_no_secret_reaches_the_file_by_any_way_in(paths: Paths) -> None:
    logger = logging.getLogger("app.test")
    logger.info(f"key {SECRET}")
    logger.info("key %s and %r", SECRET, {"key": SECRET})
    logger.warning("stack", stack_info=True)
    try:
        raise RuntimeError(f"refused {SECRET}")
    except RuntimeError:
        logger.exception("failed with %s", SECRET)
    logging.getLogger("httpcore").warning("header %s", SECRET)
    text = paths.log.read_text()
    assert SECRET not in text
    assert text.count("[hidden]") >= 6
    assert any("RuntimeError" in line.get("traceback", "") for line in lines(paths))


def test_libraries_are_heard_from_warnings_up_only(paths: Paths) -> None:
    logging.getLogger("httpcore").setLevel(logging.DEBUG)
    logging.getLogger("httpcore").info("chatter")
    logging.getLogger("httpcore").warning("trouble")
    assert [line["message"] for line in lines(paths)] == ["trouble"]


def test_arguments_that_do_not_fit_cost_nothing_but_themselves() -> None:
    record = logging.LogRecord("app.test", logging.INFO, "file.py", 1, "two %s %s", ("only one",), None)
    assert json.loads(log_file.JsonLines(str).format(record))["message"] == "two %s %s"


def test_old_lines_make_room(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    (handler,) = (one for one in logging.getLogger().handlers if isinstance(one, log_file.PrivateRotatingFile))
    handler.maxBytes = 500
    for number in range(60):
        logging.getLogger("app.test").info("line %d %s", number, "x" * 80)
    files = tuple(paths.log.parent.glob(f"{paths.log.name}*"))
    assert len(files) == log_file.KEPT_FILES + 1
    assert all(has_mode(path, 0o600) for path in files)
    assert "line 59 " in paths.log.read_text()


def test_a_full_disk_costs_lines_and_not_the_program(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(self: object, record: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(log_file.PrivateRotatingFile, "shouldRollover", refuse)
    logging.getLogger("app.test").info("lost")
    assert capsys.readouterr().err == ""
    monkeypatch.undo()
    logging.getLogger("app.test").info("kept")
    assert [line["message"] for line in lines(paths)] == ["kept"]


def test_a_folder_that_refuses_is_told(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file stands here")
    with pytest.raises(StorageUnavailable):
        setup_logging(Paths.below(tmp_path), str)
