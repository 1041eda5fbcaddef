"""Parts of a plan in words."""

from typing import Any

import pytest

from search.domain.graph import Relation
from search.plan_words import exclusion_words

RELATIONS = {"CITES": Relation("CITES", "cites", "is cited by"), "PART_OF": Relation("PART_OF")}


@pytest.mark.parametrize(
    ("hop", "expected"),
    [
        ({"from": "T", "rel": "CITES", "to_var": "x", "direction": "out"}, "cites anything"),
        ({"from": "T", "rel": "CITES", "to_var": "x", "direction": "in"}, "cited by anything"),
        ({"from": "x", "rel": "CITES", "to_var": "T", "direction": "out"}, "cited by anything"),
        ({"from": "x", "rel": "CITES", "to_var": "T", "direction": "in"}, "cites anything"),
        ({"from": "T", "rel": "CITES", "to_var": "x"}, "cites anything"),
        ({"from": "T", "rel": "PART_OF", "to_var": "x", "direction": "in"}, "part of (incoming) anything"),
        ({"from": "T", "rel": "GONE", "to_var": "x", "direction": "in"}, "gone anything"),
        ({"from": "T", "rel": "*", "to_var": "x", "direction": "in"}, "any relation anything"),
    ],
)
def test_an_exclusion_reads_in_the_direction_in_which_it_is_walked(hop: dict[str, Any], expected: str) -> None:
    pattern = {"anchors": [], "hops": [hop | {"to_label": "*"}]}
    assert exclusion_words(pattern, {"T": "T"}, RELATIONS) == expected
