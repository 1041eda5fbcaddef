"""Progress, as lines."""

import io

from search.ingest.progress import LineProgress, progress_on, time_left


class Clock:
    """A clock that a test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_begins_each_step_and_comes_again_after_two_seconds_with_the_time_left() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = LineProgress(stream, clock)
    for seconds, step, done in [(0, "Checking", 0), (1, "Checking", 10), (3, "Checking", 25), (4, "Loading", 1)]:
        clock.now = 100.0 + seconds
        progress(step, done, 100)
    # After 3 s a quarter is done: three quarters take 9 s more.
    assert stream.getvalue().splitlines() == [
        "Checking: 0 %, time left ?",
        "Checking: 25 %, time left 0:09",
        "Loading: 1 %, time left 0:00",
    ]


def test_a_step_whose_size_nobody_knows_is_named() -> None:
    stream = io.StringIO()
    progress = LineProgress(stream, Clock())
    progress("Indexing", 0, None)
    assert stream.getvalue() == "Indexing …\n"


def test_minutes_are_written_as_minutes() -> None:
    assert time_left(60.0, 1, 3) == "2:00"
    assert time_left(60.0, 0, 3) == "?"


def test_a_stream_that_is_no_terminal_gets_lines() -> None:
    with progress_on(io.StringIO()) as progress:
        assert isinstance(progress, LineProgress)
