import threading

import pytest

from grasp_site.lanes import MOST_OF_CALLER, Lanes, TooManyWaiting
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


def test_a_crowd_inside_never_takes_the_share_of_the_door() -> None:
    lanes = Lanes(8)
    inside = [lanes.enter(caller=f"10.0.0.{number}") for number in range(30)]
    assert sum(one.done() for one in inside) == 6
    door = [lanes.enter(new=True, caller="192.0.2.1") for _ in range(3)]
    assert [one.done() for one in door] == [True, True, False]
    lanes.leave(door[0])
    assert door[2].done()
    # Those inside get on by the places of their own only.
    assert sum(one.done() for one in inside) == 6
    lanes.leave(inside[0])
    assert sum(one.done() for one in inside) == 7


@pytest.mark.parametrize(("places", "inside"), [(1, 1), (2, 2), (3, 2), (4, 3), (8, 6), (20, 15)])
def test_from_three_places_on_one_at_least_is_the_doors(places: int, inside: int) -> None:
    lanes = Lanes(places)
    assert sum(lanes.enter(caller=str(number)).done() for number in range(2 * places)) == inside
    assert sum(lanes.enter(new=True, caller=str(number)).done() for number in range(2 * places)) == places - inside


def test_the_door_may_use_every_place_while_nobody_is_inside_and_gives_them_back() -> None:
    lanes = Lanes(4)
    door = [lanes.enter(new=True) for _ in range(5)]
    assert [one.done() for one in door] == [True, True, True, True, False]
    inside = [lanes.enter() for _ in range(4)]
    for one in door[:4]:
        lanes.leave(one)
    assert [one.done() for one in inside] == [True, True, True, False]
    assert door[4].done()


@pytest.mark.parametrize("new", [False, True])
def test_callers_take_turns_so_a_caller_with_many_requests_waits_for_its_own(new: bool) -> None:
    lanes = Lanes(1)
    first = lanes.enter()
    many = [lanes.enter(new, "192.0.2.1") for _ in range(50)]
    one = lanes.enter(new, "192.0.2.2")
    lanes.leave(first)
    assert many[0].done()
    lanes.leave(many[0])
    assert one.done()
    lanes.leave(one)
    assert many[1].done()


def test_requests_beyond_the_most_of_one_caller_are_refused_and_only_the_living_count() -> None:
    lanes = Lanes(1)
    lanes.enter()
    waiting = [lanes.enter(caller="192.0.2.1") for _ in range(MOST_OF_CALLER)]
    with pytest.raises(TooManyWaiting):
        lanes.enter(caller="192.0.2.1")
    assert not lanes.enter(caller="192.0.2.2").done()
    assert not lanes.enter(True, "192.0.2.1").done()
    waiting[7].cancel()
    assert not lanes.enter(caller="192.0.2.1").done()
    with pytest.raises(TooManyWaiting):
        lanes.enter(caller="192.0.2.1")


def test_a_newcomer_does_not_wait_for_the_many_requests_of_another_caller() -> None:
    clock = Clock()
    lanes = Lanes(1, clock)
    place = lanes.enter()
    many = [lanes.enter(new=True, caller="192.0.2.1") for _ in range(3)]
    clock.now += 4.0
    lanes.leave(place)
    clock.now += 0.5
    # The caller's own next one has waited since it came, a newcomer for as long as the turn lasts.
    assert (lanes.waited("192.0.2.1"), lanes.waited(), lanes.waited("192.0.2.2")) == (4.5, 0.5, 0.0)
    for one in many[1:]:
        one.cancel()
    assert (lanes.waited("192.0.2.1"), lanes.waited()) == (0.0, 0.0)


def test_whoever_lends_a_place_of_the_door_comes_back_as_one_from_inside() -> None:
    lanes = Lanes(4)
    place = lanes.enter(new=True, caller="192.0.2.1")
    with lanes.lent(place):
        others = [lanes.enter() for _ in range(3)]
        assert [one.done() for one in others] == [True, True, True]
        lanes.leave(others[0])
    assert not place.new
    # It took a place of those inside: the door's share is free, and only that.
    assert not lanes.enter().done()
    assert lanes.enter(new=True).done()
    assert not lanes.enter(new=True).done()
