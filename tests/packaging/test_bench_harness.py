"""The bench's own arithmetic, and that a bench which crashes is not passed over."""

from pathlib import Path

import pytest

from tests.bench import __main__ as runner
from tests.bench import trend
from tests.bench.harness import Ratio, against, medians, percentile
from tests.bench.soak import Sample, growth
from tests.bench.windows import moments


def counting(figures: list[float]):
    iterator = iter(figures)
    return lambda: next(iterator)


def test_medians_are_taken_in_turns_and_without_the_warm_up() -> None:
    order: list[str] = []
    ours, theirs = counting([99, 1, 2, 3, 4, 5]), counting([99, 10, 10, 10, 10, 10])
    figures = medians(lambda: order.append("a") or ours(), lambda: order.append("b") or theirs())
    assert figures == (3, 10)
    assert order == ["a", "b"] * 6


def test_fewer_than_five_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 5"):
        medians(lambda: 1.0, runs=4)


def test_a_ratio_is_ok_up_to_its_limit() -> None:
    ratio = against("P3", "a", lambda: 3.0, lambda: 2.0, limit=1.5, baseline="b")
    assert (ratio.value, ratio.ok, ratio.detail) == (1.5, True, "3000 ms against 2000 ms")
    assert not Ratio("P3", "a", 1.51, 1.5, "b").ok


@pytest.mark.parametrize(("share", "expected"), [(0.5, 50), (0.99, 99), (1.0, 100), (0.0, 1)])
def test_a_percentile_is_one_of_the_figures(share: float, expected: int) -> None:
    assert percentile([float(figure) for figure in range(100, 0, -1)], share) == expected


def test_the_table_is_sorted_by_goal_and_tells_what_is_over() -> None:
    rows = runner.table([Ratio("P11", "idle", 0.2, 0.1, "bare", unit="%"), Ratio("P3", "tokens", 1.0, 1.15, "itself")])
    assert [line.split()[0] for line in rows.splitlines()] == ["goal", "P3", "P11"]
    assert ["ok" in rows.splitlines()[1], "over" in rows.splitlines()[2]] == [True, True]


def test_a_bench_that_crashes_fails_the_run_and_the_others_still_count(monkeypatch, capsys) -> None:
    monkeypatch.setattr(runner, "topics", lambda: ["absent", "there"])
    measured = [Ratio("P6", "decoding", 1.1, 1.3, "raw bytes")]
    monkeypatch.setattr(runner, "run_one", lambda topic: measured if topic == "there" else None)
    assert runner.main([]) == 1
    printed = capsys.readouterr().out
    assert "Could not be run: absent." in printed
    assert "decoding" in printed


def test_figures_over_their_limit_are_no_failure(monkeypatch, capsys) -> None:
    monkeypatch.setattr(runner, "topics", lambda: ["slow"])
    monkeypatch.setattr(runner, "run_one", lambda topic: [Ratio("P6", "decoding", 9.0, 1.3, "raw bytes")])
    assert runner.main(["slow"]) == 0
    assert runner.main(["fast"]) == 2
    assert "There are: slow." in capsys.readouterr().out


def test_a_night_is_held_against_the_median_of_the_week_before(monkeypatch, tmp_path: Path, capsys) -> None:
    figures = iter([3.0, *[1.0] * 5, 9.0, 1.1, 1.3])
    monkeypatch.setattr(runner, "topics", lambda: ["one"])
    monkeypatch.setattr(runner, "run_one", lambda topic: [Ratio("P6", "decoding", next(figures), 2.0, "raw bytes")])
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "page"))
    history = tmp_path / "trend.jsonl"
    verdicts = []
    for _ in range(9):
        (tmp_path / "page").unlink(missing_ok=True)
        assert runner.main(["--trend", str(history)]) == 0
        verdicts.append((tmp_path / "page").read_text(encoding="utf-8").splitlines()[-1].split("|")[3:6])
    assert [[cell.strip() for cell in row] for row in (verdicts[0], verdicts[1], verdicts[6], *verdicts[-2:])] == [
        ["3 ×", "new", ""],
        ["1 ×", "3 ×", ""],
        ["9 ×", "1 ×", "**worse**"],
        ["1.1 ×", "1 ×", ""],
        ["1.3 ×", "1 ×", "**worse**"],
    ]
    assert len(history.read_text(encoding="utf-8").splitlines()) == 9
    monkeypatch.setattr(trend, "KEPT", 3)
    trend.add(history, [])
    assert len(history.read_text(encoding="utf-8").splitlines()) == 3


def test_a_ready_file_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    said = tmp_path / "ready"
    assert moments(said) == {}
    said.write_text("ready 12\nsandbox 3", encoding="utf-8")
    assert moments(said) == {"ready": 12}
    said.write_text("ready 12\nsandbox 34\n", encoding="utf-8")
    assert moments(said) == {"ready": 12, "sandbox": 34}


def test_a_soaked_session_that_begins_anew_does_not_hide_growth() -> None:
    def session(number: int, begun_s: float) -> list[Sample]:
        """Takes 100 MB more in its first hour, and 30 MB in each one after."""
        hours = [minutes / 60 for minutes in range(180)]
        return [
            Sample(begun_s + hour * 3600, number, 200 + min(hour, 1) * 100 + max(0.0, hour - 1) * 30, 40, 20)
            for hour in hours
        ]

    assert growth(session(1, 0)) == pytest.approx(30)
    assert growth(session(1, 0) + session(2, 3 * 3600)) == pytest.approx(30)
    assert growth([]) == 0
