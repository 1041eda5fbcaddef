"""How often each kind of question is made: by the structure of the base."""

from __future__ import annotations

import numpy as np
import pytest

from search.domain.graph import NodeType, Relation, RelationType, Schema
from training.data.synthesis.base import Base
from training.data.synthesis.recipes import BARE, KINDS, shares_of


def base(relations: int, text_share: float = 1.0, edge_share: float = 1.0) -> Base:
    """Return the facts of a base with one node type and so many relations."""
    names = [f"R{at}" for at in range(relations)]
    types = tuple(RelationType("thing", name, "thing", count=1) for name in names)
    schema = Schema((NodeType("thing"),), tuple(map(Relation, names)), types)
    empty = np.zeros(0, dtype=np.int64)
    return Base(
        schema, empty.astype(np.int32), empty, empty, empty.astype(np.float64), text_share, edge_share, {}, 0
    )  # fmt: skip


def share(of: Base, source: str) -> float:
    kinds = (*KINDS, *BARE)
    return sum(one for one, kind in zip(shares_of(of, 0.0, kinds), kinds, strict=True) if kind.source == source)


@pytest.mark.parametrize("relations", [1, 2, 11])
def test_the_more_relations_there_are_to_tell_apart_the_fewer_questions_leave_them_unsaid(relations: int) -> None:
    """Questions in bare words are to those about texts as 1 to the number of relations."""
    assert share(base(relations), "around") == pytest.approx(share(base(relations), "text") / relations)


def test_a_base_without_edges_or_texts_has_no_questions_in_bare_words() -> None:
    assert share(base(2, edge_share=0.0), "around") == 0
    assert share(base(2, text_share=0.0), "around") == 0


def test_text_and_graph_share_the_questions_by_the_bits_of_the_relations() -> None:
    """Three relations have two bits, texts weigh six, bare words a third of texts: 2, 6 and 2 of 10."""
    assert share(base(3), "graph") == pytest.approx(0.2)
    assert share(base(3), "text") == pytest.approx(0.6)
    assert share(base(3), "around") == pytest.approx(0.2)
