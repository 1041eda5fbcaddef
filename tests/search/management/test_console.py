"""Progress of commands: lines where there is no terminal, bars on one, nothing when it is not wanted."""

import io
from threading import Event

import pytest

from search.domain.work_parts import Former, History
from search.management import console
from search.management.console import LineProgress, minutes, shown


def known(**parts: float) -> History:
    """Return the history of a machine that has done the same parts many times."""
    return {name: [Former(seconds, 0.0, seconds)] * 100 for name, seconds in parts.items()}


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_line_begins_each_part_and_comes_again_after_two_seconds_with_the_time_left_of_the_whole() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = LineProgress(stream, {"Checking": 12.0, "Loading": 30.0}, clock, known(Checking=12.0, Loading=30.0))
    for seconds, part, done in [(0, "Checking", 0), (1.2, "Checking", 10), (3, "Checking", 25), (12, "Loading", 0)]:
        clock.now = 100.0 + seconds
        progress(part, done, 100)
    # Former jobs took 12 + 30 s. After 1.2 s a tenth of the 12 s is done, after 3 s a quarter: exactly as they did.
    # Before it has shown its pace, all of the job may be slower or faster by 19^(0.5 · √3 / π) = 2.25.
    assert stream.getvalue().splitlines() == [
        "Checking: 0 %, time left 20 to 90 seconds",
        "Checking: 25 %, time left 20 to 60 seconds",
        "Loading: 0 %, time left about 30 seconds",
    ]


def test_a_part_whose_size_nobody_knows_is_named_and_without_expectation_there_is_no_guess() -> None:
    stream = io.StringIO()
    progress = LineProgress(stream, {}, Clock())
    progress("Sorting", 0, None)
    progress("Loading", 0, 100)
    assert stream.getvalue().splitlines() == ["Sorting …", "Loading: 0 %"]


def test_work_that_reports_nothing_is_told_to_go_on_every_half_minute() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = LineProgress(stream, {"Drawing": 600.0, "Learning": 300.0}, clock, known(Drawing=600.0, Learning=300.0))

    def at(seconds: float) -> None:
        clock.now = 100.0 + seconds
        progress.break_silence()

    at(29.0)
    assert stream.getvalue() == ""
    at(30.0)
    at(31.0)
    clock.now = 160.0
    progress("Drawing", 1, 10)
    at(80.0)
    at(91.0)
    assert stream.getvalue().splitlines() == [
        "Begun, time left 6 to 35 minutes (goes on, 0:30 so far)",
        "Drawing: 10 %, time left 8 to 30 minutes",
        # Nothing more is done, so nothing less is left, and it is less sure.
        "Drawing: 10 %, time left 9 to 35 minutes (goes on, 1:31 so far)",
    ]


def test_a_command_into_a_file_is_never_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "SECONDS_OF_SILENCE", 0.01)
    told = Event()

    class Stream(io.StringIO):
        def write(self, text: str) -> int:
            told.set()
            return super().write(text)

    stream = Stream()
    with shown(stream, {"Drawing": 600.0}):
        assert told.wait(30)
    # This machine has drawn nothing yet, and so nobody knows how long it takes.
    assert stream.getvalue().startswith("Begun (goes on, 0:00 so far)\n")


def test_times_are_written_as_minutes_and_hours() -> None:
    assert [minutes(seconds) for seconds in (0.4, 61.0, 3599.6, 3661.0)] == ["0:00", "1:01", "1:00:00", "1:01:01"]


def test_a_stream_that_is_no_terminal_gets_lines_and_quiet_gets_nothing() -> None:
    lines, nothing = io.StringIO(), io.StringIO()
    with shown(lines, {"Loading": 1.0}) as run:
        run.report("Loading", 1, 2)
    assert lines.getvalue().startswith("Loading: 50 %")
    with shown(nothing, quiet=True) as run:
        run.report("Loading", 1, 2)
    assert nothing.getvalue() == ""


def test_a_terminal_gets_a_bar_for_the_whole_and_one_for_each_part() -> None:
    terminal = Terminal()
    with shown(terminal, {"Checking": 1.0, "Loading": 3.0}) as run:
        run.report("Checking", 1, 1)
        run.report("Loading", 1, 2)
    drawn = terminal.getvalue()
    for text in ("All", "Checking", "Loading", "100 %"):
        assert text in drawn
