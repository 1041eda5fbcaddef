import threading

from grasp_site.lanes import Lanes
from search.services.observing.rest import LENT, at_rest


class Clock:
    def __init__(self) -> None:
        self.now = 10.0

    def __call__(self) -> float:
        return self.now


def test_as_many_as_there_are_places_enter_at_once_and_the_others_in_order() -> None:
    lanes = Lanes(2)
    first, second, third, fourth = (lanes.enter() for _ in range(4))
    assert [one.done() for one in (first, second, third, fourth)] == [True, True, False, False]
    lanes.leave()
    assert [third.done(), fourth.done()] == [True, False]
    lanes.leave()
    assert fourth.done()


def test_those_inside_go_before_those_at_the_door() -> None:
    lanes = Lanes(1)
    lanes.enter()
    new, inside = lanes.enter(new=True), lanes.enter()
    lanes.leave()
    assert [new.done(), inside.done()] == [False, True]
    lanes.leave()
    assert new.done()


def test_the_first_one_at_the_door_says_how_long_one_waits_there() -> None:
    clock = Clock()
    lanes = Lanes(1, clock)
    lanes.enter()
    assert lanes.waited() == 0.0
    first = lanes.enter(new=True)
    clock.now += 2.0
    lanes.enter(new=True)
    clock.now += 0.5
    assert lanes.waited() == 2.5
    first.cancel()
    assert lanes.waited() == 0.5


def test_one_who_gave_up_takes_no_place() -> None:
    lanes = Lanes(1)
    lanes.enter()
    gone, following = lanes.enter(), lanes.enter()
    assert gone.cancel()
    lanes.leave()
    assert following.done()
    lanes.leave()
    assert lanes.enter().done()


def test_a_thread_that_waits_lends_its_place() -> None:
    lanes = Lanes(1)
    lanes.enter()
    ended = threading.Event()
    found: list[str] = []

    def waiting() -> None:
        LENT.set(lanes.lent)
        with at_rest():
            found.append("rests")
            ended.wait(10)
        found.append("works again")

    thread = threading.Thread(target=waiting)
    borrowed = lanes.enter()
    thread.start()
    borrowed.result(10)
    ended.set()
    lanes.leave()
    thread.join(10)
    assert found == ["rests", "works again"]
    # It has its place again.
    following = lanes.enter()
    assert not following.done()
    lanes.leave()
    assert following.done()
