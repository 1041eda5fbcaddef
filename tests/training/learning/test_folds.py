"""Folds of questions about the parts of a graph, by hand."""

from pathlib import Path

import numpy as np
import pytest

from search.adapters import adjacency_memmap
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.graph import NodeType, Relation, Schema
from search.interfaces import Keys
from training.learning.folds import folds_apart, folds_of

SCHEMA = Schema((NodeType("thing"),), (Relation("row of"), Relation("links to")), ())
TABLES, ROWS = 12, 5


@pytest.fixture
def tables(tmp_path: Path) -> MemmapAdjacency:
    """Twelve tables of five rows; each row links to a page of its own, and all rows link to one hub (the last key)."""
    edges = []
    for table in range(TABLES):
        for row in range(ROWS):
            key = TABLES + table * ROWS + row
            edges += [(0, key, table), (1, key, key + TABLES * ROWS), (1, key, _hub())]
    relation, source, target = np.array(edges).T
    adjacency_memmap.build(
        tmp_path, nodes=_hub() + 1, types=np.zeros(_hub() + 1, dtype=np.int16), relation=relation, source=source,
        target=target, relations=2,
    )  # fmt: skip
    return MemmapAdjacency(tmp_path, SCHEMA)


def _hub() -> int:
    return TABLES + 2 * TABLES * ROWS


def _answers() -> list[Keys]:
    """The answers are rows and, every second time, the page that the row links to."""
    rows = [TABLES + at for at in range(TABLES * ROWS)]
    return [np.array([row + (at % 2) * TABLES * ROWS], dtype=np.int32) for at, row in enumerate(rows)]


def test_rows_of_a_table_and_their_pages_are_in_one_fold_and_a_hub_joins_nothing(tables: MemmapAdjacency) -> None:
    texts = [f"question {at}" for at in range(TABLES * ROWS)]
    folds = folds_apart(texts, _answers(), tables, 3, 0)
    of_table = folds.reshape(TABLES, ROWS)
    assert (of_table == of_table[:, :1]).all()
    assert np.bincount(folds).tolist() == [20, 20, 20]
    assert folds.tolist() == folds_apart(texts, _answers(), tables, 3, 0).tolist()
    assert folds.tolist() != folds_apart(texts, _answers(), tables, 3, 1).tolist()
    alone = folds_of(texts, 3, 0).reshape(TABLES, ROWS)
    assert not (alone == alone[:, :1]).all(), "without looking at the graph, tables are divided"


def test_the_same_words_stay_together_and_few_groups_are_divided_by_words(tables: MemmapAdjacency) -> None:
    texts = [f"question {at % 30}" for at in range(TABLES * ROWS)]
    folds = folds_apart(texts, _answers(), tables, 3, 0)
    assert folds[:30].tolist() == folds[30:].tolist()
    answers = [np.array([0], dtype=np.int32)] * 4
    assert sorted(folds_apart(["a", "b", "c", "d"], answers, tables, 4, 0).tolist()) == [0, 1, 2, 3]
