"""The plan that is shown: the most probable one that found something."""

from __future__ import annotations

from dataclasses import replace

from search.domain.plan import Anchor, Hop, Plan, Target
from search.domain.shown import most_probable_found

WALK = Plan((Anchor("a", "Ada"),), (Hop("a", "acted", "T", "film"),), Target("T", ("film",)))


def test_the_most_probable_plan_that_found_something_is_shown() -> None:
    plans = [(0, 0.5, WALK), (1, 0.3, WALK), (2, 0.2, WALK)]
    assert most_probable_found(plans, {0: 1, 1: 9, 2: 4}) == 0
    assert most_probable_found(plans, {0: 0, 1: 9, 2: 4}) == 1
    assert most_probable_found(plans, {2: 4}) == 2
    assert most_probable_found(plans, {0: 0}) is None
    assert most_probable_found([], {}) is None


def test_equally_probable_plans_are_shown_in_their_order_whatever_order_they_come_in() -> None:
    assert most_probable_found([(3, 0.5, WALK), (1, 0.5, WALK), (2, 0.4, WALK)], {1: 1, 2: 1, 3: 1}) == 1


def test_what_a_plan_to_be_skipped_finds_does_not_count() -> None:
    skipped = replace(WALK, retrieval_mode="skip")
    assert most_probable_found([(0, 0.9, skipped), (1, 0.1, WALK)], {0: 5, 1: 5}) == 1
