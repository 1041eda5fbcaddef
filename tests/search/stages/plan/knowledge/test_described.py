"""What *something* means: the type that most descriptions are of."""

from typing import Any, cast

import numpy as np
import pytest

from search.interfaces import NodeStore
from search.stages.plan.knowledge.described import described_type
from tests.fakes import MemoryVectors

AT = np.array([1.0, 0.0], dtype=np.float32)


class Typed:
    """Nodes of which only the types are known: the code of a node is the first digit of its key."""

    def types(self, keys: Any) -> Any:
        return np.array([int(key) // 10 for key in keys], dtype=np.int16)


NODES = cast(NodeStore, Typed())


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ((10, 11, 12, 20, 30), 1),
        ((10, 11, 20, 21), None),  # half is not most
        ((20, 21, 22, 10), None),  # nodes of type 2 are no answers
        ((), None),
    ],
)
def test_the_type_of_most_descriptions_that_may_be_answers(keys: tuple[int, ...], code: int | None) -> None:
    vectors = MemoryVectors({"document+relations": {40: AT}, "prose": dict.fromkeys(keys, AT)})
    assert described_type(vectors, NODES, {1, 3}) == code


def test_a_release_without_vectors_of_prose_does_not_tell() -> None:
    assert described_type(None, NODES, {1}) is None
    assert described_type(MemoryVectors({"document+relations": {10: AT}}), NODES, {1}) is None
