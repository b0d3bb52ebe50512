"""The bar that shows how far runs have come."""

import io

from rich.console import Console

from spillway.progress import Progress, ProgressBar


def shown(runs: int, *steps: Progress) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with ProgressBar(console, runs) as bar:
        report, end = bar.follow("sharing=dt")
        for step in steps:
            report(step)
        bar._bar.refresh()
        end()
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def step(simulated_ps: int) -> Progress:
    return Progress(simulated_ps, 4_000_000_000, 9_000_000_000, 1000, 800, 20, 15)


def test_simulated_time_speed_and_percentage_are_shown():
    text = shown(1, step(1_000_000_000))
    assert "sharing=dt" in text and "25%" in text
    assert "1 of 4 ms" in text and "M events/s" in text


def test_after_the_duration_what_is_left_is_shown():
    assert "5 flows left" in shown(1, step(4_500_000_000))


def test_several_runs_have_a_line_for_all():
    text = shown(4, step(2_000_000_000))
    assert "4 runs" in text


def test_nothing_is_shown_where_there_is_no_terminal():
    console = Console(file=io.StringIO(), force_terminal=False)
    with ProgressBar(console, 1) as bar:
        report, end = bar.follow("x")
        report(step(1))
        end()
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == ""
