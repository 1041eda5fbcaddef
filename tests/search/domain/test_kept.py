"""What is kept is what was used last, and what has to go goes before the next is loaded."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from search.domain.kept import Kept


class Model:
    """A model whose parts refer to each other in a circle, as the modules of a network do."""

    alive: weakref.WeakSet[Model] = weakref.WeakSet()

    def __init__(self, name: str) -> None:
        self.name, self.myself = name, self
        self.alive.add(self)


def named(name: str, seen: list[int] | None = None) -> Callable[[Callable[[], None]], Model]:
    """Return a loader that notes how many models are alive when it takes memory."""

    def load(make_room: Callable[[], None]) -> Model:
        make_room()
        if seen is not None:
            seen.append(len(Model.alive))
        return Model(name)

    return load


def test_the_one_used_longest_ago_is_gone_before_the_next_takes_memory() -> None:
    Model.alive.clear()
    kept: Kept[str, Model] = Kept(lambda: 2)
    seen: list[int] = []
    for name in ("a", "b", "a", "c", "b", "a"):
        kept.get(name, named(name, seen))
    assert seen == [0, 1, 1, 1, 1]
    assert {model.name for model in Model.alive} == {"a", "b"}


def test_nothing_has_to_go_for_what_cannot_be_loaded() -> None:
    kept: Kept[str, Model] = Kept(lambda: 1)
    first = kept.get("a", named("a"))

    def missing(make_room: Callable[[], None]) -> Model:
        raise LookupError("there is none")

    with pytest.raises(LookupError):
        kept.get("b", missing)
    assert kept.get("a", named("another")) is first


def test_a_loader_that_makes_no_room_leaves_no_more_than_are_kept() -> None:
    Model.alive.clear()
    kept: Kept[str, Model] = Kept(lambda: 1)
    for name in "abc":
        kept.get(name, lambda make_room, name=name: Model(name))
    assert {model.name for model in Model.alive} == {"c"}


def test_threads_that_want_the_same_load_it_once_and_what_is_kept_waits_for_no_loading() -> None:
    kept: Kept[str, Model] = Kept(lambda: 2)
    old = kept.get("old", named("old"))
    loading, go, loaded = threading.Event(), threading.Event(), []

    def slow(make_room: Callable[[], None]) -> Model:
        loading.set()
        assert go.wait(30)
        loaded.append(1)
        return Model("new")

    with ThreadPoolExecutor(3) as pool:
        wanted = [pool.submit(kept.get, "new", slow) for _ in range(2)]
        assert loading.wait(30)
        assert kept.get("old", named("another")) is old
        go.set()
        first, second = (one.result(30) for one in wanted)
    assert first is second
    assert loaded == [1]
