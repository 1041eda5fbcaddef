"""Progress of commands: lines where there is no terminal, bars on one, nothing when it is not wanted."""

import io

from search.management.console import LineProgress, minutes, shown


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
    progress = LineProgress(stream, {"Checking": 12.0, "Loading": 30.0}, clock)
    for seconds, part, done in [(0, "Checking", 0), (1.2, "Checking", 10), (3, "Checking", 25), (12, "Loading", 0)]:
        clock.now = 100.0 + seconds
        progress(part, done, 100)
    # 12 + 30 s are expected. After 1.2 s a tenth of the 12 s is done, after 3 s a quarter: exactly as expected.
    assert stream.getvalue().splitlines() == [
        "Checking: 0 %, time left 0:42",
        "Checking: 25 %, time left 0:39",
        "Loading: 0 %, time left 0:30",
    ]


def test_a_part_whose_size_nobody_knows_is_named_and_without_expectation_there_is_no_guess() -> None:
    stream = io.StringIO()
    progress = LineProgress(stream, {}, Clock())
    progress("Sorting", 0, None)
    progress("Loading", 0, 100)
    assert stream.getvalue().splitlines() == ["Sorting …", "Loading: 0 %"]


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
