"""A server that does not answer is left alone for a while, then tried by one caller."""

from search.adapters.breaker import Breaker


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_server_that_answers_is_asked() -> None:
    assert Breaker().reason() == ""


def test_a_server_that_failed_is_left_alone_for_a_pause_that_doubles_up_to_half_a_minute() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for pause in (1, 2, 4, 8, 16, 30, 30):
        breaker.failed("no answer")
        assert breaker.reason() == "no answer"
        clock.now += pause - 0.01
        assert breaker.reason() == "no answer"
        clock.now += 0.02
        assert breaker.reason() == ""


def test_after_the_pause_one_caller_is_let_through_and_the_others_wait_for_what_it_finds() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    breaker.failed("no answer")
    clock.now = 1.5
    assert [breaker.reason() for _ in range(3)] == ["", "no answer", "no answer"]
    breaker.answered()
    assert breaker.reason() == ""


def test_a_server_that_came_back_and_fails_again_begins_with_a_short_pause() -> None:
    clock = Clock()
    breaker = Breaker(clock)
    for _ in range(5):
        breaker.failed("no answer")
    breaker.answered()
    breaker.failed("no answer")
    clock.now = 1.01
    assert breaker.reason() == ""
