import threading
from concurrent.futures import wait

from grasp_site.queue_wait import BELIEVED_SECONDS, LOOK_SECONDS, QueueWait
from search.domain.errors import ServiceUnavailable


class Queue:
    """A queue whose wait is set by the test; it counts how often it is looked at."""

    def __init__(self) -> None:
        self.now, self.seconds, self.looks = 50.0, 0.0, 0
        self.known = QueueWait(self.look, lambda: self.now)

    def look(self) -> float:
        self.looks += 1
        if self.seconds < 0:
            raise ServiceUnavailable("Valkey", "It does not answer.")
        return self.seconds

    def ask(self) -> float:
        found = self.known()
        assert self.known._looking is not None
        wait([self.known._looking])
        return found


def test_the_door_believes_what_was_seen_last_and_looks_again_beside_it() -> None:
    queue = Queue()
    queue.seconds = 7.0
    assert queue.ask() == 0.0
    assert queue.ask() == 7.0
    queue.seconds = 3.0
    queue.now += LOOK_SECONDS
    assert [queue.ask(), queue.ask()] == [7.0, 3.0]
    assert queue.looks == 2


def test_what_was_seen_long_ago_is_not_believed() -> None:
    queue = Queue()
    queue.seconds = 7.0
    queue.ask()
    queue.now += BELIEVED_SECONDS
    queue.seconds = 0.0
    assert [queue.ask(), queue.ask()] == [0.0, 0.0]


def test_without_valkey_nothing_is_refused_at_the_door() -> None:
    queue = Queue()
    queue.seconds = 7.0
    queue.ask()
    queue.seconds = -1.0
    queue.now += LOOK_SECONDS
    queue.ask()
    assert queue.ask() == 0.0


def test_a_crowd_that_comes_between_two_looks_is_let_in_one_by_one_only() -> None:
    queue = Queue()
    queue.known = QueueWait(queue.look, lambda: queue.now, lambda: 0.25)
    queue.seconds = 0.5
    assert queue.ask() == 0.0
    assert [queue.known() for _ in range(4)] == [0.5, 0.75, 1.0, 1.25]
    queue.now += LOOK_SECONDS
    queue.seconds = 0.0
    # This one still counts as the fifth; the look beside it sees an empty queue.
    assert [queue.ask(), queue.ask()] == [1.5, 0.0]
    # What was seen last says nothing any more after a while, but a crowd still comes one by one.
    queue.now += BELIEVED_SECONDS
    queue.seconds = -1.0
    assert queue.ask() == 0.25
    assert [queue.known(), queue.known()] == [0.0, 0.0]


def test_while_a_look_takes_long_what_was_seen_last_is_believed() -> None:
    queue = Queue()
    queue.seconds = 7.0
    queue.ask()
    answers = threading.Event()
    queue.known._look = lambda: 0.0 if answers.wait(20) else -1.0
    queue.now += LOOK_SECONDS
    assert queue.known() == 7.0
    queue.now += 5 * BELIEVED_SECONDS
    assert queue.known() == 7.0
    answers.set()
    assert queue.known._looking is not None
    wait([queue.known._looking])
    assert queue.known() == 0.0
