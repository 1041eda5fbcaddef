"""Refusals are gathered, and written as sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from grasp_site.refusals import Refusals
from search.models import RefusedRequests
from search.services.access.count_refused import FULL, LIMIT, count_refused
from search.services.observing.rest import GATHERED

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def gathered() -> Iterator[list[tuple[str, str]]]:
    """What was given to be counted later, as inside a request of the web process."""
    found: list[tuple[str, str]] = []
    token = GATHERED.set(lambda door, kind: found.append((door, kind)))
    yield found
    GATHERED.reset(token)


def test_a_refusal_for_the_moment_writes_no_row_and_a_fault_does(
    gathered: list[tuple[str, str]], django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        count_refused("api", FULL)
        count_refused("page", LIMIT)
    assert gathered == [("api", FULL), ("page", LIMIT)]
    count_refused("api", "question")
    assert list(RefusedRequests.objects.values_list("origin", "kind", "number")) == [("api", "question", 1)]


def test_a_crowd_is_one_row_for_each_door_and_kind() -> None:
    refusals = Refusals(seconds=3600)
    for door, kind, number in (("api", FULL, 300), ("page", FULL, 2), ("api", LIMIT, 7)):
        for _ in range(number):
            refusals.count(door, kind)
    refusals.write()
    rows = set(RefusedRequests.objects.values_list("origin", "kind", "number"))
    assert rows == {("api", FULL, 300), ("page", FULL, 2), ("api", LIMIT, 7)}
    refusals.write()
    assert set(RefusedRequests.objects.values_list("origin", "kind", "number")) == rows
